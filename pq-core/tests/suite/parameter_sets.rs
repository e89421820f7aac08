//! From the parameter set's name in a file of vectors to its type.

use pq_core::{Array, Dimension};

/// `bytes` as an array of the length that a parameter set has.
pub(crate) fn array<D: Dimension>(bytes: &[u8]) -> Array<D, u8> {
    assert_eq!(bytes.len(), D::N);
    D::from_fn(|i| bytes[i])
}

/// Evaluates `$body` with `$p` as the ML-KEM parameter set called `$name`.
macro_rules! with_ml_kem {
    ($name:expr, $p:ident => $body:expr) => {
        match $name {
            "ML-KEM-512" => {
                type $p = ::pq_core::ml_kem::MlKem512;
                $body
            }
            "ML-KEM-768" => {
                type $p = ::pq_core::ml_kem::MlKem768;
                $body
            }
            "ML-KEM-1024" => {
                type $p = ::pq_core::ml_kem::MlKem1024;
                $body
            }
            other => panic!("unknown ML-KEM parameter set {other:?}"),
        }
    };
}

/// Evaluates `$body` with `$p` as the ML-DSA parameter set called `$name`.
macro_rules! with_ml_dsa {
    ($name:expr, $p:ident => $body:expr) => {
        match $name {
            "ML-DSA-44" => {
                type $p = ::pq_core::ml_dsa::MlDsa44;
                $body
            }
            "ML-DSA-65" => {
                type $p = ::pq_core::ml_dsa::MlDsa65;
                $body
            }
            "ML-DSA-87" => {
                type $p = ::pq_core::ml_dsa::MlDsa87;
                $body
            }
            other => panic!("unknown ML-DSA parameter set {other:?}"),
        }
    };
}

/// Evaluates `$body` with `$p` as the SLH-DSA parameter set called `$name`.
macro_rules! with_slh_dsa {
    ($name:expr, $p:ident => $body:expr) => {
        match $name {
            "SLH-DSA-SHAKE-128s" => {
                type $p = ::pq_core::slh_dsa::SlhDsaShake128s;
                $body
            }
            "SLH-DSA-SHAKE-128f" => {
                type $p = ::pq_core::slh_dsa::SlhDsaShake128f;
                $body
            }
            "SLH-DSA-SHAKE-192s" => {
                type $p = ::pq_core::slh_dsa::SlhDsaShake192s;
                $body
            }
            "SLH-DSA-SHAKE-192f" => {
                type $p = ::pq_core::slh_dsa::SlhDsaShake192f;
                $body
            }
            "SLH-DSA-SHAKE-256s" => {
                type $p = ::pq_core::slh_dsa::SlhDsaShake256s;
                $body
            }
            "SLH-DSA-SHAKE-256f" => {
                type $p = ::pq_core::slh_dsa::SlhDsaShake256f;
                $body
            }
            "SLH-DSA-SHA2-128s" => {
                type $p = ::pq_core::slh_dsa::SlhDsaSha2_128s;
                $body
            }
            "SLH-DSA-SHA2-128f" => {
                type $p = ::pq_core::slh_dsa::SlhDsaSha2_128f;
                $body
            }
            "SLH-DSA-SHA2-192s" => {
                type $p = ::pq_core::slh_dsa::SlhDsaSha2_192s;
                $body
            }
            "SLH-DSA-SHA2-192f" => {
                type $p = ::pq_core::slh_dsa::SlhDsaSha2_192f;
                $body
            }
            "SLH-DSA-SHA2-256s" => {
                type $p = ::pq_core::slh_dsa::SlhDsaSha2_256s;
                $body
            }
            "SLH-DSA-SHA2-256f" => {
                type $p = ::pq_core::slh_dsa::SlhDsaSha2_256f;
                $body
            }
            other => panic!("unknown SLH-DSA parameter set {other:?}"),
        }
    };
}
