//! The table `[validity]`: when certificates begin and end, also near the beginning and the end of their CA. Also how
//! long revocation lists are valid.

use core::time::Duration;

use pq_ca::policy::{Permitted, Policy, Reason, Wanted};

use crate::policy::{CA, DAY, NOW, at, check, new_key, policy, refusals, wanted};

const HOUR: u64 = 60 * 60;

/// A policy with these lines in `[validity]`, the first of which is line 2.
fn text(validity: &str) -> String {
    format!(
        "[validity]\n{validity}\n[names]\ndns = ['.']\n[keys]\nalgorithms = \
         ['ML-DSA-44']\n[usages]\nprofiles = ['server']"
    )
}

fn wanted_for(seconds: Option<u64>) -> Wanted {
    let wanted = wanted().dns_name("a.org");
    match seconds {
        Some(seconds) => wanted.validity(Duration::from_secs(seconds)),
        None => wanted,
    }
}

fn end(validity: &str, seconds: Option<u64>) -> u64 {
    let permitted = check(&policy(&text(validity)), &wanted_for(seconds)).unwrap();
    permitted.not_after().as_secs()
}

#[test]
fn validity_is_what_was_asked_for_or_the_default() {
    for (validity, asked, end_in) in [
        ("", None, 90 * DAY),
        ("", Some(90 * DAY), 90 * DAY),
        ("", Some(1), 1),
        ("default = '12h'", None, 12 * HOUR),
        ("default = '12h'", Some(90 * DAY), 90 * DAY),
        ("max = '1y'", None, 90 * DAY),
        ("max = '1y'", Some(365 * DAY), 365 * DAY),
        ("max = '1h'", None, HOUR),
        ("default = '2w'\nmax = '2w'", None, 14 * DAY),
    ] {
        assert_eq!(end(validity, asked), NOW + end_in, "{validity} {asked:?}");
    }
}

#[test]
fn more_than_the_maximum_is_forbidden() {
    assert_eq!(
        refusals(
            &text("default = '1d'\nmax = '30d'"),
            &wanted_for(Some(30 * DAY + 1))
        ),
        [
            "policy.toml:3: validity.max permits 30d at most, not 2592001s; ask for less, or \
             permit it there",
            "  3 | max = '30d'",
        ]
    );
    assert_eq!(
        refusals(&text(""), &wanted_for(Some(365 * DAY))),
        [
            "policy.toml: validity.max is not set, and by default permits 90d at most, not 1y; ask \
             for less, or permit it by max = \"1y\" below [validity]"
        ]
    );
}

/// The CA of these tests ends in a thousand days.
#[test]
fn no_certificate_outlives_its_ca() {
    let long = "default = '3y'\nmax = '10y'";
    assert_eq!(end(long, None), NOW + 1000 * DAY);
    assert_eq!(end(long, Some(1000 * DAY)), NOW + 1000 * DAY);
    assert_eq!(
        refusals(&text(long), &wanted_for(Some(3 * 365 * DAY))),
        [
            "the CA's own certificate ends in 1000d, before the 3y that were asked for; ask for \
             1000d, or have a new key issue first (\"pqtls ca rollover\")"
        ]
    );
    let at_end = |seconds| check_at(&policy(&text(long)), seconds);
    let permitted = at_end(NOW + 1000 * DAY - 1).unwrap();
    assert_eq!(permitted.not_after(), at(NOW + 1000 * DAY));
    for late in [NOW + 1000 * DAY, u64::MAX] {
        assert_eq!(at_end(late).unwrap_err(), [Reason::CaEnded]);
    }
}

fn check_at(policy: &Policy, seconds: u64) -> Result<Permitted, Vec<Reason>> {
    policy
        .check(&wanted_for(None), CA.certificate(), at(seconds))
        .map_err(|forbidden| {
            let reasons = forbidden.refusals().iter().map(|refusal| refusal.reason());
            reasons.cloned().collect()
        })
}

/// This is for peers whose clocks are slow.
#[test]
fn certificates_begin_an_hour_earlier_but_not_before_their_ca() {
    let policy = policy(&text(""));
    let ca_start = NOW - 10 * DAY;
    for (now, start, end) in [
        (NOW, NOW - HOUR, NOW + 90 * DAY),
        (ca_start + HOUR, ca_start, ca_start + HOUR + 90 * DAY),
        (ca_start + 1, ca_start, ca_start + 1 + 90 * DAY),
        // A CA that was made with a fast clock.
        (ca_start - 100 * DAY, ca_start, ca_start + 90 * DAY),
        (0, ca_start, ca_start + 90 * DAY),
    ] {
        let permitted = check_at(&policy, now).unwrap();
        assert_eq!(permitted.not_before(), at(start));
        assert_eq!(permitted.not_after(), at(end));
    }
}

#[test]
fn certificates_are_issued_with_the_validity_permitted() {
    let key = new_key();
    let wanted = Wanted::new(&key).unwrap().dns_name("a.org");
    let permitted = check(&policy(&text("")), &wanted).unwrap();
    let certificate = CA.issue(permitted.certificate(), &key).unwrap();
    assert_eq!(certificate.not_before(), permitted.not_before());
    assert_eq!(certificate.not_after(), permitted.not_after());
}

#[test]
fn lists_are_valid_as_long_as_the_file_says() {
    for (text, days) in [("", 7), ("[revocation-lists]\nvalidity = '2w'", 14)] {
        let expected = Duration::from_secs(days * DAY);
        assert_eq!(policy(text).revocation_list_validity(), expected);
    }
}
