//! OCSP requests: clients build them, and responders read them, within limits on their size.

use core::fmt;

use der::{Decode, Encode};
use pq_keys::encoding::syntax;
use x509_cert::certificate::Version;

use super::cert_id::{CertId, OcspHash};
use super::error::OcspRequestError;
use super::nonce::OcspNonce;
use super::{MAX_REQUEST, MAX_REQUESTS, asn1, extensions};
use crate::certificate::extensions::Extensions;
use crate::certificate::{Certificate, form};

/// An OCSP request for the status of certificates (RFC 6960 section 4.1).
///
/// Send it to the URL in [`Certificate::ocsp_urls`] by an HTTP POST, as the media type
/// `application/ocsp-request`. [`OcspResponder::respond`](crate::ocsp::OcspResponder::respond) answers it.
///
/// The signature of a signed request is ignored: responders here treat all clients alike.
///
/// ```
/// # use pq_x509::issuing::{CertificateBuilder, Issuer};
/// # use pq_x509::keys::{SignatureAlgorithm, SigningKey};
/// use pq_x509::ocsp::{OcspNonce, OcspRequest};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let key = SigningKey::generate(SignatureAlgorithm::MlDsa44)?;
/// # let ca = Issuer::self_signed(CertificateBuilder::ca("CA"), key.clone())?;
/// # let leaf = ca.issue(CertificateBuilder::server().dns_name("example.org"), &key)?;
/// let request = OcspRequest::builder()
///     .certificate(&leaf, ca.certificate())
///     .nonce(OcspNonce::random()?)
///     .build()?;
/// assert_eq!(OcspRequest::from_der(request.der())?, request);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Eq, PartialEq)]
pub struct OcspRequest {
    der: Vec<u8>,
    certificates: Vec<CertId>,
    nonce: Option<OcspNonce>,
}

impl OcspRequest {
    /// Begins a request.
    pub fn builder<'a>() -> OcspRequestBuilder<'a> {
        OcspRequestBuilder {
            certificates: Vec::new(),
            hash: OcspHash::default(),
            nonce: None,
        }
    }

    /// Reads a request from DER. Nothing may follow it.
    ///
    /// # Errors
    ///
    /// An [`OcspRequestError`] if it is malformed, or has more than 100 certificates or 64 KiB.
    pub fn from_der(der: &[u8]) -> Result<Self, OcspRequestError> {
        if der.len() > MAX_REQUEST {
            return Err(OcspRequestError::TooLong(der.len()));
        }
        syntax::check_number(der)?;
        let asn1::OcspRequest { body, .. } = asn1::OcspRequest::from_der(der)
            .map_err(|error| form::of_document::<OcspRequestError>(der, error))?;
        if body.version != Version::V1 {
            return Err(OcspRequestError::Version(body.version as u8 + 1));
        }
        match body.requests.len() {
            0 => return Err(OcspRequestError::Empty),
            count if count > MAX_REQUESTS => return Err(OcspRequestError::TooMany(count)),
            _ => {}
        }
        syntax::check(der)?;
        let of_all = body.extensions.unwrap_or_default().0;
        extensions::check(&of_all)?;
        for request in &body.requests {
            extensions::check_single(request.extensions.as_ref())?;
        }
        let requests = body.requests.into_iter();
        Ok(Self {
            der: der.to_vec(),
            certificates: requests
                .map(|request| CertId(request.certificate))
                .collect(),
            nonce: OcspNonce::read::<OcspRequestError>(&of_all)?,
        })
    }

    /// The request's DER.
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// The certificates that it is about: at least one.
    pub fn certificates(&self) -> &[CertId] {
        &self.certificates
    }

    /// A request about the same certificates and with nothing else, so that all requests of which the answers are alike are
    /// the same bytes: without a nonce, extensions and signature. A responder that keeps its answers looks for them by it.
    ///
    /// # Errors
    ///
    /// If it can't be encoded.
    pub fn plain(&self) -> Result<Self, OcspRequestError> {
        Self::about(self.certificates.iter().map(|one| Ok(one.clone())), None)
    }

    /// The nonce that the response must have, if there is one.
    pub fn nonce(&self) -> Option<&OcspNonce> {
        self.nonce.as_ref()
    }

    fn about(
        certificates: impl Iterator<Item = Result<CertId, OcspRequestError>>,
        nonce: Option<&OcspNonce>,
    ) -> Result<Self, OcspRequestError> {
        let requests = certificates.map(|certificate| {
            Ok(asn1::Request {
                certificate: certificate?.0,
                extensions: None,
            })
        });
        let requests = requests.collect::<Result<_, OcspRequestError>>()?;
        let nonce = nonce.map(OcspNonce::to_extension);
        let request = asn1::OcspRequest {
            body: asn1::TbsRequest {
                version: Version::V1,
                requestor: None,
                requests,
                extensions: nonce.transpose()?.map(|nonce| Extensions(vec![nonce])),
            },
            signature: None,
        };
        Self::from_der(&request.to_der()?)
    }
}

impl fmt::Debug for OcspRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OcspRequest")
            .field("certificates", &self.certificates.len())
            .field("nonce", &self.nonce.is_some())
            .finish_non_exhaustive()
    }
}

/// The contents of an [`OcspRequest`] that is to be made.
#[derive(Clone, Debug)]
#[must_use]
pub struct OcspRequestBuilder<'a> {
    certificates: Vec<(&'a Certificate, &'a Certificate)>,
    hash: OcspHash,
    nonce: Option<OcspNonce>,
}

impl<'a> OcspRequestBuilder<'a> {
    /// Asks about a certificate by this issuer.
    pub fn certificate(mut self, certificate: &'a Certificate, issuer: &'a Certificate) -> Self {
        self.certificates.push((certificate, issuer));
        self
    }

    /// Sets the hash function that identifies certificates. Use another one than SHA-1, the default, only
    /// for responders that are known to support it.
    pub fn hash(mut self, hash: OcspHash) -> Self {
        self.hash = hash;
        self
    }

    /// Asks for a response that is made for this request. Responders that sign their responses in advance,
    /// as many do (RFC 5019), send those nevertheless.
    pub fn nonce(mut self, nonce: OcspNonce) -> Self {
        self.nonce = Some(nonce);
        self
    }

    /// Makes the request.
    ///
    /// # Errors
    ///
    /// [`OcspRequestError::Empty`], [`OcspRequestError::TooMany`] or
    /// [`OcspRequestError::NotTheIssuer`].
    pub fn build(self) -> Result<OcspRequest, OcspRequestError> {
        let certificates = self.certificates.iter().copied();
        let ids =
            certificates.map(|(certificate, issuer)| CertId::new(certificate, issuer, self.hash));
        OcspRequest::about(ids, self.nonce.as_ref())
    }
}
