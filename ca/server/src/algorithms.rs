//! The algorithms that signatures are verified by, besides those of pq-x509.

use pq_x509::pki_types::SignatureVerificationAlgorithm;

/// Classical ones, if this CPU has them, and composites.
pub(crate) fn algorithms() -> Vec<&'static dyn SignatureVerificationAlgorithm> {
    let classical = rustls_pq::classical::verification_algorithms().unwrap_or_default();
    let composite = rustls_pq::composite::verification_algorithms().unwrap_or_default();
    classical.iter().chain(composite).copied().collect()
}
