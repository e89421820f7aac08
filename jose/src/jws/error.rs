use pq_x509::SignError;
use thiserror::Error;

use crate::akp::{AkpError, Algorithm};
use crate::encoding::{Base64Error, JsonError};

/// As many signatures may be of one content.
pub(super) const MAX_SIGNATURES: usize = 16;

/// Why there is no signature, or no valid one.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JwsError {
    /// The key is of no algorithm that JOSE has a name for.
    #[error("{0}")]
    Key(AkpError),
    /// The key made no signature.
    #[error("{0}")]
    Sign(SignError),
    /// A text in which something else is signed than three parts with dots in between.
    #[error(
        "a signature in its compact form has three parts of base64url with two dots in between (RFC 7515 \
         section 7.1), and this has {0}; check that it is whole, with nothing around it"
    )]
    Parts(usize),
    /// A part is no base64url.
    #[error("the {part} of the signature is {error}")]
    Base64 {
        /// Which part.
        part: &'static str,
        /// What is wrong with it.
        error: Base64Error,
    },
    /// A header or a whole signature is not JSON, or not of such members.
    #[error("the {part} of the signature: {error}")]
    Json {
        /// Which part.
        part: &'static str,
        /// What is wrong with it.
        error: JsonError,
    },
    /// A member of a header is not as RFC 7515 asks.
    #[error(
        "the member \"{member}\" of the signature's header {problem}; ask its sender for another"
    )]
    Member {
        /// Its name.
        member: &'static str,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A name that is in the protected header and in the other.
    #[error(
        "the signature has \"{0}\" in both of its headers, which RFC 7515 section 7.2.1 forbids; don't \
         trust it, and ask its sender for another"
    )]
    InBothHeaders(String),
    /// Something has to be understood that is not.
    #[error(
        "the signature's header says by \"crit\" that whoever verifies must understand {0}, and this crate \
         understands no extensions; have it signed without"
    )]
    Critical(String),
    /// The members of a signature as JSON don't go together.
    #[error(
        "the signature as JSON is neither flattened nor general (RFC 7515 section 7.2): it has {0}; ask its \
         sender for another"
    )]
    Form(&'static str),
    /// More signatures than anybody makes.
    #[error("there are {0} signatures, and this crate takes {limit} at once", limit = MAX_SIGNATURES)]
    TooMany(usize),
    /// The header names another algorithm than the key has.
    #[error(
        "the signature's header names the algorithm \"{found}\", and the key is one of {}; the key decides: \
         have it signed by that key, or find the key that it was signed by",
        names(.keys)
    )]
    OtherAlgorithm {
        /// What the header names, cut off.
        found: String,
        /// Those of the keys.
        keys: Vec<Algorithm>,
    },
    /// No key has the identifier in the header.
    #[error(
        "no key has the identifier \"{0}\" that the signature's header names; fetch the signer's keys anew, \
         or find out who signed it"
    )]
    NoSuchKey(String),
    /// There is no key to verify by.
    #[error("there is no key to verify the signature by; name one of its signer")]
    NoKeys,
    /// The signature is not valid.
    #[error(
        "the signature is not valid for this content and key: one of the three was changed, or is not the \
         signer's; don't trust the content"
    )]
    Invalid,
    /// The content is not where it was expected.
    #[error(
        "the signature has its content in it, which was to be given beside it; verify it without"
    )]
    NotDetached,
    /// The content is not in the signature.
    #[error("the signature is detached: its content is not in it, and has to be given beside it")]
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
