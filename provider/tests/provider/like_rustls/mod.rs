//! Compares the provider over each base with rustls's own providers: the same algorithms, and the same
//! errors and alerts for the same bad input, or a reason why not.

mod ed25519;
mod liars;
mod lists;
mod tampered;

use alloc::sync::Arc;

use handshakes::Direction;
use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignError, Signer, SubjectKey};
use pq_x509::x509_cert::der::Tag;
use pq_x509::x509_cert::der::asn1::Any;
use pq_x509::x509_cert::spki::{AlgorithmIdentifierOwned, ObjectIdentifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, SubjectPublicKeyInfoDer};
use rustls::{
    AlertDescription, CipherSuite, ClientConfig, ClientConnection, NamedGroup, RootCertStore,
    ServerConfig, ServerConnection, SignatureScheme, SupportedProtocolVersion,
};
use rustls_pq::Builder;

use crate::peers::{Ecdsa, Identity, KeyPair, any_base, bases, roots};

/// The providers of rustls that are compiled in, by name.
fn rustls_own() -> Vec<(&'static str, CryptoProvider)> {
    vec![
        #[cfg(feature = "aws-lc-rs")]
        ("aws-lc-rs", rustls::crypto::aws_lc_rs::default_provider()),
        ("ring", rustls::crypto::ring::default_provider()),
    ]
}

/// Our providers, by the name of the base.
fn ours() -> Vec<(&'static str, CryptoProvider)> {
    let build = |base| Builder::new(base).build().unwrap();
    let bases = bases().into_iter();
    bases.map(|(name, base)| (name, build(base))).collect()
}

/// Asserts that the case ends the same way with every provider of rustls and with ours over every base,
/// and that the other side gets `alert`.
fn assert_same_end(
    case: &str,
    alert: AlertDescription,
    observe: impl Fn(CryptoProvider) -> Verdict,
) {
    let mut providers = rustls_own().into_iter().chain(ours());
    let (name, provider) = providers.next().unwrap();
    let expected = observe(provider);
    println!("{case}: {name}: {expected:?}");
    assert_eq!(
        expected.told,
        format!("Some(AlertReceived({alert:?}))"),
        "{case}"
    );
    for (name, provider) in providers {
        assert_eq!(observe(provider), expected, "{case}: {name}");
    }
}

/// How a handshake ended.
#[derive(Debug, Eq, PartialEq)]
struct Verdict {
    /// The error of the side under test.
    error: String,
    /// What the other side was told, if it could read it.
    told: String,
}

impl Verdict {
    /// Carries bytes both ways. Bytes for the side under test go through `change` first.
    fn of(
        tested: Side,
        client: ClientConfig,
        server: ServerConfig,
        mut change: impl FnMut(&mut Vec<u8>),
    ) -> Self {
        let name = ServerName::try_from("localhost").unwrap();
        let client = ClientConnection::new(client.into(), name).unwrap();
        let server = ServerConnection::new(server.into()).unwrap();
        let outcome = handshakes::connect_through(client, server, |direction, mut flight| {
            if direction == tested.receives() {
                change(&mut flight);
            }
            flight
        });
        let (tested, other) = tested.first((outcome.client, outcome.server));
        Self {
            error: format!("{:?}", tested.error),
            told: format!("{:?}", other.error),
        }
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Side {
    Client,
    Server,
}

impl Side {
    fn receives(self) -> Direction {
        match self {
            Self::Client => Direction::ToClient,
            Self::Server => Direction::ToServer,
        }
    }

    /// Swaps a pair of client and server so that this side comes first, or back.
    fn first<T>(self, (client, server): (T, T)) -> (T, T) {
        match self {
            Self::Client => (client, server),
            Self::Server => (server, client),
        }
    }
}

/// The provider with only this suite and this group.
fn narrowed(mut provider: CryptoProvider, suite: CipherSuite, group: NamedGroup) -> CryptoProvider {
    provider.cipher_suites.retain(|it| it.suite() == suite);
    provider.kx_groups.retain(|it| it.name() == group);
    provider
}

/// The algorithm of the leaf's key and of its root's.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Key {
    Ecdsa,
    Rsa,
}

struct Pki {
    roots: Vec<CertificateDer<'static>>,
    ecdsa: Identity,
    rsa: Identity,
}

impl Pki {
    fn new() -> Self {
        let ecdsa = Ecdsa::root();
        let rsa = Issuer::self_signed(CertificateBuilder::ca("RSA Root"), Rsa::new()).unwrap();
        // For either role.
        let leaf = || {
            let leaf = CertificateBuilder::server().client_auth();
            leaf.dns_name("localhost")
        };
        Self {
            ecdsa: Identity::issued_by(&ecdsa, leaf(), &Ecdsa::generate()),
            rsa: Identity::issued_by(&rsa, leaf(), &Rsa::new()),
            roots: vec![
                ecdsa.certificate().der().clone(),
                rsa.certificate().der().clone(),
            ],
        }
    }

    fn identity(&self, key: Key) -> Identity {
        match key {
            Key::Ecdsa => self.ecdsa.clone(),
            Key::Rsa => self.rsa.clone(),
        }
    }

    fn roots(&self) -> Arc<RootCertStore> {
        roots(self.roots.clone()).into()
    }

    fn client(
        &self,
        provider: CryptoProvider,
        version: &'static SupportedProtocolVersion,
    ) -> ClientConfig {
        ClientConfig::builder_with_provider(provider.into())
            .with_protocol_versions(&[version])
            .unwrap()
            .with_root_certificates(self.roots())
            .with_no_client_auth()
    }

    fn server(
        &self,
        provider: CryptoProvider,
        version: &'static SupportedProtocolVersion,
        key: Key,
    ) -> ServerConfig {
        let Identity { chain, key } = self.identity(key);
        ServerConfig::builder_with_provider(provider.into())
            .with_protocol_versions(&[version])
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .unwrap()
    }
}

/// An RSA key that issues certificates, too.
struct Rsa {
    key: Arc<dyn rustls::sign::SigningKey>,
}

impl Rsa {
    fn new() -> Self {
        let key = any_base().key_provider.load_private_key(Self::der());
        Self { key: key.unwrap() }
    }

    fn der() -> PrivateKeyDer<'static> {
        PrivateKeyDer::from_pem_slice(include_bytes!("../rsa-2048.pem")).unwrap()
    }
}

impl KeyPair for Rsa {
    fn private_key(&self) -> PrivateKeyDer<'static> {
        Self::der()
    }
}

impl SubjectKey for Rsa {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.key.public_key().unwrap()
    }
}

impl Signer for Rsa {
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        AlgorithmIdentifierOwned {
            // sha256WithRSAEncryption
            oid: ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.11"),
            parameters: Some(Any::new(Tag::Null, Vec::new()).unwrap()),
        }
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        self.key
            .choose_scheme(&[SignatureScheme::RSA_PKCS1_SHA256])
            .unwrap()
            .sign(message)
            .map_err(SignError::new)
    }
}
