use rustls_pq::composite::{CompositeAlgorithm, CompositeKeyError};

use super::name::KeyName;
use crate::encoding::{TextError, WireError};

/// Why a public key could not be read or made.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The bytes end too early or too late.
    #[error("{0}")]
    Wire(WireError),
    /// The key is one of SSH, but of an algorithm that is not here.
    #[error("the key is of the algorithm \"{0}\"; here are ssh-mldsa44-ed25519 keys alone")]
    OtherAlgorithm(String),
    /// The line says one name, and the key in it another.
    #[error("the line says {line}, and the key in it {key}: one of them was changed")]
    OtherName {
        /// The line's first word.
        line: KeyName,
        /// What the key begins with.
        key: KeyName,
    },
    /// What follows the name is no base64.
    #[error("the key in the line is not base64: it is damaged, or cut off")]
    Base64,
    /// The line has no key.
    #[error("there is no key in the line: it has the name of its algorithm, base64 and a comment")]
    NoKey,
    /// There is more than one line.
    #[error("there is more than one line; give one at a time")]
    SeveralLines,
    /// The line is far longer than a key and its options.
    #[error("the line has {0} bytes, which is more than any that has a key in it")]
    LineTooLong(usize),
    /// A quotation mark in the options has no other that ends it.
    #[error("a quotation mark in the options is not closed")]
    UnclosedQuote,
    /// The comment can't stand in a line.
    #[error("{0}")]
    Comment(TextError),
    /// The key itself is invalid.
    #[error("{0}")]
    Key(CompositeKeyError),
    /// A composite key of another combination has no name in SSH.
    #[error("SSH has no name for a key of {0}: make one of MLDSA44-Ed25519-SHA512")]
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
