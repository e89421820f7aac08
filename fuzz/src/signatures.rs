//! Compares ways to verify an ML-DSA signature: pq-core's functions for one signature, for batches, for expanded keys
//! and for µ must agree. RustCrypto's implementation is the peer to compare them with.

// RustCrypto deprecates expanded keys in favor of seeds.
#![expect(deprecated, reason = "what becomes of expanded keys is compared, too")]

use ml_dsa::ExpandedSigningKey;
use pq_core::Error;
use pq_core::ml_dsa::batch::{self, Verify};
use pq_core::ml_dsa::{MlDsa44, MlDsa65, MlDsa87, ParameterSet, Signature, VerifyingKey};

/// Checks that every way of verifying `changed` comes to the same verdict, also in a batch with
/// `valid`.
pub fn check_verdicts<P: Peer>(valid: &Parts<'_>, changed: &Parts<'_>, is_valid: bool) {
    let verdict = changed.verify::<P>();
    assert_eq!(verdict.is_ok(), is_valid);

    // In a batch with others: more than one group of them, and in an irregular order.
    let items = [valid, changed, valid, changed, valid];
    let of_valid = valid.verify::<P>();
    let expected = [of_valid, verdict, of_valid, verdict, of_valid];
    let mut results = [None; 5];
    batch::verify::<P>(
        items
            .iter()
            .zip(&mut results)
            .map(|(parts, result)| parts.item(parts.key, result)),
    );
    assert_eq!(results, expected.map(Some));

    let Ok(key) = VerifyingKey::<P>::from_bytes(changed.key) else {
        assert_ne!(changed.key.len(), P::VERIFYING_KEY_LEN);
        return;
    };
    assert_eq!(key.as_bytes(), changed.key);
    let expanded = key.expand();
    let mut results = [None; 2];
    batch::verify_expanded(
        results
            .iter_mut()
            .map(|result| changed.item(&expanded, result)),
    );
    assert_eq!(results, [Some(verdict); 2]);
    let Ok(signature) = Signature::<P>::from_bytes(changed.signature) else {
        assert_ne!(changed.signature.len(), P::SIGNATURE_LEN);
        return;
    };
    assert_eq!(
        expanded.verify(changed.message, changed.context, &signature),
        verdict
    );
    if let Ok(mu) = key.mu(changed.message, changed.context) {
        assert_eq!(expanded.verify_mu(&mu, &signature), verdict);
        assert_eq!(key.verify_mu(&mu, &signature), verdict);
    }
}

/// The input of a verifier.
#[derive(Clone, Copy, PartialEq)]
pub struct Parts<'a> {
    pub key: &'a [u8],
    pub message: &'a [u8],
    pub context: &'a [u8],
    pub signature: &'a [u8],
}

impl<'a> Parts<'a> {
    fn verify<P: ParameterSet>(&self) -> Result<(), Error> {
        let key = VerifyingKey::<P>::from_bytes(self.key)?;
        let signature = Signature::from_bytes(self.signature)?;
        key.verify(self.message, self.context, &signature)
    }

    fn item<K>(&self, key: K, result: &'a mut Option<Result<(), Error>>) -> Verify<'a, K> {
        Verify {
            key,
            message: self.message,
            context: self.context,
            signature: self.signature,
            result,
        }
    }
}

/// M′ of FIPS 204, algorithm 2.
pub fn formatted(message: &[u8], context: &[u8]) -> Option<Vec<u8>> {
    let len = u8::try_from(context.len()).ok()?;
    Some([&[0, len], context, message].concat())
}

/// RustCrypto's implementation of the same parameter set.
pub trait Peer: ParameterSet {
    /// The expanded key and the verifying key.
    fn generate(xi: &[u8; 32]) -> (Vec<u8>, Vec<u8>);
    fn signature(expanded: &[u8], m: &[u8], randomness: &[u8; 32]) -> Vec<u8>;
    fn accepts(parts: &Parts<'_>) -> bool;
}

macro_rules! peers {
    ($($set:ident),+) => {$(
        impl Peer for $set {
            fn generate(xi: &[u8; 32]) -> (Vec<u8>, Vec<u8>) {
                let key = ExpandedSigningKey::<ml_dsa::$set>::from_seed(&(*xi).into());
                (key.to_expanded().to_vec(), key.verifying_key().encode().to_vec())
            }

            fn signature(expanded: &[u8], m: &[u8], randomness: &[u8; 32]) -> Vec<u8> {
                let expanded = expanded.try_into().expect("of the right length");
                ExpandedSigningKey::<ml_dsa::$set>::from_expanded(expanded)
                    .sign_internal(&[m], &(*randomness).into())
                    .encode()
                    .to_vec()
            }

            fn accepts(parts: &Parts<'_>) -> bool {
                let verdict = || {
                    let key = parts.key.try_into().ok()?;
                    let key = ml_dsa::VerifyingKey::<ml_dsa::$set>::decode(key);
                    let signature = parts.signature.try_into().ok()?;
                    let signature = ml_dsa::Signature::<ml_dsa::$set>::decode(signature)?;
                    let m = formatted(parts.message, parts.context)?;
                    Some(key.verify_internal(&m, &signature))
                };
                verdict().unwrap_or(false)
            }
        }
    )+};
}

peers!(MlDsa44, MlDsa65, MlDsa87);
