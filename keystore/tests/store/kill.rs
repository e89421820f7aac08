//! Processes that are killed at any moment: what they had acknowledged is there, and nothing half-made.

use core::time::Duration;
use std::env;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::thread;

use pq_keystore::policy::{Input, UseAudit};
use pq_keystore::storage::RedbStorage;
use pq_keystore::{Store, StoreOptions};

use crate::kit::{admin, kek, name, named, user, user_policy, version};
use crate::places::{Place, Redb};

/// What tells the child which file it is to change.
const FILE: &str = "PQ_KEYSTORE_KILL_FILE";

/// How many children are killed, 20 by default.
fn kills() -> u64 {
    match env::var("PQ_KEYSTORE_KILLS") {
        Ok(number) => number.parse().expect("PQ_KEYSTORE_KILLS is a number"),
        Err(_) => 20,
    }
}

fn open(path: &std::path::Path) -> Store {
    let storage = RedbStorage::open(path).unwrap();
    Store::open(
        alloc::sync::Arc::new(storage),
        &kek(b"secret"),
        StoreOptions::default(),
    )
    .unwrap()
}

/// The child: rotates, signs with an entry for each signature, disables and enables, and says what it has done. It is no
/// test of its own: without the file's name, nothing is to be done.
#[test]
#[ignore = "what nothing_acknowledged_is_lost kills"]
fn a_child_that_is_killed() {
    let Some(path) = env::var_os(FILE) else {
        return;
    };
    let store = open(path.as_ref());
    let key = name("k");
    let mut out = std::io::stdout().lock();
    loop {
        let id = store.rotate(&admin(), &key).unwrap();
        writeln!(out, "@ rotated {}", id.version()).unwrap();
        out.flush().unwrap();
        let signed = store
            .sign(&user(), &key, Input::message(b"message"))
            .unwrap();
        writeln!(out, "@ signed {}", signed.id.version()).unwrap();
        out.flush().unwrap();
        store.disable(&admin(), &id).unwrap();
        writeln!(out, "@ disabled {}", id.version()).unwrap();
        out.flush().unwrap();
        store.enable(&admin(), &id).unwrap();
    }
}

#[test]
fn nothing_acknowledged_is_lost() {
    let place = Redb::new();
    let storage = place.open();
    let store = Store::create(storage, &kek(b"secret"), &admin(), StoreOptions::default()).unwrap();
    let key = name("k");
    let mut policy = user_policy();
    policy.audit = UseAudit::Each;
    store
        .create_key(&admin(), &key, named("ML-DSA-44"), &policy)
        .unwrap();
    drop(store);
    let (mut newest, mut signatures) = (1_u32, 0_u64);
    for number in 0..kills() {
        let mut child = Command::new(env::current_exe().unwrap())
            .args([
                "--exact",
                "kill::a_child_that_is_killed",
                "--ignored",
                "--nocapture",
                "--test-threads=1",
            ])
            .env(FILE, place.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // It has begun; then some time passes, another one each time.
        let mut acknowledged = Vec::new();
        for line in lines.by_ref() {
            let line = line.unwrap();
            if line.contains("@ ") {
                acknowledged.push(line);
                break;
            }
        }
        thread::sleep(Duration::from_micros(number * 7919 % 20_000));
        child.kill().unwrap();
        acknowledged.extend(
            lines
                .map_while(Result::ok)
                .filter(|line| line.contains("@ ")),
        );
        child.wait().unwrap();
        assert!(!acknowledged.is_empty(), "the child did nothing");

        let store = open(&place.path());
        let last = |what: &str| {
            let of = acknowledged.iter().filter_map(|line| line.split_once(what));
            // A line that was cut off was not acknowledged whole, but says no more than the truth.
            of.filter_map(|(_, number)| number.trim().parse::<u32>().ok())
                .next_back()
        };
        let details = store.show(&admin(), &key).unwrap();
        let found = details.versions.len() as u32;
        let rotated = last("rotated ").unwrap_or(newest);
        assert!(
            found >= rotated && found >= newest,
            "version {rotated} was lost, there are {found}"
        );
        newest = found;
        signatures += acknowledged
            .iter()
            .filter(|line| line.contains("signed "))
            .count() as u64;
        let report = store.check(&admin(), &[]).unwrap();
        assert!(report.damaged.is_empty(), "{:?}", report.damaged);
        assert_eq!(report.versions, details.versions.len());
        store
            .sign_by(&user(), &key.at(version(1)), Input::message(b"message"))
            .unwrap();
        signatures += 1;
        if number % 10 == 9 || number + 1 == kills() {
            let mut logged = 0;
            let mut from = 1;
            loop {
                let entries = store.audit_log(&admin(), from, 1000).unwrap();
                let Some(last) = entries.last() else {
                    break;
                };
                from = last.sequence + 1;
                let of = entries
                    .iter()
                    .filter(|entry| entry.principal == Some(user()));
                logged += of.map(|entry| entry.count).sum::<u64>();
            }
            assert!(
                logged >= signatures,
                "{signatures} signatures, {logged} of them in the log"
            );
        }
    }
}
