//! Times in options.

use pq_keys::der::DateTime;

/// The seconds since 1970 of YYYYMMDDZ, YYYYMMDDHHMMZ or YYYYMMDDHHMMSSZ. In place of the Z there may be UTC, and case makes
/// no difference, as in OpenSSH. Without it, it would be a local time, and the file doesn't say in which time zone.
pub(super) fn read(text: &str) -> Option<u64> {
    let digits = ["Z", "UTC"].iter().find_map(|zone| {
        let (digits, end) = text.split_at_checked(text.len().checked_sub(zone.len())?)?;
        end.eq_ignore_ascii_case(zone).then_some(digits)
    })?;
    if !digits.bytes().all(|c| c.is_ascii_digit()) || ![8, 12, 14].contains(&digits.len()) {
        return None;
    }
    let (year, rest) = digits.split_at(4);
    let mut pairs = (0..5).map(|pair| match rest.get(2 * pair..2 * pair + 2) {
        Some(digits) => digits.parse::<u8>().ok(),
        None => Some(0),
    });
    let mut pair = || pairs.next().flatten();
    let time = DateTime::new(
        year.parse().ok()?,
        pair()?,
        pair()?,
        pair()?,
        pair()?,
        pair()?,
    );
    Some(time.ok()?.unix_duration().as_secs())
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
            ("20240229Z", Some(1_709_164_800)),
            ("19700102z", Some(86_400)),
            ("19700102UTC", Some(86_400)),
            ("197001020001uTc", Some(86_460)),
            ("19700102ZZ", None),
            ("19700102 Z", None),
            ("19700102C", None),
            ("UTC", None),
            ("19700102\u{17f}", None),
            ("20230229Z", None),
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
