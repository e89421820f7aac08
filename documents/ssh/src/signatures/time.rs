//! Times in options.

use pq_keys::der::DateTime;

/// The seconds since 1970 of YYYYMMDDZ, YYYYMMDDHHMMZ or YYYYMMDDHHMMSSZ, but for 1970's beginning. In place of the Z there may
/// be UTC, and case makes no difference, as in OpenSSH. Without it, it would be a local time, and the file doesn't say in
/// which time zone.
///
/// OpenSSH reads fields with `strptime` and adds them up with `timegm`: each may begin with spaces, a month may have 31 days,
/// of which those that it lacks are the next month's, and a minute 62 seconds.
pub(super) fn read(text: &str) -> Option<u64> {
    let fields = ["Z", "UTC"].iter().find_map(|zone| {
        let (fields, end) = text.split_at_checked(text.len().checked_sub(zone.len())?)?;
        end.eq_ignore_ascii_case(zone).then_some(fields)
    })?;
    if ![8, 12, 14].contains(&fields.len()) {
        return None;
    }
    let field = |at: usize, len: usize, absent: u16| match fields.get(at..at + len) {
        Some(field) => decimal(field),
        None if at < fields.len() => None,
        None => Some(absent),
    };
    let two = |at, absent| u8::try_from(field(at, 2, absent)?).ok();
    let (day, second) = (two(6, 1)?, two(12, 0)?);
    if !(1..=31).contains(&day) || second > 61 {
        return None;
    }
    let start = DateTime::new(field(0, 4, 0)?, two(4, 1)?, 1, two(8, 0)?, two(10, 0)?, 0).ok()?;
    let days = u64::from(day - 1);
    let seconds = start.unix_duration().as_secs() + days * 86_400 + u64::from(second);
    // OpenSSH keeps 0 for times that are not given.
    (seconds != 0).then_some(seconds)
}

fn decimal(field: &str) -> Option<u16> {
    let digits = field.trim_start_matches(' ');
    let is_number = digits.bytes().all(|c| c.is_ascii_digit());
    is_number.then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_times_of_utc_alone() {
        for (text, seconds) in [
            ("19700102Z", Some(86_400)),
            ("197001020001Z", Some(86_460)),
            ("19700102000102Z", Some(86_462)),
            ("19700102000160Z", Some(86_520)),
            ("19700102000161Z", Some(86_521)),
            ("19700102000162Z", None),
            ("19700102006000Z", None),
            ("19700102240000Z", None),
            ("19700101Z", None),
            ("197001010000Z", None),
            ("19700101000001Z", Some(1)),
            ("19691231Z", None),
            ("20240230Z", Some(1_709_251_200)),
            ("20230229Z", Some(1_677_628_800)),
            ("20230431Z", Some(1_682_899_200)),
            ("20230100Z", None),
            ("20230132Z", None),
            ("1970 1 2Z", Some(86_400)),
            ("1970 102Z", Some(86_400)),
            ("19701 02Z", None),
            ("20240229Z", Some(1_709_164_800)),
            ("19700102z", Some(86_400)),
            ("19700102UTC", Some(86_400)),
            ("197001020001uTc", Some(86_460)),
            ("19700102ZZ", None),
            ("19700102 Z", None),
            ("1970010é Z", None),
            ("19700102C", None),
            ("UTC", None),
            ("19700102\u{17f}", None),
            ("20231301Z", None),
            ("20230101", None),
            ("2023010112Z", None),
            ("+0230101Z", None),
            ("Z", None),
            ("", None),
        ] {
            assert_eq!(read(text), seconds, "{text}");
        }
    }
}
