//! The one error type of this crate: which check of FIPS 203, FIPS 204 or FIPS 205 an input did not pass.

use core::fmt;

/// Why an input was refused.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// A key, ciphertext, signature or digest has the wrong number of bytes.
    WrongLength {
        /// The length that the parameter set or hash function requires, in bytes.
        expected: usize,
        /// The length of the input, in bytes.
        actual: usize,
    },
    /// An encapsulation key has a coefficient that is not reduced modulo q
    /// (the modulus check of FIPS 203, section 7.2).
    UnreducedCoefficient,
    /// A decapsulation key holds a hash that does not match the encapsulation key inside it (the
    /// hash check of FIPS 203, section 7.3).
    HashMismatch,
    /// An expanded private key has a secret coefficient outside its range
    /// (FIPS 203, algorithm 6 on ŝ; FIPS 204, algorithm 25 on s₁ and s₂).
    SecretOutOfRange,
    /// The public part of an expanded private key does not belong to its secret part.
    InconsistentKey,
    /// A context string is longer than 255 bytes (FIPS 204, section 5.2).
    ContextTooLong,
    /// A hash function is weaker than the parameter set, so that signatures of its digests would be
    /// (FIPS 204, section 5.4.1; FIPS 205, section 10.2.2).
    WeakHash {
        /// The least length of a digest that the parameter set may sign, in bytes.
        least: usize,
        /// The length of the hash function's digests, in bytes.
        actual: usize,
    },
    /// The signature is not valid for this key, message and context.
    InvalidSignature,
    /// The key has made as many signatures as its parameter set allows (SP 800-230, draft).
    #[cfg(feature = "slh-dsa-sp800-230-draft")]
    SignatureLimit,
}

impl Error {
    /// Refuses `bytes` unless its length is `expected`.
    pub(crate) fn check_length(expected: usize, bytes: &[u8]) -> Result<(), Self> {
        let actual = bytes.len();
        if actual == expected {
            Ok(())
        } else {
            Err(Self::WrongLength { expected, actual })
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongLength { expected, actual } => {
                write!(f, "wrong length: expected {expected} bytes, got {actual}")
            }
            Self::UnreducedCoefficient => {
                f.write_str("encapsulation key has a coefficient that is not reduced modulo q")
            }
            Self::HashMismatch => f.write_str(
                "decapsulation key holds a hash that does not match its encapsulation key",
            ),
            Self::SecretOutOfRange => {
                f.write_str("expanded private key has a secret coefficient out of range")
            }
            Self::InconsistentKey => {
                f.write_str("expanded private key does not match the public key inside it")
            }
            Self::ContextTooLong => f.write_str("context string is longer than 255 bytes"),
            Self::WeakHash { least, actual } => write!(
                f,
                "hash function is weaker than the key: sign digests of at least {least} bytes, not of {actual}"
            ),
            Self::InvalidSignature => f.write_str("invalid signature"),
            #[cfg(feature = "slh-dsa-sp800-230-draft")]
            Self::SignatureLimit => f.write_str(
                "signing key has made as many signatures as its parameter set allows: make a new key",
            ),
        }
    }
}

impl core::error::Error for Error {}
