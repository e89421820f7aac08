//! Times of certificates and of now, as the standard library has them.

use core::time::Duration;
use std::time::SystemTime;

use pq_x509::pki_types::UnixTime;

/// For times up to the year 9999, with which there is no overflow.
pub(crate) fn system_time(time: UnixTime) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(time.as_secs())
}
