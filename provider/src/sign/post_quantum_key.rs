//! ML-DSA and SLH-DSA keys as TLS uses them, with only what rustls 0.23 and 0.24 have in common.

use core::fmt;

use pq_x509::keys::SubjectKey;
use pq_x509::pki_types::SubjectPublicKeyInfoDer;
use pq_x509::verification::Mode;
use zeroize::Zeroizing;

use crate::algorithms::scheme_of;
use crate::tls::{Error, SecureRandom, SignatureScheme, other};

/// An ML-DSA or SLH-DSA private key, ready for TLS.
#[derive(Clone)]
pub(crate) struct PostQuantumKey {
    key: pq_x509::keys::SigningKey,
    scheme: SignatureScheme,
    /// Hedges the signatures.
    random: &'static dyn SecureRandom,
}

impl PostQuantumKey {
    /// # Errors
    ///
    /// [`Error::Other`] if TLS has no code point for the key's algorithm.
    pub(crate) fn new(
        key: pq_x509::keys::SigningKey,
        random: &'static dyn SecureRandom,
    ) -> Result<Self, Error> {
        let algorithm = key.algorithm();
        let (scheme, name) = match key.verifying_key().mode() {
            Mode::Pure => (scheme_of(algorithm), algorithm.to_string()),
            Mode::PreHash => (None, format!("Hash{algorithm}")),
        };
        Ok(Self {
            scheme: scheme.ok_or_else(|| other(NoScheme { name }))?,
            key,
            random,
        })
    }

    /// The only scheme that the key signs with.
    pub(crate) fn scheme(&self) -> SignatureScheme {
        self.scheme
    }

    pub(crate) fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.key.spki()
    }

    /// Signs the content of a CertificateVerify: pure, hedged, with an empty context.
    pub(crate) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let mut rnd = Zeroizing::new([0; 32]);
        self.random.fill(&mut *rnd)?;
        self.key.sign_with_randomness(message, &rnd).map_err(other)
    }
}

impl fmt::Debug for PostQuantumKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostQuantumKey")
            .field("scheme", &self.scheme)
            .finish_non_exhaustive()
    }
}

/// A private key of an algorithm that signs certificates but has no place in TLS.
#[derive(Debug, thiserror::Error)]
#[error("no TLS signature scheme is known for {name}; use an ML-DSA key")]
struct NoScheme {
    name: String,
}
