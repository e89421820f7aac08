//! Each change is an event, and the events are a chain.
#![allow(missing_docs, reason = "the name of each test says what it checks")]

use core::ops::ControlFlow;
use std::thread;

use pq_x509::revocation::CrlReason;
use sha2::{Digest, Sha256};

use super::Place;
use super::values::{
    at, issued, new_entry, next_list, number, record, request, requested, revocation,
};
use crate::ledger::{
    AdoptedEntry, AuditEvent, AuditHead, Deed, Generation, HeadCheck, Ledger, LedgerError,
    LostHead, Revocation, SerialNumber, Stage,
};

/// All events, each of which has to follow the one before, and the head behind the last.
fn events(ledger: &impl Ledger) -> (Vec<AuditEvent>, AuditHead) {
    let mut events: Vec<AuditEvent> = Vec::new();
    let end = ledger.audit(&mut |event| {
        match events.last() {
            Some(last) => assert_eq!(event.before, last.head),
            None => assert_eq!(event.before.number, 0),
        }
        assert_eq!(event.head.number, event.before.number + 1);
        assert_ne!(event.head.digest, event.before.digest);
        events.push(event);
        ControlFlow::Continue(())
    });
    let end = end.unwrap();
    assert_eq!(end, events.last().map_or(end, |last| last.head));
    (events, end)
}

fn told(Revocation { at, reason, by }: &Revocation) -> String {
    format!("{reason:?} at {} by {by}", at.as_secs())
}

/// What was done, by single certificates: a ledger may have those of one change in one event or in several.
fn deeds(ledger: &impl Ledger) -> Vec<String> {
    let mut deeds = Vec::new();
    let mut say = |words: String| deeds.push(words);
    for event in events(ledger).0 {
        let name = event.deed.name();
        match event.deed {
            Deed::Issued(certificates) => {
                for one in certificates {
                    let certificate = new_entry(one.issued.clone()).certificate;
                    assert_eq!(one.digest[..], Sha256::digest(certificate)[..]);
                    let known = ledger.entry(&one.issued.serial_number).unwrap();
                    assert_eq!(known.map(|entry| entry.issued).as_ref(), Some(&one.issued));
                    say(format!(
                        "{name} {} by {}",
                        one.issued.serial_number, one.issued.by
                    ));
                }
            }
            Deed::Adopted(certificates, revoked) => {
                for one in certificates {
                    let number = one.issued.serial_number;
                    let its = revoked
                        .iter()
                        .find(|(_, numbers)| numbers.contains(&number));
                    say(format!("{name} {number}"));
                    if let Some((revocation, _)) = its {
                        say(format!("revoked {number} {}", told(revocation)));
                    }
                }
            }
            Deed::Revoked(revoked) => {
                for (revocation, numbers) in revoked {
                    for number in numbers {
                        say(format!("{name} {number} {}", told(&revocation)));
                    }
                }
            }
            Deed::Reinstated { number, at, by } => {
                say(format!("{name} {number} at {} by {by}", at.as_secs()));
            }
            Deed::ListBegun { issuer, number, at } | Deed::ListWritten { issuer, number, at } => {
                say(format!("{name} {issuer} {number} at {}", at.as_secs()));
            }
            Deed::TimeConfirmed { at, by } => say(format!("{name} {} by {by}", at.as_secs())),
            Deed::Carried(deeds) => say(format!("{name} {}", deeds.len())),
            Deed::Succeeded(certificates, generations) => {
                for one in certificates {
                    say(format!(
                        "issued {} by {}",
                        one.issued.serial_number, one.issued.by
                    ));
                }
                let stages = generations.iter().map(|one| one.stage.name());
                say(format!("{name} {}", stages.collect::<Vec<_>>().join(" ")));
            }
        }
    }
    deeds
}

