//! Which identity a client gets, by name and by signatures, and with `strongest_first`.

use alloc::sync::Arc;

use pq_x509::issuing::CertificateBuilder;
use pq_x509::keys::{SignatureAlgorithm, SigningKey};
use rustls::SignatureScheme as Scheme;
use rustls::{AlertDescription, CertificateError, Error, PeerIncompatible};
use rustls_pq::identity::{self, Identities, IdentitySet};
use rustls_pq::verify::slh_dsa::SLHDSA_SHA2_192F;
use rustls_pq::{Builder, KeyAlgorithm};

use super::{ML_DSA_65, World, assert_is, issue, provider_client, root, server_over, server_with};
use crate::peers::{Ecdsa, Identity, Outcome, any_base, connect, connect_to};

const ML_DSA_44: KeyAlgorithm = KeyAlgorithm::PostQuantum(SignatureAlgorithm::MlDsa44);
const ML_DSA_87: KeyAlgorithm = KeyAlgorithm::PostQuantum(SignatureAlgorithm::MlDsa87);

/// Every subset of four identities with every subset of what clients may accept.
#[test]
fn strongest_that_the_client_can_verify() {
    let world = World::new();
    // From the strongest to the weakest, each with its scheme.
    let ranking = [
        (&world.ml_dsa_87, Scheme::ML_DSA_87),
        (&world.ml_dsa_65, Scheme::ML_DSA_65),
        (&world.ml_dsa_44, Scheme::ML_DSA_44),
        (&world.ecdsa, Scheme::ECDSA_NISTP256_SHA256),
    ];
    for present in 1..16 {
        let present = |at: usize| present & (1 << at) != 0;
        let set = (0..4).rev().filter(|at| present(*at));
        let set = set.fold(IdentitySet::new(), |set, at| {
            set.with_default(ranking[at].0.checked())
        });
        // Called last, it applies to the identities that are already in the set.
        let identities = Identities::new(set.strongest_first());

        for accepted in 0..16 {
            let accepted = |at: usize| accepted & (1 << at) != 0;
            let schemes: Vec<_> = (0..4)
                .filter(|at| accepted(*at))
                .map(|at| ranking[at].1)
                .collect();
            let choice = identities
                .choose_for(Some("localhost"), &schemes, &schemes)
                .unwrap();
            match (0..4).find(|at| present(*at) && accepted(*at)) {
                Some(best) => {
                    assert_eq!(choice.scheme, Some(ranking[best].1));
                    assert_is(&choice, ranking[best].0);
                }
                None => {
                    assert_eq!(choice.scheme, None);
                    let strongest = (0..4).find(|at| present(*at)).unwrap();
                    assert_is(&choice, ranking[strongest].0);
                }
            }
        }
    }
}

#[test]
fn in_handshakes() {
    let world = World::new();
    let server = server_with(world.all().strongest_first());
    for (accepted, expected) in [
        (None, ML_DSA_87),
        (Some(vec![Scheme::ML_DSA_65]), ML_DSA_65),
        (Some(vec![Scheme::ML_DSA_44, Scheme::ML_DSA_65]), ML_DSA_65),
        (
            Some(vec![Scheme::ECDSA_NISTP256_SHA256, Scheme::ML_DSA_44]),
            ML_DSA_44,
        ),
        (
            Some(vec![Scheme::ECDSA_NISTP256_SHA256]),
            KeyAlgorithm::EcdsaP256,
        ),
    ] {
        let outcome = connect(&world.client(accepted), &server);
        assert_eq!(outcome.client.result, Ok(()));
        let negotiated = outcome.client.negotiated.unwrap();
        assert_eq!(negotiated.peer.unwrap().key, expected);
    }

    let nothing_shared = connect(&world.client(Some(vec![Scheme::ED25519])), &server);
    assert_eq!(
        nothing_shared.server.result,
        Err(PeerIncompatible::NoSignatureSchemesInCommon.into())
    );
    assert_eq!(
        nothing_shared.client.result,
        Err(Error::AlertReceived(AlertDescription::HandshakeFailure))
    );
}

/// `strongest_first` refuses service to a client with only a classical root that lists ML-DSA, as all
/// clients of this crate do. Its documentation warns of that.
#[test]
fn strongest_first_is_for_closed_worlds() {
    let world = World::new();
    let set = [&world.ecdsa, &world.ml_dsa_65].map(|identity| identity.checked());
    let set = set
        .into_iter()
        .fold(IdentitySet::new(), IdentitySet::with_default);
    let client = || provider_client(None, [world.roots[3].clone()]);
    let outcome = connect(&client(), &server_with(set.clone()));
    assert_eq!(outcome.client.result, Ok(()));
    let outcome = connect(&client(), &server_with(set.strongest_first()));
    let unknown = CertificateError::UnknownIssuer;
    assert_eq!(outcome.client.result, Err(unknown.into()));
}

