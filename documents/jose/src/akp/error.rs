//! Why a key can't be used in JOSE or COSE at all. The errors of JWK, JWS and COSE contain this one.

use pq_keys::{KeyError, SignatureAlgorithm};
use thiserror::Error;

/// Why a key can't be used as an Algorithm Key Pair (RFC 9964).
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum AkpError {
    /// Its algorithm has no name in JOSE and COSE, or none that this crate knows.
    #[error(
        "JOSE and COSE are supported here for ML-DSA-44, ML-DSA-65 and ML-DSA-87 (RFC 9964), not for {0}; \
         use a key of one of these"
    )]
    Algorithm(String),
    /// The private key is not as long as a seed.
    #[error(
        "the {algorithm} private key has {len} bytes, but has to be a seed of 32 bytes, the only form in RFC \
         9964 section 4; export the seed"
    )]
    SeedLen {
        /// The algorithm that the key names.
        algorithm: SignatureAlgorithm,
        /// How many bytes the private key has.
        len: usize,
    },
    /// The public key beside the private key belongs to another key.
    #[error(
        "the public key beside the {0} private key belongs to another key; use neither, and get the key again \
         from where it was made"
    )]
    PublicKeyMismatch(SignatureAlgorithm),
    /// The key can't be read, has no seed, or made no signature.
    #[error("{0}")]
    Key(KeyError),
}

impl From<KeyError> for AkpError {
    fn from(error: KeyError) -> Self {
        Self::Key(error)
    }
}
