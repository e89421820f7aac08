//! Several machines that change one ledger at once: what one decides by, no other changes meanwhile.

use std::thread;

use pq_x509::revocation::CrlReason;

use super::*;
use crate::ledger::suite::{at, find, issued, new_entry, number, revocation};

/// A key is revoked for a compromise by one while others certify it again: whatever is recorded before is found after the
/// revocation by who revoked, and nothing is recorded after.
#[test]
fn nothing_is_certified_beside_a_compromise() {
    let Some(options) = options() else { return };
    let (one, other) = (open(&options), open(&options));
    for round in 0..20_u64 {
        let first = 1_000_000 * (round + 1);
        let key = issued(first).key;
        let again = |n| Issued { key, ..issued(n) };
        one.record(&[new_entry(again(first))]).unwrap();
        let (seen, recorded) = thread::scope(|scope| {
            let certifying = scope.spawn(|| {
                let record = |n| other.record(&[new_entry(again(n))]);
                let made = (first + 1..).map_while(|n| match record(n) {
                    Ok(()) => Some(n),
                    Err(LedgerError::KeyCompromised(by)) => {
                        assert_eq!(by, number(first));
                        None
                    }
                    Err(error) => panic!("{error}"),
                });
                made.count()
            });
            let revoked = revocation(30, CrlReason::KeyCompromise);
            one.revoke(&number(first), &revoked).unwrap();
            let seen = find(&one, &Filter::all().keys([key])).len();
            (seen, certifying.join().unwrap())
        });
        assert_eq!(seen, recorded + 1);
    }
}

/// A list has each revocation that was acknowledged before it was begun.
#[test]
fn lists_have_what_was_revoked_before() {
    let Some(options) = options() else { return };
    let (one, other) = (open(&options), open(&options));
    let all: Vec<_> = (1..=60).map(|n| new_entry(issued(n))).collect();
    one.record(&all).unwrap();
    thread::scope(|scope| {
        let revoking = scope.spawn(|| {
            for n in 1..=60 {
                let revoked = revocation(30, CrlReason::Superseded);
                one.revoke(&number(n), &revoked).unwrap();
                let mut has_it = false;
                let mut show = |shown: &SerialNumber, _: &Revocation| has_it |= *shown == number(n);
                one.next_list("issuing", at(100), &mut show).unwrap();
                assert!(has_it, "{n}");
            }
        });
        let mut last = 0;
        while !revoking.is_finished() {
            let mut shown = 0;
            let list = other.next_list("issuing", at(100), &mut |_, _| shown += 1);
            let list = list.unwrap();
            assert!(list > last);
            last = list;
        }
    });
}

/// What one machine asks about others' certificates is so until its change is made.
#[test]
fn conditions_hold_while_others_change_what_they_are_about() {
    let Some(options) = options() else { return };
    let (one, other) = (open(&options), open(&options));
    for round in 0..20_u64 {
        let ca = 1_000_000 * (round + 1);
        one.record(&[new_entry(issued(ca))]).unwrap();
        let issuer = number(ca);
        thread::scope(|scope| {
            let issuing = scope.spawn(|| {
                let condition = [Condition::IssuerNotRevoked(&issuer)];
                let record = |n| other.record_if(&[new_entry(issued(n))], &condition);
                let made = (ca + 1..).map_while(|n| match record(n) {
                    Ok(()) => Some(n),
                    Err(LedgerError::IssuerRevoked { .. }) => None,
                    Err(error) => panic!("{error}"),
                });
                made.count()
            });
            let revoked = revocation(30, CrlReason::Superseded);
            one.revoke(&issuer, &revoked).unwrap();
            // From here on, nothing more is recorded.
            let there = |n| one.entry(&number(n)).unwrap().is_some();
            let seen = (ca + 1..).take_while(|n| there(*n)).count();
            assert_eq!(issuing.join().unwrap(), seen);
        });
    }
}
