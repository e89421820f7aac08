//! Replicas of `pqtls ca serve --acme` over one PostgreSQL, whose processes are killed, and the database's, while clients order:
//! each order ends in one certificate, and ledger, lists and audit chain agree with what was handed out.
//!
//! `.ci/run thorough ca_fleet` runs it in full size, by `PQTLS_FLEET_ORDERS` and `PQTLS_FLEET_ACCOUNTS`.

mod client;
mod names;
mod replicas;

use alloc::collections::{BTreeMap, BTreeSet};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::Mutex;
use std::thread::{self, sleep};
use std::time::Instant;

use databases::Cluster;
use pq_x509::revocation::CertificateRevocationList;
use serde_json::Value;
use sha2::{Digest, Sha256};

use self::client::{Account, Ended, Handed};
use self::names::Names;
use self::replicas::Replicas;
use crate::ca_served::until;
use crate::folder::{Folder, Outcome};
use crate::keys::hex;

/// How often a replica is killed.
const KILL_EVERY: Duration = Duration::from_secs(1);
/// How often the database is.
const RESTART_EVERY: Duration = Duration::from_secs(20);
/// How often the head of the audit chain is kept.
const HEAD_EVERY: Duration = Duration::from_secs(60);
/// Of so many certificates, one is revoked.
const REVOKED: usize = 20;
/// How many replicas there are.
const REPLICAS: usize = 3;

/// A number from the environment.
fn setting(name: &str, otherwise: usize) -> usize {
    let text = std::env::var(name);
    text.map_or(otherwise, |text| text.parse().unwrap())
}

/// What clients got, and what came of it.
#[derive(Default)]
struct Results {
    handed: Vec<Handed>,
    gave_up: Vec<String>,
    revoked: Vec<String>,
    heads: Vec<String>,
}

