//! The request to revoke a certificate (RFC 8555, section 7.6).

use alloc::borrow::Cow;

use serde::{Deserialize, Serialize};

/// The request to revoke a certificate.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Revocation<'a> {
    /// Its DER, in base64url.
    #[serde(borrow)]
    pub certificate: Cow<'a, str>,
    /// The number of the reason (RFC 5280, section 5.3.1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<u64>,
}

/// A reason that the holder of a certificate may give.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum RevocationReason {
    /// None is given.
    Unspecified,
    /// Somebody else may have the key.
    KeyCompromise,
    /// Its holder is called something else now.
    AffiliationChanged,
    /// There is another certificate for it.
    Superseded,
    /// What it was for is over.
    CessationOfOperation,
}

impl RevocationReason {
    /// All reasons that holders may give. Others, such as that of a stolen CA, are for the CA.
    pub const ALL: &'static [Self] = &[
        Self::Unspecified,
        Self::KeyCompromise,
        Self::AffiliationChanged,
        Self::Superseded,
        Self::CessationOfOperation,
    ];

    /// Its number.
    pub fn number(self) -> u64 {
        match self {
            Self::Unspecified => 0,
            Self::KeyCompromise => 1,
            Self::AffiliationChanged => 3,
            Self::Superseded => 4,
            Self::CessationOfOperation => 5,
        }
    }

    /// The reason with this number.
    pub fn of_number(number: u64) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|one| one.number() == number)
    }
}
