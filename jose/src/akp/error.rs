use pq_x509::{KeyError, SignatureAlgorithm};
use thiserror::Error;

/// Why a key is none of an Algorithm Key Pair (RFC 9964).
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum AkpError {
    /// Its algorithm has no name in JOSE and COSE, or none that this crate knows.
    #[error(
        "JOSE and COSE are supported here for ML-DSA-44, ML-DSA-65 and ML-DSA-87 (RFC 9964), not for {0}; \
         use a key of one of those"
    )]
    Algorithm(String),
    /// The private key is not as long as a seed.
    #[error(
        "the private key of {algorithm} has {len} bytes, and a seed, the only form of RFC 9964 section 4, has \
         32; have the seed exported"
    )]
    SeedLen {
        /// What the key claims to be.
        algorithm: SignatureAlgorithm,
        /// How many bytes there are.
        len: usize,
    },
    /// The private key has another public key beside it than its own.
    #[error(
        "the public key beside the private key of {0} belongs to another key; don't use either, and get the \
         key from where it was made"
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