#[test]
fn each_order_ends_in_one_certificate_whoever_is_killed() {
    let Some(cluster) = Cluster::new(&["fsync=on"]) else {
        return;
    };
    let orders = setting("PQTLS_FLEET_ORDERS", 60);
    let accounts = setting("PQTLS_FLEET_ACCOUNTS", 6);
    let (least_kills, least_restarts) = (5, 1);
    let mut database = cluster.start();
    let folder = with_ca(&cluster);
    let names = Names::start();
    let replicas = Replicas::start(&folder, REPLICAS, &places(&cluster), &names);
    let (done, taken) = (AtomicBool::new(false), AtomicUsize::new(0));
    let (kills, restarts) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let results = Mutex::new(Results::default());
    let lists = Mutex::new(BTreeMap::new());
    let begun = Instant::now();
    let is_over = || done.load(Ordering::Relaxed);
    let _database = thread::scope(|scope| {
        let enemy = scope.spawn(|| {
            while !is_over() || kills.load(Ordering::Relaxed) < least_kills {
                sleep(KILL_EVERY);
                let number = kills.load(Ordering::Relaxed) % REPLICAS;
                if replicas.kill(number) {
                    kills.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        let (cluster, restarts) = (&cluster, &restarts);
        let other_enemy = scope.spawn(move || {
            // The first time, before few orders are done.
            let mut next = Instant::now() + 2 * KILL_EVERY;
            while !is_over() || restarts.load(Ordering::Relaxed) < least_restarts {
                if Instant::now() >= next {
                    database.kill();
                    database = cluster.start();
                    restarts.fetch_add(1, Ordering::Relaxed);
                    next = Instant::now() + RESTART_EVERY;
                }
                sleep(Duration::from_millis(50));
            }
            database
        });
        let watcher = scope.spawn(|| {
            while !is_over() {
                collect(&replicas, &lists);
                sleep(Duration::from_millis(300));
            }
        });
        let keeper = scope.spawn(|| operate(&folder, &results, is_over));
        let clients: Vec<_> = (0..accounts)
            .map(|number| {
                let (replicas, names, results, taken) = (&replicas, &names, &results, &taken);
                let folder = &folder;
                scope.spawn(move || {
                    let account = Account::new(folder, replicas, names);
                    loop {
                        let order = taken.fetch_add(1, Ordering::Relaxed);
                        if order >= orders {
                            return;
                        }
                        let name = format!("o{order}.a{number}.example.org");
                        let ended = account.order(&name);
                        let mut results = results.lock().unwrap();
                        match ended {
                            Ended::Handed(handed) => results.handed.push(handed),
                            Ended::GaveUp(why) => results.gave_up.push(why),
                        }
                    }
                })
            })
            .collect();
        // The others end in any case.
        let clients: Vec<_> = clients.into_iter().map(|client| client.join()).collect();
        done.store(true, Ordering::Relaxed);
        for client in clients {
            client.unwrap();
        }
        for one in [enemy, watcher, keeper] {
            one.join().unwrap();
        }
        other_enemy.join().unwrap()
    });
    let spent = begun.elapsed();
    collect(&replicas, &lists);
    let results = results.into_inner().unwrap();
    println!(
        "{} certificates, {} orders given up, {} revoked, {} lists in {} s; {} kills of replicas and {} of the database",
        results.handed.len(),
        results.gave_up.len(),
        results.revoked.len(),
        lists.lock().unwrap().len(),
        spent.as_secs(),
        kills.into_inner(),
        restarts.load(Ordering::Relaxed),
    );
    for why in &results.gave_up {
        println!("given up: {why}");
    }
    assert_eq!(results.handed.len() + results.gave_up.len(), orders);
    drop(replicas);
    check(&folder, &results);
}

/// While replicas are rolled to the next version, which adds to the tables as each did before it, those of this version go on;
/// only that none of these can be started any more is said.
#[test]
fn a_replica_serves_on_while_the_next_version_changes_the_tables() {
    let Some(cluster) = Cluster::new(&["fsync=off"]) else {
        return;
    };
    let _database = cluster.start();
    let folder = with_ca(&cluster);
    let names = Names::start();
    let replicas = Replicas::start(&folder, 1, &places(&cluster), &names);
    let (changed, handed) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        for number in 0..4 {
            let (replicas, folder, names) = (&replicas, &folder, &names);
            let (changed, handed) = (&changed, &handed);
            scope.spawn(move || {
                let account = Account::new(folder, replicas, names);
                let mut left = 2;
                for order in 0.. {
                    // Some more after the change
                    if changed.load(Ordering::Relaxed) {
                        if left == 0 {
                            return;
                        }
                        left -= 1;
                    }
                    match account.order(&format!("o{order}.a{number}.example.org")) {
                        Ended::Handed(_) => handed.fetch_add(1, Ordering::Relaxed),
                        Ended::GaveUp(why) => panic!("{why}"),
                    };
                }
            });
        }
        let rolled = scope.spawn(|| {
            until("there are orders", || handed.load(Ordering::Relaxed) >= 4);
            change_tables(&cluster);
        });
        // The clients end in any case.
        let rolled = rolled.join();
        changed.store(true, Ordering::Relaxed);
        rolled.unwrap();
    });
    let refused = folder.pqtls("ca list");
    refused.fails(3, "newer version");
    // It is still there.
    let late = Account::new(&folder, &replicas, &names).order("late.example.org");
    assert!(matches!(late, Ended::Handed(_)));
}

/// What a next version of this program would do with the tables when it is started.
fn change_tables(cluster: &Cluster) {
    for (schema, tables, version) in [
        ("ledger", "certificates, events", "ledger"),
        ("acme", "accounts, orders, authorizations", "store"),
    ] {
        let mut step = format!("SET search_path TO {schema}; BEGIN; ");
        for table in tables.split(", ") {
            step += &format!("ALTER TABLE {table} ADD COLUMN of_the_next text; ");
        }
        step += &format!("UPDATE {version} SET format = format + 1; COMMIT");
        cluster.run(5432, &step);
    }
}

/// A folder with a CA in `ca`, whose ledger is in this database.
fn with_ca(cluster: &Cluster) -> Folder {
    let folder = Folder::new();
    let [ledger, _] = places(cluster);
    folder
        .pqtls(&format!(
            "ca init --name Fleet --algorithm ML-DSA-44 --dns example.org --dns localhost --ledger {ledger}"
        ))
        .ok();
    let policy = folder.read("ca/policy.toml") + "\n[acme]\ndns = [\".example.org\"]\n";
    folder.write("ca/policy.toml", policy);
    folder
}

/// The addresses of the ledger, and of ACME's objects.
fn places(cluster: &Cluster) -> [String; 2] {
    let host = cluster.folder().display().to_string().replace('/', "%2F");
    ["ledger", "acme"].map(|schema| format!("postgres://postgres@{host}/postgres?schema={schema}"))
}

/// Runs a command until the database is there for it.
fn persist(folder: &Folder, line: &str) -> Outcome {
    let begun = Instant::now();
    loop {
        let done = folder.pqtls(line);
        if done.status() == 0 {
            return done;
        }
        assert_eq!(done.status(), 3, "{line}: {}", done.stderr());
        assert!(begun.elapsed() < databases::PATIENCE, "{}", done.stderr());
        sleep(Duration::from_millis(100));
    }
}

/// Revokes some of the certificates, and keeps heads of the audit chain, each of which leads to the next.
fn operate(folder: &Folder, results: &Mutex<Results>, is_over: impl Fn() -> bool) {
    let mut next_head = Instant::now();
    loop {
        let was_over = is_over();
        let (serial, heads) = {
            let results = results.lock().unwrap();
            let number = results.revoked.len() * REVOKED;
            let next = results.handed.get(number);
            (next.map(|one| one.serial.clone()), results.heads.clone())
        };
        if next_head <= Instant::now() {
            let head = format!("head-{}", heads.len());
            let before = heads.last().map(|head| format!("--head {head}"));
            let before = before.unwrap_or_default();
            persist(
                folder,
                &format!("ca audit {before} --new-head {head} --force"),
            );
            results.lock().unwrap().heads.push(head);
            next_head = Instant::now() + HEAD_EVERY;
        }
        match serial {
            Some(serial) => {
                persist(folder, &format!("ca revoke {serial} --reason superseded"));
                results.lock().unwrap().revoked.push(serial);
            }
            None if was_over => return,
            None => sleep(Duration::from_millis(50)),
        }
    }
}

/// The lists that replicas hand out: no number has two.
fn collect(replicas: &Replicas, lists: &Mutex<BTreeMap<Vec<u8>, Vec<u8>>>) {
    for list in replicas.lists() {
        let number = CertificateRevocationList::from_der(&list).unwrap();
        let number = number.number().unwrap().to_vec();
        let mut lists = lists.lock().unwrap();
        let known = lists.entry(number).or_insert_with(|| list.clone());
        assert!(*known == list, "two lists have one number");
    }
}

/// Compares what was handed out with the ledger and its audit chain.
fn check(folder: &Folder, results: &Results) {
    let json = |line: &str| -> Value {
        let done = folder.pqtls(&format!("{line} --json"));
        serde_json::from_str(done.ok()).unwrap()
    };
    let listed = json("ca list");
    let listed = listed["certificates"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let serials: BTreeSet<_> = listed
        .iter()
        .map(|one| text(&one["serial_number"]))
        .collect();
    assert_eq!(serials.len(), listed.len(), "a serial number twice");
    // Orders and certificates of the ledger are one to one.
    let of_orders = listed.iter().filter(|one| one["request"].is_string());
    let of_orders: BTreeMap<_, _> = of_orders
        .map(|one| (text(&one["request"]), text(&one["serial_number"])))
        .collect();
    let handed: BTreeMap<_, _> = results
        .handed
        .iter()
        .map(|one| (one.request.clone(), one.serial.clone()))
        .collect();
    assert_eq!(handed.len(), results.handed.len(), "an order twice");
    for (request, serial) in &handed {
        assert_eq!(of_orders.get(request), Some(serial), "not in the ledger");
    }
    assert_eq!(
        of_orders.len(),
        handed.len(),
        "certificates that nobody got, with {} orders given up",
        results.gave_up.len()
    );
    // The audit chain tells the same.
    let audited = json("ca audit");
    let (mut issued, mut begun, mut revoked) = (BTreeMap::new(), Vec::new(), BTreeSet::new());
    for (index, event) in audited["events"].as_array().unwrap().iter().enumerate() {
        assert_eq!(event["number"], index as u64 + 1);
        for one in event["certificates"].as_array().unwrap() {
            let before = issued.insert(text(&one["serial_number"]), text(&one["digest"]));
            assert_eq!(before, None, "issued twice");
        }
        for one in event["revocations"].as_array().unwrap() {
            let serials = one["serial_numbers"].as_array().unwrap().iter().map(text);
            revoked.extend(serials);
        }
        if event["deed"] == "list-begun" {
            begun.push(event["list"]["number"].as_u64().unwrap());
        }
    }
    assert!(issued.keys().eq(&serials), "the audit chain lacks some");
    for one in &results.handed {
        assert_eq!(issued[&one.serial], hex(&Sha256::digest(&one.der)));
    }
    let numbers: Vec<u64> = (1..=begun.len() as u64).collect();
    assert_eq!(begun, numbers, "the numbers of lists");
    assert_eq!(revoked, results.revoked.iter().cloned().collect());
    let head = results.heads.last().unwrap();
    folder.pqtls(&format!("ca audit --head {head}")).ok();
    // The next list has them all.
    folder.pqtls("ca crl --out last.crl").ok();
    let list = CertificateRevocationList::all_in(&folder.bytes("last.crl")).unwrap();
    assert_eq!(list[0].entries().len(), results.revoked.len());
}
