use thiserror::Error;

use crate::akp::AkpError;
use crate::encoding::{Base64Error, JsonError};

/// Why a JSON Web Key, or a set of them, can't be made, read or written.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum JwkError {
    /// The text is not JSON, or not of such members.
    #[error("no JSON Web Key: {0}")]
    Json(JsonError),
    /// A member that is needed is not there.
    #[error(
        "the JSON Web Key has no member \"{0}\", which RFC 9964 section 3 requires; export it again"
    )]
    Missing(&'static str),
    /// Another type of key.
    #[error(
        "the JSON Web Key is of the type {0:?}, and this crate is for \"AKP\" (RFC 9964), the type of ML-DSA; \
         use a key of that"
    )]
    KeyType(String),
    /// A member that is to be base64url is not.
    #[error("the member \"{member}\" of the JSON Web Key is {error}")]
    Base64 {
        /// Its name.
        member: &'static str,
        /// What is wrong with it.
        error: Base64Error,
    },
    /// The key itself.
    #[error("{0}")]
    Key(AkpError),
    /// A private key where a public one is to be.
    #[error(
        "the JSON Web Key has its private part, \"priv\", in it, where a public key is to be; whoever has \
         seen it can sign by it: read it by PrivateJwk and pass on its public half, or replace it if it was \
         published"
    )]
    Private,
    /// A public key where a private one is to be.
    #[error("the JSON Web Key has no private part, \"priv\"; name the file of the private key")]
    NotPrivate,
    /// The key says that it is for other things.
    #[error(
        "the JSON Web Key says by \"{0}\" that it is not for this; use a key that is for signatures: \"use\" \
         is \"sig\" then, and \"key_ops\" has \"sign\" in it for a private key, and \"verify\" for a public \
         one (RFC 7517 section 4)"
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
