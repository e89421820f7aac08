//! How a server ends: what it finishes, and what it cuts off.

use std::time::Duration;
use std::time::Instant;

use pq_serving::{Drained, Limits};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::sleep;

use crate::client::{PATIENCE, read_answer};
use crate::harness::{Harness, Options};

#[tokio::test]
async fn a_running_request_is_finished() {
    let server = Harness::with(with_grace(Limits::default().grace)).await;
    let address = server.address();
    let mut tls = server.client().connect().await.unwrap();
    begin_request(&mut tls).await;

    let shutdown = tokio::spawn(server.shutdown());
    while TcpStream::connect(address).await.is_ok() {
        sleep(Duration::from_millis(5)).await;
    }
    assert!(!shutdown.is_finished());

    tls.write_all(b"12").await.unwrap();
    let answer = read_answer(&mut tls).await.unwrap();
    assert_eq!(answer.status(), "200");
    assert_eq!(answer.header("connection"), Some("close"));
    assert_eq!(shutdown.await.unwrap(), Drained { cut_off: 0 });
}

#[tokio::test]
async fn nobody_else_is_waited_for() {
    let server = Harness::with(with_grace(10 * PATIENCE)).await;
    let _silent = server.tcp().await;
    let mut idle = server.client().connect().await.unwrap();
    idle.write_all(b"HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await
        .unwrap();
    idle.read_u8().await.unwrap();

    // Which takes less than the test waits.
    assert_eq!(server.shutdown().await, Drained { cut_off: 0 });
}

#[tokio::test]
async fn grace_has_an_end() {
    let grace = Duration::from_millis(300);
    let server = Harness::with(with_grace(grace)).await;
    let mut tls = server.client().connect().await.unwrap();
    begin_request(&mut tls).await;

    let start = Instant::now();
    assert_eq!(server.shutdown().await, Drained { cut_off: 1 });
    assert!(start.elapsed() >= grace);
    let mut rest = Vec::new();
    // Cut off: no close_notify.
    assert!(tls.read_to_end(&mut rest).await.is_err());
}

#[tokio::test]
async fn a_dropped_server_stops() {
    let server = Harness::start().await;
    let address = server.address();
    drop(server);
    while TcpStream::connect(address).await.is_ok() {
        sleep(Duration::from_millis(5)).await;
    }
}

fn with_grace(grace: Duration) -> Options {
    Options {
        limits: Limits {
            grace,
            bytes: 2,
            ..Limits::default()
        },
        ..Options::default()
    }
}

/// Sends a request without its body of two bytes, and waits until the server has taken it up: it asks for the body.
async fn begin_request(tls: &mut (impl AsyncRead + AsyncWrite + Unpin)) {
    const GO_ON: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

    tls.write_all(
        b"POST /bytes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n",
    )
    .await
    .unwrap();
    let mut answer = [0; GO_ON.len()];
    tls.read_exact(&mut answer).await.unwrap();
    assert_eq!(answer, *GO_ON);
}
