//! Clients, which send each request to any of the replicas.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::cell::{Cell, RefCell};
use core::time::Duration;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::thread::sleep;

use pq_acme::client::{Answer, ClientError, Method, Obtaining, Request, Step, Wanted};
use pq_acme::identifier::Identifier;
use pq_acme::jws;
use pq_acme::objects::{ChallengeKind, Time};
use pq_x509::certificate::Certificate;
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use pq_x509::pki_types::UnixTime;
use pq_x509::request::CertificateRequest;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use sha2::{Digest, Sha256};

use super::names::Names;
use super::replicas::{Replicas, URL};
use crate::folder::Folder;
use crate::keys::hex;

/// How long a request may take.
const LIMIT: Duration = Duration::from_secs(30);

/// A certificate that a client got.
pub(super) struct Handed {
    pub(super) der: Vec<u8>,
    pub(super) serial: String,
    /// What the ledger calls its order.
    pub(super) request: String,
}

/// How an order ended.
pub(super) enum Ended {
    Handed(Handed),
    /// With what the client says of it.
    GaveUp(String),
}

/// A holder of an account, with a key for its certificates.
pub(super) struct Account<'t> {
    key: SigningKey,
    own: SigningKey,
    replicas: &'t Replicas,
    names: &'t Names,
    config: Arc<ClientConfig>,
    connections: RefCell<BTreeMap<u16, Connection>>,
    /// How many requests were sent.
    sent: Cell<usize>,
}

type Connection = BufReader<StreamOwned<ClientConnection, TcpStream>>;

impl<'t> Account<'t> {
    pub(super) fn new(folder: &Folder, replicas: &'t Replicas, names: &'t Names) -> Self {
        let key = || SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
        let root = Certificate::from_pem(&folder.read("ca/root.pem")).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(root.into_der()).unwrap();
        let provider = Arc::new(rustls_pq::provider().unwrap());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        Self {
            key: key(),
            own: key(),
            replicas,
            names,
            config: Arc::new(config),
            connections: RefCell::default(),
            sent: Cell::default(),
        }
    }

    /// Orders a certificate for a name.
    pub(super) fn order(&self, name: &str) -> Ended {
        let csr = CertificateRequest::builder().dns_name(name);
        let csr = csr.sign(&self.own).unwrap();
        let names = vec![Identifier::dns(name).unwrap()];
        let wanted = Wanted::new(names, csr, vec![ChallengeKind::Http01]);
        let directory = format!("{URL}/acme/directory");
        let mut obtaining = Obtaining::new(directory, &self.key, wanted).unwrap();
        let mut pages = Vec::new();
        let ended = self.go(&mut obtaining, &mut pages);
        for page in pages {
            self.names.remove(&page);
        }
        ended.unwrap_or_else(|error| Ended::GaveUp(format!("{name}: {error}")))
    }

    fn go(
        &self,
        obtaining: &mut Obtaining<'_, SigningKey>,
        pages: &mut Vec<String>,
    ) -> Result<Ended, ClientError> {
        let now = || Time::from(UnixTime::now());
        loop {
            match obtaining.next(now())? {
                Step::Send(request) => match self.send(&request) {
                    Ok(answer) => obtaining.received(&answer, now())?,
                    Err(error) => {
                        if !obtaining.unanswered(now()) {
                            let why = format!("{}: no answer: {error}", request.url);
                            return Ok(Ended::GaveUp(why));
                        }
                    }
                },
                Step::Wait(time) => sleep(time),
                Step::Show(shown) => {
                    for one in shown {
                        let path = one.authorization.http_path();
                        self.names.show(path.clone(), one.authorization.as_str());
                        pages.push(path);
                    }
                    obtaining.shown();
                }
                Step::Done(issued) => {
                    let (_, order) = issued.order.rsplit_once('/').unwrap();
                    let id = Sha256::new_with_prefix(b"ACME order ").chain_update(order);
                    let leaf = &issued.chain[0];
                    return Ok(Ended::Handed(Handed {
                        der: leaf.der().to_vec(),
                        serial: hex(leaf.serial_number()),
                        request: hex(&id.finalize()),
                    }));
                }
            }
        }
    }

    /// Sends a request to the next replica that is there.
    fn send(&self, request: &Request) -> io::Result<Answer> {
        let number = self.sent.replace(self.sent.get() + 1);
        let ports = self.replicas.ports();
        let port = *ports
            .get(number % ports.len().max(1))
            .ok_or(io::ErrorKind::ConnectionRefused)?;
        let kept = {
            let mut connections = self.connections.borrow_mut();
            connections.retain(|port, _| ports.contains(port));
            connections.remove(&port)
        };
        let mut connection = match kept {
            Some(kept) => kept,
            None => self.connect(port)?,
        };
        let answer = exchange(&mut connection, request)?;
        self.connections.borrow_mut().insert(port, connection);
        Ok(answer)
    }

    fn connect(&self, port: u16) -> io::Result<Connection> {
        let tcp = TcpStream::connect(("127.0.0.1", port))?;
        tcp.set_nodelay(true)?;
        tcp.set_read_timeout(Some(LIMIT))?;
        let name = ServerName::try_from("localhost").unwrap();
        let tls = ClientConnection::new(self.config.clone(), name);
        let tls = tls.map_err(io::Error::other)?;
        Ok(BufReader::new(StreamOwned::new(tls, tcp)))
    }
}

fn exchange(connection: &mut Connection, request: &Request) -> io::Result<Answer> {
    let method = match request.method {
        Method::Get => "GET",
        Method::Head => "HEAD",
        Method::Post => "POST",
    };
    let path = request.url.strip_prefix(URL).unwrap();
    let body = request.body.as_deref().unwrap_or_default();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {}\r\nContent-Length: {}\r\n\r\n",
        jws::CONTENT_TYPE,
        body.len()
    );
    let tls = connection.get_mut();
    tls.write_all(&[head.as_bytes(), body.as_bytes()].concat())?;
    tls.flush()?;
    let mut line = String::new();
    connection.read_line(&mut line)?;
    let status = line
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    let mut answer = Answer {
        status: status.ok_or(io::ErrorKind::UnexpectedEof)?,
        ..Answer::default()
    };
    let mut len = 0;
    loop {
        line.clear();
        if connection.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        let value = value.to_owned();
        match &*name.to_ascii_lowercase() {
            "replay-nonce" => answer.replay_nonce = Some(value),
            "location" => answer.location = Some(value),
            "retry-after" => answer.retry_after = Some(value),
            "content-length" => len = value.parse().map_err(io::Error::other)?,
            _ => {}
        }
    }
    if request.method != Method::Head {
        answer.body = vec![0; len];
        connection.read_exact(&mut answer.body)?;
    }
    Ok(answer)
}
