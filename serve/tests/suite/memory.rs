//! How much memory a client of HTTP/2 can make the server hold, at its worst. The table of `Limits` has these numbers.
//!
//! Each is measured in a process of its own, by what it has at the end and had not before.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use hyper::body::Incoming;
use hyper::{Request, Response};
use pq_serving::Protection;
use tokio::time::sleep;

use crate::client::PATIENCE;
use crate::http2::{DATA, END_HEADERS, END_STREAM, HEADERS, PING, Raw, frame};
use crate::served::{Served, patient};

/// As many streams as a connection may have, and as many connections as an address may have requests.
const STREAMS: usize = 100;
const CONNECTIONS: usize = 5;

/// `POST https://localhost/`.
const POST: &[u8] = b"\x83\x87\x84\x01\x09localhost";

/// The most fields that are accepted, with as much text as the limit of all leaves.
#[test]
fn heads_of_requests() {
    measured(64, STREAMS * CONNECTIONS, async || {
        let server = waiting().await;
        let mut head = b"\x82\x87\x84\x01\x09localhost".to_vec();
        head.extend(fields(128, 16 * 1024 - 128 * 34 - 400));
        let mut measure = Measure::begin();
        for _ in 0..CONNECTIONS {
            let mut raw = Raw::connect(&server).await.unwrap();
            for stream in 0..STREAMS as u32 {
                let flags = END_STREAM | END_HEADERS;
                raw.send(HEADERS, flags, 2 * stream + 1, &head)
                    .await
                    .unwrap();
            }
            measure.clients.push(raw);
        }
        running(STREAMS * CONNECTIONS).await;
        measure.end()
    });
}

/// One field more, each of two letters: it never gets to a handler.
#[tokio::test]
async fn a_head_with_too_many_fields_is_refused() {
    let server = Served::with(|server| server).await;
    let mut raw = Raw::connect(&server).await.unwrap();
    for (stream, number, is_taken) in [(1, 128, true), (3, 129, false)] {
        let head = [&b"\x82\x87\x84\x01\x09localhost"[..], &fields(number, 0)].concat();
        let flags = END_STREAM | END_HEADERS;
        raw.send(HEADERS, flags, stream, &head).await.unwrap();
        let answer = raw.until(HEADERS).await.payload;
        // Of the static table, or a literal, since 431 isn't there.
        assert_eq!(answer[0] == 0x80 | 8, is_taken, "{number} fields");
    }
}

/// Fields after a body, which nobody takes either: of two letters each, as many as the limit of all lets through.
#[test]
fn trailers_of_requests() {
    measured(96, STREAMS * CONNECTIONS, async || {
        let server = waiting().await;
        let trailers = fields(480, 0);
        let mut measure = Measure::begin();
        for _ in 0..CONNECTIONS {
            let mut raw = Raw::connect(&server).await.unwrap();
            for stream in 0..STREAMS as u32 {
                let stream = 2 * stream + 1;
                raw.send(HEADERS, END_HEADERS, stream, POST).await.unwrap();
                let flags = END_STREAM | END_HEADERS;
                raw.send(HEADERS, flags, stream, &trailers).await.unwrap();
            }
            until_read(&mut raw).await;
            measure.clients.push(raw);
        }
        running(STREAMS * CONNECTIONS).await;
        measure.end()
    });
}

/// The smallest pieces of bodies of which any number is taken, between frames of a type that nobody knows.
#[test]
fn bodies_of_requests() {
    const STREAMS: u32 = 4;
    const STREAM_WINDOW: usize = 1 << 18;
    const PIECE: usize = 256;

    measured(5 << 10, 1, async || {
        let server = waiting().await;
        let mut raw = Raw::connect(&server).await.unwrap();
        for stream in 0..STREAMS {
            let stream = 2 * stream + 1;
            raw.send(HEADERS, END_HEADERS, stream, POST).await.unwrap();
        }
        running(STREAMS as usize).await;
        let mut measure = Measure::begin();
        for stream in 0..STREAMS {
            let piece = frame(DATA, 0, 2 * stream + 1, &[7; PIECE]);
            let between = frame(0x42, 0, 0, &[0; 16_000]);
            let frames = [piece, between].concat();
            for _ in 0..STREAM_WINDOW / PIECE {
                raw.send_all(&frames).await.unwrap();
            }
        }
        until_read(&mut raw).await;
        measure.clients.push(raw);
        measure.end()
    });
}

/// So many literal fields with names of two letters, which nobody is to remember, and values that have so many bytes together.
fn fields(number: usize, text: usize) -> Vec<u8> {
    let letters = b"abcdefghijklmnopqrstuvwxyz0123456789";
    let names = letters
        .iter()
        .flat_map(|a| letters.iter().map(move |b| [*a, *b]));
    let names = names.filter(|name| name != b"te").take(number);
    let value = vec![b'x'; text / number];
    let length = match value.len() {
        short @ 0..0x7f => vec![short as u8],
        long => {
            let rest = long - 0x7f;
            vec![0x7f, 0x80 | (rest % 128) as u8, (rest / 128) as u8]
        }
    };
    let fields = names.flat_map(|name| [&[0, 2, name[0], name[1]][..], &length, &value].concat());
    fields.collect()
}

static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// A server that answers to nobody, and keeps all requests.
async fn waiting() -> Served {
    async fn waits(request: Request<Incoming>, _: Arc<Protection>) -> Response<String> {
        RUNNING.fetch_add(1, Ordering::SeqCst);
        let _request = request;
        std::future::pending().await
    }
    Served::with(|server| server.handler(waits).limits(patient())).await
}

async fn running(number: usize) {
    let start = Instant::now();
    while RUNNING.load(Ordering::SeqCst) < number {
        assert!(start.elapsed() < PATIENCE, "not all requests run");
        sleep(Duration::from_millis(5)).await;
    }
}

/// Waits until the server has read all that was sent: it answers to a PING.
async fn until_read(raw: &mut Raw) {
    raw.send(PING, 0, 0, &[1; 8]).await.unwrap();
    while raw.until(PING).await.payload != [1; 8] {}
}

struct Measure {
    before: usize,
    clients: Vec<Raw>,
}

impl Measure {
    fn begin() -> Self {
        Self {
            before: resident(),
            clients: Vec::new(),
        }
    }

    /// How many KiB there are more, while the clients are still there.
    fn end(self) -> usize {
        resident().saturating_sub(self.before)
    }
}

/// Checks that each of so many takes at most so many KiB.
#[track_caller]
fn measured(most: usize, number: usize, measure: impl AsyncFnOnce() -> usize) {
    let thread = thread::current();
    let test = thread.name().unwrap();
    if env::var(IN_PROCESS).is_err() {
        let status = Command::new(env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env(IN_PROCESS, "")
            .status();
        assert!(status.unwrap().success());
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let took = runtime.block_on(measure());
    println!("{test}: {} KiB each", took / number);
    assert!(took <= most * number, "{took} KiB for {number}");
}

const IN_PROCESS: &str = "PQ_SERVING_MEMORY_IN_PROCESS";

/// In KiB.
fn resident() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.unwrap().trim().trim_end_matches(" kB");
    number.parse().unwrap()
}
