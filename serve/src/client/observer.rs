//! A verifier around webpki's that remembers the server's certificates and its signature scheme, which rustls doesn't
//! tell.

use std::sync::{Arc, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, DistinguishedName, Error, SignatureScheme};

/// Verifies as webpki does, and remembers what it saw: rustls doesn't say which scheme
/// signed a handshake, nor which certificates it refused.
///
/// One observer is for one connection.
#[derive(Debug)]
pub(super) struct Observer {
    webpki: Arc<dyn ServerCertVerifier>,
    chain: OnceLock<Vec<CertificateDer<'static>>>,
    scheme: OnceLock<SignatureScheme>,
}

impl Observer {
    pub(super) fn new(webpki: Arc<dyn ServerCertVerifier>) -> Self {
        Self {
            webpki,
            chain: OnceLock::new(),
            scheme: OnceLock::new(),
        }
    }

    /// The certificates that the server sent, leaf first, whether or not they are good.
    pub(super) fn chain(&self) -> &[CertificateDer<'static>] {
        self.chain.get().map_or(&[], Vec::as_slice)
    }

    /// The scheme of the server's CertificateVerify, whether or not it is valid.
    pub(super) fn scheme(&self) -> Option<SignatureScheme> {
        self.scheme.get().copied()
    }
}

impl ServerCertVerifier for Observer {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.chain.get_or_init(|| {
            [end_entity]
                .into_iter()
                .chain(intermediates)
                .map(|certificate| certificate.clone().into_owned())
                .collect()
        });
        self.webpki
            .verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.scheme.get_or_init(|| dss.scheme);
        self.webpki.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.scheme.get_or_init(|| dss.scheme);
        self.webpki.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.webpki.supported_verify_schemes()
    }

    fn root_hint_subjects(&self) -> Option<&[DistinguishedName]> {
        self.webpki.root_hint_subjects()
    }
}
