//! Tests that every [`Ledger`] has to pass. The tests of an implementation call `hold_to_suite!(make)`, where
//! `make` returns an empty ledger, and a value that keeps its storage alive.

use core::ops::ControlFlow;
use core::time::Duration;

use pq_x509::CrlReason;
use pq_x509::pki_types::{CertificateDer, UnixTime};

use super::{
    AHEAD, BEHIND, Change, Condition, Entry, Filter, Issued, KEPT, KeyHash, Ledger, LedgerError,
    NewEntry, Revocation, Revoked, SerialNumber, State,
};

/// A test for each function of the suite.
macro_rules! hold_to_suite {
    ($make:path) => {
        $crate::ledger::suite::hold_to_suite!($make:
            what_was_recorded_is_found_by_its_number
            certificates_come_back_byte_by_byte
            a_serial_number_is_taken_once
            all_of_a_call_are_recorded_or_none
            what_was_issued_earlier_is_adopted
            what_is_adopted_is_revoked_with_it
            nothing_can_be_recorded
            what_is_unknown_is_not_there
            a_revocation_is_kept
            the_first_revocation_counts
            a_compromise_takes_the_place_of_another_reason
            a_compromise_may_be_older_than_was_known
            what_was_changed_is_said_for_each
            a_compromised_key_is_not_certified_again
            a_key_of_another_reason_is_certified_again
            conditions_are_checked_with_the_change
            all_of_a_call_are_revoked_or_none
            a_hold_may_become_final
            a_hold_may_be_released_and_nothing_else
            what_is_for_a_compromised_key_stays_on_hold
            remove_from_crl_is_no_reason
            entries_are_found_in_the_order_of_their_expiry
            each_condition_of_a_filter_counts
            domains_have_what_is_below_them_and_nothing_beside
            addresses_are_names
            states_are_found_as_they_are_now
            a_search_ends_when_enough_was_seen
            a_search_may_call_the_ledger
            lists_are_numbered_for_each_issuer
            lists_have_what_their_issuer_revoked
            a_list_has_what_expired_until_it_was_long_ago
            a_list_that_was_not_written_leaves_out_nothing
            a_list_that_a_clock_ahead_wrote_counts_as_one_of_now
            only_lists_that_were_numbered_are_written
            a_list_is_outdated_once_a_later_one_was_begun
            a_compromised_half_is_not_certified_again
            what_was_revoked_late_is_on_a_list_once
            a_list_has_no_longer_what_was_released
            nothing_is_left_out_for_good_by_a_clock_that_ran_ahead
            a_list_that_a_clock_ahead_made_does_not_count_later
            a_clock_that_jumps_is_refused
            certificates_of_a_clock_far_ahead_are_refused
            a_revocation_is_not_held_up_by_a_clock
            the_time_of_a_revocation_may_be_corrected
            a_time_is_compared_as_for_a_list
            compromised_keys_are_known
            certificates_are_found_by_their_keys
            texts_may_be_of_any_characters
        );
    };
    ($make:path: $($test:ident)+) => {$(
        #[test]
        fn $test() {
            let (ledger, _keep) = $make();
            $crate::ledger::suite::$test(&ledger);
        }
    )+};
}
pub(crate) use hold_to_suite;

pub(crate) fn at(seconds: u64) -> UnixTime {
    UnixTime::since_unix_epoch(Duration::from_secs(seconds))
}

pub(crate) fn number(number: u64) -> SerialNumber {
    SerialNumber::from_bytes(&number.to_be_bytes()).unwrap()
}

/// The digest of a key that only certificate number `n` is for.
pub(crate) fn key(n: u64) -> KeyHash {
    let mut bytes = [0xf0; 32];
    bytes[..8].copy_from_slice(&n.to_be_bytes());
    KeyHash::from_bytes(bytes)
}

/// Certificate number `n` of the key "issuing", which expires at 1000 + n.
pub(crate) fn issued(n: u64) -> Issued {
    Issued {
        serial_number: number(n),
        issuer: "issuing".into(),
        subject: format!("CN=Number {n},O=Example"),
        names: vec![format!("host{n}.example.org")],
        not_before: at(10),
        not_after: at(1000 + n),
        profile: "server".into(),
        key_algorithm: "ML-DSA-65".into(),
        key: key(n),
        halves: Vec::new(),
        by: "somebody".into(),
        at: at(20),
    }
}

