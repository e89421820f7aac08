//! The clock, compared with the last time that a ledger knows.

use core::time::Duration;

use pq_x509::pki_types::UnixTime;

use super::error::LedgerError;
use super::{AHEAD, BEHIND};

/// Checks a time against the last one that a ledger knows, if it knows any, in seconds since 1970.
pub(super) fn check(now: UnixTime, last: Option<u64>) -> Result<(), LedgerError> {
    check_is_not_ahead(now, last)?;
    refuse(now, last, |now, last| {
        now.saturating_add(BEHIND.as_secs()) < last
    })
}

/// The same of a time that may be of long ago.
pub(super) fn check_is_not_ahead(now: UnixTime, last: Option<u64>) -> Result<(), LedgerError> {
    refuse(now, last, |now, last| {
        now > last.saturating_add(AHEAD.as_secs())
    })
}

fn refuse(
    now: UnixTime,
    last: Option<u64>,
    is_wrong: impl FnOnce(u64, u64) -> bool,
) -> Result<(), LedgerError> {
    match last {
        Some(last) if is_wrong(now.as_secs(), last) => Err(LedgerError::Clock {
            now,
            last: UnixTime::since_unix_epoch(Duration::from_secs(last)),
        }),
        _ => Ok(()),
    }
}
