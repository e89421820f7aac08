use rustls_pq::classical::{ClassicalAlgorithm, ClassicalKeyError};

/// Why a key of either kind can't be made, read, written or used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeyError {
    #[error("{0}")]
    PostQuantum(pq_x509::KeyError),
    #[error("{0}")]
    Classical(ClassicalKeyError),
    #[error("a classical key, of {0}, and this command is for post-quantum ones")]
    NotPostQuantum(ClassicalAlgorithm),
}

impl KeyError {
    /// Whether the key is there and its parts do not belong together, so that nobody should use it.
    pub(crate) fn is_refusal(&self) -> bool {
        use pq_x509::KeyError as PostQuantum;

        match self {
            Self::PostQuantum(error) => matches!(
                error,
                PostQuantum::Malformed { .. }
                    | PostQuantum::SeedMismatch(_)
                    | PostQuantum::PublicKeyMismatch(_)
            ),
            Self::Classical(error) => matches!(
                error,
                ClassicalKeyError::Malformed { .. }
                    | ClassicalKeyError::PublicKeyMismatch(_)
                    | ClassicalKeyError::Unsound
            ),
            Self::NotPostQuantum(_) => false,
        }
    }

    /// Whether it is the operating system that failed.
    pub(crate) fn is_lack_of_randomness(&self) -> bool {
        matches!(
            self,
            Self::PostQuantum(pq_x509::KeyError::Randomness(_))
                | Self::Classical(ClassicalKeyError::Randomness)
        )
    }
}

impl From<pq_x509::KeyError> for KeyError {
    fn from(error: pq_x509::KeyError) -> Self {
        Self::PostQuantum(error)
    }
}

impl From<ClassicalKeyError> for KeyError {
    fn from(error: ClassicalKeyError) -> Self {
        Self::Classical(error)
    }
}
