use crate::recipient::KemError;

/// Why a context was not made, or did nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HpkeError {
    /// The key or the encapsulated secret is refused, or there is no randomness.
    #[error("{0}")]
    Kem(KemError),
    /// The info is too long.
    #[error("the info has {len} bytes, and may have {most}")]
    InfoTooLong {
        /// How many bytes it has.
        len: usize,
        /// How many it may have: 65,535, and of a file's info, before which its header comes, 65,521.
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
    /// More is to be exported than the KDF makes.
    #[error("{asked} bytes can't be exported, but {most} at most")]
    ExportTooLong {
        /// How many bytes were asked for.
        asked: usize,
        /// How many there are at most.
        most: usize,
    },
}

impl From<KemError> for HpkeError {
    fn from(error: KemError) -> Self {
        Self::Kem(error)
    }
}
