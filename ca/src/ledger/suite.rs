//! Tests that every [`Ledger`] has to pass. The tests of an implementation call `hold_to_suite!(make)`, where
//! `make` returns an empty ledger, and a value that keeps its storage alive.

use core::ops::ControlFlow;
use core::time::Duration;

use pq_x509::CrlReason;
use pq_x509::pki_types::{CertificateDer, UnixTime};

use super::{
    Entry, Filter, Issued, Ledger, LedgerError, NewEntry, Revocation, SerialNumber, State,
};

/// A test for each function of the suite.
macro_rules! hold_to_suite {
    ($make:path) => {
        $crate::ledger::suite::hold_to_suite!($make:
            what_was_recorded_is_found_by_its_number
            certificates_come_back_byte_by_byte
            a_serial_number_is_taken_once
            all_of_a_call_are_recorded_or_none
            nothing_can_be_recorded
            what_is_unknown_is_not_there
            a_revocation_is_kept
            the_first_revocation_counts
            all_of_a_call_are_revoked_or_none
            a_hold_may_become_final
            a_hold_may_be_released_and_nothing_else
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
            a_list_has_what_expired_once_more
            a_list_has_no_longer_what_was_released
            a_clock_set_back_brings_nothing_back
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

pub(crate) fn next_list(
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
        assert_eq!(known.unwrap(), revoked);
        assert_eq!(ledger.entry(&number(n)).unwrap(), Some(revoked));
    }
}

pub(crate) fn the_first_revocation_counts(ledger: &impl Ledger) {
    record(ledger, [issued(1)]);
    let first = revocation(30, CrlReason::KeyCompromise);
    ledger.revoke(&number(1), &first).unwrap();
    for later in [CrlReason::Superseded, CrlReason::CertificateHold] {
        let known = ledger.revoke(&number(1), &revocation(40, later)).unwrap();
        assert_eq!(known.revocation(), Some(&first));
    }
    let kept = ledger.entry(&number(1)).unwrap().unwrap();
    assert_eq!(kept.revocation(), Some(&first));
}

pub(crate) fn all_of_a_call_are_revoked_or_none(ledger: &impl Ledger) {
    record(ledger, (1..=4).map(issued));
    let first = revocation(30, CrlReason::Superseded);
    ledger.revoke(&number(2), &first).unwrap();
    let all = revocation(40, CrlReason::KeyCompromise);
    let error = ledger.revoke_all(&[1, 2, 5].map(number), &all).unwrap_err();
    assert!(matches!(error, LedgerError::Unknown(unknown) if unknown == number(5)));
    assert_eq!(found(ledger, Filter::all().revoked()), [2]);
    ledger.revoke_all(&[], &all).unwrap();
    ledger.revoke_all(&[3, 1, 2, 3].map(number), &all).unwrap();
    ledger.revoke_all(&[1, 2].map(number), &first).unwrap();
    let on_list = [(1, &all), (2, &first), (3, &all)];
    let on_list = on_list.map(|(n, revocation)| (number(n), revocation.clone()));
    assert_eq!(next_list(ledger, "issuing", 100), (1, on_list.to_vec()));
    assert_eq!(found(ledger, Filter::all().valid()), [4]);
}

pub(crate) fn a_hold_may_become_final(ledger: &impl Ledger) {
    record(ledger, [issued(1)]);
    let hold = revocation(30, CrlReason::CertificateHold);
    ledger.revoke(&number(1), &hold).unwrap();
    let again = ledger.revoke(&number(1), &revocation(40, CrlReason::CertificateHold));
    assert_eq!(again.unwrap().revocation(), Some(&hold));
    let last = revocation(50, CrlReason::KeyCompromise);
    let known = ledger.revoke(&number(1), &last).unwrap();
    assert_eq!(known.revocation(), Some(&last));
    let error = ledger
        .reinstate(&number(1), at(60), "somebody")
        .unwrap_err();
    assert!(matches!(error, LedgerError::NotOnHold(_)));
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

pub(crate) fn a_list_has_what_expired_once_more(ledger: &impl Ledger) {
    record(ledger, (1..=3).map(issued));
    let revoked = revocation(30, CrlReason::KeyCompromise);
    let on_list = |n| (number(n), revoked.clone());
    ledger.revoke(&number(1), &revoked).unwrap();
    // In the last second of its validity, it has not expired.
    assert_eq!(next_list(ledger, "issuing", 1001), (1, vec![on_list(1)]));
    assert_eq!(next_list(ledger, "issuing", 1002), (2, vec![on_list(1)]));
    assert_eq!(next_list(ledger, "issuing", 1003), (3, vec![]));
    // This one was on no list before it expired.
    ledger.revoke(&number(2), &revoked).unwrap();
    assert_eq!(next_list(ledger, "issuing", 1010), (4, vec![on_list(2)]));
    assert_eq!(next_list(ledger, "issuing", 1011), (5, vec![]));
    // And this one was revoked after a list that was made after its expiry.
    ledger.revoke(&number(3), &revoked).unwrap();
    assert_eq!(next_list(ledger, "issuing", 1012), (6, vec![on_list(3)]));
    assert_eq!(next_list(ledger, "issuing", 1013), (7, vec![]));
    assert_eq!(found(ledger, Filter::all().revoked()), [1, 2, 3]);
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

pub(crate) fn a_clock_set_back_brings_nothing_back(ledger: &impl Ledger) {
    record(ledger, [issued(1)]);
    let revoked = revocation(30, CrlReason::KeyCompromise);
    ledger.revoke(&number(1), &revoked).unwrap();
    assert_eq!(next_list(ledger, "issuing", 2000).1.len(), 1);
    assert_eq!(next_list(ledger, "issuing", 500).1.len(), 0);
    assert_eq!(next_list(ledger, "issuing", 500).1.len(), 0);
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
