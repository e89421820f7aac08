//! What stands on revocation lists, and how they are numbered.
#![allow(missing_docs, reason = "the name of each test says what it checks")]

use pq_x509::revocation::CrlReason;

use super::values::{
    at, found, issued, kept_and, lost_list, next_list, number, record, revocation,
};
use crate::ledger::{Filter, GREATEST_NUMBER, Issued, Ledger, LedgerError};

pub fn lists_are_numbered_for_each_issuer(ledger: &impl Ledger) {
    assert_eq!(next_list(ledger, "issuing", 100), (1, vec![]));
    assert_eq!(next_list(ledger, "issuing", 100), (2, vec![]));
    assert_eq!(next_list(ledger, "root", 100), (1, vec![]));
    assert_eq!(next_list(ledger, "issuing", 101), (3, vec![]));
    assert_eq!(next_list(ledger, "root", 101), (2, vec![]));
}

/// As after an older backup was put in the ledger's place.
pub fn lists_get_numbers_that_are_given(ledger: &impl Ledger) {
    record(ledger, [issued(1)]);
    ledger
        .revoke(&number(1), &revocation(30, CrlReason::Superseded))
        .unwrap();
    let list = |given: Option<u64>| {
        let mut shown = 0;
        let list = ledger.numbered_list("issuing", given, at(100), &mut |_, _| shown += 1);
        list.map(|number| (number, shown))
    };
    assert_eq!(list(Some(7)).unwrap(), (7, 1));
    for not_above in [0, 1, 7, GREATEST_NUMBER + 1, u64::MAX] {
        let error = list(Some(not_above)).unwrap_err();
        let is_told = matches!(error, LedgerError::NotAboveLists { number, last: 7, .. } if number == not_above);
        assert!(is_told, "{error}");
        assert!(error.changed_nothing());
    }
    assert_eq!(list(None).unwrap(), (8, 1));
    ledger.check_list("issuing", 8).unwrap();
    ledger.confirm_list("issuing", 8, at(100)).unwrap();
    assert_eq!(next_list(ledger, "root", 100).0, 1);
    assert_eq!(list(Some(GREATEST_NUMBER)).unwrap(), (GREATEST_NUMBER, 1));
    assert_eq!(list(None).unwrap(), (GREATEST_NUMBER + 1, 1));
}

pub fn lists_have_what_their_issuer_revoked(ledger: &impl Ledger) {
    let by_root = Issued {
        issuer: "root".into(),
        ..issued(4)
    };
    record(ledger, (1..=3).map(issued).chain([by_root]));
    let first = revocation(30, CrlReason::KeyCompromise);
    let second = revocation(40, CrlReason::Superseded);
    ledger.revoke(&number(1), &first).unwrap();
    ledger.revoke(&number(4), &second).unwrap();
    let one = (number(1), first);
    let four = (number(4), second.clone());
    assert_eq!(next_list(ledger, "issuing", 100), (1, vec![one.clone()]));
    ledger.revoke(&number(3), &second).unwrap();
    let three = (number(3), second);
    assert_eq!(next_list(ledger, "issuing", 100), (2, vec![one, three]));
    assert_eq!(next_list(ledger, "root", 100), (1, vec![four]));
    assert_eq!(next_list(ledger, "other", 100), (1, vec![]));
}

pub fn a_list_has_what_expired_until_it_was_long_ago(ledger: &impl Ledger) {
    record(ledger, [issued(1)]);
    let revoked = revocation(30, CrlReason::KeyCompromise);
    let on_list = [(number(1), revoked.clone())];
    ledger.revoke(&number(1), &revoked).unwrap();
    // As many lists as there may be soon after its expiry; the last one after that time has it once more.
    for (list, time) in (1..).zip([1000, 1001, 1002, 1003, kept_and(0), kept_and(1)]) {
        assert_eq!(
            next_list(ledger, "issuing", time),
            (list, on_list.to_vec()),
            "{time}"
        );
    }
    assert_eq!(next_list(ledger, "issuing", kept_and(1)), (7, vec![]));
    assert_eq!(next_list(ledger, "issuing", kept_and(2)), (8, vec![]));
    assert_eq!(found(ledger, Filter::all().revoked()), [1]);
}

