//! Why nothing was signed, and why a message as a whole or one of its signatures was refused.

use const_oid::ObjectIdentifier;
use pq_keys::{KeyError, SignError};
use pq_x509::certificate::{CertificateError, SignatureError};
use pq_x509::validation::ValidationError;

use crate::algorithms::Weakness;
use crate::encoding::EncodingError;

/// Why nothing was signed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SigningError {
    /// The content can't be read, or the message can't be written.
    #[error("{0}")]
    Encoding(EncodingError),
    /// There is no signer.
    #[error("no signer was given; add one")]
    NoSigner,
    /// A hash function and a signature algorithm don't belong together.
    #[error("{0}")]
    Weakness(Weakness),
    /// The signature algorithm has its own hash function, which must also hash the content.
    #[error("signatures of {0} have their own hash function; hash the content with the same one")]
    OtherDigest(ObjectIdentifier),
    /// The certificate belongs to another key.
    #[error("the certificate of {0} belongs to another key; give the one issued for this key")]
    OtherKey(String),
    /// The certificate's key usage doesn't allow signatures, so that verifiers refuse them (RFC 8550, section 4.4.2).
    #[error(
        "the key usage of the certificate of {0} includes neither digitalSignature nor nonRepudiation, so signatures \
         with it are refused; give one for signatures"
    )]
    KeyUsage(String),
    /// The certificate lacks the extension that should name the signer.
    #[error(
        "the certificate of {0} has no subject key identifier; name it by issuer and serial number"
    )]
    NoKeyIdentifier(String),
    /// Signed attributes are left out, and the content is not plain data (RFC 5652, section 5.3).
    #[error("content of type {0} must be signed with attributes; leave them in")]
    AttributesRequired(ObjectIdentifier),
    /// Signed attributes are left out, and the key needs all of the content at once.
    #[error(
        "without signed attributes this key takes content of at most {0} bytes; leave them in, or sign \
         with ML-DSA"
    )]
    TooLarge(usize),
    /// Signed attributes are left out, and the content may be a set of them for some reader: see
    /// [`AttributesGuard`](crate::AttributesGuard).
    #[error(
        "the content may itself be a set of signed attributes: a signature without attributes would also be \
         valid for other content; leave the attributes in"
    )]
    ContentIsAttributes,
    /// The signing time can't be encoded.
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
    /// The message or the content can't be read, or the content can't be written.
    #[error("{0}")]
    Encoding(EncodingError),
    /// It is a message of another kind.
    #[error("the message has type {0}; a signed one has 1.2.840.113549.1.7.2")]
    NotSigned(ObjectIdentifier),
    /// The version does not match the contents (RFC 5652, section 5.1).
    #[error(
        "the message has version {found}, but its contents need {expected}: it was altered, or a program that does not \
         follow RFC 5652 made it; have it made again"
    )]
    Version {
        /// The version of the message.
        found: u8,
        /// The version that its contents need.
        expected: u8,
    },
    /// The content is not in the message.
    #[error("the signature is detached; give the content as well")]
    NoContent,
    /// The content is within the message, and other content was given.
    #[error("the content is within the message; verify it without separate content")]
    HasContent,
    /// There is no signature.
    #[error("the message has no signature")]
    NoSigner,
    /// It should have certificates alone (RFC 5652, section 5.2).
    #[error(
        "the message has {0}, where certificates alone are expected; it may be a signed message"
    )]
    NotCertificatesAlone(&'static str),
    /// There are more signers, certificates or digests than are accepted.
    #[error("the message has more than {limit} {what}, the most that is accepted")]
    TooMany {
        /// What there are too many of.
        what: &'static str,
        /// How many are accepted.
        limit: usize,
    },
    /// A signer is named by more bytes than are accepted.
    #[error(
        "the message names a signer by more than {0} bytes, the most that is accepted; have it signed with a \
         certificate whose issuer has a shorter name, or named by its key identifier"
    )]
    LongIdentifier(usize),
    /// A certificate in the message is malformed.
    #[error("a certificate in the message: {0}")]
    Certificate(CertificateError),
    /// A signature was refused.
    #[error("signature {} of {signer}: {refusal}", .number + 1)]
    Signature {
        /// Its number, from 0 on.
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
    /// There is no certificate to verify it with.
    #[error("its certificate is missing, or is not trusted; give it, or trust it")]
    NoCertificate,
    /// The hash function is unknown, or too weak for messages.
    #[error("its hash function {0} is unknown or weak; have it signed with SHA-512 or SHAKE256")]
    UnknownDigest(ObjectIdentifier),
    /// The hash function is not among those that the message announces.
    #[error(
        "the message does not announce its hash function {0}, so the content was not hashed with it: it was altered, or \
         a program made it that leaves this out; have it made again"
    )]
    DigestNotAnnounced(ObjectIdentifier),
    /// The hash function and the signature algorithm don't belong together.
    #[error("{0}")]
    Weakness(Weakness),
    /// The signature algorithm has its own hash function, and the message has another.
    #[error("signatures of {0} have another hash function than the content")]
    OtherDigest(ObjectIdentifier),
    /// The attributes are not sorted as DER requires (RFC 5652, section 5.3).
    #[error("its attributes are not in DER: they are not sorted")]
    AttributesNotSorted,
    /// An attribute is there twice, or has several values.
    #[error("its attribute {0} is there twice, or has several values")]
    AttributeTwice(ObjectIdentifier),
    /// An attribute is not signed, and has to be (RFC 5652, section 11): it could be taken for what was signed.
    #[error(
        "its attribute {0} is not signed, and has to be: it was added later, or a program with a mistake made it"
    )]
    AttributeNotSigned(ObjectIdentifier),
    /// An attribute is signed, and must not be (RFC 5652, section 11.4).
    #[error(
        "its attribute {0} is signed, and must not be; have it signed again by another program"
    )]
    AttributeSigned(ObjectIdentifier),
    /// An attribute is missing.
    #[error("its attribute {0} is missing")]
    AttributeMissing(ObjectIdentifier),
    /// There are more attributes than are accepted.
    #[error("it has more than {0} attributes, the most that is accepted")]
    TooManyAttributes(usize),
    /// Content other than plain data must be signed with attributes (RFC 5652, section 5.3).
    #[error("it has no attributes, but content of type {0} must be signed with them")]
    AttributesRequired(ObjectIdentifier),
    /// The content has another type than the one that was signed.
    #[error(
        "content type {signed} was signed, but the message says {found}; it was altered, or made with a signature of \
         another message"
    )]
    ContentType {
        /// The type that was signed.
        signed: ObjectIdentifier,
        /// The type that the message states.
        found: ObjectIdentifier,
    },
    /// The content is not what was signed.
    #[error(
        "the content is not what was signed: the content or the signature was altered, or the signature is for another \
         file"
    )]
    DigestMismatch,
    /// The algorithms are not those that were signed (RFC 6211).
    #[error(
        "its algorithms are not those that its attributes say were used: it was altered, or a program with a mistake \
         made it"
    )]
    AlgorithmsAltered,
    /// The signer's own certificate is another one, as a signed attribute says (RFC 5035).
    #[error(
        "its attributes say that it was made with another certificate than that of {0}; give the certificate that the \
         signer meant, or have it signed again with this one"
    )]
    OtherCertificate(String),
    /// The signer's own certificate is named by a hash function that is unknown, or too weak.
    #[error(
        "its attributes name its certificate by the hash function {0}, which is unknown or weak; have it signed again \
         with SHA-256"
    )]
    UnknownCertificateDigest(ObjectIdentifier),
    /// There are no attributes, and the content is longer than what is kept in memory.
    #[error(
        "it has no attributes, so all of the content is needed at once, but this has more than {0} \
         bytes; raise the limit"
    )]
    TooLarge(usize),
    /// There are no attributes, and the content may be a set of them for some reader: what was signed may be other
    /// content, with these attributes (RFC 9882, section 6).
    #[error(
        "it has no attributes, but the content may be a set of them; it may be for other content"
    )]
    ContentIsAttributes,
    /// There are no attributes, and this verifier [requires](crate::Verifier::require_attributes) them.
    #[error(
        "it has no signed attributes; have it signed with them, as most programs do by default"
    )]
    NoAttributes,
    /// The signature does not verify, or can't be verified.
    #[error("{0}")]
    Signature(SignatureError),
    /// The certificate is not trusted.
    #[error("{0}")]
    Chain(ValidationError),
    /// Too many other signatures of the message were checked before it.
    #[error("it was not checked, as {0} checks of this message came before; use fewer signers")]
    TooManyChecks(usize),
    /// The searches for the chains of other signatures took all the work that a message gets.
    #[error(
        "its chain was not searched, as searching for those of other signatures took all the work that one message \
         gets; use fewer signers, and leave out certificates of CAs that they don't need"
    )]
    TooManySearches,
    /// It was refused with what was tried, and there was more than is tried.
    #[error(
        "it was tried with {limit} {what}, and there are more; leave out those that it does not need. With these: \
         {refusal}"
    )]
    OthersLeftOut {
        /// Which certificates there are too many of.
        what: &'static str,
        /// How many were tried.
        limit: usize,
        /// Why it was refused with them.
        refusal: Box<Self>,
    },
    /// The chain must be valid at the signing time, which the signature doesn't state.
    #[error("it does not say when it was made; verify it at a time that you give")]
    NoSigningTime,
}

impl SignatureRefusal {
    /// The same refusal, which says that not all of these certificates were tried.
    pub(super) fn with_others_left_out(self, what: &'static str, limit: usize) -> Self {
        Self::OthersLeftOut {
            what,
            limit,
            refusal: Box::new(self),
        }
    }
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
