//! Why a key is refused, or a secret can't be encapsulated or decapsulated.

#[cfg(feature = "classical")]
use pq_keys::classical::ClassicalKeyError;
use pq_keys::random::RandomnessError;
use pq_keys::x_wing::XWingError;
use pq_keys::{KeyError, agreement::AgreementError};

use super::kem::Kem;

/// Why a key is refused, or a secret can't be encapsulated or decapsulated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KemError {
    /// ML-KEM refuses it.
    #[error("{0}")]
    MlKem(KeyError),
    /// X-Wing refuses it.
    #[error("{0}")]
    XWing(XWingError),
    /// A key of P-256 is malformed, or this CPU can't compute with it.
    #[cfg(feature = "classical")]
    #[error("{0}")]
    P256(ClassicalKeyError),
    /// There is no secret that the two keys of P-256 share.
    #[error("{0}")]
    Agreement(AgreementError),
    /// The point of X25519 gives the same secret with every key (RFC 9180, section 7.1.4).
    #[error("the X25519 key is a point of low order, which gives no secret; don't use it")]
    LowOrder,
    /// A key or an encapsulated secret of DHKEM has another length.
    #[error("{what} of {kem} has {expected} bytes, and not {found}")]
    Length {
        /// What it is.
        what: &'static str,
        /// The KEM.
        kem: Kem,
        /// How many bytes it should have.
        expected: usize,
        /// How many it has.
        found: usize,
    },
    /// The keys of this KEM are not compiled in.
    #[error("keys of {0} need the feature `classical` of pq-hpke")]
    NotCompiledIn(Kem),
    /// The operating system gave no randomness.
    #[error("the operating system gave no randomness: {0}")]
    Randomness(RandomnessError),
    /// pq-keys has a KEM that has no number in HPKE.
    #[error("{0} has no number in HPKE that is known here; take a key of ML-KEM or X-Wing")]
    NoNumber(&'static str),
}

impl From<KeyError> for KemError {
    fn from(error: KeyError) -> Self {
        Self::MlKem(error)
    }
}

impl From<XWingError> for KemError {
    fn from(error: XWingError) -> Self {
        Self::XWing(error)
    }
}

impl From<AgreementError> for KemError {
    fn from(error: AgreementError) -> Self {
        Self::Agreement(error)
    }
}

#[cfg(feature = "classical")]
impl From<ClassicalKeyError> for KemError {
    fn from(error: ClassicalKeyError) -> Self {
        Self::P256(error)
    }
}
