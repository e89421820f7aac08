//! Why a public key, or a line with one, is refused.

use pq_keys::composite::{CompositeAlgorithm, CompositeKeyError};

use super::name::KeyName;
use crate::encoding::{TextError, WireError};

/// Why a public key could not be read or made.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The bytes end too early or too late.
    #[error("{0}")]
    Wire(WireError),
    /// The key is an SSH key of an algorithm that is not supported. In a line, its first word says so.
    #[error("the key has the algorithm \"{0}\"; only ssh-mldsa44-ed25519 keys are supported")]
    OtherAlgorithm(String),
    /// The line and the key in it name the algorithm differently.
    #[error("the line says {line}, but the key in it says \"{key}\": one of them was changed")]
    OtherName {
        /// The name in the line's first word.
        line: KeyName,
        /// The name at the beginning of the key, which may be any text.
        key: String,
    },
    /// The text after the name is not base64.
    #[error("the key in the line is not base64: it is damaged, or cut off")]
    Base64,
    /// The line has no key.
    #[error("there is no key in the line: a key is its algorithm's name, base64 and a comment")]
    NoKey,
    /// The line of a file of allowed signers begins with the key.
    #[error(
        "the line begins with the key, and the name of its signer is missing: write \"alice@example.org\" or another name \
         in front of it, which is what to verify for"
    )]
    NoPrincipal,
    /// There is more than one line.
    #[error("there is more than one line; give one at a time")]
    SeveralLines,
    /// The line is far longer than a key and its options.
    #[error("the line has {0} bytes, more than a key and its options need")]
    LineTooLong(usize),
    /// A quotation mark in the options is not closed.
    #[error("a quotation mark in the options is not closed")]
    UnclosedQuote,
    /// The comment can't be in a line.
    #[error("{0}")]
    Comment(TextError),
    /// The key itself is invalid.
    #[error("{0}")]
    Key(CompositeKeyError),
    /// A composite key of another combination has no name in SSH.
    #[error("SSH has no name for keys of {0}: make a key of MLDSA44-Ed25519-SHA512")]
    OtherCombination(CompositeAlgorithm),
}

impl From<WireError> for KeyError {
    fn from(error: WireError) -> Self {
        Self::Wire(error)
    }
}

impl From<CompositeKeyError> for KeyError {
    fn from(error: CompositeKeyError) -> Self {
        Self::Key(error)
    }
}

impl From<TextError> for KeyError {
    fn from(error: TextError) -> Self {
        Self::Comment(error)
    }
}
