use pq_x509::pki_types::SignatureVerificationAlgorithm;
use rustls_pq::classical::verification_algorithms;

/// What verifies classical signatures, beside the post-quantum ones that pq-x509 verifies anyway:
/// nothing, where the CPU can't.
pub(crate) fn classical_verification() -> &'static [&'static dyn SignatureVerificationAlgorithm] {
    verification_algorithms().unwrap_or_default()
}

/// Why classical signatures can't be verified here, if they can't.
pub(crate) fn why_post_quantum_only() -> Option<String> {
    verification_algorithms()
        .err()
        .map(|error| error.to_string())
}
