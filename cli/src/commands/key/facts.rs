use pq_x509::{Algorithm, KemAlgorithm, PublicKey, VerifyingKey};
use serde::Serialize;

use crate::report::fingerprint;
use crate::words::algorithm_name;

/// What there is to say of a key without its secret.
#[derive(Debug, Serialize)]
pub(crate) struct KeyFacts {
    /// The parameter set, and whether it is for hashes (HashSLH-DSA).
    pub(crate) algorithm: String,
    /// NIST's, from 1 to 5.
    pub(crate) security_category: Option<u8>,
    /// `sign` or `encapsulate`.
    #[serde(rename = "use")]
    pub(crate) use_: &'static str,
    /// Of the SubjectPublicKeyInfo, so a private key and its public half have the same.
    pub(crate) fingerprint: String,
}

impl KeyFacts {
    pub(crate) fn of(key: &PublicKey) -> Self {
        let algorithm = key.algorithm();
        Self {
            algorithm: match VerifyingKey::try_from(key.clone()) {
                Ok(key) => algorithm_name(key.oid()),
                Err(_) => algorithm.to_string(),
            },
            security_category: security_category(algorithm),
            use_: match algorithm {
                Algorithm::Kem(_) => "encapsulate",
                _ => "sign",
            },
            fingerprint: fingerprint(key.to_spki_der()),
        }
    }
}

fn security_category(algorithm: Algorithm) -> Option<u8> {
    match algorithm {
        Algorithm::Signature(algorithm) => Some(algorithm.security_category()),
        // FIPS 203, section 8
        Algorithm::Kem(KemAlgorithm::MlKem512) => Some(1),
        Algorithm::Kem(KemAlgorithm::MlKem768) => Some(3),
        Algorithm::Kem(KemAlgorithm::MlKem1024) => Some(5),
        _ => None,
    }
}
