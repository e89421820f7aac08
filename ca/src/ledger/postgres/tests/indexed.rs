//! A large ledger: what is asked of it is found by an index, and never by looking at each certificate.

use core::ops::ControlFlow;

use databases::Cluster;
use pq_x509::revocation::CrlReason;

use super::*;
use crate::ledger::AdoptedEntry;
use crate::ledger::suite::{at, issued, new_entry, number, revocation};

/// Fills the tables with 60,000 certificates, some of them revoked, as the ledger writes them.
const FILL: &str = "
    INSERT INTO pq_ca.certificates (serial, issuer, issuer_id, subject, names, not_before, not_after, profile,
        key_algorithm, key, halves, requester, issued_at, era, certificate, revoked_at, reason, revoked_by, last_list)
    SELECT decode(lpad(to_hex(n + 16777216), 8, '0'), 'hex'), 'i' || n % 7, n % 7, 'CN=' || n, 'h' || n || E'\\n', 10, 100000 + n,
        'server', 'ML-DSA-65', sha256(n::text::bytea), '', 'somebody', 20, 0, 'certificate',
        CASE WHEN n % 100 = 0 THEN 30 END, CASE WHEN n % 100 = 0 THEN 4 END,
        CASE WHEN n % 100 = 0 THEN 'somebody' END, CASE WHEN n % 100 = 0 THEN 0 END
    FROM generate_series(1, 60000) n;
    INSERT INTO pq_ca.names SELECT convert_to('h' || n, 'UTF8') || '\\x00', 100000 + n,
        decode(lpad(to_hex(n + 16777216), 8, '0'), 'hex') FROM generate_series(1, 60000) n;
    INSERT INTO pq_ca.keys SELECT key, serial FROM pq_ca.certificates;
    ANALYZE pq_ca.certificates; ANALYZE pq_ca.names; ANALYZE pq_ca.keys";

/// Forgets what was counted, once the server has counted what went before.
const FORGET: &str = "DO $$ BEGIN
    WHILE EXISTS (SELECT FROM pg_stat_activity
        WHERE application_name = 'psql' AND pid <> pg_backend_pid()) LOOP
        PERFORM pg_sleep(0.01);
        PERFORM pg_stat_clear_snapshot();
    END LOOP;
    PERFORM pg_stat_reset();
END $$";

/// Fails unless the tables were used, and by their indices alone. Servers count when a connection has ended.
const CHECK: &str = "DO $$ DECLARE used record; BEGIN
    WHILE EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'pq-ca') LOOP
        PERFORM pg_sleep(0.01);
        PERFORM pg_stat_clear_snapshot();
    END LOOP;
    FOR used IN SELECT * FROM pg_stat_user_tables WHERE relname IN ('certificates', 'names', 'keys') LOOP
        IF used.seq_scan > 0 OR used.idx_scan = 0 THEN
            RAISE EXCEPTION '%: % scans, % by index', used.relname, used.seq_scan, used.idx_scan;
        END IF;
    END LOOP;
END $$";

#[test]
fn large_ledgers_are_searched_by_their_indices() {
    let Some(cluster) = Cluster::new(&["fsync=off"]) else {
        return;
    };
    let _server = cluster.start();
    let options = patient(&cluster.address());
    drop(open(&options));
    cluster.run(5432, FILL);
    cluster.run(5432, FORGET);
    let ledger = open(&options);
    let first = |filter: Filter| {
        let mut found = 0;
        let mut show = |_| {
            found += 1;
            ControlFlow::Continue(())
        };
        ledger.find(&filter.limit(10), &mut show).unwrap();
        found
    };
    let key = issued(1).key;
    let wanted = [new_entry(issued(1))];
    let conditions = [
        Condition::IssuerNotRevoked(&number(7)),
        Condition::IssuerKeyNotCompromised(&key),
        Condition::Issues("issuing"),
    ];
    ledger.record_if(&wanted, &conditions).unwrap();
    let adopted = AdoptedEntry {
        entry: new_entry(issued(2)),
        revocation: Some(revocation(30, CrlReason::KeyCompromise)),
    };
    ledger.adopt(&[adopted]).unwrap();
    let revoked = revocation(30, CrlReason::CertificateHold);
    ledger.revoke(&number(1), &revoked).unwrap();
    assert_eq!(ledger.compromised(&issued(2).key).unwrap(), Some(number(2)));
    let (mut listed, by_another) = (0, "i3");
    let mut show = |_: &SerialNumber, _: &Revocation| listed += 1;
    let list = ledger.next_list("issuing", at(100), &mut show).unwrap();
    ledger.check_list("issuing", list).unwrap();
    ledger.confirm_list("issuing", list, at(100)).unwrap();
    assert_eq!(listed, 2);
    ledger.reinstate(&number(1), at(120), "somebody").unwrap();
    ledger.check_time(at(100)).unwrap();
    assert!(ledger.certificate(&number(1)).unwrap().is_some());
    for (filter, expected) in [
        (Filter::all(), 10),
        (Filter::all().revoked(), 10),
        (Filter::all().name("h77"), 1),
        (Filter::all().domain("example.org"), 2),
        (Filter::all().keys([key]), 1),
        (Filter::all().expires_from(at(159_995)), 6),
        (Filter::all().issuer("issuing"), 2),
        (Filter::all().issuer(by_another), 0),
    ] {
        assert_eq!(first(filter.clone()), expected, "{filter:?}");
    }
    drop(ledger);
    cluster.run(5432, CHECK);
}
