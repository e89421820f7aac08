//! The port with metrics and health: what is counted, and its own bounds.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::body::Incoming;
use hyper::{Request, Response};
use pq_serving::client::Counted;
use pq_serving::demonstration::Pki;
use pq_serving::{
    Drained, Identity, Limits, Metrics, MetricsPort, Protection, Server, ServerBuilder, Tls,
    provider,
};
use pq_x509::keys::{SignatureAlgorithm, SigningKey, SubjectKey};
use rustls::client::AlwaysResolvesClientRawPublicKeys;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::server::danger::ClientCertVerifier;
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, RootCertStore};
use rustls_pq::identity::{Identities, IdentitySet};
use rustls_pq::verify::PinnedKeys;
use rustls_pq::{Group, Profile};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsConnector;

use crate::client::{Client, PATIENCE, until_closed};
use crate::hostile::SHORT;

/// A server that is watched.
struct Watched {
    pki: Pki,
    server: Server,
    port: MetricsPort,
}

impl Watched {
    async fn start() -> Self {
        Self::with(|server| server).await
    }

    async fn with(choose: impl FnOnce(ServerBuilder) -> ServerBuilder) -> Self {
        Self::with_clients(None, choose).await
    }

    /// Clients are asked who they are, if there is something that verifies them.
    async fn with_clients(
        clients: Option<Arc<dyn ClientCertVerifier>>,
        choose: impl FnOnce(ServerBuilder) -> ServerBuilder,
    ) -> Self {
        let pki = Pki::issue(&["localhost".try_into().unwrap()]).unwrap();
        let provider = provider(Profile::Default, &[]).unwrap();
        let identity = Identity::try_from(&pki.server).unwrap();
        let set = IdentitySet::new().with_default(identity.check(&provider).unwrap());
        let tls = Tls::with(provider, Identities::new(set).into(), clients).unwrap();
        let metrics = Metrics::new(&tls, None);
        let server = choose(Server::builder(tls)).metrics(&metrics);
        Self {
            pki,
            server: server.bind("127.0.0.1:0").await.unwrap(),
            port: metrics.listen("127.0.0.1:0").await.unwrap(),
        }
    }

    fn client(&self, groups: &[Group]) -> Client {
        Client::new(self.server.local_addr(), &self.pki.root, groups, None)
    }

    async fn get(&self, path: &str) -> String {
        get(&self.port, path).await
    }

    /// Waits until the metrics have this line.
    async fn until_counted(&self, line: &str) {
        until_counted(&self.port, line).await;
    }
}

async fn until_counted(port: &MetricsPort, line: &str) {
    let start = Instant::now();
    loop {
        let metrics = get(port, "/metrics").await;
        if metrics.lines().any(|one| one == line) {
            return;
        }
        assert!(start.elapsed() < PATIENCE, "{line}\n{metrics}");
        sleep(Duration::from_millis(5)).await;
    }
}

async fn get(port: &MetricsPort, path: &str) -> String {
    ask(
        port,
        &format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    )
    .await
}

async fn ask(port: &MetricsPort, request: &str) -> String {
    let mut tcp = TcpStream::connect(port.local_addr()).await.unwrap();
    tcp.write_all(request.as_bytes()).await.unwrap();
    String::from_utf8(until_closed(tcp).await).unwrap()
}

