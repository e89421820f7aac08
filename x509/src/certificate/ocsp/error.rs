//! The errors of requests, responses, nonces and extensions in OCSP, and `OcspFailure`, which a responder sends instead
//! of an answer.

use const_oid::ObjectIdentifier;
use pq_keys::encoding::syntax::SyntaxError;
use pq_keys::errors::from_causes;

use super::{MAX_CERTIFICATES, MAX_REQUEST, MAX_REQUESTS, MAX_RESPONSE};
use crate::certificate::CertificateError;

/// A nonce of an impossible length.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("an OCSP nonce has 1 to 128 bytes (RFC 9654 section 2.1), not {0}")]
pub struct InvalidOcspNonce(pub(super) usize);

/// Why an extension makes a request or response unusable.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OcspExtensionError {
    /// There are two extensions of a kind, and readers could disagree on which one counts.
    #[error("the extension {0} more than once; have it made again with only one")]
    Repeated(ObjectIdentifier),
    /// The extension is critical, but not processed here (RFC 6960 section 4.4).
    #[error("the critical extension {0}, which is not supported; have it made again without it")]
    Critical(ObjectIdentifier),
}

/// Why something is not an OCSP request, or why none can be made.
///
/// A responder answers a request that it can't read with
/// [`OcspFailure::MalformedRequest`](super::OcspFailure::MalformedRequest).
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OcspRequestError {
    /// The bytes are not the DER of a request.
    #[error("the OCSP request is not valid DER: {0}")]
    Der(der::Error),
    /// A value in the DER is not valid for its type.
    #[error("the OCSP request {0}")]
    Syntax(SyntaxError),
    /// The request is longer than any useful one.
    #[error(
        "the OCSP request has {0} bytes, more than {MAX_REQUEST}; ask about fewer certificates"
    )]
    TooLong(usize),
    /// The request names a version that does not exist.
    #[error(
        "the OCSP request names version {0}, but the only version is 1 (RFC 6960 section 4.1.1)"
    )]
    Version(u8),
    /// The request is about no certificate.
    #[error("the OCSP request is about no certificate; name one")]
    Empty,
    /// The request is about too many certificates.
    #[error("the OCSP request is about {0} certificates, more than {MAX_REQUESTS}; ask in parts")]
    TooMany(usize),
    /// An extension keeps the request from being read.
    #[error("the OCSP request has {0}")]
    Extension(OcspExtensionError),
    /// The nonce has an impossible length.
    #[error("the OCSP request: {0}")]
    Nonce(InvalidOcspNonce),
    /// The certificate names another issuer than the one that was given.
    #[error(
        "the certificate of {certificate} names \"{named}\" as its issuer, not \"{given}\"; give the \
         certificate of its issuer"
    )]
    NotTheIssuer {
        /// The subject of the certificate.
        certificate: String,
        /// The issuer that it names.
        named: String,
        /// The subject of the issuer's certificate that was given.
        given: String,
    },
}

from_causes!(
    OcspRequestError: Der(der::Error),
    Syntax(SyntaxError),
    Extension(OcspExtensionError),
    Nonce(InvalidOcspNonce)
);

/// Why something is not an OCSP response with answers.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OcspResponseError {
    /// The bytes are not the DER of a response.
    #[error("the OCSP response is not valid DER: {0}")]
    Der(der::Error),
    /// A value in the DER is not valid for its type.
    #[error("the OCSP response {0}")]
    Syntax(SyntaxError),
    /// The response is longer than any useful one.
    #[error(
        "the OCSP response has {0} bytes, more than {MAX_RESPONSE}; ask about fewer certificates"
    )]
    TooLong(usize),
    /// The responder gives no answer, but a reason.
    #[error("the OCSP responder gives no answer: {0}")]
    Unsuccessful(OcspFailure),
    /// The response says that it is successful, but has no answer.
    #[error("the OCSP response has no answer in it; have it made again")]
    WithoutAnswer,
    /// The response is of a kind that is not supported.
    #[error(
        "the OCSP response is of type {0}, and only basic responses are supported (RFC 6960 section \
         4.2.1)"
    )]
    NotBasic(ObjectIdentifier),
    /// The response names a version that does not exist.
    #[error(
        "the OCSP response names version {0}, but the only version is 1 (RFC 6960 section 4.2.1)"
    )]
    Version(u8),
    /// An extension keeps the response from being used.
    #[error("the OCSP response has {0}")]
    Extension(OcspExtensionError),
    /// The nonce has an impossible length.
    #[error("the OCSP response: {0}")]
    Nonce(InvalidOcspNonce),
    /// There are more certificates in the response than a responder needs.
    #[error(
        "the OCSP response has {0} certificates in it, more than {MAX_CERTIFICATES}; have it made with only \
         the responder's certificate"
    )]
    TooManyCertificates(usize),
    /// A certificate in the response is malformed.
    #[error("a certificate in the OCSP response: {0}")]
    Certificate(CertificateError),
}

from_causes!(
    OcspResponseError: Der(der::Error),
    Syntax(SyntaxError),
    Extension(OcspExtensionError),
    Nonce(InvalidOcspNonce),
    Certificate(CertificateError)
);

/// Why a responder gives no answer (OCSPResponseStatus except *successful*, RFC 6960 section 2.3).
///
/// It is not signed: anybody between client and responder can send the same.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq, thiserror::Error)]
pub enum OcspFailure {
    /// The request is malformed, or not supported.
    #[error(
        "malformedRequest, the request can't be read; ask about fewer certificates, or in another way"
    )]
    MalformedRequest,
    /// The responder failed.
    #[error("internalError, the responder failed; ask again, or ask another responder")]
    InternalError,
    /// The responder is busy.
    #[error("tryLater, the responder can't answer now; ask again later")]
    TryLater,
    /// The responder answers only signed requests.
    #[error("sigRequired, requests have to be signed; ask another responder")]
    SigRequired,
    /// The responder doesn't answer this client, or knows nothing of the certificates.
    #[error(
        "unauthorized, the responder does not answer this client, or knows nothing of the certificates; ask \
         another responder"
    )]
    Unauthorized,
}

impl OcspFailure {
    /// The whole response, in DER.
    pub fn to_der(self) -> [u8; 5] {
        let status = match self {
            Self::MalformedRequest => 1,
            Self::InternalError => 2,
            Self::TryLater => 3,
            Self::SigRequired => 5,
            Self::Unauthorized => 6,
        };
        // SEQUENCE { ENUMERATED }
        [0x30, 3, 0x0a, 1, status]
    }
}
