//! Clients of every kind on TCP, many at a time, while certificates and ticket keys rotate: every client
//! that behaves is served, and memory doesn't grow.

mod clients;
mod server;

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::fs;
use std::sync::Mutex;
use std::time::Instant;

use tokio::task::JoinSet;

use self::clients::Clients;
use self::server::{Rotations, Server};

#[tokio::test(flavor = "multi_thread")]
async fn hundreds_of_connections() {
    soak(Plan {
        clients: 500,
        at_a_time: 50,
        rotation: Duration::from_millis(50),
        memory: None,
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes; run it alone, because it looks at this process's memory"]
async fn fifty_thousand_connections() {
    soak(Plan {
        clients: 50_000,
        at_a_time: 200,
        rotation: Duration::from_secs(1),
        memory: Some(Memory {
            warm_up: 10_000,
            growth: 4 << 20,
        }),
    })
    .await;
}

struct Plan {
    /// Each makes a connection, or two if it resumes a session.
    clients: usize,
    at_a_time: usize,
    rotation: Duration,
    memory: Option<Memory>,
}

/// The memory that clients and server may take together; both are in this process.
struct Memory {
    /// The number of clients after which all caches are full.
    warm_up: usize,
    /// How much the resident memory may grow from then on, in bytes. This allows for the allocator's
    /// noise: if 40,000 clients left 1 kB each, it would grow by 40 MB.
    growth: usize,
}

async fn soak(plan: Plan) {
    let descriptors = open_descriptors();
    let start = Instant::now();
    let (server, trust) = Server::start(plan.rotation).await;
    let soak = Arc::new(Soak {
        clients: Clients::new(server.address(), trust),
        next: AtomicUsize::new(0),
        tally: Mutex::default(),
        resident: Mutex::default(),
        plan,
    });

    let mut workers = JoinSet::new();
    for _ in 0..soak.plan.at_a_time {
        workers.spawn(Arc::clone(&soak).work());
    }
    workers.join_all().await;
    let elapsed = start.elapsed();
    let report = server.stop().await;
    let soak = Arc::into_inner(soak).expect("the workers are gone");

    let tally = soak.tally.into_inner().unwrap();
    let connections: usize = tally.values().sum();
    let Rotations { by_call, by_files } = report.rotations;
    println!(
        "{connections} connections in {elapsed:.1?}, {} certificates in turn, {by_files} of them \
         from files",
        by_call + by_files
    );
    for (kind, count) in &tally {
        println!("{count:6} {kind}");
    }
    // The client's side has checked that all clients that behave were served. The server's side has
    // exactly one failure for each of the others.
    let broken: usize = tally
        .iter()
        .filter(|(kind, _)| kind.is_broken())
        .map(|(_, count)| count)
        .sum();
    assert_eq!(report.failed, broken);
    assert_eq!(report.served, connections - broken);
    assert!(by_call >= 1, "nothing was rotated by call");
    assert!(by_files >= 1, "nothing was rotated by files");
    assert!(
        soak.clients.leaves_seen() >= 2,
        "rotation did not reach clients"
    );

    let samples = soak.resident.into_inner().unwrap();
    for (clients, resident) in &samples {
        println!("{clients:6} clients: {:6} kB resident", resident >> 10);
    }
    if let Some(Memory { growth, .. }) = soak.plan.memory {
        let (_, after_warm_up) = samples[0];
        let (_, highest) = samples.iter().max_by_key(|(_, resident)| resident).unwrap();
        assert!(
            *highest <= after_warm_up + growth,
            "memory grew from {after_warm_up} to {highest} bytes"
        );
    }
    drop(soak.clients);
    assert_eq!(open_descriptors(), descriptors);
}

struct Soak {
    plan: Plan,
    clients: Clients,
    next: AtomicUsize,
    /// Connections of each kind.
    tally: Mutex<BTreeMap<clients::Kind, usize>>,
    /// Numbers of clients so far, each with this process's resident memory at that time, in bytes.
    resident: Mutex<Vec<(usize, usize)>>,
}

impl Soak {
    /// Acts as one client after another.
    async fn work(self: Arc<Self>) {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.plan.clients {
                return;
            }
            if let Some(Memory { warm_up, .. }) = self.plan.memory
                && number >= warm_up
                && number.is_multiple_of(self.plan.clients / 25)
            {
                self.resident.lock().unwrap().push((number, resident()));
            }
            let (kind, connections) = self.clients.run(number).await;
            *self.tally.lock().unwrap().entry(kind).or_default() += connections;
        }
    }
}

/// This process's resident memory in bytes.
fn resident() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kilobytes.unwrap().parse::<usize>().unwrap() << 10
}

/// How many sockets are open in this process.
fn open_descriptors() -> usize {
    fs::read_dir("/proc/self/fd")
        .unwrap()
        .filter_map(|entry| fs::read_link(entry.ok()?.path()).ok())
        .filter(|target| target.to_string_lossy().starts_with("socket:"))
        .count()
}
