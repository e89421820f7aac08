//! One type for all public keys and one for all private keys, to encapsulate to and to decapsulate with.

use core::fmt;

use pq_core::wiping_stack;
use pq_keys::x_wing::{SECRET_LEN, XWingPrivateKey, XWingPublicKey};
use pq_keys::{DecapsulationKey, EncapsulationKey, KemAlgorithm};
use zeroize::Zeroizing;

use super::diffie_hellman::{DhPrivateKey, DhPublicKey};
use super::error::KemError;
use super::kem::Kem;

/// The key that something is encrypted to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RecipientPublicKey(Public);

#[derive(Clone, Debug, Eq, PartialEq)]
enum Public {
    MlKem(Kem, EncapsulationKey),
    XWing(Box<XWingPublicKey>),
    Dh(DhPublicKey),
}

impl RecipientPublicKey {
    /// DeserializePublicKey (RFC 9180, section 4): takes the key as HPKE sends it, for P-256 an uncompressed point.
    ///
    /// # Errors
    ///
    /// A [`KemError`] that says what is wrong with it, such as another length or a point that is not on the curve. A
    /// point of low order on X25519 is refused when something is encrypted to it.
    pub fn from_bytes(kem: Kem, bytes: &[u8]) -> Result<Self, KemError> {
        match kem.ml_kem() {
            Some(algorithm) => Ok(Self(Public::MlKem(
                kem,
                EncapsulationKey::from_bytes(algorithm, bytes)?,
            ))),
            None if kem == Kem::XWing => Ok(XWingPublicKey::from_bytes(bytes)?.into()),
            None => Ok(Self(Public::Dh(DhPublicKey::from_bytes(kem, bytes)?))),
        }
    }

    /// SerializePublicKey: the key as HPKE sends it.
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Public::MlKem(_, key) => key.as_bytes(),
            Public::XWing(key) => key.as_bytes(),
            Public::Dh(key) => key.as_bytes(),
        }
    }

    /// The KEM of the key.
    pub fn kem(&self) -> Kem {
        match &self.0 {
            Public::MlKem(kem, _) => *kem,
            Public::XWing(_) => Kem::XWing,
            Public::Dh(key) => key.kem(),
        }
    }

    pub(crate) fn encapsulate(&self, secret: &mut [u8; SECRET_LEN]) -> Result<Vec<u8>, KemError> {
        match &self.0 {
            Public::MlKem(_, key) => Ok(key.encapsulate_into(secret)?),
            Public::XWing(key) => Ok(key.encapsulate_into(secret)?),
            Public::Dh(key) => key.encapsulate(secret),
        }
    }
}

impl TryFrom<EncapsulationKey> for RecipientPublicKey {
    type Error = KemError;

    fn try_from(key: EncapsulationKey) -> Result<Self, KemError> {
        Ok(Self(Public::MlKem(numbered(key.algorithm())?, key)))
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
    Dh(DhPrivateKey),
}

impl RecipientKey {
    /// Makes a new key from the operating system's randomness.
    ///
    /// # Errors
    ///
    /// If there is no randomness; for P-256 [`KemError::NotCompiledIn`] without the feature `classical`, and
    /// [`KemError::P256`] where graviola doesn't run.
    pub fn generate(kem: Kem) -> Result<Self, KemError> {
        match kem.ml_kem() {
            Some(algorithm) => Ok(Self(Private::MlKem(
                kem,
                DecapsulationKey::generate(algorithm)?,
            ))),
            None if kem == Kem::XWing => Ok(XWingPrivateKey::generate()?.into()),
            None => wiping_stack(|| Ok(Self(Private::Dh(DhPrivateKey::generate(kem)?)))),
        }
    }

    /// DeserializePrivateKey (RFC 9180, section 4): takes the key as HPKE has it. For ML-KEM and X-Wing that is the
    /// seed, for P-256 the scalar.
    ///
    /// # Errors
    ///
    /// A [`KemError`] that says what is wrong with it.
    pub fn from_bytes(kem: Kem, bytes: &[u8]) -> Result<Self, KemError> {
        match kem.ml_kem() {
            Some(algorithm) => Ok(Self(Private::MlKem(
                kem,
                DecapsulationKey::from_seed(algorithm, bytes)?,
            ))),
            None if kem == Kem::XWing => Ok(XWingPrivateKey::from_bytes(bytes)?.into()),
            None => wiping_stack(|| Ok(Self(Private::Dh(DhPrivateKey::from_bytes(kem, bytes)?)))),
        }
    }

    /// SerializePrivateKey: what [`from_bytes`](Self::from_bytes) takes. `None` if a key of ML-KEM was read without
    /// its seed.
    pub fn to_bytes(&self) -> Option<Zeroizing<Vec<u8>>> {
        match &self.0 {
            Private::MlKem(_, key) => Some(key.seed()?.to_vec().into()),
            Private::XWing(key) => Some(key.as_bytes().to_vec().into()),
            Private::Dh(key) => Some(key.to_bytes()),
        }
    }

    /// The public half.
    pub fn public_key(&self) -> RecipientPublicKey {
        RecipientPublicKey(match &self.0 {
            Private::MlKem(kem, key) => Public::MlKem(*kem, key.encapsulation_key().clone()),
            Private::XWing(key) => Public::XWing(Box::new(key.public_key().clone())),
            Private::Dh(key) => Public::Dh(key.public_key().clone()),
        })
    }

    /// The KEM of the key.
    pub fn kem(&self) -> Kem {
        match &self.0 {
            Private::MlKem(kem, _) => *kem,
            Private::XWing(_) => Kem::XWing,
            Private::Dh(key) => key.public_key().kem(),
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
            Private::Dh(key) => key.decapsulate(enc, secret),
        }
    }
}

impl TryFrom<DecapsulationKey> for RecipientKey {
    type Error = KemError;

    fn try_from(key: DecapsulationKey) -> Result<Self, KemError> {
        Ok(Self(Private::MlKem(numbered(key.algorithm())?, key)))
    }
}

/// The KEM's number in HPKE, as a name.
fn numbered(algorithm: KemAlgorithm) -> Result<Kem, KemError> {
    Kem::of_ml_kem(algorithm).ok_or_else(|| KemError::NoNumber(algorithm.name()))
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
