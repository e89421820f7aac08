//! The algorithms that have a name in JOSE and a number in COSE, and which algorithm of pq-keys each of them is.

use core::fmt;

use pq_keys::{SignatureAlgorithm, Signer};

use super::error::AkpError;

/// An algorithm that JOSE and COSE have names for (RFC 9964, section 5).
///
/// SLH-DSA has no names and numbers yet: a draft requests them.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Algorithm {
    /// ML-DSA-44, −48 in COSE.
    MlDsa44,
    /// ML-DSA-65, −49 in COSE.
    MlDsa65,
    /// ML-DSA-87, −50 in COSE.
    MlDsa87,
}

impl Algorithm {
    /// All algorithms.
    pub const ALL: &'static [Self] = &[Self::MlDsa44, Self::MlDsa65, Self::MlDsa87];

    /// The name in JOSE, such as `ML-DSA-65`. FIPS 204 uses the same name.
    pub fn name(self) -> &'static str {
        SignatureAlgorithm::from(self).name()
    }

    /// The number in COSE.
    pub fn cose_number(self) -> i64 {
        match self {
            Self::MlDsa44 => -48,
            Self::MlDsa65 => -49,
            Self::MlDsa87 => -50,
        }
    }

    /// The algorithm of the signatures that this key makes.
    ///
    /// # Errors
    ///
    /// [`AkpError::Algorithm`], if it is another algorithm.
    pub fn of_signer(key: &(impl Signer + ?Sized)) -> Result<Self, AkpError> {
        let oid = key.signature_algorithm().oid;
        match pq_keys::Algorithm::from_oid(oid) {
            Some(pq_keys::Algorithm::Signature(algorithm)) => algorithm.try_into(),
            _ => Err(AkpError::Algorithm(oid.to_string())),
        }
    }

    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|one| one.name() == name)
    }

    pub(crate) fn of_cose_number(number: i64) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|one| one.cose_number() == number)
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl From<Algorithm> for SignatureAlgorithm {
    fn from(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::MlDsa44 => Self::MlDsa44,
            Algorithm::MlDsa65 => Self::MlDsa65,
            Algorithm::MlDsa87 => Self::MlDsa87,
        }
    }
}

impl TryFrom<SignatureAlgorithm> for Algorithm {
    type Error = AkpError;

    fn try_from(algorithm: SignatureAlgorithm) -> Result<Self, AkpError> {
        let mut all = Self::ALL.iter().copied();
        let found = all.find(|one| SignatureAlgorithm::from(*one) == algorithm);
        found.ok_or_else(|| AkpError::Algorithm(algorithm.name().into()))
    }
}
