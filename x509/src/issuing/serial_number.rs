//! Serial numbers of certificates.

use pq_keys::random;
use x509_cert::serial_number::SerialNumber;

use super::error::IssueError;

/// A serial number that the caller chose, big-endian.
pub(crate) fn serial_number(bytes: &[u8]) -> Result<SerialNumber, IssueError> {
    if bytes.iter().all(|byte| *byte == 0) {
        return Err(IssueError::SerialNumber);
    }
    SerialNumber::new(bytes).map_err(|_| IssueError::SerialNumber)
}

/// 158 random bits under a first byte of 0x40 to 0x7f: positive, and always 20 bytes, the
/// most that RFC 5280 section 4.1.2.2 allows.
pub(crate) fn random_serial_number() -> Result<SerialNumber, IssueError> {
    let mut bytes = [0; 20];
    random::fill(&mut bytes)?;
    bytes[0] = bytes[0] & 0x3f | 0x40;
    serial_number(&bytes)
}
