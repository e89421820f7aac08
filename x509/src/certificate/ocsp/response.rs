//! OCSP responses and the answers in them, as they are read. `validation` decides whether to believe them, and
//! `issuing` makes them.

use core::fmt;

use const_oid::db::rfc6960::ID_PKIX_OCSP_BASIC;
use der::asn1::{Any, GeneralizedTime, OctetString};
use der::referenced::OwnedToRef;
use der::{Decode, Encode, Tag, Tagged};
use pki_types::{SignatureVerificationAlgorithm, UnixTime};
use pq_keys::encoding::syntax::{self, whole_octets};
use pq_keys::errors::describe;
use sha1::Sha1;
use sha1::digest::Digest;
use spki::AlgorithmIdentifierOwned;
use x509_cert::certificate::Version;
use x509_cert::ext::pkix::CrlReason;
use x509_cert::name::Name;

use super::cert_id::{Asked, CertId, key_bits};
use super::error::{OcspFailure, OcspResponseError};
use super::nonce::OcspNonce;
use super::{MAX_CERTIFICATES, MAX_RESPONSE, MAX_VALUES, asn1, extensions};
use crate::certificate::revocation_list::Reason;
use crate::certificate::universal_string::name_from_der;
use crate::certificate::{CanonicalName, Certificate, SignatureError, form};

/// An OCSP response with answers: the status of some certificates (RFC 6960 section 4.2).
///
/// A CA signs it, or a responder that the CA certified for this. It is a basic response of any algorithm.
///
/// A value of this type is well-formed DER, which does not mean that anyone should believe it: see
/// [`OcspVerifier`](crate::ocsp::OcspVerifier) and
/// [`ChainValidator::with_ocsp_responses`](crate::validation::ChainValidator::with_ocsp_responses).
/// [`OcspResponder::respond`](crate::ocsp::OcspResponder::respond) makes one.
#[derive(Clone)]
pub struct OcspResponse {
    der: Vec<u8>,
    /// The DER of the ResponseData, which is signed.
    body: Vec<u8>,
    responder: ResponderId,
    produced_at: UnixTime,
    answers: Vec<SingleResponse>,
    nonce: Option<OcspNonce>,
    signature_algorithm: AlgorithmIdentifierOwned,
    signature: Vec<u8>,
    certificates: Vec<Certificate>,
}

impl OcspResponse {
    /// Reads a response from DER. Nothing may follow it.
    ///
    /// # Errors
    ///
    /// [`OcspResponseError::Unsuccessful`] if the responder gives no answer, and others if the response is
    /// malformed, not supported, or longer than 1 MiB.
    pub fn from_der(der: &[u8]) -> Result<Self, OcspResponseError> {
        if der.len() > MAX_RESPONSE {
            return Err(OcspResponseError::TooLong(der.len()));
        }
        let refused = form::of_document::<OcspResponseError>;
        let outer = asn1::OcspResponse::from_der(der).map_err(|error| refused(der, error))?;
        check_status(outer.status)?;
        let bytes = outer.bytes.ok_or(OcspResponseError::WithoutAnswer)?;
        if bytes.kind != ID_PKIX_OCSP_BASIC {
            return Err(OcspResponseError::NotBasic(bytes.kind));
        }
        syntax::check_number_within(bytes.response.as_bytes(), MAX_VALUES)?;
        let basic = asn1::BasicOcspResponse::from_der(bytes.response.as_bytes())
            .map_err(|error| refused(bytes.response.as_bytes(), error))?;
        let body = basic.body.to_der()?;
        // The responder may have a name, and everything else is short.
        for part in syntax::values(basic.body.value()).filter(|part| part.tag() != Tag::Sequence) {
            syntax::check_number(part.value())?;
        }
        let data = asn1::ResponseData::from_der(&body).map_err(|error| refused(&body, error))?;
        if data.version != Version::V1 {
            return Err(OcspResponseError::Version(data.version as u8 + 1));
        }
        if data.responses.is_empty() {
            return Err(OcspResponseError::WithoutAnswer);
        }
        syntax::check(der)?;
        syntax::check(bytes.response.as_bytes())?;
        let of_all = data.extensions.unwrap_or_default().0;
        extensions::check(&of_all)?;
        for answer in &data.responses {
            extensions::check_single(answer.extensions.as_ref())?;
        }
        let certificates = basic.certificates.unwrap_or_default();
        if certificates.len() > MAX_CERTIFICATES {
            return Err(OcspResponseError::TooManyCertificates(certificates.len()));
        }
        let certificates = certificates
            .into_iter()
            .map(|certificate| Ok(Certificate::from_der(&certificate.to_der()?)?))
            .collect::<Result<_, OcspResponseError>>()?;
        Ok(Self {
            der: der.to_vec(),
            responder: ResponderId::read(data.responder).map_err(|error| refused(&body, error))?,
            produced_at: unix_time(data.produced_at),
            answers: data
                .responses
                .into_iter()
                .map(SingleResponse::read)
                .collect(),
            nonce: OcspNonce::read::<OcspResponseError>(&of_all)?,
            signature: whole_octets(basic.signature)?.to_vec(),
            signature_algorithm: basic.signature_algorithm,
            certificates,
            body,
        })
    }

