//! axum over TLS, connection by connection: a handler can then say what protects its connection.
#![forbid(unsafe_code)]

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use axum::routing::get;
use axum::serve::Listener;
use axum::{Extension, Router};
use frameworks::{Pki, fetch};
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rustls::ServerConfig;
use rustls_pq::identity::{Identities, Identity, IdentitySet};
use rustls_pq::{Builder, Negotiated, Profile};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let pki = Pki::issue();
    // Without `RequirePq`, clients that have no post-quantum key exchange get a classical one.
    let builder = Builder::with_default_base()?.profile(Profile::RequirePq);
    let provider = Arc::new(builder.build()?);
    let identity = Identity::from_pem(pki.chain.as_bytes(), pki.key.as_bytes(), &provider)?;
    let identities = Identities::new(IdentitySet::new().with_default(identity));
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(identities));
    config.alpn_protocols = vec!["http/1.1".into()];
    let acceptor = TlsAcceptor::from(Arc::new(config));

    let mut listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("https://localhost:{}/", listener.local_addr()?.port());
    tokio::spawn(async move {
        loop {
            // axum's way to accept, which goes on after errors.
            let (tcp, _) = Listener::accept(&mut listener).await;
            // Slow handshakes don't delay others. pq-serving also limits how many there are.
            tokio::spawn(serve(tcp, acceptor.clone()));
        }
    });

    println!("{}", fetch(&url, &pki).await?);
    Ok(())
}

async fn serve(tcp: TcpStream, acceptor: TlsAcceptor) -> Result<(), Box<dyn Error + Send + Sync>> {
    let tls = timeout(Duration::from_secs(10), acceptor.accept(tcp)).await??;
    let negotiated = Negotiated::of(tls.get_ref().1).ok_or("the handshake is over")?;
    let page = |Extension(it): Extension<Negotiated>| async move { it.to_string() };
    let app = Router::new().route("/", get(page));
    let service = TowerToHyperService::new(app.layer(Extension(negotiated)));
    let http = http1::Builder::new();
    Ok(http.serve_connection(TokioIo::new(tls), service).await?)
}
