//! The client over TLS, to a server of pq-serving in this process.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use core::time::Duration;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;
use std::time::Instant;

use hyper::body::Bytes;
use hyper::{Request, Response, StatusCode};
use pq_keys::{Signer, SubjectKey, VerifyingKey};
use pq_keystore::Version;
use pq_keystore::door::{self, Door};
use pq_keystore::policy::Input;
use pq_keystore::remote::{
    RemoteError, RemoteSigner, RemoteStore, TlsTransport, TlsTransportOptions, TransportError,
};
use pq_serving::demonstration::Pki;
use pq_serving::{Client, Identity, Limits, Protection, Server, Tls, WholeRequests};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ClientConfig, RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use rustls_pq::Profile;
use tokio::runtime::Runtime;

use crate::amounts::signatures;
use crate::kit::{House, ROOT};

/// A server of a door, until it is dropped.
struct Served {
    runtime: Runtime,
    server: Option<Server>,
    pki: Pki,
    port: u16,
}

/// Gives the door what it reads of a request, unless that has no body.
fn ask<A>(
    request: &Request<Option<Bytes>>,
    client: &Client,
    answer: impl FnOnce(&door::Request<'_>) -> A,
) -> Option<A> {
    let text = |name| {
        request
            .headers()
            .get(name)
            .and_then(|value| value.to_str().ok())
    };
    Some(answer(&door::Request {
        method: request.method().as_str(),
        path: request.uri().path(),
        query: request.uri().query(),
        vault_token: text("x-vault-token"),
        authorization: text("authorization"),
        certificate: None,
        body: request.body().as_ref()?,
        is_gone: Some(&|| client.is_gone()),
        room: Some(&|len| client.reserve(len)),
        ..door::Request::default()
    }))
}

fn response(answer: door::Response) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from_owner(answer.body));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap();
    response
}

impl Served {
    fn new(house: &House) -> Self {
        let pki = Pki::issue(&["localhost".try_into().unwrap()]).unwrap();
        Self::at(house, pki, 0)
    }

    fn at(house: &House, pki: Pki, port: u16) -> Self {
        let runtime = Runtime::new().unwrap();
        let tls = Tls::new(Identity::try_from(&pki.server).unwrap(), &[], None).unwrap();
        let (door, prompt) = (house.door.clone(), house.door.clone());
        let handler = WholeRequests::new(
            door.max_body_len(),
            8,
            move |request: Request<Option<Bytes>>, _: &Protection, client: &Client| {
                let answered = ask(&request, client, |request| door.answer(request));
                response(answered.unwrap_or_else(Door::too_long))
            },
        )
        .promptly(move |request, _, client| {
            ask(request, client, |request| prompt.answer_promptly(request))?.map(response)
        });
        let server = runtime.block_on(async {
            let server = Server::builder(tls)
                .limits(Limits::default())
                .handler(handler);
            server.bind(("127.0.0.1", port)).await.unwrap()
        });
        let port = server.local_addr().port();
        Self {
            runtime,
            server: Some(server),
            pki,
            port,
        }
    }

    fn config(&self) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(self.pki.root.der().to_vec().into()).unwrap();
        let builder = pq_serving::provider_builder(Profile::Default, &[]).unwrap();
        let provider = Arc::new(builder.build().unwrap());
        ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth()
            .into()
    }

    fn remote(&self, token: &str) -> RemoteStore {
        let options = TlsTransportOptions::default();
        let transport = TlsTransport::new(self.config(), "localhost", self.port, options).unwrap();
        RemoteStore::new(transport, "transit", Some(token))
    }

    fn stop(&mut self) {
        if let Some(server) = self.server.take() {
            self.runtime.block_on(server.shutdown());
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop();
    }
}

