//! A server of plain HTTP: the same handlers, limits and metrics, and nothing that protects the connection.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::{Request, Response};
use pq_serving::{Limits, Metrics, Protection, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::client::PATIENCE;

async fn tell(_: Request<Incoming>, protection: Arc<Protection>) -> Response<String> {
    Response::new(format!(
        "{} {} {:?} {}",
        protection.summary.protocol,
        protection.summary.group,
        protection.negotiated.map(|one| one.version),
        protection.peer.is_some(),
    ))
}

/// What comes until the server closes.
async fn said(address: SocketAddr, text: &[u8]) -> String {
    let mut tcp = TcpStream::connect(address).await.unwrap();
    tcp.write_all(text).await.unwrap();
    let mut all = Vec::new();
    // A connection that is reset has ended, too.
    let _ = timeout(PATIENCE, tcp.read_to_end(&mut all)).await.unwrap();
    String::from_utf8(all).unwrap()
}

#[tokio::test]
async fn a_handler_is_told_that_nothing_protects_it() {
    let server = Server::plain().handler(tell).bind("127.0.0.1:0").await;
    let server = server.unwrap();
    let request = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    let answer = said(server.local_addr(), request).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.ends_with("\r\n\r\nnone none None true"), "{answer}");
    // A request for two hosts is refused, as over TLS.
    let request = b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n";
    let answer = said(server.local_addr(), request).await;
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    assert_eq!(server.shutdown().await.cut_off, 0);
}

#[tokio::test]
async fn who_says_nothing_or_something_else_is_cut_off() {
    let limits = Limits {
        request_head: Duration::from_millis(300),
        ..Limits::default()
    };
    let server = Server::plain().limits(limits).handler(tell);
    let server = server.bind("127.0.0.1:0").await.unwrap();
    // Nothing, a part of a head, a ClientHello's beginning, and the preface of HTTP/2
    for text in [
        &b""[..],
        b"GET / HT",
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let answer = said(server.local_addr(), text).await;
        let is_refused = answer.is_empty() || answer.starts_with("HTTP/1.1 400 ");
        assert!(is_refused, "{answer}");
    }
}

#[tokio::test]
async fn a_program_says_that_it_can_not_do_its_work() {
    let metrics = Metrics::plain();
    let problem = Arc::new(std::sync::Mutex::new(None));
    metrics.ready_if({
        let problem = problem.clone();
        move || problem.lock().unwrap().clone()
    });
    let port = metrics.listen("127.0.0.1:0").await.unwrap();
    let server = Server::plain().handler(tell).metrics(&metrics);
    let _server = server.bind("127.0.0.1:0").await.unwrap();
    let request = b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n";
    let health = said(port.local_addr(), request).await;
    assert!(health.starts_with("HTTP/1.1 200 "), "{health}");
    *problem.lock().unwrap() = Some("the ledger is away".to_owned());
    let health = said(port.local_addr(), request).await;
    assert!(health.starts_with("HTTP/1.1 503 "), "{health}");
    assert!(health.ends_with("the ledger is away\n"), "{health}");
    let text = said(
        port.local_addr(),
        b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n",
    )
    .await;
    assert!(text.contains("pq_serving_connections_accepted"), "{text}");
}
