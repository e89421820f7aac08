//! Which identity a client gets that shows whom it trusts.

use alloc::sync::Arc;

use pq_x509::issuing::CertificateBuilder;
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use rustls::{ProtocolVersion, ServerConfig, SignatureScheme as Scheme};
use rustls_pq::identity::{Identities, IdentitySet};
use rustls_pq::{Builder, Group, Offer, OfferReader, ServerHandshake};

use super::{assert_is, issue, root, subject_of, with};
use crate::chromium;
use crate::offers::trust_anchors;
use crate::peers::{Ecdsa, HashSlhDsa, Identity, accept, any_base};

/// A browser lists ML-DSA. It gets the ML-DSA chain if it says that it trusts the root, and otherwise
/// the first chain.
#[test]
fn choice_for_a_browser() {
    let chains = Chains::new();
    let offer = read(&chromium::hello());
    for (ids, expected) in [
        (&["44947.2.13"][..], &chains.ml_dsa),
        (&["32473.1", "11129.9.15"], &chains.ml_dsa),
        (&["32473.1", "44947.2.2"], &chains.ecdsa),
        (&[], &chains.ecdsa),
    ] {
        let ml_dsa = chains
            .ml_dsa
            .checked()
            .with_trust_anchors(trust_anchors(ids));
        let set = IdentitySet::new()
            .with_default(chains.ecdsa.checked())
            .with_default(ml_dsa);
        let identities = Identities::new(set);
        assert_is(&identities.choose_offered(&offer).unwrap(), expected);
        // Also through a server's configuration.
        let config = ServerConfig::builder_with_provider(Arc::new(provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(Identities::new(IdentitySet::new())));
        let handshake = ServerHandshake::begin(offer.clone(), &identities, &config);
        let accepted = accept(&chromium::hello());
        let connection = accepted.into_connection(handshake.config());
        assert!(connection.is_ok());
        let chosen = handshake.config();
        let chosen = chosen
            .cert_resolver
            .resolve(accept(&chromium::hello()).client_hello());
        assert_eq!(chosen.unwrap().cert, expected.chain);
    }
}

/// All ways to show trust have the same effect. If a client shows trust in no CA, or in an unrelated
/// one, the order decides.
#[test]
fn in_whatever_way() {
    let chains = Chains::new();
    let ml_dsa = chains
        .ml_dsa
        .checked()
        .with_trust_anchors(trust_anchors(&["32473.1", "32473.2"]))
        .with_protocols(["closed/1", "closed/2"]);
    let set = IdentitySet::new()
        .with_default(chains.ecdsa.checked())
        .with_default(ml_dsa);
    let choose = |offer: &Offer| Identities::new(set.clone()).choose_offered(offer).unwrap();

    let nothing = offer();
    assert_is(&choose(&nothing), &chains.ecdsa);
    let shows = |offer: Offer, expected: &Identity| assert_is(&choose(&offer), expected);
    shows(
        with(offer(), |offer| {
            offer.trust_anchors = trust_anchors(&["1.2.3", "32473.2"]);
        }),
        &chains.ml_dsa,
    );
    shows(
        with(offer(), |offer| {
            offer.trust_anchors = trust_anchors(&["1.2.3"]);
        }),
        &chains.ecdsa,
    );
    for (names, expected) in [
        (vec![chains.ml_dsa_root.clone()], &chains.ml_dsa),
        (
            vec![b"0".to_vec(), chains.ml_dsa_root.clone()],
            &chains.ml_dsa,
        ),
        (vec![chains.ecdsa_root.clone()], &chains.ecdsa),
        // With trust in both, the first one.
        (
            vec![chains.ml_dsa_root.clone(), chains.ecdsa_root.clone()],
            &chains.ecdsa,
        ),
        (vec![b"0".to_vec()], &chains.ecdsa),
    ] {
        let certificate_authorities = names.into_iter().collect();
        let offer = with(offer(), |offer| {
            offer.certificate_authorities = certificate_authorities;
        });
        shows(offer, expected);
    }
    for (protocols, expected) in [
        (&["h2", "closed/2"][..], &chains.ml_dsa),
        (&["h2", "closed"], &chains.ecdsa),
    ] {
        let protocols = protocols.iter().map(|it| it.as_bytes().to_vec()).collect();
        let offer = with(offer(), |offer| {
            offer.protocols = protocols;
        });
        shows(offer, expected);
    }
}

/// Trust doesn't help a client that can't verify the chain.
#[test]
fn only_what_can_be_verified() {
    let chains = Chains::new();
    let set = IdentitySet::new()
        .with_default(chains.ecdsa.checked())
        .with_default(
            chains
                .ml_dsa
                .checked()
                .with_trust_anchors(trust_anchors(&["32473.1"]))
                .with_protocols(["closed"]),
        );
    let identities = Identities::new(set);
    let trusting = with(offer(), |offer| {
        offer.certificate_authorities = [chains.ml_dsa_root.clone()].into();
        offer.trust_anchors = trust_anchors(&["32473.1"]);
        offer.protocols = vec![b"closed".to_vec()];
    });
    assert_is(
        &identities.choose_offered(&trusting).unwrap(),
        &chains.ml_dsa,
    );

    let classical = vec![Scheme::ECDSA_NISTP256_SHA256];
    let in_chains_only = with(trusting.clone(), |offer| {
        offer.certificate_schemes = Some(classical.clone());
    });
    let nowhere = with(trusting.clone(), |offer| {
        offer.signature_schemes = classical;
    });
    let in_tls12 = with(trusting, |offer| {
        offer.versions = Some(vec![ProtocolVersion::TLSv1_2]);
    });
    for offer in [in_chains_only, nowhere, in_tls12] {
        let choice = identities.choose_offered(&offer).unwrap();
        assert_is(&choice, &chains.ecdsa);
        assert_eq!(choice.scheme, Some(Scheme::ECDSA_NISTP256_SHA256));
    }
}

/// Extensions of TLS 1.3 don't count in TLS 1.2, but application protocols count as in TLS 1.3.
#[test]
fn in_tls12() {
    let [first, second] = [(); 2].map(|()| Ecdsa::root());
    let [of_first, of_second] = [&first, &second].map(|root| issue(root, &Ecdsa::generate()));
    let set = IdentitySet::new()
        .with_default(of_first.checked())
        .with_default(
            of_second
                .checked()
                .with_trust_anchors(trust_anchors(&["32473.1"]))
                .with_protocols(["closed"]),
        );
    let identities = Identities::new(set);
    let tls12 = with(offer(), |offer| {
        offer.versions = Some(vec![ProtocolVersion::TLSv1_2]);
        offer.trust_anchors = trust_anchors(&["32473.1"]);
    });
    assert_is(&identities.choose_offered(&tls12).unwrap(), &of_first);
    let closed = with(tls12, |offer| {
        offer.protocols = vec![b"closed".to_vec()];
    });
    assert_is(&identities.choose_offered(&closed).unwrap(), &of_second);
}

/// If the version isn't known, and may be TLS 1.2 because there is no post-quantum group, trust in a
/// chain that TLS 1.2 can't use still counts, unless the client trusts another chain.
#[test]
fn where_the_version_is_not_known() {
    let chains = Chains::new();
    let set = IdentitySet::new()
        .with_default(chains.ml_dsa.checked())
        .with_default(chains.ecdsa.checked());
    let identities = Identities::new(set);
    let roots = [&chains.ml_dsa_root, &chains.ecdsa_root];
    for (trusted, expected) in [
        (&roots[..0], &chains.ecdsa),
        (&roots[..1], &chains.ml_dsa),
        (&roots[1..], &chains.ecdsa),
        (&roots[..], &chains.ecdsa),
    ] {
        let offer = with(offer(), |offer| {
            offer.versions = None;
            offer.groups = vec![Group::X25519, Group::SECP256R1];
            offer.certificate_authorities = trusted.iter().map(|name| name.to_vec()).collect();
        });
        assert_is(&identities.choose_offered(&offer).unwrap(), expected);
    }
}

/// A name and a wildcard for it come in the set's order, unless the client trusts the root of only one of
/// them.
#[test]
fn names_come_in_the_order() {
    let [root, other] = [(); 2].map(|()| Ecdsa::root());
    let ml_dsa = root_named("ML-DSA");
    let issued = |issuer, name: &str| {
        let leaf = CertificateBuilder::server().dns_name(name);
        Identity::issued_by(issuer, leaf, &Ecdsa::generate())
    };
    let wildcard = issued(&other, "*.example.org");
    let trusted = issued(&ml_dsa, "*.example.org");
    let exact = issued(&root, "a.example.org");
    let all = [&wildcard, &trusted, &exact].map(|identity| Arc::new(identity.checked()));
    let choose = |order: [usize; 3], name: &str, trusted: Option<Vec<u8>>| {
        let set = order.iter().fold(IdentitySet::new(), |set, &at| {
            set.with(Arc::clone(&all[at]))
        });
        let offer = with(offer(), |offer| {
            offer.server_name = Some(name.into());
            offer.certificate_authorities = trusted.into_iter().collect();
        });
        Identities::new(set).choose_offered(&offer).unwrap()
    };
    let name = || Some(subject_of(ml_dsa.certificate().der()));
    assert_is(&choose([0, 1, 2], "a.example.org", None), &wildcard);
    assert_is(&choose([2, 0, 1], "a.example.org", None), &exact);
    assert_is(&choose([1, 2, 0], "a.example.org", None), &trusted);
    for order in [[0, 1, 2], [2, 0, 1]] {
        assert_is(&choose(order, "b.example.org", None), &wildcard);
        assert_is(&choose(order, "a.example.org", name()), &trusted);
        assert_is(&choose(order, "b.example.org", name()), &trusted);
    }
}

/// A name can be tied to a chain, whatever comes before it: a client that requests this name gets this
/// chain, unless it can't verify the chain or shows that it trusts another one.
#[test]
fn by_a_name_that_is_tied() {
    let chains = Chains::new();
    let ecdsa = Ecdsa::root();
    let leaf = CertificateBuilder::server();
    let leaf = leaf.dns_name("pq.example.org").dns_name("*.example.org");
    let ecdsa_leaf = Identity::issued_by(&ecdsa, leaf, &Ecdsa::generate());
    let set = IdentitySet::new()
        .with_default(ecdsa_leaf.checked())
        .with_name("pq.example.org", chains.ml_dsa.checked())
        // A wildcard is tied to nothing.
        .with_name("*.example.org", chains.ecdsa.checked());
    let identities = Identities::new(set);
    let choose = |name: &str, change: &dyn Fn(&mut Offer)| {
        let offer = with(offer(), |offer| {
            offer.server_name = Some(name.into());
            change(offer);
        });
        identities.choose_offered(&offer).unwrap()
    };
    let nothing = |_: &mut Offer| {};
    assert_is(&choose("pq.example.org", &nothing), &chains.ml_dsa);
    for name in ["a.example.org", "b.example.org", "example.org"] {
        assert_is(&choose(name, &nothing), &ecdsa_leaf);
    }
    let classical = |offer: &mut Offer| {
        offer.signature_schemes = vec![Scheme::ECDSA_NISTP256_SHA256];
    };
    assert_is(&choose("pq.example.org", &classical), &ecdsa_leaf);
    let trusting = |offer: &mut Offer| {
        offer.certificate_authorities = [subject_of(ecdsa.certificate().der())].into();
    };
    assert_is(&choose("pq.example.org", &trusting), &ecdsa_leaf);

    // With `strongest_first`, for clients that trust all roots, the strongest comes first.
    let strongest = Identities::new((*identities.current()).clone().strongest_first());
    for name in ["pq.example.org", "a.example.org"] {
        let offer = with(offer(), |offer| offer.server_name = Some(name.into()));
        let choice = strongest.choose_offered(&offer).unwrap();
        let is_ml_dsa = choice.identity.certified_key().cert == chains.ml_dsa.chain;
        assert_eq!(is_ml_dsa, name == "pq.example.org");
    }
}

/// A client that shows that it trusts a chain with SLH-DSA gets this chain, although it lists no scheme
/// for it, as few clients do. No client can list one for HashSLH-DSA.
#[test]
fn signatures_that_nobody_lists() {
    let ecdsa = issue(&Ecdsa::root(), &Ecdsa::generate());
    let slh_dsa = root(SignatureAlgorithm::SlhDsaSha2_128f);
    let ca = CertificateBuilder::ca("HashSLH-DSA");
    let hash_slh_dsa = pq_x509::issuing::Issuer::self_signed(ca, HashSlhDsa::generate()).unwrap();
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    for (below, name) in [
        (
            issue(&slh_dsa, &key),
            subject_of(slh_dsa.certificate().der()),
        ),
        (
            issue(&hash_slh_dsa, &key),
            subject_of(hash_slh_dsa.certificate().der()),
        ),
    ] {
        let tied = below
            .checked()
            .with_trust_anchors(trust_anchors(&["32473.1"]))
            .with_protocols(["closed"]);
        let set = IdentitySet::new()
            .with_default(ecdsa.checked())
            .with_default(tied);
        let identities = Identities::new(set);
        let choose = |offer: &Offer| identities.choose_offered(offer).unwrap();
        assert_is(&choose(&offer()), &ecdsa);

        let by_name = with(offer(), |offer| {
            offer.certificate_authorities = [name].into();
        });
        let by_id = with(offer(), |offer| {
            offer.trust_anchors = trust_anchors(&["32473.1"]);
        });
        let by_protocol = with(offer(), |offer| {
            offer.protocols = vec![b"closed".to_vec()];
        });
        for offer in [by_name, by_id, by_protocol] {
            // The version may not be known, and be TLS 1.2.
            let unknown = with(offer.clone(), |offer| {
                offer.versions = None;
                offer.groups = vec![Group::X25519, Group::SECP256R1];
            });
            for offer in [offer.clone(), unknown] {
                let choice = choose(&offer);
                assert_is(&choice, &below);
                assert_eq!(choice.scheme, Some(Scheme::ML_DSA_65));
            }
            // It gets the other chain if it lists schemes for certificates, without SLH-DSA, or if it
            // can't verify the leaf's key.
            let listing = with(offer.clone(), |offer| {
                offer.certificate_schemes = Some(offer.signature_schemes.clone());
            });
            let classical = with(offer, |offer| {
                offer.signature_schemes = vec![Scheme::ECDSA_NISTP256_SHA256];
            });
            for offer in [listing, classical] {
                assert_is(&choose(&offer), &ecdsa);
            }
        }
    }
}

/// An ECDSA chain, and one of ML-DSA from another root.
struct Chains {
    ecdsa: Identity,
    ml_dsa: Identity,
    ecdsa_root: Vec<u8>,
    ml_dsa_root: Vec<u8>,
}

impl Chains {
    fn new() -> Self {
        let ecdsa = Ecdsa::root();
        let ml_dsa = root(SignatureAlgorithm::MlDsa65);
        let key = SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
        Self {
            ecdsa: issue(&ecdsa, &Ecdsa::generate()),
            ml_dsa: issue(&ml_dsa, &key),
            ecdsa_root: subject_of(ecdsa.certificate().der()),
            ml_dsa_root: subject_of(ml_dsa.certificate().der()),
        }
    }
}

fn root_named(name: &str) -> pq_x509::issuing::Issuer<Ecdsa> {
    pq_x509::issuing::Issuer::self_signed(CertificateBuilder::ca(name), Ecdsa::generate()).unwrap()
}

/// The offer of a TLS 1.3 client that lists ML-DSA, as all of this crate do.
fn offer() -> Offer {
    let mut offer = read(&chromium::hello());
    offer.server_name = None;
    offer.protocols.clear();
    offer.trust_anchors.clear();
    offer
}

fn provider() -> rustls::crypto::CryptoProvider {
    Builder::new(any_base()).build().unwrap()
}

fn read(hello: &[u8]) -> Offer {
    OfferReader::new().read(hello).unwrap().unwrap()
}
