//! The operating system's randomness.

use thiserror::Error;
use zeroize::Zeroizing;

/// There was no randomness, so nothing was made or signed.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error(transparent)]
pub struct RandomnessError(#[from] source::Error);

/// This many fresh random bytes, wiped when dropped.
///
/// # Errors
///
/// [`RandomnessError`].
pub fn secret(len: usize) -> Result<Zeroizing<Vec<u8>>, RandomnessError> {
    let mut bytes = Zeroizing::new(vec![0; len]);
    source::fill(&mut bytes)?;
    Ok(bytes)
}

/// Fills a buffer with fresh random bytes. (To return them by value would leave copies behind.)
///
/// # Errors
///
/// [`RandomnessError`].
pub fn fill(bytes: &mut [u8]) -> Result<(), RandomnessError> {
    Ok(source::fill(bytes)?)
}

#[cfg(any(
    not(all(target_family = "wasm", target_os = "unknown")),
    feature = "wasm_js"
))]
use getrandom as source;

/// Bare WebAssembly has no known source of randomness: reading and verifying work, and operations that
/// need randomness say what is missing.
#[cfg(all(
    target_family = "wasm",
    target_os = "unknown",
    not(feature = "wasm_js")
))]
mod source {
    #[derive(Clone, Debug, Eq, thiserror::Error, PartialEq)]
    #[error(
        "this WebAssembly target has no operating system; where JavaScript runs it, enable the \
         feature `wasm_js` of pq-keys or pq-x509"
    )]
    pub struct Error;

    pub(super) fn fill(_: &mut [u8]) -> Result<(), Error> {
        Err(Error)
    }
}
