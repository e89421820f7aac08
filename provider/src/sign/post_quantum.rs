//! The traits of rustls 0.23 for ML-DSA and SLH-DSA keys. All that doesn't depend on the version of rustls is in
//! `post_quantum_key`.

use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::sign::{Signer, SigningKey};
use rustls::{Error, SignatureScheme};

use super::post_quantum_key::PostQuantumKey;

impl SigningKey for PostQuantumKey {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        offered
            .contains(&self.scheme())
            .then(|| Box::new(self.clone()) as _)
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        Some(self.spki())
    }

    /// rustls has no name for these algorithms here, and asks in TLS 1.2 only, where the keys
    /// must not be used.
    fn algorithm(&self) -> rustls::SignatureAlgorithm {
        rustls::SignatureAlgorithm::Unknown(0)
    }
}

impl Signer for PostQuantumKey {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        Self::sign(self, message)
    }

    fn scheme(&self) -> SignatureScheme {
        Self::scheme(self)
    }
}
