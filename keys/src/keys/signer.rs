//! The traits through which issuing takes keys of any algorithm, in memory or in hardware: `SubjectKey` is certified,
//! `Signer` signs.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::error::Error;

use pki_types::SubjectPublicKeyInfoDer;
use spki::AlgorithmIdentifierOwned;

/// Something with a public key that a certificate can be issued for.
pub trait SubjectKey {
    /// The public key as the DER of a SubjectPublicKeyInfo.
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_>;
}

/// A key that signs certificates and requests.
///
/// [`SigningKey`](crate::SigningKey) is one; implement this trait for a classical key,
/// or for one that lives in a hardware module, to issue with it (pq-x509). For example, ECDSA on
/// P-256 with the crate p256:
///
/// ```
/// use p256::ecdsa::signature::Signer as _;
/// use p256::pkcs8::EncodePublicKey;
/// use pq_keys::pki_types::SubjectPublicKeyInfoDer;
/// use pq_keys::spki::{AlgorithmIdentifierOwned, ObjectIdentifier};
/// use pq_keys::{SignError, Signer, SubjectKey};
///
/// struct Ecdsa {
///     key: p256::ecdsa::SigningKey,
///     spki: SubjectPublicKeyInfoDer<'static>,
/// }
///
/// impl Ecdsa {
///     fn new(key: p256::ecdsa::SigningKey) -> Result<Self, p256::pkcs8::spki::Error> {
///         let spki = key.verifying_key().to_public_key_der()?.into_vec().into();
///         Ok(Self { key, spki })
///     }
/// }
///
/// impl SubjectKey for Ecdsa {
///     fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
///         self.spki.as_ref().into()
///     }
/// }
///
/// impl Signer for Ecdsa {
///     fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
///         AlgorithmIdentifierOwned {
///             // ecdsa-with-SHA256 (RFC 5758, section 3.2)
///             oid: ObjectIdentifier::new_unwrap("1.2.840.10045.4.3.2"),
///             parameters: None,
///         }
///     }
///
///     fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
///         let signature = self.key.try_sign(message).map_err(SignError::new)?;
///         Ok(p256::ecdsa::Signature::to_der(&signature).as_bytes().to_vec())
///     }
/// }
///
/// # let random = || p256::ecdsa::SigningKey::from_slice(&[7; 32]).unwrap();
/// let key = Ecdsa::new(random())?;
/// let signature = key.sign(b"message")?;
/// # use p256::ecdsa::signature::Verifier;
/// # let signature = p256::ecdsa::Signature::from_der(&signature)?;
/// # random().verifying_key().verify(b"message", &signature)?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub trait Signer: SubjectKey + Send + Sync {
    /// The AlgorithmIdentifier of the signatures that [`sign`](Self::sign) makes.
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned;

    /// Signs a message and returns the contents of the certificate's signature field.
    ///
    /// # Errors
    ///
    /// If the key cannot sign, for whatever reason.
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError>;
}

/// Why a [`Signer`] did not sign.
#[derive(Debug, thiserror::Error)]
#[error("the key did not sign: {error}")]
pub struct SignError {
    error: Box<dyn Error + Send + Sync>,
    is_transient: bool,
}

impl SignError {
    /// Wraps the signer's own error, which trying again doesn't help, as far as anybody knows: the key is gone or
    /// disabled, or may not be used like this.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            error: error.into(),
            is_transient: false,
        }
    }

    /// Wraps the signer's own error, which may be over when the same is tried again: nobody answers at the moment, or
    /// there is too much to do.
    pub fn transient(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            error: error.into(),
            is_transient: true,
        }
    }

    /// Whether trying again may help.
    pub fn is_transient(&self) -> bool {
        self.is_transient
    }

    /// The signer's own error, whose text is part of this one's.
    pub fn get_ref(&self) -> &(dyn Error + Send + Sync + 'static) {
        &*self.error
    }
}

impl SubjectKey for SubjectPublicKeyInfoDer<'_> {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.as_ref().into()
    }
}

/// Implements the traits for pointers to keys.
macro_rules! through_pointers {
    ($($pointer:ty),+) => {$(
        impl<K: SubjectKey + ?Sized> SubjectKey for $pointer {
            fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
                (**self).spki()
            }
        }

        impl<K: Signer + ?Sized> Signer for $pointer {
            fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
                (**self).signature_algorithm()
            }

            fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
                (**self).sign(message)
            }
        }
    )+};
}

through_pointers!(&K, Box<K>, Arc<K>);
