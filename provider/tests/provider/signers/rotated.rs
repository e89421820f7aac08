//! A chain and its signer, replaced together while clients connect.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use pq_x509::keys::{SignatureAlgorithm, Signer, SigningKey};
use rustls_pq::identity::Identity;
use rustls_pq::sign::{BoundedSigner, Bounds, SignatureCheck};

use super::{World, identities, provider, server_over};
use crate::peers::{Ecdsa, connect};

const ROTATIONS: usize = 100;

#[test]
fn chain_and_signer_are_replaced_together() {
    let world = World::new();
    let identity = |version: usize| {
        // Of another algorithm each time.
        let key: Arc<dyn Signer> = match version % 2 {
            0 => Arc::new(SigningKey::generate(SignatureAlgorithm::MlDsa44).unwrap()),
            _ => Arc::new(Ecdsa::generate()),
        };
        let bounds = Bounds {
            timeout: super::PATIENCE,
            ..Bounds::default()
        };
        let chain = world.chain(&key);
        let signer = Arc::new(BoundedSigner::new(key, bounds).unwrap());
        let identity = Identity::with_signer(chain, signer, SignatureCheck::Each, &provider());
        Arc::new(identity.unwrap())
    };
    let first = identity(0);
    let current = identities_of(&first);
    let server = Arc::new(server_over(current.clone(), provider()));
    let is_over = AtomicBool::new(false);
    let handshakes = AtomicUsize::new(0);
    let shake_hands = || {
        let outcome = connect(&world.client(), &server);
        assert_eq!(outcome.client.result, Ok(()));
        assert_eq!(outcome.server.result, Ok(()));
        handshakes.fetch_add(1, Ordering::Relaxed);
        outcome.client.leaf.unwrap()
    };
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    shake_hands();
                }
            });
        }
        let mut before = first;
        for version in 1..=ROTATIONS {
            let next = identity(version);
            current.update(|set| set.with_replaced(&before, next.clone()));
            // Whoever comes after the change has the new one.
            assert_eq!(shake_hands(), next.chain()[0]);
            before = next;
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert!(handshakes.into_inner() >= ROTATIONS);
}

fn identities_of(identity: &Arc<Identity>) -> Arc<rustls_pq::identity::Identities> {
    let set = rustls_pq::identity::IdentitySet::new().with_default(identity.clone());
    Arc::new(rustls_pq::identity::Identities::new(set))
}

/// A signer that takes the newest version of its key, with the chain of the one before, is caught; with its chain, it works
/// again.
#[test]
fn a_signer_that_changes_its_key_alone() {
    let world = World::new();
    let [old, new] = [(); 2].map(|()| Arc::new(Ecdsa::generate()));
    let is_rotated = Arc::new(AtomicBool::new(false));
    let signer = super::Acting {
        key: old,
        act: {
            let (is_rotated, new) = (is_rotated.clone(), new.clone());
            move |old: &Arc<Ecdsa>, message: &[u8]| match is_rotated.load(Ordering::SeqCst) {
                false => old.sign(message),
                true => new.sign(message),
            }
        },
    };
    let current = identities(world.identity(signer));
    let server = Arc::new(server_over(current.clone(), provider()));
    let shake_hands = || connect(&world.client(), &server).server.result;
    assert_eq!(shake_hands(), Ok(()));
    is_rotated.store(true, Ordering::SeqCst);
    let error = shake_hands().unwrap_err().to_string();
    assert!(error.contains("no signature by the key"), "{error}");
    let set = rustls_pq::identity::IdentitySet::new();
    current.replace(set.with_default(world.identity(new)));
    assert_eq!(shake_hands(), Ok(()));
}