    /// The response's DER. It is sent over HTTP as the media type `application/ocsp-response`, and
    /// stapled in TLS.
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// Returns the response's DER, without copying it.
    pub fn into_der(self) -> Vec<u8> {
        self.der
    }

    /// The signer that the response names.
    pub fn responder(&self) -> &ResponderId {
        &self.responder
    }

    /// When it was signed.
    pub fn produced_at(&self) -> UnixTime {
        self.produced_at
    }

    /// The answers, each about one certificate: at least one.
    pub fn answers(&self) -> &[SingleResponse] {
        &self.answers
    }

    /// The answer about a certificate by this issuer, if there is one. Of several answers, one that says
    /// that the certificate is revoked comes first, then one that says that it is unknown. The first also counts if it
    /// can't be told that it is about another issuer: if it names the issuer by a hash function that is unknown here,
    /// or by another encoding of the name. Nothing checks whether to believe the answer.
    pub fn answer_for(
        &self,
        certificate: &Certificate,
        issuer: &Certificate,
    ) -> Option<&SingleResponse> {
        self.answers_for(certificate, issuer).first().copied()
    }

    /// All answers about a certificate by this issuer, as [`answer_for`](Self::answer_for) understands it and in its
    /// order.
    pub(crate) fn answers_for(
        &self,
        certificate: &Certificate,
        issuer: &Certificate,
    ) -> Vec<&SingleResponse> {
        let asked = Asked::about(certificate, issuer);
        let (mut revoked, mut unknown, mut good) = (Vec::new(), Vec::new(), Vec::new());
        for answer in &self.answers {
            let id = &answer.certificate;
            match answer.status {
                CertStatus::Revoked { .. } if asked.may_be(id) => revoked.push(answer),
                CertStatus::Unknown if asked.is(id) => unknown.push(answer),
                CertStatus::Good if asked.is(id) => good.push(answer),
                _ => {}
            }
        }
        [revoked, unknown, good].concat()
    }

    /// The nonce, if there is one: that of the request.
    pub fn nonce(&self) -> Option<&OcspNonce> {
        self.nonce.as_ref()
    }

    /// The algorithm of the signature, as the response names it.
    pub fn signature_algorithm(&self) -> &AlgorithmIdentifierOwned {
        &self.signature_algorithm
    }

    /// The certificates in the response. The responder's is among them, unless the issuer signed.
    pub fn certificates(&self) -> &[Certificate] {
        &self.certificates
    }

    /// Checks only that the key in this certificate made the signature. It does not check that its owner may
    /// answer for the issuer, or the time. The algorithms are as in
    /// [`Certificate::verify_signature`].
    ///
    /// # Errors
    ///
    /// A [`SignatureError`] that says what failed.
    pub fn verify_signature(
        &self,
        responder: &Certificate,
        algorithms: &[&dyn SignatureVerificationAlgorithm],
    ) -> Result<(), SignatureError> {
        let algorithm = self.signature_algorithm.owned_to_ref();
        responder.verify_message(&self.body, &algorithm, &self.signature, algorithms)
    }
}

impl AsRef<[u8]> for OcspResponse {
    fn as_ref(&self) -> &[u8] {
        &self.der
    }
}

impl PartialEq for OcspResponse {
    fn eq(&self, other: &Self) -> bool {
        self.der == other.der
    }
}

impl Eq for OcspResponse {}

impl fmt::Debug for OcspResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OcspResponse")
            .field("responder", &self.responder)
            .field("answers", &self.answers.len())
            .finish_non_exhaustive()
    }
}

