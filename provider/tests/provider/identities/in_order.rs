//! Which identity a client gets in the operator's order. A client that a server with one of the chains
//! would serve still connects.

use alloc::sync::Arc;

use pq_x509::issuing::{CertificateBuilder, Issuer};
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use rustls::client::Resumption;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, ClientConnection, ServerConfig, SignatureScheme as Scheme, version};
use rustls_pq::identity::{Identities, IdentitySet};
use rustls_pq::{Builder, Group, KeyAlgorithm, OfferReader, ServerHandshake};

use super::{World, assert_is, issue, root, server_over, server_with};
use crate::named_roots;
use crate::peers::{Ecdsa, Identity, any_base, client_config, connect, connect_to, roots};

/// Every order of four identities with every subset of what clients may accept.
#[test]
fn first_that_the_client_can_verify() {
    let world = World::new();
    let of = [
        (&world.ml_dsa_87, Scheme::ML_DSA_87),
        (&world.ml_dsa_65, Scheme::ML_DSA_65),
        (&world.ml_dsa_44, Scheme::ML_DSA_44),
        (&world.ecdsa, Scheme::ECDSA_NISTP256_SHA256),
    ];
    let checked = of.map(|(identity, _)| Arc::new(identity.checked()));
    for order in orders() {
        let set = order.iter().fold(IdentitySet::new(), |set, &at| {
            set.with_default(checked[at].clone())
        });
        let listed: Vec<_> = set.identities().cloned().collect();
        assert!(
            order
                .iter()
                .zip(&listed)
                .all(|(at, it)| Arc::ptr_eq(it, &checked[*at]))
        );
        let identities = Identities::new(set);
        for accepted in 0..16 {
            let accepted = |at: usize| accepted & (1 << at) != 0;
            let schemes: Vec<_> = (0..4)
                .filter(|at| accepted(*at))
                .map(|at| of[at].1)
                .collect();
            let choice = identities.choose_for(Some("localhost"), &schemes, &schemes);
            let choice = choice.unwrap();
            let first = order.iter().copied().find(|at| accepted(*at));
            assert_eq!(choice.scheme, first.map(|at| of[at].1));
            assert_is(&choice, of[first.unwrap_or(order[0])].0);
        }
    }
}

/// A client that connects to a server with one chain also connects to it with two. The order of the
/// chains doesn't matter, nor whether they have the name or a wildcard for it, which root the client
/// has, its TLS version, or whether it has a post-quantum group, as long as it shows which roots it
/// trusts. A client that doesn't show that gets the chain by the order, and connects if it trusts that
/// chain.
#[test]
fn a_second_chain_breaks_nobody() {
    let mut refused = Vec::new();
    for pair in [
        [Kind::Ecdsa, Kind::MlDsa],
        [Kind::MlDsa, Kind::Ecdsa],
        [Kind::Ecdsa, Kind::BelowSlhDsa],
        [Kind::BelowSlhDsa, Kind::Ecdsa],
    ] {
        for names in [[NAME; 2], ["*.example.org", NAME], [NAME, "*.example.org"]] {
            let chains = [0, 1].map(|at| Chain::new(pair[at], names[at]));
            let alone = [0, 1].map(|at| serving(&chains[at..=at]));
            let both = serving(&chains);
            for trusted in [&[0][..], &[1], &[0, 1]] {
                for client in Client::all(&chains, trusted) {
                    let Client {
                        says,
                        speaks_tls13,
                        has_pq_group,
                        ..
                    } = client;
                    let case = format!(
                        "{pair:?} {names:?}, a client with {trusted:?}, {says:?}, \
                         TLS 1.3: {speaks_tls13}, post-quantum: {has_pq_group}"
                    );
                    let by_one = [0, 1].map(|at| client.connects(&alone[at]));
                    let expected = [0, 1].map(|at| {
                        let is_usable = pair[at] == Kind::Ecdsa || speaks_tls13;
                        trusted.contains(&at) && is_usable
                    });
                    assert_eq!(by_one, expected, "{case}");
                    for knows_versions in [true, false] {
                        let is_served = match says {
                            Says::Nothing => by_one[client.given(pair, knows_versions)],
                            _ => by_one.contains(&true),
                        };
                        let connects = match knows_versions {
                            true => client.connects_to_reader(&both),
                            false => client.connects(&both),
                        };
                        assert_eq!(
                            connects, is_served,
                            "{case}, versions known: {knows_versions}"
                        );
                        if by_one[0] && !connects {
                            refused.push((pair[0], has_pq_group, knows_versions));
                        }
                    }
                }
            }
        }
    }
    // Of the clients of the first chain, the second chain breaks only those that show no trust, and that
    // don't list SLH-DSA or, as far as the server knows, may speak TLS 1.2.
    assert!(!refused.is_empty());
    for (first, has_pq_group, knows_versions) in refused {
        let may_speak_tls12 = !has_pq_group && !knows_versions;
        assert!(first == Kind::BelowSlhDsa || first == Kind::MlDsa && may_speak_tls12);
    }
}

