//! Why a signature or a list of allowed signers is refused, and why a signer is not allowed.

use pq_keys::composite::CompositeKeyError;

use super::message::HashAlgorithm;
use crate::encoding::{ArmorError, TextError, WireError};
use crate::keys::KeyError;

/// Why a signature could not be made or read, or is not valid.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// The text is not valid armor.
    #[error("{0}")]
    Armor(ArmorError),
    /// The bytes end too early or too late.
    #[error("{0}")]
    Wire(WireError),
    /// The bytes don't begin with `SSHSIG`.
    #[error("the file is not an SSH signature")]
    NotASignature,
    /// The signature has another version of the format.
    #[error("the signature has version {0} of its format; only version 1 is supported")]
    Version(u32),
    /// The key in the signature can't be used.
    #[error("the key in the signature: {0}")]
    Key(KeyError),
    /// The hash function is not permitted.
    #[error("the message was hashed with \"{0}\"; only sha256 and sha512 are permitted")]
    UnknownHash(String),
    /// The namespace can't be in a signature.
    #[error("{0}")]
    Namespace(TextError),
    /// There is no namespace.
    #[error("the namespace is empty: it says what a signature is for, such as \"file\" or \"git\"")]
    EmptyNamespace,
    /// The signature is for another purpose.
    #[error("the signature is for the namespace \"{signed}\", not for \"{wanted}\"")]
    OtherNamespace {
        /// The namespace in the signature.
        signed: String,
        /// The expected namespace.
        wanted: String,
    },
    /// The signature was made by another key, which has this fingerprint.
    #[error("the signature was made by another key: {0}")]
    OtherKey(String),
    /// The message was hashed with another function than the signature says.
    #[error(
        "the signature is for the message's {signed} hash; hash the message with {signed}, not {hashed}"
    )]
    OtherHash {
        /// The hash function in the signature.
        signed: HashAlgorithm,
        /// The hash function that the message was hashed with.
        hashed: HashAlgorithm,
    },
    /// The signature is not valid for this message, or the key could not sign.
    #[error("{0}")]
    Signature(CompositeKeyError),
}

impl From<ArmorError> for SignatureError {
    fn from(error: ArmorError) -> Self {
        Self::Armor(error)
    }
}

impl From<WireError> for SignatureError {
    fn from(error: WireError) -> Self {
        Self::Wire(error)
    }
}

impl From<KeyError> for SignatureError {
    fn from(error: KeyError) -> Self {
        Self::Key(error)
    }
}

impl From<TextError> for SignatureError {
    fn from(error: TextError) -> Self {
        Self::Namespace(error)
    }
}

impl From<CompositeKeyError> for SignatureError {
    fn from(error: CompositeKeyError) -> Self {
        Self::Signature(error)
    }
}

/// Why a line of a list of signers can't be read. It permits nothing then.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("line {line} of the allowed signers permits nothing: {error}")]
pub struct AllowedSignersError {
    /// The number of the line; the first is 1.
    pub line: usize,
    /// What is wrong with it.
    pub error: LineError,
}

/// What is wrong with a line of allowed signers.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// The key is wrong, or a quotation mark is not closed.
    #[error("{0}")]
    Key(KeyError),
    /// The option is unknown. Skipping it could permit what it forbids.
    #[error(
        "the option \"{0}\" is unknown; use cert-authority, namespaces, valid-after or valid-before"
    )]
    UnknownOption(String),
    /// The options end in a comma. What was to follow it may forbid something.
    #[error("the options end in a comma; write what is to follow it, or leave it out")]
    EndsInComma,
    /// The option is there twice, or its value is missing or not in quotation marks.
    #[error("the option {0} is there twice, or its value is missing or not in quotation marks")]
    Option(&'static str),
    /// The time is not in a supported form.
    #[error(
        "the time of the option {0} is not supported: write YYYYMMDDZ, YYYYMMDDHHMMZ or YYYYMMDDHHMMSSZ, \
         where Z means UTC"
    )]
    Time(&'static str),
    /// The line is not UTF-8 between its principals and its comment.
    #[error(
        "the options or the key are not UTF-8; only principals and comments may be of other bytes"
    )]
    NotUtf8,
    /// The end of the validity is not after its beginning.
    #[error("valid-before is not after valid-after")]
    EmptyValidity,
}

impl From<KeyError> for LineError {
    fn from(error: KeyError) -> Self {
        Self::Key(error)
    }
}

/// Why a signature is not accepted as an allowed signer's.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NotAllowed {
    /// No line has this key for this principal. Lines of certificate authorities don't count.
    #[error("no line has the key {key} for \"{principal}\"")]
    UnknownKey {
        /// The fingerprint.
        key: String,
        /// The expected signer.
        principal: String,
    },
    /// The signer's line, or the last of several, permits only other namespaces.
    #[error("the key {key} may not sign for the namespace \"{namespace}\"")]
    Namespace {
        /// The fingerprint.
        key: String,
        /// The expected namespace.
        namespace: String,
    },
    /// The signer's line, or the last of several, permits only other times.
    #[error("the key {key} may not sign at this time: its line permits only other times")]
    Time {
        /// The fingerprint.
        key: String,
    },
    /// The key may sign, but the signature is not valid.
    #[error("{0}")]
    Signature(SignatureError),
}

impl From<SignatureError> for NotAllowed {
    fn from(error: SignatureError) -> Self {
        Self::Signature(error)
    }
}
