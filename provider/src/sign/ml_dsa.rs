use core::fmt;

use pq_x509::{SignatureAlgorithm, SubjectKey};
use rustls::crypto::SecureRandom;
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::sign::{Signer, SigningKey};
use rustls::{Error, SignatureScheme};
use zeroize::Zeroizing;

use super::other;

/// An ML-DSA private key, ready for TLS.
#[derive(Clone)]
pub(super) struct MlDsaKey {
    key: pq_x509::SigningKey,
    scheme: SignatureScheme,
    /// Hedges the signatures.
    random: &'static dyn SecureRandom,
}

impl MlDsaKey {
    /// # Errors
    ///
    /// [`Error::Other`] if TLS has no code point for the key's algorithm.
    pub(super) fn new(
        key: pq_x509::SigningKey,
        random: &'static dyn SecureRandom,
    ) -> Result<Self, Error> {
        let algorithm = key.algorithm();
        Ok(Self {
            scheme: scheme_of(algorithm).ok_or_else(|| other(NoScheme { algorithm }))?,
            key,
            random,
        })
    }
}

impl SigningKey for MlDsaKey {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        offered
            .contains(&self.scheme)
            .then(|| Box::new(self.clone()) as _)
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        Some(self.key.spki())
    }

    /// rustls has no name for ML-DSA here, and asks in TLS 1.2 only, where ML-DSA
    /// must not be used.
    fn algorithm(&self) -> rustls::SignatureAlgorithm {
        rustls::SignatureAlgorithm::Unknown(0)
    }
}

/// Signs what a CertificateVerify covers: pure ML-DSA, hedged, with an empty context.
impl Signer for MlDsaKey {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let mut rnd = Zeroizing::new([0; 32]);
        self.random.fill(&mut *rnd)?;
        self.key.sign_with_randomness(message, &rnd).map_err(other)
    }

    fn scheme(&self) -> SignatureScheme {
        self.scheme
    }
}

impl fmt::Debug for MlDsaKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MlDsaKey")
            .field("scheme", &self.scheme)
            .finish_non_exhaustive()
    }
}

/// The code points of draft-ietf-tls-mldsa, section 2.
pub(crate) fn scheme_of(algorithm: SignatureAlgorithm) -> Option<SignatureScheme> {
    match algorithm {
        SignatureAlgorithm::MlDsa44 => Some(SignatureScheme::ML_DSA_44),
        SignatureAlgorithm::MlDsa65 => Some(SignatureScheme::ML_DSA_65),
        SignatureAlgorithm::MlDsa87 => Some(SignatureScheme::ML_DSA_87),
        _ => None,
    }
}

/// A private key of an algorithm that signs certificates but has no place in TLS.
#[derive(Debug, thiserror::Error)]
#[error("no TLS signature scheme is known for {algorithm}; use an ML-DSA key")]
struct NoScheme {
    algorithm: SignatureAlgorithm,
}
