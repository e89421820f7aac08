//! How long the certificate of a CA is valid, as far as the one above it is.

use core::time::Duration;

use pq_x509::certificate::{Certificate, Validity};
use pq_x509::pki_types::UnixTime;

use super::EARLIER;
use super::error::FolderError;
use crate::time::system_time;

/// The first and the last second of a certificate that is valid for this long from now on.
pub(super) fn lifetime(validity: Duration, now: UnixTime) -> (UnixTime, UnixTime) {
    let now = Duration::from_secs(now.as_secs());
    (
        UnixTime::since_unix_epoch(now.saturating_sub(EARLIER)),
        UnixTime::since_unix_epoch(now.saturating_add(validity)),
    )
}

/// These times, if the certificate above is valid for as long.
pub(super) fn bounded(
    (start, end): (UnixTime, UnixTime),
    above: &Certificate,
) -> Result<(UnixTime, UnixTime), FolderError> {
    match end > above.not_after() {
        true => Err(FolderError::OutlivesParent {
            until: above.not_after(),
        }),
        false => Ok((start.max(above.not_before()), end)),
    }
}

/// These times, as far as the certificate above is valid.
pub(super) fn shortened(
    (start, end): (UnixTime, UnixTime),
    above: &Certificate,
) -> (UnixTime, UnixTime) {
    (start.max(above.not_before()), end.min(above.not_after()))
}

pub(super) fn validity_of((start, end): (UnixTime, UnixTime)) -> Validity {
    Validity::new(system_time(start), system_time(end))
}
