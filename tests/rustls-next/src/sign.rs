//! ML-DSA keys for rustls 0.24.

#[path = "../../../provider/src/sign/ml_dsa_key.rs"]
mod ml_dsa_key;

use pq_x509::pki_types::SubjectPublicKeyInfoDer;
use rustls::Error;
use rustls::crypto::{SecureRandom, SignatureScheme, Signer, SigningKey};

use self::ml_dsa_key::MlDsaKey;

/// `key`, ready for TLS; it hedges its signatures with `random`.
///
/// # Errors
///
/// [`Error::Other`] if TLS has no code point for the key's algorithm.
pub fn signing_key(
    key: pq_x509::SigningKey,
    random: &'static dyn SecureRandom,
) -> Result<Box<dyn SigningKey>, Error> {
    Ok(Box::new(MlDsaKey::new(key, random)?))
}

impl SigningKey for MlDsaKey {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        offered
            .contains(&self.scheme())
            .then(|| Box::new(self.clone()) as _)
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        Some(self.spki())
    }
}

impl Signer for MlDsaKey {
    fn sign(self: Box<Self>, message: &[u8]) -> Result<Vec<u8>, Error> {
        Self::sign(&self, message)
    }

    fn scheme(&self) -> SignatureScheme {
        Self::scheme(self)
    }
}