#[test]
fn signs_over_tls() {
    let house = House::new();
    let served = Served::new(&house);
    let remote = served.remote(ROOT);
    remote.create("a", "mldsa-65", false).unwrap();
    let signer = RemoteSigner::newest(&remote, "a").unwrap();
    let key = VerifyingKey::from_spki_der(&signer.spki()).unwrap();
    thread::scope(|scope| {
        for number in 0..4 {
            let (signer, key, remote) = (&signer, &key, &remote);
            scope.spawn(move || {
                for round in 0..25 {
                    let message = format!("{number} {round}");
                    let signature = signer.sign(message.as_bytes()).unwrap();
                    key.verify(message.as_bytes(), &signature).unwrap();
                    let input = Input::message(message.as_bytes());
                    assert!(
                        remote
                            .verify("a", signer.version(), input, &signature)
                            .unwrap()
                    );
                }
            });
        }
    });
    let refused = RemoteSigner::newest(&served.remote("wrong"), "a").unwrap_err();
    assert!(matches!(refused, RemoteError::Refused { status: 403, .. }));
    let long = vec![0; house.door.max_body_len()];
    let refused = remote.sign("a", None, Input::message(&long)).unwrap_err();
    assert!(
        matches!(refused, RemoteError::Refused { status: 413, .. }),
        "{refused}"
    );
    signer.sign(b"after that").unwrap();
}

/// Eight threads sign and verify while a key is rotated every 10 ms: each signature verifies under the version that it
/// names, and under none beside it. As many as `PQ_KEYSTORE_SIGNATURES` says, 2,000 by default.
#[test]
fn signs_under_rotation() {
    const THREADS: u64 = 8;
    let each = signatures() / THREADS;
    let house = House::new();
    let served = Served::new(&house);
    let remote = served.remote(ROOT);
    remote.create("a", "mldsa-44", false).unwrap();
    let done = AtomicBool::new(false);
    let (started, rotations) = (Instant::now(), AtomicU64::new(0));
    // Removes what is older.
    let trim = |first: u64| {
        let body =
            format!(r#"{{"min_decryption_version": {first}, "min_encryption_version": {first}}}"#);
        house.post("keys/a/config", &body).expect(204);
        let body = format!(r#"{{"min_available_version": {first}}}"#);
        house.post("keys/a/trim", &body).expect(204);
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                remote.rotate("a").unwrap();
                let newest = rotations.fetch_add(1, Ordering::Relaxed) + 2;
                // A key has at most 4,096 versions.
                if newest.is_multiple_of(1_000) {
                    trim(newest - 500);
                }
                thread::sleep(Duration::from_millis(10));
            }
        });
        let threads: Vec<_> = (0..THREADS)
            .map(|number| {
                let remote = &remote;
                scope.spawn(move || {
                    for index in 0..each {
                        let message = format!("{number} {index}");
                        let input = Input::message(message.as_bytes());
                        let made = remote.sign("a", None, input).unwrap();
                        let verify = |version| remote.verify("a", version, input, &made.signature);
                        assert!(verify(made.version).unwrap());
                        // They may be removed by now, or not be there yet.
                        let before = Version::new(made.version.get() - 1);
                        for other in before.into_iter().chain(made.version.next()) {
                            match verify(other) {
                                Ok(is_valid) => assert!(!is_valid),
                                Err(RemoteError::Refused { status: 400, .. }) => {}
                                Err(error) => panic!("{error}"),
                            }
                        }
                    }
                })
            })
            .collect();
        let mut joined = Vec::new();
        for thread in threads {
            joined.push(thread.join());
        }
        done.store(true, Ordering::Release);
        for thread in joined {
            thread.unwrap();
        }
    });
    println!(
        "{} signatures in {:?}, {} rotations",
        THREADS * each,
        started.elapsed(),
        rotations.load(Ordering::Relaxed)
    );
    // A short run comes to no thousand.
    let newest = rotations.into_inner() + 1;
    trim(newest);
    let made = remote.sign("a", None, Input::message(b"x")).unwrap();
    assert_eq!(u64::from(made.version.get()), newest);
}

/// Without its server a key signs nothing, and says that trying again helps; it signs again when there is a server.
#[test]
fn the_server_goes_away() {
    let house = House::new();
    let mut served = Served::new(&house);
    let remote = served.remote(ROOT);
    remote.create("a", "mldsa-44", false).unwrap();
    let signer = RemoteSigner::newest(&remote, "a").unwrap();
    signer.sign(b"1").unwrap();
    served.stop();
    let refused = remote.sign("a", None, Input::message(b"2")).unwrap_err();
    assert!(refused.retry(), "{refused}");
    let again = Served::new(&house);
    RemoteSigner::newest(&again.remote(ROOT), "a")
        .unwrap()
        .sign(b"3")
        .unwrap();
}

