//! Whole TLS 1.3 handshakes between two rustls endpoints that talk through memory.
//!
//! Every pair does the same: TLS13_AES_128_GCM_SHA256, no resumption, no tickets, no
//! client certificate; the server sends a leaf and an intermediate certificate, and the
//! client verifies both up to the root. What differs is the provider on both sides
//! and, in the classical baseline, the algorithms.

use alloc::sync::Arc;
use core::error::Error;
use core::fmt;
use core::time::Duration;

use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};
use pq_x509::pki_types::{
    CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer,
};
use pq_x509::{
    CertificateBuilder, Issuer, SignError, SignatureAlgorithm, Signer, SigningKey, SubjectKey,
};
use rustls::client::Resumption;
use rustls::crypto::CryptoProvider;
use rustls::crypto::aws_lc_rs::{default_provider, kx_group};
use rustls::server::NoServerSessionStorage;
use rustls::{
    CipherSuite, ClientConfig, ClientConnection, ConnectionCommon, NamedGroup, RootCertStore,
    ServerConfig, ServerConnection, SideData,
};
use rustls_pq::{Builder, Group, base};
use spki::{AlgorithmIdentifierOwned, ObjectIdentifier};

use crate::Passes;
use crate::measure::add_time;

/// What is timed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Side {
    /// The whole handshake, which is what one core does for a client and a server.
    Both,
    /// What the client computes.
    Client,
    /// What the server computes.
    Server,
}

impl Side {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Both, Self::Client, Self::Server];
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Both => "full",
            Self::Client => "client",
            Self::Server => "server",
        })
    }
}

/// A client and a server that share a provider.
pub struct Pair {
    /// The name of the row.
    pub name: &'static str,
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
    group: NamedGroup,
    leaf: CertificateDer<'static>,
}

impl Pair {
    /// Ours over each base that the CPU can run, rustls with aws-lc-rs, and that with
    /// classical algorithms.
    ///
    /// # Errors
    ///
    /// If a certificate can't be issued, or rustls refuses a configuration.
    pub fn all() -> Result<Vec<Self>, Box<dyn Error>> {
        let post_quantum = Identity::issue(|| {
            let key = SigningKey::generate(SignatureAlgorithm::MlDsa65)?;
            let der = key.to_pkcs8_der()?.to_vec();
            Ok((key, der))
        })?;
        let classical = Identity::issue(P256::generate)?;

        let mut pairs = Vec::new();
        if let Ok(graviola) = base::graviola() {
            pairs.push(Self::ours("rustls-pq/graviola", graviola, &post_quantum)?);
        }
        for (name, base) in [
            ("rustls-pq/aws-lc-rs", base::aws_lc_rs()),
            ("rustls-pq/ring", base::ring()),
        ] {
            pairs.push(Self::ours(name, base, &post_quantum)?);
        }
        for (name, group, identity) in [
            ("rustls", kx_group::X25519MLKEM768, &post_quantum),
            ("rustls-classical", kx_group::X25519, &classical),
        ] {
            let provider = CryptoProvider {
                kx_groups: vec![group],
                ..default_provider()
            };
            pairs.push(Self::new(name, provider, identity)?);
        }
        Ok(pairs)
    }

    fn ours(
        name: &'static str,
        base: CryptoProvider,
        identity: &Identity,
    ) -> Result<Self, Box<dyn Error>> {
        let provider = Builder::new(base).groups([Group::X25519MLKEM768]).build()?;
        Self::new(name, provider, identity)
    }

    fn new(
        name: &'static str,
        mut provider: CryptoProvider,
        identity: &Identity,
    ) -> Result<Self, Box<dyn Error>> {
        provider
            .cipher_suites
            .retain(|suite| suite.suite() == SUITE);
        let group = provider
            .kx_groups
            .first()
            .ok_or("a provider without groups")?
            .name();
        let provider = Arc::new(provider);

        let mut roots = RootCertStore::empty();
        roots.add(identity.root.clone())?;
        let mut client = ClientConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_root_certificates(roots)
            .with_no_client_auth();
        client.resumption = Resumption::disabled();

        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(identity.key.clone()));
        let mut server = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_no_client_auth()
            .with_single_cert(identity.chain.clone(), key)?;
        server.session_storage = Arc::new(NoServerSessionStorage {});
        server.send_tls13_tickets = 0;

