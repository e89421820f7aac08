//! Keys that others may know are certified no more, alone or as halves of others.
#![allow(missing_docs, reason = "the name of each test says what it checks")]

use pq_x509::revocation::CrlReason;

use super::values::{at, found, issued, key, new_entry, number, record, revocation};
use crate::ledger::{Filter, Issued, Ledger, LedgerError};

pub fn a_compromised_key_is_not_certified_again(ledger: &impl Ledger) {
    let reasons = [
        CrlReason::KeyCompromise,
        CrlReason::CaCompromise,
        CrlReason::AaCompromise,
    ];
    for (reason, n) in reasons.into_iter().zip((10..).step_by(10)) {
        let again = |n, of| {
            new_entry(Issued {
                key: key(of),
                issuer: "root".into(),
                ..issued(n)
            })
        };
        // Two certificates for one key, of which one is revoked, and then another reason for the other.
        record(ledger, [issued(n)]);
        ledger.record(&[again(n + 1, n)]).unwrap();
        ledger.revoke(&number(n), &revocation(30, reason)).unwrap();
        ledger
            .revoke(&number(n + 1), &revocation(40, CrlReason::Superseded))
            .unwrap();
        for entries in [
            vec![again(n + 2, n)],
            vec![new_entry(issued(n + 3)), again(n + 2, n)],
        ] {
            let error = ledger.record(&entries).unwrap_err();
            assert!(
                matches!(error, LedgerError::KeyCompromised(known) if known == number(n)),
                "{error}"
            );
        }
        assert_eq!(ledger.entry(&number(n + 2)).unwrap(), None);
        assert_eq!(ledger.entry(&number(n + 3)).unwrap(), None);
        record(ledger, [issued(n + 3)]);
    }
}

pub fn a_key_of_another_reason_is_certified_again(ledger: &impl Ledger) {
    record(ledger, (1..=2).map(issued));
    for (n, reason) in [(1, CrlReason::Superseded), (2, CrlReason::CertificateHold)] {
        ledger.revoke(&number(n), &revocation(30, reason)).unwrap();
        record(
            ledger,
            [Issued {
                key: key(n),
                ..issued(n + 10)
            }],
        );
    }
    // It was found compromised later.
    ledger
        .revoke(&number(1), &revocation(40, CrlReason::KeyCompromise))
        .unwrap();
    let again = Issued {
        key: key(1),
        ..issued(20)
    };
    let error = ledger.record(&[new_entry(again)]).unwrap_err();
    assert!(matches!(error, LedgerError::KeyCompromised(_)), "{error}");
}

pub fn a_compromised_half_is_not_certified_again(ledger: &impl Ledger) {
    // Of two composite keys and two simple ones, by the digests that they have
    let with = |n, of: u64, halves: &[u64]| Issued {
        key: key(of),
        halves: halves.iter().map(|half| key(*half)).collect(),
        ..issued(n)
    };
    record(ledger, [with(1, 100, &[101, 102]), with(2, 102, &[])]);
    let filter = Filter::all().keys([key(102)]);
    assert_eq!(found(ledger, filter), [1, 2]);
    let revoked = revocation(30, CrlReason::KeyCompromise);
    ledger.revoke(&number(1), &revoked).unwrap();
    for (of, halves) in [
        (100, &[][..]),
        (101, &[]),
        (102, &[]),
        (200, &[201, 102]),
        (200, &[101, 202]),
    ] {
        let again = ledger.record(&[new_entry(with(3, of, halves))]);
        let error = again.unwrap_err();
        assert!(matches!(error, LedgerError::KeyCompromised(known) if known == number(1)));
    }
    record(ledger, [with(4, 200, &[201, 202])]);
    // And a simple key that is a half later
    ledger
        .revoke(&number(4), &revocation(30, CrlReason::Superseded))
        .unwrap();
    record(ledger, [with(5, 201, &[])]);
    ledger.revoke(&number(5), &revoked).unwrap();
    let error = ledger.record(&[new_entry(with(6, 200, &[201, 202]))]);
    let error = error.unwrap_err();
    assert!(matches!(error, LedgerError::KeyCompromised(known) if known == number(5)));
}

pub fn what_is_for_a_compromised_key_stays_on_hold(ledger: &impl Ledger) {
    let same_key = |n| Issued {
        key: key(1),
        ..issued(n)
    };
    record(ledger, [same_key(1), same_key(2), issued(3)]);
    let hold = revocation(30, CrlReason::CertificateHold);
    for n in 1..=3 {
        ledger.revoke(&number(n), &hold).unwrap();
    }
    let compromise = revocation(40, CrlReason::KeyCompromise);
    ledger.revoke(&number(1), &compromise).unwrap();
    let error = ledger.reinstate(&number(2), at(50), "bob").unwrap_err();
    assert!(
        matches!(error, LedgerError::KeyCompromised(other) if other == number(1)),
        "{error}"
    );
    let kept = ledger.entry(&number(2)).unwrap().unwrap();
    assert_eq!(kept.revocation(), Some(&hold));
    ledger.reinstate(&number(3), at(50), "bob").unwrap();
}

pub fn compromised_keys_are_known(ledger: &impl Ledger) {
    record(ledger, (1..=3).map(issued));
    let superseded = revocation(30, CrlReason::Superseded);
    ledger.revoke(&number(1), &superseded).unwrap();
    let compromise = revocation(30, CrlReason::CaCompromise);
    ledger.revoke(&number(2), &compromise).unwrap();
    for (n, known) in [(1, None), (2, Some(number(2))), (3, None), (4, None)] {
        assert_eq!(ledger.compromised(&key(n)).unwrap(), known);
    }
}

pub fn certificates_are_found_by_their_keys(ledger: &impl Ledger) {
    let same = Issued {
        key: key(1),
        ..issued(4)
    };
    record(ledger, (1..=3).map(issued).chain([same]));
    assert_eq!(found(ledger, Filter::all().keys([key(1)])), [1, 4]);
    let two = Filter::all().keys([key(3), key(1)]);
    assert_eq!(found(ledger, two), [1, 3, 4]);
    assert_eq!(found(ledger, Filter::all().keys([])), []);
}
