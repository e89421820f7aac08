//! Public keys of these algorithms behind one type, read from and written as SubjectPublicKeyInfo.

use alloc::boxed::Box;
use alloc::string::String;

use pki_types::SubjectPublicKeyInfoDer;

use super::algorithm::AnyAlgorithm;
use super::error::AnyKeyError;
use super::reading::{Kind, check_start};
use crate::classical::{ClassicalAgreementPublicKey, ClassicalPublicKey};
use crate::composite::CompositePublicKey;
use crate::encoding::pem;
use crate::keys::{
    EncapsulationKey, KeyError, PublicKey, SignatureOptions, SubjectKey, VerifyingKey,
};
use crate::x_wing::XWingPublicKey;

/// A public key of any algorithm.
#[derive(Clone, Debug)]
pub enum AnyPublicKey {
    /// Of ML-DSA, SLH-DSA or ML-KEM.
    PostQuantum(PublicKey),
    /// Of X-Wing.
    XWing(Box<XWingPublicKey>),
    /// Of Composite ML-DSA.
    Composite(CompositePublicKey),
    /// Of ECDSA, Ed25519 or RSA.
    Classical(ClassicalPublicKey),
    /// Of X25519; see [`AnyAlgorithm::Agreement`].
    Agreement(ClassicalAgreementPublicKey),
}

/// Reads the public key of a file: the first one in a PEM text, or a SubjectPublicKeyInfo as DER.
///
/// # Errors
///
/// An [`AnyKeyError`] that says what is wrong with it.
pub fn read_public_key(file: &[u8]) -> Result<AnyPublicKey, AnyKeyError> {
    match pem::is_in(file) {
        true => {
            let block = pem::decode_first(file, "PUBLIC KEY").map_err(KeyError::from)?;
            AnyPublicKey::from_spki_der(&block)
        }
        false => {
            check_start(file)?;
            AnyPublicKey::from_spki_der(file)
        }
    }
}

impl AnyPublicKey {
    /// Reads a SubjectPublicKeyInfo.
    ///
    /// # Errors
    ///
    /// An [`AnyKeyError`] that says what is wrong with it.
    pub fn from_spki_der(der: &[u8]) -> Result<Self, AnyKeyError> {
        let error = match PublicKey::from_spki_der(der) {
            Ok(key) => return Ok(Self::PostQuantum(key)),
            Err(error) => error,
        };
        Ok(match Kind::of_unknown(&error) {
            Some(Kind::XWing) => Self::XWing(XWingPublicKey::from_spki_der(der)?.into()),
            Some(Kind::Composite) => Self::Composite(CompositePublicKey::from_spki_der(der)?),
            Some(Kind::X25519) => Self::Agreement(ClassicalAgreementPublicKey::from_spki_der(der)?),
            Some(Kind::Classical) => Self::Classical(ClassicalPublicKey::from_spki_der(der)?),
            None => return Err(error.into()),
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

    /// The DER of the SubjectPublicKeyInfo.
    pub fn to_spki_der(&self) -> &[u8] {
        match self {
            Self::PostQuantum(key) => key.to_spki_der(),
            Self::XWing(key) => key.to_spki_der(),
            Self::Composite(key) => key.to_spki_der(),
            Self::Classical(key) => key.to_spki_der(),
            Self::Agreement(key) => key.to_spki_der(),
        }
    }

    /// The SubjectPublicKeyInfo as PEM.
    pub fn to_spki_pem(&self) -> String {
        match self {
            Self::PostQuantum(key) => key.to_spki_pem(),
            Self::XWing(key) => key.to_spki_pem(),
            Self::Composite(key) => key.to_spki_pem(),
            Self::Classical(key) => key.to_spki_pem(),
            Self::Agreement(key) => key.to_spki_pem(),
        }
    }

    /// Verifies a signature as for certificates, with an empty context: one that
    /// [`AnySigningKey::sign`](super::AnySigningKey::sign) makes.
    ///
    /// # Errors
    ///
    /// As [`verify_with_context`](Self::verify_with_context).
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), AnyKeyError> {
        self.verify_with_context(message, signature, &[])
    }

    /// Verifies a signature with a context, as the key's own type does.
    ///
    /// ```
    /// use pq_keys::any::{AnyAlgorithm, AnyPrivateKey, AnySigningKey};
    ///
    /// let algorithm = AnyAlgorithm::named("ML-DSA-65").expect("a known name");
    /// let key = AnySigningKey::try_from(AnyPrivateKey::generate(algorithm)?)?;
    /// let signature = key.sign_with_context(b"message", b"backups")?;
    ///
    /// let public = key.public_half();
    /// public.verify_with_context(b"message", &signature, b"backups")?;
    /// let refused = public.verify(b"message", &signature).unwrap_err();
    /// assert!(refused.is_invalid_signature());
    /// # Ok::<_, pq_keys::any::AnyKeyError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The error of the key's own type for an invalid signature, which
    /// [`is_invalid_signature`](AnyKeyError::is_invalid_signature) tells from others: a context of more than 255 bytes;
    /// [`AnyKeyError::NoContext`] for a classical key, unless the context is empty; and
    /// [`AnyKeyError::NotASignatureKey`] for a key of ML-KEM, X-Wing or X25519.
    pub fn verify_with_context(
        &self,
        message: &[u8],
        signature: &[u8],
        context: &[u8],
    ) -> Result<(), AnyKeyError> {
        match self {
            Self::PostQuantum(PublicKey::Verifying(key)) => {
                let options = SignatureOptions::new().context(context);
                key.verify_with(message, signature, &options)?;
            }
            Self::Composite(key) => key.verify_with_context(message, signature, context)?,
            Self::Classical(key) if context.is_empty() => key.verify(message, signature)?,
            Self::Classical(key) => return Err(AnyKeyError::NoContext(key.algorithm())),
            Self::PostQuantum(PublicKey::Encapsulation(_))
            | Self::XWing(_)
            | Self::Agreement(_) => {
                return Err(AnyKeyError::NotASignatureKey(self.algorithm()));
            }
        }
        Ok(())
    }

    /// The bits of the SubjectPublicKeyInfo: the raw key, or what an RSA or composite key has there.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::PostQuantum(key) => key.as_bytes(),
            Self::XWing(key) => key.as_bytes(),
            Self::Composite(key) => key.as_bytes(),
            Self::Classical(key) => key.as_bytes(),
            Self::Agreement(key) => key.as_bytes(),
        }
    }
}

impl From<VerifyingKey> for AnyPublicKey {
    fn from(key: VerifyingKey) -> Self {
        Self::PostQuantum(PublicKey::Verifying(key))
    }
}

impl From<EncapsulationKey> for AnyPublicKey {
    fn from(key: EncapsulationKey) -> Self {
        Self::PostQuantum(PublicKey::Encapsulation(key))
    }
}

impl SubjectKey for AnyPublicKey {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.to_spki_der().into()
    }
}
