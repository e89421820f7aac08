//! The traits of classical keys that agree on secrets (ECDH, X25519). Their implementations are in other crates, such
//! as rustls-pq.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::error::Error;
use core::fmt;

use zeroize::Zeroizing;

use super::signer::SubjectKey;

/// A private key for Diffie-Hellman on an elliptic curve.
///
/// It shares a secret with every public key of its curve. The module `classical` has keys of ECDH and X25519;
/// implement this trait for one that lives in a hardware module, to decrypt documents with it.
pub trait AgreementKey: SubjectKey + Send + Sync {
    /// Returns the secret that this key shares with a public key.
    ///
    /// `public_key` is the bits of a SubjectPublicKeyInfo: for ECDH an uncompressed point, for X25519 its 32
    /// bytes. The secret is the x coordinate of the shared point, the highest byte first (SEC 1, section
    /// 3.3.1), or the output of X25519 (RFC 7748, section 6.1).
    ///
    /// # Errors
    ///
    /// If `public_key` is no public key of this curve, or makes every secret zero.
    fn agree(&self, public_key: &[u8]) -> Result<Zeroizing<Vec<u8>>, AgreementError>;
}

/// The public half of an [`AgreementKey`], to which others encrypt.
pub trait AgreementPublicKey: SubjectKey + Send + Sync {
    /// Makes an ephemeral private key, and returns its public key and the secret that it shares with this
    /// public key.
    ///
    /// # Errors
    ///
    /// If there is no randomness.
    fn agree_once(&self) -> Result<Agreement, AgreementError>;
}

/// The sender's result of a key agreement.
pub struct Agreement {
    /// The bits of the ephemeral public key, which the recipient's [`AgreementKey::agree`] takes.
    pub public_key: Vec<u8>,
    /// The secret that sender and recipient share.
    pub secret: Zeroizing<Vec<u8>>,
}

impl fmt::Debug for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agreement").finish_non_exhaustive()
    }
}

/// Why no shared secret was agreed on.
#[derive(Debug, thiserror::Error)]
#[error("no secret was agreed on: {0}")]
pub struct AgreementError(Box<dyn Error + Send + Sync>);

impl AgreementError {
    /// Wraps the key's own error.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(error.into())
    }

    /// The key's own error, whose text is part of this one's.
    pub fn get_ref(&self) -> &(dyn Error + Send + Sync + 'static) {
        &*self.0
    }
}

/// Implements the traits for pointers to keys.
macro_rules! through_pointers {
    ($($pointer:ty),+) => {$(
        impl<K: AgreementKey + ?Sized> AgreementKey for $pointer {
            fn agree(&self, public_key: &[u8]) -> Result<Zeroizing<Vec<u8>>, AgreementError> {
                (**self).agree(public_key)
            }
        }

        impl<K: AgreementPublicKey + ?Sized> AgreementPublicKey for $pointer {
            fn agree_once(&self) -> Result<Agreement, AgreementError> {
                (**self).agree_once()
            }
        }
    )+};
}

through_pointers!(&K, Box<K>, Arc<K>);
