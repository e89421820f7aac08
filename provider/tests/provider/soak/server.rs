//! The server of the soak test. It replaces its certificates, by call and by files, and its ticket key while it serves.

use alloc::sync::Arc;
use core::net::{Ipv4Addr, SocketAddr};
use core::time::Duration;
use std::path::PathBuf;
use std::sync::Mutex;
use std::{fs, io};

use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use pq_x509::x509_cert::der::pem::{LineEnding, encode_string};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{HandshakeKind, ServerConfig};
use rustls_pq::identity::{Identities, IdentityFiles, IdentitySet, Watcher};
use rustls_pq::{TicketOptions, Tickets};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::sleep;
use tokio_rustls::TlsAcceptor;

use crate::peers::{Ecdsa, Identity, roots};

/// A server with an ML-DSA and an ECDSA certificate. Client certificates of both kinds are accepted, but
/// optional.
pub(super) struct Server {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    accepting: JoinHandle<Report>,
}

/// The server's final report.
#[derive(Default)]
pub(super) struct Report {
    pub(super) served: usize,
    pub(super) failed: usize,
    pub(super) rotations: Rotations,
}

/// How often certificates and the ticket key were replaced.
#[derive(Clone, Copy, Default)]
pub(super) struct Rotations {
    pub(super) by_call: usize,
    /// How often new files were served, not only written.
    pub(super) by_files: usize,
}

/// What a client needs to be served.
pub(super) struct Trust {
    pub(super) ml_dsa_root: CertificateDer<'static>,
    pub(super) ecdsa_root: CertificateDer<'static>,
    pub(super) ml_dsa_client: Identity,
    pub(super) ecdsa_client: Identity,
}

impl Server {
    pub(super) async fn start(rotation: Duration) -> (Self, Trust) {
        let authorities = Authorities::new();
        let trust = authorities.trust();
        let provider = Arc::new(rustls_pq::provider().unwrap());
        let rotating = Rotating::new(authorities, Arc::clone(&provider));

        let client_roots = roots([trust.ml_dsa_root.clone(), trust.ecdsa_root.clone()]);
        let verifier = WebPkiClientVerifier::builder_with_provider(
            Arc::new(client_roots),
            Arc::clone(&provider),
        )
        .allow_unauthenticated()
        .build()
        .unwrap();
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_client_cert_verifier(verifier)
            .with_cert_resolver(rotating.identities.clone());
        config.ticketer = rotating.tickets.clone();

        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let accepting = tokio::spawn(async move {
            let rotations = Arc::<Mutex<Rotations>>::default();
            let rotating = tokio::spawn(rotate(rotating, rotation, Arc::clone(&rotations)));
            let mut report = accept(listener, Arc::new(config).into(), stopped).await;
            rotating.abort();
            report.rotations = *rotations.lock().unwrap();
            report
        });
        let server = Self {
            address,
            stop,
            accepting,
        };
        (server, trust)
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits for the connections that are still there.
    pub(super) async fn stop(self) -> Report {
        self.stop.send(()).unwrap();
        self.accepting.await.unwrap()
    }
}

async fn accept(
    listener: TcpListener,
    acceptor: TlsAcceptor,
    mut stopped: oneshot::Receiver<()>,
) -> Report {
    let mut report = Report::default();
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            tcp = listener.accept() => {
                let (tcp, _) = tcp.unwrap();
                connections.spawn(serve(acceptor.clone(), tcp));
            }
            Some(result) = connections.join_next() => report.count(result.unwrap()),
            _ = &mut stopped => break,
        }
    }
    while let Some(result) = connections.join_next().await {
        report.count(result.unwrap());
    }
    report
}

async fn rotate(rotating: Rotating, every: Duration, rotations: Arc<Mutex<Rotations>>) {
    loop {
        sleep(every).await;
        rotating.rotate_by_call();
        rotations.lock().unwrap().by_call += 1;
        sleep(every).await;
        rotating.rotate_by_files().await;
        rotations.lock().unwrap().by_files += 1;
    }
}

impl Report {
    fn count(&mut self, result: io::Result<()>) {
        match result {
            Ok(()) => self.served += 1,
            Err(_) => self.failed += 1,
        }
    }
}

/// Tells a client how the server sees it, and checks that both ends close.
async fn serve(acceptor: TlsAcceptor, tcp: TcpStream) -> io::Result<()> {
    let mut tls = acceptor.accept(tcp).await?;
    let mut request = [0; 4];
    tls.read_exact(&mut request).await?;
    let (_, connection) = tls.get_ref();
    let handshake = match connection.handshake_kind() {
        Some(HandshakeKind::Resumed) => "resumed",
        _ => "full",
    };
    let certificates = connection.peer_certificates().map_or(0, <[_]>::len);
    let answer = format!("{handshake}, {certificates} certificates");
    tls.write_all(answer.as_bytes()).await?;
    tls.shutdown().await?;
    tls.read_to_end(&mut Vec::new()).await?;
    Ok(())
}

