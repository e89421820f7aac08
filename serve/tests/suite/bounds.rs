//! Bounds to the byte, each of them on its own: times, places and bodies.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hyper::body::Bytes;
use hyper::http::request::Parts;
use hyper::{Request, Response, StatusCode};
use pq_serving::{Client, Limits, Protection, WholeRequests};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::client::{PATIENCE, until_closed};
use crate::hostile::SHORT;
use crate::served::{Served, patient};

/// Handshakes and heads have times of their own.
#[tokio::test]
async fn times_are_not_mistaken_for_each_other() {
    let long = 10 * PATIENCE;
    let for_heads = Limits {
        request_head: SHORT,
        handshake: long,
        ..patient()
    };
    let server = Served::with(|server| server.limits(for_heads)).await;
    until_closed(server.client().connect().await.unwrap()).await;
    let for_handshakes = Limits {
        handshake: SHORT,
        request_head: long,
        ..patient()
    };
    let server = Served::with(|server| server.limits(for_handshakes)).await;
    let silent = TcpStream::connect(server.server.local_addr())
        .await
        .unwrap();
    until_closed(silent).await;
}

/// An answer that is being sent has its place until it was.
#[tokio::test]
async fn an_answer_has_its_place_until_it_was_sent() {
    // More than sockets hold.
    const LONG: u64 = 32 << 20;
    let limits = Limits {
        requests: 1,
        bytes: LONG,
        ..patient()
    };
    let server = Served::with(|server| server.limits(limits)).await;
    let head =
        format!("GET /bytes/{LONG} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    let mut sent = server.send(&head).await.unwrap();
    let mut begin = [0; 12];
    let read = timeout(PATIENCE, sent.read_exact(&mut begin)).await;
    read.unwrap().unwrap();
    assert_eq!(&begin, b"HTTP/1.1 200");
    let status = async || {
        let answer = server.client().ask("GET / HTTP/1.1").await.unwrap();
        answer.status().to_owned()
    };
    assert_eq!(status().await, "503");
    until_closed(sent).await;
    let start = Instant::now();
    while status().await != "200" {
        assert!(start.elapsed() < PATIENCE);
    }
}

/// The length of a body, or 413 if it is too long.
fn length(request: Request<Option<Bytes>>, _: &Protection, _: &Client) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    match request.body() {
        Some(body) => *response.body_mut() = body.len().to_string().into(),
        None => *response.status_mut() = StatusCode::PAYLOAD_TOO_LARGE,
    }
    response
}

/// The longest body is taken, and one that has a byte more is not, whether its length is announced or not.
#[tokio::test]
async fn the_longest_body() {
    const MOST: usize = 100_000;
    let handler = WholeRequests::new(MOST, 4, length);
    let server = Served::with(|server| server.limits(patient()).handler(handler)).await;
    for len in [0, 1, MOST - 1, MOST, MOST + 1] {
        let body = vec![b'x'; len];
        let announced = format!("POST / HTTP/1.1\r\nContent-Length: {len}");
        let mut chunked = Vec::new();
        for chunk in body.chunks(MOST / 3) {
            chunked.extend(format!("{:x}\r\n", chunk.len()).bytes());
            chunked.extend(chunk);
            chunked.extend(b"\r\n");
        }
        chunked.extend(b"0\r\n\r\n");
        let unannounced = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked";
        for (head, sent) in [(&*announced, &body), (unannounced, &chunked)] {
            let answer = server.client().ask_with_body(head, sent).await.unwrap();
            match len > MOST {
                true => assert_eq!(answer.status(), "413", "{head}"),
                false => {
                    assert_eq!(answer.status(), "200", "{head}");
                    assert_eq!(answer.body, len.to_string(), "{head}");
                }
            }
        }
    }
}

/// A body that is still to come takes no place of those that are there.
#[tokio::test]
async fn slow_bodies_hold_no_places() {
    let begun = Arc::new(AtomicUsize::new(0));
    let who = {
        let begun = begun.clone();
        move |_: &Parts, _: &Protection| {
            begun.fetch_add(1, Ordering::SeqCst);
            Ok("a".to_owned())
        }
    };
    // One place for each client.
    let handler = WholeRequests::new(1000, 2, length).only_for(who);
    let server = Served::with(|server| server.limits(patient()).handler(handler)).await;
    let head =
        "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 2\r\n\r\nx";
    let mut slow = server.send(head).await.unwrap();
    let start = Instant::now();
    while begun.load(Ordering::SeqCst) == 0 {
        assert!(start.elapsed() < PATIENCE);
        sleep(Duration::from_millis(5)).await;
    }
    let client = server.client();
    let answer = client.ask_with_body("POST / HTTP/1.1\r\nContent-Length: 1", b"x");
    // Well before a body that doesn't arrive is given up.
    let answer = timeout(PATIENCE / 2, answer).await.unwrap().unwrap();
    assert_eq!((answer.status(), &*answer.body), ("200", "1"));
    slow.write_all(b"x").await.unwrap();
    let answer = until_closed(slow).await;
    assert!(answer.starts_with(b"HTTP/1.1 200"));
}