pub(crate) fn new_entry(issued: Issued) -> NewEntry<'static> {
    NewEntry {
        certificate: CertificateDer::from(
            format!("certificate {}", issued.serial_number).into_bytes(),
        ),
        issued,
    }
}

pub(crate) fn entry(issued: Issued) -> Entry {
    Entry {
        issued,
        state: State::Valid,
    }
}

pub(crate) fn record(ledger: &impl Ledger, issued: impl IntoIterator<Item = Issued>) {
    let entries: Vec<_> = issued.into_iter().map(new_entry).collect();
    ledger.record(&entries).unwrap();
}

pub(crate) fn revocation(seconds: u64, reason: CrlReason) -> Revocation {
    Revocation {
        at: at(seconds),
        reason,
        by: "somebody else".into(),
    }
}

pub(crate) fn find(ledger: &impl Ledger, filter: &Filter) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut show = |entry| {
        entries.push(entry);
        ControlFlow::Continue(())
    };
    ledger.find(filter, &mut show).unwrap();
    entries
}

fn found(ledger: &impl Ledger, filter: Filter) -> Vec<u64> {
    let entries = find(ledger, &filter);
    let number = |entry: Entry| {
        let bytes = entry.issued.serial_number;
        bytes
            .as_bytes()
            .iter()
            .fold(0, |number, byte| number << 8 | u64::from(*byte))
    };
    entries.into_iter().map(number).collect()
}

/// Makes a list, and says that it was written.
pub(crate) fn next_list(
    ledger: &impl Ledger,
    issuer: &str,
    seconds: u64,
) -> (u64, Vec<(SerialNumber, Revocation)>) {
    let list = lost_list(ledger, issuer, seconds);
    ledger.confirm_list(issuer, list.0, at(seconds)).unwrap();
    list
}

/// Makes a list which is written nowhere.
fn lost_list(
    ledger: &impl Ledger,
    issuer: &str,
    seconds: u64,
) -> (u64, Vec<(SerialNumber, Revocation)>) {
    let mut shown = Vec::new();
    let mut show = |number: &SerialNumber, revocation: &Revocation| {
        shown.push((*number, revocation.clone()));
    };
    let list = ledger.next_list(issuer, at(seconds), &mut show).unwrap();
    shown.sort_unstable_by_key(|(number, _)| *number);
    (list, shown)
}

pub(crate) fn what_was_recorded_is_found_by_its_number(ledger: &impl Ledger) {
    record(ledger, [issued(1)]);
    record(ledger, [issued(2), issued(3)]);
    for n in 1..=3 {
        assert_eq!(ledger.entry(&number(n)).unwrap(), Some(entry(issued(n))));
    }
}

