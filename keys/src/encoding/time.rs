//! Times as people and other programs read them.

use core::time::Duration;

use der::DateTime;
use pki_types::UnixTime;

/// A time as RFC 3339 has it, in UTC and to the second, such as `2026-11-29T10:00:00Z`. RFC 3339 has no year after
/// 9999: such a time is a number of seconds.
pub fn rfc3339(time: UnixTime) -> String {
    match DateTime::from_unix_duration(Duration::from_secs(time.as_secs())) {
        Ok(date) => date.to_string(),
        Err(_) => format!("{} seconds after 1970", time.as_secs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_year_9999_is_the_last_one() {
        let written = |seconds| rfc3339(UnixTime::since_unix_epoch(Duration::from_secs(seconds)));
        assert_eq!(written(0), "1970-01-01T00:00:00Z");
        assert_eq!(written(253_402_300_799), "9999-12-31T23:59:59Z");
        assert_eq!(written(253_402_300_800), "253402300800 seconds after 1970");
    }
}
