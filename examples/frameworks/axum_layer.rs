//! axum with `Negotiated` as a layer: what is below it answers only clients with a post-quantum key exchange, and its handlers
//! know what protects their connection. `axum::serve` has the connections.
#![forbid(unsafe_code)]

use std::error::Error;
use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::connect_info::Connected;
use axum::extract::{ConnectInfo, Request};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::serve::{IncomingStream, Listener};
use axum::{Extension, Router};
use frameworks::{Pki, fetch_by};
use rustls::ServerConfig;
use rustls_pq::identity::{Identities, Identity, IdentitySet};
use rustls_pq::{Group, Negotiated};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// The layer. It gives what it found to the handlers.
async fn post_quantum_only(
    ConnectInfo(Protection(found)): ConnectInfo<Protection>,
    mut request: Request,
    next: Next,
) -> Response {
    match found {
        Some(negotiated) if negotiated.has_pq_key_exchange() => {
            request.extensions_mut().insert(negotiated);
            next.run(request).await
        }
        _ => (StatusCode::FORBIDDEN, "connect with X25519MLKEM768").into_response(),
    }
}

#[derive(Clone)]
struct Protection(Option<Negotiated>);

impl Connected<IncomingStream<'_, TlsListener>> for Protection {
    fn connect_info(stream: IncomingStream<'_, TlsListener>) -> Self {
        Self(Negotiated::of(stream.io().get_ref().1))
    }
}

/// Connections after their handshakes. These are tasks, so that slow ones delay nobody.
struct TlsListener {
    address: SocketAddr,
    accepted: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
}

impl TlsListener {
    fn new(mut tcp: TcpListener, config: ServerConfig) -> io::Result<Self> {
        let address = tcp.local_addr()?;
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let (sender, accepted) = mpsc::channel(1);
        tokio::spawn(async move {
            loop {
                let (stream, peer) = Listener::accept(&mut tcp).await;
                let (acceptor, sender) = (acceptor.clone(), sender.clone());
                tokio::spawn(async move {
                    let handshake = timeout(Duration::from_secs(10), acceptor.accept(stream));
                    if let Ok(Ok(tls)) = handshake.await {
                        // It fails if the server has ended.
                        let _ = sender.send((tls, peer)).await;
                    }
                });
            }
        });
        Ok(Self { address, accepted })
    }
}

impl Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, SocketAddr) {
        match self.accepted.recv().await {
            Some(connection) => connection,
            None => pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let pki = Pki::issue();
    let provider = Arc::new(rustls_pq::provider()?);
    let identity = Identity::from_pem(pki.chain.as_bytes(), pki.key.as_bytes(), &provider)?;
    let identities = Identities::new(IdentitySet::new().with_default(identity));
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(identities));
    config.alpn_protocols = vec!["http/1.1".into()];
    let listener = TlsListener::new(TcpListener::bind("127.0.0.1:0").await?, config)?;
    let url = format!("https://localhost:{}/", listener.address.port());

    let page = |Extension(it): Extension<Negotiated>| async move { it.to_string() };
    let app = Router::new()
        .route("/", get(page))
        .layer(from_fn(post_quantum_only))
        .into_make_service_with_connect_info::<Protection>();
    tokio::spawn(axum::serve(listener, app).into_future());

    for group in [Group::X25519MLKEM768, Group::X25519] {
        println!("{group}: {}", fetch_by(group, &url, &pki).await?);
    }
    Ok(())
}
