//! Whole TLS 1.3 handshakes between two rustls endpoints that talk through memory.
//!
//! Every handshake is TLS13_AES_128_GCM_SHA256, without resumption, tickets or client
//! certificate; the server sends one certificate, and the client verifies it up to a root
//! of the same algorithm. What differs is the key exchange group, the signature
//! algorithm, and the provider, which is the same on both sides.

pub(crate) mod identity;

use alloc::sync::Arc;
use core::error::Error;
use core::fmt;
use core::time::Duration;

use pq_x509::keys::SignatureAlgorithm;
use pq_x509::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::client::danger::ServerCertVerifier;
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::server::NoServerSessionStorage;
use rustls::{
    CipherSuite, ClientConfig, ClientConnection, ConnectionCommon, NamedGroup, RootCertStore,
    ServerConfig, ServerConnection, SideData, SignatureScheme,
};
use rustls_pq::{Builder, Group, base};

use self::identity::Identity;
use crate::timing::sampler::add_time;
use crate::timing::{Passes, Row};

/// The algorithms that two ends use. Each combination is a table of the providers that have them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Combination {
    /// The key exchange.
    pub group: Group,
    /// The algorithm of all keys and signatures in the chain, and of CertificateVerify.
    pub authentication: Authentication,
}

impl Combination {
    /// Every group with every algorithm.
    pub fn all() -> impl Iterator<Item = Self> {
        GROUPS.into_iter().flat_map(|group| {
            Authentication::ALL
                .into_iter()
                .map(move |authentication| Self {
                    group,
                    authentication,
                })
        })
    }
}

/// The name of the table.
impl fmt::Display for Combination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "handshake/{}/{}", self.group, self.authentication)
    }
}

/// Our groups, and the classical one that is used most.
const GROUPS: [Group; 7] = [
    Group::X25519,
    Group::X25519MLKEM768,
    Group::SECP256R1MLKEM768,
    Group::SECP384R1MLKEM1024,
    Group::MLKEM512,
    Group::MLKEM768,
    Group::MLKEM1024,
];

/// The algorithm of certificates.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Authentication {
    /// ECDSA on P-256 with SHA-256.
    EcdsaP256,
    /// ML-DSA-44.
    MlDsa44,
    /// ML-DSA-65.
    MlDsa65,
    /// ML-DSA-87.
    MlDsa87,
}

impl Authentication {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::EcdsaP256, Self::MlDsa44, Self::MlDsa65, Self::MlDsa87];

    /// A root, and a leaf below it.
    pub(crate) fn identity(self) -> Result<Identity, Box<dyn Error>> {
        match self {
            Self::EcdsaP256 => Identity::p256(NAME),
            Self::MlDsa44 => Identity::ml_dsa(NAME, SignatureAlgorithm::MlDsa44),
            Self::MlDsa65 => Identity::ml_dsa(NAME, SignatureAlgorithm::MlDsa65),
            Self::MlDsa87 => Identity::ml_dsa(NAME, SignatureAlgorithm::MlDsa87),
        }
    }

    fn scheme(self) -> SignatureScheme {
        match self {
            Self::EcdsaP256 => SignatureScheme::ECDSA_NISTP256_SHA256,
            Self::MlDsa44 => SignatureScheme::ML_DSA_44,
            Self::MlDsa65 => SignatureScheme::ML_DSA_65,
            Self::MlDsa87 => SignatureScheme::ML_DSA_87,
        }
    }
}

impl fmt::Display for Authentication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::EcdsaP256 => "ECDSA-P-256",
            Self::MlDsa44 => "ML-DSA-44",
            Self::MlDsa65 => "ML-DSA-65",
            Self::MlDsa87 => "ML-DSA-87",
        })
    }
}

/// A client and a server that share a provider.
pub struct Pair {
    combination: Combination,
    provider: &'static str,
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
    leaf: CertificateDer<'static>,
}

impl Pair {
    /// The pairs for the `wanted` combinations that the providers have: ours over each base that the
    /// CPU can run, and rustls's own.
    ///
    /// # Errors
    ///
    /// If a certificate can't be issued, or rustls refuses a configuration.
    pub fn all(wanted: impl Fn(&Combination) -> bool) -> Result<Vec<Self>, Box<dyn Error>> {
        let providers = providers()?;
        let mut pairs = Vec::new();
        for authentication in Authentication::ALL {
            let identity = authentication.identity()?;
            let combinations = Combination::all()
                .filter(|combination| combination.authentication == authentication)
                .filter(&wanted);
            for combination in combinations {
                for (name, provider) in &providers {
                    if let Some(provider) = restrict(provider, combination) {
                        pairs.push(Self::new(name, provider, combination, &identity)?);
                    }
                }
            }
        }
        Ok(pairs)
    }

    fn new(
        name: &'static str,
        provider: CryptoProvider,
        combination: Combination,
        identity: &Identity,
    ) -> Result<Self, Box<dyn Error>> {
        Self::with_verifier(name, provider, combination, identity, |verifier| verifier)
    }

    /// A pair whose client has webpki's verifier, changed by `change`.
    pub(crate) fn with_verifier(
        name: &'static str,
        provider: CryptoProvider,
        combination: Combination,
        identity: &Identity,
        change: impl FnOnce(Arc<WebPkiServerVerifier>) -> Arc<dyn ServerCertVerifier>,
    ) -> Result<Self, Box<dyn Error>> {
        let provider = Arc::new(provider);
        let client = client_config_with(provider.clone(), identity, change)?;
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(identity.key.clone()));
        let mut server = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_no_client_auth()
            .with_single_cert(vec![identity.leaf.clone()], key)?;
        server.session_storage = Arc::new(NoServerSessionStorage {});
        server.send_tls13_tickets = 0;

