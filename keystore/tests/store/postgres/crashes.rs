//! Servers that are killed under load.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use core::time::Duration;
use std::thread;
use std::time::Instant;

use pq_keystore::storage::{CommitError, PostgresOptions, PostgresStorage, StorageError};

use crate::amounts::amount;

use super::counting::{Counter, check};
use super::server::{Cluster, PATIENCE, Pooler, Process, open, patient};

/// How often, unless `PQ_KEYSTORE_KILLS` says so.
const KILLS: u64 = 5;
const THREADS: usize = 2;

fn kills() -> u64 {
    amount("PQ_KEYSTORE_KILLS", KILLS)
}

/// Counts in a row of its own until told to stop. The server may go away at any moment.
fn count(storage: &PostgresStorage, name: &str, done: &AtomicU64, stop: &AtomicBool) {
    let mut counter = Counter::new(name);
    let mut possible = 0;
    while !stop.load(Ordering::Relaxed) {
        match counter.count(storage) {
            Ok(_) => {
                done.fetch_add(1, Ordering::Relaxed);
                possible += 1;
            }
            Err(CommitError::Conflict) => {}
            // It may have counted.
            Err(CommitError::OutcomeUnknown { .. }) => possible += 1,
            Err(CommitError::Storage(StorageError::Away { .. })) => {}
            Err(error) => panic!("{error}"),
        }
        if let Ok(found) = counter.read(storage) {
            assert!((counter.acknowledged..=possible).contains(&found));
        }
    }
    let found = counter.read(storage).unwrap();
    assert!((counter.acknowledged..=possible).contains(&found));
}

/// Runs threads of two storages, and kills what `restart` starts again, under load each time.
fn under_load(options: &PostgresOptions, mut restart: impl FnMut()) {
    let storages = [open(options), open(options)];
    let (done, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let killed = thread::scope(|scope| {
        let mut counting = Vec::new();
        for (storage, letter) in storages.iter().zip(["a", "b"]) {
            for number in 0..THREADS {
                let (done, stop) = (&done, &stop);
                let name = format!("{letter}{number}");
                counting.push(scope.spawn(move || count(storage, &name, done, stop)));
            }
        }
        // Some changes after each kill, different numbers of them.
        let mut killed = true;
        'kills: for kill in 0..=kills() {
            let until = done.load(Ordering::Relaxed) + 5 + kill % 7;
            let started = Instant::now();
            while done.load(Ordering::Relaxed) < until {
                // A thread that failed says why below.
                if started.elapsed() > 2 * PATIENCE
                    || counting.iter().any(|thread| thread.is_finished())
                {
                    killed = false;
                    break 'kills;
                }
                thread::sleep(Duration::from_millis(1));
            }
            if kill < kills() {
                restart();
            }
        }
        stop.store(true, Ordering::Relaxed);
        for thread in counting {
            thread.join().unwrap();
        }
        killed
    });
    assert!(killed, "no change was made");
    assert!(check(&storages[0]) >= done.into_inner());
    assert_eq!(check(&storages[1]), check(&storages[0]));
}

/// Kills what runs, and starts it again.
fn restarting<'a>(process: Process, start: impl Fn() -> Process + 'a) -> impl FnMut() + 'a {
    let mut running = Some(process);
    move || {
        running.take().unwrap().kill();
        running = Some(start());
    }
}

#[test]
fn a_server_that_is_killed_loses_nothing() {
    let Some(cluster) = Cluster::new(&["fsync=on"]) else {
        return;
    };
    let process = cluster.start();
    under_load(
        &patient(&cluster.address()),
        restarting(process, || cluster.start()),
    );
}

#[test]
fn a_pooler_that_is_killed_loses_nothing() {
    let Some(cluster) = Cluster::new(&["fsync=on"]) else {
        return;
    };
    let Some(pooler) = Pooler::new(cluster.folder()) else {
        return;
    };
    let _server = cluster.start();
    let process = pooler.start();
    under_load(
        &patient(&pooler.address()),
        restarting(process, || pooler.start()),
    );
}

#[test]
fn both_are_killed() {
    let Some(cluster) = Cluster::new(&["fsync=on"]) else {
        return;
    };
    let Some(pooler) = Pooler::new(cluster.folder()) else {
        return;
    };
    let (server, process) = (cluster.start(), pooler.start());
    let mut restart_pooler = restarting(process, || pooler.start());
    let mut restart_server = restarting(server, || cluster.start());
    let mut is_turn_of_pooler = false;
    under_load(&patient(&pooler.address()), || {
        is_turn_of_pooler = !is_turn_of_pooler;
        if is_turn_of_pooler {
            restart_pooler();
        } else {
            restart_server();
        }
    });
}
