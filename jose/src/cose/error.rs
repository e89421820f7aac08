use pq_x509::SignError;
use thiserror::Error;

use crate::akp::{AkpError, Algorithm};
use crate::encoding::CborError;

/// Why a COSE_Key or a COSE_Sign1 can't be made, read, written or verified.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CoseError {
    /// It is not the CBOR of such a thing.
    #[error("{0}")]
    Cbor(CborError),
    /// The key itself.
    #[error("{0}")]
    Key(AkpError),
    /// The key made no signature.
    #[error("{0}")]
    Sign(SignError),
    /// A parameter that is needed is not there.
    #[error("the COSE_Key has no {0}, which RFC 9964 section 3 requires; export it again")]
    Missing(&'static str),
    /// Another type of key.
    #[error(
        "the COSE_Key is not of the type 7, AKP (RFC 9964), the type of ML-DSA; use a key of that"
    )]
    KeyType,
    /// A private key where a public one is to be.
    #[error(
        "the COSE_Key has its private part in it, where a public key is to be; whoever has seen it can sign \
         by it: read it by CosePrivateKey and pass on its public half, or replace it if it was published"
    )]
    Private,
    /// A public key where a private one is to be.
    #[error("the COSE_Key has no private part; name the file of the private key")]
    NotPrivate,
    /// The key says that it is for other things.
    #[error(
        "the COSE_Key says by its key_ops that it is not for this; a private key needs sign (1) in them, \
         and a public one verify (2)"
    )]
    NotForThis,
    /// The tag is another than was asked for.
    #[error(
        "the COSE_Sign1 has {found}, and {} was to be there; check what it is, and ask for that",
        if *.untagged { "none" } else { "the tag 18" }
    )]
    Tag {
        /// Which tag it has.
        found: String,
        /// Whether there was to be none.
        untagged: bool,
    },
    /// The header does not name its algorithm.
    #[error("the COSE_Sign1 has no algorithm in its protected header; have it signed with one")]
    NoAlgorithm,
    /// A parameter is where nobody signed it.
    #[error(
        "the COSE_Sign1 has its {0} where nobody signed it, in its unprotected header; don't trust it"
    )]
    Unprotected(&'static str),
    /// A parameter is in both headers.
    #[error(
        "the COSE_Sign1 has one parameter in both of its headers (RFC 9052 section 3); don't trust it, and \
         ask its sender for another"
    )]
    InBothHeaders,
    /// Something has to be understood that is not.
    #[error(
        "the COSE_Sign1 says by \"crit\" that whoever verifies must understand more, and this crate \
         understands no extensions; have it signed without"
    )]
    Critical,
    /// The header names another algorithm than the key has.
    #[error(
        "the header of the COSE_Sign1 names {found}, and the key is one of {}; the key decides: have it \
         signed by that key, or find the key that it was signed by",
        numbers(.keys)
    )]
    OtherAlgorithm {
        /// What the header names.
        found: String,
        /// Those of the keys.
        keys: Vec<Algorithm>,
    },
    /// No key has the identifier in the header.
    #[error("no key has the identifier that the COSE_Sign1 names; fetch the signer's keys anew")]
    NoSuchKey,
    /// There is no key to verify by.
    #[error("there is no key to verify the COSE_Sign1 by; name one of its signer")]
    NoKeys,
    /// The signature is not valid.
    #[error(
        "the signature is not valid for this content, key and external data: one of them was changed, or is \
         not the signer's; don't trust the content"
    )]
    Invalid,
    /// The content is not where it was expected.
    #[error(
        "the COSE_Sign1 has its content in it, which was to be given beside it; verify it without"
    )]
    NotDetached,
    /// The content is not in the signature.
    #[error("the COSE_Sign1 is detached: its content is not in it, and has to be given beside it")]
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
