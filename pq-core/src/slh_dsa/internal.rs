//! The standard's internal algorithms (FIPS 205, section 9), for tests and for
//! validation, with the feature `hazmat-internal`.
//!
//! **[`sign`] signs whatever bytes it gets**, without the separation of domains that keeps a signature
//! for one purpose from counting for another, and counts no signatures. An application must not offer
//! it.
//!
//! They take the formatted message M′ (in parts, which they concatenate) and the backend to run on.
//! Applications use [`SigningKey`] and [`VerifyingKey`], which format the message and choose the
//! best backend.

use super::parallel::start_threads;
use super::params::ParameterSet;
use super::signature::Signature;
use super::signing_key::SigningKey;
use super::verifying_key::VerifyingKey;
use crate::Error;
use crate::arch::{Backend, InCrate, try_in_place};
use crate::dimension::Array;

/// slh_keygen_internal (algorithm 18) of SK.seed ‖ SK.prf ‖ PK.seed.
pub fn keygen<P: ParameterSet, B: Backend>(b: B, seed: &Array<P::SeedLen, u8>) -> SigningKey<P> {
    SigningKey::from_seed_with(b.choice(InCrate), seed.as_ref(), &|_| ())
}

/// slh_sign_internal (algorithm 19); without `randomness`, the deterministic variant.
///
/// # Errors
///
/// [`Error::InconsistentKey`] if the signature does not lead to the root in the key.
pub fn sign<P: ParameterSet, B: Backend>(
    b: B,
    signing_key: &SigningKey<P>,
    message: &[&[u8]],
    randomness: Option<&Array<P::N, u8>>,
) -> Result<Signature<P>, Error> {
    start_threads();
    let backend = b.choice(InCrate);
    let randomness = randomness.map(AsRef::as_ref);
    try_in_place(Signature::zero, |signature| {
        let bytes = signature.as_mut_bytes();
        P::sign(backend, signing_key, message, randomness, &|_| (), bytes)
    })
}

/// slh_verify_internal (algorithm 20): whether the signature is valid.
#[must_use = "only the result tells whether the signature is valid"]
pub fn verify<P: ParameterSet, B: Backend>(
    b: B,
    verifying_key: &VerifyingKey<P>,
    message: &[&[u8]],
    signature: &Signature<P>,
) -> bool {
    let backend = b.choice(InCrate);
    P::verify(backend, verifying_key, message, signature.as_bytes())
}
