//! How long the certificate of a CA is valid, as far as the one above it is.

use core::time::Duration;

use pq_x509::certificate::{Certificate, Validity};
use pq_x509::pki_types::UnixTime;

use super::error::FolderError;
use super::{EARLIER, verdict};
use crate::time::system_time;

/// The first and the last second of a certificate that is valid for this long from now on.
fn lifetime(validity: Duration, now: UnixTime) -> (UnixTime, UnixTime) {
    let now = Duration::from_secs(now.as_secs());
    (
        UnixTime::since_unix_epoch(now.saturating_sub(EARLIER)),
        UnixTime::since_unix_epoch(now.saturating_add(validity)),
    )
}

/// The first and the last second of a certificate that is valid for as long as is asked for, or by default for this long, or
/// as long as the certificate above if that is shorter. That one must not have expired.
pub(super) fn lifetime_below(
    above: &Certificate,
    asked: Option<Duration>,
    default: Duration,
    now: UnixTime,
) -> Result<(UnixTime, UnixTime), FolderError> {
    check_not_expired(above, now)?;
    let (start, end) = lifetime(asked.unwrap_or(default), now);
    let (start, end) = match end > above.not_after() {
        true if asked.is_some() => {
            return Err(FolderError::OutlivesParent {
                until: above.not_after(),
            });
        }
        _ => (start.max(above.not_before()), end.min(above.not_after())),
    };
    if start >= end {
        verdict::check_time(above, now).map_err(FolderError::NotAccepted)?;
    }
    Ok((start, end))
}

/// That the certificate above, a root's, has not expired: nobody accepts anything new below it then.
pub(super) fn check_not_expired(root: &Certificate, now: UnixTime) -> Result<(), FolderError> {
    match root.not_after() < now {
        true => Err(FolderError::RootExpired {
            root: root.describe_subject(),
            until: root.not_after(),
        }),
        false => Ok(()),
    }
}

/// Whether a certificate is valid for as long as is asked for, since some time at which the one above it signed it.
pub(super) fn is_valid_for(
    asked: Option<Duration>,
    certificate: &Certificate,
    above: &Certificate,
) -> bool {
    let Some(asked) = asked else { return true };
    let signed = certificate
        .not_after()
        .as_secs()
        .checked_sub(asked.as_secs());
    signed.is_some_and(|signed| {
        let signed = UnixTime::since_unix_epoch(Duration::from_secs(signed));
        let (start, _) = lifetime(asked, signed);
        start.max(above.not_before()) == certificate.not_before()
    })
}

pub(super) fn validity_of((start, end): (UnixTime, UnixTime)) -> Validity {
    Validity::new(system_time(start), system_time(end))
}
