//! Private keys of these algorithms behind one type: made, read and written.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use pki_types::SubjectPublicKeyInfoDer;
use zeroize::Zeroizing;

use super::algorithm::AnyAlgorithm;
use super::error::AnyKeyError;
use super::public_key::AnyPublicKey;
use super::reading::{Kind, PKCS8, Readable};
use crate::classical::{ClassicalAgreementKey, ClassicalKey};
use crate::composite::CompositeKey;
use crate::encoding::pem;
use crate::keys::{
    Algorithm, DecapsulationKey, KeyError, PrivateKey, PrivateKeyForm, PublicKey, SigningKey,
    SubjectKey,
};
use crate::x_wing::XWingPrivateKey;

/// A private key of any algorithm.
///
/// [`generate`](Self::generate) makes one, and [`read_private_key`](super::read_private_key) reads one; the
/// [module](super) has an example. Those that sign become an [`AnySigningKey`](super::AnySigningKey) by `try_into`, which is an
/// error for others.
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
    /// Of X25519; see [`AnyAlgorithm::Agreement`].
    Agreement(ClassicalAgreementKey),
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
            Kind::X25519 => Self::Agreement(ClassicalAgreementKey::from_der(der)?),
            Kind::Classical => Self::Classical(ClassicalKey::from_der(der)?),
        })
    }

    fn check(&self) -> Result<(), AnyKeyError> {
        match self {
            Self::PostQuantum(PrivateKey::Signing(key)) => key.check()?,
            // Reading compares the parts that there are.
            Self::PostQuantum(PrivateKey::Decapsulation(_))
            | Self::XWing(_)
            | Self::Agreement(_) => {}
            Self::Composite(key) => key.check()?,
            Self::Classical(key) => key.check()?,
        }
        Ok(())
    }

    fn is_refusal(error: &AnyKeyError) -> bool {
        error.is_refusal()
    }
}

impl AnyPrivateKey {
    /// Makes a new key from the operating system's randomness.
    ///
    /// Keys of RSA and of the *s* sets of SLH-DSA take a while, up to some seconds.
    ///
    /// # Errors
    ///
    /// If there is no randomness, which [`AnyKeyError::is_lack_of_randomness`] tells; for classical and composite keys,
    /// if graviola doesn't run on this machine.
    pub fn generate(algorithm: AnyAlgorithm) -> Result<Self, AnyKeyError> {
        Ok(match algorithm {
            AnyAlgorithm::PostQuantum(Algorithm::Signature(algorithm)) => {
                Self::PostQuantum(PrivateKey::Signing(SigningKey::generate(algorithm)?))
            }
            AnyAlgorithm::PostQuantum(Algorithm::Kem(algorithm)) => {
                let key = DecapsulationKey::generate(algorithm)?;
                Self::PostQuantum(PrivateKey::Decapsulation(key))
            }
            AnyAlgorithm::XWing => Self::XWing(XWingPrivateKey::generate()?),
            AnyAlgorithm::Composite(algorithm) => {
                Self::Composite(CompositeKey::generate(algorithm)?)
            }
            AnyAlgorithm::Classical(algorithm) => {
                Self::Classical(ClassicalKey::generate(algorithm)?)
            }
            AnyAlgorithm::Agreement(algorithm) => {
                Self::Agreement(ClassicalAgreementKey::generate(algorithm)?)
            }
        })
    }

    /// The algorithm.
    pub fn algorithm(&self) -> AnyAlgorithm {
        match self {
            Self::PostQuantum(key) => key.algorithm().into(),
            Self::XWing(_) => AnyAlgorithm::XWing,
            Self::Composite(key) => key.algorithm().into(),
            Self::Classical(key) => key.algorithm().into(),
            Self::Agreement(key) => key.algorithm().into(),
        }
    }

    /// The public key that belongs to it.
    pub fn public_half(&self) -> AnyPublicKey {
        match self {
            Self::PostQuantum(key) => AnyPublicKey::PostQuantum(match key {
                PrivateKey::Signing(key) => PublicKey::Verifying(key.verifying_key().clone()),
                PrivateKey::Decapsulation(key) => {
                    PublicKey::Encapsulation(key.encapsulation_key().clone())
                }
            }),
            Self::XWing(key) => AnyPublicKey::XWing(Box::new(key.public_key().clone())),
            Self::Composite(key) => AnyPublicKey::Composite(key.public_key().clone()),
            Self::Classical(key) => AnyPublicKey::Classical(key.public_key().clone()),
            Self::Agreement(key) => AnyPublicKey::Agreement(key.public_key().clone()),
        }
    }

    /// The form in which a post-quantum key is written, under a passphrase or not: the one that its algorithm
    /// [prefers](crate::Algorithm::preferred_form), or the expanded one if it was read without its seed. `None` for
    /// other keys, which have one form only.
    pub fn preferred_form(&self) -> Option<PrivateKeyForm> {
        match self {
            Self::PostQuantum(key) => Some(preferred_form(key)),
            Self::XWing(_) | Self::Composite(_) | Self::Classical(_) | Self::Agreement(_) => None,
        }
    }

    /// PKCS#8 of version 1, in the [form](Self::preferred_form) that most importers read, as DER.
    ///
    /// # Errors
    ///
    /// None that is expected, as the key has what this form needs.
    pub fn to_pkcs8_der(&self) -> Result<Zeroizing<Vec<u8>>, AnyKeyError> {
        Ok(self.pkcs8_der()?)
    }

    pub(super) fn pkcs8_der(&self) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        Ok(match self {
            Self::PostQuantum(key) => key.to_pkcs8_der_as(preferred_form(key))?,
            Self::XWing(key) => key.to_pkcs8_der(),
            Self::Composite(key) => key.to_pkcs8_der(),
            Self::Classical(key) => key.to_pkcs8_der(),
            Self::Agreement(key) => key.to_pkcs8_der(),
        })
    }

    /// The same as PEM.
    ///
    /// # Errors
    ///
    /// Those of [`to_pkcs8_der`](Self::to_pkcs8_der).
    pub fn to_pkcs8_pem(&self) -> Result<Zeroizing<String>, AnyKeyError> {
        let der = self.to_pkcs8_der()?;
        Ok(Zeroizing::new(pem::encode(PKCS8, &der)))
    }
}

/// The one that the algorithm prefers, or the expanded one if there is no seed to write.
fn preferred_form(key: &PrivateKey) -> PrivateKeyForm {
    match key.seed() {
        Some(_) => key.algorithm().preferred_form(),
        None => PrivateKeyForm::Expanded,
    }
}

impl SubjectKey for AnyPrivateKey {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        match self {
            Self::PostQuantum(key) => key.spki(),
            Self::XWing(key) => key.spki(),
            Self::Composite(key) => key.spki(),
            Self::Classical(key) => key.spki(),
            Self::Agreement(key) => key.spki(),
        }
    }
}
