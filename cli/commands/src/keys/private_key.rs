//! Private keys of every kind behind one type: read, written, and used as CA keys and signers. A narrower type has
//! only those that sign.

use pq_ca::StoredKey;
use pq_hpke::{RecipientKey, XWingPrivateKey};
use pq_x509::pki_types::{PrivateKeyDer, SubjectPublicKeyInfoDer};
use pq_x509::x509_cert::spki::AlgorithmIdentifierOwned;
use pq_x509::{PemError, SignError, Signer, SubjectKey};
use rustls_pq::classical::ClassicalKey;
use rustls_pq::composite::CompositeKey;
use zeroize::Zeroizing;

use super::algorithm::Algorithm;
use super::error::{KeyError, is_of_composite, is_of_x_wing};
use super::narrow::post_quantum_only;
use super::public_key::PublicKey;

/// A private key of any kind.
#[derive(Clone, Debug)]
pub(crate) enum PrivateKey {
    PostQuantum(pq_x509::PrivateKey),
    XWing(XWingPrivateKey),
    Composite(CompositeKey),
    Classical(ClassicalKey),
}

/// The types that a private key can be read as, depending on its use.
pub(crate) trait FromPkcs8: Sized {
    /// A key that pq-x509 knows.
    fn from_post_quantum(key: pq_x509::PrivateKey) -> Result<Self, KeyError>;

    /// A key that pq-x509 doesn't know, as this error says.
    fn from_other(der: &[u8], error: &pq_x509::KeyError) -> Result<Self, KeyError>;

    /// Reads PKCS#8, or a classical key in an older format.
    fn from_der(der: &[u8]) -> Result<Self, KeyError> {
        let is_classical = matches!(
            PrivateKeyDer::try_from(der),
            Ok(PrivateKeyDer::Sec1(_) | PrivateKeyDer::Pkcs1(_))
        );
        match pq_x509::PrivateKey::from_pkcs8_der(der) {
            Ok(key) => Self::from_post_quantum(key),
            Err(error) => match error {
                pq_x509::KeyError::UnsupportedAlgorithm(_) => Self::from_other(der, &error),
                _ if is_classical => Self::from_other(der, &error),
                error => Err(error.into()),
            },
        }
    }
}

impl FromPkcs8 for PrivateKey {
    fn from_post_quantum(key: pq_x509::PrivateKey) -> Result<Self, KeyError> {
        Ok(Self::PostQuantum(key))
    }

    fn from_other(der: &[u8], error: &pq_x509::KeyError) -> Result<Self, KeyError> {
        if is_of_x_wing(error) {
            return Ok(Self::XWing(XWingPrivateKey::from_pkcs8_der(der)?));
        }
        match is_of_composite(error) {
            true => Ok(Self::Composite(CompositeKey::from_pkcs8_der(der)?)),
            false => Ok(Self::Classical(ClassicalKey::from_der(der)?)),
        }
    }
}

impl PrivateKey {
    pub(crate) fn algorithm(&self) -> Algorithm {
        match self {
            Self::PostQuantum(key) => Algorithm::PostQuantum(key.algorithm()),
            Self::XWing(_) => Algorithm::XWing,
            Self::Composite(key) => Algorithm::Composite(key.algorithm()),
            Self::Classical(key) => Algorithm::Classical(key.algorithm()),
        }
    }

    /// The public key that belongs to it.
    pub(crate) fn public_half(&self) -> Result<PublicKey, KeyError> {
        PublicKey::from_spki_der(&self.spki())
    }

    /// PKCS#8, in the form that most importers read.
    pub(crate) fn to_pkcs8_pem(&self) -> Result<Zeroizing<String>, KeyError> {
        match self {
            Self::PostQuantum(key) => Ok(key.to_pkcs8_pem()?),
            Self::XWing(key) => Ok(key.to_pkcs8_pem()),
            Self::Composite(key) => Ok(key.to_pkcs8_pem()),
            Self::Classical(key) => Ok(key.to_pkcs8_pem()),
        }
    }
}

impl SubjectKey for PrivateKey {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        match self {
            Self::PostQuantum(key) => key.spki(),
            Self::XWing(key) => key.spki(),
            Self::Composite(key) => key.spki(),
            Self::Classical(key) => key.spki(),
        }
    }
}

/// A private key of any kind that signs.
#[derive(Clone, Debug)]
pub(crate) enum SigningKey {
    PostQuantum(pq_x509::SigningKey),
    Composite(CompositeKey),
    Classical(ClassicalKey),
}

impl SigningKey {
    pub(crate) fn algorithm(&self) -> Algorithm {
        match self {
            Self::PostQuantum(key) => Algorithm::PostQuantum(key.algorithm().into()),
            Self::Composite(key) => Algorithm::Composite(key.algorithm()),
            Self::Classical(key) => Algorithm::Classical(key.algorithm()),
        }
    }
}

impl TryFrom<PrivateKey> for SigningKey {
    type Error = KeyError;

    fn try_from(key: PrivateKey) -> Result<Self, KeyError> {
        match key {
            PrivateKey::PostQuantum(key) => Ok(Self::PostQuantum(key.try_into()?)),
            PrivateKey::XWing(_) => Err(KeyError::OnlyForFiles),
            PrivateKey::Composite(key) => Ok(Self::Composite(key)),
            PrivateKey::Classical(key) => Ok(Self::Classical(key)),
        }
    }
}

post_quantum_only!(PrivateKey: SigningKey, DecapsulationKey);

impl TryFrom<PrivateKey> for RecipientKey {
    type Error = KeyError;

    fn try_from(key: PrivateKey) -> Result<Self, KeyError> {
        match key {
            PrivateKey::XWing(key) => Ok(key.into()),
            other => Ok(pq_x509::DecapsulationKey::try_from(other)?.try_into()?),
        }
    }
}

impl SubjectKey for SigningKey {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        match self {
            Self::PostQuantum(key) => key.spki(),
            Self::Composite(key) => key.spki(),
            Self::Classical(key) => key.spki(),
        }
    }
}

impl Signer for SigningKey {
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        match self {
            Self::PostQuantum(key) => key.signature_algorithm(),
            Self::Composite(key) => key.signature_algorithm(),
            Self::Classical(key) => key.signature_algorithm(),
        }
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        match self {
            Self::PostQuantum(key) => Signer::sign(key, message),
            Self::Composite(key) => Signer::sign(key, message),
            Self::Classical(key) => Signer::sign(key, message),
        }
    }
}

impl StoredKey for SigningKey {
    type Error = KeyError;

    fn from_pem(text: &str) -> Result<Self, KeyError> {
        match pq_x509::SigningKey::from_pkcs8_pem(text) {
            Ok(key) => Ok(Self::PostQuantum(key)),
            Err(error) if is_of_composite(&error) => {
                Ok(Self::Composite(CompositeKey::from_pkcs8_pem(text)?))
            }
            Err(
                pq_x509::KeyError::UnsupportedAlgorithm(_)
                | pq_x509::KeyError::Pem(PemError::Missing { .. }),
            ) => Ok(Self::Classical(ClassicalKey::from_pem(text)?)),
            Err(error) => Err(error.into()),
        }
    }

    fn to_pem(&self) -> Result<Zeroizing<String>, KeyError> {
        match self {
            Self::PostQuantum(key) => Ok(key.to_pkcs8_pem()?),
            Self::Composite(key) => Ok(key.to_pkcs8_pem()),
            Self::Classical(key) => Ok(key.to_pkcs8_pem()),
        }
    }
}
