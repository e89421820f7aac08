//! Servers that are killed under load: what was acknowledged is there, and no number is used twice.

use alloc::collections::BTreeSet;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use core::time::Duration;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use databases::Cluster;
use pq_x509::revocation::CrlReason;

use super::lost_answers::is_away;
use super::*;
use crate::ledger::suite::{at, find, issued, new_entry, number, revocation};

const KILLS: u64 = 4;

/// What was done, and what may have been.
#[derive(Debug, Default)]
struct Done {
    recorded: BTreeSet<u64>,
    revoked: BTreeSet<u64>,
    unknown: BTreeSet<u64>,
    lists: Vec<u64>,
}

fn is_unknown(error: &LedgerError) -> bool {
    !error.changed_nothing()
}

/// Records, revokes and lists until told to stop.
fn work(ledger: &PostgresLedger, from: u64, done: &Mutex<Done>, stop: &AtomicBool) {
    for n in from.. {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        match ledger.record(&[new_entry(issued(n))]) {
            Ok(()) => _ = done.lock().unwrap().recorded.insert(n),
            Err(error) if is_away(&error) => continue,
            Err(error) if is_unknown(&error) => {
                done.lock().unwrap().unknown.insert(n);
                continue;
            }
            Err(error) => panic!("{error}"),
        }
        if n % 2 == 0 {
            match ledger.revoke(&number(n), &revocation(30, CrlReason::Superseded)) {
                Ok(_) => _ = done.lock().unwrap().revoked.insert(n),
                Err(error) => assert!(is_away(&error) || is_unknown(&error), "{error}"),
            }
        }
        if n % 8 == 0 {
            match ledger.next_list("issuing", at(100), &mut |_, _| {}) {
                Ok(list) => done.lock().unwrap().lists.push(list),
                Err(error) => assert!(is_away(&error) || is_unknown(&error), "{error}"),
            }
        }
    }
}

#[test]
fn a_server_that_is_killed_loses_nothing() {
    let Some(cluster) = Cluster::new(&["fsync=on"]) else {
        return;
    };
    let mut server = Some(cluster.start());
    let options = patient(&cluster.address());
    // Two machines.
    let ledgers = [open(&options), open(&options)];
    let (done, stop) = (Mutex::default(), AtomicBool::new(false));
    let counted = AtomicU64::new(0);
    thread::scope(|scope| {
        for (ledger, place) in ledgers.iter().zip(0..) {
            for thread in 0..2 {
                let (done, stop) = (&done, &stop);
                let from = (1 + 2 * place + thread) * 1_000_000;
                scope.spawn(move || work(ledger, from, done, stop));
            }
        }
        for kill in 0..=KILLS {
            let begun = Instant::now();
            let wanted = counted.load(Ordering::Relaxed) + 20 + 3 * kill;
            let so_far = || done.lock().unwrap().recorded.len() as u64;
            while so_far() < wanted && begun.elapsed() < PATIENCE {
                thread::sleep(Duration::from_millis(1));
            }
            counted.store(so_far(), Ordering::Relaxed);
            if kill < KILLS {
                server.take().unwrap().kill();
                server = Some(cluster.start());
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    let Done {
        recorded,
        revoked,
        unknown,
        mut lists,
    } = done.into_inner().unwrap();
    assert!(recorded.len() as u64 >= KILLS * 20);
    let entries = find(&ledgers[0], &Filter::all());
    let number_of = |entry: &Entry| {
        let mut bytes = [0; 8];
        let number = entry.issued.serial_number;
        bytes[8 - number.as_bytes().len()..].copy_from_slice(number.as_bytes());
        u64::from_be_bytes(bytes)
    };
    let there: BTreeSet<u64> = entries.iter().map(number_of).collect();
    assert_eq!(there.len(), entries.len());
    assert!(recorded.is_subset(&there));
    let may_be: BTreeSet<u64> = recorded.union(&unknown).copied().collect();
    assert!(there.is_subset(&may_be));
    let found = find(&ledgers[1], &Filter::all().revoked());
    let found: BTreeSet<u64> = found.iter().map(number_of).collect();
    assert!(revoked.is_subset(&found));
    // Each number of a list was used once.
    let count = lists.len();
    lists.sort_unstable();
    lists.dedup();
    assert_eq!(lists.len(), count);
    let mut listed = 0;
    let last = ledgers[0].next_list("issuing", at(100), &mut |_, _| listed += 1);
    assert!(last.unwrap() > lists.last().copied().unwrap_or_default());
    assert_eq!(listed, found.len());
}
