use rustls_pq::composite::CompositeKeyError;

use super::message::HashAlgorithm;
use crate::encoding::{ArmorError, TextError, WireError};
use crate::keys::KeyError;

/// Why a signature could not be made or read, or is not valid.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// The text is no armor.
    #[error("{0}")]
    Armor(ArmorError),
    /// The bytes end too early or too late.
    #[error("{0}")]
    Wire(WireError),
    /// The bytes don't begin with `SSHSIG`.
    #[error("the file is no signature of SSH")]
    NotASignature,
    /// A later format.
    #[error("the signature is of version {0} of its format; 1 is read")]
    Version(u32),
    /// The key in it can't be used.
    #[error("the key in the signature: {0}")]
    Key(KeyError),
    /// A hash function that is not permitted.
    #[error("the message was hashed by \"{0}\"; sha256 and sha512 are permitted")]
    UnknownHash(String),
    /// The namespace can't stand in a signature.
    #[error("{0}")]
    Namespace(TextError),
    /// There is no namespace.
    #[error("the namespace is empty: it says what a signature is for, such as \"file\" or \"git\"")]
    EmptyNamespace,
    /// The signature is for another purpose.
    #[error("the signature is for the namespace \"{signed}\", not for \"{wanted}\"")]
    OtherNamespace {
        /// What it is for.
        signed: String,
        /// What it was to be for.
        wanted: String,
    },
    /// The signature is of another key.
    #[error("the signature is by the key {0}, which is another one")]
    OtherKey(String),
    /// The message was hashed by another function than the signature says.
    #[error(
        "the signature is of the message's {signed}; hash the message by that, not by {hashed}"
    )]
    OtherHash {
        /// What the signature says.
        signed: HashAlgorithm,
        /// How the message was hashed.
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

/// Why a list of signers could not be read: nothing of it counts then.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("line {line} of the allowed signers: {error}")]
pub struct AllowedSignersError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub error: LineError,
}

/// What is wrong with a line of allowed signers.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// The key, or the quotation marks in the options.
    #[error("{0}")]
    Key(KeyError),
    /// An option that is not known here. To pass over it could permit what it forbids.
    #[error(
        "the option \"{0}\" is unknown; cert-authority, namespaces, valid-after and valid-before are not"
    )]
    UnknownOption(String),
    /// An option that is there twice, has no value, or one that it can't have.
    #[error("the option {0} is there twice, or its value is none")]
    Option(&'static str),
    /// A time in no known form.
    #[error(
        "the option {0} has no time that is read here: it is YYYYMMDDZ, YYYYMMDDHHMMZ or YYYYMMDDHHMMSSZ, \
         whose Z says that it is UTC"
    )]
    Time(&'static str),
    /// Nothing is in between.
    #[error("valid-before is not after valid-after")]
    EmptyValidity,
}

impl From<KeyError> for LineError {
    fn from(error: KeyError) -> Self {
        Self::Key(error)
    }
}

/// Why a signature is not one of an allowed signer.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NotAllowed {
    /// No line has this key for this principal, or only as a certificate authority's.
    #[error("no line has the key {key} for \"{principal}\"")]
    UnknownKey {
        /// The fingerprint.
        key: String,
        /// Who was to have signed.
        principal: String,
    },
    /// The signer's line, or the last of several, is for other purposes.
    #[error("the key {key} may not sign for the namespace \"{namespace}\"")]
    Namespace {
        /// The fingerprint.
        key: String,
        /// What the signature was to be for.
        namespace: String,
    },
    /// The signer's line, or the last of several, is for other times.
    #[error("the key {key} may not sign at this time: the line is for another")]
    Time {
        /// The fingerprint.
        key: String,
    },
    /// The key may sign, and this is none of its signatures.
    #[error("{0}")]
    Signature(SignatureError),
}

impl From<SignatureError> for NotAllowed {
    fn from(error: SignatureError) -> Self {
        Self::Signature(error)
    }
}
