//! Composite signatures in chains: each combination is a `SignatureVerificationAlgorithm` of webpki's.

use std::sync::LazyLock;

use rustls::pki_types::{AlgorithmIdentifier, InvalidSignature, SignatureVerificationAlgorithm};

use super::algorithm::CompositeAlgorithm;
use super::public_key::CompositePublicKey;
use crate::classical::{self, ClassicalKeyError};

/// Verification of every combination, for [`ChainValidator`](pq_x509::ChainValidator), requests and
/// webpki.
///
/// It includes composites alone; for classical keys take
/// [`classical::verification_algorithms`](crate::classical::verification_algorithms).
///
/// # Errors
///
/// [`ClassicalKeyError::UnsupportedCpu`] and [`ClassicalKeyError::UnsupportedArchitecture`].
pub fn verification_algorithms()
-> Result<&'static [&'static dyn SignatureVerificationAlgorithm], ClassicalKeyError> {
    /// Made once, and kept as long as the process.
    static ALL: LazyLock<Vec<&'static dyn SignatureVerificationAlgorithm>> =
        LazyLock::new(|| CompositeAlgorithm::ALL.iter().map(|one| one as _).collect());

    classical::verification_algorithms()?;
    Ok(&ALL)
}

/// Verifies with an empty context, as for certificates.
impl SignatureVerificationAlgorithm for CompositeAlgorithm {
    fn verify_signature(
        &self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        CompositePublicKey::from_bytes(*self, public_key)
            .and_then(|key| key.verify(message, signature))
            .map_err(|_| InvalidSignature)
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        AlgorithmIdentifier::from_slice(&self.row().identifier)
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        self.public_key_alg_id()
    }
}
