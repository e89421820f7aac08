//! The errors of keys of every kind as one type, and which of them mean that a key's parts don't belong together.

use pq_hpke::{KemError, XWingError};
use pq_x509::CompositeIdentifier;
use rustls_pq::classical::{ClassicalAlgorithm, ClassicalKeyError};
use rustls_pq::composite::{CompositeAlgorithm, CompositeKeyError};

/// Why a key of any kind can't be made, read, written or used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeyError {
    #[error("{0}")]
    PostQuantum(pq_x509::KeyError),
    #[error("{0}")]
    XWing(XWingError),
    #[error("{0}")]
    Kem(KemError),
    #[error("{0}")]
    Classical(ClassicalKeyError),
    #[error("{0}")]
    Composite(CompositeKeyError),
    #[error("{0} keys are two keys in one and have no raw bytes here; write them as PEM or DER")]
    NoRawBytes(CompositeAlgorithm),
    #[error("a composite key, of {0}, but this command is for keys of one algorithm")]
    NotOfOneAlgorithm(CompositeAlgorithm),
    #[error("a classical key, of {0}, but this command is for post-quantum keys")]
    NotPostQuantum(ClassicalAlgorithm),
    #[error(
        "an X-Wing key, which is for files (\"pqtls encrypt\" and \"pqtls decrypt\"), but this command is for \
         other keys"
    )]
    OnlyForFiles,
}

impl KeyError {
    /// Whether there is a key, but its parts do not belong together, so that nobody should use it.
    pub(crate) fn is_refusal(&self) -> bool {
        use pq_x509::KeyError as PostQuantum;

        match self {
            Self::PostQuantum(error) => matches!(
                error,
                PostQuantum::Malformed { .. }
                    | PostQuantum::SeedMismatch(_)
                    | PostQuantum::PublicKeyMismatch(_)
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
            Self::Kem(_)
            | Self::NoRawBytes(_)
            | Self::NotOfOneAlgorithm(_)
            | Self::NotPostQuantum(_)
            | Self::OnlyForFiles => false,
        }
    }

    /// Whether it is the operating system that failed.
    pub(crate) fn is_lack_of_randomness(&self) -> bool {
        matches!(
            self,
            Self::PostQuantum(pq_x509::KeyError::Randomness(_))
                | Self::XWing(XWingError::Randomness(_))
                | Self::Classical(ClassicalKeyError::Randomness)
                | Self::Composite(CompositeKeyError::Randomness)
        )
    }
}

impl From<pq_x509::KeyError> for KeyError {
    fn from(error: pq_x509::KeyError) -> Self {
        Self::PostQuantum(error)
    }
}

impl From<XWingError> for KeyError {
    fn from(error: XWingError) -> Self {
        Self::XWing(error)
    }
}

impl From<KemError> for KeyError {
    fn from(error: KemError) -> Self {
        Self::Kem(error)
    }
}

impl From<ClassicalKeyError> for KeyError {
    fn from(error: ClassicalKeyError) -> Self {
        Self::Classical(error)
    }
}

impl From<CompositeKeyError> for KeyError {
    fn from(error: CompositeKeyError) -> Self {
        Self::Composite(error)
    }
}

/// Whether pq-x509 does not know the algorithm of a key because it is a composite one.
pub(super) fn is_of_composite(error: &pq_x509::KeyError) -> bool {
    matches!(
        error,
        pq_x509::KeyError::UnsupportedAlgorithm(oid) if CompositeIdentifier::from_oid(*oid).is_some()
    )
}

/// The same for an X-Wing key.
pub(super) fn is_of_x_wing(error: &pq_x509::KeyError) -> bool {
    matches!(error, pq_x509::KeyError::UnsupportedAlgorithm(oid) if *oid == pq_hpke::X_WING_OID)
}
