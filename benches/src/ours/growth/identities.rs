//! A server with many names, each with a certificate of its own.

use alloc::sync::Arc;
use core::hint::black_box;
use std::sync::{Mutex, PoisonError};

use pq_x509::issuing::{CertificateBuilder, Issuer};
use rustls::SignatureScheme;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls_pq::identity::{Identities, Identity, IdentitySet};

use super::chains::Nobody;
use crate::timing::Passes;
use crate::tls::handshake::identity::P256;

/// The client's schemes; the last one is the CA's.
const SCHEMES: [SignatureScheme; 3] = [
    SignatureScheme::ML_DSA_65,
    SignatureScheme::ECDSA_NISTP256_SHA256,
    SignatureScheme::ED25519,
];

pub(super) fn choosing(size: usize) -> Passes<'static> {
    let identities = Identities::new(set(&tenants(size)));
    // Names from everywhere, so that the caches have no more of them than of others.
    let asked: Vec<_> = (0..1000).map(|at| name(at * 7919 % size)).collect();
    Passes::new(asked.len(), move || {
        for name in &asked {
            let choice = identities.choose_for(Some(name), &SCHEMES, &SCHEMES);
            assert!(black_box(choice).is_some());
        }
    })
}

pub(super) fn building(size: usize) -> Passes<'static> {
    let tenants = tenants(size);
    Passes::new(1, move || drop(black_box(set(&tenants))))
}

pub(super) fn replacing(size: usize) -> Passes<'static> {
    let tenants = tenants(size);
    let identities = Identities::new(set(&tenants));
    let mut old = tenants[size / 2].clone();
    let mut new = Arc::new(Pki::new().identity(size / 2));
    Passes::new(1, move || {
        identities.update(|set| set.with_replaced(&old, new.clone()));
        core::mem::swap(&mut old, &mut new);
        assert!(identities.current().contains(&old));
    })
}

pub(super) fn adding(size: usize) -> Passes<'static> {
    let tenants = tenants(size);
    let identities = Identities::new(set(&tenants));
    let new = Arc::new(Pki::new().identity(size));
    Passes::new(1, move || {
        identities.update(|set| set.with(new.clone()));
        assert!(identities.current().contains(&new));
        identities.update(|set| set.without(&new));
    })
}

/// This number of identities. Making 100,000 takes some seconds, so they are made once.
fn tenants(size: usize) -> Vec<Arc<Identity>> {
    static TENANTS: Mutex<Vec<Arc<Identity>>> = Mutex::new(Vec::new());

    let mut tenants = TENANTS.lock().unwrap_or_else(PoisonError::into_inner);
    let pki = Pki::new();
    for at in tenants.len()..size {
        tenants.push(Arc::new(pki.identity(at)));
    }
    tenants[..size].to_vec()
}

fn set(tenants: &[Arc<Identity>]) -> IdentitySet {
    (tenants.iter()).fold(IdentitySet::new(), |set, tenant| set.with(tenant.clone()))
}

fn name(at: usize) -> String {
    format!("tenant-{at}.example.org")
}

/// A CA whose signatures are never verified, and the one key of all its certificates.
struct Pki {
    ca: Issuer<Nobody>,
    key: P256,
    pkcs8: Vec<u8>,
    provider: CryptoProvider,
}

impl Pki {
    fn new() -> Self {
        let (key, pkcs8) = P256::generate().expect("a key");
        Self {
            ca: Issuer::self_signed(CertificateBuilder::ca("CA"), Nobody).expect("a root"),
            key,
            pkcs8,
            provider: rustls_pq::provider().expect("a provider"),
        }
    }

    fn identity(&self, at: usize) -> Identity {
        let leaf = CertificateBuilder::server().dns_name(name(at));
        let leaf = self.ca.issue(leaf, &self.key).expect("a certificate");
        let key = PrivatePkcs8KeyDer::from(self.pkcs8.clone());
        Identity::new(vec![leaf.into_der()], key.into(), &self.provider).expect("a pair")
    }
}
