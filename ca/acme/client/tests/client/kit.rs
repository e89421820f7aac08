//! What tests have in common.

use alloc::sync::Arc;
use core::net::SocketAddr;
use core::time::Duration;
use std::path::Path;

use pq_acme_client::{AcmeIdentities, AcmeSource};
use pq_serving::Tls;
use pq_x509::certificate::Certificate;
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{PrivatePkcs8KeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use rustls_pq::identity::{Identities, Identity, IdentitySet};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::{TlsAcceptor, TlsConnector};

pub(crate) fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls_pq::provider().unwrap())
}

pub(crate) fn new_key() -> SigningKey {
    SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap()
}

pub(crate) fn new_root() -> Issuer<SigningKey> {
    Issuer::self_signed(CertificateBuilder::ca("Example CA"), new_key()).unwrap()
}

pub(crate) fn roots(root: &Certificate) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add(root.der().clone()).unwrap();
    roots
}

/// TLS for a server at `localhost`, by a certificate of this issuer.
pub(crate) fn tls(issuer: &Issuer<SigningKey>) -> Tls {
    let key = new_key();
    let builder = CertificateBuilder::server().dns_name("localhost");
    let leaf = issuer.issue(builder, &key).unwrap();
    let key = PrivatePkcs8KeyDer::from(key.to_pkcs8_der().unwrap().to_vec());
    let provider = provider();
    let identity = Identity::new(vec![leaf.into_der()], key.into(), &provider).unwrap();
    let identities = Identities::new(IdentitySet::new().with_default(identity));
    Tls::with(provider, Arc::new(identities), None).unwrap()
}

/// A source that has little patience.
pub(crate) fn source(directory: &str, name: &str, folder: &Path, root: &Certificate) -> AcmeSource {
    AcmeSource::new(directory, [name], folder)
        .unwrap()
        .roots(roots(root))
        .pauses(Duration::from_millis(200), Duration::from_secs(1))
}

/// Waits for what has to happen.
pub(crate) async fn soon<T>(what: impl Future<Output = T>) -> T {
    let minute = Duration::from_secs(60);
    tokio::time::timeout(minute, what).await.unwrap()
}

/// Waits until so many certificates came of each kind.
pub(crate) async fn obtained(certificates: &AcmeIdentities, number: u64) {
    let came = certificates.wait_for(|all| all.iter().all(|one| one.obtained >= number));
    let minute = Duration::from_secs(60);
    let came = tokio::time::timeout(minute, came).await;
    assert!(came.is_ok(), "{:?}", certificates.status());
}

/// What is served, in its order.
pub(crate) fn served(certificates: &AcmeIdentities) -> Vec<Vec<u8>> {
    let set = certificates.identities().current();
    let leaves = set.identities().map(|one| one.chain()[0].to_vec());
    leaves.collect()
}

/// Serves these certificates on this socket.
pub(crate) fn serve(listener: TcpListener, certificates: &AcmeIdentities) -> JoinHandle<()> {
    let config = certificates.server_config(["http/1.1"]).unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    tokio::spawn(async move {
        loop {
            let (tcp, _) = listener.accept().await.unwrap();
            let acceptor = acceptor.clone();
            tokio::spawn(async move { drop(acceptor.accept(tcp).await) });
        }
    })
}

/// Ends a server. Its port is free then.
pub(crate) async fn stop(server: JoinHandle<()>) {
    server.abort();
    server.await.unwrap_err();
}

/// The certificate that a server shows a client with this root, as its name wants it.
pub(crate) async fn shown(address: SocketAddr, name: &str, root: &Certificate) -> Vec<u8> {
    let mut config = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots(root))
        .with_no_client_auth();
    config.alpn_protocols = vec!["h2".into(), "http/1.1".into()];
    let tcp = TcpStream::connect(address).await.unwrap();
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let connector = TlsConnector::from(Arc::new(config));
    let tls = connector.connect(name, tcp).await.unwrap();
    let (_, connection) = tls.get_ref();
    assert_eq!(connection.alpn_protocol(), Some(b"http/1.1".as_slice()));
    connection.peer_certificates().unwrap()[0].to_vec()
}
