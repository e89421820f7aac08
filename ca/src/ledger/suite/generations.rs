//! Keys that follow one another: which of them issues is known to all, and changes for all at once.
#![allow(missing_docs, reason = "the name of each test says what it checks")]

use std::thread;

use super::Place;
use super::values::{at, find, issued, new_entry, next_list, number, record, revocation};
use crate::ledger::{Condition, Filter, Generation, Issued, Ledger, LedgerError, Stage};

fn generation(name: &str, stage: Stage) -> Generation {
    Generation {
        name: name.into(),
        chain: vec![
            format!("certificate of {name}").into_bytes().into(),
            b"above".to_vec().into(),
        ],
        stage,
        since: at(30),
        by: "somebody".into(),
    }
}

fn one() -> Vec<Generation> {
    vec![generation("issuing", Stage::Issuing)]
}

fn two() -> Vec<Generation> {
    vec![
        generation("issuing", Stage::Retired),
        generation("issuing-2", Stage::Issuing),
    ]
}

pub fn generations_come_back_with_their_certificates(ledger: &impl Ledger) {
    assert_eq!(ledger.generations().unwrap(), []);
    ledger.change_generations(&[], &one(), &[], &[]).unwrap();
    assert_eq!(ledger.generations().unwrap(), one());
    let entry = [new_entry(issued(1))];
    ledger
        .change_generations(&one(), &two(), &entry, &[])
        .unwrap();
    assert_eq!(ledger.generations().unwrap(), two());
    let kept = ledger.certificate(&number(1)).unwrap();
    assert_eq!(kept.as_ref(), Some(&entry[0].certificate));
    // What follows changes nothing of them.
    let revoked = revocation(40, pq_x509::revocation::CrlReason::Superseded);
    ledger.revoke(&number(1), &revoked).unwrap();
    assert_eq!(
        next_list(ledger, "issuing", 100),
        (1, vec![(number(1), revoked)])
    );
    assert_eq!(next_list(ledger, "issuing-2", 100), (1, Vec::new()));
    assert_eq!(ledger.generations().unwrap(), two());
}

pub fn generations_change_from_those_that_are_there(ledger: &impl Ledger) {
    record(ledger, [issued(1)]);
    ledger.change_generations(&[], &one(), &[], &[]).unwrap();
    let refused = [
        ledger.change_generations(&[], &two(), &[new_entry(issued(2))], &[]),
        ledger.change_generations(&two(), &two(), &[new_entry(issued(2))], &[]),
    ];
    for refused in refused {
        assert!(
            matches!(refused, Err(LedgerError::GenerationsChanged)),
            "{refused:?}"
        );
    }
    // The certificates count as elsewhere.
    let taken = ledger.change_generations(&one(), &two(), &[new_entry(issued(1))], &[]);
    assert!(
        matches!(taken, Err(LedgerError::SerialNumberTaken(_))),
        "{taken:?}"
    );
    let conditions = [Condition::NotRevoked(&number(7))];
    let unknown = ledger.change_generations(&one(), &two(), &[], &conditions);
    assert!(
        matches!(unknown, Err(LedgerError::Unknown(_))),
        "{unknown:?}"
    );
    assert_eq!(ledger.generations().unwrap(), one());
    assert_eq!(find(ledger, &Filter::all()).len(), 1);
}

pub fn generations_only_follow_one_another(ledger: &impl Ledger) {
    ledger.change_generations(&[], &two(), &[], &[]).unwrap();
    let [first, second] = <[Generation; 2]>::try_from(two()).unwrap();
    let with = |stage, of: &Generation| Generation {
        stage,
        ..of.clone()
    };
    let third = generation("issuing-3", Stage::Published);
    let empty = Generation {
        chain: Vec::new(),
        ..third.clone()
    };
    for after in [
        vec![],
        vec![first.clone()],
        vec![second.clone(), first.clone()],
        vec![with(Stage::Published, &first), second.clone()],
        vec![first.clone(), with(Stage::Published, &second)],
        vec![
            first.clone(),
            second.clone(),
            generation("issuing-3", Stage::Issuing),
        ],
        vec![
            first.clone(),
            second.clone(),
            generation("issuing", Stage::Published),
        ],
        vec![first.clone(), second.clone(), empty],
        vec![first.clone(), generation("issuing-3", Stage::Issuing)],
    ] {
        let refused = ledger.change_generations(&two(), &after, &[], &[]);
        assert!(
            matches!(refused, Err(LedgerError::NoSuccession(_))),
            "{after:?}"
        );
    }
    assert_eq!(ledger.generations().unwrap(), two());
    let after = [with(Stage::Ended, &first), second.clone(), third.clone()];
    ledger.change_generations(&two(), &after, &[], &[]).unwrap();
    assert_eq!(ledger.generations().unwrap(), after);
    // A clock that was ahead ends no key for good.
    let back = [
        with(Stage::Issuing, &first),
        with(Stage::Retired, &second),
        third,
    ];
    ledger.change_generations(&after, &back, &[], &[]).unwrap();
    assert_eq!(ledger.generations().unwrap(), back);
}

pub fn a_key_that_does_not_issue_records_nothing(ledger: &impl Ledger) {
    let by = |n, issuer: &str| {
        let issuer = issuer.to_owned();
        let entry = new_entry(Issued {
            issuer: issuer.clone(),
            ..issued(n)
        });
        ledger.record_if(&[entry], &[Condition::Issues(&issuer)])
    };
    by(1, "issuing").unwrap();
    let mut after = two();
    after.push(generation("issuing-3", Stage::Published));
    ledger.change_generations(&[], &after, &[], &[]).unwrap();
    by(2, "issuing-2").unwrap();
    // one that is no generation
    by(3, "root").unwrap();
    for (n, name, of) in [
        (4, "issuing", Stage::Retired),
        (5, "issuing-3", Stage::Published),
    ] {
        let refused = by(n, name).unwrap_err();
        assert!(
            matches!(&refused, LedgerError::NotIssuing { name: found, stage } if found == name && *stage == of),
            "{refused}"
        );
        assert_eq!(ledger.entry(&number(n)).unwrap(), None);
    }
}

pub fn of_many_at_a_time_one_changes_the_generations(place: &impl Place) {
    let handles = [(); 4].map(|()| place.open());
    handles[0]
        .change_generations(&[], &one(), &[], &[])
        .unwrap();
    let done: Vec<_> = thread::scope(|scope| {
        let turns = handles.iter().zip(1..).map(|(ledger, n)| {
            scope.spawn(move || {
                ledger.change_generations(&one(), &two(), &[new_entry(issued(n))], &[])
            })
        });
        let turns: Vec<_> = turns.collect();
        turns.into_iter().map(|turn| turn.join().unwrap()).collect()
    });
    let mut winners = 0;
    for done in done {
        match done {
            Ok(()) => winners += 1,
            Err(error) => assert!(matches!(error, LedgerError::GenerationsChanged), "{error}"),
        }
    }
    assert_eq!(winners, 1);
    let ledger = place.open();
    assert_eq!(ledger.generations().unwrap(), two());
    assert_eq!(find(&ledger, &Filter::all()).len(), 1);
}
