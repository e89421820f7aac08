//! Several storages on one database, as several processes have them.

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::sync::Barrier;
use std::thread;

use pq_keystore::storage::{PostgresStorage, Storage};

use super::counting::{Counter, check};
use super::server::{PATIENCE, open, options};

/// So long that it doesn't happen within a test.
const NEVER: Duration = Duration::from_secs(3600);

#[test]
fn a_change_by_another_is_noticed() {
    let Some(options) = options() else { return };
    // by a notification, or by asking
    for poll in [NEVER, Duration::from_millis(20)] {
        let storages = [open(&options.clone().poll(poll)), open(&options)];
        for _ in 0..3 {
            let since = storages[0].wait_for_change(0, Duration::ZERO).unwrap();
            let made = Counter::new("a").count(&storages[1]).unwrap();
            let seen = storages[0].wait_for_change(since, PATIENCE).unwrap();
            assert_eq!(seen, made.revision);
        }
    }
}

#[test]
fn nothing_is_lost_by_many_at_once() {
    const THREADS: usize = 8;
    const EACH: u64 = 8;
    let Some(options) = options() else { return };
    let storages = [open(&options), open(&options)];
    let conflicts = AtomicU64::new(0);
    thread::scope(|scope| {
        for storage in &storages {
            for number in 0..THREADS {
                let conflicts = &conflicts;
                // Two threads, one of each storage, count in each row.
                scope.spawn(move || {
                    let mut counter = Counter::new(&format!("c{number}"));
                    while counter.acknowledged < EACH {
                        if counter.count(storage).is_err() {
                            conflicts.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                });
            }
        }
    });
    let total = 2 * THREADS as u64 * EACH;
    assert_eq!(check(&storages[0]), total);
    assert_eq!(storages[1].get(&[]).unwrap().revision, total);
    assert_ne!(conflicts.into_inner(), 0);
}

#[test]
fn several_make_the_schema_at_once() {
    const THREADS: usize = 6;
    let Some(options) = options() else { return };
    let at_once = Barrier::new(THREADS);
    let opened: Vec<PostgresStorage> = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                scope.spawn(|| {
                    at_once.wait();
                    open(&options)
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    Counter::new("a").count(&opened[0]).unwrap();
    for storage in &opened {
        assert_eq!(check(storage), 1);
    }
}

#[test]
fn it_works_within_an_executor() {
    let Some(options) = options() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let storage = open(&options);
        Counter::new("a").count(&storage).unwrap();
        assert_eq!(check(&storage), 1);
    });
}
