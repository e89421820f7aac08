//! The algorithms that verify classical and composite signatures, for pq-x509, pq-ca and pq-cms, which know only the
//! post-quantum ones.

use std::sync::LazyLock;

use pq_x509::pki_types::SignatureVerificationAlgorithm;
use rustls_pq::classical::verification_algorithms;
use rustls_pq::composite;

/// The algorithms that verify classical and composite signatures; pq-x509 verifies post-quantum ones by itself.
/// Empty if the CPU lacks what they need.
pub(crate) fn other_verification() -> &'static [&'static dyn SignatureVerificationAlgorithm] {
    /// Made once, and kept as long as the process.
    static ALL: LazyLock<Vec<&'static dyn SignatureVerificationAlgorithm>> = LazyLock::new(|| {
        let classical = verification_algorithms().unwrap_or_default();
        let composite = composite::verification_algorithms().unwrap_or_default();
        [classical, composite].concat()
    });

    &ALL
}

/// Why classical signatures can't be verified here, if they can't.
pub(crate) fn why_post_quantum_only() -> Option<String> {
    verification_algorithms()
        .err()
        .map(|error| error.to_string())
}
