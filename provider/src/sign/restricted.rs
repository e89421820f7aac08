//! Keeps a key, of this crate or of the base, to the signature schemes that the provider may sign with.

use alloc::sync::Arc;

use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::sign::{Signer, SigningKey};
use rustls::{Error, SignatureScheme};

use crate::tls::other;

/// A key that may sign only with some of its schemes.
#[derive(Debug)]
pub(super) struct RestrictedKey {
    key: Arc<dyn SigningKey>,
    schemes: Vec<SignatureScheme>,
}

impl RestrictedKey {
    /// # Errors
    ///
    /// [`Error::Other`] if the key can sign with none of `schemes`.
    pub(super) fn new(
        key: Arc<dyn SigningKey>,
        schemes: &[SignatureScheme],
    ) -> Result<Self, Error> {
        match key.choose_scheme(schemes) {
            Some(_) => Ok(Self {
                key,
                schemes: schemes.to_vec(),
            }),
            None => Err(refused(schemes)),
        }
    }
}

/// Why a key that signs with none of `schemes` is refused.
pub(super) fn refused(schemes: &[SignatureScheme]) -> Error {
    other(KeyNotAllowed {
        schemes: schemes.to_vec(),
    })
}

impl SigningKey for RestrictedKey {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        let mut both = offered.to_vec();
        both.retain(|scheme| self.schemes.contains(scheme));
        self.key.choose_scheme(&both)
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        self.key.public_key()
    }

    fn algorithm(&self) -> rustls::SignatureAlgorithm {
        self.key.algorithm()
    }
}

/// The provider may not sign with any scheme of this key.
#[derive(Debug, thiserror::Error)]
#[error(
    "the provider signs with {schemes:?} only, and this private key can't; use a key for one of \
     these, or build the provider with another profile"
)]
struct KeyNotAllowed {
    schemes: Vec<SignatureScheme>,
}
