//! Conversion of times to the type of the standard library.

use core::time::Duration;
use std::time::SystemTime;

use pq_x509::pki_types::UnixTime;

/// Converts a time up to the year 9999, which can't overflow.
pub(crate) fn system_time(time: UnixTime) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(time.as_secs())
}