pub fn each_change_is_an_event(ledger: &impl Ledger) {
    assert_eq!(deeds(ledger), [""; 0]);
    record(ledger, [issued(1), requested(2, request(2))]);
    let hold = revocation(30, CrlReason::CertificateHold);
    ledger.revoke(&number(1), &hold).unwrap();
    // What changes nothing is none.
    ledger.revoke(&number(1), &hold).unwrap();
    ledger.reinstate(&number(1), at(40), "somebody").unwrap();
    ledger.record(&[new_entry(issued(2))]).unwrap_err();
    let compromise = revocation(31, CrlReason::KeyCompromise);
    let both = [number(1), number(2)];
    ledger.revoke_if(&both, &compromise, &[]).unwrap();
    let adopted = [(3, None), (4, Some(revocation(35, CrlReason::Superseded)))];
    let adopted = adopted.map(|(n, revocation)| AdoptedEntry {
        entry: new_entry(issued(n)),
        revocation,
    });
    ledger.adopt(&adopted).unwrap();
    next_list(ledger, "issuing", 100);
    ledger.confirm_time(at(90), "somebody else").unwrap();
    let generation = Generation {
        name: "issuing".into(),
        chain: vec![vec![1].into()],
        stage: Stage::Issuing,
        since: at(95),
        by: "somebody".into(),
    };
    ledger
        .change_generations(&[], &[generation], &[new_entry(issued(5))], &[])
        .unwrap();
    let expected = [
        "issued 01 by somebody",
        "issued 02 by somebody",
        "revoked 01 CertificateHold at 30 by somebody else",
        "reinstated 01 at 40 by somebody",
        "revoked 01 KeyCompromise at 31 by somebody else",
        "revoked 02 KeyCompromise at 31 by somebody else",
        "adopted 03",
        "adopted 04",
        "revoked 04 Superseded at 35 by somebody else",
        "list-begun issuing 1 at 100",
        "list-written issuing 1 at 100",
        "time-confirmed 90 by somebody else",
        "issued 05 by somebody",
        "succeeded issuing",
    ];
    assert_eq!(deeds(ledger), expected);
    // Looking again changes nothing, and shows the same.
    assert_eq!(events(ledger), events(ledger));
}

pub fn a_head_that_was_kept_is_found_again(ledger: &impl Ledger) {
    let empty = ledger.verify(None).unwrap();
    assert_eq!(
        (empty.number, ledger.verify(Some(&empty)).unwrap()),
        (0, empty)
    );
    let mut kept = vec![empty];
    for n in 1..=5 {
        record(ledger, [issued(n)]);
        let (events, end) = events(ledger);
        kept.extend(events.iter().map(|event| event.head));
        for head in &kept {
            assert_eq!(ledger.verify(Some(head)).unwrap(), end);
        }
    }
    let last = kept[kept.len() - 1];
    for wrong in [
        AuditHead {
            digest: empty.digest,
            ..last
        },
        AuditHead {
            number: last.number + 1,
            ..last
        },
        AuditHead {
            number: 0,
            digest: [0; 32],
        },
    ] {
        match ledger.verify(Some(&wrong)) {
            Err(LedgerError::LostHead(LostHead { kept, end, .. })) => {
                assert_eq!((kept, end), (wrong.number, last.number));
            }
            other => panic!("{other:?}"),
        }
    }
}

pub fn an_audit_ends_when_enough_was_seen(ledger: &impl Ledger) {
    record(ledger, [issued(1)]);
    record(ledger, [issued(2)]);
    let mut seen = Vec::new();
    let end = ledger.audit(&mut |event| {
        // It may call the ledger.
        assert!(ledger.entry(&number(2)).unwrap().is_some());
        seen.push(event.head);
        ControlFlow::Break(())
    });
    assert_eq!(vec![end.unwrap()], seen);
    assert_eq!(seen[0].number, 1);
}

/// Whatever is kept while others change the ledger is found again, and no event is lost, or there twice.
pub fn events_of_many_at_a_time_are_one_chain(place: &impl Place) {
    const PROCESSES: u64 = 4;
    const EACH: u64 = 12;
    let handles: Vec<_> = (0..PROCESSES).map(|_| place.open()).collect();
    let heads: Vec<AuditHead> = thread::scope(|scope| {
        let turns: Vec<_> = handles
            .iter()
            .zip(0..)
            .map(|(ledger, process)| {
                scope.spawn(move || {
                    let first = 1 + process * EACH;
                    let heads = (first..first + EACH).map(|n| {
                        record(ledger, [issued(n)]);
                        ledger.verify(None).unwrap()
                    });
                    heads.collect::<Vec<_>>()
                })
            })
            .collect();
        let heads = turns.into_iter().flat_map(|turn| turn.join().unwrap());
        heads.collect()
    });
    let ledger = place.open();
    let mut checks: Vec<_> = heads
        .iter()
        .map(|head| HeadCheck::new(Some(head)))
        .collect();
    let (events, end) = events(&ledger);
    for event in &events {
        checks.iter_mut().for_each(|check| check.see(event));
    }
    for check in checks {
        check.finish(&end).unwrap();
    }
    let certificates = events.into_iter().flat_map(|event| match event.deed {
        Deed::Issued(certificates) => certificates,
        other => panic!("{other:?}"),
    });
    let mut numbers: Vec<SerialNumber> = certificates.map(|one| one.issued.serial_number).collect();
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq((1..=PROCESSES * EACH).map(number)));
}
