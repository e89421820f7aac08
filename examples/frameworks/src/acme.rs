//! As much of ACME (RFC 8555) as an account and an order need. It checks no signatures.

use std::net::TcpListener;
use std::sync::Arc;

use axum::Router;
use axum::http::{StatusCode, header};
use axum::routing::{get, head, post};
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rustls::ServerConfig;
use tokio_rustls::TlsAcceptor;

/// A server of any number of connections.
pub async fn serve(listener: TcpListener, config: Arc<ServerConfig>) {
    let port = listener.local_addr().unwrap().port();
    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
    let acceptor = TlsAcceptor::from(config);
    loop {
        let (tcp, _) = listener.accept().await.unwrap();
        let tls = acceptor.accept(tcp).await.unwrap();
        let service = TowerToHyperService::new(app(&format!("https://localhost:{port}")));
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(tls), service));
    }
}

fn app(base: &str) -> Router {
    let url = |path: &str| format!("{base}/{path}");
    let nonce = [("replay-nonce", "bm9uY2U")];
    let directory = format!(
        r#"{{"newNonce": "{0}/nonce", "newAccount": "{0}/account", "newOrder": "{0}/order"}}"#,
        base
    );
    let order =
        format!(r#"{{"status": "pending", "authorizations": [], "finalize": "{base}/finalize"}}"#);
    let created = move |at: String, body: String| async move {
        (StatusCode::CREATED, nonce, [(header::LOCATION, at)], body)
    };
    let (account_url, order_url) = (url("account/1"), url("order/1"));
    Router::new()
        .route("/directory", get(move || async move { directory }))
        .route("/nonce", head(move || async move { nonce }))
        .route(
            "/account",
            post(move || created(account_url, r#"{"status": "valid"}"#.into())),
        )
        .route("/order", post(move || created(order_url, order)))
}
