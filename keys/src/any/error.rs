//! The errors of keys of these algorithms as one type, and which of them mean that a key's parts don't belong together.

use thiserror::Error;

use super::algorithm::AnyAlgorithm;
use crate::classical::{ClassicalAlgorithm, ClassicalKeyError};
use crate::composite::CompositeKeyError;
use crate::errors::from_causes;
use crate::keys::KeyError;
use crate::x_wing::XWingError;

/// Why a key of any algorithm can't be made, read, written or used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AnyKeyError {
    /// A post-quantum key.
    #[error("{0}")]
    PostQuantum(KeyError),
    /// A key of X-Wing.
    #[error("{0}")]
    XWing(XWingError),
    /// A composite key.
    #[error("{0}")]
    Composite(CompositeKeyError),
    /// A classical key that signs or agrees, or one of an algorithm that is not known.
    #[error("{0}")]
    Classical(ClassicalKeyError),
    /// A key that signs or verifies is needed, but this one encapsulates or agrees.
    #[error(
        "this is a key of {0}, which {does}; a key that signs is needed, such as ML-DSA-65",
        does = what_it_does(*.0)
    )]
    NotASignatureKey(AnyAlgorithm),
    /// A context was given for a signature that has no place for one.
    #[error(
        "{0} signatures have no context; leave it empty, or take a key of another algorithm, such as ML-DSA-65"
    )]
    NoContext(ClassicalAlgorithm),
    /// It is something else, such as a certificate or a public key.
    #[error(
        "no private key: it may be a certificate or a public key; name the file of the private key"
    )]
    NoPrivateKey,
    /// It has neither a PEM block, nor does it begin as DER does.
    #[error("neither PEM nor DER, and so no key; name the file of the key")]
    NeitherPemNorDer,
}

from_causes!(AnyKeyError: PostQuantum(KeyError), XWing(XWingError), Composite(CompositeKeyError),
    Classical(ClassicalKeyError));

/// What a key does that doesn't sign.
fn what_it_does(algorithm: AnyAlgorithm) -> &'static str {
    match algorithm {
        AnyAlgorithm::Agreement(_) => "agrees on secrets",
        _ => "encapsulates",
    }
}

impl AnyKeyError {
    /// Whether there is a key, but its parts do not belong together, so that nobody should use it.
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::PostQuantum(error) => matches!(
                error,
                KeyError::Malformed { .. }
                    | KeyError::SeedMismatch(_)
                    | KeyError::PublicKeyMismatch(_)
            ),
            Self::XWing(error) => matches!(
                error,
                XWingError::Length { .. }
                    | XWingError::PartialByte
                    | XWingError::MlKem(_)
                    | XWingError::PublicKeyMismatch
            ),
            Self::Classical(error) => matches!(
                error,
                ClassicalKeyError::Malformed { .. }
                    | ClassicalKeyError::PublicKeyMismatch(_)
                    | ClassicalKeyError::Unsound
            ),
            Self::Composite(error) => matches!(
                error,
                CompositeKeyError::Malformed { .. }
                    | CompositeKeyError::PublicKeyMismatch(_)
                    | CompositeKeyError::Unsound(_)
                    | CompositeKeyError::MlDsa { .. }
                    | CompositeKeyError::Classical {
                        error: ClassicalKeyError::Malformed { .. },
                        ..
                    }
            ),
            Self::NotASignatureKey(_)
            | Self::NoContext(_)
            | Self::NoPrivateKey
            | Self::NeitherPemNorDer => false,
        }
    }

    /// Whether a signature was verified and is not valid. All other errors say why none was verified.
    pub fn is_invalid_signature(&self) -> bool {
        matches!(
            self,
            Self::PostQuantum(KeyError::InvalidSignature(_))
                | Self::Composite(CompositeKeyError::InvalidSignature(_))
                | Self::Classical(ClassicalKeyError::InvalidSignature(_))
        )
    }

    /// Whether it is the operating system that failed.
    pub fn is_lack_of_randomness(&self) -> bool {
        matches!(
            self,
            Self::PostQuantum(KeyError::Randomness(_))
                | Self::XWing(XWingError::Randomness(_))
                | Self::Classical(ClassicalKeyError::Randomness)
                | Self::Composite(CompositeKeyError::Randomness)
        )
    }
}
