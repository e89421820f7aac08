//! The error type of all that is done with composite keys. It tells which half of a key was refused, but not which half
//! of a signature.

use der;

use super::algorithm::{CompositeAlgorithm, UnknownComposite};
use crate::classical::ClassicalKeyError;
use crate::encoding::pem::PemError;
use crate::keys::KeyError;

/// Why a composite key could not be made, read, written or used.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CompositeKeyError {
    /// The bytes are not the DER of a PKCS#8 private key or of a SubjectPublicKeyInfo.
    #[error("the key is not valid DER: {0}")]
    Der(der::Error),
    /// The text holds no PEM block of the right kind, or a damaged one.
    #[error(transparent)]
    Pem(#[from] PemError),
    /// The key is not composite, or of an unsupported combination.
    #[error(transparent)]
    Algorithm(#[from] UnknownComposite),
    /// The AlgorithmIdentifier carries parameters, which must be absent.
    #[error(
        "the AlgorithmIdentifier of {0} carries parameters; they must be absent, and NULL is not \
         absent: have the key encoded again by a conforming tool"
    )]
    ParametersPresent(CompositeAlgorithm),
    /// The key ends within its ML-DSA half, its bits are not whole bytes, or its classical half has
    /// another encoding than the draft's.
    #[error("malformed {algorithm} key: {reason}")]
    Malformed {
        /// The algorithm that the key claims.
        algorithm: CompositeAlgorithm,
        /// The check that failed.
        reason: &'static str,
    },
    /// The classical half was refused, or can't be used on this machine.
    #[error("the classical half of the {algorithm} key: {error}")]
    Classical {
        /// The algorithm that the key claims.
        algorithm: CompositeAlgorithm,
        /// Why.
        error: ClassicalKeyError,
    },
    /// The ML-DSA half was refused.
    #[error("the ML-DSA half of the {algorithm} key: {error}")]
    MlDsa {
        /// The algorithm that the key claims.
        algorithm: CompositeAlgorithm,
        /// Why.
        error: KeyError,
    },
    /// The public key in a private key's file belongs to another key.
    #[error("malformed {0} key: the public key beside the private key belongs to another key")]
    PublicKeyMismatch(CompositeAlgorithm),
    /// The parts of the private key don't belong together: its public key refuses its signatures.
    #[error(
        "the parts of the {0} key don't belong together: its public half refuses what its private half \
         signs; don't use it, and get it again from where it was made"
    )]
    Unsound(CompositeAlgorithm),
    /// The context is longer than 255 bytes.
    #[error("a context has at most 255 bytes, not {0}; shorten it, or give a hash of it")]
    ContextTooLong(usize),
    /// A message was hashed for another combination than the key's.
    #[error("the message was hashed for {hashed_for}, and the key is of {key}; hash it for {key}")]
    OtherAlgorithm {
        /// The combination that the message was hashed for.
        hashed_for: CompositeAlgorithm,
        /// The key's algorithm.
        key: CompositeAlgorithm,
    },
    /// The signature is not valid for this key, message and context. The error doesn't tell which half
    /// failed.
    #[error("invalid {0} signature")]
    InvalidSignature(CompositeAlgorithm),
    /// The operating system gave no randomness.
    #[error("the operating system gave no randomness")]
    Randomness,
}

impl From<der::Error> for CompositeKeyError {
    fn from(error: der::Error) -> Self {
        Self::Der(error)
    }
}

/// For `map_err`: an error of the ML-DSA half of a key of this algorithm.
pub(super) fn of_ml_dsa(algorithm: CompositeAlgorithm) -> impl Fn(KeyError) -> CompositeKeyError {
    move |error| match error {
        KeyError::Randomness(_) => CompositeKeyError::Randomness,
        error => CompositeKeyError::MlDsa { algorithm, error },
    }
}

/// For `map_err`: an error of the classical half of a key of this algorithm.
pub(super) fn of_classical(
    algorithm: CompositeAlgorithm,
) -> impl Fn(ClassicalKeyError) -> CompositeKeyError {
    move |error| match error {
        ClassicalKeyError::Randomness => CompositeKeyError::Randomness,
        ClassicalKeyError::Unsound => CompositeKeyError::Unsound(algorithm),
        error => CompositeKeyError::Classical { algorithm, error },
    }
}
