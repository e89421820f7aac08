//! The provider over each base, held against rustls's own providers: the same algorithms, and the
//! same errors and alerts for the same bad input, or a reason why not.

mod ed25519;
mod lists;
mod tampered;

use rustls::crypto::CryptoProvider;
use rustls_pq::Builder;

use crate::peers::bases;

/// Those of rustls that are compiled in, by name.
fn rustls_own() -> Vec<(&'static str, CryptoProvider)> {
    vec![
        #[cfg(feature = "aws-lc-rs")]
        ("aws-lc-rs", rustls::crypto::aws_lc_rs::default_provider()),
        ("ring", rustls::crypto::ring::default_provider()),
    ]
}

/// Ours, by the name of the base.
fn ours() -> Vec<(&'static str, CryptoProvider)> {
    let build = |base| Builder::new(base).build().unwrap();
    let bases = bases().into_iter();
    bases.map(|(name, base)| (name, build(base))).collect()
}
