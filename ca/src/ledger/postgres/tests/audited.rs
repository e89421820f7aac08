//! The chain of events: what is committed late is in it, and what is changed in the tables is noticed.

use std::thread;

use databases::Cluster;
use pq_x509::revocation::CrlReason;

use super::*;
use crate::ledger::suite::{issued, new_entry, number, record, revocation};
use crate::ledger::{AuditHead, Deed};

fn deeds(ledger: &PostgresLedger) -> Vec<&'static str> {
    let mut names = Vec::new();
    let mut show = |event: AuditEvent| {
        names.push(event.deed.name());
        ControlFlow::Continue(())
    };
    ledger.audit(&mut show).unwrap();
    names
}

/// The number of an event says when it was begun. What was begun first and is committed last comes last in the chain.
#[test]
fn what_is_committed_late_is_chained_late() {
    let Some(cluster) = Cluster::new(&["fsync=off"]) else {
        return;
    };
    let _server = cluster.start();
    let options = patient(&cluster.address());
    let ledger = open(&options);
    let begun = "DO $$ BEGIN
        WHILE NOT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND pid <> pg_backend_pid()) LOOP
            PERFORM pg_stat_clear_snapshot();
        END LOOP;
    END $$";
    thread::scope(|scope| {
        let late = scope.spawn(|| {
            // As a program of the first version writes it, whose machine is slow.
            cluster.run(
                5432,
                "BEGIN; INSERT INTO pq_ca.events (what, serial, at, reason, said_by)
                    VALUES ('revoked', '\\x01', 30, 1, 'somebody');
                SELECT pg_sleep(3); COMMIT;",
            );
        });
        cluster.run(5432, begun);
        record(&ledger, [issued(1)]);
        let kept = ledger.verify(None).unwrap();
        assert_eq!((kept.number, deeds(&ledger)), (1, vec!["issued"]));
        late.join().unwrap();
        assert_eq!(deeds(&ledger), ["issued", "revoked"]);
        assert_eq!(ledger.verify(Some(&kept)).unwrap().number, 2);
    });
    cluster.run(
        5432,
        "DO $$ BEGIN IF (SELECT count(*) FROM pq_ca.events a JOIN pq_ca.events b ON a.event < b.event AND a.number > b.number) <> 1
            THEN RAISE EXCEPTION 'they were committed in order'; END IF; END $$",
    );
}

/// Events that programs of the first version wrote.
#[test]
fn events_of_the_first_version_are_chained() {
    let Some(cluster) = Cluster::new(&["fsync=off"]) else {
        return;
    };
    let _server = cluster.start();
    let options = patient(&cluster.address());
    let ledger = open(&options);
    cluster.run(
        5432,
        "INSERT INTO pq_ca.events (what, serial, at, reason, said_by) VALUES
            ('revoked', '\\x02', 30, 6, 'a\\\\b'), ('reinstated', '\\x02', 31, NULL, 'b'), ('confirmed', NULL, 25, NULL, 'c')",
    );
    let mut found = Vec::new();
    let mut show = |event: AuditEvent| {
        found.push(event.deed);
        ControlFlow::Continue(())
    };
    ledger.audit(&mut show).unwrap();
    let hold = Revocation {
        by: "a\\b".into(),
        ..revocation(30, CrlReason::CertificateHold)
    };
    let expected = [
        Deed::Revoked(vec![(hold, vec![number(2)])]),
        Deed::Reinstated {
            number: number(2),
            at: crate::ledger::suite::at(31),
            by: "b".into(),
        },
        Deed::TimeConfirmed {
            at: crate::ledger::suite::at(25),
            by: "c".into(),
        },
    ];
    assert_eq!(found, expected);
}

/// Whoever can write to the tables.
#[test]
fn changed_events_are_noticed() {
    let Some(cluster) = Cluster::new(&["fsync=off"]) else {
        return;
    };
    let _server = cluster.start();
    let options = patient(&cluster.address());
    let ledger = open(&options);
    for n in 1..=5 {
        record(&ledger, [issued(n)]);
    }
    let end = ledger.verify(None).unwrap();
    let two = AuditHead { number: 2, ..end };
    assert!(matches!(
        ledger.verify(Some(&two)),
        Err(LedgerError::LostHead(_))
    ));
    cluster.run(
        5432,
        "CREATE TABLE pq_ca.kept AS SELECT * FROM pq_ca.events",
    );
    for change in [
        "UPDATE pq_ca.events SET body = set_byte(body, 5, get_byte(body, 5) # 1) WHERE number = 3",
        "UPDATE pq_ca.events SET digest = sha256(digest) WHERE number = 5",
        "DELETE FROM pq_ca.events WHERE number = 3",
        "DELETE FROM pq_ca.events WHERE number = 1",
        "UPDATE pq_ca.events a SET body = b.body FROM pq_ca.kept b WHERE a.number IN (2, 4) AND b.number = 6 - a.number",
        "UPDATE pq_ca.ledger SET chain_start = sha256(chain_start)",
    ] {
        cluster.run(
            5432,
            &format!("CREATE TABLE pq_ca.start AS SELECT chain_start FROM pq_ca.ledger; {change}"),
        );
        match ledger.verify(None) {
            Err(LedgerError::Database(DatabaseError::Damaged { reason, .. })) => {
                assert!(reason.starts_with("event "), "{reason}");
            }
            other => panic!("{change}: {other:?}"),
        }
        cluster.run(
            5432,
            "DELETE FROM pq_ca.events;
            INSERT INTO pq_ca.events OVERRIDING SYSTEM VALUE SELECT * FROM pq_ca.kept;
            UPDATE pq_ca.ledger SET chain_start = (SELECT chain_start FROM pq_ca.start); DROP TABLE pq_ca.start",
        );
        assert_eq!(ledger.verify(Some(&end)).unwrap(), end, "{change}");
    }
    // What was cut off the end, only a head shows.
    cluster.run(5432, "DELETE FROM pq_ca.events WHERE number > 3");
    assert_eq!(ledger.verify(None).unwrap().number, 3);
    record(&ledger, [issued(6), issued(7)]);
    let lost = ledger.verify(Some(&end));
    assert!(matches!(lost, Err(LedgerError::LostHead(_))), "{lost:?}");
}

/// Each process chains what there is now and then, so an audit has not all to do.
#[test]
fn events_are_chained_before_an_audit() {
    let Some(cluster) = Cluster::new(&["fsync=off"]) else {
        return;
    };
    let _server = cluster.start();
    let options = patient(&cluster.address());
    let ledger = open(&options);
    for n in 1..=2500 {
        ledger.record(&[new_entry(issued(n))]).unwrap();
    }
    cluster.run(
        5432,
        "DO $$ BEGIN IF (SELECT max(number) FROM pq_ca.events) IS NULL THEN RAISE EXCEPTION 'none is'; END IF; END $$",
    );
    assert_eq!(ledger.verify(None).unwrap().number, 2500);
}
