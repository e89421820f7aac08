//! How ledgers are made and opened.

use std::sync::Mutex;
use std::thread;

use databases::Cluster;

use super::*;

fn kind(opened: Result<PostgresLedger, LedgerError>) -> &'static str {
    match opened {
        Ok(_) => "open",
        Err(LedgerError::Database(DatabaseError::NoLedger(_))) => "none",
        Err(LedgerError::Database(DatabaseError::AlreadyThere(_))) => "there",
        Err(LedgerError::Database(DatabaseError::Newer { known: 1, .. })) => "newer",
        Err(LedgerError::Database(DatabaseError::Away { .. })) => "away",
        Err(LedgerError::Database(DatabaseError::NotOpened { .. })) => "refused",
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_ledger_is_made_once_and_opening_makes_none() {
    let Some(options) = options() else { return };
    assert_eq!(kind(PostgresLedger::open(options.clone())), "none");
    let made = at_once(6, || kind(PostgresLedger::create(options.clone())));
    assert_eq!(made, ["open", "there", "there", "there", "there", "there"]);
    let opened = at_once(3, || kind(PostgresLedger::open(options.clone())));
    assert_eq!(opened, ["open"; 3]);
}

/// What several threads get at once, sorted.
fn at_once(count: usize, act: impl Fn() -> &'static str + Sync) -> Vec<&'static str> {
    let got = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..count {
            scope.spawn(|| {
                let one = act();
                got.lock().unwrap().push(one);
            });
        }
    });
    let mut got = got.into_inner().unwrap();
    got.sort_unstable();
    got
}

#[test]
fn tables_of_a_newer_version_are_left_alone() {
    let Some(cluster) = Cluster::new(&["fsync=off"]) else {
        return;
    };
    let _server = cluster.start();
    let options = patient(&cluster.address());
    drop(open(&options));
    cluster.run(5432, "UPDATE pq_ca.ledger SET format = 2");
    for _ in 0..2 {
        assert_eq!(kind(PostgresLedger::open(options.clone())), "newer");
    }
    cluster.run(5432, "UPDATE pq_ca.ledger SET format = 1");
    assert_eq!(kind(PostgresLedger::open(options)), "open");
}

/// Who has no right to the tables is told so, and who has only that to use them needs no other.
#[test]
fn rights_that_are_needed() {
    let Some(cluster) = Cluster::new(&["fsync=off"]) else {
        return;
    };
    let _server = cluster.start();
    let options = patient(&cluster.address());
    let address = cluster.address().replace("user=postgres", "user=front");
    let of_front = patient(&address);
    cluster.run(5432, "CREATE ROLE front LOGIN");
    assert_eq!(kind(PostgresLedger::create(of_front.clone())), "refused");
    drop(open(&options));
    assert_eq!(kind(PostgresLedger::open(of_front.clone())), "refused");
    cluster.run(
        5432,
        "GRANT USAGE ON SCHEMA pq_ca TO front; \
         GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA pq_ca TO front",
    );
    let ledger = PostgresLedger::open(of_front).unwrap();
    crate::ledger::suite::requirements::conditions_are_checked_with_the_change(&ledger);
}

#[test]
fn a_database_that_is_not_there_is_away() {
    let folder = tempfile::tempdir().unwrap();
    let address = format!(
        "host={} user=u dbname=d password=hunter2",
        folder.path().display()
    );
    let options = PostgresOptions::new(&address).unwrap();
    let options = options.timeout(core::time::Duration::from_millis(50));
    let error = PostgresLedger::open(options).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("hunter2"));
    assert!(error.changed_nothing());
    assert_eq!(kind(Err(error)), "away");
}
