//! Why a signature can't be made, is malformed or is not valid. Also how many signatures one content may have.

use pq_keys::SignError;
use thiserror::Error;

use crate::akp::{AkpError, Algorithm};
use crate::encoding::{Base64Error, JsonError};

/// How many signatures one content may have.
pub(super) const MAX_SIGNATURES: usize = 16;

/// Why a signature can't be made or read, or is not valid.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JwsError {
    /// The key's algorithm has no name in JOSE.
    #[error("{0}")]
    Key(AkpError),
    /// The key made no signature.
    #[error("{0}")]
    Sign(SignError),
    /// A signature in compact form does not have three parts.
    #[error(
        "a signature in its compact form has three parts of base64url with two dots in between (RFC 7515 \
         section 7.1), but this has {0}; check that it is complete, with nothing around it"
    )]
    Parts(usize),
    /// A part is not base64url.
    #[error("the {part} of the signature is {error}")]
    Base64 {
        /// Which part.
        part: &'static str,
        /// What is wrong with it.
        error: Base64Error,
    },
    /// A header or a whole signature is not JSON, or its members have other types.
    #[error("the {part} of the signature: {error}")]
    Json {
        /// Which part.
        part: &'static str,
        /// What is wrong with it.
        error: JsonError,
    },
    /// A member of a header is missing, or is not as RFC 7515 asks.
    #[error(
        "the member \"{member}\" of the signature's header {problem}; ask its sender for another"
    )]
    Member {
        /// The member's name.
        member: &'static str,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A name is in both headers, the protected and the unprotected one.
    #[error(
        "the signature has \"{0}\" in both of its headers, which RFC 7515 section 7.2.1 forbids; don't \
         trust it, and ask its sender for another"
    )]
    InBothHeaders(String),
    /// The header requires an extension that this crate doesn't support.
    #[error(
        "the signature's header requires by \"crit\" that its verifier supports {0}, and this crate supports no \
         extensions; have it signed without extensions"
    )]
    Critical(String),
    /// The members of a signature as JSON contradict each other.
    #[error(
        "the signature as JSON is neither flattened nor general (RFC 7515 section 7.2): it has {0}; ask its \
         sender for another"
    )]
    Form(&'static str),
    /// There are too many signatures.
    #[error("there are {0} signatures, but this crate accepts at most {limit}", limit = MAX_SIGNATURES)]
    TooMany(usize),
    /// The header names another algorithm than the key has.
    #[error(
        "the signature's header names the algorithm \"{found}\", but the key is one of {}; the key decides: \
         have the content signed with that key, or find the key that signed it",
        names(.keys)
    )]
    OtherAlgorithm {
        /// The algorithm that the header names, shortened.
        found: String,
        /// The algorithms of the keys.
        keys: Vec<Algorithm>,
    },
    /// No key has the identifier in the header.
    #[error(
        "no key has the identifier \"{0}\" that the signature's header names; get the signer's keys again, \
         or find out who signed it"
    )]
    NoSuchKey(String),
    /// There is no key to verify with.
    #[error("there is no key to verify the signature with; give a key of its signer")]
    NoKeys,
    /// The signature is not valid.
    #[error(
        "the signature is not valid for this content and key: one of the three was changed, or is not the \
         signer's; don't trust the content"
    )]
    Invalid,
    /// The signature contains its content, but a detached content was given.
    #[error("the signature contains its content; verify it without a separate content")]
    NotDetached,
    /// The signature does not contain its content.
    #[error(
        "the signature is detached: it does not contain its content; give the content separately"
    )]
    Detached,
}

impl From<AkpError> for JwsError {
    fn from(error: AkpError) -> Self {
        Self::Key(error)
    }
}

impl From<SignError> for JwsError {
    fn from(error: SignError) -> Self {
        Self::Sign(error)
    }
}

fn names(algorithms: &[Algorithm]) -> String {
    let names: Vec<&str> = algorithms.iter().map(|one| one.name()).collect();
    names.join(" or ")
}
