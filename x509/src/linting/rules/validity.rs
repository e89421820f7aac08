//! Times: their forms and their order.

use super::{BUT_REQUESTS, CERTIFICATES};
use crate::linting::document::{Document, Moment, moment, tag};
use crate::linting::listed::{Listed, quoted};
use crate::linting::rule::Rule;

pub(super) static RULES: &[Rule] = &[
    Rule::error(
        "rfc5280-time-form",
        "RFC 5280 sections 4.1.2.5.1 and 4.1.2.5.2",
        "a time is in GMT, to the second, and on a day that exists",
        BUT_REQUESTS,
        |document| {
            let wrong: Listed = document
                .all_times()
                .filter(|(_, time)| moment(time).is_none())
                .map(|(name, time)| format!("{name} is {}", quoted(time.value())))
                .collect();
            let times = wrong.text()?;
            Some(format!(
                "{times}; write YYMMDDhhmmssZ, and from 2050 on YYYYMMDDhhmmssZ"
            ))
        },
    ),
    Rule::error(
        "rfc5280-time-type",
        "RFC 5280 sections 4.1.2.5 and 5.1.2.4 to 5.1.2.6",
        "a time through 2049 is a UTCTime",
        BUT_REQUESTS,
        time_types,
    ),
    Rule::error(
        "rfc5280-validity-order",
        "RFC 5280 section 4.1.2.5",
        "the validity ends after it starts",
        CERTIFICATES,
        |certificate| {
            let (start, end) = validity(certificate)?;
            let is_in_order = start.seconds <= end.seconds;
            (!is_in_order).then(|| "the validity ends before it starts".into())
        },
    ),
    Rule::warning(
        "rfc5280-no-expiration",
        "RFC 5280 section 4.1.2.5",
        "a certificate without expiration ends at 99991231235959Z",
        CERTIFICATES,
        |certificate| {
            let (_, time) = certificate.times.get(1)?;
            let never = moment(time).is_some_and(|end| end.year == 9999);
            let text = quoted(time.value());
            (never && time.value() != FOREVER)
                .then(|| format!("ends at {text}; write 99991231235959Z for no expiration"))
        },
    ),
    Rule::notice(
        "rfc5280-never-expires",
        "RFC 5280 section 4.1.2.5",
        "a certificate expires",
        CERTIFICATES,
        |certificate| {
            let (_, time) = certificate.times.get(1)?;
            (time.value() == FOREVER)
                .then(|| "never expires, so revocation lists would have to keep it forever".into())
        },
    ),
    Rule::notice(
        "posix-date-before-1970",
        "POSIX, time since the epoch",
        "no time is before 1970",
        BUT_REQUESTS,
        |document| {
            let is_early = |time: Moment| time.seconds < 0;
            let early: Listed = document
                .all_times()
                .filter(|(_, time)| moment(time).is_some_and(is_early))
                .map(|(name, time)| format!("{name} is {}", quoted(time.value())))
                .collect();
            Some(format!("{}, which many programs can't read", early.text()?))
        },
    ),
];

const FOREVER: &[u8] = b"99991231235959Z";

/// The start and the end of a certificate's validity.
pub(super) fn validity(certificate: &Document<'_>) -> Option<(Moment, Moment)> {
    match &*certificate.times {
        [(_, start), (_, end)] => Some((moment(start)?, moment(end)?)),
        _ => None,
    }
}

fn time_types(document: &Document<'_>) -> Option<String> {
    // A UTCTime can only express these years.
    let is_for_utc = |time: Moment| (1950..2050).contains(&time.year);
    let wrong: Listed = document
        .all_times()
        .filter(|(_, time)| time.tag == tag::GENERALIZED_TIME)
        .filter(|(_, time)| moment(time).is_some_and(is_for_utc))
        .map(|(name, time)| format!("{name} is the GeneralizedTime {}", quoted(time.value())))
        .collect();
    Some(format!("{}; write a UTCTime", wrong.text()?))
}
