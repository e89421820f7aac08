//! What was recorded is there, once and as it was, or the call changed nothing.
#![allow(missing_docs, reason = "the name of each test says what it checks")]

use pq_x509::revocation::CrlReason;

use super::values::{
    at, entry, find, found, issued, key, new_entry, next_list, number, record, revocation,
};
use crate::ledger::{
    AHEAD, AdoptedEntry, Filter, Issued, Ledger, LedgerError, NewEntry, Revocation,
};

pub fn what_was_recorded_is_found_by_its_number(ledger: &impl Ledger) {
    record(ledger, [issued(1)]);
    record(ledger, [issued(2), issued(3)]);
    for n in 1..=3 {
        assert_eq!(ledger.entry(&number(n)).unwrap(), Some(entry(issued(n))));
    }
}

pub fn certificates_come_back_byte_by_byte(ledger: &impl Ledger) {
    let certificates: Vec<Vec<u8>> = vec![vec![], vec![0], vec![0xff; 100_000]];
    let entries: Vec<_> = certificates
        .iter()
        .zip(1..)
        .map(|(certificate, n)| NewEntry {
            certificate: certificate.as_slice().into(),
            issued: issued(n),
        })
        .collect();
    ledger.record(&entries).unwrap();
    record(ledger, [issued(4)]);
    for (certificate, n) in certificates.iter().zip(1..) {
        let kept = ledger.certificate(&number(n)).unwrap().unwrap();
        assert_eq!(kept.as_ref(), certificate);
    }
    let kept = ledger.certificate(&number(4)).unwrap();
    assert_eq!(kept, Some(new_entry(issued(4)).certificate));
}

pub fn a_serial_number_is_taken_once(ledger: &impl Ledger) {
    record(ledger, [issued(1)]);
    let other = Issued {
        issuer: "root".into(),
        ..issued(1)
    };
    let error = ledger.record(&[new_entry(other)]).unwrap_err();
    assert!(matches!(error, LedgerError::SerialNumberTaken(taken) if taken == number(1)));
    assert_eq!(ledger.entry(&number(1)).unwrap(), Some(entry(issued(1))));
}

pub fn all_of_a_call_are_recorded_or_none(ledger: &impl Ledger) {
    record(ledger, [issued(2)]);
    for twice in [
        [issued(1), issued(2), issued(3)],
        [issued(1), issued(3), issued(3)],
    ] {
        let entries = twice.map(new_entry);
        let error = ledger.record(&entries).unwrap_err();
        assert!(matches!(error, LedgerError::SerialNumberTaken(_)));
        assert_eq!(found(ledger, Filter::all()), [2]);
    }
    record(ledger, [issued(1), issued(3)]);
    assert_eq!(found(ledger, Filter::all()), [1, 2, 3]);
}

pub fn what_was_issued_earlier_is_adopted(ledger: &impl Ledger) {
    record(ledger, [issued(1), issued(2)]);
    let compromise = revocation(30, CrlReason::KeyCompromise);
    ledger.revoke(&number(1), &compromise).unwrap();
    for (entries, is_expected) in [
        (vec![], true),
        (vec![issued(3)], true),
        (vec![issued(4), issued(2)], false),
        (vec![issued(4), issued(4)], false),
    ] {
        let entries: Vec<_> = entries.into_iter().map(valid).collect();
        match ledger.adopt(&entries) {
            Ok(()) => assert!(is_expected),
            Err(LedgerError::SerialNumberTaken(_)) => assert!(!is_expected),
            Err(error) => panic!("{error}"),
        }
    }
    let same_key = Issued {
        key: key(1),
        ..issued(4)
    };
    let error = ledger.adopt(&[valid(same_key)]).unwrap_err();
    assert!(matches!(error, LedgerError::KeyCompromised(of) if of == number(1)));
    // Also if it becomes known with it, in whatever order.
    let compromised = revoked(issued(5), &compromise);
    let same_key = valid(Issued {
        key: key(5),
        ..issued(4)
    });
    let mut both = [compromised, same_key];
    for _ in 0..2 {
        let error = ledger.adopt(&both).unwrap_err();
        assert!(matches!(error, LedgerError::KeyCompromised(of) if of == number(5)));
        both.reverse();
    }
    assert_eq!(ledger.entry(&number(3)).unwrap(), Some(entry(issued(3))));
    let kept = ledger.certificate(&number(3)).unwrap();
    assert_eq!(kept, Some(new_entry(issued(3)).certificate));
    assert_eq!(found(ledger, Filter::all()), [1, 2, 3]);
    assert_eq!(
        next_list(ledger, "issuing", 40),
        (1, vec![(number(1), compromise)])
    );
}

