//! A verifier around another one, for clients: it checks the OCSP response that a server staples, which rustls's own
//! verifier ignores.

use alloc::sync::Arc;
use core::fmt;

use pq_x509::certificate::Certificate;
use pq_x509::ocsp::{
    CertStatus, OcspError, OcspResponse, OcspResponseError, OcspVerifier, SingleResponse,
};
use pq_x509::validation::{ChainValidator, Purpose, ValidationError};
use rustls::client::danger::{ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DistinguishedName, Error};
use tracing::{debug, info};

use crate::ocsp::must_staple;

/// A verifier of server certificates that also checks the OCSP response that a server staples
/// (RFC 6066, section 8; RFC 9846, section 4.4.2.1).
///
/// rustls asks all servers for a response, but its own verifier ignores it. This verifier wraps another
/// one and leaves everything else to it. It refuses what that one has accepted
///
/// * if the response says that the certificate was revoked;
/// * if there is a response that can't be used: it is malformed, about another certificate, expired, or
///   signed neither by the issuer nor by a responder that the issuer certified for this (RFC 6960,
///   section 3.2). RFC 6066 tells clients to refuse such responses;
/// * if there is no response, but one is required, by [`required`](Self::required) or by the
///   certificate itself (the TLS feature `status_request`, RFC 7633, *must-staple*).
///
/// Only the server's own certificate is checked: rustls passes on no responses for CA certificates.
/// Handshakes that resume a session send no certificate, and nothing is checked in them.
///
/// ```
/// use rustls::client::WebPkiServerVerifier;
/// use rustls::pki_types::CertificateDer;
/// use rustls::{ClientConfig, RootCertStore};
/// use rustls_pq::Builder;
/// use rustls_pq::pq_x509::certificate::Certificate;
/// use rustls_pq::pq_x509::validation::ChainValidator;
/// use rustls_pq::verify::CheckOcsp;
/// # use std::sync::Arc;
///
/// fn client(root: &Certificate) -> Result<ClientConfig, Box<dyn std::error::Error>> {
///     let mut roots = RootCertStore::empty();
///     roots.add(root.der().clone())?;
///     let provider = Arc::new(Builder::with_default_base()?.roots(&roots).build()?);
///     let algorithms = provider.signature_verification_algorithms.all;
///     let webpki = WebPkiServerVerifier::builder_with_provider(roots.into(), provider.clone());
///     let validator = ChainValidator::new([root.clone()])?.with_algorithms(algorithms);
///     let verifier = CheckOcsp::new(webpki.build()?, validator).reporting_to(|outcome| match outcome {
///         Ok(Some(response)) => println!("OCSP: {:?}", response.status()),
///         Ok(None) => println!("OCSP: none"),
///         Err(refusal) => println!("{refusal}"),
///     });
///     Ok(ClientConfig::builder_with_provider(provider)
///         .with_safe_default_protocol_versions()?
///         // rustls calls every verifier but its own dangerous.
///         .dangerous()
///         .with_custom_certificate_verifier(Arc::new(verifier))
///         .with_no_client_auth())
/// }
/// # use rustls_pq::pq_x509::issuing::{CertificateBuilder, Issuer};
/// # use rustls_pq::pq_x509::keys::{SignatureAlgorithm, SigningKey};
/// # let key = SigningKey::generate(SignatureAlgorithm::MlDsa44)?;
/// # let root = Issuer::self_signed(CertificateBuilder::ca("Root"), key)?;
/// # client(root.certificate())?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`CertificateError::Revoked`] with the alert `certificate_revoked`, and
/// [`CertificateError::InvalidOcspResponse`] with the alert `bad_certificate_status_response`. These
/// can't say more; an [`OcspRefusal`] does, which goes to [`reporting_to`](Self::reporting_to) and to
/// the log.
///
/// # Cost
///
/// If there is a response, the chain's signatures are verified a second time, because rustls's verifier
/// doesn't tell which issuer it found, and only the certificate's own issuer may be believed. The
/// response's own signatures are verified twice, so that nothing else can stand in for the response.
pub struct CheckOcsp<V: ?Sized> {
    validator: ChainValidator,
    is_required: bool,
    report: Option<Box<Report>>,
    inner: Arc<V>,
}

/// Takes the outcome of a check: what the response says, or `None` if there is no response and none is
/// required.
type Report = dyn Fn(Result<Option<&SingleResponse>, &OcspRefusal>) + Send + Sync;

