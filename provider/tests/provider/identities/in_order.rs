//! Who gets what in the order of the operator, which breaks no client that one of the chains alone
//! would serve.

use alloc::sync::Arc;

use pq_x509::{CertificateBuilder, SignatureAlgorithm, SigningKey};
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, ServerConfig, SignatureScheme as Scheme};
use rustls_pq::identity::{Identities, IdentitySet};
use rustls_pq::{Authentication, Builder, KeyAlgorithm};

use super::{World, assert_is, issue, root, server_with};
use crate::named_roots;
use crate::peers::{Identity, any_base, client_config, connect, roots};

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

/// Whoever connects to a server with one chain connects to it with two as well: a client with roots
/// of either kind or of both, that offers what it does by default, or that shows whom it trusts.
/// Where a client doesn't, and trusts the second chain only, no server can know, and the test says
/// so.
#[test]
fn a_second_chain_breaks_nobody() {
    let world = World::new();
    let [ecdsa, ml_dsa] = [&world.ecdsa, &world.ml_dsa_65];
    let [ecdsa_root, ml_dsa_root] = [&world.roots[3], &world.roots[1]];
    let one_chain = [ecdsa, ml_dsa].map(|identity| server(&[identity]));
    for (order, with_two) in [
        ([0, 1], server(&[ecdsa, ml_dsa])),
        ([1, 0], server(&[ml_dsa, ecdsa])),
    ] {
        for (trusted, kinds) in [
            (vec![ecdsa_root], vec![0]),
            (vec![ml_dsa_root], vec![1]),
            (vec![ecdsa_root, ml_dsa_root], vec![0, 1]),
        ] {
            for (says, client) in clients(&trusted) {
                let succeeds = |server| connect(&client, server).client.result.is_ok();
                let by_one = [0, 1].map(|kind| succeeds(&one_chain[kind]));
                assert_eq!(by_one, [0, 1].map(|kind| kinds.contains(&kind)), "{says:?}");
                let is_known = match says {
                    // A server that doesn't know gives the first chain.
                    Says::Nothing => kinds.contains(&order[0]),
                    Says::WhomItTrusts | Says::WhatItVerifies => true,
                };
                assert_eq!(
                    succeeds(&with_two),
                    is_known,
                    "{order:?} {says:?} {kinds:?}"
                );
            }
        }
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

/// Of two of a kind the first one counts, and not the smaller one.
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

/// What a client lets a server know.
#[derive(Clone, Copy, Debug)]
enum Says {
    /// It lists all schemes that it has, whatever roots it has.
    Nothing,
    /// It names its roots (certificate_authorities).
    WhomItTrusts,
    /// It lists only the schemes that its roots have a use for.
    WhatItVerifies,
}

fn clients(trusted: &[&CertificateDer<'static>]) -> [(Says, Arc<ClientConfig>); 3] {
    let store = || roots(trusted.iter().copied().cloned());
    let all = Builder::new(any_base()).build().unwrap();
    let schemes = trusted.iter().map(|root| {
        let root = Authentication::of(&[(*root).clone()]).unwrap();
        match root.key {
            KeyAlgorithm::EcdsaP256 => Scheme::ECDSA_NISTP256_SHA256,
            _ => Scheme::ML_DSA_65,
        }
    });
    let limited = Builder::new(any_base()).signature_schemes(schemes).build();
    [
        (Says::Nothing, client_config(all.clone(), store()).into()),
        (
            Says::WhatItVerifies,
            client_config(limited.unwrap(), store()).into(),
        ),
        (
            Says::WhomItTrusts,
            named_roots::client(all.into(), store()).into(),
        ),
    ]
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
