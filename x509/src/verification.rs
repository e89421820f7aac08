//! Signature verification for webpki and for whatever else speaks `rustls-pki-types`.

use core::fmt;

use pki_types::{AlgorithmIdentifier, InvalidSignature, SignatureVerificationAlgorithm, alg_id};
use pq_core::ml_dsa::{self, MlDsa44, MlDsa65, MlDsa87, ParameterSet};

use crate::expanded_keys::ExpandedKeys;

/// ML-DSA-44, pure, with an empty context (RFC 9881).
pub static ML_DSA_44: &dyn SignatureVerificationAlgorithm = {
    static ALGORITHM: MlDsa<MlDsa44> = MlDsa::new(alg_id::ML_DSA_44);
    &ALGORITHM
};

/// ML-DSA-65, pure, with an empty context (RFC 9881).
pub static ML_DSA_65: &dyn SignatureVerificationAlgorithm = {
    static ALGORITHM: MlDsa<MlDsa65> = MlDsa::new(alg_id::ML_DSA_65);
    &ALGORITHM
};

/// ML-DSA-87, pure, with an empty context (RFC 9881).
pub static ML_DSA_87: &dyn SignatureVerificationAlgorithm = {
    static ALGORITHM: MlDsa<MlDsa87> = MlDsa::new(alg_id::ML_DSA_87);
    &ALGORITHM
};

/// All algorithms of this module.
pub static ALL: &[&dyn SignatureVerificationAlgorithm] = &[ML_DSA_44, ML_DSA_65, ML_DSA_87];

struct MlDsa<P: ParameterSet> {
    identifier: AlgorithmIdentifier,
    /// So that the keys of roots, at least, are not expanded in each verification.
    expanded: ExpandedKeys<P>,
}

impl<P: ParameterSet> MlDsa<P> {
    const fn new(identifier: AlgorithmIdentifier) -> Self {
        Self {
            identifier,
            expanded: ExpandedKeys::new(),
        }
    }
}

impl<P: ParameterSet> SignatureVerificationAlgorithm for MlDsa<P> {
    fn verify_signature(
        &self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        let key =
            ml_dsa::VerifyingKey::<P>::from_bytes(public_key).map_err(|_| InvalidSignature)?;
        let signature =
            ml_dsa::Signature::<P>::from_bytes(signature).map_err(|_| InvalidSignature)?;
        match self.expanded.find(&key) {
            Some(key) => key.verify(message, &[], &signature),
            None => key.verify(message, &[], &signature),
        }
        .map_err(|_| InvalidSignature)
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        self.identifier
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        self.identifier
    }
}

impl<P: ParameterSet> fmt::Debug for MlDsa<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(P::NAME)
    }
}
