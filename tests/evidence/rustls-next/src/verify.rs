//! Verification for rustls 0.24.

#[path = "../../../../provider/src/verify/ml_dsa.rs"]
mod ml_dsa;

use rustls::crypto::WebPkiSupportedAlgorithms;

/// ML-DSA for chains and for CertificateVerify.
pub static ML_DSA: WebPkiSupportedAlgorithms =
    match WebPkiSupportedAlgorithms::new(ml_dsa::ALL, ml_dsa::MAPPING) {
        Ok(algorithms) => algorithms,
        Err(_) => panic!("every scheme has an algorithm"),
    };
