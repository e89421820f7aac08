//! `OcspResponder`: it signs answers to OCSP requests, for which a callback gives the status of each certificate.

use core::time::Duration;
use std::time::SystemTime;

use const_oid::db::rfc6960::ID_PKIX_OCSP_BASIC;
use der::Decode;
use der::asn1::{AnyRef, BitStringRef, GeneralizedTime, Null, OctetStringRef};
use pq_keys::encoding::to_der;
use pq_keys::{Signer, SubjectKey};
use x509_cert::certificate::Version;
use x509_cert::ext::pkix::CrlReason;
use x509_cert::time::Time;

use super::error::IssueError;
use super::issuer::Issuer;
use crate::certificate::{
    CertId, CertStatus, Certificate, Extensions, OcspDelegateError, OcspNonce, OcspRequest,
    OcspResponse, ResponderId, Validity, ValidityError, check_delegate, ocsp_asn1 as asn1,
    validity,
};

/// Answers OCSP requests for a CA (RFC 6960): as the CA itself, or as a delegate that it certified.
///
/// A delegate's key can be on a machine that is online while the CA's is not. Make its certificate with
/// [`CertificateBuilder::ocsp_responder`](crate::issuing::CertificateBuilder::ocsp_responder). It is sent with each
/// response, which makes the response larger.
///
/// ```
/// use pq_x509::pki_types::UnixTime;
/// use pq_x509::issuing::{CertificateBuilder, IssueError, Issuer};
/// use pq_x509::ocsp::{CertStatus, OcspRequest, OcspResponder};
/// use pq_x509::certificate::Validity;
/// use pq_x509::keys::{SignatureAlgorithm, SigningKey};
/// use pq_x509::ocsp::OcspVerifier;
/// # use std::time::SystemTime;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let ca_key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
/// # let ca = Issuer::self_signed(CertificateBuilder::ca("Example CA"), ca_key)?;
/// # let leaf_key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
/// # let leaf = ca.issue(CertificateBuilder::server().dns_name("example.org"), &leaf_key)?;
/// let key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
/// let builder = CertificateBuilder::ocsp_responder()
///     .common_name("Example OCSP")
///     .validity(Validity::days(30));
/// let certificate = ca.issue(builder, &key)?;
/// let responder = OcspResponder::delegate(ca.certificate().clone(), certificate, key)?;
///
/// let request = OcspRequest::builder().certificate(&leaf, ca.certificate()).build()?;
/// let response = responder.respond(&request, SystemTime::now(), Validity::days(1), |number| {
///     assert_eq!(number, leaf.serial_number());
///     Ok::<_, IssueError>(CertStatus::Good)
/// })?;
///
/// let verifier = OcspVerifier::new(ca.certificate(), UnixTime::now());
/// let answer = verifier.verify(&response, &leaf)?;
/// assert_eq!(answer.status(), CertStatus::Good);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct OcspResponder<S> {
    /// The CA whose certificates the answers are about.
    issuer: Certificate,
    /// The signer's certificate, if that is not the issuer's.
    delegate: Option<Certificate>,
    signer: S,
}

impl<'a, S: Signer> OcspResponder<&'a S> {
    /// A responder where the CA answers for itself, with its own key.
    ///
    /// The CA's key usage need not include digitalSignature: verifiers demand that of delegates only.
    pub fn ca(issuer: &'a Issuer<S>) -> Self {
        Self {
            issuer: issuer.certificate().clone(),
            delegate: None,
            signer: issuer.signer(),
        }
    }
}

impl<S: Signer> OcspResponder<S> {
    /// A responder where a delegate answers for the issuer, which certified the delegate's key.
    ///
    /// # Errors
    ///
    /// [`IssueError::OcspDelegate`] if the certificate is not a responder's, or names another issuer or another key of it;
    /// [`IssueError::WrongKey`] if the key is another one. It is not checked whether the issuer signed the
    /// certificate, and until when it is valid.
    pub fn delegate(
        issuer: Certificate,
        certificate: Certificate,
        signer: S,
    ) -> Result<Self, IssueError> {
        check_delegate(&certificate, &issuer)
            .and_then(|()| check_key(&certificate, &issuer))
            .map_err(|error| IssueError::OcspDelegate {
                subject: certificate.describe_subject(),
                error,
            })?;
        if certificate.spki() != signer.spki() {
            return Err(IssueError::WrongKey(certificate.describe_subject()));
        }
        Ok(Self {
            issuer,
            delegate: Some(certificate),
            signer,
        })
    }

    /// The certificate of the CA that it answers for.
    pub fn issuer(&self) -> &Certificate {
        &self.issuer
    }

    /// The certificate of the key that signs: the delegate's, or the CA's. Nobody accepts a response after its end.
    pub fn certificate(&self) -> &Certificate {
        self.delegate.as_ref().unwrap_or(&self.issuer)
    }

