//! Why a key of X-Wing is refused, or an encapsulation fails.

use crate::encoding::pem::PemError;
use crate::keys::random::RandomnessError;
use pkcs8::{ObjectIdentifier, der};

/// Why a key of X-Wing can't be made, read or used.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum XWingError {
    /// The bytes are not the DER of a PKCS#8 private key or of a SubjectPublicKeyInfo.
    #[error("the key is not valid DER: {0}")]
    Der(der::Error),
    /// The text has no PEM block of the right kind, or a damaged one.
    #[error("{0}")]
    Pem(PemError),
    /// The key is of another algorithm.
    #[error("the key is of algorithm {0}, and not of X-Wing")]
    OtherAlgorithm(ObjectIdentifier),
    /// The AlgorithmIdentifier has parameters, which must be absent.
    #[error(
        "the AlgorithmIdentifier of X-Wing carries parameters, which must be absent; have the key encoded \
         again by a conforming tool"
    )]
    ParametersPresent,
    /// A key or a ciphertext has another length.
    #[error("{what} of X-Wing has {expected} bytes, and not {found}")]
    Length {
        /// What it is.
        what: &'static str,
        /// How many bytes it should have.
        expected: usize,
        /// How many it has.
        found: usize,
    },
    /// A public key's bits are no whole number of bytes.
    #[error("malformed public key of X-Wing: its bits are no whole number of bytes")]
    PartialByte,
    /// The ML-KEM-768 half fails the checks of FIPS 203, section 7.2.
    #[error("malformed public key of X-Wing, in its ML-KEM-768 half: {0}")]
    MlKem(pq_core::Error),
    /// The X25519 half gives the same secret with every key.
    #[error("the X25519 half is a point of low order, which gives no secret; don't use it")]
    LowOrder,
    /// The public key beside the private one belongs to another key.
    #[error(
        "malformed key of X-Wing: the public key beside the private one belongs to another key"
    )]
    PublicKeyMismatch,
    /// The operating system gave no randomness.
    #[error("the operating system gave no randomness: {0}")]
    Randomness(RandomnessError),
}

impl XWingError {
    pub(super) fn length(what: &'static str, expected: usize, found: &[u8]) -> Self {
        Self::Length {
            what,
            expected,
            found: found.len(),
        }
    }
}

impl From<der::Error> for XWingError {
    fn from(error: der::Error) -> Self {
        Self::Der(error)
    }
}

impl From<PemError> for XWingError {
    fn from(error: PemError) -> Self {
        Self::Pem(error)
    }
}
