//! One type for all public keys and one for all private keys, of ML-KEM and X-Wing, to encapsulate to and to
//! decapsulate with.

use core::fmt;

use pq_keys::{DecapsulationKey, EncapsulationKey, KeyError};

use super::kem::Kem;
use pq_keys::x_wing::{SECRET_LEN, XWingError, XWingPrivateKey, XWingPublicKey};

/// Why a secret can't be encapsulated or decapsulated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KemError {
    /// ML-KEM refuses it.
    #[error("{0}")]
    MlKem(KeyError),
    /// X-Wing refuses it.
    #[error("{0}")]
    XWing(XWingError),
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

/// The key that something is encrypted to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RecipientPublicKey(Public);

#[derive(Clone, Debug, Eq, PartialEq)]
enum Public {
    MlKem(Kem, EncapsulationKey),
    XWing(Box<XWingPublicKey>),
}

impl RecipientPublicKey {
    /// The KEM of the key.
    pub fn kem(&self) -> Kem {
        match &self.0 {
            Public::MlKem(kem, _) => *kem,
            Public::XWing(_) => Kem::XWing,
        }
    }

    pub(crate) fn encapsulate(&self, secret: &mut [u8; SECRET_LEN]) -> Result<Vec<u8>, KemError> {
        match &self.0 {
            Public::MlKem(_, key) => Ok(key.encapsulate_into(secret)?),
            Public::XWing(key) => Ok(key.encapsulate_into(secret)?),
        }
    }
}

impl TryFrom<EncapsulationKey> for RecipientPublicKey {
    type Error = KemError;

    fn try_from(key: EncapsulationKey) -> Result<Self, KemError> {
        let algorithm = key.algorithm();
        let kem = Kem::of_ml_kem(algorithm).ok_or_else(|| KemError::NoNumber(algorithm.name()))?;
        Ok(Self(Public::MlKem(kem, key)))
    }
}

impl From<XWingPublicKey> for RecipientPublicKey {
    fn from(key: XWingPublicKey) -> Self {
        Self(Public::XWing(Box::new(key)))
    }
}

/// The key that decrypts.
///
/// `pq_cms::RecipientKey` refers to a key, of any kind that CMS has.
#[derive(Clone)]
pub struct RecipientKey(Private);

#[derive(Clone)]
enum Private {
    MlKem(Kem, DecapsulationKey),
    XWing(XWingPrivateKey),
}

impl RecipientKey {
    /// The KEM of the key.
    pub fn kem(&self) -> Kem {
        match &self.0 {
            Private::MlKem(kem, _) => *kem,
            Private::XWing(_) => Kem::XWing,
        }
    }

    pub(crate) fn decapsulate(
        &self,
        enc: &[u8],
        secret: &mut [u8; SECRET_LEN],
    ) -> Result<(), KemError> {
        match &self.0 {
            Private::MlKem(_, key) => Ok(key.decapsulate_into(enc, secret)?),
            Private::XWing(key) => Ok(key.decapsulate_into(enc, secret)?),
        }
    }
}

impl TryFrom<DecapsulationKey> for RecipientKey {
    type Error = KemError;

    fn try_from(key: DecapsulationKey) -> Result<Self, KemError> {
        let algorithm = key.algorithm();
        let kem = Kem::of_ml_kem(algorithm).ok_or_else(|| KemError::NoNumber(algorithm.name()))?;
        Ok(Self(Private::MlKem(kem, key)))
    }
}

impl From<XWingPrivateKey> for RecipientKey {
    fn from(key: XWingPrivateKey) -> Self {
        Self(Private::XWing(key))
    }
}

impl fmt::Debug for RecipientKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RecipientKey({})", self.kem())
    }
}
