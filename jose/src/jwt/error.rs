use thiserror::Error;

use crate::encoding::JsonError;
use crate::jws::JwsError;

/// A token has some kilobytes, and travels in headers of HTTP.
pub(super) const MAX_LEN: usize = 256 * 1024;

/// Why there is no token, or why one is refused.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JwtError {
    /// The signature: it is malformed, or not valid.
    #[error("{0}")]
    Jws(JwsError),
    /// The token is longer than any is.
    #[error("the token has {0} bytes, and this crate takes {limit}; make it shorter", limit = MAX_LEN)]
    TooLong(usize),
    /// The claims are not an object of such members.
    #[error("the token's claims: {0}")]
    Json(JsonError),
    /// Claims to sign that can't be written.
    #[error("claims can't be written as the members of one object: {0}; change their type")]
    NotMembers(String),
    /// A claim of the application's with the name of one of RFC 7519.
    #[error(
        "\"{0}\" is a claim of RFC 7519, which Claims has a method for; take it out of the others"
    )]
    Reserved(&'static str),
    /// The token is of another type than the policy asks for.
    #[error(
        "the token's type, \"typ\", is {found}, and the policy takes {expected}; was it made for something \
         else?"
    )]
    Type {
        /// What it is, cut off.
        found: String,
        /// What it was to be.
        expected: String,
    },
    /// The content of the token is another token.
    #[error(
        "the token's content is another token, which is not supported; ask for a token of claims"
    )]
    Nested,
    /// The issuer is none that the policy names, or there is none.
    #[error(
        "the token is refused: its issuer, \"iss\", is {found}, and the policy takes {expected}"
    )]
    Issuer {
        /// What it is, cut off.
        found: String,
        /// What it was to be.
        expected: String,
    },
    /// No audience is one that the policy names, or there is none.
    #[error(
        "the token is refused: it is for {found} by its \"aud\", and the policy takes {expected}"
    )]
    Audience {
        /// What it is, cut off.
        found: String,
        /// What it was to be.
        expected: String,
    },
    /// The subject is another than the policy names, or there is none.
    #[error(
        "the token is refused: its subject, \"sub\", is {found}, and the policy takes {expected}"
    )]
    Subject {
        /// What it is, cut off.
        found: String,
        /// What it was to be.
        expected: String,
    },
    /// The time of the token is over.
    #[error("the token is refused: it expired {0} seconds ago; get a new one from its issuer")]
    Expired(u64),
    /// The time of the token has not come yet.
    #[error("the token is refused: it is valid in {0} seconds; wait, or set the clocks")]
    NotYet(u64),
    /// The token was issued later than now.
    #[error("the token is refused: it says that it is issued in {0} seconds; set the clocks")]
    FromTheFuture(u64),
    /// The token is older than the policy allows.
    #[error("the token is refused: it is {0} seconds older than the policy allows; get a new one")]
    TooOld(u64),
    /// A claim that has to be there is not.
    #[error(
        "the token is refused: it has no claim \"{0}\", which the policy requires; ask its issuer for it"
    )]
    Missing(String),
}

impl From<JwsError> for JwtError {
    fn from(error: JwsError) -> Self {
        Self::Jws(error)
    }
}

impl From<JsonError> for JwtError {
    fn from(error: JsonError) -> Self {
        Self::Json(error)
    }
}