/// What is replaced while the server runs.
struct Rotating {
    authorities: Authorities,
    files: Files,
    identities: Arc<Identities>,
    _watcher: Watcher,
    tickets: Arc<Tickets>,
}

impl Rotating {
    fn new(authorities: Authorities, provider: Arc<CryptoProvider>) -> Self {
        let files = Files::new();
        files.write(&authorities.issue());
        let (identities, watcher) = files.watch(provider);
        let options = TicketOptions::default()
            // So that the memory for sessions with client certificates is full soon.
            .with_stored_bytes(1 << 20)
            // Clients of these tests come back at once.
            .with_lifetime(Duration::from_secs(10));
        Self {
            authorities,
            files,
            identities,
            _watcher: watcher,
            tickets: Arc::new(Tickets::with_options(options).unwrap()),
        }
    }

    fn rotate_by_call(&self) {
        let identities = self.authorities.issue();
        self.identities
            .replace(identities.iter().fold(IdentitySet::new(), |set, identity| {
                set.with_default(identity.checked())
            }));
        self.tickets.rotate().unwrap();
    }

    /// Replaces the files, and waits until all of them are served.
    async fn rotate_by_files(&self) {
        let identities = self.authorities.issue();
        self.files.write(&identities);
        while !identities.iter().all(|identity| self.serves(identity)) {
            sleep(Files::WATCHED_EVERY).await;
        }
        self.tickets.rotate().unwrap();
    }

    fn serves(&self, identity: &Identity) -> bool {
        self.identities
            .current()
            .identities()
            .any(|served| served.certified_key().cert == identity.chain)
    }
}

/// The certificates and keys on disk.
struct Files {
    directory: TempDir,
}

impl Files {
    const WATCHED_EVERY: Duration = Duration::from_millis(5);

    fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
        }
    }

    fn watch(&self, provider: Arc<CryptoProvider>) -> (Arc<Identities>, Watcher) {
        let files = IdentityFiles::new(provider);
        let files = (0..Authorities::COUNT).fold(files, |files, number| {
            let [chain, key] = self.pair(number);
            files.with_default(chain, key)
        });
        files.watch(Self::WATCHED_EVERY).unwrap()
    }

    fn write(&self, identities: &[Identity; Authorities::COUNT]) {
        for (number, identity) in identities.iter().enumerate() {
            let [chain, key] = self.pair(number);
            fs::write(chain, pem("CERTIFICATE", &identity.chain[0])).unwrap();
            fs::write(key, pem("PRIVATE KEY", identity.key.secret_der())).unwrap();
        }
    }

    fn pair(&self, number: usize) -> [PathBuf; 2] {
        ["pem", "key"].map(|kind| self.directory.path().join(format!("{number}.{kind}")))
    }
}

fn pem(label: &str, der: &[u8]) -> String {
    encode_string(label, LineEnding::LF, der).unwrap()
}

/// The roots, which stay.
struct Authorities {
    ml_dsa: Issuer<SigningKey>,
    ecdsa: Issuer<Ecdsa>,
}

impl Authorities {
    const COUNT: usize = 2;

    fn new() -> Self {
        let builder = CertificateBuilder::ca;
        Self {
            ml_dsa: Issuer::self_signed(builder("ML-DSA"), ml_dsa_key()).unwrap(),
            ecdsa: Issuer::self_signed(builder("ECDSA"), Ecdsa::generate()).unwrap(),
        }
    }

    /// Fresh certificates for fresh keys.
    fn issue(&self) -> [Identity; Self::COUNT] {
        let leaf = || CertificateBuilder::server().dns_name("localhost");
        [
            Identity::issued_by(&self.ml_dsa, leaf(), &ml_dsa_key()),
            Identity::issued_by(&self.ecdsa, leaf(), &Ecdsa::generate()),
        ]
    }

    fn trust(&self) -> Trust {
        let leaf = || CertificateBuilder::client().common_name("Client");
        Trust {
            ml_dsa_root: self.ml_dsa.certificate().der().clone(),
            ecdsa_root: self.ecdsa.certificate().der().clone(),
            ml_dsa_client: Identity::issued_by(&self.ml_dsa, leaf(), &ml_dsa_key()),
            ecdsa_client: Identity::issued_by(&self.ecdsa, leaf(), &Ecdsa::generate()),
        }
    }
}

fn ml_dsa_key() -> SigningKey {
    SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap()
}
