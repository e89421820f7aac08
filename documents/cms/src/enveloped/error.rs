//! The errors of encrypting and of decrypting messages. Most of their texts say what to do.

use const_oid::ObjectIdentifier;
use pq_keys::KeyError;
use pq_keys::agreement::AgreementError;
use pq_keys::random::RandomnessError;

use crate::encoding::EncodingError;

/// Why nothing was encrypted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnvelopingError {
    /// The content can't be read, or the message can't be written.
    #[error("{0}")]
    Encoding(EncodingError),
    /// There is no recipient.
    #[error("no recipient was given; add one")]
    NoRecipient,
    /// A certificate's key is not an ML-KEM key.
    #[error("the certificate of {subject}: {error}; give one with an ML-KEM key")]
    Certificate {
        /// The subject of the certificate.
        subject: String,
        /// What is wrong with its key.
        error: KeyError,
    },
    /// A certificate's key usage doesn't allow this (RFC 9935, section 5; RFC 8410, section 5).
    #[error(
        "the key usage of the certificate of {subject} is not {usage}; give one for encryption"
    )]
    KeyUsage {
        /// The subject of the certificate.
        subject: String,
        /// The usage that is missing, such as `keyEncipherment`.
        usage: &'static str,
    },
    /// The certificate belongs to another key.
    #[error("the certificate of {0} belongs to another key; give the one issued for this key")]
    OtherKey(String),
    /// A shared key has neither the length of AES-128 keys nor that of AES-256 keys.
    #[error("a shared key has {0} bytes; it needs 16 or 32")]
    SharedKeyLength(usize),
    /// There is no randomness.
    #[error("{0}")]
    Key(KeyError),
    /// No secret was agreed on with a recipient.
    #[error("{0}")]
    Agreement(AgreementError),
    /// There is no randomness.
    #[error("no randomness: {0}; nothing was encrypted")]
    Randomness(RandomnessError),
    /// The content is longer than what one key of AES-GCM encrypts.
    #[error("the content has more than 64 GiB, the most that one key encrypts; split it")]
    TooLong,
}

/// Why a message was not decrypted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpeningError {
    /// The message can't be read, or the content can't be written.
    #[error("{0}")]
    Encoding(EncodingError),
    /// It is a message of another kind.
    #[error(
        "the message has type {0}; an encrypted one has 1.2.840.113549.1.7.3 or \
         1.2.840.113549.1.9.16.1.23"
    )]
    NotEncrypted(ObjectIdentifier),
    /// The message has a version that such messages don't have.
    #[error("the message has the unknown version {0}")]
    Version(u8),
    /// The encrypted content is not in the message.
    #[error("the message has no encrypted content")]
    NoContent,
    /// The key belongs to no recipient.
    #[error("none of the {0} recipients has this key; decrypt with the key of one of them")]
    NotARecipient(u64),
    /// The key was tried for as many recipients as it is tried for, and there are more that it may belong to.
    #[error(
        "this key is none of the first {0} recipients that it may be, and is tried for no more: give the certificate that \
         the message was encrypted to, so that its recipient is known by name"
    )]
    TooManyTried(u16),
    /// The key belongs to no recipient that can be read.
    #[error(
        "one of the {recipients} recipients can't be read, and none of the others has this key: {error}; get the \
         message again, or decrypt with the key of another recipient"
    )]
    UnreadableRecipient {
        /// How many recipients there are.
        recipients: u64,
        /// What is wrong with the one that can't be read.
        error: der::Error,
    },
    /// The key belongs to no recipient that was read, and there are larger ones.
    #[error(
        "of the {recipients} recipients, which may each stand for many, one has more than {limit} bytes and was not read, \
         and none of the others has this key; have the message encrypted for fewer recipients, or decrypt with the key of \
         another one"
    )]
    LargeRecipient {
        /// How many recipients there are.
        recipients: u64,
        /// How many bytes of one are read.
        limit: usize,
    },
    /// The key belongs to no other recipient than perhaps one whose secret was agreed on with a sender's certificate,
    /// which is not supported.
    #[error(
        "for one of the {0} recipients the sender used a key with a certificate, which is not supported, and none of the \
         others has this key; have the message encrypted with a key made for it, as most programs do"
    )]
    CertifiedOriginator(u64),
    /// A recipient has this key, but it does not decrypt the content's key.
    #[error(
        "this key does not decrypt the content's key; the message was altered, or is for another key"
    )]
    WrongKey,
    /// A recipient has this key or may have it, but with an algorithm that is not supported.
    #[error(
        "a recipient that may have this key gets the content's key by an algorithm that is not supported, {0}"
    )]
    UnknownAlgorithm(ObjectIdentifier),
    /// The content's cipher, or its parameters, are not supported.
    #[error(
        "the content's cipher {0}, or its parameters, are not supported; AES-GCM and AES-CBC are"
    )]
    UnknownCipher(ObjectIdentifier),
    /// The content is not what was encrypted. Discard whatever was written of it.
    #[error(
        "the decrypted content is not what was encrypted: the message was altered, or was not made as the standard says"
    )]
    Altered,
    /// The certificate belongs to another key.
    #[error("the certificate of {0} belongs to another key; give the one issued for this key")]
    OtherKey(String),
    /// The message does not authenticate its content, and this opener requires it.
    #[error("{0} does not authenticate the content, so it can't be checked before it is used")]
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
    EnvelopingError: RandomnessError => Self::Randomness;
    OpeningError: EncodingError => Self::Encoding;
    OpeningError: der::Error => |error| Self::Encoding(EncodingError::Der(error));
);
