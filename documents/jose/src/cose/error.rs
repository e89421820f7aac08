//! Why a COSE_Key or a COSE_Sign1 is refused or can't be made, with what to do.

use pq_keys::SignError;
use thiserror::Error;

use crate::akp::{AkpError, Algorithm};
use crate::encoding::CborError;

/// Why a COSE_Key or a COSE_Sign1 can't be made, read, written or verified.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CoseError {
    /// The bytes are not the expected CBOR.
    #[error("{0}")]
    Cbor(CborError),
    /// The key itself can't be used.
    #[error("{0}")]
    Key(AkpError),
    /// The key made no signature.
    #[error("{0}")]
    Sign(SignError),
    /// A required parameter is missing.
    #[error("the COSE_Key has no {0}, which RFC 9964 section 3 requires; export it again")]
    Missing(&'static str),
    /// The key has another type.
    #[error(
        "the COSE_Key is not of the type 7, AKP (RFC 9964), the type of ML-DSA; use a key of this type"
    )]
    KeyType,
    /// The key is private, but a public key is expected.
    #[error(
        "the COSE_Key contains its private part, but a public key is expected; whoever has seen it can sign \
         with it: read it as a private key and pass on its public half, or replace it if it was published"
    )]
    Private,
    /// The key is public, but a private key is expected.
    #[error("the COSE_Key has no private part; name the file of the private key")]
    NotPrivate,
    /// The key's `key_ops` don't permit this use.
    #[error(
        "the key_ops of the COSE_Key don't permit this use; a private key needs sign (1) in them, and a \
         public key verify (2)"
    )]
    NotForThis,
    /// The message has another tag than expected.
    #[error(
        "the COSE_Sign1 has {found}, but {} was expected; check which form it has, and verify that form",
        if *.untagged { "no tag" } else { "the tag 18" }
    )]
    Tag {
        /// The tag that was found.
        found: String,
        /// Whether no tag was expected.
        untagged: bool,
    },
    /// The protected header does not name an algorithm.
    #[error("the COSE_Sign1 has no algorithm in its protected header; have it signed with one")]
    NoAlgorithm,
    /// A parameter is in the unprotected header, which is not signed.
    #[error(
        "the COSE_Sign1 has its {0} in the unprotected header, where nobody signed it; don't trust it"
    )]
    Unprotected(&'static str),
    /// A parameter is in both headers.
    #[error(
        "the COSE_Sign1 has the same parameter in both of its headers (RFC 9052 section 3); don't trust it, \
         and ask its sender for another"
    )]
    InBothHeaders,
    /// The header requires an extension that this crate doesn't support.
    #[error(
        "the COSE_Sign1 requires by \"crit\" that its verifier supports an extension, and this crate supports \
         none; have it signed without extensions"
    )]
    Critical,
    /// The header names another algorithm than the key has.
    #[error(
        "the header of the COSE_Sign1 names {found}, but the key is one of {}; the key decides: have the \
         content signed with that key, or find the key that signed it",
        numbers(.keys)
    )]
    OtherAlgorithm {
        /// The algorithm that the header names.
        found: String,
        /// The algorithms of the keys.
        keys: Vec<Algorithm>,
    },
    /// No key has the identifier in the header.
    #[error("no key has the identifier that the COSE_Sign1 names; get the signer's keys again")]
    NoSuchKey,
    /// There is no key to verify with.
    #[error("there is no key to verify the COSE_Sign1 with; give a key of its signer")]
    NoKeys,
    /// The signature is not valid.
    #[error(
        "the signature is not valid for this content, key and external data: one of them was changed, or is \
         not the signer's; don't trust the content"
    )]
    Invalid,
    /// The message contains its content, but a detached content was given.
    #[error("the COSE_Sign1 contains its content; verify it without a separate content")]
    NotDetached,
    /// The message does not contain its content.
    #[error(
        "the COSE_Sign1 is detached: it does not contain its content; give the content separately"
    )]
    Detached,
}

impl From<CborError> for CoseError {
    fn from(error: CborError) -> Self {
        Self::Cbor(error)
    }
}

impl From<AkpError> for CoseError {
    fn from(error: AkpError) -> Self {
        Self::Key(error)
    }
}

impl From<SignError> for CoseError {
    fn from(error: SignError) -> Self {
        Self::Sign(error)
    }
}

fn numbers(algorithms: &[Algorithm]) -> String {
    let number = |one: &Algorithm| format!("{} ({one})", one.cose_number());
    let numbers: Vec<String> = algorithms.iter().map(number).collect();
    numbers.join(" or ")
}
