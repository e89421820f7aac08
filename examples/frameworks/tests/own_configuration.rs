//! The table in `docs/tls.md`, row by row: what accepts a rustls configuration. Both sides have one with
//! which a handshake is post-quantum or fails.
#![cfg(not(feature = "tonic-tls"))]

use std::sync::Arc;
use std::time::Duration;

use frameworks::{Pki, app, call, connector, listen};
use http_body_util::{BodyExt, Empty};
use hyper::Uri;
use hyper::body::Bytes;
use hyper::server::conn::http1;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use rustls::ServerConfig;
use rustls_pq::{Group, Negotiated};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_rustls::server::TlsStream;
use tokio_rustls::{TlsAcceptor, TlsConnector};
use tokio_stream::wrappers::ReceiverStream;
use tonic::service::Routes;
use tonic::transport::{Endpoint, Server};

#[tokio::test]
async fn tokio_rustls() {
    let pki = Pki::issue();
    let config = pki.server(&[]);
    let (listener, port) = listen();
    let server = tokio::spawn(async move {
        let acceptor = TlsAcceptor::from(config);
        let mut tls = acceptor.accept(accept(listener).await).await.unwrap();
        tls.write_all(b"hello").await.unwrap();
        tls.shutdown().await.unwrap();
        Negotiated::of(tls.get_ref().1).unwrap()
    });

    let tcp = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let connector = TlsConnector::from(Arc::new(pki.client()));
    let name = "localhost".try_into().unwrap();
    let mut tls = connector.connect(name, tcp).await.unwrap();
    let mut said = String::new();
    tls.read_to_string(&mut said).await.unwrap();
    assert_eq!(said, "hello");
    for negotiated in [
        Negotiated::of(tls.get_ref().1).unwrap(),
        server.await.unwrap(),
    ] {
        assert_eq!(negotiated.group, Some(Group::X25519MLKEM768));
    }
}

/// The client's half is hyper-rustls.
#[tokio::test]
async fn axum_over_hyper() {
    let pki = Pki::issue();
    let acceptor = TlsAcceptor::from(pki.server(&["http/1.1"]));
    let (listener, port) = listen();
    tokio::spawn(async move {
        let tls = acceptor.accept(accept(listener).await).await.unwrap();
        let service = TowerToHyperService::new(app());
        http1::Builder::new()
            .serve_connection(TokioIo::new(tls), service)
            .await
    });
    let client = Client::builder(TokioExecutor::new()).build(connector(pki.client()));
    let uri: Uri = format!("https://localhost:{port}/").parse().unwrap();
    let request = hyper::Request::get(uri)
        .body(Empty::<Bytes>::new())
        .unwrap();
    let response = client.request(request).await.unwrap();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(body, "hello");
}

/// The client's half is reqwest.
#[tokio::test]
async fn axum_server() {
    let pki = Pki::issue();
    // axum-server supports both, and reqwest as it is built here only the second.
    let config = pki.server(&["h2", "http/1.1"]);
    let (listener, port) = listen();
    let config = axum_server::tls_rustls::RustlsConfig::from_config(config);
    let server = axum_server::from_tcp_rustls(listener, config).unwrap();
    tokio::spawn(server.serve(app().into_make_service()));

    let client = reqwest::Client::builder()
        .tls_backend_preconfigured(pki.client())
        .no_proxy()
        .build()
        .unwrap();
    let response = client
        .get(format!("https://localhost:{port}/"))
        .send()
        .await;
    assert_eq!(response.unwrap().text().await.unwrap(), "hello");
}

#[tokio::test]
async fn tonic() {
    let pki = Pki::issue();
    let (listener, port) = listen();
    let server = Server::builder().add_routes(Routes::default());
    let incoming = tls_streams(listener, pki.server(&["h2"]));
    tokio::spawn(server.serve_with_incoming(incoming));

    // Silent clients, and one that disconnected, don't delay others.
    let address = ("127.0.0.1", port);
    let _silent = [(); 3].map(|()| std::net::TcpStream::connect(address).unwrap());
    drop(std::net::TcpStream::connect(address).unwrap());

    let endpoint = Endpoint::from_shared(format!("https://localhost:{port}")).unwrap();
    let mut channel = endpoint
        .connect_with_connector(connector(pki.client()))
        .await
        .unwrap();
    let code = call(&mut channel, "/nobody.Service/Method").await.unwrap();
    assert_eq!(code, tonic::Code::Unimplemented);
}

/// The time limit of a handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Handshakes in tasks of their own: a slow one does not delay others, and none runs forever. The
/// number of simultaneous handshakes is not limited here; `pq-serving` limits it.
fn tls_streams(
    listener: std::net::TcpListener,
    config: Arc<ServerConfig>,
) -> ReceiverStream<std::io::Result<TlsStream<TcpStream>>> {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        let listener = TcpListener::from_std(listener).unwrap();
        let acceptor = TlsAcceptor::from(config);
        while !sender.is_closed() {
            let Ok((tcp, _)) = listener.accept().await else {
                // That client is gone, or there are too many: the next one may succeed.
                sleep(Duration::from_millis(50)).await;
                continue;
            };
            let (acceptor, sender) = (acceptor.clone(), sender.clone());
            tokio::spawn(async move {
                let handshake = timeout(HANDSHAKE, acceptor.accept(tcp));
                if let Ok(Ok(tls)) = handshake.await {
                    assert_eq!(tls.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
                    // The server may have stopped.
                    let _ = sender.send(Ok(tls)).await;
                }
            });
        }
    });
    ReceiverStream::new(receiver)
}

async fn accept(listener: std::net::TcpListener) -> TcpStream {
    let listener = TcpListener::from_std(listener).unwrap();
    listener.accept().await.unwrap().0
}
