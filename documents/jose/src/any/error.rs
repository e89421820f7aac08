//! Why a key or a signature of any of the algorithms is refused or can't be made.

use pq_keys::classical::ClassicalKeyError;
use pq_keys::{KeyError, SignError};
use thiserror::Error;

use super::algorithm::AnyJwsAlgorithm;
use crate::akp::AkpError;
use crate::encoding::{Base64Error, JsonError};

/// Why a key or a signature can't be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AnyJwsError {
    /// The text is not JSON, or its members have other types.
    #[error("the {part}: {error}")]
    Json {
        /// What was read.
        part: &'static str,
        /// What is wrong with it.
        error: JsonError,
    },
    /// A part is not base64url.
    #[error("the member \"{member}\" is {error}")]
    Base64 {
        /// The member's name.
        member: &'static str,
        /// What is wrong with it.
        error: Base64Error,
    },
    /// A member is missing, or may not be there.
    #[error("the member \"{member}\" {problem}")]
    Member {
        /// The member's name.
        member: &'static str,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// No key of this type, or no signature of this algorithm, is known here.
    #[error("{0} is no algorithm known here; use a key of {known}", known = known())]
    Algorithm(String),
    /// The key can't be used.
    #[error("the key: {0}")]
    Akp(AkpError),
    /// The key can't be used.
    #[error("the key: {0}")]
    Key(KeyError),
    /// The classical key can't be used.
    #[error("the key: {0}")]
    Classical(ClassicalKeyError),
    /// The key made no signature.
    #[error("{0}")]
    Sign(SignError),
    /// The signature is not valid.
    #[error(
        "the signature is not valid for this content and key: one of the three was changed, or is not the signer's"
    )]
    Invalid,
}

impl AnyJwsError {
    pub(super) fn key(error: JsonError) -> Self {
        let part = "JSON Web Key";
        Self::Json { part, error }
    }
}

impl From<AkpError> for AnyJwsError {
    fn from(error: AkpError) -> Self {
        Self::Akp(error)
    }
}

impl From<KeyError> for AnyJwsError {
    fn from(error: KeyError) -> Self {
        Self::Key(error)
    }
}

impl From<ClassicalKeyError> for AnyJwsError {
    fn from(error: ClassicalKeyError) -> Self {
        Self::Classical(error)
    }
}

impl From<SignError> for AnyJwsError {
    fn from(error: SignError) -> Self {
        Self::Sign(error)
    }
}

/// The names of all algorithms, for messages.
fn known() -> String {
    let names: Vec<&str> = AnyJwsAlgorithm::ALL.iter().map(|one| one.name()).collect();
    names.join(", ")
}
