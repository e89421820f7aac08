//! Classical signatures in chains: each of pq-keys' verifications is a `SignatureVerificationAlgorithm` of webpki's.

use alloc::boxed::Box;
use core::fmt;
use std::sync::OnceLock;

use pki_types::{AlgorithmIdentifier, InvalidSignature, SignatureVerificationAlgorithm};
use pq_keys::classical::{self, ClassicalKeyError, ClassicalVerification};

/// Verification of classical signatures, for [`ChainValidator`](crate::validation::ChainValidator), requests and
/// webpki.
///
/// It includes the algorithms of [`pq_keys::classical`], RSA keys of other lengths, other hashes, and RSA-PSS.
///
/// # Errors
///
/// [`ClassicalKeyError::UnsupportedCpu`] and [`ClassicalKeyError::UnsupportedArchitecture`].
pub fn classical_algorithms()
-> Result<&'static [&'static dyn SignatureVerificationAlgorithm], ClassicalKeyError> {
    /// Made once, and kept as long as the process.
    static ALL: OnceLock<Vec<&'static dyn SignatureVerificationAlgorithm>> = OnceLock::new();

    let all = classical::verifications()?.iter();
    Ok(ALL.get_or_init(|| {
        all.map(|one| Box::leak(Box::new(Classical(one))) as _)
            .collect()
    }))
}

struct Classical(&'static ClassicalVerification);

impl SignatureVerificationAlgorithm for Classical {
    fn verify_signature(
        &self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        self.0.verify(public_key, message, signature)
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        self.0.key_identifier()
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        self.0.signature_identifier()
    }
}

impl fmt::Debug for Classical {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
