//! Clients that are silent, slow, endless or no TLS clients at all: the server drops them at its limits, and others are
//! still served.

use std::time::Duration;
use std::time::Instant;

use pq_serving::Limits;
use tokio::io::AsyncWriteExt;

use crate::client::{Client, until_closed};
use crate::harness::{Harness, Options};
use crate::served::patient;

/// What a client can send that is not a handshake.
pub(crate) const RUBBISH: [&[u8]; 6] = [
    b"",
    b"\x16",
    b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    // A handshake record that is announced and not sent.
    b"\x16\x03\x01\x06\x00\x01\x00\x05\xfc\x03\x03",
    // A ClientHello that ends after its version.
    b"\x16\x03\x01\x00\x06\x01\x00\x00\x02\x03\x03",
    &[0xff; 40_000],
];

#[tokio::test]
async fn bad_clients_do_not_disturb_good_ones() {
    let server = Harness::start().await;
    let mut open = Vec::new();
    for rubbish in RUBBISH.into_iter().cycle().take(60) {
        let mut tcp = server.tcp().await;
        // The server may have closed before it has all.
        let _ = tcp.write_all(rubbish).await;
        open.push(tcp);
    }
    assert_eq!(server.client().page().await.unwrap()["handshake"], "full");

    drop(open);
    assert_eq!(server.client().page().await.unwrap()["handshake"], "full");
}

#[tokio::test]
async fn clients_that_leave_do_not_disturb_others() {
    let server = Harness::start().await;
    for _ in 0..20 {
        drop(server.tcp().await);
        drop(server.client().connect().await.unwrap());
    }
    assert_eq!(server.client().page().await.unwrap()["handshake"], "full");
}

#[tokio::test]
async fn what_is_not_tls_is_answered_with_an_alert() {
    let server = Harness::start().await;
    let mut tcp = server.tcp().await;
    tcp.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await
        .unwrap();
    tcp.shutdown().await.unwrap();
    let answer = until_closed(tcp).await;
    // A record of alerts (21), with a fatal one (2).
    assert_eq!((answer[0], answer[5]), (21, 2), "{answer:?}");
}

#[tokio::test]
async fn a_silent_client_is_dropped() {
    let server = Harness::with(impatient()).await;
    // before the server's own clock starts
    let start = Instant::now();
    let tcp = server.tcp().await;
    assert_eq!(until_closed(tcp).await, b"");
    assert!(start.elapsed() >= SHORT);
}

#[tokio::test]
async fn half_a_request_is_dropped() {
    let server = Harness::with(impatient()).await;
    for request in ["", "GET / HTTP/1.1\r\nHost: local"] {
        // before the server's own clock starts
        let start = Instant::now();
        let mut tls = server.client().connect().await.unwrap();
        tls.write_all(request.as_bytes()).await.unwrap();
        let answer = until_closed(tls).await;
        assert!(start.elapsed() >= SHORT);
        assert_eq!(answer, b"");
    }
}

#[tokio::test]
async fn an_idle_connection_is_closed() {
    let server = Harness::with(impatient()).await;
    let mut tls = server.client().connect().await.unwrap();
    tls.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await
        .unwrap();
    let answer = until_closed(tls).await;
    assert!(answer.starts_with(b"HTTP/1.1 200"));
}

/// Nobody reads its body, so the connection ends, and the answer says so.
#[tokio::test]
async fn a_request_without_end_is_closed() {
    let server = Harness::start().await;
    for (head, status) in [
        ("POST / HTTP/1.1\r\nHost: localhost", "405"),
        ("POST /missing HTTP/1.1\r\nHost: localhost", "404"),
        ("GET / HTTP/1.1\r\nHost: localhost", "200"),
        ("POST / HTTP/1.1\r\nHost: a@b", "400"),
    ] {
        for body in ["Content-Length: 1000000", "Transfer-Encoding: chunked"] {
            let mut tls = server.client().connect().await.unwrap();
            let request = format!("{head}\r\n{body}\r\n\r\n1");
            tls.write_all(request.as_bytes()).await.unwrap();
            let answer = until_closed(tls).await;
            let answer = String::from_utf8(answer).unwrap();
            let start = format!("HTTP/1.1 {status} ");
            assert!(answer.starts_with(&start), "{request}: {answer}");
            assert!(answer.contains("\r\nconnection: close\r\n"), "{answer}");
        }
    }
}

