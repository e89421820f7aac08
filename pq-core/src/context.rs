//! The formatted messages M′ of ML-DSA (FIPS 204, sections 5.2 and 5.4) and SLH-DSA (FIPS
//! 205, section 10.2), which are the same.

use crate::Error;
use crate::prehash::Digest;

/// A context string of at most 255 bytes.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    bytes: &'a [u8],
    len: u8,
}

impl<'a> Context<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Self, Error> {
        let len = u8::try_from(bytes.len()).map_err(|_| Error::ContextTooLong)?;
        Ok(Self { bytes, len })
    }

    /// Hands M′ of ML-DSA or SLH-DSA in parts to `f` (FIPS 204, algorithm 2; FIPS 205,
    /// algorithm 22).
    pub(crate) fn pure<T>(self, message: &[u8], f: impl FnOnce(&[&[u8]]) -> T) -> T {
        f(&[&[0, self.len], self.bytes, message])
    }

    /// Hands M′ of HashML-DSA or HashSLH-DSA in parts to `f` (FIPS 204, algorithm 4;
    /// FIPS 205, algorithm 23).
    pub(crate) fn hashed<T>(self, digest: &Digest, f: impl FnOnce(&[&[u8]]) -> T) -> T {
        f(&[&[1, self.len], self.bytes, &digest.oid(), digest.as_bytes()])
    }
}
