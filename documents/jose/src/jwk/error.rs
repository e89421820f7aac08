//! Why a JSON Web Key or a set is refused or can't be made, with what to do.

use thiserror::Error;

use crate::akp::AkpError;
use crate::encoding::{Base64Error, JsonError};

/// Why a JSON Web Key, or a set of them, can't be made, read or written.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum JwkError {
    /// The text is not JSON, or its members have other types.
    #[error("not a JSON Web Key: {0}")]
    Json(JsonError),
    /// A required member is missing.
    #[error(
        "the JSON Web Key has no member \"{0}\", which RFC 9964 section 3 requires; export it again"
    )]
    Missing(&'static str),
    /// The key has another type.
    #[error(
        "the JSON Web Key is of the type {0:?}, but this crate supports only \"AKP\" (RFC 9964), the type of \
         ML-DSA; use a key of this type"
    )]
    KeyType(String),
    /// A member is not base64url.
    #[error("the member \"{member}\" of the JSON Web Key is {error}")]
    Base64 {
        /// The member's name.
        member: &'static str,
        /// What is wrong with its value.
        error: Base64Error,
    },
    /// The key itself can't be used.
    #[error("{0}")]
    Key(AkpError),
    /// The key is private, but a public key is expected.
    #[error(
        "the JSON Web Key contains its private part, \"priv\", but a public key is expected; whoever has seen \
         it can sign with it: read it as a private key and pass on its public half, or replace it if it was \
         published"
    )]
    Private,
    /// The key is public, but a private key is expected.
    #[error("the JSON Web Key has no private part, \"priv\"; name the file of the private key")]
    NotPrivate,
    /// The key's member with this name does not permit this use.
    #[error(
        "the JSON Web Key says by \"{0}\" that it is not for this; use a key for signatures: if it has \"use\", \
         that is \"sig\", and if it has \"key_ops\", these include \"sign\" for a private key or \"verify\" for \
         a public key (RFC 7517 section 4)"
    )]
    NotForThis(&'static str),
}

impl From<AkpError> for JwkError {
    fn from(error: AkpError) -> Self {
        Self::Key(error)
    }
}

impl From<JsonError> for JwkError {
    fn from(error: JsonError) -> Self {
        Self::Json(error)
    }
}
