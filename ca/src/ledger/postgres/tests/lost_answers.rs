//! Connections that end while a change is made: each change is made once, or it is said that this is unknown.

use core::time::Duration;

use databases::{Cut, Proxy};
use pq_x509::revocation::CrlReason;

use super::*;
use crate::ledger::Change;
use crate::ledger::suite::{at, find, issued, new_entry, next_list, number, revocation};

/// A proxy, and a ledger behind it that has one connection.
fn behind_proxy() -> Option<(Proxy, PostgresLedger, PostgresOptions)> {
    let proxy = Proxy::new(databases::shared()?.folder());
    let options = patient(&proxy.address()).schema(&new_schema()).unwrap();
    let options = options.connections(1);
    let ledger = open(&options);
    Some((proxy, ledger, options))
}

#[test]
fn a_lost_answer_is_found_out() {
    let Some((proxy, ledger, _)) = behind_proxy() else {
        return;
    };
    for (n, cut) in (1..).zip([Cut::BeforeCommit, Cut::Answer, Cut::Answer]) {
        let cut_off = |cut| {
            assert_eq!(proxy.cut(), Cut::Never);
            proxy.set(cut);
        };
        cut_off(cut);
        // Were it made a second time, the number would be taken.
        ledger.record(&[new_entry(issued(n))]).unwrap();
        cut_off(cut);
        // And revoked already.
        let revoked = revocation(30, CrlReason::Superseded);
        let revoked = ledger.revoke(&number(n), &revoked).unwrap();
        assert_eq!(revoked.change, Change::Revoked);
        cut_off(cut);
        // A number is used once.
        let (list, listed) = next_list(&ledger, "issuing", 100);
        assert_eq!((list, listed.len() as u64), (n, n));
        assert_eq!(proxy.cut(), Cut::Never);
    }
    assert_eq!(find(&ledger, &Filter::all()).len(), 3);
}

/// Whoever makes a ledger doesn't take its own for one of others.
#[test]
fn a_lost_answer_to_the_making_of_a_ledger_is_found_out() {
    let Some(shared) = databases::shared() else {
        return;
    };
    for cut in [Cut::BeforeCommit, Cut::Answer] {
        let proxy = Proxy::new(shared.folder());
        let options = patient(&proxy.address()).schema(&new_schema()).unwrap();
        proxy.set(cut);
        let ledger = PostgresLedger::create(options.clone()).unwrap();
        assert_eq!(proxy.cut(), Cut::Never);
        ledger.record(&[new_entry(issued(1))]).unwrap();
        let there = PostgresLedger::create(options).unwrap_err();
        assert!(
            matches!(there, LedgerError::Database(DatabaseError::AlreadyThere(_))),
            "{there}"
        );
    }
}

#[test]
fn an_answer_that_nobody_can_find_out_is_unknown() {
    let Some((proxy, _, options)) = behind_proxy() else {
        return;
    };
    let impatient = loop {
        // On a busy machine, this takes several tries.
        let options = options.clone().timeout(Duration::from_secs(2));
        match PostgresLedger::open(options) {
            Ok(ledger) => break ledger,
            Err(error) => assert!(is_away(&error), "{error}"),
        }
    };
    let error = loop {
        proxy.set(Cut::AnswerAndAllAfter);
        let error = impatient.record(&[new_entry(issued(1))]).unwrap_err();
        if proxy.cut() != Cut::AnswerAndAllAfter {
            break error;
        }
        // There was no time left for it.
        assert!(is_away(&error), "{error}");
    };
    assert!(!error.changed_nothing());
    let unknown = matches!(
        error,
        LedgerError::Database(DatabaseError::OutcomeUnknown { .. })
    );
    assert!(unknown, "{error}");
    proxy.set(Cut::Never);
    let ledger = open(&options);
    assert_eq!(find(&ledger, &Filter::all()).len(), 1);
    ledger.check_time(at(20)).unwrap();
}

#[test]
fn a_connection_may_end_before_any_message() {
    let Some((proxy, ledger, _)) = behind_proxy() else {
        return;
    };
    let mut n = 0;
    for place in [Cut::ToServer as fn(u32) -> Cut, Cut::ToClient] {
        for message in 0..12 {
            n += 1;
            proxy.set(place(message));
            ledger.record(&[new_entry(issued(n))]).unwrap();
            proxy.set(Cut::Never);
            assert_eq!(find(&ledger, &Filter::all()).len() as u64, n);
        }
    }
}

pub(super) fn is_away(error: &LedgerError) -> bool {
    matches!(error, LedgerError::Database(DatabaseError::Away { .. }))
}
