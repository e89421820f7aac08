//! Why a certificate, a list or a response was not issued: what the caller has to change, or what failed.

use pq_keys::errors::from_causes;
use pq_keys::random::RandomnessError;
use pq_keys::{KeyError, SignError};

use crate::certificate::{
    CertificateError, KeyUsageError, NameError, OcspDelegateError, OcspResponseError,
    RevocationListError, SealError, SpiffeId, ValidityError,
};
use crate::linting::Finding;

/// Why a certificate, a revocation list or an OCSP response was not issued.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IssueError {
    /// The subject's public key is malformed.
    #[error("the subject's key: {0}")]
    SubjectKey(KeyError),
    /// The subject's public key is one of HashML-DSA.
    #[error(
        "keys of HashML-DSA must not be in certificates (RFC 9881 section 8.3); have the key's \
         owner encode it as a key of ML-DSA"
    )]
    HashMlDsa,
    /// The key usage does not suit the key or the role.
    #[error(transparent)]
    KeyUsage(#[from] KeyUsageError),
    /// A name cannot be in a certificate.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The certificate would break a standard's rule: [`linting`](crate::linting) would report an error.
    #[error("{section} forbids this ({rule}): {what}; nothing was issued: ask for it without that")]
    BreaksRule {
        /// What in the certificate breaks the rule, with the values found.
        what: String,
        /// The section that demands otherwise.
        section: &'static str,
        /// The rule's name in [`linting`](crate::linting).
        rule: &'static str,
    },
    /// The validity cannot be in a certificate.
    #[error(transparent)]
    Validity(#[from] ValidityError),
    /// The serial number is zero or too long.
    #[error(
        "a serial number must be positive and have at most 20 bytes, the first below 0x80 if there are 20"
    )]
    SerialNumber,
    /// An end entity has neither a subject nor an alternative name.
    #[error("the certificate names nobody; add a DNS name or a URI, a common name or a full name")]
    Nameless,
    /// A certificate for a SPIFFE ID is only for servers, or only for clients.
    #[error(
        "a certificate for {0} must be for both servers and clients, or have no extended key usage \
         (X.509-SVID section 4.4); make it for both, or for no certain purpose"
    )]
    SpiffePurposes(SpiffeId),
    /// A certificate for a SPIFFE ID does not have the required key usages.
    #[error(
        "a certificate for {0} must have the key usage digitalSignature and no cRLSign (X.509-SVID \
         section 4.3); have it issued for a key that signs"
    )]
    SpiffeKeyUsage(SpiffeId),
    /// A CA has an empty subject.
    #[error(
        "a CA needs a name (RFC 5280 section 4.1.2.6); issue its certificate with \
         a common name or a full name"
    )]
    CaWithoutName,
    /// The certificate given for a CA is not a CA's.
    #[error("the certificate of \"{0}\" is not a CA's, so nothing issued with it would be valid")]
    NotACa(String),
    /// The key given for a CA is not the one in its certificate.
    #[error(
        "the key is not the one in the CA certificate of \"{0}\"; load the key that belongs to it"
    )]
    WrongKey(String),
    /// The CA may not issue CA certificates.
    #[error(
        "path length 0 forbids \"{0}\" to issue CA certificates; issue from a CA above it, or \
         issue that CA again with a larger path length"
    )]
    PathLength(String),
    /// The number of a revocation list is too long or empty.
    #[error(
        "the number of a revocation list must have 1 to 20 bytes, the first below 0x80 if there are 20"
    )]
    ListNumber,
    /// A revocation list names one certificate twice.
    #[error("the certificate with serial number {0} is revoked twice in one list; revoke it once")]
    RevokedTwice(String),
    /// A revocation has the reason removeFromCRL, which takes others back in a delta list.
    #[error(
        "removeFromCRL is for delta lists (RFC 5280 section 5.3.1); to take a revocation back, \
         leave the certificate out of the next list, or answer that it is good"
    )]
    RemoveFromCompleteList,
    /// A certificate doesn't allow its owner to answer for the CA.
    #[error("the certificate of \"{subject}\" cannot be used to answer for the CA: {error}")]
    OcspDelegate {
        /// The subject of the certificate.
        subject: String,
        /// What is wrong with it.
        error: OcspDelegateError,
    },
    /// The key did not sign.
    #[error(transparent)]
    Sign(#[from] SignError),
    /// A field could not be encoded.
    #[error("encoding the certificate, revocation list or OCSP response: {0}")]
    Der(der::Error),
    /// The fields do not make a certificate.
    #[error("the certificate issued cannot be read back: {0}")]
    Certificate(CertificateError),
    /// The fields do not make a revocation list.
    #[error("the revocation list issued cannot be read back: {0}")]
    List(RevocationListError),
    /// The answers do not make an OCSP response.
    #[error("the OCSP response made cannot be read back: {0}")]
    OcspResponse(OcspResponseError),
    /// The operating system gave no randomness.
    #[error("the operating system gave no randomness for the serial number: {0}")]
    Randomness(RandomnessError),
}

from_causes!(
    IssueError: SubjectKey(KeyError),
    Der(der::Error),
    Certificate(CertificateError),
    List(RevocationListError),
    OcspResponse(OcspResponseError),
    Randomness(RandomnessError)
);

impl From<Finding> for IssueError {
    fn from(finding: Finding) -> Self {
        Self::BreaksRule {
            what: finding.what,
            section: finding.rule.section(),
            rule: finding.rule.name(),
        }
    }
}

impl From<SealError> for IssueError {
    fn from(error: SealError) -> Self {
        match error {
            SealError::Der(error) => error.into(),
            SealError::Sign(error) => error.into(),
        }
    }
}
