//! Ed25519 in TLS 1.2 and 1.3. graviola's own TLS 1.2 cipher suites don't support it.

use alloc::sync::Arc;

use pq_x509::issuing::CertificateBuilder;
use pq_x509::keys::SubjectKey;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer, SubjectPublicKeyInfoDer};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, ProtocolVersion, ServerConfig, SignatureScheme};
use rustls_pq::identity::{Identities, IdentitySet};

use super::{ours, rustls_own};
use crate::peers::{Ecdsa, Identity, KeyPair, any_base, connect, roots, server_config};

/// Our provider over each base on either side, with rustls's own providers and with each other.
#[test]
fn each_with_every_other() {
    let root = Ecdsa::root();
    let leaf = CertificateBuilder::server().dns_name("localhost");
    let identity = Identity::issued_by(&root, leaf, &Ed25519::new());
    let store = || roots([root.certificate().der().clone()]);
    let all = || ours().into_iter().chain(rustls_own());
    for (client_name, client) in all() {
        for (server_name, server) in all() {
            for version in [&TLS12, &TLS13] {
                println!("{client_name} at {server_name}, {:?}", version.version);
                let client = ClientConfig::builder_with_provider(client.clone().into())
                    .with_protocol_versions(&[version])
                    .unwrap()
                    .with_root_certificates(store())
                    .with_no_client_auth();
                let server = server_config(server.clone(), &identity);
                let outcome = connect(&client.into(), &server.into());
                assert_eq!(outcome.client.result, Ok(()));
                assert_eq!(outcome.server.result, Ok(()));
                let negotiated = outcome.client.negotiated.unwrap();
                assert_eq!(negotiated.version, version.version);
            }
        }
    }
}

/// [`Identities`] send it to TLS 1.2 clients like ECDSA.
#[test]
fn identities_show_it_in_tls12() {
    let root = Ecdsa::root();
    let leaf = CertificateBuilder::server().dns_name("localhost");
    let identity = Identity::issued_by(&root, leaf, &Ed25519::new());
    for (name, provider) in ours() {
        println!("{name}");
        let Identity { chain, key } = identity.clone();
        let checked = rustls_pq::identity::Identity::new(chain, key, &provider).unwrap();
        let identities = Identities::new(IdentitySet::new().with_default(checked));
        let server = ServerConfig::builder_with_provider(provider.clone().into())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(identities));
        let client = ClientConfig::builder_with_provider(provider.into())
            .with_protocol_versions(&[&TLS12])
            .unwrap()
            .with_root_certificates(roots([root.certificate().der().clone()]))
            .with_no_client_auth();
        let outcome = connect(&client.into(), &server.into());
        assert_eq!(outcome.client.result, Ok(()));
        let negotiated = outcome.client.negotiated.unwrap();
        assert_eq!(negotiated.version, ProtocolVersion::TLSv1_2);
    }
}

struct Ed25519 {
    pkcs8: PrivatePkcs8KeyDer<'static>,
    spki: SubjectPublicKeyInfoDer<'static>,
}

impl Ed25519 {
    fn new() -> Self {
        // RFC 8410, section 7: version 0, the algorithm, and a seed.
        let mut pkcs8 = vec![
            0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22,
            0x04, 0x20,
        ];
        pkcs8.extend([7; 32]);
        let pkcs8 = PrivatePkcs8KeyDer::from(pkcs8);
        let key = any_base()
            .key_provider
            .load_private_key(pkcs8.clone_key().into())
            .unwrap();
        assert!(key.choose_scheme(&[SignatureScheme::ED25519]).is_some());
        Self {
            pkcs8,
            spki: key.public_key().unwrap().into_owned(),
        }
    }
}

impl SubjectKey for Ed25519 {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.spki.as_ref().into()
    }
}

impl KeyPair for Ed25519 {
    fn private_key(&self) -> PrivateKeyDer<'static> {
        self.pkcs8.clone_key().into()
    }
}
