//! Which algorithms sign at once, and which take their time: the test programs of pq-keys and of pq-x509 include this
//! file as a module.

use pq_keys::SignatureAlgorithm;

/// All algorithms except the *s* sets of SLH-DSA, whose signatures may take a second.
pub(crate) fn quick_algorithms() -> impl Iterator<Item = SignatureAlgorithm> {
    SignatureAlgorithm::ALL
        .iter()
        .copied()
        .filter(|algorithm| !is_slow(*algorithm))
}

/// The other algorithms.
pub(crate) fn slow_algorithms() -> impl Iterator<Item = SignatureAlgorithm> {
    SignatureAlgorithm::ALL
        .iter()
        .copied()
        .filter(|algorithm| is_slow(*algorithm))
}

fn is_slow(algorithm: SignatureAlgorithm) -> bool {
    algorithm.name().starts_with("SLH-DSA") && algorithm.name().ends_with('s')
}