/// Of two equally strong identities the one with the name comes before the one with the wildcard.
#[test]
fn names_before_wildcards_of_the_same_strength() {
    let root = Ecdsa::root();
    let issued = |name: &str| {
        let leaf = CertificateBuilder::server().dns_name(name);
        Identity::issued_by(&root, leaf, &Ecdsa::generate())
    };
    let wildcard = issued("*.example.org");
    let mut exact = issued("a.example.org");
    // This makes it larger.
    exact.chain.push(root.certificate().der().clone());
    let set = IdentitySet::new()
        .strongest_first()
        .with(wildcard.checked())
        .with(exact.checked());
    let all = [Scheme::ECDSA_NISTP256_SHA256];
    let choice = Identities::new(set).choose_for(Some("a.example.org"), &all, &all);
    assert_is(&choice.unwrap(), &exact);
}

/// A chain is chosen by all of its signatures, and not by its key alone.
#[test]
fn signatures_in_the_chain_count() {
    let ecdsa_root = Ecdsa::root();
    let ml_dsa_87_root = root(SignatureAlgorithm::MlDsa87);
    let key = || SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    let under_87 = issue(&ml_dsa_87_root, &key());
    let under_ecdsa = issue(&ecdsa_root, &key());
    let identities = Identities::new(
        IdentitySet::new()
            .strongest_first()
            .with_default(under_ecdsa.checked())
            .with_default(under_87.checked()),
    );
    let choose = |schemes: &[Scheme], cert_schemes: &[Scheme]| {
        identities.choose_for(None, schemes, cert_schemes).unwrap()
    };

    let all = [
        Scheme::ML_DSA_65,
        Scheme::ML_DSA_87,
        Scheme::ECDSA_NISTP256_SHA256,
    ];
    assert_is(&choose(&all, &all), &under_87);
    assert_is(&choose(&[all[0], all[2]], &[all[0], all[2]]), &under_ecdsa);
    // signature_algorithms_cert, where it is known, decides about certificates.
    assert_is(&choose(&all[..1], &all), &under_87);
    assert_is(&choose(&all, &all[2..]), &under_ecdsa);
    // The client can't verify any chain, but it may trust one as it is.
    let choice = choose(&all[..1], &all[..1]);
    assert_is(&choice, &under_87);
    assert_eq!(choice.scheme, Some(Scheme::ML_DSA_65));

    // The signature of a root doesn't count.
    let with_root = Identity {
        chain: [
            under_ecdsa.chain.clone(),
            vec![ecdsa_root.certificate().der().clone()],
        ]
        .concat(),
        key: under_ecdsa.key.clone_key(),
    };
    let identities = Identities::new(IdentitySet::new().with_default(with_root.checked()));
    let choice = identities.choose_for(None, &all[..1], &all[2..]).unwrap();
    assert_eq!(choice.scheme, Some(Scheme::ML_DSA_65));

    // The signature of a CA's old key on its new key counts, although both have the same name.
    let renewal = CertificateBuilder::ca("Root");
    let renewed = ecdsa_root.issue_ca(renewal, key()).unwrap();
    let mut under_renewed = issue(&renewed, &key());
    under_renewed
        .chain
        .push(renewed.certificate().der().clone());
    let identities = Identities::new(
        IdentitySet::new()
            .strongest_first()
            .with_default(under_renewed.checked())
            .with_default(under_87.checked()),
    );
    let choose = |cert_schemes: &[Scheme]| {
        let choice = identities.choose_for(None, &all[..1], cert_schemes);
        choice.unwrap()
    };
    assert_is(&choose(&all), &under_87);
    assert_is(&choose(&[all[0], all[2]]), &under_renewed);
    assert_is(&choose(&all[..1]), &under_87);
}

#[test]
fn smaller_on_a_tie() {
    let root = root(SignatureAlgorithm::MlDsa65);
    let key = || SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap();
    let ca = root
        .issue_ca(CertificateBuilder::ca("CA").path_len(0), key())
        .unwrap();
    let short = issue(&root, &key());
    let mut long = issue(&ca, &key());
    long.chain.push(ca.certificate().der().clone());
    let all = [Scheme::ML_DSA_65];
    for set in [
        IdentitySet::new()
            .strongest_first()
            .with_default(short.checked())
            .with_default(long.checked()),
        IdentitySet::new()
            .strongest_first()
            .with_default(long.checked())
            .with_default(short.checked()),
    ] {
        let choice = Identities::new(set).choose_for(None, &all, &all).unwrap();
        assert_is(&choice, &short);
    }
}

/// The signature in the handshake counts: SLH-DSA-SHA2-192f's is 32 kB larger than ML-DSA-65's, while
/// its key is 2 kB smaller.
#[test]
fn smaller_with_the_signature_on_a_tie() {
    let root = root(SignatureAlgorithm::MlDsa65);
    let ml_dsa = issue(
        &root,
        &SigningKey::generate(SignatureAlgorithm::MlDsa65).unwrap(),
    );
    let slh_dsa = issue(
        &root,
        &SigningKey::generate(SignatureAlgorithm::SlhDsaSha2_192f).unwrap(),
    );
    let provider = Builder::new(any_base()).experimental_slh_dsa();
    let provider = provider.build().unwrap();
    let checked = |identity: &Identity| {
        let (chain, key) = (identity.chain.clone(), identity.key.clone_key());
        identity::Identity::new(chain, key, &provider).unwrap()
    };
    assert!(checked(&slh_dsa).size() + 1000 < checked(&ml_dsa).size());

    let all = [SLHDSA_SHA2_192F, Scheme::ML_DSA_65];
    for set in [
        IdentitySet::new()
            .strongest_first()
            .with_default(checked(&ml_dsa))
            .with_default(checked(&slh_dsa)),
        IdentitySet::new()
            .strongest_first()
            .with_default(checked(&slh_dsa))
            .with_default(checked(&ml_dsa)),
    ] {
        let choice = Identities::new(set).choose_for(None, &all, &all).unwrap();
        assert_eq!(choice.scheme, Some(Scheme::ML_DSA_65));
        assert_is(&choice, &ml_dsa);
    }
}

