//! Keys that CMS messages are encrypted to and decrypted with: of ML-KEM, or classical ones for key agreement (ECDH,
//! X25519).

use pq_x509::pki_types::SubjectPublicKeyInfoDer;
use pq_x509::{DecapsulationKey, EncapsulationKey, SubjectKey};
use rustls_pq::classical::{ClassicalAgreementKey, ClassicalAgreementPublicKey};

use super::error::{KeyError, is_of_composite, is_of_x_wing};
use super::private_key::{FromPkcs8, PrivateKey};
use super::public_key::PublicKey;

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
        match pq_x509::PublicKey::from_spki_der(der) {
            Ok(key) => Ok(Self::PostQuantum(key.try_into()?)),
            Err(error) if is_of_composite(&error) || is_of_x_wing(&error) => {
                PublicKey::from_spki_der(der)?
                    .try_into()
                    .map(Self::PostQuantum)
            }
            Err(pq_x509::KeyError::UnsupportedAlgorithm(_)) => Ok(Self::Classical(
                ClassicalAgreementPublicKey::from_spki_der(der)?,
            )),
            Err(error) => Err(error.into()),
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

impl FromPkcs8 for DecryptionKey {
    fn from_post_quantum(key: pq_x509::PrivateKey) -> Result<Self, KeyError> {
        Ok(Self::PostQuantum(key.try_into()?))
    }

    fn from_other(der: &[u8], error: &pq_x509::KeyError) -> Result<Self, KeyError> {
        match is_of_composite(error) || is_of_x_wing(error) {
            true => PrivateKey::from_other(der, error)?
                .try_into()
                .map(Self::PostQuantum),
            false => Ok(Self::Classical(ClassicalAgreementKey::from_der(der)?)),
        }
    }
}