    /// Answers a request, with its nonce.
    ///
    /// `status` returns the status of the issuer's certificate with a serial number; certificates of other
    /// issuers are answered as unknown. The validity starts when the status is known to be correct
    /// (thisUpdate), and ends when newer information will be available (nextUpdate).
    ///
    /// # Errors
    ///
    /// Those of `status`, and an [`IssueError`] if a time can't be expressed, a reason is removeFromCRL, or
    /// the key doesn't sign.
    pub fn respond<E: From<IssueError>>(
        &self,
        request: &OcspRequest,
        produced_at: SystemTime,
        validity: Validity,
        mut status: impl FnMut(&[u8]) -> Result<CertStatus, E>,
    ) -> Result<OcspResponse, E> {
        let mut statuses = Vec::with_capacity(request.certificates().len());
        for certificate in request.certificates() {
            statuses.push(match certificate.is_by(&self.issuer) {
                true => status(certificate.serial_number())?,
                false => CertStatus::Unknown,
            });
        }
        Ok(self.sign(request, produced_at, validity, &statuses)?)
    }

    /// A response with these statuses of the certificates in a request.
    fn sign(
        &self,
        request: &OcspRequest,
        produced_at: SystemTime,
        validity: Validity,
        statuses: &[CertStatus],
    ) -> Result<OcspResponse, IssueError> {
        let validity = validity.to_x509()?;
        let (this_update, next_update) = (
            generalized(validity.not_before)?,
            generalized(validity.not_after)?,
        );
        let answer = |(certificate, status): (&CertId, &CertStatus)| {
            Ok(asn1::SingleResponse {
                certificate: certificate.0.clone(),
                status: encode(*status)?,
                this_update,
                next_update: Some(next_update),
                extensions: None,
            })
        };
        let answers = request.certificates().iter().zip(statuses).map(answer);
        let nonce = request.nonce().map(OcspNonce::to_extension);
        let body = asn1::ResponseData {
            version: Version::V1,
            responder: ResponderId::by_key(self.certificate()).to_asn1()?,
            produced_at: generalized(validity::time(produced_at)?)?,
            responses: answers.collect::<Result<_, IssueError>>()?,
            extensions: nonce.transpose()?.map(|nonce| Extensions(vec![nonce])),
        };
        let body = to_der(&body)?;
        let signature = self.signer.sign(&body)?;
        let certificates = self.delegate.as_ref();
        let certificates = certificates.map(|certificate| AnyRef::from_der(certificate.der()));
        let basic = asn1::BasicOcspResponse {
            body: AnyRef::from_der(&body)?,
            signature_algorithm: self.signer.signature_algorithm(),
            signature: BitStringRef::from_bytes(&signature)?,
            certificates: certificates
                .transpose()?
                .map(|certificate| vec![certificate]),
        };
        let basic = to_der(&basic)?;
        let response = asn1::OcspResponse {
            status: asn1::ResponseStatus::Successful,
            bytes: Some(asn1::ResponseBytes {
                kind: ID_PKIX_OCSP_BASIC,
                response: OctetStringRef::new(&basic)?,
            }),
        };
        Ok(OcspResponse::from_der(&to_der(&response)?)?)
    }
}

/// That the delegate's certificate names the issuer's key, where both have identifiers of keys: a CA may have several keys
/// of one name.
fn check_key(delegate: &Certificate, issuer: &Certificate) -> Result<(), OcspDelegateError> {
    let named = delegate.authority_key_id().unwrap_or_default();
    match (named, issuer.subject_key_id()) {
        (Some(named), Some(own)) if named != own => {
            Err(OcspDelegateError::AnotherKey(delegate.describe_issuer()))
        }
        _ => Ok(()),
    }
}

fn encode(status: CertStatus) -> Result<asn1::CertStatus, IssueError> {
    Ok(match status {
        CertStatus::Good => asn1::CertStatus::Good(Null),
        CertStatus::Unknown => asn1::CertStatus::Unknown(Null),
        CertStatus::Revoked { date, reason } => asn1::CertStatus::Revoked(asn1::RevokedInfo {
            time: GeneralizedTime::from_unix_duration(Duration::from_secs(date.as_secs()))
                .map_err(|_| ValidityError::OutOfRange)?,
            reason: match reason {
                // As on lists.
                CrlReason::Unspecified => None,
                CrlReason::RemoveFromCRL => return Err(IssueError::RemoveFromCompleteList),
                reason => Some(reason.into()),
            },
        }),
    })
}

/// Times in responses are of one type, whatever the year.
fn generalized(time: Time) -> der::Result<GeneralizedTime> {
    GeneralizedTime::from_unix_duration(time.to_unix_duration())
}
