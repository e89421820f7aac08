//! How a server ends: what it finishes, and what it cuts off.

#[cfg(unix)]
use std::sync::Arc;
use std::time::Duration;
use std::time::Instant;

#[cfg(unix)]
use hyper::{Request, Response, body::Incoming};
use pq_serving::{Drained, Limits};
#[cfg(unix)]
use pq_serving::{Protection, StopSignals};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::sleep;

use crate::access::Log;
use crate::client::{PATIENCE, read_answer};
use crate::harness::{Harness, Options};
#[cfg(unix)]
use crate::served::{Event, Served, telling};

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

/// Only requests that run have the grace, and a head that is never complete is none.
#[tokio::test]
async fn whoever_has_begun_a_head_is_not_waited_for() {
    let (log, _guard) = Log::start();
    let mut options = with_grace(10 * PATIENCE);
    options.limits.request_head = 10 * PATIENCE;
    let server = Harness::with(options).await;
    let mut tls = server.client().connect().await.unwrap();
    tls.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
    tokio::time::timeout(PATIENCE, log.until("\"connected\""))
        .await
        .unwrap();
    let shutdown = tokio::time::timeout(PATIENCE, server.shutdown());
    assert_eq!(shutdown.await.unwrap(), Drained { cut_off: 0 });
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

/// While requests run to their end, who is still there meets the files of today.
#[cfg(unix)]
#[tokio::test]
async fn a_server_that_stops_still_reads_its_files() {
    use tokio::sync::mpsc::unbounded_channel;

    let (tells, mut told) = telling();
    let waits = move |_: Request<Incoming>, _: Arc<Protection>| {
        let tells = tells();
        async move {
            let _tells = tells;
            std::future::pending::<Response<String>>().await
        }
    };
    let limits = Limits {
        grace: 10 * PATIENCE,
        ..Limits::default()
    };
    let served = Served::with(|server| server.handler(waits).limits(limits)).await;
    let client = served.client();
    let _request = served
        .send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await
        .unwrap();
    assert_eq!(told.next().await, Event::Begun);

    let (order, mut orders) = unbounded_channel();
    let (reload, mut reloads) = unbounded_channel();
    let reloading = async move {
        while orders.recv().await == Some(()) {
            reload.send(()).unwrap();
        }
        std::future::pending().await
    };
    let stop = StopSignals::catch().unwrap();
    let running = tokio::spawn(served.server.run(stop, reloading));
    let signal = || {
        let kill = format!("kill -TERM {}", std::process::id());
        let status = std::process::Command::new("sh")
            .args(["-c", &kill])
            .status();
        assert!(status.unwrap().success());
    };
    signal();
    let start = Instant::now();
    while client.connect().await.is_ok() {
        assert!(start.elapsed() < PATIENCE, "the server goes on");
    }
    order.send(()).unwrap();
    let reloaded = tokio::time::timeout(PATIENCE, reloads.recv()).await;
    assert_eq!(reloaded.expect("the files are read"), Some(()));
    assert!(!running.is_finished());
    signal();
    let stopped = tokio::time::timeout(PATIENCE, running).await;
    assert!(
        !stopped
            .expect("the second signal ends it")
            .unwrap()
            .unwrap()
    );
}
