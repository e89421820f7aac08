//! Providers over many different bases.

use alloc::sync::Arc;
use core::hint::black_box;
use std::sync::{Mutex, PoisonError};

use rustls::crypto::{CryptoProvider, KeyProvider};
use rustls::pki_types::PrivateKeyDer;
use rustls::sign::SigningKey;
use rustls_pq::{Builder, base};

use crate::timing::Passes;

pub(super) fn building(size: usize) -> Passes<'static> {
    // The last one, for which the search goes through all others.
    let base = bases(size).swap_remove(size - 1);
    Passes::new(1, move || drop(black_box(build(base.clone()))))
}

/// This number of different bases. Providers were built over them in this order.
fn bases(size: usize) -> Vec<CryptoProvider> {
    static BASES: Mutex<Vec<CryptoProvider>> = Mutex::new(Vec::new());

    let mut bases = BASES.lock().unwrap_or_else(PoisonError::into_inner);
    for _ in bases.len()..size {
        let base = base::first_usable().expect("a base");
        let key_provider = Box::leak(Box::new(Own(base.key_provider)));
        let base = CryptoProvider {
            key_provider,
            ..base
        };
        build(base.clone());
        bases.push(base);
    }
    bases[..size].to_vec()
}

fn build(base: CryptoProvider) -> CryptoProvider {
    Builder::new(base).build().expect("a provider")
}

/// A key provider that differs from others by its address.
#[derive(Debug)]
struct Own(&'static dyn KeyProvider);

impl KeyProvider for Own {
    fn load_private_key(
        &self,
        key: PrivateKeyDer<'static>,
    ) -> Result<Arc<dyn SigningKey>, rustls::Error> {
        self.0.load_private_key(key)
    }
}
