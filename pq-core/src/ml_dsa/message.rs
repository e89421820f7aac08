//! The representative µ of what is signed (FIPS 204, section 6.2).

use crate::arch::Backend;
use crate::hash::sha3::{SHAKE_SUFFIX, SHAKE256_RATE, Sponge, shake256};

/// µ = H(tr ‖ M′, 64) (algorithm 7, step 6; algorithm 8, step 7).
pub(super) fn representative<B: Backend>(b: B, tr: &[u8; 64], message: &[&[u8]]) -> [u8; 64] {
    let mut sponge = Sponge::new(b, SHAKE256_RATE);
    sponge.absorb(tr);
    for part in message {
        sponge.absorb(part);
    }
    let mut mu = [0; 64];
    sponge.finish(SHAKE_SUFFIX);
    sponge.squeeze(&mut mu);
    mu
}

/// H(bytes, 64), which is tr if `bytes` are a verifying key.
pub(super) fn h64<B: Backend>(b: B, bytes: &[u8]) -> [u8; 64] {
    let mut hash = [0; 64];
    shake256(b, &[bytes], &mut hash);
    hash
}