/// Where the body was read, the connection goes on.
#[tokio::test]
async fn a_request_that_was_read_is_followed_by_another() {
    let server = Harness::with(Options {
        limits: Limits {
            bytes: 1000,
            ..Limits::default()
        },
        ..Options::default()
    })
    .await;
    let mut tls = server.client().connect().await.unwrap();
    let count = "POST /bytes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc";
    let last = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let both = format!("{count}{last}");
    tls.write_all(both.as_bytes()).await.unwrap();
    let answers = String::from_utf8(until_closed(tls).await).unwrap();
    assert_eq!(
        answers.matches("HTTP/1.1 200 OK\r\n").count(),
        2,
        "{answers}"
    );
    assert_eq!(answers.matches("connection: close").count(), 1, "{answers}");
}

/// For its size: the limits of time are longer than the test waits.
#[tokio::test]
async fn a_head_without_end_is_refused() {
    let server = Harness::with(Options {
        limits: patient(),
        ..Options::default()
    })
    .await;
    assert_refuses_a_long_head(&server.client()).await;
}

/// Sends a head without end.
pub(crate) async fn assert_refuses_a_long_head(client: &Client) {
    let mut tls = client.connect().await.unwrap();
    let start = b"GET / HTTP/1.1\r\nX: ";
    tls.write_all(start).await.unwrap();
    // No more than is read before it is refused: the answer could be lost otherwise.
    let rest = vec![b'x'; 128 * 1024 - start.len()];
    tls.write_all(&rest).await.unwrap();
    tls.flush().await.unwrap();
    let answer = until_closed(tls).await;
    assert!(answer.starts_with(b"HTTP/1.1 431"));
}

#[tokio::test]
async fn a_body_that_ends_early_or_never_is_dropped() {
    let server = Harness::with(Options {
        limits: Limits {
            connection: SHORT,
            bytes: 1000,
            ..Limits::default()
        },
        ..Options::default()
    })
    .await;
    for ends in [true, false] {
        let mut tls = server.client().connect().await.unwrap();
        tls.write_all(b"POST /bytes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nx")
            .await
            .unwrap();
        if ends {
            tls.shutdown().await.unwrap();
        }
        let answer = until_closed(tls).await;
        assert!(!answer.starts_with(b"HTTP/1.1 200"), "{answer:?}");
    }
    assert_eq!(server.client().page().await.unwrap()["handshake"], "full");
}

#[tokio::test]
async fn a_client_that_does_not_read_is_cut_off() {
    let server = Harness::with(Options {
        limits: Limits {
            connection: SHORT,
            ..Limits::default()
        },
        ..Options::default()
    })
    .await;
    let mut tls = server.client().connect().await.unwrap();
    let requests = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(1000);
    // Sooner or later the answers fill all buffers, and the server waits; once it has
    // cut the client off, writing fails.
    while tls.write_all(&requests).await.is_ok() {}
    assert_eq!(server.client().page().await.unwrap()["handshake"], "full");
}

#[tokio::test]
async fn more_connections_than_the_limit_wait() {
    let mut options = impatient();
    options.limits.connections = 3;
    let server = Harness::with(options).await;
    let start = Instant::now();
    let mut idle = Vec::new();
    for _ in 0..3 {
        idle.push(server.client().settle().await.unwrap());
    }
    assert_eq!(server.client().page().await.unwrap()["handshake"], "full");
    assert!(start.elapsed() >= SHORT, "{:?}", start.elapsed());
}

pub(crate) const SHORT: Duration = Duration::from_millis(600);

fn impatient() -> Options {
    Options {
        limits: Limits {
            handshake: SHORT,
            request_head: SHORT,
            ..Limits::default()
        },
        ..Options::default()
    }
}
