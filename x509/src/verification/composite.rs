//! Composite signatures in chains: each combination is a `SignatureVerificationAlgorithm` of webpki's.

use alloc::boxed::Box;
use std::sync::LazyLock;

use pki_types::{AlgorithmIdentifier, InvalidSignature, SignatureVerificationAlgorithm};
use pq_keys::classical::{self, ClassicalKeyError};
use pq_keys::composite::{CompositeAlgorithm, CompositePublicKey};

/// Verification of every combination of Composite ML-DSA, for [`ChainValidator`](crate::validation::ChainValidator), requests
/// and webpki.
///
/// It includes composites alone; for classical keys take [`classical_algorithms`](super::classical_algorithms).
///
/// # Errors
///
/// [`ClassicalKeyError::UnsupportedCpu`] and [`ClassicalKeyError::UnsupportedArchitecture`].
pub fn composite_algorithms()
-> Result<&'static [&'static dyn SignatureVerificationAlgorithm], ClassicalKeyError> {
    /// Made once, and kept as long as the process.
    static ALL: LazyLock<Vec<&'static dyn SignatureVerificationAlgorithm>> = LazyLock::new(|| {
        let all = CompositeAlgorithm::ALL.iter();
        all.map(|one| Box::leak(Box::new(Composite(*one))) as _)
            .collect()
    });

    classical::verifications()?;
    Ok(&ALL)
}

/// Verifies with an empty context, as for certificates.
#[derive(Debug)]
struct Composite(CompositeAlgorithm);

impl SignatureVerificationAlgorithm for Composite {
    fn verify_signature(
        &self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        CompositePublicKey::from_bytes(self.0, public_key)
            .and_then(|key| key.verify(message, signature))
            .map_err(|_| InvalidSignature)
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        self.0.pki_identifier()
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        self.public_key_alg_id()
    }
}
