//! Revocations, holds and the conditions of a change.
#![allow(missing_docs, reason = "the name of each test says what it checks")]

use alloc::collections::BTreeSet;

use pq_x509::revocation::CrlReason;

use super::values::{
    at, entry, find, found, issued, key, new_entry, next_list, number, record, revocation,
};
use crate::ledger::{Change, Condition, Entry, Filter, Ledger, LedgerError, Revoked, State};

pub fn a_revocation_is_kept(ledger: &impl Ledger) {
    let reasons = [
        CrlReason::Unspecified,
        CrlReason::KeyCompromise,
        CrlReason::CaCompromise,
        CrlReason::AffiliationChanged,
        CrlReason::Superseded,
        CrlReason::CessationOfOperation,
        CrlReason::CertificateHold,
        CrlReason::PrivilegeWithdrawn,
        CrlReason::AaCompromise,
    ];
    record(ledger, (1..).take(reasons.len()).map(issued));
    for (reason, n) in reasons.into_iter().zip(1..) {
        let revoked = Entry {
            issued: issued(n),
            state: State::Revoked(revocation(30 + n, reason)),
        };
        let known = ledger.revoke(&number(n), &revocation(30 + n, reason));
        let known = known.unwrap();
        assert_eq!(
            (known.entry, known.change),
            (revoked.clone(), Change::Revoked)
        );
        assert_eq!(ledger.entry(&number(n)).unwrap(), Some(revoked));
    }
}

pub fn the_first_revocation_counts(ledger: &impl Ledger) {
    for (n, (first, later)) in (1..).zip([
        (CrlReason::KeyCompromise, CrlReason::Superseded),
        (CrlReason::KeyCompromise, CrlReason::KeyCompromise),
        (CrlReason::KeyCompromise, CrlReason::CertificateHold),
        (CrlReason::CaCompromise, CrlReason::KeyCompromise),
        (CrlReason::Superseded, CrlReason::CessationOfOperation),
        (CrlReason::Superseded, CrlReason::CertificateHold),
        (CrlReason::Unspecified, CrlReason::Unspecified),
    ]) {
        record(ledger, [issued(n)]);
        let first = revocation(30, first);
        ledger.revoke(&number(n), &first).unwrap();
        let known = ledger.revoke(&number(n), &revocation(40, later)).unwrap();
        assert_eq!(known.entry.revocation(), Some(&first), "{later:?}");
        assert_eq!(known.change, Change::Unchanged);
        assert_eq!(ledger.entry(&number(n)).unwrap(), Some(known.entry));
    }
}

/// The CA/Browser Forum's Baseline Requirements ask for this in section 7.2.2.
pub fn a_compromise_takes_the_place_of_another_reason(ledger: &impl Ledger) {
    record(ledger, (1..=2).map(issued));
    let first = revocation(30, CrlReason::Superseded);
    let known = next_list(ledger, "issuing", 35);
    assert_eq!(known, (1, vec![]));
    for n in [1, 2] {
        ledger.revoke(&number(n), &first).unwrap();
    }
    for (n, at, since) in [(1, 40, 30), (2, 20, 20)] {
        let compromise = revocation(at, CrlReason::KeyCompromise);
        let known = ledger.revoke(&number(n), &compromise).unwrap();
        // It was invalid since the earlier time.
        let since = revocation(since, CrlReason::KeyCompromise);
        assert_eq!(known.entry.revocation(), Some(&since));
        assert_eq!(known.change, Change::Updated(first.clone()));
        assert_eq!(ledger.entry(&number(n)).unwrap(), Some(known.entry));
    }
    let on_list = [(1, 30), (2, 20)]
        .map(|(n, since)| (number(n), revocation(since, CrlReason::KeyCompromise)));
    assert_eq!(next_list(ledger, "issuing", 50), (2, on_list.to_vec()));
    assert_eq!(found(ledger, Filter::all().revoked()), [1, 2]);
}

pub fn a_compromise_may_be_older_than_was_known(ledger: &impl Ledger) {
    record(ledger, [issued(1)]);
    let first = revocation(30, CrlReason::KeyCompromise);
    ledger.revoke(&number(1), &first).unwrap();
    let older = revocation(25, CrlReason::KeyCompromise);
    let known = ledger.revoke(&number(1), &older).unwrap();
    assert_eq!(known.entry.revocation(), Some(&older));
    assert_eq!(known.change, Change::Updated(first));
}