pub(crate) fn certificates_come_back_byte_by_byte(ledger: &impl Ledger) {
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

pub(crate) fn a_serial_number_is_taken_once(ledger: &impl Ledger) {
    record(ledger, [issued(1)]);
    let other = Issued {
        issuer: "root".into(),
        ..issued(1)
    };
    let error = ledger.record(&[new_entry(other)]).unwrap_err();
    assert!(matches!(error, LedgerError::SerialNumberTaken(taken) if taken == number(1)));
    assert_eq!(ledger.entry(&number(1)).unwrap(), Some(entry(issued(1))));
}

pub(crate) fn all_of_a_call_are_recorded_or_none(ledger: &impl Ledger) {
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

pub(crate) fn what_was_issued_earlier_is_adopted(ledger: &impl Ledger) {
    record(ledger, [issued(1), issued(2)]);
    let compromise = revocation(30, CrlReason::KeyCompromise);
    ledger.revoke(&number(1), &compromise).unwrap();
    for (entries, is_expected) in [
        (vec![], true),
        (vec![issued(3)], true),
        (vec![issued(4), issued(2)], false),
        (vec![issued(4), issued(4)], false),
    ] {
        let entries: Vec<_> = entries.into_iter().map(new_entry).collect();
        match ledger.adopt(&entries, None) {
            Ok(()) => assert!(is_expected),
            Err(LedgerError::SerialNumberTaken(_)) => assert!(!is_expected),
            Err(error) => panic!("{error}"),
        }
    }
    let same_key = Issued {
        key: key(1),
        ..issued(4)
    };
    let error = ledger.adopt(&[new_entry(same_key)], None).unwrap_err();
    assert!(matches!(error, LedgerError::KeyCompromised(of) if of == number(1)));
    assert_eq!(ledger.entry(&number(3)).unwrap(), Some(entry(issued(3))));
    let kept = ledger.certificate(&number(3)).unwrap();
    assert_eq!(kept, Some(new_entry(issued(3)).certificate));
    assert_eq!(found(ledger, Filter::all()), [1, 2, 3]);
    assert_eq!(
        next_list(ledger, "issuing", 40),
        (1, vec![(number(1), compromise)])
    );
}

/// Also of a compromised key, and of a time that says nothing of today's.
pub(crate) fn what_is_adopted_is_revoked_with_it(ledger: &impl Ledger) {
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
    let entries = earlier.clone().map(new_entry);
    let removal = revocation(40, CrlReason::RemoveFromCRL);
    let error = ledger.adopt(&entries, Some(&removal)).unwrap_err();
    assert!(matches!(error, LedgerError::NotAReason));
    assert_eq!(ledger.entry(&number(2)).unwrap(), None);
    let last = revocation(40, CrlReason::Superseded);
    ledger.adopt(&entries, Some(&last)).unwrap();
    let times = [40, far];
    for (issued, time) in earlier.into_iter().zip(times) {
        let known = ledger.entry(&issued.serial_number).unwrap().unwrap();
        let revoked = Revocation {
            at: at(time),
            ..last.clone()
        };
        assert_eq!(known.revocation(), Some(&revoked));
        assert_eq!(known.issued, issued);
    }
    let (list, shown) = next_list(ledger, "issuing", 50);
    let numbers: Vec<_> = shown.iter().map(|(number, _)| *number).collect();
    assert_eq!((list, numbers), (1, vec![number(1), number(2), number(3)]));
}

pub(crate) fn nothing_can_be_recorded(ledger: &impl Ledger) {
    ledger.record(&[]).unwrap();
    assert_eq!(find(ledger, &Filter::all()), []);
}

pub(crate) fn what_is_unknown_is_not_there(ledger: &impl Ledger) {
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

pub(crate) fn a_revocation_is_kept(ledger: &impl Ledger) {
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

pub(crate) fn the_first_revocation_counts(ledger: &impl Ledger) {
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
pub(crate) fn a_compromise_takes_the_place_of_another_reason(ledger: &impl Ledger) {
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

pub(crate) fn a_compromise_may_be_older_than_was_known(ledger: &impl Ledger) {
    record(ledger, [issued(1)]);
    let first = revocation(30, CrlReason::KeyCompromise);
    ledger.revoke(&number(1), &first).unwrap();
    let older = revocation(25, CrlReason::KeyCompromise);
    let known = ledger.revoke(&number(1), &older).unwrap();
    assert_eq!(known.entry.revocation(), Some(&older));
    assert_eq!(known.change, Change::Updated(first));
}

pub(crate) fn what_was_changed_is_said_for_each(ledger: &impl Ledger) {
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

pub(crate) fn a_compromised_key_is_not_certified_again(ledger: &impl Ledger) {
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

pub(crate) fn a_key_of_another_reason_is_certified_again(ledger: &impl Ledger) {
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

pub(crate) fn conditions_are_checked_with_the_change(ledger: &impl Ledger) {
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
    let wrong = [
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
    ];
    ledger.record_if(&[new_entry(issued(5))], &right).unwrap();
    ledger.revoke_if(&[number(4)], &superseded, &right).unwrap();
    ledger
        .reinstate_if(&on_hold, at(40), "somebody", &right)
        .unwrap();
    assert_eq!(found(ledger, Filter::all().revoked()), [3, 4, 7]);
}

pub(crate) fn all_of_a_call_are_revoked_or_none(ledger: &impl Ledger) {
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

pub(crate) fn a_hold_may_become_final(ledger: &impl Ledger) {
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

pub(crate) fn a_hold_may_be_released_and_nothing_else(ledger: &impl Ledger) {
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

pub(crate) fn what_is_for_a_compromised_key_stays_on_hold(ledger: &impl Ledger) {
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

pub(crate) fn remove_from_crl_is_no_reason(ledger: &impl Ledger) {
    record(ledger, [issued(1)]);
    let removal = revocation(30, CrlReason::RemoveFromCRL);
    let error = ledger.revoke(&number(1), &removal).unwrap_err();
    assert!(matches!(error, LedgerError::NotAReason));
    assert_eq!(ledger.entry(&number(1)).unwrap(), Some(entry(issued(1))));
}

pub(crate) fn entries_are_found_in_the_order_of_their_expiry(ledger: &impl Ledger) {
    let expiring = |n, time| Issued {
        not_after: at(time),
        ..issued(n)
    };
    record(
        ledger,
        [expiring(1, 3000), expiring(2, 1 << 40), expiring(3, 5)],
    );
    record(
        ledger,
        [expiring(4, 1000), expiring(5, 3000), expiring(256, 3000)],
    );
    let in_order = [3, 4, 1, 5, 256, 2];
    assert_eq!(found(ledger, Filter::all()), in_order);
    assert_eq!(found(ledger, Filter::all().domain("example.org")), in_order);
    assert_eq!(found(ledger, Filter::all().issuer("issuing")), in_order);
}

pub(crate) fn each_condition_of_a_filter_counts(ledger: &impl Ledger) {
    record(ledger, (1..=6).map(issued));
    let by_root = Issued {
        issuer: "root".into(),
        subject: "CN=Éxample Issuing CA".into(),
        names: vec![],
        ..issued(7)
    };
    record(ledger, [by_root]);
    for n in [2, 7] {
        let revoked = revocation(30, CrlReason::Superseded);
        ledger.revoke(&number(n), &revoked).unwrap();
    }
    let all = Filter::all;
    for (filter, expected) in [
        (all(), vec![1, 2, 3, 4, 5, 6, 7]),
        (all().valid(), vec![1, 3, 4, 5, 6]),
        (all().revoked(), vec![2, 7]),
        (all().expires_from(at(1003)), vec![3, 4, 5, 6, 7]),
        (all().expires_before(at(1003)), vec![1, 2]),
        (
            all().expires_from(at(1003)).expires_before(at(1005)),
            vec![3, 4],
        ),
        (
            all().expires_from(at(1005)).expires_before(at(1003)),
            vec![],
        ),
        (all().name("host3.example.org"), vec![3]),
        (all().name("HOST3.Example.Org."), vec![3]),
        (all().name("example.org"), vec![]),
        (all().domain("example.org"), vec![1, 2, 3, 4, 5, 6]),
        (
            all().domain("example.org").expires_from(at(1004)),
            vec![4, 5, 6],
        ),
        (
            all().domain("example.org").expires_before(at(1003)),
            vec![1, 2],
        ),
        (all().domain("host4.example.org"), vec![4]),
        (all().issuer("root"), vec![7]),
        (all().issuer("roo"), vec![]),
        (all().issuer("root").valid(), vec![]),
        (all().issuer("issuing").revoked(), vec![2]),
        (all().subject_contains("number 5"), vec![5]),
        (all().subject_contains("éxample"), vec![7]),
        (all().subject_contains("nobody"), vec![]),
        (all().limit(0), vec![]),
        (all().limit(3), vec![1, 2, 3]),
        (all().valid().limit(2), vec![1, 3]),
        (all().domain("example.org").limit(2), vec![1, 2]),
        (all().limit(100), vec![1, 2, 3, 4, 5, 6, 7]),
    ] {
        assert_eq!(found(ledger, filter.clone()), expected, "{filter:?}");
    }
}

pub(crate) fn domains_have_what_is_below_them_and_nothing_beside(ledger: &impl Ledger) {
    let named = |n, names: &[&str]| Issued {
        names: names.iter().map(|name| (*name).into()).collect(),
        ..issued(n)
    };
    record(
        ledger,
        [
            named(1, &["example.org"]),
            named(2, &["evil-example.org"]),
            named(3, &["*.example.org"]),
            named(4, &["a.b.Example.ORG", "a.example.net"]),
            named(5, &["example.org.evil.test"]),
            named(6, &["a.example.net", "b.example.net"]),
            named(0x0102, &["", ".", "\0"]),
        ],
    );
    for (filter, expected) in [
        (Filter::all().domain("example.org"), vec![1, 3, 4]),
        (Filter::all().domain("b.example.org"), vec![4]),
        (Filter::all().domain("net"), vec![4, 6]),
        (Filter::all().domain("org"), vec![1, 2, 3, 4]),
        (Filter::all().domain(""), vec![1, 2, 3, 4, 5, 6]),
        (Filter::all().name("*.example.org"), vec![3]),
        (Filter::all().name("www.example.org"), vec![]),
        (Filter::all().name("a.example.net"), vec![4, 6]),
        (Filter::all().name(""), vec![]),
    ] {
        assert_eq!(found(ledger, filter.clone()), expected, "{filter:?}");
    }
}

pub(crate) fn addresses_are_names(ledger: &impl Ledger) {
    let named = |n, name: &str| Issued {
        names: vec![name.into()],
        ..issued(n)
    };
    record(ledger, [named(1, "192.0.2.1"), named(2, "2001:db8::1")]);
    for (filter, expected) in [
        (Filter::all().name("192.0.2.1"), vec![1]),
        (Filter::all().name("2001:DB8:0:0::1"), vec![2]),
        (Filter::all().domain("1"), vec![]),
        (Filter::all().domain("2.1"), vec![]),
    ] {
        assert_eq!(found(ledger, filter.clone()), expected, "{filter:?}");
    }
}

pub(crate) fn states_are_found_as_they_are_now(ledger: &impl Ledger) {
    record(ledger, (1..=3).map(issued));
    let hold = revocation(30, CrlReason::CertificateHold);
    ledger.revoke(&number(1), &hold).unwrap();
    ledger.revoke(&number(2), &hold).unwrap();
    assert_eq!(found(ledger, Filter::all().revoked()), [1, 2]);
    assert_eq!(found(ledger, Filter::all().valid()), [3]);
    ledger.reinstate(&number(1), at(40), "somebody").unwrap();
    assert_eq!(found(ledger, Filter::all().revoked()), [2]);
    assert_eq!(found(ledger, Filter::all().valid()), [1, 3]);
}

pub(crate) fn a_search_ends_when_enough_was_seen(ledger: &impl Ledger) {
    record(ledger, (1..=10).map(issued));
    let mut seen = 0;
    let mut show = |_| {
        seen += 1;
        if seen == 4 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    ledger.find(&Filter::all(), &mut show).unwrap();
    assert_eq!(seen, 4);
}

pub(crate) fn a_search_may_call_the_ledger(ledger: &impl Ledger) {
    record(ledger, (1..=10).map(issued));
    let superseded = revocation(30, CrlReason::Superseded);
    let mut show = |entry: Entry| {
        ledger
            .revoke(&entry.issued.serial_number, &superseded)
            .unwrap();
        ControlFlow::Continue(())
    };
    ledger.find(&Filter::all(), &mut show).unwrap();
    assert_eq!(found(ledger, Filter::all().revoked()).len(), 10);
}

pub(crate) fn lists_are_numbered_for_each_issuer(ledger: &impl Ledger) {
    assert_eq!(next_list(ledger, "issuing", 100), (1, vec![]));
    assert_eq!(next_list(ledger, "issuing", 100), (2, vec![]));
    assert_eq!(next_list(ledger, "root", 100), (1, vec![]));
    assert_eq!(next_list(ledger, "issuing", 101), (3, vec![]));
    assert_eq!(next_list(ledger, "root", 101), (2, vec![]));
}

pub(crate) fn lists_have_what_their_issuer_revoked(ledger: &impl Ledger) {
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

/// Seconds after the expiry of certificate 1, beyond the time for which it stays on every list.
fn kept_and(seconds: u64) -> u64 {
    1001 + KEPT.as_secs() + seconds
}

pub(crate) fn a_list_has_what_expired_until_it_was_long_ago(ledger: &impl Ledger) {
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

pub(crate) fn a_list_that_was_not_written_leaves_out_nothing(ledger: &impl Ledger) {
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

pub(crate) fn a_list_that_a_clock_ahead_wrote_counts_as_one_of_now(ledger: &impl Ledger) {
    record(ledger, [issued(1)]);
    let revoked = revocation(30, CrlReason::KeyCompromise);
    let on_list = [(number(1), revoked.clone())];
    ledger.revoke(&number(1), &revoked).unwrap();
    next_list(ledger, "issuing", kept_and(1000));
    ledger.confirm_time(at(900), "somebody").unwrap();
    lost_list(ledger, "issuing", 900);
    // Since it expired, none was written.
    assert_eq!(next_list(ledger, "issuing", kept_and(1)).1, on_list);
    assert_eq!(next_list(ledger, "issuing", kept_and(2)).1, []);
}

pub(crate) fn a_list_is_outdated_once_a_later_one_was_begun(ledger: &impl Ledger) {
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

pub(crate) fn only_lists_that_were_numbered_are_written(ledger: &impl Ledger) {
    next_list(ledger, "issuing", 100);
    for (issuer, list) in [("issuing", 0), ("issuing", 2), ("root", 1)] {
        let error = ledger.confirm_list(issuer, list, at(100)).unwrap_err();
        assert!(
            matches!(error, LedgerError::UnknownList { number, .. } if number == list),
            "{error}"
        );
    }
}

pub(crate) fn a_compromised_half_is_not_certified_again(ledger: &impl Ledger) {
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

pub(crate) fn what_was_revoked_late_is_on_a_list_once(ledger: &impl Ledger) {
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
    assert_eq!(list, (3, vec![on_list(2)]));
    assert_eq!(next_list(ledger, "issuing", kept_and(13)), (4, vec![]));
}

pub(crate) fn a_list_has_no_longer_what_was_released(ledger: &impl Ledger) {
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

pub(crate) fn nothing_is_left_out_for_good_by_a_clock_that_ran_ahead(ledger: &impl Ledger) {
    record(ledger, [issued(1)]);
    let revoked = revocation(30, CrlReason::KeyCompromise);
    ledger.revoke(&number(1), &revoked).unwrap();
    let on_list = [(number(1), revoked)];
    let list = |seconds| next_list(ledger, "issuing", seconds).1;
    assert_eq!(list(100), on_list);
    // One reading of a clock that is wrong leaves out nothing.
    assert_eq!(list(kept_and(100)), on_list);
    ledger.confirm_time(at(101), "somebody").unwrap();
    assert_eq!(list(101), on_list);
    // Several do, but no longer than the clock is wrong.
    for _ in 0..5 {
        list(kept_and(200));
    }
    assert_eq!(list(kept_and(200)), []);
    ledger.confirm_time(at(102), "somebody").unwrap();
    for seconds in [102, 103, 1001, 1002] {
        assert_eq!(list(seconds), on_list);
    }
}

pub(crate) fn a_list_that_a_clock_ahead_made_does_not_count_later(ledger: &impl Ledger) {
    record(ledger, [issued(1)]);
    let revoked = revocation(30, CrlReason::KeyCompromise);
    ledger.revoke(&number(1), &revoked).unwrap();
    let on_list = [(number(1), revoked)];
    let list = |seconds| next_list(ledger, "issuing", seconds).1;
    assert_eq!(list(kept_and(1000)), on_list);
    ledger.confirm_time(at(900), "somebody").unwrap();
    assert_eq!(list(900), on_list);
    // This is the first list after its expiry, whatever the clock said before.
    assert_eq!(list(kept_and(10)), on_list);
    assert_eq!(list(kept_and(11)), []);
}

pub(crate) fn a_clock_that_jumps_is_refused(ledger: &impl Ledger) {
    let start = 1_000_000_000;
    let refused = |issuer, seconds| {
        let mut show = |_: &SerialNumber, _: &Revocation| panic!("a list was begun");
        let error = ledger.next_list(issuer, at(seconds), &mut show);
        let error = error.unwrap_err();
        assert!(
            matches!(error, LedgerError::Clock { now, .. } if now == at(seconds)),
            "{error}"
        );
        error.to_string()
    };
    record(
        ledger,
        [Issued {
            at: at(start),
            ..issued(1)
        }],
    );
    let ahead = start + AHEAD.as_secs();
    let text = refused("issuing", ahead + 1);
    for part in ["2001-09-09T01:46:40Z", "2002-10-14T01:46:41Z", "confirm"] {
        assert!(text.contains(part), "{text}");
    }
    refused("issuing", start - BEHIND.as_secs() - 1);
    refused("issuing", u64::MAX);
    refused("issuing", 0);
    // At the limits, and no number was taken
    let behind = start - BEHIND.as_secs();
    assert_eq!(next_list(ledger, "issuing", behind).0, 1);
    assert_eq!(next_list(ledger, "issuing", ahead).0, 2);
    // The times of all issuers count, and the greatest.
    refused("root", start);
    refused("issuing", start);
    // A person's word counts more.
    ledger.confirm_time(at(start), "somebody").unwrap();
    assert_eq!(next_list(ledger, "root", start).0, 1);
    refused("issuing", ahead + 1);
    ledger.confirm_time(at(ahead + 1), "somebody").unwrap();
    assert_eq!(next_list(ledger, "issuing", ahead + 1).0, 3);
}

pub(crate) fn certificates_of_a_clock_far_ahead_are_refused(ledger: &impl Ledger) {
    record(ledger, [issued(1)]);
    let late = |n, seconds| Issued {
        at: at(20 + AHEAD.as_secs() + seconds),
        ..issued(n)
    };
    let entries = [issued(2), late(3, 1)].map(new_entry);
    let error = ledger.record(&entries).unwrap_err();
    assert!(matches!(error, LedgerError::Clock { .. }), "{error}");
    assert_eq!(found(ledger, Filter::all()), [1]);
    record(ledger, [late(2, 0)]);
    // An earlier time harms nobody, and doesn't set the ledger's time back.
    record(ledger, [issued(3)]);
    record(ledger, [late(4, 1)]);
    assert_eq!(found(ledger, Filter::all()), [1, 2, 3, 4]);
}

pub(crate) fn a_revocation_is_not_held_up_by_a_clock(ledger: &impl Ledger) {
    record(ledger, (1..=2).map(issued));
    for (n, seconds) in [(1, u64::from(u32::MAX)), (2, 0)] {
        let revoked = revocation(seconds, CrlReason::KeyCompromise);
        ledger.revoke(&number(n), &revoked).unwrap();
    }
    // and says nothing about the time. What is before the certificate's beginning counts from there.
    let kept = [(1, u64::from(u32::MAX)), (2, 10)]
        .map(|(n, since)| (number(n), revocation(since, CrlReason::KeyCompromise)));
    assert_eq!(next_list(ledger, "issuing", 100).1, kept);
}

/// Of whatever reason: a revocation that a clock ahead gave a time in the future is of the right time later.
pub(crate) fn the_time_of_a_revocation_may_be_corrected(ledger: &impl Ledger) {
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

pub(crate) fn a_time_is_compared_as_for_a_list(ledger: &impl Ledger) {
    ledger.check_time(at(u64::MAX)).unwrap();
    record(ledger, [issued(1)]);
    ledger.confirm_time(at(1_000_000_000), "somebody").unwrap();
    let (ahead, behind) = (AHEAD.as_secs(), BEHIND.as_secs());
    for seconds in [1_000_000_000 + ahead, 1_000_000_000 - behind] {
        ledger.check_time(at(seconds)).unwrap();
    }
    for seconds in [1_000_000_001 + ahead, 999_999_999 - behind] {
        let error = ledger.check_time(at(seconds)).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, LedgerError::Clock { .. }), "{text}");
        for part in ["400 days", "1 hour", "pqtls ca crl --clock-is-right"] {
            assert!(text.contains(part), "{text}");
        }
    }
}

pub(crate) fn compromised_keys_are_known(ledger: &impl Ledger) {
    record(ledger, (1..=3).map(issued));
    let superseded = revocation(30, CrlReason::Superseded);
    ledger.revoke(&number(1), &superseded).unwrap();
    let compromise = revocation(30, CrlReason::CaCompromise);
    ledger.revoke(&number(2), &compromise).unwrap();
    for (n, known) in [(1, None), (2, Some(number(2))), (3, None), (4, None)] {
        assert_eq!(ledger.compromised(&key(n)).unwrap(), known);
    }
}

pub(crate) fn certificates_are_found_by_their_keys(ledger: &impl Ledger) {
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

pub(crate) fn texts_may_be_of_any_characters(ledger: &impl Ledger) {
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
