//! What providers contain, and what the builder refuses.

mod bases;
mod cipher_suites;
mod groups;
mod profiles;
mod signatures;

use rustls::crypto::CryptoProvider;
use rustls::{CipherSuite, SignatureScheme};
use rustls_pq::Group;

fn suites(provider: &CryptoProvider) -> Vec<CipherSuite> {
    let suites = provider.cipher_suites.iter();
    suites.map(|suite| suite.suite()).collect()
}

fn schemes(provider: &CryptoProvider) -> Vec<SignatureScheme> {
    provider
        .signature_verification_algorithms
        .supported_schemes()
}

fn names(provider: &CryptoProvider) -> Vec<Group> {
    provider
        .kx_groups
        .iter()
        .map(|group| group.name().into())
        .collect()
}
