//! Why a token can't be issued, or is refused. Also how long a token may be.

use thiserror::Error;

use crate::encoding::JsonError;
use crate::jws::JwsError;

/// How many bytes a token may have. Tokens usually have some kilobytes and are sent in HTTP headers.
pub(super) const MAX_LEN: usize = 256 * 1024;

/// Why a token can't be made, or is refused.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JwtError {
    /// The signature can't be made, is malformed, or is not valid.
    #[error("{0}")]
    Jws(JwsError),
    /// The token is too long.
    #[error("the token has {0} bytes, but may have at most {limit}; make it shorter", limit = MAX_LEN)]
    TooLong(usize),
    /// The claims are not JSON, or have other types than expected.
    #[error("the token's claims: {0}")]
    Json(JsonError),
    /// The application's claims can't be written.
    #[error("claims can't be written as the members of one object: {0}; change their type")]
    NotMembers(String),
    /// A claim of the application has the name of a claim of RFC 7519.
    #[error(
        "\"{0}\" is a claim of RFC 7519; set it by its method of Claims, not in the application's claims"
    )]
    Reserved(&'static str),
    /// The token has another type than the policy asks for.
    #[error(
        "the token's type, \"typ\", is {found}, but the policy accepts {expected}; was it made for something \
         else?"
    )]
    Type {
        /// The type of the token, shortened.
        found: String,
        /// The expected type.
        expected: String,
    },
    /// The content of the token is another token.
    #[error(
        "the token's content is another token, which is not supported; ask for a token that contains claims"
    )]
    Nested,
    /// The policy does not accept the issuer, or its absence.
    #[error(
        "the token is refused: its issuer, \"iss\", is {found}, but the policy accepts {expected}"
    )]
    Issuer {
        /// The issuer of the token, shortened.
        found: String,
        /// The accepted issuers.
        expected: String,
    },
    /// The policy accepts none of the audiences, or not their absence.
    #[error(
        "the token is refused: its audience, \"aud\", is {found}, but the policy accepts {expected}"
    )]
    Audience {
        /// The audiences of the token, shortened.
        found: String,
        /// The accepted audiences.
        expected: String,
    },
    /// The subject is not the one that the policy names, or is missing.
    #[error(
        "the token is refused: its subject, \"sub\", is {found}, but the policy accepts {expected}"
    )]
    Subject {
        /// The subject of the token, shortened.
        found: String,
        /// The accepted subject.
        expected: String,
    },
    /// The token has expired.
    #[error("the token is refused: it expired {} ago; get a new one from its issuer", duration(*.0))]
    Expired(u64),
    /// The token is not valid yet.
    #[error(
        "the token is refused: it becomes valid in {}; wait, or correct the clocks",
        duration(*.0)
    )]
    NotYet(u64),
    /// The token's time of issue is in the future.
    #[error(
        "the token is refused: its time of issue is {} from now; correct the clocks",
        duration(*.0)
    )]
    FromTheFuture(u64),
    /// The token is older than the policy allows.
    #[error(
        "the token is refused: it is {} older than the policy allows; get a new one",
        duration(*.0)
    )]
    TooOld(u64),
    /// A required claim is missing.
    #[error(
        "the token is refused: it has no claim \"{0}\", which the policy requires; ask its issuer for it"
    )]
    Missing(String),
}

/// A time as people say it: whole days, hours or minutes, once there are two of them.
fn duration(seconds: u64) -> String {
    let units = [("days", 86_400), ("hours", 3600), ("minutes", 60)];
    let fitting = units.iter().find(|(_, len)| seconds >= 2 * len);
    match fitting {
        Some((unit, len)) => format!("{} {unit}", seconds / len),
        None if seconds == 1 => "1 second".into(),
        None => format!("{seconds} seconds"),
    }
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
