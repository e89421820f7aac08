//! A client that names its roots (certificate_authorities), which rustls's own verifier never does.

use alloc::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DistinguishedName, Error, RootCertStore, SupportedProtocolVersion};

/// Delegates everything about signatures to the verifier in this field.
macro_rules! signatures_by {
    ($field:ident) => {
        fn verify_tls12_signature(
            &self,
            message: &[u8],
            certificate: &::rustls::pki_types::CertificateDer<'_>,
            signature: &::rustls::DigitallySignedStruct,
        ) -> Result<::rustls::client::danger::HandshakeSignatureValid, ::rustls::Error> {
            self.$field
                .verify_tls12_signature(message, certificate, signature)
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            certificate: &::rustls::pki_types::CertificateDer<'_>,
            signature: &::rustls::DigitallySignedStruct,
        ) -> Result<::rustls::client::danger::HandshakeSignatureValid, ::rustls::Error> {
            self.$field
                .verify_tls13_signature(message, certificate, signature)
        }

        fn supported_verify_schemes(&self) -> Vec<::rustls::SignatureScheme> {
            self.$field.supported_verify_schemes()
        }
    };
}

/// A client that trusts `roots`, and names them.
pub(crate) fn client(
    provider: Arc<CryptoProvider>,
    roots: RootCertStore,
    versions: &[&'static SupportedProtocolVersion],
) -> ClientConfig {
    let names = roots.subjects();
    let verifier =
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
    let verifier = NamesRoots {
        verifier: verifier.build().unwrap(),
        names,
    };
    ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth()
}

#[derive(Debug)]
struct NamesRoots {
    verifier: Arc<WebPkiServerVerifier>,
    names: Vec<DistinguishedName>,
}

impl ServerCertVerifier for NamesRoots {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.verifier
            .verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    signatures_by!(verifier);

    fn root_hint_subjects(&self) -> Option<&[DistinguishedName]> {
        Some(&self.names)
    }
}
