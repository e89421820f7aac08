//! Private keys of these algorithms behind one type: read, written, and used as CA keys and signers. A narrower type has
//! only those that sign.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use pki_types::SubjectPublicKeyInfoDer;
use spki::AlgorithmIdentifierOwned;
use zeroize::Zeroizing;

use super::algorithm::AnyAlgorithm;
use super::error::AnyKeyError;
use super::public_key::AnyPublicKey;
use super::reading::{ENCRYPTED, Kind, LABELS, PKCS8, Readable};
use crate::classical::ClassicalKey;
use crate::composite::CompositeKey;
use crate::encoding::pem::{self, PemError};
use crate::keys::{KeyError, PrivateKey, SignError, Signer, SigningKey, SubjectKey};
use crate::x_wing::XWingPrivateKey;

/// A private key of any algorithm.
#[derive(Clone, Debug)]
pub enum AnyPrivateKey {
    /// Of ML-DSA, SLH-DSA or ML-KEM.
    PostQuantum(PrivateKey),
    /// Of X-Wing.
    XWing(XWingPrivateKey),
    /// Of Composite ML-DSA.
    Composite(CompositeKey),
    /// Of ECDSA, Ed25519 or RSA.
    Classical(ClassicalKey),
}

impl Readable for AnyPrivateKey {
    type Error = AnyKeyError;

    fn from_post_quantum(key: PrivateKey) -> Result<Self, AnyKeyError> {
        Ok(Self::PostQuantum(key))
    }

    fn from_other(der: &[u8], kind: Kind) -> Result<Self, AnyKeyError> {
        Ok(match kind {
            Kind::XWing => Self::XWing(XWingPrivateKey::from_pkcs8_der(der)?),
            Kind::Composite => Self::Composite(CompositeKey::from_pkcs8_der(der)?),
            Kind::Classical => Self::Classical(ClassicalKey::from_der(der)?),
        })
    }

    fn is_refusal(error: &AnyKeyError) -> bool {
        error.is_refusal()
    }
}

impl AnyPrivateKey {
    /// The algorithm.
    pub fn algorithm(&self) -> AnyAlgorithm {
        match self {
            Self::PostQuantum(key) => key.algorithm().into(),
            Self::XWing(_) => AnyAlgorithm::XWing,
            Self::Composite(key) => key.algorithm().into(),
            Self::Classical(key) => key.algorithm().into(),
        }
    }

    /// The public key that belongs to it.
    ///
    /// # Errors
    ///
    /// None that is expected, as it is read from what this crate wrote.
    pub fn public_half(&self) -> Result<AnyPublicKey, AnyKeyError> {
        AnyPublicKey::from_spki_der(&self.spki())
    }

    /// PKCS#8, in the form that most importers read, as PEM.
    ///
    /// # Errors
    ///
    /// If the key can't be written in this form.
    pub fn to_pkcs8_pem(&self) -> Result<Zeroizing<String>, AnyKeyError> {
        match self {
            Self::PostQuantum(key) => Ok(key.to_pkcs8_pem()?),
            Self::XWing(key) => Ok(key.to_pkcs8_pem()),
            Self::Composite(key) => Ok(key.to_pkcs8_pem()),
            Self::Classical(key) => Ok(key.to_pkcs8_pem()),
        }
    }
}

impl SubjectKey for AnyPrivateKey {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        match self {
            Self::PostQuantum(key) => key.spki(),
            Self::XWing(key) => key.spki(),
            Self::Composite(key) => key.spki(),
            Self::Classical(key) => key.spki(),
        }
    }
}

/// A private key of any algorithm that signs.
#[derive(Clone, Debug)]
pub enum AnySigningKey {
    /// Of ML-DSA or SLH-DSA.
    PostQuantum(SigningKey),
    /// Of Composite ML-DSA.
    Composite(CompositeKey),
    /// Of ECDSA, Ed25519 or RSA.
    Classical(ClassicalKey),
}

impl AnySigningKey {
    /// Reads the first private key of a PEM text, which must not be under a passphrase.
    ///
    /// # Errors
    ///
    /// An [`AnyKeyError`] that says what is wrong with it.
    pub fn from_pem(text: &(impl AsRef<[u8]> + ?Sized)) -> Result<Self, AnyKeyError> {
        let (label, block) = pem::decode_first_of(text, &LABELS).map_err(KeyError::from)?;
        match label {
            PKCS8 => {}
            ENCRYPTED => {
                return Err(KeyError::Pem(PemError::Missing {
                    label: PKCS8,
                    found: vec![ENCRYPTED.into()],
                })
                .into());
            }
            _ => return Ok(Self::Classical(ClassicalKey::from_der(&block)?)),
        }
        let error = match SigningKey::from_pkcs8_der(&block) {
            Ok(key) => return Ok(Self::PostQuantum(key)),
            Err(error) => error,
        };
        match Kind::of_unknown(&error) {
            Some(Kind::Composite) => Ok(Self::Composite(CompositeKey::from_pkcs8_der(&block)?)),
            Some(_) => Ok(Self::Classical(ClassicalKey::from_der(&block)?)),
            None => Err(error.into()),
        }
    }

    /// The algorithm.
    pub fn algorithm(&self) -> AnyAlgorithm {
        match self {
            Self::PostQuantum(key) => key.algorithm().into(),
            Self::Composite(key) => key.algorithm().into(),
            Self::Classical(key) => key.algorithm().into(),
        }
    }

    /// PKCS#8, in the form that most importers read, as PEM.
    ///
    /// # Errors
    ///
    /// If the key can't be written in this form.
    pub fn to_pkcs8_pem(&self) -> Result<Zeroizing<String>, AnyKeyError> {
        match self {
            Self::PostQuantum(key) => Ok(key.to_pkcs8_pem()?),
            Self::Composite(key) => Ok(key.to_pkcs8_pem()),
            Self::Classical(key) => Ok(key.to_pkcs8_pem()),
        }
    }
}

impl SubjectKey for AnySigningKey {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        match self {
            Self::PostQuantum(key) => key.spki(),
            Self::Composite(key) => key.spki(),
            Self::Classical(key) => key.spki(),
        }
    }
}

impl Signer for AnySigningKey {
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