/// rustls's own provider, which knows nothing of ML-DSA, gets the chain that it can verify.
#[test]
fn classical_clients() {
    let world = World::new();
    let client = Arc::new(client_config(any_base(), roots([world.roots[3].clone()])));
    for order in [
        [&world.ecdsa, &world.ml_dsa_65],
        [&world.ml_dsa_65, &world.ecdsa],
    ] {
        let outcome = connect(&client, &server(&order));
        assert_eq!(outcome.client.result, Ok(()));
        let peer = outcome.client.negotiated.unwrap().peer.unwrap();
        assert_eq!(peer.key, KeyAlgorithm::EcdsaP256);
    }
}

/// Of two identities of the same kind the first one is chosen, not the smaller one.
#[test]
fn size_does_not_count() {
    let root = root(SignatureAlgorithm::MlDsa65);
    let key = || SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    let ca = root.issue_ca(CertificateBuilder::ca("CA").path_len(0), key());
    let ca = ca.unwrap();
    let mut long = issue(&ca, &key());
    long.chain.push(ca.certificate().der().clone());
    let short = issue(&root, &key());
    let all = [Scheme::ML_DSA_65];
    for order in [[&long, &short], [&short, &long]] {
        let choice = set(&order);
        let choice = Identities::new(choice).choose_for(None, &all, &all);
        assert_is(&choice.unwrap(), order[0]);
    }
}

/// The name that clients ask for.
const NAME: &str = "a.example.org";

/// The algorithms of a chain.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Ecdsa,
    MlDsa,
    /// An ML-DSA leaf below an SLH-DSA root, which clients verify and don't list.
    BelowSlhDsa,
}

struct Chain {
    kind: Kind,
    identity: Identity,
    root: CertificateDer<'static>,
}

impl Chain {
    fn new(kind: Kind, name: &str) -> Self {
        let leaf = CertificateBuilder::server().dns_name(name);
        let below = |algorithm| {
            let root = root(algorithm);
            let key = SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
            let identity = Identity::issued_by(&root, leaf.clone(), &key);
            (identity, root.certificate().der().clone())
        };
        let (identity, root) = match kind {
            Kind::Ecdsa => {
                let root = CertificateBuilder::ca("ECDSA");
                let root = Issuer::self_signed(root, Ecdsa::generate()).unwrap();
                let identity = Identity::issued_by(&root, leaf, &Ecdsa::generate());
                (identity, root.certificate().der().clone())
            }
            Kind::MlDsa => below(SignatureAlgorithm::MlDsa65),
            Kind::BelowSlhDsa => below(SignatureAlgorithm::SlhDsaSha2_128f),
        };
        Self {
            kind,
            identity,
            root,
        }
    }

    /// The protocol of clients that trust this chain, and of no others.
    fn protocol(&self) -> Vec<u8> {
        format!("{:?}", self.kind).into_bytes()
    }
}

/// A server's identities, with a protocol tied to each.
fn serving(chains: &[Chain]) -> Arc<Identities> {
    let set = chains.iter().fold(IdentitySet::new(), |set, chain| {
        set.with(chain.identity.checked().with_protocols([chain.protocol()]))
    });
    Arc::new(Identities::new(set))
}

/// What a client tells a server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Says {
    /// It lists all schemes that it has, whatever roots it has.
    Nothing,
    /// It names its roots (certificate_authorities).
    WhomItTrusts,
    /// It offers the protocols that are tied to the chains that it trusts.
    Protocols,
    /// It lists only the schemes that its roots need.
    WhatItVerifies,
}

struct Client {
    says: Says,
    speaks_tls13: bool,
    has_pq_group: bool,
    config: Arc<ClientConfig>,
}

