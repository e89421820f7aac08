//! A server with many names.

use alloc::sync::Arc;
use core::hint::black_box;

use pq_x509::SignatureAlgorithm;
use rustls::SignatureScheme;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls_pq::identity::{Identities, Identity, IdentitySet};

use crate::Passes;
use crate::handshake::identity;

const SCHEMES: [SignatureScheme; 2] = [
    SignatureScheme::ML_DSA_65,
    SignatureScheme::ECDSA_NISTP256_SHA256,
];

pub(super) fn choosing(size: usize) -> Passes<'static> {
    let [identity, _] = two();
    let identities = Identities::new(set(&identity, size));
    // From everywhere, so that the caches have no more of them than of others.
    let asked: Vec<_> = (0..1000).map(|at| name(at * 7919 % size)).collect();
    Passes::new(asked.len(), move || {
        for name in &asked {
            let choice = identities.choose_for(Some(name), &SCHEMES, &SCHEMES);
            assert!(black_box(choice).is_some());
        }
    })
}

pub(super) fn building(size: usize) -> Passes<'static> {
    let [identity, _] = two();
    Passes::new(1, move || drop(black_box(set(&identity, size))))
}

pub(super) fn replacing(size: usize) -> Passes<'static> {
    let [identity, mut new] = two();
    let identities = Identities::new(set(&identity, size));
    // One that has a name of its own.
    let mut old = identity;
    identities.update(|set| set.without(&old).with(old.clone()));
    Passes::new(1, move || {
        identities.update(|set| set.with_replaced(&old, new.clone()));
        core::mem::swap(&mut old, &mut new);
    })
}

/// They differ in nothing but in that they are two.
fn two() -> [Arc<Identity>; 2] {
    let provider = rustls_pq::provider().expect("a provider");
    let issued = identity::Identity::ml_dsa("tenant.example.org", SignatureAlgorithm::MlDsa65)
        .expect("a certificate");
    [(); 2].map(|()| {
        let key = PrivatePkcs8KeyDer::from(issued.key.clone());
        let identity = Identity::new(vec![issued.leaf.clone()], key.into(), &provider);
        Arc::new(identity.expect("a pair"))
    })
}

fn set(identity: &Arc<Identity>, size: usize) -> IdentitySet {
    (0..size).fold(IdentitySet::new(), |set, at| {
        set.with_name(&name(at), identity.clone())
    })
}

fn name(at: usize) -> String {
    format!("tenant-{at}.example.org")
}
