//! How ledgers are made and opened.

use std::sync::Mutex;
use std::thread;

use databases::Cluster;
use pq_x509::revocation::CrlReason;

use super::*;
use crate::ledger::suite::{
    entry, found, issued, new_entry, number, record, request, requested, revocation,
};

fn kind(opened: Result<PostgresLedger, LedgerError>) -> &'static str {
    match opened {
        Ok(_) => "open",
        Err(LedgerError::Database(DatabaseError::NoLedger(_))) => "none",
        Err(LedgerError::Database(DatabaseError::AlreadyThere(_))) => "there",
        Err(LedgerError::Database(DatabaseError::Newer { .. })) => "newer",
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
    cluster.run(5432, "UPDATE pq_ca.ledger SET format = format + 1");
    for _ in 0..2 {
        assert_eq!(kind(PostgresLedger::open(options.clone())), "newer");
    }
    cluster.run(5432, "UPDATE pq_ca.ledger SET format = format - 1");
    assert_eq!(kind(PostgresLedger::open(options)), "open");
}

/// Tables of the first version with what its programs wrote, and what they said of tables of this one.
#[test]
fn tables_of_the_first_version_are_brought_to_this_one() {
    let Some(cluster) = Cluster::new(&["fsync=off"]) else {
        return;
    };
    let _server = cluster.start();
    let options = patient(&cluster.address());
    cluster.run(5432, "CREATE SCHEMA pq_ca");
    cluster.run(
        5432,
        &include_str!("../schema/1.sql").replace("@.", "pq_ca."),
    );
    cluster.run(5432, OF_FORMAT_1);
    let opened = at_once(6, || kind(PostgresLedger::open(options.clone())));
    assert_eq!(opened, ["open"; 6]);
    let ledger = open(&options);
    let kept = ledger.entry(&number(1)).unwrap().unwrap();
    assert_eq!(kept, entry(issued(1)));
    let revoked = ledger.entry(&number(2)).unwrap().unwrap();
    let expected = revocation(30, CrlReason::KeyCompromise);
    assert_eq!(revoked.revocation(), Some(&expected));
    assert_eq!(revoked.issued, issued(2));
    let known = ledger.compromised(&issued(2).key).unwrap();
    assert_eq!(known, Some(number(2)));
    record(&ledger, [requested(3, request(3))]);
    assert_eq!(found(&ledger, Filter::all()), [1, 2, 3]);
    let error = ledger.record(&[new_entry(requested(4, request(3)))]);
    assert!(matches!(error, Err(LedgerError::RequestTaken { .. })));
    // The index alone keeps it so, whatever a program asks before.
    let twice = "DO $$ BEGIN
        INSERT INTO pq_ca.certificates SELECT ('\\x77'::bytea), issuer, issuer_id, subject, names, not_before, not_after,
            profile, key_algorithm, key, halves, requester, issued_at, era, certificate, revoked_at, reason, revoked_by,
            last_list, request FROM pq_ca.certificates WHERE request IS NOT NULL;
        RAISE EXCEPTION 'a request has two certificates';
    EXCEPTION WHEN unique_violation THEN NULL;
    END $$";
    cluster.run(5432, twice);
}

/// What programs of the first version wrote of `issued(1)` and of `issued(2)`, which is revoked.
const OF_FORMAT_1: &str = "
    UPDATE pq_ca.ledger SET format = 1;
    INSERT INTO pq_ca.certificates (serial, issuer, issuer_id, subject, names, not_before, not_after, profile,
        key_algorithm, key, halves, requester, issued_at, era, certificate, revoked_at, reason, revoked_by, last_list)
    SELECT decode(lpad(n::text, 2, '0'), 'hex'), 'issuing',
        ('x' || left(encode(sha256('issuing'), 'hex'), 16))::bit(64)::bigint,
        'CN=Number ' || n || ',O=Example', 'host' || n || '.example.org' || E'\\n', 10, 1000 + n,
        'server', 'ML-DSA-65', decode(lpad(to_hex(n), 16, '0') || repeat('f0', 24), 'hex'), '', 'somebody', 20, 0,
        'certificate', CASE WHEN n = 2 THEN 30 END, CASE WHEN n = 2 THEN 1 END,
        CASE WHEN n = 2 THEN 'somebody else' END, CASE WHEN n = 2 THEN 0 END
    FROM generate_series(1, 2) n;
    INSERT INTO pq_ca.keys SELECT key, serial FROM pq_ca.certificates;
    INSERT INTO pq_ca.events (what, serial, at, reason, said_by) VALUES
        ('revoked', '\\x02', 30, 1, 'somebody else'), ('confirmed', NULL, 25, NULL, 'somebody');";

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
