//! The two kinds of every root and certificate for development, their algorithms (ML-DSA-65, ECDSA-P256) and the ends
//! of their file names.

use serde::Serialize;

use crate::failure::Failure;
use crate::keys::{Algorithm, PrivateKey};

/// Roots and certificates come in twos: one for today's clients, which verify no post-quantum certificates,
/// and one for clients that do.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Twin {
    PostQuantum,
    Classical,
}

impl Twin {
    pub(super) const ALL: [Self; 2] = [Self::PostQuantum, Self::Classical];

    pub(super) fn algorithm(self) -> Algorithm {
        use pq_keys::SignatureAlgorithm::MlDsa65;
        use pq_keys::classical::ClassicalAlgorithm::EcdsaP256;

        match self {
            Self::PostQuantum => Algorithm::PostQuantum(MlDsa65.into()),
            Self::Classical => Algorithm::Classical(EcdsaP256),
        }
    }

    /// The end of the file names.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Self::PostQuantum => "",
            Self::Classical => "-classical",
        }
    }

    pub(super) fn new_key(self) -> Result<PrivateKey, Failure> {
        Ok(PrivateKey::generate(self.algorithm())?)
    }
}
