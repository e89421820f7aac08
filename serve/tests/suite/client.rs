//! Clients for a server in this process or in another one; the tests of `tls-server` have this file, too.
#![allow(
    dead_code,
    reason = "two packages have this file, and each uses a part of it"
)]

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pq_serving::Identity;
use pq_serving::demonstration::Issued;
use pq_x509::certificate::Certificate;
use rustls::client::ResolvesClientCert;
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, RootCertStore, SignatureScheme};
use rustls_pq::{Group, SmallHello};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Nothing in the tests should take this long.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Connects as often as it is asked, and resumes where the server lets it.
#[derive(Clone)]
pub(crate) struct Client {
    address: SocketAddr,
    /// The client's own address.
    from: Ipv4Addr,
    config: Arc<ClientConfig>,
}

impl Client {
    pub(crate) fn new(
        address: SocketAddr,
        root: &Certificate,
        groups: &[Group],
        certificate: Option<&Issued>,
    ) -> Self {
        let builder = rustls_pq::Builder::with_default_base().unwrap();
        let provider = match groups {
            [] => builder.build(),
            _ => builder.groups(groups.iter().copied()).build(),
        };
        let mut roots = RootCertStore::empty();
        roots.add(root.der().clone()).unwrap();
        let config = ClientConfig::builder_with_provider(provider.unwrap().into())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_root_certificates(roots);
        let config = match certificate {
            Some(issued) => {
                let Identity { chain, key } = Identity::try_from(issued).unwrap();
                config.with_client_auth_cert(chain, key).unwrap()
            }
            None => config.with_no_client_auth(),
        };
        Self {
            address,
            from: Ipv4Addr::UNSPECIFIED,
            config: config.into(),
        }
    }

    /// The same client, which makes a full handshake each time.
    pub(crate) fn without_resumption(self) -> Self {
        self.with(|config| config.resumption = rustls::client::Resumption::disabled())
    }

    /// The same client with sessions of its own; the server sends it a HelloRetryRequest each time.
    pub(crate) fn with_small_hello(self) -> Self {
        self.with(|config| config.resumption = SmallHello::new().into())
    }

    /// The same client with sessions of its own, which sends a share for this group alone.
    pub(crate) fn with_share(self, group: Group) -> Self {
        self.with(|config| config.resumption = SmallHello::new().with_share(group).into())
    }

    /// The same client with no certificate, which remembers what it was asked for.
    pub(crate) fn with_asked(self, asked: Arc<Asked>) -> Self {
        self.with(|config| config.client_auth_cert_resolver = asked)
    }

    fn with(self, change: impl FnOnce(&mut ClientConfig)) -> Self {
        let mut config = ClientConfig::clone(&self.config);
        change(&mut config);
        Self {
            config: config.into(),
            ..self
        }
    }

    /// The same client at this address of its own.
    #[cfg(target_os = "linux")]
    pub(crate) fn from(self, from: Ipv4Addr) -> Self {
        Self { from, ..self }
    }

    pub(crate) fn config(&self) -> Arc<ClientConfig> {
        self.config.clone()
    }

    /// A TCP connection that has said nothing yet.
    pub(crate) async fn tcp(&self) -> io::Result<TcpStream> {
        let socket = TcpSocket::new_v4()?;
        // Without this, a request waits for the server's TCP to acknowledge the handshake, 40 ms.
        socket.set_nodelay(true)?;
        socket.bind((self.from, 0).into())?;
        socket.connect(self.address).await
    }

    pub(crate) async fn connect(&self) -> io::Result<TlsStream<TcpStream>> {
        let connected = timeout(PATIENCE, async {
            let tcp = self.tcp().await?;
            TlsConnector::from(self.config.clone())
                .connect("localhost".try_into().unwrap(), tcp)
                .await
        });
        connected.await.expect("connecting takes no time")
    }

    /// Connects, and stays once it was answered: then the server knows, too, that the handshake
    /// is complete.
    pub(crate) async fn settle(&self) -> io::Result<TlsStream<TcpStream>> {
        let mut tls = self.connect().await?;
        tls.write_all(b"HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            .await?;
        let answered = timeout(PATIENCE, async {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(tls.read_u8().await?);
            }
            io::Result::Ok(head)
        });
        let head = answered.await.expect("the server answers")?;
        assert!(head.starts_with(b"HTTP/1.1 200 OK\r\n"));
        Ok(tls)
    }

    /// Connects, sends a request and returns the whole answer. The request's head is
    /// given without `Host`, `Connection` and the empty line.
    pub(crate) async fn ask(&self, head: &str) -> io::Result<Answer> {
        self.ask_with_body(head, b"").await
    }

    /// The same with a body.
    pub(crate) async fn ask_with_body(&self, head: &str, body: &[u8]) -> io::Result<Answer> {
        let mut tls = self.connect().await?;
        let head = format!("{head}\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        tls.write_all(head.as_bytes()).await?;
        tls.write_all(body).await?;
        tls.flush().await?;
        read_answer(&mut tls).await
    }

    /// What the server's page says as JSON.
    pub(crate) async fn page(&self) -> io::Result<Value> {
        let answer = self
            .ask("GET / HTTP/1.1\r\nAccept: application/json")
            .await?;
        Ok(serde_json::from_str(&answer.body).expect("the page is JSON"))
    }
}

/// Reads an answer up to the end of the connection.
pub(crate) async fn read_answer(tls: &mut TlsStream<TcpStream>) -> io::Result<Answer> {
    let mut bytes = Vec::new();
    timeout(PATIENCE, tls.read_to_end(&mut bytes))
        .await
        .expect("the server answers and closes")?;
    let text = String::from_utf8(bytes).expect("answers are UTF-8");
    let (head, body) = text
        .split_once("\r\n\r\n")
        .ok_or(io::ErrorKind::UnexpectedEof)?;
    Ok(Answer {
        head: head.to_ascii_lowercase(),
        body: body.into(),
    })
}

/// An answer of HTTP.
#[derive(Debug)]
pub(crate) struct Answer {
    /// In lower case.
    head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn status(&self) -> &str {
        self.head.split(' ').nth(1).expect("a status line")
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(": ")?;
            (found == name).then_some(value)
        })
    }
}

/// The error of rustls inside an I/O error.
pub(crate) fn tls_error(error: &io::Error) -> &rustls::Error {
    error
        .get_ref()
        .and_then(|error| error.downcast_ref())
        .unwrap_or_else(|| panic!("not an error of TLS: {error:?}"))
}

/// Waits for the server to close a connection, and returns what it sent before.
pub(crate) async fn until_closed(mut stream: impl AsyncRead + Unpin) -> Vec<u8> {
    let mut bytes = Vec::new();
    let closed = timeout(PATIENCE, stream.read_to_end(&mut bytes)).await;
    // A reset closes, too, and so does the end of TCP without that of TLS.
    let _ = closed.expect("the server closes the connection");
    bytes
}

/// The signature schemes that a server asks of clients.
#[derive(Debug, Default)]
pub(crate) struct Asked(pub(crate) Mutex<Vec<SignatureScheme>>);

impl ResolvesClientCert for Asked {
    fn resolve(&self, _: &[&[u8]], schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        *self.0.lock().unwrap() = schemes.to_vec();
        None
    }

    fn has_certs(&self) -> bool {
        true
    }
}
