//! What [`Ledger::find`] shows, and in which order.
#![allow(missing_docs, reason = "the name of each test says what it checks")]

use core::ops::ControlFlow;

use pq_x509::revocation::CrlReason;

use super::values::{at, found, issued, number, record, revocation};
use crate::ledger::{Entry, Filter, Issued, Ledger};

pub fn entries_are_found_in_the_order_of_their_expiry(ledger: &impl Ledger) {
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

pub fn each_condition_of_a_filter_counts(ledger: &impl Ledger) {
    record(ledger, (1..=6).map(issued));
    let by_root = Issued {
        issuer: "root".into(),
        profile: "ca".into(),
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
        (all().profiles(["ca"]), vec![7]),
        (all().profiles(["nobody", "ca"]).issuer("issuing"), vec![]),
        (all().profiles([""; 0]), vec![]),
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

pub fn domains_have_what_is_below_them_and_nothing_beside(ledger: &impl Ledger) {
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

pub fn addresses_are_names(ledger: &impl Ledger) {
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

pub fn states_are_found_as_they_are_now(ledger: &impl Ledger) {
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

pub fn a_search_ends_when_enough_was_seen(ledger: &impl Ledger) {
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

pub fn a_search_may_call_the_ledger(ledger: &impl Ledger) {
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