impl Client {
    fn all<'a>(chains: &'a [Chain; 2], trusted: &'a [usize]) -> impl Iterator<Item = Self> + 'a {
        use Says::{Nothing, Protocols, WhatItVerifies, WhomItTrusts};
        [Nothing, WhomItTrusts, Protocols, WhatItVerifies]
            .into_iter()
            .flat_map(|says| {
                [(true, true), (true, false), (false, false)].map(|(speaks_tls13, has_pq_group)| {
                    let trusted = trusted.iter().map(|&at| &chains[at]);
                    Self::new(says, speaks_tls13, has_pq_group, trusted)
                })
            })
    }

    fn new<'a>(
        says: Says,
        speaks_tls13: bool,
        has_pq_group: bool,
        trusted: impl Iterator<Item = &'a Chain> + Clone,
    ) -> Self {
        let mut builder = Builder::new(any_base());
        if !has_pq_group {
            builder = builder.groups([Group::X25519, Group::SECP256R1]);
        }
        if says == Says::WhatItVerifies {
            builder = builder.signature_schemes(trusted.clone().map(|chain| match chain.kind {
                Kind::Ecdsa => Scheme::ECDSA_NISTP256_SHA256,
                Kind::MlDsa | Kind::BelowSlhDsa => Scheme::ML_DSA_65,
            }));
        }
        let provider = Arc::new(builder.build().unwrap());
        let roots = roots(trusted.clone().map(|chain| chain.root.clone()));
        let versions: &[_] = match speaks_tls13 {
            true => &[&version::TLS13],
            false => &[&version::TLS12],
        };
        let mut config = match says {
            Says::WhomItTrusts => named_roots::client(provider, roots, versions),
            _ => ClientConfig::builder_with_provider(provider)
                .with_protocol_versions(versions)
                .unwrap()
                .with_root_certificates(roots)
                .with_no_client_auth(),
        };
        if says == Says::Protocols {
            config.alpn_protocols = trusted.map(Chain::protocol).collect();
        }
        Self {
            says,
            speaks_tls13,
            has_pq_group,
            config: config.into(),
        }
    }

    /// Which chain the client gets if it shows no trust in any.
    fn given(&self, pair: [Kind; 2], knows_versions: bool) -> usize {
        let may_speak_tls12 = !self.speaks_tls13 || !self.has_pq_group && !knows_versions;
        let is_suitable = |kind: &&Kind| match kind {
            Kind::Ecdsa => true,
            Kind::MlDsa => !may_speak_tls12,
            // A chain with schemes that the client lists comes before one without.
            Kind::BelowSlhDsa => false,
        };
        let given = pair.iter().find(is_suitable);
        usize::from(given != Some(&pair[0]))
    }

    fn connects(&self, identities: &Arc<Identities>) -> bool {
        self.connects_to(&server_over(Arc::clone(identities)))
    }

    /// Connects to a server that reads the ClientHello before rustls does, and so knows its versions.
    fn connects_to_reader(&self, identities: &Arc<Identities>) -> bool {
        let name = NAME.try_into().unwrap();
        let mut client = ClientConnection::new(Arc::clone(&self.config), name).unwrap();
        let mut hello = Vec::new();
        client.write_tls(&mut hello).unwrap();
        let offer = OfferReader::new().read(&hello).unwrap().unwrap();
        let config = server_over(Arc::clone(identities));
        let handshake = ServerHandshake::begin(offer, identities, &config);
        self.connects_to(&handshake.config())
    }

    fn connects_to(&self, server: &Arc<ServerConfig>) -> bool {
        // Don't resume sessions of other connections.
        let mut client = ClientConfig::clone(&self.config);
        client.resumption = Resumption::disabled();
        connect_to(NAME, &client.into(), server)
            .client
            .result
            .is_ok()
    }
}

fn server(identities: &[&Identity]) -> Arc<ServerConfig> {
    server_with(set(identities))
}

fn set(identities: &[&Identity]) -> IdentitySet {
    let checked = identities.iter().map(|identity| identity.checked());
    checked.fold(IdentitySet::new(), IdentitySet::with_default)
}

fn orders() -> Vec<[usize; 4]> {
    let all = (0..256).map(|n| [n & 3, n >> 2 & 3, n >> 4 & 3, n >> 6]);
    let orders: Vec<_> = all
        .filter(|order| (0..4).all(|at| order.contains(&at)))
        .collect();
    assert_eq!(orders.len(), 24);
    orders
}
