//! ML-DSA and SLH-DSA keys for rustls 0.24.

#[path = "../../../../provider/src/sign/post_quantum_key.rs"]
mod post_quantum_key;

use pq_x509::pki_types::SubjectPublicKeyInfoDer;
use rustls::Error;
use rustls::crypto::{SecureRandom, SignatureScheme, Signer, SigningKey};

use self::post_quantum_key::PostQuantumKey;

/// `key`, ready for TLS; it hedges its signatures with `random`.
///
/// # Errors
///
/// [`Error::Other`] if TLS has no code point for the key's algorithm.
pub fn signing_key(
    key: pq_x509::keys::SigningKey,
    random: &'static dyn SecureRandom,
) -> Result<Box<dyn SigningKey>, Error> {
    Ok(Box::new(PostQuantumKey::new(key, random)?))
}

impl SigningKey for PostQuantumKey {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        offered
            .contains(&self.scheme())
            .then(|| Box::new(self.clone()) as _)
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        Some(self.spki())
    }
}

impl Signer for PostQuantumKey {
    fn sign(self: Box<Self>, message: &[u8]) -> Result<Vec<u8>, Error> {
        Self::sign(&self, message)
    }

    fn scheme(&self) -> SignatureScheme {
        Self::scheme(self)
    }
}