fn valid(issued: Issued) -> AdoptedEntry<'static> {
    AdoptedEntry {
        entry: new_entry(issued),
        revocation: None,
    }
}

fn revoked(issued: Issued, revocation: &Revocation) -> AdoptedEntry<'static> {
    AdoptedEntry {
        revocation: Some(revocation.clone()),
        ..valid(issued)
    }
}

/// Also of a compromised key, and of a time that says nothing of today's.
pub fn what_is_adopted_is_revoked_with_it(ledger: &impl Ledger) {
    let far = AHEAD.as_secs() * 3;
    record(ledger, [issued(1)]);
    let compromise = revocation(30, CrlReason::KeyCompromise);
    ledger.revoke(&number(1), &compromise).unwrap();
    let earlier = [2, 3].map(|n| Issued {
        key: key(1),
        not_before: at(if n == 2 { 10 } else { far }),
        at: at(if n == 2 { 10 } else { far }),
        not_after: at(far + n),
        ..issued(n)
    });
    let removal = revocation(40, CrlReason::RemoveFromCRL);
    let last = revocation(40, CrlReason::Superseded);
    let [second, third] = earlier.clone();
    let entries = [revoked(second, &last), revoked(third.clone(), &removal)];
    let error = ledger.adopt(&entries).unwrap_err();
    assert!(matches!(error, LedgerError::NotAReason));
    assert_eq!(ledger.entry(&number(2)).unwrap(), None);
    // Each has its own, and one has none.
    let hold = revocation(35, CrlReason::CertificateHold);
    let [second, _] = entries;
    ledger
        .adopt(&[second, revoked(third, &hold), valid(issued(4))])
        .unwrap();
    let kept = [(&last, 40), (&hold, far)];
    for (issued, (revocation, time)) in earlier.into_iter().zip(kept) {
        let known = ledger.entry(&issued.serial_number).unwrap().unwrap();
        let revoked = Revocation {
            at: at(time),
            ..revocation.clone()
        };
        assert_eq!(known.revocation(), Some(&revoked));
        assert_eq!(known.issued, issued);
    }
    assert_eq!(ledger.entry(&number(4)).unwrap(), Some(entry(issued(4))));
    let (list, shown) = next_list(ledger, "issuing", 50);
    let numbers: Vec<_> = shown.iter().map(|(number, _)| *number).collect();
    assert_eq!((list, numbers), (1, vec![number(1), number(2), number(3)]));
}

pub fn nothing_can_be_recorded(ledger: &impl Ledger) {
    ledger.record(&[]).unwrap();
    assert_eq!(find(ledger, &Filter::all()), []);
}

pub fn what_is_unknown_is_not_there(ledger: &impl Ledger) {
    record(ledger, [issued(1)]);
    assert_eq!(ledger.entry(&number(2)).unwrap(), None);
    assert_eq!(ledger.certificate(&number(2)).unwrap(), None);
    let by_key = revocation(30, CrlReason::KeyCompromise);
    for error in [
        ledger.revoke(&number(2), &by_key).unwrap_err(),
        ledger
            .reinstate(&number(2), at(30), "somebody")
            .unwrap_err(),
    ] {
        assert!(matches!(error, LedgerError::Unknown(unknown) if unknown == number(2)));
    }
    assert_eq!(find(ledger, &Filter::all()), [entry(issued(1))]);
}

pub fn texts_may_be_of_any_characters(ledger: &impl Ledger) {
    let long = "x".repeat(10_000);
    let texts = ["", "\0", "\0\0", "ü\n\u{ff}", "a\0\0b", long.as_str()];
    for (text, n) in texts.into_iter().zip(1..) {
        let odd = Issued {
            issuer: text.into(),
            subject: text.into(),
            names: vec![text.into(), format!("{text}.{text}")],
            profile: text.into(),
            key_algorithm: text.into(),
            by: text.into(),
            ..issued(n)
        };
        record(ledger, [odd.clone()]);
        assert_eq!(ledger.entry(&number(n)).unwrap(), Some(entry(odd.clone())));
        assert_eq!(find(ledger, &Filter::all().issuer(text)), [entry(odd)]);
        let revoked = revocation(30, CrlReason::Superseded);
        ledger.revoke(&number(n), &revoked).unwrap();
        assert_eq!(
            next_list(ledger, text, 100),
            (1, vec![(number(n), revoked)])
        );
    }
}