/// A client with a raw public key is known by it, and one whose key isn't pinned counts as one with a wrong certificate.
#[tokio::test]
async fn clients_with_raw_public_keys() {
    let provider = provider(Profile::Default, &[]).unwrap();
    let keys =
        [1, 2].map(|seed| SigningKey::from_seed(SignatureAlgorithm::MlDsa44, &[seed; 32]).unwrap());
    let pinned = PinnedKeys::new([keys[0].spki().into_owned()], &provider);
    let watched = Watched::with_clients(Some(Arc::new(pinned)), |server| server).await;
    let answers = keys.map(async |key| {
        let der = key.to_pkcs8_der().unwrap();
        let der = PrivatePkcs8KeyDer::from(der.to_vec());
        let key = provider.key_provider.load_private_key(der.into()).unwrap();
        let shown = key.public_key().unwrap().to_vec().into();
        let key = Arc::new(CertifiedKey::new(vec![shown], key));
        let mut roots = RootCertStore::empty();
        roots.add(watched.pki.root.der().clone()).unwrap();
        let config = ClientConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_root_certificates(roots)
            .with_client_cert_resolver(Arc::new(AlwaysResolvesClientRawPublicKeys::new(key)));
        let tcp = TcpStream::connect(watched.server.local_addr())
            .await
            .unwrap();
        let connector = TlsConnector::from(Arc::new(config));
        let connecting = connector.connect("localhost".try_into().unwrap(), tcp);
        let mut tls = connecting.await.unwrap();
        let request = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        tls.write_all(request).await.unwrap();
        let mut answer = String::new();
        tls.read_to_string(&mut answer).await.map(|_| answer)
    });
    let [known, unknown] = answers;
    let page = timeout(PATIENCE, known).await.unwrap().unwrap();
    let shown = page
        .lines()
        .find(|line| line.starts_with("client certificate"));
    let (_, hash) = shown
        .unwrap()
        .rsplit_once("  ML-DSA-44 key with SHA-256 ")
        .unwrap();
    assert_eq!(hash.len(), 64, "{hash}");
    timeout(PATIENCE, unknown).await.unwrap().unwrap_err();
    let line = r#"pq_serving_handshake_failures_total{reason="client_certificate"} 1"#;
    watched.until_counted(line).await;
}

#[tokio::test]
async fn handshakes_and_requests_are_counted() {
    let watched = Watched::start().await;
    let client = watched.client(&[]).without_resumption();
    for (path, status) in [("/", "200"), ("/", "200"), ("/missing", "404")] {
        let answer = client.ask(&format!("GET {path} HTTP/1.1")).await.unwrap();
        assert_eq!(answer.status(), status);
    }
    let classical = watched.client(&[Group::X25519]);
    classical.page().await.unwrap();
    watched.client(&[Group::MLKEM512]).page().await.unwrap_err();

    for line in [
        r#"pq_serving_handshakes_total{version="TLS 1.3",group="X25519MLKEM768",resumed="false"} 3"#,
        r#"pq_serving_handshakes_total{version="TLS 1.3",group="x25519",resumed="false"} 1"#,
        r#"pq_serving_handshake_failures_total{reason="no_shared_group"} 1"#,
        r#"pq_serving_requests_total{version="1.1",status="2xx"} 3"#,
        r#"pq_serving_requests_total{version="1.1",status="4xx"} 1"#,
        "pq_serving_connections_accepted_total 5",
        "pq_serving_connections 0",
        "pq_serving_requests_running 0",
        "pq_serving_draining 0",
    ] {
        watched.until_counted(line).await;
    }
    let metrics = watched.get("/metrics").await;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain; version=0.0.4; charset=utf-8\r\n";
    assert!(metrics.starts_with(head), "{metrics}");
    let not_after = watched.pki.server.chain[0].not_after().as_secs();
    let line =
        format!("pq_serving_certificate_expiry_timestamp_seconds{{chain=\"0\"}} {not_after}");
    watched.until_counted(&line).await;
}

