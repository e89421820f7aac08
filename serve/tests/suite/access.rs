//! The access log: a line for each request, with what protected it.

use std::cell::RefCell;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, Once};
use std::time::Instant;

use hyper::body::Incoming;
use hyper::{Request, Response};
use pq_serving::Protection;
use pq_serving::demonstration::Pki;
use serde_json::Value;
use tokio::time::sleep;

use crate::client::{PATIENCE, until_closed};
use crate::hostile::SHORT;
use crate::served::{Served, lasting, telling};

/// The log of this thread, on which a test has all its tasks.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

thread_local! {
    static CURRENT: RefCell<Option<Log>> = const { RefCell::new(None) };
}

/// Writes to the log of this thread, if there is one.
struct Current;

impl Write for Current {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        CURRENT.with_borrow(|log| match log {
            Some(log) => log.0.lock().unwrap().write(bytes),
            None => Ok(bytes.len()),
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A log that gets no more lines when this is dropped.
pub(crate) struct Started;

impl Drop for Started {
    fn drop(&mut self) {
        CURRENT.take();
    }
}

impl Log {
    pub(crate) fn start() -> (Self, Started) {
        // One for the process: a callsite that the thread of another test comes to first would be off for this one.
        static START: Once = Once::new();
        START.call_once(|| {
            tracing_subscriber::fmt()
                .json()
                .with_writer(|| Current)
                .init()
        });
        let log = Self::default();
        CURRENT.set(Some(log.clone()));
        (log, Started)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }

    /// Waits for a text.
    pub(crate) async fn until(&self, text: &str) {
        while !self.text().contains(text) {
            sleep(std::time::Duration::from_millis(5)).await;
        }
    }

    /// Waits for so many lines about requests or more, and returns their fields.
    async fn requests(&self, number: usize) -> Vec<Value> {
        let start = Instant::now();
        loop {
            let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
            let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
            let lines = lines.filter(|line: &Value| line["target"] == "pq_serving::access");
            let mut fields: Vec<_> = lines.map(|line| line["fields"].clone()).collect();
            if fields.len() >= number {
                for line in &mut fields {
                    assert!(line["microseconds"].is_u64(), "{line}");
                    let peer = line["peer"].as_str().unwrap();
                    assert!(peer.starts_with("127.0.0.1:"), "{line}");
                }
                return fields;
            }
            assert!(start.elapsed() < PATIENCE, "{text}");
            sleep(std::time::Duration::from_millis(5)).await;
        }
    }
}

#[tokio::test]
async fn a_line_has_the_answer_and_what_protected_it() {
    let (log, _guard) = Log::start();
    let pki = Pki::issue_with_client(&["localhost".try_into().unwrap()]).unwrap();
    let server = Served::start(pki, |server| server).await;
    let client = server.client_with(server.pki.client.as_ref());
    let answer = client.ask("GET /?secret=1 HTTP/1.1").await.unwrap();
    client.ask("DELETE /missing HTTP/1.1").await.unwrap();
    let [page, missing] = &log.requests(2).await[..] else {
        unreachable!()
    };
    for (name, expected) in [
        ("method", "GET"),
        ("path", "/"),
        ("version", "HTTP/1.1"),
        ("tls", "TLS 1.3"),
        ("handshake", "full"),
        ("group", "X25519MLKEM768"),
        ("signature", "ML-DSA-65"),
        ("client", "CN=tls-client"),
        ("message", "answered"),
    ] {
        assert_eq!(page[name], expected, "{page}");
    }
    assert!(
        page["suite"].as_str().unwrap().starts_with("TLS_"),
        "{page}"
    );
    assert_eq!(page["status"], 200);
    assert_eq!(page["bytes"], answer.body.len());
    assert_eq!(
        (&missing["method"], &missing["status"]),
        (&"DELETE".into(), &404.into())
    );
    assert_eq!(missing["handshake"], "resumed");
    // Resumed: nobody has signed.
    assert_eq!(missing["signature"], Value::Null);
}

/// There is one line for it, without a status.
#[tokio::test]
async fn a_request_that_was_never_answered_has_a_line() {
    let (log, _guard) = Log::start();
    let (tells, mut told) = telling();
    let waits = move |_: Request<Incoming>, _: Arc<Protection>| {
        let tells = tells();
        async move {
            let never: Response<String> = std::future::pending().await;
            drop(tells);
            never
        }
    };
    let server = Served::with(|server| server.handler(waits).limits(lasting(SHORT))).await;
    let request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let tls = told.until_begun(async || server.send(request).await).await;
    until_closed(tls).await;
    told.dropped().await;
    let lines = log.requests(1).await;
    assert_eq!(lines[0]["status"], Value::Null);
    assert_eq!(lines[0]["bytes"], 0);
}

/// Of all that a connection asks for, each request has a line or is counted in one.
#[tokio::test]
async fn lines_that_are_left_out_are_counted() {
    let (log, _guard) = Log::start();
    let server = Served::with(|server| server).await;
    let requests = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(299)
        + "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    until_closed(server.send(&requests).await.unwrap()).await;
    let start = Instant::now();
    loop {
        let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
        let lines = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let lines: Vec<_> = lines
            .filter(|line| line["target"] == "pq_serving::access")
            .collect();
        let answered = lines
            .iter()
            .filter(|line| line["fields"]["message"] == "answered");
        let left_out = lines
            .iter()
            .filter_map(|line| line["fields"]["left_out"].as_u64());
        let left_out: u64 = left_out.sum();
        if answered.count() as u64 + left_out == 300 {
            return;
        }
        assert!(start.elapsed() < PATIENCE, "{text}");
        sleep(std::time::Duration::from_millis(5)).await;
    }
}

/// Whatever a client says, it gets one line of no great length.
#[tokio::test]
async fn what_a_client_says_is_cut_and_escaped() {
    let (log, _guard) = Log::start();
    let server = Served::with(|server| server).await;
    let long = "x".repeat(10_000);
    let head = format!("{} /\u{202e}\"{long} HTTP/1.1", "M".repeat(10_000));
    server.client().ask(&head).await.unwrap();
    let lines = log.requests(1).await;
    for (name, start) in [("path", "/\u{fffd}\"xx"), ("method", "MMMM")] {
        let said = lines[0][name].as_str().unwrap();
        assert!(said.starts_with(start), "{said}");
        assert!(said.ends_with('…') && said.len() < 300, "{said}");
    }
}
