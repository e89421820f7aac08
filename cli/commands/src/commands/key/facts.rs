//! What reports say about a key, without its secrets: algorithm, use, NIST's security category and fingerprint. Notes
//! warn of classical keys, and name the drafts of X-Wing and composite ones.

use pq_keys::KemAlgorithm;
use serde::Serialize;

use super::encode::Form;
use crate::keys::{Algorithm, PublicKey};
use crate::report::fingerprint;
use crate::words::key_name;

/// The facts about a key that are not secret.
#[derive(Debug, Serialize)]
pub(crate) struct KeyFacts {
    /// The parameter set, and whether it is for hashes (HashSLH-DSA).
    pub(crate) algorithm: String,
    /// Whether it is safe against quantum computers, as far as anybody knows.
    pub(crate) post_quantum: bool,
    /// NIST's category, from 1 to 5.
    pub(crate) security_category: Option<u8>,
    /// `sign`, `encapsulate` or `agree`.
    #[serde(rename = "use")]
    pub(crate) use_: &'static str,
    /// The fingerprint of the SubjectPublicKeyInfo, so a private key and its public half have the same.
    pub(crate) fingerprint: String,
    /// A note on keys whose private halves have only one form.
    #[serde(skip)]
    note: Option<&'static str>,
}

impl KeyFacts {
    pub(crate) fn of(key: &PublicKey) -> Self {
        let algorithm = key.algorithm();
        Self {
            algorithm: key_name(key.to_spki_der()),
            post_quantum: algorithm.is_post_quantum(),
            security_category: security_category(algorithm),
            use_: match algorithm {
                Algorithm::PostQuantum(pq_keys::Algorithm::Kem(_)) | Algorithm::XWing => {
                    "encapsulate"
                }
                Algorithm::Agreement(_) => "agree",
                _ => "sign",
            },
            fingerprint: fingerprint(key.to_spki_der()),
            note: match algorithm {
                Algorithm::PostQuantum(_) => None,
                Algorithm::XWing => Some(X_WING),
                Algorithm::Composite(_) => Some(COMPOSITE),
                Algorithm::Classical(_) | Algorithm::Agreement(_) => Some(CLASSICAL),
            },
        }
    }
}

impl KeyFacts {
    /// Describes a private key, for messages.
    pub(crate) fn in_form(&self, form: Option<Form>) -> String {
        let algorithm = &self.algorithm;
        match form.map(Form::name).or(self.note) {
            Some(note) => format!("private key of {algorithm} ({note})"),
            None => format!("private key of {algorithm}"),
        }
    }
}

/// The note on keys that are not post-quantum.
pub(crate) const CLASSICAL: &str = "classical: not safe against quantum computers";

/// The note on composite keys.
const COMPOSITE: &str = "composite, by draft-ietf-lamps-pq-composite-sigs-19";

/// The note on X-Wing keys.
const X_WING: &str = "ML-KEM-768 and X25519, by draft-connolly-cfrg-xwing-kem-10";

fn security_category(algorithm: Algorithm) -> Option<u8> {
    use pq_keys::Algorithm::{Kem, Signature};

    let algorithm = match algorithm {
        Algorithm::PostQuantum(algorithm) => algorithm,
        Algorithm::Composite(algorithm) => algorithm.ml_dsa().into(),
        // the draft claims none
        Algorithm::XWing | Algorithm::Classical(_) | Algorithm::Agreement(_) => return None,
    };
    match algorithm {
        Signature(algorithm) => Some(algorithm.security_category()),
        // FIPS 203, section 8
        Kem(KemAlgorithm::MlKem512) => Some(1),
        Kem(KemAlgorithm::MlKem768) => Some(3),
        Kem(KemAlgorithm::MlKem1024) => Some(5),
        _ => None,
    }
}
