//! The error type of all that is done with classical keys. It includes the CPUs and architectures on which graviola
//! doesn't run.

use der;
use spki::ObjectIdentifier;

use super::algorithm::ClassicalAlgorithm;
use crate::encoding::pem::PemError;

/// Why a classical key could not be made, read, written or used.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ClassicalKeyError {
    /// graviola needs instructions that this CPU lacks.
    #[error(
        "ECDSA, ECDH, Ed25519, X25519 and RSA keys need graviola, which needs CPU features that this \
         CPU lacks: {}; use a post-quantum key, such as one of ML-DSA-65, or another machine",
        .missing.join(", ")
    )]
    UnsupportedCpu {
        /// The missing features, as `std::arch` names them.
        missing: Vec<&'static str>,
    },
    /// graviola doesn't exist for this architecture.
    #[error(
        "ECDSA, ECDH, Ed25519, X25519 and RSA keys need graviola, which runs on x86_64 and aarch64, \
         not on {architecture}; use a post-quantum key, such as one of ML-DSA-65, or another machine"
    )]
    UnsupportedArchitecture {
        /// The architecture that the program was built for.
        architecture: &'static str,
    },
    /// The bytes are not the DER of a private key or of a SubjectPublicKeyInfo.
    #[error("the key is not valid DER: {0}")]
    Der(der::Error),
    /// The text holds no PEM block of the right kind, or a damaged one.
    #[error(transparent)]
    Pem(#[from] PemError),
    /// The key's algorithm or curve is not in [`ClassicalAlgorithm::ALL`].
    #[error(
        "no support for classical keys of the algorithm or curve {0}; take one of ECDSA on P-256 or \
         P-384, of Ed25519 or of RSA"
    )]
    UnsupportedAlgorithm(ObjectIdentifier),
    /// No RSA algorithm in [`ClassicalAlgorithm::ALL`] has this length.
    #[error("no support for RSA keys of {0} bits; take one of 2048, of 3072 or of 4096 bits")]
    UnsupportedRsaLength(usize),
    /// The AlgorithmIdentifier has parameters that don't fit its algorithm.
    #[error(
        "the AlgorithmIdentifier of {0} has wrong parameters: ECDSA needs the name of a curve, RSA \
         NULL, Ed25519 and X25519 none; have the key encoded again by a conforming tool"
    )]
    Parameters(ObjectIdentifier),
    /// The key material itself was refused.
    #[error("malformed {algorithm} key: {reason}")]
    Malformed {
        /// The algorithm that the key claims.
        algorithm: &'static str,
        /// The check that failed.
        reason: String,
    },
    /// The public key in a private key's file belongs to another key.
    #[error("malformed {0} key: the public key beside the private key belongs to another key")]
    PublicKeyMismatch(&'static str),
    /// The parts of a private key don't belong together: its public key refuses its signatures.
    #[error(
        "the parts of the key don't belong together: its public half refuses what its private half \
         signs; don't use it, and get it again from where it was made"
    )]
    Unsound,
    /// Raw bytes of an RSA key were requested, which no standard defines.
    #[error("{0} keys are several numbers and have no raw bytes; write them as PEM or DER")]
    NoRawBytes(ClassicalAlgorithm),
    /// A raw private key has the wrong length.
    #[error("a raw private key of {algorithm} has {expected} bytes, not {found}")]
    RawLength {
        /// The algorithm of the key.
        algorithm: ClassicalAlgorithm,
        /// The right length.
        expected: usize,
        /// The length found.
        found: usize,
    },
    /// A raw private key for key agreement has the wrong length.
    #[error("a raw private key of {algorithm} has {expected} bytes, not {found}")]
    AgreementRawLength {
        /// The algorithm of the key.
        algorithm: &'static str,
        /// The right length.
        expected: usize,
        /// The length found.
        found: usize,
    },
    /// Keys of this algorithm only sign; encryption needs key agreement.
    #[error(
        "{0} keys don't agree on secrets, which encryption needs; take a key on P-256 or P-384, or one of X25519"
    )]
    NoAgreement(&'static str),
    /// The signature is not valid for this key and message.
    #[error("invalid {0} signature")]
    InvalidSignature(ClassicalAlgorithm),
    /// The operating system gave no randomness.
    #[error("the operating system gave no randomness")]
    Randomness,
}

impl From<der::Error> for ClassicalKeyError {
    fn from(error: der::Error) -> Self {
        Self::Der(error)
    }
}
