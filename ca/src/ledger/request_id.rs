//! The number of what a certificate was issued for.

use core::fmt;

use super::digits::{Digits, read_digits};

/// What a certificate was issued for, such as an order of ACME: 32 bytes that whoever asks chooses, such as a digest. A
/// ledger has one certificate for it at most, so who asks again, after a crash or from another machine, gets that one.
///
/// ```
/// use pq_ca::ledger::RequestId;
///
/// let request = RequestId::from_bytes([0xab; 32]);
/// assert_eq!(request.to_string(), "ab".repeat(32));
/// assert_eq!(RequestId::from_digits(&request.to_string()), Some(request));
/// ```
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct RequestId([u8; 32]);

impl RequestId {
    /// The number of these bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Reads its hexadecimal digits, as they are displayed.
    pub fn from_digits(digits: &str) -> Option<Self> {
        read_digits(digits).map(Self)
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Digits(&self.0).fmt(f)
    }
}

impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RequestId({self})")
    }
}