        Ok(Self {
            combination,
            provider: name,
            client,
            server: Arc::new(server),
            leaf: identity.leaf.clone(),
        })
    }

    /// Checks that the handshake negotiates what the row says.
    ///
    /// # Panics
    ///
    /// If it doesn't.
    pub fn check(&self) {
        let what = format!("{} with {}", self.combination, self.provider);
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
            assert_eq!(suite.map(|suite| suite.suite()), Some(SUITE), "{what}");
            assert_eq!(
                group.map(|group| group.name()),
                Some(NamedGroup::from(self.combination.group)),
                "{what}"
            );
        }
        assert_eq!(
            client.peer_certificates(),
            Some(&[self.leaf.clone()][..]),
            "{what}"
        );
        assert!(times.client > Duration::ZERO && times.server > Duration::ZERO);
    }

    /// The row in the combination's table.
    pub fn row(&self) -> Row<'_> {
        Row {
            group: self.combination.to_string(),
            name: self.provider.to_owned(),
            passes: Passes::of_two_sides(|| {
                let (_, _, times) = self.handshake();
                (times.client, times.server)
            }),
        }
    }

    fn handshake(&self) -> (ClientConnection, ServerConnection, Times) {
        let mut times = Times::default();
        // As few readings of the clock as possible, since each is a system call.
        let (client, server) = self.handshake_in_turns(|side, work| {
            add_time(
                match side {
                    Side::Client => &mut times.client,
                    Side::Server => &mut times.server,
                },
                work,
            );
        });
        (client, server, times)
    }

    /// A handshake. Calls `turn` with each piece of work of either side.
    pub(crate) fn handshake_in_turns(
        &self,
        mut turn: impl FnMut(Side, &mut dyn FnMut()),
    ) -> (ClientConnection, ServerConnection) {
        let (mut to_server, mut to_client) = (Vec::new(), Vec::new());
        let mut started = None;
        turn(Side::Client, &mut || {
            let name = ServerName::try_from(NAME).expect("a valid name");
            let client = ClientConnection::new(self.client.clone(), name);
            let client = started.insert(client.expect("a client that can start"));
            send(client, &mut to_server);
        });
        let mut client = started.expect("turns are taken");
        let mut started = None;
        turn(Side::Server, &mut || {
            let server = ServerConnection::new(self.server.clone());
            let server = started.insert(server.expect("a server that can start"));
            receive(server, &mut to_server);
            send(server, &mut to_client);
        });
        let mut server = started.expect("turns are taken");
        while client.is_handshaking() || server.is_handshaking() {
            turn(Side::Client, &mut || {
                receive(&mut client, &mut to_client);
                send(&mut client, &mut to_server);
            });
            turn(Side::Server, &mut || {
                receive(&mut server, &mut to_server);
                send(&mut server, &mut to_client);
            });
        }
        (client, server)
    }
}

/// The side that does a piece of work.
#[derive(Clone, Copy)]
pub(crate) enum Side {
    Client,
    Server,
}

/// A client that trusts the identity's root, and never resumes.
pub(crate) fn client_config(
    provider: Arc<CryptoProvider>,
    identity: &Identity,
) -> Result<Arc<ClientConfig>, Box<dyn Error>> {
    client_config_with(provider, identity, |verifier| verifier)
}

fn client_config_with(
    provider: Arc<CryptoProvider>,
    identity: &Identity,
    change: impl FnOnce(Arc<WebPkiServerVerifier>) -> Arc<dyn ServerCertVerifier>,
) -> Result<Arc<ClientConfig>, Box<dyn Error>> {
    let mut roots = RootCertStore::empty();
    roots.add(identity.root.clone())?;
    let verifier =
        WebPkiServerVerifier::builder_with_provider(roots.into(), provider.clone()).build()?;
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(change(verifier))
        .with_no_client_auth();
    config.resumption = Resumption::disabled();
    Ok(config.into())
}

/// The providers, by the names of their rows.
pub(crate) fn providers() -> Result<Vec<(&'static str, CryptoProvider)>, rustls_pq::Error> {
    let ours = |base| Builder::new(base).groups(GROUPS).build();
    let mut providers = Vec::new();
    if let Ok(graviola) = base::graviola() {
        providers.push(("rustls-pq/graviola", ours(graviola)?));
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        providers.push(("rustls/graviola", rustls_graviola::default_provider()));
    }
    providers.push(("rustls-pq/ring", ours(base::ring())?));
    providers.push(("rustls-pq/aws-lc-rs", ours(base::aws_lc_rs())?));
    let aws_lc_rs = CryptoProvider {
        kx_groups: aws_lc_rs::ALL_KX_GROUPS.to_vec(),
        ..aws_lc_rs::default_provider()
    };
    providers.push(("rustls/aws-lc-rs", aws_lc_rs));
    Ok(providers)
}

/// The provider with only [`SUITE`] and the combination's group, if it has the group and the signature
/// scheme.
pub(crate) fn restrict(
    provider: &CryptoProvider,
    combination: Combination,
) -> Option<CryptoProvider> {
    let mut provider = provider.clone();
    provider
        .cipher_suites
        .retain(|suite| suite.suite() == SUITE);
    provider
        .kx_groups
        .retain(|group| Group::from(group.name()) == combination.group);
    let verifies = provider
        .signature_verification_algorithms
        .mapping
        .iter()
        .any(|(scheme, _)| *scheme == combination.authentication.scheme());
    (!provider.kx_groups.is_empty() && verifies).then_some(provider)
}

const SUITE: CipherSuite = CipherSuite::TLS13_AES_128_GCM_SHA256;
/// The name of every server.
pub(crate) const NAME: &str = "localhost";

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
