//! Signature verification for webpki and for whatever else speaks `rustls-pki-types`.

use core::fmt;
use core::marker::PhantomData;

use pki_types::{AlgorithmIdentifier, InvalidSignature, SignatureVerificationAlgorithm, alg_id};
use pq_core::ml_dsa::{self, MlDsa44, MlDsa65, MlDsa87, ParameterSet};

/// ML-DSA-44, pure, with an empty context (RFC 9881).
pub static ML_DSA_44: &dyn SignatureVerificationAlgorithm =
    &MlDsa::<MlDsa44>::new(alg_id::ML_DSA_44);

/// ML-DSA-65, pure, with an empty context (RFC 9881).
pub static ML_DSA_65: &dyn SignatureVerificationAlgorithm =
    &MlDsa::<MlDsa65>::new(alg_id::ML_DSA_65);

/// ML-DSA-87, pure, with an empty context (RFC 9881).
pub static ML_DSA_87: &dyn SignatureVerificationAlgorithm =
    &MlDsa::<MlDsa87>::new(alg_id::ML_DSA_87);

/// All algorithms of this module.
pub static ALL: &[&dyn SignatureVerificationAlgorithm] = &[ML_DSA_44, ML_DSA_65, ML_DSA_87];

struct MlDsa<P> {
    identifier: AlgorithmIdentifier,
    parameters: PhantomData<P>,
}

impl<P> MlDsa<P> {
    const fn new(identifier: AlgorithmIdentifier) -> Self {
        Self {
            identifier,
            parameters: PhantomData,
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
        key.verify(message, &[], &signature)
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
