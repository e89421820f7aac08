use const_oid::ObjectIdentifier;
use pq_x509::{CertificateError, KeyError, SignError, SignatureError, ValidationError};

use crate::algorithms::Weakness;
use crate::encoding::EncodingError;

/// Why nothing was signed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SigningError {
    /// The content can't be read, or the message not written.
    #[error("{0}")]
    Encoding(EncodingError),
    /// There is nobody to sign.
    #[error("no signer was given; add one")]
    NoSigner,
    /// A hash function and a signature algorithm don't belong together.
    #[error("{0}")]
    Weakness(Weakness),
    /// The signature algorithm has a hash function of its own, which the content's has to be.
    #[error("signatures of {0} have a hash function of their own; hash the content with that one")]
    OtherDigest(ObjectIdentifier),
    /// The certificate is another key's.
    #[error("the certificate of {0} is not that of the key; give the one that was issued for it")]
    OtherKey(String),
    /// The signer is to be named by an extension that its certificate lacks.
    #[error(
        "the certificate of {0} has no subject key identifier; name it by issuer and serial number"
    )]
    NoKeyIdentifier(String),
    /// Signed attributes are left out, and the content is not plain data (RFC 5652, section 5.3).
    #[error("content of type {0} is signed with attributes only; leave them in")]
    AttributesRequired(ObjectIdentifier),
    /// Signed attributes are left out, and the key needs all of the content at once.
    #[error(
        "without signed attributes this key takes content of at most {0} bytes; leave them in, or sign \
         with ML-DSA"
    )]
    TooLarge(usize),
    /// Signed attributes are left out, and the content is a set of them.
    #[error(
        "the content is itself a set of signed attributes, and a signature without attributes would be \
         one of other content as well; leave the attributes in"
    )]
    ContentIsAttributes,
    /// A time can't be written.
    #[error("the signing time is not within the years 1970 to 9999")]
    Time,
    /// The key did not sign.
    #[error("{0}")]
    Sign(SignError),
    /// The key did not sign.
    #[error("{0}")]
    Key(KeyError),
}

/// Why a message was refused as a whole.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerificationError {
    /// The message, or the content, can't be read, or the content not written.
    #[error("{0}")]
    Encoding(EncodingError),
    /// It is a message of another kind.
    #[error("the message is of type {0} and not signed (1.2.840.113549.1.7.2)")]
    NotSigned(ObjectIdentifier),
    /// The version is not that which follows from the contents (RFC 5652, section 5.1).
    #[error("the message says that it has version {found}, and has {expected}; it was altered")]
    Version {
        /// What it says.
        found: u8,
        /// What its contents ask for.
        expected: u8,
    },
    /// The content is elsewhere.
    #[error("the signature is detached; give the content as well")]
    NoContent,
    /// The content is within the message, and other content was given.
    #[error("the content is within the message; verify it without another")]
    HasContent,
    /// Nobody signed.
    #[error("the message has no signature")]
    NoSigner,
    /// There are more signers, certificates or digests than are looked at.
    #[error("the message has more than {limit} {what}, which is refused")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many are taken.
        limit: usize,
    },
    /// A certificate in the message is malformed.
    #[error("a certificate in the message: {0}")]
    Certificate(CertificateError),
    /// A signature was refused.
    #[error("signature {} of {signer}: {refusal}", .number + 1)]
    Signature {
        /// Which one, from 0 on.
        number: usize,
        /// Who signed, as the message says.
        signer: String,
        /// Why.
        refusal: Box<SignatureRefusal>,
    },
    /// The content is longer than what is kept in memory.
    #[error("the content has more than {0} bytes; have it written to a file")]
    ContentTooLarge(usize),
}

