//! Why a file was not encrypted or not decrypted, and whether a part of its content was written.

use std::io;

use crate::context::HpkeError;
use crate::recipient::{Kem, KemError};

/// Why a file was not encrypted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncryptionError {
    /// The content can't be read.
    #[error("the content can't be read: {0}")]
    Read(io::Error),
    /// The encrypted file can't be written.
    #[error("the encrypted file can't be written: {0}")]
    Write(io::Error),
    /// The key is refused, there is no randomness, or the info is too long.
    #[error("{0}")]
    Hpke(HpkeError),
    /// The content is longer than what one key encrypts.
    #[error("the content has more than 256 TiB, the most that one key encrypts; split it")]
    TooLong,
}

/// Why a file was not decrypted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecryptionError {
    /// The file can't be read.
    #[error("the encrypted file can't be read: {0}")]
    Read(io::Error),
    /// The content can't be written.
    #[error("the content can't be written: {0}")]
    Write(io::Error),
    /// The file has another beginning.
    #[error("it is not a file of this format, which begins with \"pq-hpke\"")]
    NotEncrypted,
    /// The file has another version of the format.
    #[error("it has version {0} of the format, and only 1 is supported; use a newer program")]
    Version(u8),
    /// The file has an algorithm that is not supported.
    #[error("it is encrypted by a {what} that is not supported, number {number:#06x} of HPKE")]
    UnknownAlgorithm {
        /// KEM, KDF or AEAD.
        what: &'static str,
        /// Its number.
        number: u16,
    },
    /// The key is of another KEM.
    #[error(
        "it is encrypted to a key of {file}, and the key is one of {key}; use the key that it is for"
    )]
    OtherKem {
        /// The KEM of the file.
        file: Kem,
        /// The KEM of the key.
        key: Kem,
    },
    /// The file ends before its first chunk.
    #[error("it is cut short, before its content; copy it again")]
    NoChunk,
    /// The encapsulated secret is refused.
    #[error("{0}")]
    Kem(KemError),
    /// The info is too long.
    #[error("{0}")]
    Hpke(HpkeError),
    /// The first chunk is not authentic, and nothing was written.
    #[error("it is not for this key and info, or was altered; nothing of it was decrypted")]
    NotForThisKey,
    /// A later chunk is not authentic, or is missing.
    #[error(
        "it was altered or cut short: its first {written} bytes of content are authentic, but not complete; \
         copy it again"
    )]
    Altered {
        /// How much of the content was written.
        written: u64,
    },
}

impl From<HpkeError> for EncryptionError {
    fn from(error: HpkeError) -> Self {
        Self::Hpke(error)
    }
}

impl From<HpkeError> for DecryptionError {
    fn from(error: HpkeError) -> Self {
        match error {
            HpkeError::Kem(error) => Self::Kem(error),
            error => Self::Hpke(error),
        }
    }
}
