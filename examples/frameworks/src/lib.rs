//! The shared parts of the tests: certificates, and rustls's configurations for the two
//! sides, with which a handshake is entirely post-quantum or fails.
#![forbid(unsafe_code)]

use std::future::poll_fn;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use hyper::Request;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use pq_x509::certificate::Certificate;
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use rustls::crypto::CryptoProvider;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use rustls_pq::identity::{Identities, Identity, IdentitySet};
use rustls_pq::{Builder, Profile};
use tonic::transport::Channel;
use tower_service::Service;

/// A root, and the certificate of a server at localhost.
pub struct Pki {
    pub root: Certificate,
    pub chain: String,
    pub key: String,
}

impl Pki {
    pub fn issue() -> Self {
        let new_key = || SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
        let root = Issuer::self_signed(CertificateBuilder::ca("Root"), new_key()).unwrap();
        let key = new_key();
        let leaf = CertificateBuilder::server().dns_name("localhost");
        Self {
            chain: root.issue(leaf, &key).unwrap().to_pem(),
            key: key.to_pkcs8_pem().unwrap().to_string(),
            root: root.certificate().clone(),
        }
    }

    pub fn server(&self, alpn: &[&str]) -> Arc<ServerConfig> {
        let provider = provider();
        let identity =
            Identity::from_pem(self.chain.as_bytes(), self.key.as_bytes(), &provider).unwrap();
        let identities = Identities::new(IdentitySet::new().with_default(identity));
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(identities));
        config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().into()).collect();
        config.into()
    }

    pub fn client(&self) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(self.root.der().clone()).unwrap();
        ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth()
    }
}

/// Accepts post-quantum key exchange and signatures only.
pub fn provider() -> Arc<CryptoProvider> {
    let builder = Builder::with_default_base()
        .unwrap()
        .profile(Profile::RequirePq);
    builder.require_pq_authentication().build().unwrap().into()
}

/// A socket that listens, and its port.
pub fn listen() -> (TcpListener, u16) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

/// Answers every `GET /`.
pub fn app() -> Router {
    Router::new().route("/", get(|| async { "hello" }))
}

/// Connects by TLS only, for HTTP/1.1 and HTTP/2.
pub fn connector(config: ClientConfig) -> HttpsConnector<HttpConnector> {
    HttpsConnectorBuilder::new()
        .with_tls_config(config)
        .https_only()
        .enable_all_versions()
        .build()
}

/// Calls a method that the server doesn't have.
pub async fn assert_grpc(channel: &mut Channel) {
    poll_fn(|context| channel.poll_ready(context))
        .await
        .unwrap();
    let request = Request::post("/nobody.Service/Method")
        .header("content-type", "application/grpc")
        .body(tonic::body::Body::empty())
        .unwrap();
    let response = channel.call(request).await.unwrap();
    let unimplemented = (tonic::Code::Unimplemented as i32).to_string();
    assert_eq!(response.headers()["grpc-status"], unimplemented.as_str());
}