/// Why a signature was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureRefusal {
    /// A part of it is malformed.
    #[error("a part of it is malformed: {0}")]
    Der(der::Error),
    /// No certificate that it may be verified with is there.
    #[error("its certificate is neither in the message nor was it given; give it, or trust it")]
    NoCertificate,
    /// The hash function is not one that messages are signed with here.
    #[error("its hash function {0} is unknown or weak; have it signed with SHA-512 or SHAKE256")]
    UnknownDigest(ObjectIdentifier),
    /// The hash function is not among those that the message announces.
    #[error("the message does not announce its hash function {0}; it was altered")]
    DigestNotAnnounced(ObjectIdentifier),
    /// The hash function and the signature algorithm don't belong together.
    #[error("{0}")]
    Weakness(Weakness),
    /// The signature algorithm has a hash function of its own, which is not the message's.
    #[error("signatures of {0} are made with another hash function than the content's")]
    OtherDigest(ObjectIdentifier),
    /// The attributes are not sorted as DER has them (RFC 5652, section 5.3).
    #[error("its attributes are not in DER: they are not sorted")]
    AttributesNotSorted,
    /// An attribute, or its value, is there twice.
    #[error("its attribute {0} is there twice, or has not one value")]
    AttributeTwice(ObjectIdentifier),
    /// An attribute is missing.
    #[error("its attribute {0} is missing")]
    AttributeMissing(ObjectIdentifier),
    /// There are more attributes than are looked at.
    #[error("it has more than {0} attributes, which is refused")]
    TooManyAttributes(usize),
    /// Content other than plain data is signed with attributes only (RFC 5652, section 5.3).
    #[error("it has no attributes, and content of type {0} is signed with them only")]
    AttributesRequired(ObjectIdentifier),
    /// The content is of another type than was signed.
    #[error("{signed} was signed, and the content is of type {found}; it was altered")]
    ContentType {
        /// What was signed.
        signed: ObjectIdentifier,
        /// What the message says.
        found: ObjectIdentifier,
    },
    /// The content is not what was signed.
    #[error("the content is not what was signed; it was altered, or is another file's")]
    DigestMismatch,
    /// The algorithms are not those that were signed (RFC 6211).
    #[error("its algorithms are not those that the signer used; it was altered")]
    AlgorithmsAltered,
    /// There are no attributes, and the content is longer than what is kept in memory.
    #[error(
        "it has no attributes, so that all of the content is needed at once, which has more than {0} \
         bytes; raise that limit"
    )]
    TooLarge(usize),
    /// There are no attributes, and the content is a set of them: what was signed is other content, with
    /// these attributes (RFC 9882, section 6).
    #[error("it has no attributes, and the content is a set of them; other content was signed")]
    ContentIsAttributes,
    /// The signature does not verify, or can't be verified.
    #[error("{0}")]
    Signature(SignatureError),
    /// The certificate is not to be trusted.
    #[error("{0}")]
    Chain(ValidationError),
    /// So many others of the message were looked at before that it is not.
    #[error("{0} others of the message were looked at before, and it was not; have fewer signers")]
    TooManyChecks(usize),
    /// The chain is to be valid at the time of signing, which the signer didn't say.
    #[error("it does not say when it was made; validate it at another time")]
    NoSigningTime,
}

macro_rules! from_causes {
    ($($error:ident::$variant:ident($cause:ty)),+ $(,)?) => {$(
        impl From<$cause> for $error {
            fn from(cause: $cause) -> Self {
                Self::$variant(cause.into())
            }
        }
    )+};
}

from_causes!(
    SigningError::Encoding(EncodingError),
    SigningError::Encoding(der::Error),
    SigningError::Weakness(Weakness),
    SigningError::Sign(SignError),
    SigningError::Key(KeyError),
    VerificationError::Encoding(EncodingError),
    VerificationError::Encoding(der::Error),
    VerificationError::Certificate(CertificateError),
    SignatureRefusal::Der(der::Error),
    SignatureRefusal::Weakness(Weakness),
    SignatureRefusal::Signature(SignatureError),
    SignatureRefusal::Chain(ValidationError),
);
