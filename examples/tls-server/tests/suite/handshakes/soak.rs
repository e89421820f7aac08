//! Thousands of handshakes, many at a time and some of them hostile, against the program
//! in a process of its own, whose memory is watched.

use std::collections::VecDeque;
use std::fs;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use rustls::ClientConnection;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use crate::client::{Client, until_closed};
use crate::program::Program;

#[tokio::test(flavor = "multi_thread")]
async fn hundreds_of_handshakes() {
    soak(Plan {
        clients: 900,
        warm_up: 600,
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "ten thousand handshakes; run it with --release"]
async fn ten_thousand_handshakes() {
    soak(Plan {
        clients: 10_000,
        warm_up: 1_000,
    })
    .await;
}

struct Plan {
    clients: usize,
    /// The server's memory is compared with what it was after this many.
    warm_up: usize,
}

/// Clients at a time, beside the bad ones that stay.
const AT_A_TIME: usize = 100;

/// One client in this many is a bad one.
const BAD: usize = 10;

/// How many of the bad ones stay. It is always the same number after the warm-up, since
/// the server's memory for them is no leak.
const STAYING: usize = 20;

/// How much the server's resident memory may grow after the warm-up, in bytes. That is
/// for the noise of the allocator: 9,000 clients that leave 1 kB each make 9 MB. The
/// cache of sessions, which has its limit, is full before the end of the warm-up.
const GROWTH: usize = 2 << 20;

async fn soak(plan: Plan) {
    // All clients are at one address, and the bad ones keep their places.
    let places = (2 * AT_A_TIME).to_string();
    let program = Program::start(&[
        "--max-connections-per-address",
        &places,
        "--max-handshakes-per-address",
        &places,
    ]);
    let process = Process(program.id());
    let descriptors = process.descriptors();
    let soak = Arc::new(Soak {
        client: program.client().without_resumption(),
        next: AtomicUsize::new(0),
        staying: Mutex::new(VecDeque::new()),
        resident: Mutex::new(Vec::new()),
        sample_every: plan.clients / 20,
        process,
        plan,
    });

    let start = Instant::now();
    let mut workers = JoinSet::new();
    for _ in 0..AT_A_TIME {
        workers.spawn(soak.clone().work());
    }
    let served: usize = workers.join_all().await.into_iter().sum();
    let elapsed = start.elapsed();
    let soak = Arc::into_inner(soak).expect("the workers are gone");
    let bad = soak.plan.clients / BAD;
    println!("{served} good clients served beside {bad} bad ones in {elapsed:.1?}");
    assert_eq!(served + bad, soak.plan.clients);

    let samples = soak.resident.into_inner();
    for (clients, resident) in &samples {
        println!("{clients:6} clients: {:6} kB resident", resident >> 10);
    }
    let (_, after_warm_up) = samples[0];
    let (_, highest) = samples.iter().max_by_key(|(_, resident)| resident).unwrap();
    assert!(
        *highest <= after_warm_up + GROWTH,
        "memory grew from {after_warm_up} to {highest} bytes"
    );

    // The server ends what the bad clients don't, and nothing is left open.
    for bad in soak.staying.into_inner() {
        until_closed(bad).await;
    }
    assert_eq!(soak.process.descriptors(), descriptors);
    let (_, log, code) = program.stop("INT");
    assert_eq!(code, Some(0));
    for trouble in ["panicked", "ERROR", "WARN"] {
        let line = log.lines().find(|line| line.contains(trouble));
        assert_eq!(line, None);
    }
}

struct Soak {
    plan: Plan,
    client: Client,
    next: AtomicUsize,
    /// The bad clients that are still there, the latest one last.
    staying: Mutex<VecDeque<TcpStream>>,
    process: Process,
    sample_every: usize,
    /// Numbers of clients, and the server's resident memory then in bytes.
    resident: Mutex<Vec<(usize, usize)>>,
}

impl Soak {
    /// Is one client after another, and counts the good ones, all of which are served.
    async fn work(self: Arc<Self>) -> usize {
        let mut served = 0;
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.plan.clients {
                return served;
            }
            if number >= self.plan.warm_up && number.is_multiple_of(self.sample_every) {
                let resident = self.process.resident();
                self.resident.lock().await.push((number, resident));
            }
            if number % BAD == BAD - 1 {
                self.misbehave(number / BAD).await;
                continue;
            }
            let page = self.client.page().await.expect("a good client is served");
            assert_eq!(page["handshake"], "full");
            assert_eq!(page["group"], "X25519MLKEM768");
            served += 1;
        }
    }

    /// Sends what is not a handshake, and stays until enough others have come.
    async fn misbehave(&self, number: usize) {
        let hello = client_hello(&self.client);
        let bytes = match number % 4 {
            0 => Vec::new(),
            1 => hello[..hello.len() / 2].to_vec(),
            // The server signs and then waits for the client's Finished.
            2 => hello,
            _ => (0..2000).map(|i| (i * number) as u8).collect(),
        };
        let mut tcp = self.client.tcp().await.unwrap();
        // The server may have closed before it has all.
        let _ = tcp.write_all(&bytes).await;
        let mut staying = self.staying.lock().await;
        staying.push_back(tcp);
        if staying.len() > STAYING {
            staying.pop_front();
        }
    }
}

fn client_hello(client: &Client) -> Vec<u8> {
    let name = "localhost".try_into().unwrap();
    let mut connection = ClientConnection::new(client.config(), name).unwrap();
    let mut hello = Vec::new();
    connection.write_tls(hello.by_ref()).unwrap();
    hello
}

/// A process, as /proc shows it.
struct Process(u32);

impl Process {
    /// Resident memory in bytes.
    fn resident(&self) -> usize {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0)).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
        kilobytes.unwrap().parse::<usize>().unwrap() << 10
    }

    /// How many files and sockets are open.
    fn descriptors(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.0))
            .unwrap()
            .count()
    }
}