impl<V: ?Sized> CheckOcsp<V> {
    /// Checks the responses for what `inner` accepts: a
    /// [`WebPkiServerVerifier`](rustls::client::WebPkiServerVerifier), an
    /// [`EnforceKeyUsage`](super::EnforceKeyUsage), or any other verifier.
    ///
    /// `validator` finds the issuer of the certificate. It should have the roots of `inner`, and the
    /// algorithms of the provider beside its own. Give revocation lists to `inner`: even with a good list
    /// in `validator`, the response has to be good. All algorithms of `validator` count for signatures on
    /// responses, including those of ML-DSA and SLH-DSA that a [`Profile`](crate::Profile) leaves out.
    pub fn new(inner: Arc<V>, validator: ChainValidator) -> Self {
        Self {
            validator,
            is_required: false,
            report: None,
            inner,
        }
    }

    /// Refuses servers that staple no response, even if their certificate doesn't ask for one.
    pub fn required(self) -> Self {
        Self {
            is_required: true,
            ..self
        }
    }

    /// Calls `report` with the outcome of each check.
    pub fn reporting_to(
        self,
        report: impl Fn(Result<Option<&SingleResponse>, &OcspRefusal>) + Send + Sync + 'static,
    ) -> Self {
        Self {
            report: Some(Box::new(report)),
            ..self
        }
    }

    fn check(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        response: &[u8],
        now: UnixTime,
    ) -> Result<Option<SingleResponse>, OcspRefusal> {
        if response.is_empty() {
            let leaf = Certificate::from_der(end_entity).map_err(ValidationError::from)?;
            let must_staple = must_staple(&leaf);
            return match self.is_required || must_staple {
                true => Err(OcspRefusal::Missing { must_staple }),
                false => Ok(None),
            };
        }
        let response = OcspResponse::from_der(response)?;
        let chain: Vec<_> = [end_entity].into_iter().chain(intermediates).collect();
        let validator = self.validator.clone();
        let valid = validator.with_ocsp_responses([response.clone()]).validate(
            &chain,
            Purpose::ServerAuth,
            None,
            now,
        )?;
        let [leaf, issuer, ..] = valid.certificates() else {
            return Err(OcspRefusal::Chain(ValidationError::EmptyChain));
        };
        let of_no_use = |error| {
            OcspRefusal::Chain(ValidationError::OcspResponse {
                subject: leaf.describe_subject(),
                error,
            })
        };
        // The validator ignores responses about other certificates, and accepts a good list instead.
        let verifier = OcspVerifier::new(issuer, now).with_algorithms(self.validator.algorithms());
        let verified = verifier.verify(&response, leaf).map_err(of_no_use)?;
        let answer = verified.answer();
        match answer.status() {
            CertStatus::Good => Ok(Some(answer.clone())),
            _ => Err(of_no_use(OcspError::UnknownCertificate)),
        }
    }
}

impl<V: ServerCertVerifier + ?Sized> ServerCertVerifier for CheckOcsp<V> {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self.inner.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        )?;
        // With raw public keys (RFC 7250) there are no certificates.
        if self.inner.requires_raw_public_keys() {
            return Ok(verified);
        }
        let outcome = self.check(end_entity, intermediates, ocsp_response, now);
        if let Some(report) = &self.report {
            report(outcome.as_ref().map(Option::as_ref));
        }
        match outcome {
            Ok(Some(_)) => debug!("the server's certificate is good, by its OCSP response"),
            Ok(None) => debug!("the server has sent no OCSP response"),
            Err(refusal) => {
                info!(
                    server = %server_name.to_str(),
                    %refusal,
                    "the status of the server's certificate isn't accepted"
                );
                return Err(CertificateError::from(refusal).into());
            }
        }
        Ok(verified)
    }

    fn root_hint_subjects(&self) -> Option<&[DistinguishedName]> {
        self.inner.root_hint_subjects()
    }

    delegate_to_inner!();
}

impl<V: fmt::Debug + ?Sized> fmt::Debug for CheckOcsp<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckOcsp")
            .field("inner", &&self.inner)
            .field("is_required", &self.is_required)
            .finish_non_exhaustive()
    }
}

/// Why [`CheckOcsp`] refused a server.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OcspRefusal {
    /// There is no response.
    #[error(
        "the server has sent no OCSP response with its certificate, {}; have the server staple one",
        match .must_staple {
            true => "which asks for one (must-staple)",
            false => "and one is required here",
        }
    )]
    Missing {
        /// Whether the certificate itself asks for one.
        must_staple: bool,
    },
    /// The response can't be read, or has no answer in it.
    #[error("the OCSP response that the server has sent can't be used: {0}")]
    Response(#[from] OcspResponseError),
    /// The certificate was revoked, the response can't be used for it, or there is no path to the
    /// issuer of the certificate.
    #[error(transparent)]
    Chain(#[from] ValidationError),
}

impl From<OcspRefusal> for CertificateError {
    fn from(refusal: OcspRefusal) -> Self {
        match refusal {
            OcspRefusal::Chain(ValidationError::Revoked { .. }) => Self::Revoked,
            OcspRefusal::Chain(ValidationError::Certificate(_)) => Self::BadEncoding,
            _ => Self::InvalidOcspResponse,
        }
    }
}