/// Who signed a response (ResponderID, RFC 6960 section 4.2.1).
#[derive(Clone, Eq, PartialEq)]
pub enum ResponderId {
    /// The owner of the certificate with this subject.
    Name(Name),
    /// The owner of the key with this SHA-1.
    Key([u8; 20]),
}

impl ResponderId {
    /// The owner of this certificate, by its key.
    pub(crate) fn by_key(certificate: &Certificate) -> Self {
        Self::Key(Sha1::digest(key_bits(certificate)).into())
    }

    /// Whether this is the owner of the certificate.
    pub fn is(&self, certificate: &Certificate) -> bool {
        match self {
            Self::Name(name) => CanonicalName::of(name) == CanonicalName::of(certificate.subject()),
            Self::Key(_) => *self == Self::by_key(certificate),
        }
    }

    pub(crate) fn to_asn1(&self) -> der::Result<asn1::ResponderId> {
        Ok(match self {
            Self::Name(name) => asn1::ResponderId::ByName(Any::encode_from(name)?),
            Self::Key(hash) => asn1::ResponderId::ByKey(OctetString::new(hash.as_slice())?),
        })
    }

    fn read(id: asn1::ResponderId) -> der::Result<Self> {
        match id {
            asn1::ResponderId::ByName(name) => Ok(Self::Name(name_from_der(&name.to_der()?)?)),
            asn1::ResponderId::ByKey(hash) => match hash.as_bytes().try_into() {
                Ok(hash) => Ok(Self::Key(hash)),
                Err(_) => Err(Tag::OctetString.length_error().into()),
            },
        }
    }
}

/// For messages.
impl fmt::Display for ResponderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(&describe(name)),
            Self::Key(hash) => {
                f.write_str("the key with SHA-1 ")?;
                hash.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }
    }
}

impl fmt::Debug for ResponderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// The answer about one certificate (SingleResponse, RFC 6960 section 4.2.1).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SingleResponse {
    certificate: CertId,
    status: CertStatus,
    this_update: UnixTime,
    next_update: Option<UnixTime>,
}

impl SingleResponse {
    /// The certificate that the answer is about.
    pub fn certificate(&self) -> &CertId {
        &self.certificate
    }

    /// The status of the certificate.
    pub fn status(&self) -> CertStatus {
        self.status
    }

    /// When this status was known to be correct.
    pub fn this_update(&self) -> UnixTime {
        self.this_update
    }

    /// When newer information will be available, if the response says so. After that it must not be used.
    pub fn next_update(&self) -> Option<UnixTime> {
        self.next_update
    }

    fn read(answer: asn1::SingleResponse) -> Self {
        Self {
            certificate: CertId(answer.certificate),
            status: match answer.status {
                asn1::CertStatus::Good(_) => CertStatus::Good,
                asn1::CertStatus::Revoked(info) => CertStatus::Revoked {
                    date: unix_time(info.time),
                    reason: info.reason.map_or(CrlReason::Unspecified, Reason::known),
                },
                asn1::CertStatus::Unknown(_) => CertStatus::Unknown,
            },
            this_update: unix_time(answer.this_update),
            next_update: answer.next_update.map(unix_time),
        }
    }
}

/// The status of a certificate (CertStatus, RFC 6960 section 2.2).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CertStatus {
    /// It is not revoked. It may have expired, or not exist.
    Good,
    /// It is revoked, or on hold.
    Revoked {
        /// When it was revoked.
        date: UnixTime,
        /// Why it was revoked. An answer without a reason, or with a code that RFC 5280 doesn't define, has
        /// [`CrlReason::Unspecified`].
        reason: CrlReason,
    },
    /// The responder doesn't know the certificate.
    Unknown,
}

fn check_status(status: asn1::ResponseStatus) -> Result<(), OcspResponseError> {
    let failure = match status {
        asn1::ResponseStatus::Successful => return Ok(()),
        asn1::ResponseStatus::MalformedRequest => OcspFailure::MalformedRequest,
        asn1::ResponseStatus::InternalError => OcspFailure::InternalError,
        asn1::ResponseStatus::TryLater => OcspFailure::TryLater,
        asn1::ResponseStatus::SigRequired => OcspFailure::SigRequired,
        asn1::ResponseStatus::Unauthorized => OcspFailure::Unauthorized,
    };
    Err(OcspResponseError::Unsuccessful(failure))
}

fn unix_time(time: GeneralizedTime) -> UnixTime {
    UnixTime::since_unix_epoch(time.to_unix_duration())
}
