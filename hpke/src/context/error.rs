//! Why a context can't be made, or refuses a message, its info or an export.

use crate::recipient::KemError;

/// Why a context can't be made or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HpkeError {
    /// The key or the encapsulated secret is refused, or there is no randomness.
    #[error("{0}")]
    Kem(KemError),
    /// The info is too long.
    #[error("the info has {len} bytes; it may have at most {most}")]
    InfoTooLong {
        /// How many bytes it has.
        len: usize,
        /// How many it may have: 65,535, or 65,521 for a file's info, which follows the file's header.
        most: usize,
    },
    /// The context has no nonce left, and nothing was encrypted or decrypted.
    #[error("the context has encrypted as many messages as it may; make a new one")]
    MessageLimit,
    /// The message is longer than what one nonce encrypts.
    #[error("the message is longer than the cipher takes at once; split it")]
    MessageTooLong,
    /// The message is not the next one that was encrypted for this context.
    #[error(
        "the message is not authentic: it was altered, comes out of order, or is for another key or info"
    )]
    NotAuthentic,
    /// The secret to export is longer than the KDF can make it.
    #[error("{asked} bytes can't be exported; {most} is the maximum")]
    ExportTooLong {
        /// How many bytes were asked for.
        asked: usize,
        /// How many can be exported.
        most: usize,
    },
}

impl From<KemError> for HpkeError {
    fn from(error: KemError) -> Self {
        Self::Kem(error)
    }
}