/// A handler that panics is seen in the counts, too.
#[tokio::test]
async fn a_request_without_an_answer_is_counted() {
    async fn panics(_: Request<Incoming>, _: Arc<Protection>) -> Response<String> {
        panic!("as the test wants")
    }
    let watched = Watched::with(|server| server.handler(panics)).await;
    let client = watched.client(&[]);
    client.ask("GET / HTTP/1.1").await.unwrap_err();
    watched
        .until_counted(r#"pq_serving_requests_total{version="1.1",status="none"} 1"#)
        .await;
    watched.until_counted("pq_serving_requests_running 0").await;
}

/// And so is a handler whose time is over.
#[tokio::test]
async fn a_request_that_is_cut_off_is_counted() {
    async fn waits(_: Request<Incoming>, _: Arc<Protection>) -> Response<String> {
        std::future::pending().await
    }
    let limits = Limits {
        grace: SHORT,
        ..Limits::default()
    };
    let watched = Watched::with(|server| server.handler(waits).limits(limits)).await;
    let client = watched.client(&[]);
    let answer = tokio::spawn(async move { client.ask("GET / HTTP/1.1").await });
    watched.until_counted("pq_serving_requests_running 1").await;
    let Watched { server, port, .. } = watched;
    let shutdown = timeout(PATIENCE, server.shutdown());
    assert_eq!(shutdown.await.unwrap(), Drained { cut_off: 1 });
    answer.await.unwrap().unwrap_err();
    let line = r#"pq_serving_requests_total{version="1.1",status="none"} 1"#;
    until_counted(&port, line).await;
    until_counted(&port, "pq_serving_requests_running 0").await;
}

#[tokio::test]
async fn a_handshake_whose_time_is_over_is_counted() {
    let limits = Limits {
        handshake: SHORT,
        ..Limits::default()
    };
    let watched = Watched::with(|server| server.limits(limits)).await;
    let silent = TcpStream::connect(watched.server.local_addr()).await;
    watched
        .until_counted(r#"pq_serving_handshake_failures_total{reason="timeout"} 1"#)
        .await;
    assert_eq!(until_closed(silent.unwrap()).await, b"");
}

/// The server knows of a client that refuses its chain why that left.
#[tokio::test]
async fn the_alert_of_a_client_arrives() {
    let watched = Watched::start().await;
    let another = Pki::issue(&["localhost".try_into().unwrap()]).unwrap();
    let address = watched.server.local_addr();
    let config = Client::new(address, &another.root, &[], None).config();
    let (tcp, _) = Counted::new(TcpStream::connect(address).await.unwrap());
    let name = "localhost".try_into().unwrap();
    let shaken = TlsConnector::from(config).connect(name, tcp);
    let shaken = timeout(PATIENCE, shaken.into_fallible()).await.unwrap();
    // Whoever closes before all was read resets the connection, and the alert could be lost with it.
    let (_, _open) = shaken.expect_err("the client trusts another root");
    watched
        .until_counted(r#"pq_serving_handshake_failures_total{reason="server_certificate"} 1"#)
        .await;
}

/// What a client sends is nowhere, so that nobody can make the server remember more and more.
#[tokio::test]
async fn no_label_has_what_a_client_says() {
    let watched = Watched::start().await;
    watched.client(&[]).page().await.unwrap();
    let labels = |metrics: &str| metrics.matches('{').count();
    let client = watched.client(&[]).without_resumption();
    client.ask("BREW /coffee HTTP/1.1").await.unwrap();
    let before = watched.get("/metrics").await;
    for number in 0..5 {
        let head = format!("METHOD{number} /path{number} HTTP/1.1\r\nX{number}: y");
        client.ask(&head).await.unwrap();
    }
    watched
        .until_counted(r#"pq_serving_requests_total{version="1.1",status="4xx"} 6"#)
        .await;
    let after = watched.get("/metrics").await;
    assert_eq!(labels(&before), labels(&after), "{after}");
    for said in ["METHOD", "path", "BREW", "coffee", "localhost"] {
        assert!(!after.contains(said), "{after}");
    }
}

#[tokio::test]
async fn a_refusal_by_admission_is_counted() {
    let watched = Watched::with(|server| {
        server.limits(Limits {
            connections_per_address: 1,
            request_head: 10 * PATIENCE,
            handshake: 10 * PATIENCE,
            ..Limits::default()
        })
    })
    .await;
    let _silent = TcpStream::connect(watched.server.local_addr())
        .await
        .unwrap();
    watched.until_counted("pq_serving_connections 1").await;
    let _settled = watched.client(&[]).settle().await.unwrap();
    watched
        .until_counted(r#"pq_serving_admission_refusals_total{reason="handshake_of_address"} 1"#)
        .await;
    watched.client(&[]).connect().await.unwrap_err();
    watched
        .until_counted(r#"pq_serving_admission_refusals_total{reason="address"} 1"#)
        .await;
}

/// The limit for all addresses together.
#[tokio::test]
async fn a_handshake_that_makes_way_is_counted() {
    let limits = Limits {
        handshakes: 1,
        handshake: 10 * PATIENCE,
        ..Limits::default()
    };
    let watched = Watched::with(|server| server.limits(limits)).await;
    let address = watched.server.local_addr();
    let oldest = TcpStream::connect(address).await.unwrap();
    watched.until_counted("pq_serving_connections 1").await;
    let _newer = TcpStream::connect(address).await.unwrap();
    watched
        .until_counted(r#"pq_serving_admission_refusals_total{reason="handshake_of_all"} 1"#)
        .await;
    assert_eq!(until_closed(oldest).await, b"");
}

/// Whoever distributes requests sees the drain before the last request is over.
#[tokio::test]
async fn health_is_ready_until_the_drain() {
    let go_on = Arc::new(Semaphore::new(0));
    let waits = {
        let go_on = go_on.clone();
        move |_: Request<Incoming>, _: Arc<Protection>| {
            let go_on = go_on.clone();
            async move {
                let _permit = go_on.acquire().await;
                Response::new("done".to_owned())
            }
        }
    };
    let limits = Limits {
        grace: 10 * PATIENCE,
        ..Limits::default()
    };
    let watched = Watched::with(|server| server.handler(waits).limits(limits)).await;
    assert!(watched.get("/health").await.starts_with("HTTP/1.1 200"));
    let client = watched.client(&[]);
    let answer = tokio::spawn(async move { client.ask("GET / HTTP/1.1").await });
    watched.until_counted("pq_serving_requests_running 1").await;

    let Watched { server, port, .. } = watched;
    let shutdown = tokio::spawn(server.shutdown());
    let start = Instant::now();
    let draining = loop {
        let health = get(&port, "/health").await;
        if !health.ends_with("ready\n") {
            break health;
        }
        assert!(start.elapsed() < PATIENCE);
    };
    assert!(draining.starts_with("HTTP/1.1 503"), "{draining}");
    assert!(draining.ends_with("draining\n"), "{draining}");
    assert!(
        get(&port, "/metrics")
            .await
            .contains("pq_serving_draining 1\n")
    );
    assert!(get(&port, "/health/live").await.starts_with("HTTP/1.1 200"));

    go_on.add_permits(1);
    assert_eq!(answer.await.unwrap().unwrap().body, "done");
    timeout(PATIENCE, shutdown).await.unwrap().unwrap();
}

/// Whether there is a server, and none that ends: one after the other with the same metrics.
#[tokio::test]
async fn health_is_that_of_all_servers() {
    let pki = Pki::issue(&["localhost".try_into().unwrap()]).unwrap();
    let tls = Tls::new(Identity::try_from(&pki.server).unwrap(), &[], None).unwrap();
    let metrics = Metrics::new(&tls, None);
    let port = metrics.listen("127.0.0.1:0").await.unwrap();
    for _ in 0..2 {
        let health = get(&port, "/health").await;
        assert!(health.starts_with("HTTP/1.1 503"), "{health}");
        assert!(health.ends_with("starting\n"), "{health}");
        let server = Server::builder(tls.clone()).metrics(&metrics);
        let server = server.bind("127.0.0.1:0").await.unwrap();
        assert!(get(&port, "/health").await.ends_with("ready\n"));
        server.shutdown().await;
    }
}

/// Connections are accepted until everyone may know that they should go elsewhere.
#[tokio::test]
async fn connections_are_accepted_while_the_end_is_told() {
    let limits = Limits {
        lame_duck: 10 * PATIENCE,
        ..Limits::default()
    };
    let watched = Watched::with(|server| server.limits(limits)).await;
    let client = watched.client(&[]);
    let Watched { server, port, .. } = watched;
    let shutdown = tokio::spawn(server.shutdown());
    let start = Instant::now();
    while !get(&port, "/health").await.ends_with("draining\n") {
        assert!(start.elapsed() < PATIENCE);
    }
    client.page().await.unwrap();
    assert!(!shutdown.is_finished());
    shutdown.abort();
}

#[tokio::test]
async fn other_paths_and_methods_are_refused() {
    let watched = Watched::start().await;
    assert!(watched.get("/").await.starts_with("HTTP/1.1 404"));
    let post = "POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n";
    assert!(ask(&watched.port, post).await.starts_with("HTTP/1.1 405"));
    // Whatever of it arrives after the answer, hyper closes the connection, and the answer may be lost with it.
    let long = format!(
        "GET /metrics HTTP/1.1\r\nX: {}\r\n\r\n",
        "x".repeat(9 * 1024)
    );
    let mut tcp = TcpStream::connect(watched.port.local_addr()).await.unwrap();
    let _ = tcp.write_all(long.as_bytes()).await;
    let mut answer = Vec::new();
    let read = timeout(PATIENCE, tcp.read_to_end(&mut answer));
    let _ = read.await.expect("it is closed");
    assert!(!answer.starts_with(b"HTTP/1.1 200"));
    assert!(watched.get("/health").await.ends_with("ready\n"));
}

/// Silent ones have all places, and the oldest loses its own to whoever comes.
#[tokio::test]
async fn who_watches_in_silence_keeps_nobody_out() {
    let watched = Watched::start().await;
    let mut silent = Vec::new();
    for _ in 0..32 {
        let mut tcp = TcpStream::connect(watched.port.local_addr()).await.unwrap();
        tcp.write_all(b"GET /health HTTP/1.1\r\n").await.unwrap();
        silent.push(tcp);
    }
    // Each of them is there before the time for a head is over, but none is waited for.
    for _ in 0..20 {
        let start = Instant::now();
        let health = watched.get("/health").await;
        assert!(health.ends_with("ready\n"), "{health}");
        if start.elapsed() < Duration::from_secs(1) {
            return;
        }
    }
    panic!("each answer has taken a second");
}

/// Who asks for metrics takes nobody's place who asks for health, however many there are.
#[tokio::test]
async fn health_has_places_of_its_own() {
    let watched = Watched::start().await;
    // More often on a machine that takes longer than the time for a head.
    for _ in 0..20 {
        let start = Instant::now();
        let mut first = TcpStream::connect(watched.port.local_addr()).await.unwrap();
        let mut others = Vec::new();
        for _ in 0..24 {
            let mut tcp = TcpStream::connect(watched.port.local_addr()).await.unwrap();
            let request = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
            tcp.write_all(request).await.unwrap();
            others.push(tcp);
        }
        let request = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
        let sent = first.write_all(request).await;
        let health = String::from_utf8(until_closed(first).await).unwrap();
        if start.elapsed() < Duration::from_secs(1) {
            sent.unwrap();
            assert!(health.ends_with("ready\n"), "{health}");
            return;
        }
    }
    panic!("each round has taken a second");
}

/// An alert about an increase needs the count before the first event.
#[tokio::test]
async fn counts_begin_at_zero() {
    let watched = Watched::start().await;
    let before = watched.get("/metrics").await;
    for line in [
        r#"pq_serving_handshakes_total{version="TLS 1.3",group="X25519MLKEM768",resumed="false"} 0"#,
        r#"pq_serving_handshakes_total{version="TLS 1.3",group="x25519",resumed="true"} 0"#,
        r#"pq_serving_handshake_failures_total{reason="timeout"} 0"#,
        r#"pq_serving_admission_refusals_total{reason="address"} 0"#,
        r#"pq_serving_requests_total{version="1.1",status="5xx"} 0"#,
        r#"pq_serving_requests_total{version="2",status="none"} 0"#,
        "pq_serving_connections_accepted_total 0",
    ] {
        assert!(before.lines().any(|one| one == line), "{line}\n{before}");
    }
    watched.client(&[]).page().await.unwrap();
    watched.client(&[]).page().await.unwrap();
    watched.client(&[Group::MLKEM512]).page().await.unwrap_err();
    watched
        .until_counted(r#"pq_serving_handshake_failures_total{reason="no_shared_group"} 1"#)
        .await;
    watched.until_counted("pq_serving_connections 0").await;
    let after = watched.get("/metrics").await;
    assert_eq!(names(&before), names(&after));
}

/// What is counted, without the counts.
fn names(metrics: &str) -> Vec<&str> {
    let lines = metrics.lines().filter(|line| line.starts_with("pq_"));
    let mut names: Vec<_> = lines
        .filter_map(|line| line.rsplit_once(' '))
        .map(|(name, _)| name)
        .collect();
    names.sort_unstable();
    names
}

/// A head has two seconds.
#[tokio::test]
async fn who_watches_in_silence_is_dropped() {
    let watched = Watched::start().await;
    let start = Instant::now();
    let mut tcp = TcpStream::connect(watched.port.local_addr()).await.unwrap();
    tcp.write_all(b"GET /health HTTP/1.1\r\n").await.unwrap();
    until_closed(tcp).await;
    assert!(start.elapsed() >= Duration::from_secs(2));
}
