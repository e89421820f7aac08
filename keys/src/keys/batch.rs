//! Many signatures verified in one call.

use alloc::vec::Vec;
use core::any::Any;

use pq_core::Error;
use pq_core::ml_dsa::batch::{self, Verify};
use pq_core::ml_dsa::{ExpandedVerifyingKey, MlDsa44, MlDsa65, MlDsa87, ParameterSet};

use super::error::KeyError;
use super::message::SignatureOptions;
use super::public_key::VerifyingKey;

/// A signature that is not verified yet.
#[derive(Clone, Copy, Debug)]
pub struct Unverified<'a> {
    /// The key to verify with; several may share one.
    pub key: &'a VerifyingKey,
    /// The signed message.
    pub message: &'a [u8],
    /// The context that was signed with it; empty in certificates and TLS.
    pub context: &'a [u8],
    /// The signature.
    pub signature: &'a [u8],
}

/// Verifies signatures in the modes of their keys, which may be of different parameter sets. The results are those of
/// [`VerifyingKey::verify_with`], in the same order.
///
/// Signatures of ML-DSA share the lanes of the CPU, and so take less time each than single calls, if their keys have the
/// same parameter set and are [expanded](VerifyingKey::expand). All others are verified one by one.
///
/// ```
/// use pq_keys::signing::{Unverified, verify_batch};
/// use pq_keys::{SignatureAlgorithm, SigningKey};
///
/// let signer = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
/// let signature = signer.sign(b"message")?;
/// let key = &signer.verifying_key().expand();
///
/// let unverified = [b"message", b"massage"].map(|message| Unverified {
///     key,
///     message,
///     context: &[],
///     signature: &signature,
/// });
/// let results = verify_batch(&unverified);
/// assert!(results[0].is_ok() && results[1].is_err());
/// # Ok::<_, pq_keys::KeyError>(())
/// ```
pub fn verify_batch(signatures: &[Unverified<'_>]) -> Vec<Result<(), KeyError>> {
    let mut results = vec![None; signatures.len()];
    verify_together::<MlDsa44>(signatures, &mut results);
    verify_together::<MlDsa65>(signatures, &mut results);
    verify_together::<MlDsa87>(signatures, &mut results);
    let result = |(unverified, result): (&Unverified<'_>, Option<Result<(), Error>>)| match result {
        Some(result) => result.map_err(|error| unverified.key.refusal(error)),
        None => {
            let options = SignatureOptions::new().context(unverified.context);
            let Unverified {
                key,
                message,
                signature,
                ..
            } = unverified;
            key.verify_with(message, signature, &options)
        }
    };
    signatures.iter().zip(results).map(result).collect()
}

/// Verifies those whose keys are expanded ones of this parameter set. A function of its own, and none of the keys' trait, so that
/// programs which verify no batches don't contain it.
fn verify_together<P: ParameterSet>(
    signatures: &[Unverified<'_>],
    results: &mut [Option<Result<(), Error>>],
) {
    let alike = signatures
        .iter()
        .zip(results)
        .filter_map(|(unverified, result)| {
            let key: &dyn Any = unverified.key.backend();
            Some(Verify {
                key: key.downcast_ref::<ExpandedVerifyingKey<P>>()?,
                message: unverified.message,
                context: unverified.context,
                signature: unverified.signature,
                result,
            })
        });
    batch::verify_expanded(alike);
}
