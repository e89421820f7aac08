//! A clock that is wrong does nothing for good.
#![allow(missing_docs, reason = "the name of each test says what it checks")]

use pq_x509::revocation::CrlReason;

use super::values::{
    at, found, issued, kept_and, lost_list, new_entry, next_list, number, record, revocation,
};
use crate::ledger::{AHEAD, BEHIND, Filter, Issued, Ledger, LedgerError, Revocation, SerialNumber};

pub fn a_list_that_a_clock_ahead_wrote_counts_as_one_of_now(ledger: &impl Ledger) {
    record(ledger, [issued(1)]);
    let revoked = revocation(30, CrlReason::KeyCompromise);
    let on_list = [(number(1), revoked.clone())];
    ledger.revoke(&number(1), &revoked).unwrap();
    next_list(ledger, "issuing", kept_and(1000));
    ledger.confirm_time(at(900), "somebody").unwrap();
    lost_list(ledger, "issuing", 900);
    // Since it expired, none was written.
    assert_eq!(
        next_list(ledger, "issuing", kept_and(1)).1,
        on_list,
        "confirm_time makes a list of a clock that was ahead one of its own time"
    );
    assert_eq!(next_list(ledger, "issuing", kept_and(2)).1, []);
}

pub fn nothing_is_left_out_for_good_by_a_clock_that_ran_ahead(ledger: &impl Ledger) {
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

pub fn a_list_that_a_clock_ahead_made_does_not_count_later(ledger: &impl Ledger) {
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

pub fn a_clock_that_jumps_is_refused(ledger: &impl Ledger) {
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

pub fn certificates_of_a_clock_far_ahead_are_refused(ledger: &impl Ledger) {
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

pub fn a_revocation_is_not_held_up_by_a_clock(ledger: &impl Ledger) {
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

pub fn a_time_is_compared_as_for_a_list(ledger: &impl Ledger) {
    ledger.check_time(at(u64::MAX)).unwrap();
    record(ledger, [issued(1)]);
    ledger.confirm_time(at(1_000_000_000), "somebody").unwrap();
    let (ahead, behind) = (AHEAD.as_secs(), BEHIND.as_secs());
    for seconds in [1_000_000_000 + ahead, 1_000_000_000 - behind] {
        ledger.check_time(at(seconds)).unwrap();
    }
    for (seconds, distance) in [
        (1_000_000_001 + ahead, "more than 400 days before that"),
        (999_999_999 - behind, "more than 1 hour after that"),
    ] {
        let error = ledger.check_time(at(seconds)).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, LedgerError::Clock { .. }), "{text}");
        for part in [distance, "pqtls ca crl --clock-is-right"] {
            assert!(text.contains(part), "{text}");
        }
    }
}
