//! What ledgers ask of the numbers of revocation lists.

use super::error::LedgerError;

/// Checks that an issuer, whose last list that was begun is this one, has a list of this number.
pub(super) fn check_numbered(issuer: &str, number: u64, begun: u64) -> Result<(), LedgerError> {
    match (1..=begun).contains(&number) {
        true => Ok(()),
        false => Err(LedgerError::UnknownList {
            issuer: issuer.into(),
            number,
        }),
    }
}

/// Checks that no list was begun after this one.
pub(super) fn check_begun(issuer: &str, number: u64, begun: u64) -> Result<(), LedgerError> {
    check_last(issuer, number, begun, false)
}

/// Checks that no list was written that came after this one.
pub(super) fn check_written(issuer: &str, number: u64, written: u64) -> Result<(), LedgerError> {
    check_last(issuer, number, written, true)
}

fn check_last(issuer: &str, number: u64, last: u64, is_written: bool) -> Result<(), LedgerError> {
    match last > number {
        true => Err(LedgerError::LaterList {
            issuer: issuer.into(),
            number,
            later: last,
            is_written,
        }),
        false => Ok(()),
    }
}
