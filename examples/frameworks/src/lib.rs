//! The shared parts of the programs and tests: certificates, rustls's configurations for the two
//! sides, with which a handshake is entirely post-quantum or fails, and simple peers.
#![forbid(unsafe_code)]

pub mod acme;
pub mod postgres;

use std::convert::Infallible;
use std::error::Error;
use std::future::poll_fn;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use pq_x509::certificate::Certificate;
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use rustls::crypto::CryptoProvider;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use rustls_pq::identity::{Identities, Identity, IdentitySet};
use rustls_pq::{Builder, Group, Negotiated, Profile};
use tokio_rustls::TlsAcceptor;
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
        self.client_over(provider())
    }

    fn client_over(&self, provider: Arc<CryptoProvider>) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(self.root.der().clone()).unwrap();
        ClientConfig::builder_with_provider(provider)
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

/// A server of one connection, which answers with what protects it.
pub async fn answer(listener: TcpListener, config: Arc<ServerConfig>) {
    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
    let (tcp, _) = listener.accept().await.unwrap();
    let tls = TlsAcceptor::from(config).accept(tcp).await.unwrap();
    let said = Negotiated::of(tls.get_ref().1).unwrap().to_string();
    let service = service_fn(|_| async { Ok::<_, Infallible>(Response::new(said.clone())) });
    let connection = http1::Builder::new().serve_connection(TokioIo::new(tls), service);
    // The client may go without a word.
    let _ = connection.await;
}

/// What a server says to a client that trusts the root.
pub async fn fetch(url: &str, pki: &Pki) -> reqwest::Result<String> {
    fetch_with(pki.client(), url).await
}

/// What it says to a client that has this group only.
pub async fn fetch_by(group: Group, url: &str, pki: &Pki) -> reqwest::Result<String> {
    let builder = Builder::with_default_base().unwrap().groups([group]);
    fetch_with(pki.client_over(builder.build().unwrap().into()), url).await
}

async fn fetch_with(config: ClientConfig, url: &str) -> reqwest::Result<String> {
    let client = reqwest::Client::builder()
        .tls_backend_preconfigured(config)
        .no_proxy()
        .build()?;
    client.get(url).send().await?.text().await
}

/// Calls a method without a message, and returns the status.
pub async fn call(channel: &mut Channel, method: &str) -> Result<tonic::Code, Box<dyn Error>> {
    poll_fn(|context| channel.poll_ready(context)).await?;
    let request = Request::post(method)
        .header("content-type", "application/grpc")
        .body(tonic::body::Body::empty())?;
    let response = channel.call(request).await?;
    let status = response.headers().get("grpc-status").ok_or("no status")?;
    Ok(tonic::Code::from_bytes(status.as_bytes()))
}
