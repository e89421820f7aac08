//! Private keys of every algorithm that signs behind one type: read, written, and used as CA keys and signers.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use pki_types::SubjectPublicKeyInfoDer;
use spki::AlgorithmIdentifierOwned;
use zeroize::Zeroizing;

use super::algorithm::AnyAlgorithm;
use super::error::AnyKeyError;
use super::private_key::AnyPrivateKey;
use super::public_key::AnyPublicKey;
use super::reading::{ENCRYPTED, Kind, LABELS, PKCS8, Readable};
use crate::classical::ClassicalKey;
use crate::composite::CompositeKey;
use crate::encoding::pem::{self, PemError};
use crate::keys::{
    KeyError, PrivateKey, SignError, SignatureOptions, Signer, SigningKey, SigningVariant,
    SubjectKey,
};

/// A private key of any algorithm that signs.
///
/// [`AnyPrivateKey::generate`] makes keys, which `try_into` turns into this type unless they encapsulate, and
/// [`read_private_key`](super::read_private_key) reads them from files as this type.
///
/// ```
/// use pq_keys::any::{AnyAlgorithm, AnyPrivateKey, AnySigningKey};
///
/// let algorithm = AnyAlgorithm::named("MLDSA44-Ed25519-SHA512").expect("a known name");
/// let key = AnySigningKey::try_from(AnyPrivateKey::generate(algorithm)?)?;
/// let signature = key.sign(b"message")?;
/// key.public_half().verify(b"message", &signature)?;
///
/// let key = AnyPrivateKey::generate(AnyAlgorithm::XWing)?;
/// let refused = AnySigningKey::try_from(key).unwrap_err();
/// assert!(refused.to_string().contains("a key of X-Wing, which encapsulates"));
/// # Ok::<_, pq_keys::any::AnyKeyError>(())
/// ```
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
            ENCRYPTED => Err(KeyError::Pem(PemError::Missing {
                label: PKCS8,
                found: vec![ENCRYPTED.into()],
            })
            .into()),
            _ => Self::from_der(&block),
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

    /// The public key that verifies this key's signatures.
    pub fn public_half(&self) -> AnyPublicKey {
        AnyPrivateKey::from(self.clone()).public_half()
    }

    /// Signs a message as for certificates, with an empty context.
    ///
    /// # Errors
    ///
    /// If there is no randomness, or if the parts of the key don't belong together.
    pub fn sign(&self, message: &[u8]) -> Result<Vec<u8>, AnyKeyError> {
        self.sign_with_context(message, &[])
    }

    /// Signs a message with a context of at most 255 bytes, which keeps signatures for different purposes apart.
    ///
    /// # Errors
    ///
    /// [`AnyKeyError::NoContext`] for a classical key, unless the context is empty; an error for a longer one; and those
    /// of [`sign`](Self::sign).
    pub fn sign_with_context(
        &self,
        message: &[u8],
        context: &[u8],
    ) -> Result<Vec<u8>, AnyKeyError> {
        Ok(match self {
            Self::PostQuantum(key) => {
                let options = SignatureOptions::new().context(context);
                key.sign_with(message, &options, SigningVariant::Hedged)?
            }
            Self::Composite(key) => key.sign_with_context(message, context)?,
            Self::Classical(key) if context.is_empty() => key.sign(message)?,
            Self::Classical(key) => return Err(AnyKeyError::NoContext(key.algorithm())),
        })
    }

    /// PKCS#8, in the [form](AnyPrivateKey::preferred_form) that most importers read, as DER.
    ///
    /// # Errors
    ///
    /// Those of [`AnyPrivateKey::to_pkcs8_der`].
    pub fn to_pkcs8_der(&self) -> Result<Zeroizing<Vec<u8>>, AnyKeyError> {
        AnyPrivateKey::from(self.clone()).to_pkcs8_der()
    }

    /// The same as PEM.
    ///
    /// # Errors
    ///
    /// Those of [`AnyPrivateKey::to_pkcs8_der`].
    pub fn to_pkcs8_pem(&self) -> Result<Zeroizing<String>, AnyKeyError> {
        AnyPrivateKey::from(self.clone()).to_pkcs8_pem()
    }
}

impl TryFrom<AnyPrivateKey> for AnySigningKey {
    type Error = AnyKeyError;

    fn try_from(key: AnyPrivateKey) -> Result<Self, AnyKeyError> {
        let algorithm = key.algorithm();
        match key {
            AnyPrivateKey::PostQuantum(PrivateKey::Signing(key)) => Ok(Self::PostQuantum(key)),
            AnyPrivateKey::Composite(key) => Ok(Self::Composite(key)),
            AnyPrivateKey::Classical(key) => Ok(Self::Classical(key)),
            AnyPrivateKey::PostQuantum(PrivateKey::Decapsulation(_))
            | AnyPrivateKey::XWing(_)
            | AnyPrivateKey::Agreement(_) => Err(AnyKeyError::NotASignatureKey(algorithm)),
        }
    }
}

impl From<AnySigningKey> for AnyPrivateKey {
    fn from(key: AnySigningKey) -> Self {
        match key {
            AnySigningKey::PostQuantum(key) => Self::PostQuantum(PrivateKey::Signing(key)),
            AnySigningKey::Composite(key) => Self::Composite(key),
            AnySigningKey::Classical(key) => Self::Classical(key),
        }
    }
}

impl Readable for AnySigningKey {
    type Error = AnyKeyError;

    fn from_post_quantum(key: PrivateKey) -> Result<Self, AnyKeyError> {
        AnyPrivateKey::from_post_quantum(key)?.try_into()
    }

    fn from_other(der: &[u8], kind: Kind) -> Result<Self, AnyKeyError> {
        AnyPrivateKey::from_other(der, kind)?.try_into()
    }

    fn check(&self) -> Result<(), AnyKeyError> {
        AnyPrivateKey::from(self.clone()).check()
    }

    fn is_refusal(error: &AnyKeyError) -> bool {
        error.is_refusal()
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
        self.sign(message).map_err(SignError::new)
    }
}
