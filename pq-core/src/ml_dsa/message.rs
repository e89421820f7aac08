//! The representative µ of what is signed (FIPS 204, section 6.2).

use crate::arch::{Backend, Choice, dispatch};
use crate::hash::sha3::{shake256, shake256_joined};

/// µ = H(tr ‖ M′, 64) (algorithm 7, step 6; algorithm 8, step 7).
pub(super) fn representative<B: Backend>(b: B, tr: &[u8; 64], message: &[&[u8]]) -> [u8; 64] {
    let mut mu = [0; 64];
    shake256_joined(b, &[tr], message, &mut mu);
    mu
}

/// µ of M′ for an encoded verifying key.
pub(super) fn mu(backend: Choice, verifying_key: &[u8], message: &[&[u8]]) -> [u8; 64] {
    dispatch!(backend, b => {
        // tr ← H(pk, 64)
        let mut tr = [0; 64];
        shake256(b, &[verifying_key], &mut tr);
        representative(b, &tr, message)
    })
}