pub fn what_was_changed_is_said_for_each(ledger: &impl Ledger) {
    record(ledger, (1..=3).map(issued));
    let hold = revocation(30, CrlReason::CertificateHold);
    ledger.revoke(&number(2), &hold).unwrap();
    let last = revocation(40, CrlReason::Superseded);
    ledger.revoke(&number(3), &last).unwrap();
    let revoked = ledger.revoke_if(&[3, 1, 2].map(number), &last, &[]);
    let said: Vec<_> = revoked
        .unwrap()
        .into_iter()
        .map(|Revoked { entry, change }| (entry.issued.serial_number, change))
        .collect();
    assert_eq!(
        said,
        [
            (number(3), Change::Unchanged),
            (number(1), Change::Revoked),
            (number(2), Change::Updated(hold)),
        ]
    );
}

pub fn conditions_are_checked_with_the_change(ledger: &impl Ledger) {
    record(ledger, (1..=4).map(issued));
    record(ledger, (6..=7).map(issued));
    let compromise = revocation(25, CrlReason::KeyCompromise);
    ledger.revoke(&number(7), &compromise).unwrap();
    let hold = revocation(30, CrlReason::CertificateHold);
    ledger.revoke(&number(2), &hold).unwrap();
    let superseded = revocation(30, CrlReason::Superseded);
    ledger.revoke(&number(3), &superseded).unwrap();
    let before = find(ledger, &Filter::all());
    let (valid, on_hold, revoked, unknown) = (number(1), number(2), number(3), number(9));
    let all = Filter::all();
    let (by_issuing, by_root) = (
        Filter::all().issuer("issuing"),
        Filter::all().issuer("root"),
    );
    let without = |n: u64| {
        [1, 2, 3, 4, 6, 7]
            .into_iter()
            .filter(move |one| *one != n)
            .map(number)
    };
    let (known, of_others) = (
        BTreeSet::from_iter(without(9)),
        BTreeSet::from_iter(without(6)),
    );
    let none = BTreeSet::new();
    let wrong = [
        (Condition::NoOthers(&all, &of_others), 4),
        (Condition::NoOthers(&by_issuing, &none), 4),
        (Condition::IssuedBy(&valid, "root"), 0),
        (Condition::IssuedBy(&on_hold, "issuin"), 0),
        (Condition::NotRevoked(&on_hold), 1),
        (Condition::NotRevoked(&revoked), 1),
        (Condition::IssuerNotRevoked(&on_hold), 3),
        (Condition::IssuerNotRevoked(&revoked), 3),
        (Condition::IssuerKeyNotCompromised(&key(7)), 3),
        (Condition::NotRevoked(&unknown), 2),
        (Condition::IssuedBy(&unknown, "issuing"), 2),
    ];
    for (condition, kind) in wrong {
        // Each one counts, not only the first or the last.
        for conditions in [
            [condition, Condition::NotRevoked(&valid)],
            [Condition::NotRevoked(&valid), condition],
        ] {
            for error in [
                ledger
                    .record_if(&[new_entry(issued(5))], &conditions)
                    .unwrap_err(),
                ledger
                    .revoke_if(&[number(4)], &superseded, &conditions)
                    .unwrap_err(),
                ledger
                    .reinstate_if(&on_hold, at(40), "somebody", &conditions)
                    .unwrap_err(),
            ] {
                let found = match error {
                    LedgerError::AnotherIssuers { .. } => 0,
                    LedgerError::Revoked { .. } => 1,
                    LedgerError::Unknown(_) => 2,
                    LedgerError::IssuerRevoked { .. } => 3,
                    LedgerError::RecordedMeanwhile => 4,
                    error => panic!("{error}"),
                };
                assert_eq!(found, kind, "{condition:?}");
            }
        }
    }
    assert_eq!(find(ledger, &Filter::all()), before);
    let right = [
        Condition::IssuedBy(&valid, "issuing"),
        Condition::NotRevoked(&valid),
        Condition::IssuerNotRevoked(&valid),
        // Another CA's ledger has it.
        Condition::IssuerNotRevoked(&unknown),
        Condition::IssuerKeyNotCompromised(&key(6)),
        // It was revoked for another reason, and its key may be in use elsewhere.
        Condition::IssuerKeyNotCompromised(&key(3)),
        Condition::IssuerKeyNotCompromised(&key(9)),
        Condition::NoOthers(&by_root, &none),
    ];
    let looked = [Condition::NoOthers(&all, &known)];
    ledger.revoke_if(&[], &superseded, &looked).unwrap();
    ledger.record_if(&[new_entry(issued(5))], &right).unwrap();
    ledger.revoke_if(&[number(4)], &superseded, &right).unwrap();
    ledger
        .reinstate_if(&on_hold, at(40), "somebody", &right)
        .unwrap();
    assert_eq!(found(ledger, Filter::all().revoked()), [3, 4, 7]);
}

