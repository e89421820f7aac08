//! From the parameter set's name in a file of vectors to its type.

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
