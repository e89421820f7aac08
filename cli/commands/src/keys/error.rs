//! Why a command can't use a key: the errors of keys of every kind, and what commands do not take.

use pq_hpke::KemError;
use pq_keys::agreement::AgreementError;
use pq_keys::any::{AnyAlgorithm, AnyKeyError};
use pq_keys::classical::ClassicalKeyError;
use pq_keys::composite::{CompositeAlgorithm, CompositeKeyError};
use pq_keys::protection::ProtectionError;
use pq_keys::x_wing::XWingError;

/// Why a key of any kind can't be made, read, written or used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeyError {
    #[error("{0}")]
    Any(AnyKeyError),
    #[error("{0}")]
    Kem(KemError),
    #[error("{0}")]
    Agreement(AgreementError),
    #[error("{0} keys are two keys in one and have no raw bytes here; write them as PEM or DER")]
    NoRawBytes(CompositeAlgorithm),
    #[error("a composite key, of {0}, but this command is for keys of one algorithm")]
    NotOfOneAlgorithm(CompositeAlgorithm),
    #[error("a classical key, of {0}, but this command is for post-quantum keys")]
    NotPostQuantum(AnyAlgorithm),
    #[error(
        "an X-Wing key, which is for files (\"pqtls encrypt\" and \"pqtls decrypt\"), but this command is for \
         other keys"
    )]
    OnlyForFiles,
    #[error("{0}")]
    Protection(ProtectionError),
    #[error("it is under a passphrase")]
    UnderPassphrase,
    #[error("it is in a file, and not in a key store")]
    NotInStore,
}

impl KeyError {
    /// Whether there is a key, but its parts do not belong together, so that nobody should use it.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Self::Any(error) if error.is_refusal())
    }

    /// Whether it is the operating system that failed.
    pub(crate) fn is_lack_of_randomness(&self) -> bool {
        matches!(self, Self::Any(error) if error.is_lack_of_randomness())
    }
}

impl From<KemError> for KeyError {
    fn from(error: KemError) -> Self {
        Self::Kem(error)
    }
}

impl From<AgreementError> for KeyError {
    fn from(error: AgreementError) -> Self {
        Self::Agreement(error)
    }
}

impl From<AnyKeyError> for KeyError {
    fn from(error: AnyKeyError) -> Self {
        Self::Any(error)
    }
}

macro_rules! from_each {
    ($($error:ty),+) => {$(
        impl From<$error> for KeyError {
            fn from(error: $error) -> Self {
                Self::Any(error.into())
            }
        }
    )+};
}
from_each!(
    pq_keys::KeyError,
    XWingError,
    CompositeKeyError,
    ClassicalKeyError
);
