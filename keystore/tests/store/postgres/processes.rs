//! Three processes with one database: one rotates, all sign and verify.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, Ordering};
use std::env;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use pq_keystore::{Store, StoreOptions, Version};

use super::server::{new_schema, open, patient, shared_address};
use crate::amounts::signatures;
use crate::kill;
use crate::kit::{admin, kek, name, named, user_policy};
use crate::load::{Rotation, sign_and_verify};

/// What tells a child which database and schema it is to use.
const DATABASE: &str = "PQ_KEYSTORE_PROCESS_DATABASE";
const SCHEMA: &str = "PQ_KEYSTORE_PROCESS_SCHEMA";

/// The threads of each process.
const THREADS: [u64; 3] = [2, 3, 3];

/// Microseconds since 1970, by the clock that all processes have.
fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(now.as_micros()).unwrap()
}

/// A child: signs and verifies in three threads, and says when it first signed by each version. It is no test of its own.
#[test]
#[ignore = "what three_processes_sign_under_rotation starts"]
fn a_process_that_signs() {
    let (Ok(address), Ok(schema)) = (env::var(DATABASE), env::var(SCHEMA)) else {
        return;
    };
    let options = patient(&address).schema(&schema).unwrap();
    let store = kill::open(Arc::new(open(&options)));
    let newest = Mutex::new(0);
    let each = signatures() / THREADS.iter().sum::<u64>();
    thread::scope(|scope| {
        for number in 0..THREADS[1] {
            let (store, newest) = (&store, &newest);
            scope.spawn(move || {
                for index in 0..each {
                    let message = format!("{} {number} {index}", std::process::id());
                    let signed = sign_and_verify(store, &name("k"), message.as_bytes());
                    let version = signed.id.version().get();
                    let mut newest = newest.lock().unwrap();
                    if version > *newest {
                        *newest = version;
                        println!("@ {version} {}", now());
                    }
                }
            });
        }
    });
    println!("@ 0 {}", 3 * each);
}

/// What a child says: when it first signed by each version, and how often it signed at last.
fn watch(address: &str, schema: &str) -> (BTreeMap<u32, u64>, u64) {
    let mut child = Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            "postgres::processes::a_process_that_signs",
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(DATABASE, address)
        .env(SCHEMA, schema)
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let mut seen = BTreeMap::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        let Some((_, said)) = line.split_once("@ ") else {
            continue;
        };
        let (version, number) = said.split_once(' ').unwrap();
        seen.insert(
            version.parse::<u32>().unwrap(),
            number.parse::<u64>().unwrap(),
        );
    }
    assert!(child.wait().unwrap().success(), "a process failed");
    let signed = seen.remove(&0).unwrap();
    (seen, signed)
}

#[test]
fn three_processes_sign_under_rotation() {
    let Some(address) = shared_address() else {
        return;
    };
    let schema = new_schema();
    let options = patient(&address).schema(&schema).unwrap();
    let storage = Arc::new(open(&options));
    let store = Store::create(storage, &kek(b"secret"), &admin(), StoreOptions::default()).unwrap();
    let key = name("k");
    store
        .create_key(&admin(), &key, named("ML-DSA-44"), &user_policy())
        .unwrap();
    let each = signatures() / THREADS.iter().sum::<u64>();
    let (done, rotated) = (AtomicBool::new(false), Mutex::new(BTreeMap::new()));
    let children = thread::scope(|scope| {
        scope.spawn(|| {
            let rotation = Rotation::of(&store, &key);
            while !done.load(Ordering::Acquire) {
                let version = rotation.rotate();
                rotated.lock().unwrap().insert(version.get(), now());
            }
        });
        let children: Vec<_> = (1..THREADS.len())
            .map(|_| scope.spawn(|| watch(&address, &schema)))
            .collect();
        let own: Vec<_> = (0..THREADS[0])
            .map(|number| {
                let (store, key) = (&store, &key);
                scope.spawn(move || {
                    for index in 0..each {
                        let message = format!("own {number} {index}");
                        sign_and_verify(store, key, message.as_bytes());
                    }
                })
            })
            .collect();
        let (mut seen, mut joined) = (Vec::new(), Vec::new());
        for thread in own {
            joined.push(thread.join());
        }
        for child in children {
            seen.push(child.join());
        }
        done.store(true, Ordering::Release);
        for thread in joined {
            thread.unwrap();
        }
        seen
    });
    let rotated = rotated.into_inner().unwrap();
    let mut signed = THREADS[0] * each;
    // How long after each rotation a child signed by that version or a newer one.
    let mut delays = Vec::new();
    for child in children {
        let (seen, count) = child.unwrap();
        signed += count;
        let (first, last) = (
            seen.keys().next().unwrap(),
            seen.keys().next_back().unwrap(),
        );
        for (version, made) in rotated.range(first + 1..=*last) {
            let (_, noticed) = seen.range(version..).next().unwrap();
            delays.push(noticed.saturating_sub(*made));
        }
    }
    assert_eq!(signed, each * THREADS.iter().sum::<u64>());
    delays.sort_unstable();
    let longest = delays.last().copied().unwrap_or_default();
    println!(
        "{signed} signatures, {} rotations seen by others after {} ms at most, half of them within {} ms",
        delays.len(),
        longest / 1000,
        delays.get(delays.len() / 2).copied().unwrap_or_default() / 1000
    );
    // It is less than a second where the processes run. On a machine that stops them, nothing more is certain.
    assert!(longest < 60_000_000);
    let report = store.check(&admin(), &[]).unwrap();
    assert!(report.damaged.is_empty(), "{:?}", report.damaged);
    let newest = Version::new(*rotated.keys().next_back().unwrap());
    let versions = store.show(&admin(), &key).unwrap().versions;
    assert_eq!(versions.last().map(|last| last.version), newest);
}
