//! Errors as JavaScript gets them.

use pq_keys::{KeyError, UnknownAlgorithm};
use thiserror::Error;
use wasm_bindgen::JsValue;

use crate::javascript;

/// Why a call failed.
#[derive(Debug, Error)]
pub enum Failure {
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error(transparent)]
    UnknownAlgorithm(#[from] UnknownAlgorithm),
    #[error("{what} has {actual} bytes; it needs {expected}")]
    WrongLength {
        what: &'static str,
        expected: usize,
        actual: usize,
    },
    #[error("no such form of private keys; there are \"seed\", \"expanded\" and \"both\"")]
    UnknownForm,
    #[error(
        "the key signs hashes (HashSLH-DSA), which is not supported here; use a key that signs messages"
    )]
    PreHashKey,
}

impl Failure {
    /// The word by which programs tell errors apart.
    fn code(&self) -> &'static str {
        match self {
            Self::UnknownAlgorithm(_) => "unknown-algorithm",
            Self::WrongLength { .. } => "wrong-length",
            Self::UnknownForm => "unknown-form",
            Self::PreHashKey => "unsupported-algorithm",
            Self::Key(error) => match error {
                KeyError::Der(_) | KeyError::Syntax(_) => "malformed-der",
                KeyError::Pem(_) => "malformed-pem",
                KeyError::UnsupportedAlgorithm(_) | KeyError::HashMlDsa(_) => {
                    "unsupported-algorithm"
                }
                KeyError::NotASignatureKey(_) => "not-a-signature-key",
                KeyError::NotAKemKey(_) => "not-a-kem-key",
                KeyError::ParametersPresent(_)
                | KeyError::Malformed { .. }
                | KeyError::SeedMismatch(_)
                | KeyError::UnknownForm { .. }
                | KeyError::PublicKeyMismatch(_) => "malformed-key",
                KeyError::NoSeed(_) => "no-seed",
                KeyError::FormUnavailable { .. } => "form-unavailable",
                KeyError::NoMu(_) => "no-mu",
                KeyError::Operation { .. } => "refused-input",
                KeyError::Randomness(_) => "no-randomness",
                // No call fails with another: `keys` turns InvalidSignature into an answer and CannotStream into
                // NoMu, and asks for no pre-hash.
                _ => "error",
            },
        }
    }
}

/// An `Error` whose name is the code. `js/` makes a `PqtlsError` from it.
impl From<Failure> for JsValue {
    fn from(failure: Failure) -> Self {
        let error = javascript::Error::new(&failure.to_string());
        error.set_name(failure.code());
        error.into()
    }
}
