use crate::Error;
use crate::arch::Choice;
use crate::context::Context;
use crate::prehash::{Digest, PreHash};

/// What is signed, and in which of the standard's two ways (FIPS 205, section 10).
///
/// A signature made in one way does not verify in the other, nor with another hash function.
#[derive(Clone, Copy, Debug)]
pub enum Message<'a> {
    /// A message, by SLH-DSA itself: the one to choose without a reason for the other.
    Pure(&'a [u8]),
    /// A message that is hashed first, by HashSLH-DSA.
    Hashed(PreHash, &'a [u8]),
    /// The digest of a message that was hashed elsewhere, by HashSLH-DSA.
    Digest(PreHash, &'a [u8]),
}

impl Message<'_> {
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
