//! The certificates that clients show in TLS. Whoever has one proves to have its key; what it is good for, the ledger says.

use alloc::sync::Arc;

use pq_x509::pki_types::{CertificateDer, UnixTime};
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{DigitallySignedStruct, DistinguishedName, Error, SignatureScheme};
use rustls_pq::verify::EnforceKeyUsage;

/// Asks clients for a certificate, and lets in those that have none. **It does not say whose certificate it is**: any is taken
/// whose key the client has and may use, and [`EstDoor`](super::EstDoor) looks it up in the CA's ledger. So one that was revoked
/// or has expired gets an answer in words, and one by an earlier key of the CA is as good as any.
pub fn client_certificates(provider: Arc<CryptoProvider>) -> Arc<dyn ClientCertVerifier> {
    Arc::new(EnforceKeyUsage::new(Arc::new(AnyClient(provider))))
}

#[derive(Debug)]
struct AnyClient(Arc<CryptoProvider>);

impl ClientCertVerifier for AnyClient {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        // The CA's keys may have other names tomorrow.
        &[]
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let algorithms = &self.0.signature_verification_algorithms;
        algorithms.supported_schemes()
    }
}
