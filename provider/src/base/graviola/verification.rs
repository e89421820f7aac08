//! All algorithms that graviola verifies in chains.
//!
//! It is not the list of graviola's glue for rustls: to use that list, a program has to contain the
//! glue's cipher suites and groups as well.

use std::sync::LazyLock;

use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms};

use super::{ecdsa, ed25519, rsa};
use crate::verify::Algorithm;

/// The algorithms of graviola's glue, in its order, and RSA without parameters.
pub(super) fn all() -> &'static [Algorithm] {
    /// Made once, and kept as long as the process.
    static ALL: LazyLock<Vec<Algorithm>> = LazyLock::new(|| {
        let with = ecdsa::ALL
            .iter()
            .chain([&ED25519])
            .chain(&rsa::WITH_PARAMETERS);
        with.chain(&rsa::WITHOUT_PARAMETERS).copied().collect()
    });

    &ALL
}

static ED25519: Algorithm = &ed25519::Ed25519;

/// `provider`, which is graviola's, with these algorithms in place of its own.
pub(super) fn in_place(provider: CryptoProvider) -> CryptoProvider {
    /// Made once, and kept as long as the process.
    static ALGORITHMS: LazyLock<WebPkiSupportedAlgorithms> = LazyLock::new(|| {
        let theirs = rustls_graviola::default_provider().signature_verification_algorithms;
        let mapping = theirs.mapping.iter();
        let mapping = mapping.map(|(scheme, algorithms)| (*scheme, ours_for(algorithms)));
        WebPkiSupportedAlgorithms {
            all: all(),
            mapping: Vec::leak(mapping.collect()),
        }
    });

    CryptoProvider {
        signature_verification_algorithms: *ALGORITHMS,
        ..provider
    }
}

fn ours_for(theirs: &[Algorithm]) -> &'static [Algorithm] {
    let ours_for = |their: Algorithm| {
        let same = |our: &&Algorithm| {
            our.public_key_alg_id() == their.public_key_alg_id()
                && our.signature_alg_id() == their.signature_alg_id()
        };
        all().iter().find(same).copied().unwrap_or(their)
    };
    Vec::leak(theirs.iter().copied().map(ours_for).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interned::Same;

    #[test]
    fn each_algorithm_of_graviola_is_replaced() {
        let theirs = rustls_graviola::default_provider();
        let ours = in_place(theirs.clone()).signature_verification_algorithms;
        let theirs = theirs.signature_verification_algorithms;
        let check = |theirs: &[Algorithm], ours: &[Algorithm]| {
            assert_eq!(theirs.len(), ours.len());
            for (their, our) in theirs.iter().zip(ours) {
                assert_eq!(our.public_key_alg_id(), their.public_key_alg_id());
                assert_eq!(our.signature_alg_id(), their.signature_alg_id());
                assert!(all().iter().any(|known| Same(*known) == Same(*our)));
            }
        };
        let (with, without) = ours.all.split_at(theirs.all.len());
        check(theirs.all, with);
        assert_eq!(without.len(), rsa::WITHOUT_PARAMETERS.len());
        assert_eq!(theirs.mapping.len(), ours.mapping.len());
        for (their, our) in theirs.mapping.iter().zip(ours.mapping) {
            assert_eq!(their.0, our.0);
            check(their.1, our.1);
        }
    }
}
