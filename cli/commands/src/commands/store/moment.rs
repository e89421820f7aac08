//! Times of a store, which are milliseconds since 1970, as text.

use core::time::Duration;

use pq_keys::encoding::rfc3339;
use pq_x509::pki_types::UnixTime;

/// The time in UTC, to the second.
pub(super) fn text(milliseconds: u64) -> String {
    rfc3339(UnixTime::since_unix_epoch(Duration::from_millis(
        milliseconds,
    )))
}