/// A server that another root has certified gets no request.
#[test]
fn another_root() {
    let house = House::new();
    let (served, other) = (Served::new(&house), Served::new(&house));
    let options = TlsTransportOptions::default();
    let transport = TlsTransport::new(other.config(), "localhost", served.port, options).unwrap();
    let remote = RemoteStore::new(transport, "transit", Some(ROOT));
    let refused = remote.create("a", "mldsa-44", false).unwrap_err();
    assert!(
        matches!(refused, RemoteError::Transport(TransportError::Tls(_))),
        "{refused}"
    );
    assert!(!refused.retry());
    assert_eq!(house.get("keys/a").status, 404);
}

/// A server that accepts connections and says nothing is waited for no longer than the time limit.
#[test]
fn a_silent_server() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let house = House::new();
    let served = Served::new(&house);
    let mut options = TlsTransportOptions::default();
    options.answering = Duration::from_millis(200);
    let transport = TlsTransport::new(served.config(), "127.0.0.1", port, options).unwrap();
    let remote = RemoteStore::new(transport, "transit", Some(ROOT));
    let refused = remote.sign("a", None, Input::message(b"")).unwrap_err();
    assert!(
        matches!(refused, RemoteError::Transport(TransportError::TimedOut)),
        "{refused}"
    );
    assert!(refused.retry());
}

/// A server of a few connections, whose responses have these fields, too. Says how many requests came over each.
fn counting(pki: &Pki, listener: TcpListener, fields: &'static str) -> Vec<usize> {
    let chain = pki.server.chain.iter().map(|one| one.der().clone());
    let key = pki.server.key.to_pkcs8_der().unwrap().to_vec();
    let provider = pq_serving::provider_builder(Profile::Default, &[]).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(provider.build().unwrap()))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain.collect(), PrivatePkcs8KeyDer::from(key).into())
        .unwrap();
    let config = Arc::new(config);
    let serve = |socket: std::net::TcpStream| {
        // Longer than any request takes.
        socket
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let connection = ServerConnection::new(config.clone()).unwrap();
        let mut stream = StreamOwned::new(connection, socket);
        for requests in 0.. {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                // At its end it is closed, with TLS's word for it or without.
                match stream.read(&mut byte) {
                    Ok(1) => head.extend(byte),
                    _ => return requests,
                }
            }
            let body = r#"{"data": {"keys": {}}}"#;
            let len = body.len();
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {len}\r\n{fields}\r\n{body}");
            stream.write_all(answer.as_bytes()).unwrap();
            stream.flush().unwrap();
        }
        0
    };
    let mut served = Vec::new();
    while served.iter().sum::<usize>() < 3 {
        served.push(serve(listener.accept().unwrap().0));
    }
    served
}

/// A connection is used again unless the server says that it ends (RFC 9112, section 9.6), and as many are kept as the options
/// say. One that is not kept is closed.
#[test]
fn connections_that_are_kept() {
    let house = House::new();
    let served = Served::new(&house);
    for (kept, fields, expected) in [
        (8, "", vec![3]),
        (8, "Connection: close\r\n", vec![1; 3]),
        (8, "connection: Close\r\n", vec![1; 3]),
        (0, "", vec![1; 3]),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut options = TlsTransportOptions::default();
        options.kept = kept;
        options.answering = Duration::from_secs(60);
        let transport = TlsTransport::new(served.config(), "localhost", port, options).unwrap();
        let remote = RemoteStore::new(transport, "transit", Some(ROOT));
        let found = thread::scope(|scope| {
            let server = scope.spawn(|| counting(&served.pki, listener, fields));
            for _ in 0..3 {
                let answer = remote.public_key("a", None);
                assert!(matches!(answer, Err(RemoteError::Answer(_))), "{answer:?}");
            }
            drop(remote);
            server.join().unwrap()
        });
        assert_eq!(found, expected, "{kept} {fields:?}");
    }
}
