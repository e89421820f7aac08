use const_oid::ObjectIdentifier;
use pq_x509::{AgreementError, KeyError};

use crate::encoding::EncodingError;

/// Why nothing was encrypted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnvelopingError {
    /// The content can't be read, or the message not written.
    #[error("{0}")]
    Encoding(EncodingError),
    /// There is nobody to encrypt for.
    #[error("no recipient was given; add one")]
    NoRecipient,
    /// A certificate is not of a key that others encrypt to.
    #[error("the certificate of {subject}: {error}; give one of an ML-KEM key")]
    Certificate {
        /// The subject of the certificate.
        subject: String,
        /// What is wrong with its key.
        error: KeyError,
    },
    /// A certificate's key usage is another (RFC 9935, section 5; RFC 8410, section 5).
    #[error(
        "the key usage of the certificate of {subject} is not {usage}; give one for encryption"
    )]
    KeyUsage {
        /// The subject of the certificate.
        subject: String,
        /// What it lacks, such as `keyEncipherment`.
        usage: &'static str,
    },
    /// The certificate is another key's.
    #[error("the certificate of {0} is not that of the key; give the one that was issued for it")]
    OtherKey(String),
    /// A shared key is neither of AES-128 nor of AES-256.
    #[error("a shared key has {0} bytes, and not 16 or 32")]
    SharedKeyLength(usize),
    /// There is no randomness.
    #[error("{0}")]
    Key(KeyError),
    /// No secret was agreed on with a recipient.
    #[error("{0}")]
    Agreement(AgreementError),
    /// There is no randomness.
    #[error("no randomness: {0}; nothing was encrypted")]
    Randomness(getrandom::Error),
    /// The content is longer than what one key of AES-GCM encrypts.
    #[error("the content has more than 64 GiB, which is all that one key encrypts; split it")]
    TooLong,
}

/// Why a message was not decrypted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpeningError {
    /// The message can't be read, or the content not written.
    #[error("{0}")]
    Encoding(EncodingError),
    /// It is a message of another kind.
    #[error(
        "the message is of type {0} and not encrypted (1.2.840.113549.1.7.3 or \
         1.2.840.113549.1.9.16.1.23)"
    )]
    NotEncrypted(ObjectIdentifier),
    /// The version is none that such messages have.
    #[error("the message has version {0}, which no such message has")]
    Version(u8),
    /// The encrypted content is elsewhere.
    #[error("the message has no encrypted content")]
    NoContent,
    /// The key is none of a recipient's.
    #[error("none of {0} recipients has this key; decrypt with the key of one of them")]
    NotARecipient(u64),
    /// The key is none of a recipient's that can be read.
    #[error(
        "of {recipients} recipients none has this key, but what one of them has can't be read: {error}; get \
         the message again, or decrypt with the key of another"
    )]
    UnreadableRecipient {
        /// How many there are.
        recipients: u64,
        /// What is wrong with one of them.
        error: der::Error,
    },
    /// A recipient with this key is there, and its secret does not give the content's key.
    #[error(
        "the content's key can't be had by this key; the message was altered, or is for another key"
    )]
    WrongKey,
    /// A recipient with this key is there, and by algorithms that are not known here.
    #[error("for this key the message uses an algorithm that is not known here, {0}")]
    UnknownAlgorithm(ObjectIdentifier),
    /// The content's cipher, or its parameters, are not known.
    #[error(
        "the content's cipher {0}, or its parameters, are unknown; AES-GCM and AES-CBC are known"
    )]
    UnknownCipher(ObjectIdentifier),
    /// The content is not what was encrypted. Whatever was written of it is worthless.
    #[error("the message was altered; what was decrypted of it is not what was encrypted")]
    Altered,
    /// The certificate is another key's.
    #[error("the certificate of {0} is not that of the key; give the one that was issued for it")]
    OtherKey(String),
    /// The content is not to be read without a check, and the message has none.
    #[error("{0} does not authenticate the content, so that nothing can be checked beforehand")]
    NotAuthenticated(&'static str),
    /// The content is longer than what is kept in memory.
    #[error("the content has more than {0} bytes; have it written to a file")]
    ContentTooLarge(usize),
}

macro_rules! from_causes {
    ($($error:ident: $cause:ty => $make:expr;)+) => {$(
        impl From<$cause> for $error {
            fn from(cause: $cause) -> Self {
                $make(cause)
            }
        }
    )+};
}

from_causes!(
    EnvelopingError: EncodingError => Self::Encoding;
    EnvelopingError: der::Error => |error| Self::Encoding(EncodingError::Der(error));
    EnvelopingError: KeyError => Self::Key;
    EnvelopingError: AgreementError => Self::Agreement;
    EnvelopingError: getrandom::Error => Self::Randomness;
    OpeningError: EncodingError => Self::Encoding;
    OpeningError: der::Error => |error| Self::Encoding(EncodingError::Der(error));
);
