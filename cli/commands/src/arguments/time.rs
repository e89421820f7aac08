//! Points in time on the command line, always in UTC: a day, or a day with a time.

use core::time::Duration;

use pq_x509::pki_types::UnixTime;
use pq_x509::x509_cert::der::DateTime;

/// Reads a time in UTC, `2027-01-31T12:00:00Z`, or the first second of a day, `2027-01-31`.
pub(crate) fn time(text: &str) -> Result<UnixTime, String> {
    let full = match text.len() {
        10 => format!("{text}T00:00:00Z"),
        _ => text.to_owned(),
    };
    let time: DateTime = full.parse().map_err(|_| {
        "write a day such as 2027-01-31, or a time in UTC such as 2027-01-31T12:00:00Z, not before 1970"
    })?;
    Ok(UnixTime::since_unix_epoch(Duration::from_secs(
        time.unix_duration().as_secs(),
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_times() {
        let seconds = |text| time(text).map(|time| time.as_secs());
        assert_eq!(seconds("1970-01-02"), Ok(86_400));
        assert_eq!(seconds("1970-01-02T00:00:01Z"), Ok(86_401));
        for bad in [
            "",
            "1969-12-31",
            "2027-02-30",
            "2027-01-31T12:00:00",
            "tomorrow!!",
        ] {
            assert!(seconds(bad).unwrap_err().contains("write a day"), "{bad}");
        }
    }
}
