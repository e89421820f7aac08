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
/// or for one that lives in a hardware module, to issue with it.
pub trait Signer: SubjectKey + Send + Sync {
    /// The AlgorithmIdentifier of the signatures that [`sign`](Self::sign) makes.
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned;

    /// Signs a message and returns the contents of the certificate's signature field.
    ///
    /// # Errors
    ///
    /// Whatever kept the key from signing.
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError>;
}

/// Why a [`Signer`] did not sign.
#[derive(Debug, thiserror::Error)]
#[error("the key did not sign: {0}")]
pub struct SignError(#[source] Box<dyn Error + Send + Sync>);

impl SignError {
    /// Wraps the signer's own error.
    pub fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(source.into())
    }
}

impl SubjectKey for SubjectPublicKeyInfoDer<'_> {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.as_ref().into()
    }
}

/// A pointer to a key is as good as the key.
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
