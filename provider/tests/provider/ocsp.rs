//! OCSP responses that a server shows along with its certificate.

use alloc::sync::Arc;
use std::sync::Mutex;

use pq_x509::CertificateBuilder;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, Error, ServerConfig, version};
use rustls_pq::Builder;
use rustls_pq::identity::{Identities, IdentityError, IdentitySet};

use crate::peers::{Ecdsa, Identity, any_base, connect, roots};

/// The client's verifier is given the bytes, in either version of TLS.
#[test]
fn verifiers_are_given_it() {
    let root = Ecdsa::root();
    let leaf = CertificateBuilder::server().dns_name("localhost");
    let identity = Identity::issued_by(&root, leaf, &Ecdsa::generate());
    let response = vec![0x30, 0x03, 0x0a, 0x01, 0x06];
    let plain = identity.checked();
    let stapled = identity
        .checked()
        .with_ocsp_response(vec![0; 99])
        .unwrap()
        // The last one counts.
        .with_ocsp_response(response.clone())
        .unwrap();
    assert_eq!(stapled.size(), plain.size() + response.len());

    let provider = Arc::new(Builder::new(any_base()).build().unwrap());
    for (identity, expected) in [(plain, vec![]), (stapled, response)] {
        let identities = Identities::new(IdentitySet::new().with_default(identity));
        let server = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(identities));
        let server = Arc::new(server);
        for version in [&version::TLS12, &version::TLS13] {
            let roots = roots([root.certificate().der().clone()]);
            let webpki =
                WebPkiServerVerifier::builder_with_provider(roots.into(), provider.clone())
                    .build()
                    .unwrap();
            let verifier = Arc::new(Recording {
                webpki,
                ocsp_response: Mutex::default(),
            });
            let client = ClientConfig::builder_with_provider(provider.clone())
                .with_protocol_versions(&[version])
                .unwrap()
                .dangerous()
                .with_custom_certificate_verifier(verifier.clone())
                .with_no_client_auth();
            let outcome = connect(&client.into(), &server);
            assert_eq!(outcome.client.result, Ok(()));
            let seen = verifier.ocsp_response.lock().unwrap().take();
            assert_eq!(seen.as_ref(), Some(&expected), "{:?}", version.version);
        }
    }
}

/// An empty response is none: in a handshake it would be a malformed message.
#[test]
fn empty_ones() {
    let root = Ecdsa::root();
    let leaf = CertificateBuilder::server().dns_name("localhost");
    let identity = Identity::issued_by(&root, leaf, &Ecdsa::generate());
    let plain = identity.checked();
    let size = plain.size();
    let empty = plain.with_ocsp_response(vec![]).unwrap();
    let emptied = identity.checked().with_ocsp_response(vec![0; 99]).unwrap();
    let emptied = emptied.with_ocsp_response(vec![]).unwrap();
    for identity in [empty, emptied] {
        assert_eq!(identity.certified_key().ocsp, None);
        assert_eq!(identity.size(), size);
        let identities = Identities::new(IdentitySet::new().with_default(identity));
        let provider = Arc::new(Builder::new(any_base()).build().unwrap());
        let server = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(identities));
        let server = Arc::new(server);
        for version in [&version::TLS12, &version::TLS13] {
            let client = ClientConfig::builder_with_provider(provider.clone())
                .with_protocol_versions(&[version])
                .unwrap()
                .with_root_certificates(roots([root.certificate().der().clone()]))
                .with_no_client_auth();
            let outcome = connect(&client.into(), &server);
            assert_eq!(outcome.client.result, Ok(()), "{:?}", version.version);
        }
    }
}

#[test]
fn too_large_for_a_handshake() {
    let root = Ecdsa::root();
    let leaf = CertificateBuilder::server().dns_name("localhost");
    let identity = Identity::issued_by(&root, leaf, &Ecdsa::generate()).checked();
    // The certificate with five bytes around it, the response with eight, and the signature.
    let room = 0xffff - 4095 - identity.size() - 5 - 8 - 72;
    let error = identity.with_ocsp_response(vec![0; room + 1]).unwrap_err();
    assert!(matches!(error, IdentityError::TooLarge { .. }), "{error}");
    let leaf = CertificateBuilder::server().dns_name("localhost");
    let identity = Identity::issued_by(&root, leaf, &Ecdsa::generate()).checked();
    let room = 0xffff - 4095 - identity.size() - 5 - 8 - 72;
    identity.with_ocsp_response(vec![0; room]).unwrap();
}

/// Remembers what webpki is given.
#[derive(Debug)]
struct Recording {
    webpki: Arc<WebPkiServerVerifier>,
    ocsp_response: Mutex<Option<Vec<u8>>>,
}

impl ServerCertVerifier for Recording {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        *self.ocsp_response.lock().unwrap() = Some(ocsp_response.to_vec());
        self.webpki
            .verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    signatures_by!(webpki);
}
