//! What was done stays, and is seen by whoever else has the ledger open.
#![allow(missing_docs, reason = "the name of each test says what it checks")]

use std::thread;

use pq_x509::revocation::CrlReason;

use super::Place;
use super::values::{
    at, entry, find, issued, lost_list, new_entry, next_list, number, record, revocation,
};
use crate::ledger::{Entry, Filter, Ledger, LedgerError, State};

pub fn what_was_done_is_there_when_it_is_opened_again(place: &impl Place) {
    let revoked = revocation(30, CrlReason::KeyCompromise);
    {
        let ledger = place.open();
        record(&ledger, [issued(1), issued(2)]);
        ledger.revoke(&number(1), &revoked).unwrap();
        assert_eq!(next_list(&ledger, "issuing", 100).0, 1);
        ledger.confirm_time(at(500), "somebody").unwrap();
    }
    let ledger = place.open();
    let compromised = Entry {
        issued: issued(1),
        state: State::Revoked(revoked.clone()),
    };
    assert_eq!(
        find(&ledger, &Filter::all()),
        [compromised, entry(issued(2))]
    );
    let kept = ledger.certificate(&number(2)).unwrap();
    assert_eq!(kept, Some(new_entry(issued(2)).certificate));
    assert_eq!(
        next_list(&ledger, "issuing", 501),
        (2, vec![(number(1), revoked)])
    );
    let known = ledger.compromised(&issued(1).key).unwrap();
    assert_eq!(known, Some(number(1)));
}

pub fn who_has_it_open_sees_what_others_do(place: &impl Place) {
    let (one, other) = (place.open(), place.open());
    record(&one, [issued(1)]);
    assert_eq!(other.entry(&number(1)).unwrap(), Some(entry(issued(1))));
    let revoked = revocation(30, CrlReason::KeyCompromise);
    other.revoke(&number(1), &revoked).unwrap();
    let known = one.entry(&number(1)).unwrap().unwrap();
    assert_eq!(known.revocation(), Some(&revoked));
    let mut again = issued(2);
    again.key = issued(1).key;
    let error = one.record(&[new_entry(again)]).unwrap_err();
    assert!(matches!(error, LedgerError::KeyCompromised(of) if of == number(1)));
    assert_eq!(lost_list(&one, "issuing", 100).0, 1);
    assert_eq!(lost_list(&other, "issuing", 100).0, 2);
    let error = one.check_list("issuing", 1).unwrap_err();
    assert!(matches!(error, LedgerError::LaterList { later: 2, .. }));
}

/// Looking first and changing then is not enough.
pub fn of_many_at_a_time_one_takes_a_number(place: &impl Place) {
    const PROCESSES: u64 = 4;
    const ROUNDS: u64 = 5;
    let handles: Vec<_> = (0..PROCESSES).map(|_| place.open()).collect();
    let mut lists: Vec<u64> = Vec::new();
    for round in 1..=ROUNDS {
        let entries = [issued(round)].map(new_entry);
        let done: Vec<_> = thread::scope(|scope| {
            let turns: Vec<_> = handles
                .iter()
                .map(|ledger| {
                    let entries = &entries;
                    scope.spawn(move || {
                        let recorded = ledger.record(entries);
                        (recorded, lost_list(ledger, "issuing", 100).0)
                    })
                })
                .collect();
            turns.into_iter().map(|turn| turn.join().unwrap()).collect()
        });
        let mut winners = 0;
        for (recorded, list) in done {
            lists.push(list);
            match recorded {
                Ok(()) => winners += 1,
                Err(LedgerError::SerialNumberTaken(taken)) => assert_eq!(taken, number(round)),
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(winners, 1);
    }
    lists.sort_unstable();
    assert!(lists.into_iter().eq(1..=PROCESSES * ROUNDS));
    let known = find(&place.open(), &Filter::all());
    assert!(known.into_iter().eq((1..=ROUNDS).map(issued).map(entry)));
}
