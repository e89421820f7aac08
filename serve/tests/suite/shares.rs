//! Clients at several addresses: on Linux, a machine has a whole network of its own (127.0.0.0/8).

use std::io::ErrorKind;
use std::net::Ipv4Addr;
use std::time::Instant;

use pq_serving::Limits;
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use crate::client::{Answer, Client, PATIENCE, read_answer, until_closed};
use crate::harness::{Harness, Options};
use crate::hostile::{RUBBISH, SHORT};

/// Silent connections and kept ones, and many more of both than there are places.
#[tokio::test]
async fn a_flood_from_one_address_leaves_others_served() {
    let server = Harness::with(narrow()).await;
    let flood = server.client().from(address(2)).without_resumption();
    let mut silent = Vec::new();
    for _ in 0..50 {
        silent.push(flood.tcp().await.unwrap());
    }
    assert_eq!(server.client().page().await.unwrap()["handshake"], "full");

    // The silent ones make way for those who complete their handshake.
    let mut kept = Vec::new();
    for _ in 0..4 {
        kept.push(flood.settle().await.unwrap());
    }
    for _ in 0..50 {
        let refused = flood.connect().await.expect_err("it has its share");
        assert_eq!(refused.kind(), ErrorKind::ConnectionReset, "{refused}");
    }
    for host in [1, 3, 4] {
        let other = server.client().from(address(host));
        assert_eq!(other.page().await.unwrap()["handshake"], "full");
    }

    // Those that are kept are served, and their places are free once they end.
    for tls in &mut kept {
        let answer = ask_and_close(tls).await;
        assert_eq!(answer.status(), "200");
    }
    drop((kept, silent));
    for _ in 0..20 {
        assert_eq!(until_served(&flood).await["handshake"], "full");
    }
}

/// From so many addresses that none has its share.
#[tokio::test]
async fn handshakes_that_never_complete_make_way() {
    for handshakes in [4, usize::MAX] {
        let mut options = narrow();
        options.limits.handshakes = handshakes;
        let server = Harness::with(options).await;
        let mut before = server.client().settle().await.unwrap();
        let mut silent = Vec::new();
        for host in 10..90 {
            silent.push(server.client().from(address(host)).tcp().await.unwrap());
        }
        // They would stay longer than the test waits.
        for host in [1, 2, 10] {
            let client = server.client().from(address(host));
            assert_eq!(client.page().await.unwrap()["handshake"], "full");
        }
        assert_eq!(ask_and_close(&mut before).await.status(), "200");
        assert_eq!(until_closed(silent.remove(0)).await, b"");
    }
}

/// A place becomes free however a connection ends: twelve places would not be enough for all of these.
#[tokio::test]
async fn places_come_back() {
    let mut options = narrow();
    options.limits.connections_per_address = 12;
    options.limits.handshake = SHORT;
    options.limits.request_head = SHORT;
    let server = Harness::with(options).await;
    let client = server.client();
    for _ in 0..5 {
        let mut open = Vec::new();
        for rubbish in RUBBISH {
            let mut tcp = server.tcp().await;
            let _ = tcp.write_all(rubbish).await;
            open.push(tcp);
        }
        drop(client.connect().await.unwrap());
        let idle = client.connect().await.unwrap();
        assert_eq!(client.page().await.unwrap()["protocol"], "TLS 1.3");
        for tcp in open {
            until_closed(tcp).await;
        }
        until_closed(idle).await;
    }
    let mut all = Vec::new();
    for _ in 0..12 {
        all.push(client.settle().await.expect("nobody is refused"));
    }
}

/// Few places and no hurry.
fn narrow() -> Options {
    Options {
        limits: Limits {
            connections: 12,
            connections_per_address: 4,
            handshakes: 6,
            handshakes_per_address: 3,
            handshake: 10 * PATIENCE,
            request_head: 10 * PATIENCE,
            connection: 10 * PATIENCE,
            ..Limits::default()
        },
        ..Options::default()
    }
}

fn address(host: u8) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 0, host)
}

async fn ask_and_close(tls: &mut TlsStream<TcpStream>) -> Answer {
    let request = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    tls.write_all(request).await.unwrap();
    read_answer(tls).await.unwrap()
}

/// The server needs a moment to see that others have left.
async fn until_served(client: &Client) -> Value {
    let start = Instant::now();
    loop {
        match client.page().await {
            Ok(page) => return page,
            Err(error) => assert!(start.elapsed() < PATIENCE, "{error}"),
        }
    }
}
