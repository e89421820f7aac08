//! What SLH-DSA and HashSLH-DSA sign: M′ (FIPS 205, section 10), put together from a message or digest and its context.

use crate::Error;
use crate::arch::Choice;
use crate::context::Context;
use crate::prehash::{Digest, PreHash};

/// A signed message or digest, for one of the standard's two algorithms (FIPS 205, section 10).
///
/// A signature made by one does not verify by the other, nor with another hash function.
#[derive(Clone, Copy, Debug)]
pub enum Message<'a> {
    /// A message, signed by SLH-DSA itself; choose it unless you have a reason for HashSLH-DSA.
    Pure(&'a [u8]),
    /// A message that HashSLH-DSA hashes first.
    Hashed(PreHash, &'a [u8]),
    /// The digest of a message that was hashed elsewhere, for HashSLH-DSA.
    Digest(PreHash, &'a [u8]),
}

impl Message<'_> {
    /// Refuses to sign a digest of a hash function that is weaker than a set of so many bits.
    pub(super) fn check_strength(&self, bits: usize) -> Result<(), Error> {
        match self {
            Self::Pure(_) => Ok(()),
            Self::Hashed(hash, _) | Self::Digest(hash, _) => hash.check_strength(bits),
        }
    }

    /// Hands M′ in parts to `f`.
    pub(super) fn format<T>(
        &self,
        backend: Choice,
        context: &[u8],
        f: impl FnOnce(&[&[u8]]) -> T,
    ) -> Result<T, Error> {
        let context = Context::new(context)?;
        Ok(match *self {
            Self::Pure(message) => context.pure(message, f),
            Self::Hashed(hash, message) => context.hashed(&Digest::of(backend, hash, message), f),
            Self::Digest(hash, digest) => context.hashed(&Digest::from_bytes(hash, digest)?, f),
        })
    }
}
