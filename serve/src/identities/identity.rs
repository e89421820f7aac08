//! A chain and its key as bytes, before anything is checked.

use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls_pq::identity::{self, IdentityError};

/// A certificate chain, leaf first, and the private key of its leaf.
///
/// Nothing is checked yet: [`rustls_pq::identity::Identity`](identity::Identity), which [`check`](Self::check) makes, is what rustls
/// can serve.
#[derive(Debug)]
pub struct Identity {
    /// The leaf and then the intermediates. The root is not sent.
    pub chain: Vec<CertificateDer<'static>>,
    /// The leaf's key: PKCS#8 for ML-DSA, also SEC 1 or PKCS#1 for classical ones.
    pub key: PrivateKeyDer<'static>,
}

impl Identity {
    /// Checks that the two are a pair that can be served.
    ///
    /// # Errors
    ///
    /// [`IdentityError`] says what is wrong.
    pub fn check(self, provider: &CryptoProvider) -> Result<identity::Identity, IdentityError> {
        identity::Identity::new(self.chain, self.key, provider)
    }
}
