//! Keys that CMS messages are encrypted to and decrypted with: of ML-KEM, or classical ones for key agreement (ECDH,
//! X25519).

use pq_keys::any::{AnyPrivateKey, AnyPublicKey, Kind, Readable};
use pq_keys::classical::{ClassicalAgreementKey, ClassicalAgreementPublicKey};
use pq_keys::pki_types::SubjectPublicKeyInfoDer;
use pq_keys::{DecapsulationKey, EncapsulationKey, SubjectKey};

use super::error::KeyError;
use super::narrow::Narrow;

/// A public key that messages are encrypted to.
#[derive(Clone, Debug)]
pub(crate) enum EncryptionKey {
    PostQuantum(EncapsulationKey),
    /// Not safe against quantum computers.
    Classical(ClassicalAgreementPublicKey),
}

impl EncryptionKey {
    /// Reads a SubjectPublicKeyInfo.
    pub(crate) fn from_spki_der(der: &[u8]) -> Result<Self, KeyError> {
        let error = match pq_keys::PublicKey::from_spki_der(der) {
            Ok(key) => return Ok(Self::PostQuantum(key.try_into()?)),
            Err(error) => error,
        };
        match Kind::of_unknown(&error) {
            Some(Kind::XWing | Kind::Composite) => {
                EncapsulationKey::narrow(AnyPublicKey::from_spki_der(der)?).map(Self::PostQuantum)
            }
            Some(Kind::X25519 | Kind::Classical) => Ok(Self::Classical(
                ClassicalAgreementPublicKey::from_spki_der(der)?,
            )),
            None => Err(error.into()),
        }
    }

    pub(crate) fn algorithm(&self) -> &'static str {
        match self {
            Self::PostQuantum(key) => key.algorithm().name(),
            Self::Classical(key) => key.algorithm().name(),
        }
    }

    /// Whether it is safe against quantum computers.
    pub(crate) fn is_post_quantum(&self) -> bool {
        matches!(self, Self::PostQuantum(_))
    }
}

impl SubjectKey for EncryptionKey {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        match self {
            Self::PostQuantum(key) => key.spki(),
            Self::Classical(key) => key.spki(),
        }
    }
}

/// A private key that decrypts messages.
#[derive(Clone, Debug)]
pub(crate) enum DecryptionKey {
    PostQuantum(DecapsulationKey),
    /// Not safe against quantum computers.
    Classical(ClassicalAgreementKey),
}

impl DecryptionKey {
    /// The public key that belongs to it.
    pub(crate) fn public_half(&self) -> EncryptionKey {
        match self {
            Self::PostQuantum(key) => EncryptionKey::PostQuantum(key.encapsulation_key().clone()),
            Self::Classical(key) => EncryptionKey::Classical(key.public_key().clone()),
        }
    }
}

impl Readable for DecryptionKey {
    type Error = KeyError;

    fn from_post_quantum(key: pq_keys::PrivateKey) -> Result<Self, KeyError> {
        Ok(Self::PostQuantum(key.try_into()?))
    }

    fn from_other(der: &[u8], kind: Kind) -> Result<Self, KeyError> {
        match kind {
            Kind::XWing | Kind::Composite => {
                let key = AnyPrivateKey::from_other(der, kind)?;
                DecapsulationKey::narrow(key).map(Self::PostQuantum)
            }
            Kind::X25519 | Kind::Classical => {
                Ok(Self::Classical(ClassicalAgreementKey::from_der(der)?))
            }
        }
    }

    /// Reading compares the parts that there are.
    fn check(&self) -> Result<(), KeyError> {
        Ok(())
    }

    fn is_refusal(error: &KeyError) -> bool {
        error.is_refusal()
    }
}