pub fn a_list_that_was_not_written_leaves_out_nothing(ledger: &impl Ledger) {
    record(ledger, [issued(1)]);
    let revoked = revocation(30, CrlReason::KeyCompromise);
    let on_list = [(number(1), revoked.clone())];
    ledger.revoke(&number(1), &revoked).unwrap();
    assert_eq!(next_list(ledger, "issuing", 500), (1, on_list.to_vec()));
    for list in 2..5 {
        let late = kept_and(list);
        assert_eq!(lost_list(ledger, "issuing", late), (list, on_list.to_vec()));
    }
    // Another issuer's counts for itself.
    next_list(ledger, "root", kept_and(5));
    let late = kept_and(6);
    assert_eq!(next_list(ledger, "issuing", late), (5, on_list.to_vec()));
    assert_eq!(next_list(ledger, "issuing", late), (6, vec![]));
    // An earlier one that is written later is refused, takes nothing back, and puts off nothing.
    let error = ledger.confirm_list("issuing", 2, at(600)).unwrap_err();
    assert!(
        matches!(
            error,
            LedgerError::LaterList {
                number: 2,
                later: 6,
                is_written: true,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(lost_list(ledger, "issuing", late), (7, vec![]));
}

pub fn only_lists_that_were_numbered_are_written(ledger: &impl Ledger) {
    next_list(ledger, "issuing", 100);
    for (issuer, list) in [("issuing", 0), ("issuing", 2), ("root", 1)] {
        let error = ledger.confirm_list(issuer, list, at(100)).unwrap_err();
        assert!(
            matches!(error, LedgerError::UnknownList { number, .. } if number == list),
            "{error}"
        );
    }
}

pub fn a_list_is_outdated_once_a_later_one_was_begun(ledger: &impl Ledger) {
    let next = || lost_list(ledger, "issuing", 100).0;
    let later_of = |error: LedgerError| match error {
        LedgerError::LaterList {
            issuer,
            later,
            is_written,
            ..
        } => (issuer, later, is_written),
        other => panic!("{other}"),
    };
    let (first, second) = (next(), next());
    next_list(ledger, "root", 100);
    next_list(ledger, "root", 100);
    next_list(ledger, "root", 100);
    ledger.check_list("issuing", second).unwrap();
    let error = ledger.check_list("issuing", first).unwrap_err();
    assert_eq!(later_of(error), ("issuing".into(), second, false));
    // Written it can be, as long as the later one is not: so it may have been meanwhile.
    ledger.confirm_list("issuing", first, at(100)).unwrap();
    for _ in 0..2 {
        ledger.confirm_list("issuing", second, at(100)).unwrap();
    }
    let error = ledger.confirm_list("issuing", first, at(100)).unwrap_err();
    assert_eq!(later_of(error), ("issuing".into(), second, true));
    ledger.check_list("issuing", second).unwrap();
    for (issuer, list) in [("issuing", 0), ("issuing", second + 1), ("other", 1)] {
        let error = ledger.check_list(issuer, list).unwrap_err();
        assert!(matches!(error, LedgerError::UnknownList { .. }), "{error}");
    }
}

pub fn what_was_revoked_late_is_on_a_list_once(ledger: &impl Ledger) {
    record(ledger, (1..=2).map(issued));
    let revoked = revocation(30, CrlReason::KeyCompromise);
    let on_list = |n| (number(n), revoked.clone());
    // This one was on no list before.
    ledger.revoke(&number(1), &revoked).unwrap();
    let list = next_list(ledger, "issuing", kept_and(10));
    assert_eq!(list, (1, vec![on_list(1)]));
    assert_eq!(next_list(ledger, "issuing", kept_and(11)), (2, vec![]));
    // And this one was revoked after a list that was made long after its expiry.
    ledger.revoke(&number(2), &revoked).unwrap();
    let list = next_list(ledger, "issuing", kept_and(12));
    assert_eq!(
        list,
        (3, vec![on_list(2)]),
        "a list that was numbered before the revocation doesn't count"
    );
    assert_eq!(next_list(ledger, "issuing", kept_and(13)), (4, vec![]));
}

pub fn a_list_has_no_longer_what_was_released(ledger: &impl Ledger) {
    record(ledger, [issued(1)]);
    let hold = revocation(30, CrlReason::CertificateHold);
    ledger.revoke(&number(1), &hold).unwrap();
    assert_eq!(
        next_list(ledger, "issuing", 100),
        (1, vec![(number(1), hold.clone())])
    );
    ledger.reinstate(&number(1), at(110), "somebody").unwrap();
    assert_eq!(next_list(ledger, "issuing", 120), (2, vec![]));
    ledger.revoke(&number(1), &hold).unwrap();
    assert_eq!(
        next_list(ledger, "issuing", 130),
        (3, vec![(number(1), hold)])
    );
}
