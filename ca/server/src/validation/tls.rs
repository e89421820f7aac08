//! Handshakes with whoever is asked, whose certificate nobody has to trust: that a target has the key of the certificate that
//! it shows is checked, and what the certificate says is looked at elsewhere.

use alloc::sync::Arc;

use der::Encode;
use pq_acme::challenge::ALPN;
use pq_x509::certificate::Certificate;
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls13_signature_with_raw_key,
};
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, OtherError, SignatureScheme,
};
use tokio_rustls::TlsConnector;
use webpki::RawPublicKeyEntity;

/// What makes handshakes, for each of the two purposes.
pub(super) struct Connectors {
    pub(super) http: TlsConnector,
    pub(super) acme: TlsConnector,
}

impl core::fmt::Debug for Connectors {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Connectors")
    }
}

impl Connectors {
    /// Handshakes by what this provider has, in TLS 1.3 and, if it has that, 1.2.
    pub(super) fn new(provider: Arc<CryptoProvider>) -> Result<Self, Error> {
        let connector = |protocol: &[u8]| {
            let verifier = AnyCertificate(provider.signature_verification_algorithms);
            // `dangerous`, as the certificate is of no weight: who answers at this address is what is asked.
            let mut config = ClientConfig::builder_with_provider(provider.clone())
                .with_safe_default_protocol_versions()?
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(verifier))
                .with_no_client_auth();
            config.alpn_protocols = vec![protocol.into()];
            // Each target shows its certificate each time, and nothing of it is kept.
            config.resumption = Resumption::disabled();
            Ok::<_, Error>(TlsConnector::from(Arc::new(config)))
        };
        Ok(Self {
            http: connector(b"http/1.1")?,
            acme: connector(ALPN)?,
        })
    }
}

/// Takes every certificate whose key signs the handshake.
#[derive(Debug)]
struct AnyCertificate(WebPkiSupportedAlgorithms);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let key = key_of(certificate)?;
        let refused = |_| Error::from(CertificateError::BadSignature);
        let key = RawPublicKeyEntity::try_from(&key).map_err(refused)?;
        let mapping = self.0.mapping.iter();
        let mut algorithms = mapping
            .filter(|(scheme, _)| *scheme == signed.scheme)
            .flat_map(|(_, algorithms)| *algorithms);
        // In TLS 1.2 the name of a scheme doesn't say the curve.
        let is_valid = algorithms.any(|algorithm| {
            key.verify_signature(*algorithm, message, signed.signature())
                .is_ok()
        });
        match is_valid {
            true => Ok(HandshakeSignatureValid::assertion()),
            false => Err(CertificateError::BadSignature.into()),
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let key = key_of(certificate)?;
        verify_tls13_signature_with_raw_key(message, &key, signed, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}

/// The key of a certificate. webpki reads no certificate with a critical extension that it doesn't know, which those of
/// `tls-alpn-01` have.
fn key_of(certificate: &CertificateDer<'_>) -> Result<SubjectPublicKeyInfoDer<'static>, Error> {
    let other = |error| CertificateError::Other(OtherError(Arc::new(error)));
    let certificate = Certificate::from_der(certificate).map_err(other)?;
    let key = certificate
        .parsed()
        .tbs_certificate()
        .subject_public_key_info();
    let key = key.to_der().map_err(|_| CertificateError::BadEncoding)?;
    Ok(key.into())
}
