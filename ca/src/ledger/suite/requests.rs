//! A request gets one certificate, and how certificates came about is kept.
#![allow(missing_docs, reason = "the name of each test says what it checks")]

use std::thread;

use pq_x509::revocation::CrlReason;

use super::Place;
use super::values::{
    entry, find, found, issued, new_entry, number, record, request, requested, revocation,
};
use crate::ledger::{
    AdoptedEntry, Entry, Evidence, Filter, Issued, Ledger, LedgerError, RequestId, State,
};

pub fn how_a_certificate_came_about_is_kept(ledger: &impl Ledger) {
    let whole = requested(1, request(1));
    let by_policy = Issued {
        request: None,
        evidence: None,
        ..requested(3, request(3))
    };
    let on_evidence = Issued {
        request: None,
        policy: None,
        evidence: Some(Evidence::new("x".repeat(Evidence::MAX_LEN)).unwrap()),
        ..issued(4)
    };
    record(ledger, [whole.clone(), issued(2)]);
    record(ledger, [by_policy.clone()]);
    record(ledger, [on_evidence.clone()]);
    let all = [whole.clone(), issued(2), by_policy, on_evidence];
    assert_eq!(find(ledger, &Filter::all()), all.map(entry));
    // It never changes.
    let revoked = revocation(30, CrlReason::CertificateHold);
    ledger.revoke(&number(1), &revoked).unwrap();
    let known = ledger.entry(&number(1)).unwrap().unwrap();
    assert_eq!(
        (known.revocation(), &known.issued),
        (Some(&revoked), &whole)
    );
}

pub fn a_request_is_answered_once(ledger: &impl Ledger) {
    assert_eq!(ledger.of_request(&request(1)).unwrap(), None);
    record(ledger, [requested(1, request(1))]);
    let is_taken = |done: Result<(), LedgerError>, of: RequestId, by: u64| match done {
        Err(LedgerError::RequestTaken {
            request: taken,
            number: has_it,
        }) => assert_eq!((taken, has_it), (of, number(by))),
        other => panic!("{other:?}"),
    };
    let one = |issued| ledger.record(&[new_entry(issued)]);
    is_taken(one(requested(2, request(1))), request(1), 1);
    // All of a call, or nothing.
    let several = [
        issued(2),
        requested(3, request(3)),
        requested(4, request(1)),
    ];
    is_taken(ledger.record(&several.map(new_entry)), request(1), 1);
    let twice = [requested(2, request(2)), requested(3, request(2))];
    is_taken(ledger.record(&twice.map(new_entry)), request(2), 2);
    let adopted = AdoptedEntry {
        entry: new_entry(requested(2, request(1))),
        revocation: Some(revocation(30, CrlReason::Superseded)),
    };
    is_taken(ledger.adopt(&[adopted]), request(1), 1);
    is_taken(
        ledger.change_generations(&[], &[], &[new_entry(requested(2, request(1)))], &[]),
        request(1),
        1,
    );
    assert_eq!(found(ledger, Filter::all()), [1]);
    for n in [2, 3] {
        assert_eq!(ledger.of_request(&request(n)).unwrap(), None);
    }
    record(ledger, [requested(2, request(2)), requested(3, request(3))]);
    for n in 1..=3 {
        let known = ledger.of_request(&request(n)).unwrap();
        assert_eq!(known, Some(entry(requested(n.into(), request(n)))));
    }
}

pub fn a_request_keeps_a_certificate_that_was_revoked(ledger: &impl Ledger) {
    let revoked = revocation(30, CrlReason::Superseded);
    ledger
        .adopt(&[AdoptedEntry {
            entry: new_entry(requested(1, request(1))),
            revocation: Some(revoked.clone()),
        }])
        .unwrap();
    let known = Entry {
        issued: requested(1, request(1)),
        state: State::Revoked(revoked),
    };
    assert_eq!(ledger.of_request(&request(1)).unwrap(), Some(known));
    let again = ledger.record(&[new_entry(requested(2, request(1)))]);
    assert!(matches!(again, Err(LedgerError::RequestTaken { .. })));
}

/// Looking first and recording then is not enough.
pub fn of_many_at_a_time_one_answers_a_request(place: &impl Place) {
    const PROCESSES: u64 = 16;
    const ROUNDS: u8 = 4;
    let handles: Vec<_> = (0..PROCESSES).map(|_| place.open()).collect();
    for round in 1..=ROUNDS {
        let first = 100 * u64::from(round);
        let done: Vec<_> = thread::scope(|scope| {
            let turns: Vec<_> = handles
                .iter()
                .zip(first..)
                .map(|(ledger, n)| {
                    // Some answer another one with it.
                    let alone = [requested(n, request(round))].map(new_entry);
                    let other = [requested(n + 50, RequestId::from_bytes([n as u8; 32]))];
                    let other = other.map(new_entry);
                    scope.spawn(move || match n % 3 {
                        0 => (n, ledger.record(&[alone, other].concat())),
                        1 => (n, ledger.record(&[other, alone].concat())),
                        _ => (n, ledger.record(&alone)),
                    })
                })
                .collect();
            turns.into_iter().map(|turn| turn.join().unwrap()).collect()
        });
        let winners: Vec<_> = (done.iter())
            .filter_map(|(n, recorded)| recorded.is_ok().then_some(number(*n)))
            .collect();
        let [winner] = winners[..] else {
            panic!("{done:?}");
        };
        for (_, recorded) in done {
            match recorded {
                Ok(()) => {}
                Err(LedgerError::RequestTaken {
                    request: taken,
                    number: by,
                }) => assert_eq!((taken, by), (request(round), winner)),
                Err(error) => panic!("{error}"),
            }
        }
        let known = place.open().of_request(&request(round)).unwrap().unwrap();
        assert_eq!(known.issued.serial_number, winner);
        let numbers = (first..first + PROCESSES).map(number);
        let ledger = place.open();
        let recorded = numbers.filter(|one| ledger.entry(one).unwrap().is_some());
        assert_eq!(recorded.collect::<Vec<_>>(), [winner]);
    }
}
