//! Many signatures verified in one call.

use alloc::vec::Vec;

use super::backend::Pending;
use super::error::KeyError;
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
    let mut pending: Vec<_> = signatures.iter().map(Unverified::pending).collect();
    for first in 0..pending.len() {
        if pending[first].result.is_none() {
            let key = pending[first].key;
            key.verify_together(&mut pending[first..]);
        }
    }
    let results = pending.into_iter().zip(signatures);
    let result = |(pending, unverified): (Pending<'_>, &Unverified<'_>)| {
        let verified = pending.result.unwrap_or_else(|| pending.verify());
        verified.map_err(|error| unverified.key.refusal(error))
    };
    results.map(result).collect()
}

impl Unverified<'_> {
    fn pending(&self) -> Pending<'_> {
        Pending {
            key: self.key.backend(),
            message: self.key.own_message(self.message),
            context: self.context,
            signature: self.signature,
            result: None,
        }
    }
}