        Ok(Self {
            name,
            client: Arc::new(client),
            server: Arc::new(server),
            group,
            leaf: identity.chain[0].clone(),
        })
    }

    /// Sees that the handshake negotiates what the row says.
    ///
    /// # Panics
    ///
    /// If it doesn't.
    pub fn check(&self) {
        let (client, server, times) = self.handshake();
        for (suite, group) in [
            (
                client.negotiated_cipher_suite(),
                client.negotiated_key_exchange_group(),
            ),
            (
                server.negotiated_cipher_suite(),
                server.negotiated_key_exchange_group(),
            ),
        ] {
            assert_eq!(
                suite.map(|suite| suite.suite()),
                Some(SUITE),
                "{}",
                self.name
            );
            assert_eq!(
                group.map(|group| group.name()),
                Some(self.group),
                "{}",
                self.name
            );
        }
        assert_eq!(
            client.peer_certificates().map(|chain| &chain[0]),
            Some(&self.leaf),
            "{}",
            self.name
        );
        assert!(times.client > Duration::ZERO && times.server > Duration::ZERO);
    }

    /// Handshakes, of which one side's or all time counts.
    pub fn passes(&self, side: Side) -> Passes<'_> {
        match side {
            Side::Both => Passes::new(1, || drop(self.handshake())),
            Side::Client => Passes::that_report(|| self.handshake().2.client),
            Side::Server => Passes::that_report(|| self.handshake().2.server),
        }
    }

    fn handshake(&self) -> (ClientConnection, ServerConnection, Times) {
        let mut times = Times::default();
        let mut flight = Vec::new();
        let mut client = add_time(&mut times.client, || {
            let name = ServerName::try_from(NAME).expect("a valid name");
            ClientConnection::new(self.client.clone(), name).expect("a client that can start")
        });
        let mut server = add_time(&mut times.server, || {
            ServerConnection::new(self.server.clone()).expect("a server that can start")
        });

        while client.is_handshaking() || server.is_handshaking() {
            add_time(&mut times.client, || send(&mut client, &mut flight));
            add_time(&mut times.server, || receive(&mut server, &mut flight));
            add_time(&mut times.server, || send(&mut server, &mut flight));
            add_time(&mut times.client, || receive(&mut client, &mut flight));
        }
        (client, server, times)
    }
}

const SUITE: CipherSuite = CipherSuite::TLS13_AES_128_GCM_SHA256;
const NAME: &str = "localhost";

#[derive(Default)]
struct Times {
    client: Duration,
    server: Duration,
}

fn send<D: SideData>(connection: &mut ConnectionCommon<D>, flight: &mut Vec<u8>) {
    while connection.wants_write() {
        connection
            .write_tls(flight)
            .expect("memory takes every byte");
    }
}

fn receive<D: SideData>(connection: &mut ConnectionCommon<D>, flight: &mut Vec<u8>) {
    let mut unread = &flight[..];
    while !unread.is_empty() {
        connection
            .read_tls(&mut unread)
            .expect("there is room after processing");
        connection
            .process_new_packets()
            .expect("both ends are honest");
    }
    flight.clear();
}

/// A root, and what a server needs: the chain below it and the leaf's key in PKCS#8.
struct Identity {
    root: CertificateDer<'static>,
    chain: Vec<CertificateDer<'static>>,
    key: Vec<u8>,
}

impl Identity {
    /// Root, intermediate and leaf, with keys of one algorithm.
    fn issue<S: Signer>(
        mut generate: impl FnMut() -> Result<(S, Vec<u8>), Box<dyn Error>>,
    ) -> Result<Self, Box<dyn Error>> {
        let root = Issuer::self_signed(CertificateBuilder::ca("Bench Root"), generate()?.0)?;
        let intermediate = root.issue_ca(
            CertificateBuilder::ca("Bench Intermediate").path_len(0),
            generate()?.0,
        )?;
        let (leaf_key, key) = generate()?;
        let leaf = intermediate.issue(CertificateBuilder::server().dns_name(NAME), &leaf_key)?;
        Ok(Self {
            root: root.certificate().der().clone(),
            chain: vec![leaf.into_der(), intermediate.certificate().der().clone()],
            key,
        })
    }
}

/// An ECDSA key for the baseline's certificates.
struct P256 {
    key: EcdsaKeyPair,
    spki: Vec<u8>,
}

impl P256 {
    /// A key, and its PKCS#8.
    fn generate() -> Result<(Self, Vec<u8>), Box<dyn Error>> {
        let algorithm = &ECDSA_P256_SHA256_ASN1_SIGNING;
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &SystemRandom::new())?;
        let key = EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref())?;
        let spki: PublicKeyX509Der<'_> = key.public_key().as_der()?;
        let spki = spki.as_ref().to_vec();
        Ok((Self { key, spki }, pkcs8.as_ref().to_vec()))
    }
}

impl SubjectKey for P256 {
    fn spki(&self) -> SubjectPublicKeyInfoDer<'_> {
        self.spki.as_slice().into()
    }
}

impl Signer for P256 {
    fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        AlgorithmIdentifierOwned {
            // ecdsa-with-SHA256 (RFC 5758, section 3.2)
            oid: ObjectIdentifier::new_unwrap("1.2.840.10045.4.3.2"),
            parameters: None,
        }
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        self.key
            .sign(&SystemRandom::new(), message)
            .map(|signature| signature.as_ref().to_vec())
            .map_err(SignError::new)
    }
}
