//! Times and numbers of things as reports write them.

use core::time::Duration;

use pq_x509::pki_types::UnixTime;
use pq_x509::x509_cert::der::DateTime;

/// A time as RFC 3339 has it, in UTC and to the second.
pub(crate) fn rfc3339(time: UnixTime) -> String {
    match DateTime::from_unix_duration(Duration::from_secs(time.as_secs())) {
        Ok(date) => date.to_string(),
        // Past the year 9999, which no certificate can say.
        Err(_) => format!("{} seconds after 1970", time.as_secs()),
    }
}

/// A number of things: `1 day`, `2 days`.
pub(crate) fn with_unit(count: u64, unit: &str) -> String {
    match count {
        1 => format!("1 {unit}"),
        _ => format!("{count} {unit}s"),
    }
}