#[test]
fn names() {
    let root = root(SignatureAlgorithm::MlDsa44);
    let for_names = |names: &[&str]| {
        let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
        let leaf = CertificateBuilder::server();
        let leaf = names.iter().fold(leaf, |leaf, name| leaf.dns_name(*name));
        Identity::issued_by(&root, leaf, &key)
    };
    let exact = for_names(&["a.example.org", "b.example.org"]);
    let wildcard = for_names(&["*.example.org"]);
    let fallback = for_names(&["localhost"]);
    let set = IdentitySet::new()
        .with(exact.checked())
        .with(wildcard.checked())
        .with_name("By.Hand.", exact.checked());
    let with_default = Identities::new(set.clone().with_default(fallback.checked()));
    let without_default = Identities::new(set);

    let all = [Scheme::ML_DSA_44];
    for (name, expected) in [
        ("a.example.org", Some(&exact)),
        ("B.Example.ORG", Some(&exact)),
        ("c.example.org", Some(&wildcard)),
        ("c.example.org.", Some(&wildcard)),
        ("by.hand", Some(&exact)),
        // A wildcard stands for one label.
        ("example.org", None),
        ("x.c.example.org", None),
        ("*.org", None),
        ("", None),
        (".", None),
        ("localhost.example.com", None),
    ] {
        println!("{name}");
        let choice = with_default.choose_for(Some(name), &all, &all).unwrap();
        assert_is(&choice, expected.unwrap_or(&fallback));
        let choice = without_default.choose_for(Some(name), &all, &all);
        match expected {
            Some(expected) => assert_is(&choice.unwrap(), expected),
            None => assert!(choice.is_none()),
        }
    }
    assert_is(
        &with_default.choose_for(None, &all, &all).unwrap(),
        &fallback,
    );
    assert!(without_default.choose_for(None, &all, &all).is_none());

    // In handshakes.
    let client = provider_client(None, [root.certificate().der().clone()]);
    for (identities, name, is_served) in [
        (with_default, "c.example.org", true),
        (without_default, "localhost", false),
    ] {
        let server = server_over(identities);
        let outcome = connect_to(name, &client, &server);
        match is_served {
            true => assert_eq!(outcome.client.result, Ok(())),
            // rustls has no other alert for it.
            false => assert_eq!(
                outcome.client.result,
                Err(Error::AlertReceived(AlertDescription::AccessDenied))
            ),
        }
    }
}

/// A chain that the client can verify comes before the name: a wildcard is better than a refusal.
#[test]
fn wildcard_that_can_be_verified() {
    let root = root(SignatureAlgorithm::MlDsa44);
    let ecdsa_root = Ecdsa::root();
    let key = SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap();
    let leaf = CertificateBuilder::server().dns_name("a.example.org");
    let exact = Identity::issued_by(&root, leaf, &key);
    let leaf = CertificateBuilder::server().dns_name("*.example.org");
    let wildcard = Identity::issued_by(&ecdsa_root, leaf, &Ecdsa::generate());
    let set = IdentitySet::new()
        .with(exact.checked())
        .with(wildcard.checked());
    let identities = Identities::new(set);
    for (scheme, expected) in [
        (Scheme::ML_DSA_44, &exact),
        (Scheme::ECDSA_NISTP256_SHA256, &wildcard),
    ] {
        let choice = identities.choose_for(Some("a.example.org"), &[scheme], &[scheme]);
        assert_is(&choice.unwrap(), expected);
    }
}

/// What replacing the set changes, and what it doesn't.
#[test]
fn replaced_by_call() {
    let world = World::new();
    let identities = Arc::new(Identities::new(
        IdentitySet::new().with_default(world.ml_dsa_65.checked()),
    ));
    let server = server_over(Arc::clone(&identities));
    let client = world.client(None);
    let key = |outcome: Outcome| {
        assert_eq!(outcome.client.result, Ok(()));
        outcome.client.negotiated.unwrap().peer.unwrap().key
    };
    assert_eq!(key(connect(&client, &server)), ML_DSA_65);
    let before = identities.current();
    identities.replace(IdentitySet::new().with_default(world.ecdsa.checked()));
    // A client that has no session to resume.
    let client = world.client(None);
    assert_eq!(key(connect(&client, &server)), KeyAlgorithm::EcdsaP256);
    assert_eq!(before.identities().count(), 1);
}
