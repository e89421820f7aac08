//! What is signed: M′ and its representative µ (FIPS 204, sections 5.2 to 5.4).

use super::prehash::Digest;
use crate::Error;
use crate::arch::Backend;
use crate::hash::sha3::{SHAKE_SUFFIX, SHAKE256_RATE, Sponge, shake256};

/// A context string of at most 255 bytes.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    bytes: &'a [u8],
    len: u8,
}

impl<'a> Context<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, Error> {
        let len = u8::try_from(bytes.len()).map_err(|_| Error::ContextTooLong)?;
        Ok(Self { bytes, len })
    }

    /// Hands M′ of ML-DSA in parts to `f` (algorithm 2, step 10).
    pub(super) fn pure<T>(self, message: &[u8], f: impl FnOnce(&[&[u8]]) -> T) -> T {
        f(&[&[0, self.len], self.bytes, message])
    }

    /// Hands M′ of HashML-DSA in parts to `f` (algorithm 4, step 23).
    pub(super) fn hashed<T>(self, digest: &Digest, f: impl FnOnce(&[&[u8]]) -> T) -> T {
        f(&[&[1, self.len], self.bytes, &digest.oid(), digest.as_bytes()])
    }
}

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
