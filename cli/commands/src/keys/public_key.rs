//! Public keys of every kind behind one type, read from and written as SubjectPublicKeyInfo.

use pq_hpke::{RecipientPublicKey, XWingPublicKey};
use pq_x509::pki_types::SubjectPublicKeyInfoDer;
use pq_x509::{EncapsulationKey, SubjectKey, VerifyingKey};
use rustls_pq::classical::ClassicalPublicKey;
use rustls_pq::composite::CompositePublicKey;

use super::algorithm::Algorithm;
use super::error::{KeyError, is_of_composite, is_of_x_wing};
use super::narrow::post_quantum_only;

/// A public key of any kind.
#[derive(Clone, Debug)]
pub(crate) enum PublicKey {
    PostQuantum(pq_x509::PublicKey),
    XWing(Box<XWingPublicKey>),
    Composite(CompositePublicKey),
    Classical(ClassicalPublicKey),
}

impl PublicKey {
    /// Reads a SubjectPublicKeyInfo.
    pub(crate) fn from_spki_der(der: &[u8]) -> Result<Self, KeyError> {
        match pq_x509::PublicKey::from_spki_der(der) {
            Ok(key) => Ok(Self::PostQuantum(key)),
            Err(error) if is_of_x_wing(&error) => {
                Ok(Self::XWing(XWingPublicKey::from_spki_der(der)?.into()))
            }
            Err(error) if is_of_composite(&error) => {
                Ok(Self::Composite(CompositePublicKey::from_spki_der(der)?))
            }
            Err(pq_x509::KeyError::UnsupportedAlgorithm(_)) => {
                Ok(Self::Classical(ClassicalPublicKey::from_spki_der(der)?))
            }
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn algorithm(&self) -> Algorithm {
        match self {
            Self::PostQuantum(key) => Algorithm::PostQuantum(key.algorithm()),
            Self::XWing(_) => Algorithm::XWing,
            Self::Composite(key) => Algorithm::Composite(key.algorithm()),
            Self::Classical(key) => Algorithm::Classical(key.algorithm()),
        }
    }

    pub(crate) fn to_spki_der(&self) -> &[u8] {
        match self {
            Self::PostQuantum(key) => key.to_spki_der(),
            Self::XWing(key) => key.to_spki_der(),
            Self::Composite(key) => key.to_spki_der(),
            Self::Classical(key) => key.to_spki_der(),
        }
    }

    pub(crate) fn to_spki_pem(&self) -> String {
        match self {
            Self::PostQuantum(key) => key.to_spki_pem(),
            Self::XWing(key) => key.to_spki_pem(),
            Self::Composite(key) => key.to_spki_pem(),
            Self::Classical(key) => key.to_spki_pem(),
        }
    }

    /// The raw key.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::PostQuantum(key) => key.as_bytes(),
            Self::XWing(key) => key.as_bytes(),
            Self::Composite(key) => key.as_bytes(),
            Self::Classical(key) => key.as_bytes(),
        }
    }
}

impl From<VerifyingKey> for PublicKey {
    fn from(key: VerifyingKey) -> Self {
        Self::PostQuantum(pq_x509::PublicKey::Verifying(key))
    }
}

impl From<EncapsulationKey> for PublicKey {
    fn from(key: EncapsulationKey) -> Self {
        Self::PostQuantum(pq_x509::PublicKey::Encapsulation(key))
    }
}

post_quantum_only!(PublicKey: VerifyingKey, EncapsulationKey);

impl TryFrom<PublicKey> for RecipientPublicKey {
    type Error = KeyError;

    fn try_from(key: PublicKey) -> Result<Self, KeyError> {
        match key {
            PublicKey::XWing(key) => Ok((*key).into()),
            other => Ok(EncapsulationKey::try_from(other)?.try_into()?),
        }
    }
}

impl SubjectKey for PublicKey {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.to_spki_der().into()
    }
}