pub fn all_of_a_call_are_revoked_or_none(ledger: &impl Ledger) {
    record(ledger, (1..=4).map(issued));
    let first = revocation(30, CrlReason::KeyCompromise);
    ledger.revoke(&number(2), &first).unwrap();
    let all = revocation(40, CrlReason::Superseded);
    let error = ledger
        .revoke_if(&[1, 2, 5].map(number), &all, &[])
        .unwrap_err();
    assert!(matches!(error, LedgerError::Unknown(unknown) if unknown == number(5)));
    assert_eq!(found(ledger, Filter::all().revoked()), [2]);
    assert_eq!(ledger.revoke_if(&[], &all, &[]).unwrap(), []);
    ledger
        .revoke_if(&[3, 1, 2, 3].map(number), &all, &[])
        .unwrap();
    let on_list = [(1, &all), (2, &first), (3, &all)];
    let on_list = on_list.map(|(n, revocation)| (number(n), revocation.clone()));
    assert_eq!(next_list(ledger, "issuing", 100), (1, on_list.to_vec()));
    assert_eq!(found(ledger, Filter::all().valid()), [4]);
}

pub fn a_hold_may_become_final(ledger: &impl Ledger) {
    record(ledger, (1..=2).map(issued));
    for (n, reason) in [(1, CrlReason::KeyCompromise), (2, CrlReason::Superseded)] {
        let hold = revocation(30, CrlReason::CertificateHold);
        ledger.revoke(&number(n), &hold).unwrap();
        let again = ledger.revoke(&number(n), &revocation(40, CrlReason::CertificateHold));
        let again = again.unwrap();
        assert_eq!(again.entry.revocation(), Some(&hold));
        assert_eq!(again.change, Change::Unchanged);
        let known = ledger.revoke(&number(n), &revocation(50, reason)).unwrap();
        // What was signed while it was on hold stays invalid.
        assert_eq!(known.entry.revocation(), Some(&revocation(30, reason)));
        assert_eq!(known.change, Change::Updated(hold));
        let error = ledger
            .reinstate(&number(n), at(60), "somebody")
            .unwrap_err();
        assert!(matches!(error, LedgerError::NotOnHold(_)));
    }
}

pub fn a_hold_may_be_released_and_nothing_else(ledger: &impl Ledger) {
    record(ledger, [issued(1)]);
    let error = ledger
        .reinstate(&number(1), at(25), "somebody")
        .unwrap_err();
    assert!(matches!(error, LedgerError::NotOnHold(valid) if valid == number(1)));
    for round in 0..2 {
        let hold = revocation(30 + round, CrlReason::CertificateHold);
        ledger.revoke(&number(1), &hold).unwrap();
        let known = ledger.reinstate(&number(1), at(40), "somebody").unwrap();
        assert_eq!(known, entry(issued(1)));
        assert_eq!(ledger.entry(&number(1)).unwrap(), Some(known));
    }
}

pub fn remove_from_crl_is_no_reason(ledger: &impl Ledger) {
    record(ledger, [issued(1)]);
    let removal = revocation(30, CrlReason::RemoveFromCRL);
    let error = ledger.revoke(&number(1), &removal).unwrap_err();
    assert!(matches!(error, LedgerError::NotAReason));
    assert_eq!(ledger.entry(&number(1)).unwrap(), Some(entry(issued(1))));
}

/// Of whatever reason: a revocation that a clock ahead gave a time in the future is of the right time later.
pub fn the_time_of_a_revocation_may_be_corrected(ledger: &impl Ledger) {
    for (n, reason) in (1..).zip([
        CrlReason::KeyCompromise,
        CrlReason::Superseded,
        CrlReason::CertificateHold,
    ]) {
        record(ledger, [issued(n)]);
        let ahead = revocation(u64::from(u32::MAX), reason);
        ledger.revoke(&number(n), &ahead).unwrap();
        let again = ledger.revoke(&number(n), &revocation(40, reason)).unwrap();
        let right = revocation(40, reason);
        assert_eq!(again.entry.revocation(), Some(&right));
        assert_eq!(again.change, Change::Updated(ahead));
        // A hold, or no reason, corrects the time, and takes no reason away.
        let hold = revocation(30, CrlReason::CertificateHold);
        let again = ledger.revoke(&number(n), &hold).unwrap();
        assert_eq!(again.entry.revocation(), Some(&revocation(30, reason)));
    }
}
