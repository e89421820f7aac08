//! Verifies several signatures of one ML-DSA key side by side, in SIMD lanes that one signature alone leaves empty.

use alloc::boxed::Box;

use pq_core::ml_dsa::batch::{self, Verify};
use pq_core::ml_dsa::{
    ExpandedVerifyingKey, MlDsa44, MlDsa65, MlDsa87, ParameterSet, VerifyingKey,
};
use pq_keys::SignatureAlgorithm;

/// A key that verifies several signatures side by side.
pub(crate) trait SideBySide: Send + Sync {
    /// Says for each signature whether it is valid. If the context has more than 255 bytes, none is.
    fn verify(&self, context: &[u8], items: &mut dyn Iterator<Item = Signed<'_>>) -> Vec<bool>;
}

/// A message and its signature.
pub(crate) struct Signed<'a> {
    pub(crate) message: &'a [u8],
    pub(crate) signature: &'a [u8],
}

/// The key, if it is one of ML-DSA.
pub(crate) fn side_by_side(key: &pq_keys::VerifyingKey) -> Option<Box<dyn SideBySide>> {
    match key.algorithm() {
        SignatureAlgorithm::MlDsa44 => expand::<MlDsa44>(key.as_bytes()),
        SignatureAlgorithm::MlDsa65 => expand::<MlDsa65>(key.as_bytes()),
        SignatureAlgorithm::MlDsa87 => expand::<MlDsa87>(key.as_bytes()),
        _ => None,
    }
}

fn expand<P: ParameterSet + 'static>(key: &[u8]) -> Option<Box<dyn SideBySide>>
where
    ExpandedVerifyingKey<P>: Send + Sync,
{
    Some(Box::new(VerifyingKey::<P>::from_bytes(key).ok()?.expand()))
}

impl<P: ParameterSet> SideBySide for ExpandedVerifyingKey<P>
where
    Self: Send + Sync,
{
    fn verify(&self, context: &[u8], items: &mut dyn Iterator<Item = Signed<'_>>) -> Vec<bool> {
        let items: Vec<_> = items.collect();
        let mut results = vec![None; items.len()];
        batch::verify_expanded(items.iter().zip(&mut results).map(|(item, result)| Verify {
            key: self,
            message: item.message,
            context,
            signature: item.signature,
            result,
        }));
        let valid = |result: &Option<_>| matches!(result, Some(Ok(())));
        results.iter().map(valid).collect()
    }
}
