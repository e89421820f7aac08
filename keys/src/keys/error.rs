//! The error type of all that is done with keys: made, read, written and used.

use const_oid::ObjectIdentifier;
use pq_core::ml_dsa::PreHash;
use thiserror::Error;

use super::algorithm::{Algorithm, KemAlgorithm, PrivateKeyForm, SignatureAlgorithm};
use super::random::RandomnessError;
use crate::encoding::pem::PemError;
use crate::encoding::syntax::SyntaxError;
use crate::errors::from_causes;

/// Why a key could not be made, read, written or used.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum KeyError {
    /// The bytes are not the DER of a PKCS#8 private key or of a SubjectPublicKeyInfo.
    #[error("the key is not valid DER: {0}")]
    Der(der::Error),
    /// A value in the DER is not valid for its type.
    #[error("the key {0}")]
    Syntax(SyntaxError),
    /// The text holds no PEM block of the right kind, or a damaged one.
    #[error(transparent)]
    Pem(#[from] PemError),
    /// The key is of an algorithm that this crate does not know.
    ///
    /// Such a key can issue and be certified all the same: see [`Signer`](crate::Signer) and
    /// [`SubjectKey`](crate::SubjectKey).
    #[error(
        "keys of algorithm {0} are not supported here, only keys of ML-DSA, SLH-DSA and ML-KEM"
    )]
    UnsupportedAlgorithm(ObjectIdentifier),
    /// The key is for HashML-DSA, which RFC 9881 section 8.3 excludes from certificates.
    #[error(
        "{0} is HashML-DSA, which is not for certificates (RFC 9881 section 8.3); use a key of \
         pure ML-DSA, which can sign a hash computed elsewhere, too (external µ)"
    )]
    HashMlDsa(ObjectIdentifier),
    /// The AlgorithmIdentifier carries parameters, which must be absent.
    #[error(
        "the AlgorithmIdentifier of {0} carries parameters; they must be absent, and \
         NULL is not absent: have the key encoded again by a conforming tool"
    )]
    ParametersPresent(Algorithm),
    /// A public key of a classical algorithm that is no key of it, or that others can use as its owner can.
    #[error("no certificate is made for this {algorithm} key, because {flaw}; make another key")]
    WeakClassical {
        /// The key's algorithm or curve.
        algorithm: &'static str,
        /// What is wrong with it.
        flaw: &'static str,
    },
    /// The caller asked for a key that signs or verifies, but this key is for a KEM.
    #[error(
        "this is a key of {0}, which encapsulates; a key that signs is needed, such as ML-DSA-65"
    )]
    NotASignatureKey(KemAlgorithm),
    /// The caller asked for a key for a KEM, but this key signs or verifies.
    #[error(
        "this is a key of {0}, which signs; a key that encapsulates is needed, such as ML-KEM-768"
    )]
    NotAKemKey(SignatureAlgorithm),
    /// The key material is invalid: its length, a coefficient or its hash is wrong, or its private and
    /// public parts do not belong together.
    #[error("malformed {algorithm} key: {error}")]
    Malformed {
        /// What the key claims to be.
        algorithm: Algorithm,
        /// The check that failed.
        error: pq_core::Error,
    },
    /// A private key in the form with both seed and expanded key, where the seed
    /// does not expand to that key.
    #[error(
        "malformed {0} key: its seed does not expand to the expanded key beside it; \
         one of the two is damaged or forged, so neither can be used"
    )]
    SeedMismatch(Algorithm),
    /// The private key's OCTET STRING has none of the forms that are known for the algorithm.
    #[error(
        "the private key of {algorithm} is in no known form: its {len} bytes are neither the \
         standards' CHOICE of seed, expanded key and both (RFC 9881 and RFC 9935, section 6), nor \
         a bare seed of {} or expanded key of {} bytes; export it again, preferably as its seed",
        .algorithm.seed_len(),
        .algorithm.expanded_len()
    )]
    UnknownForm {
        /// What the key claims to be.
        algorithm: Algorithm,
        /// How many bytes there are.
        len: usize,
    },
    /// The public key beside the private key in the file belongs to another key.
    #[error("malformed {0} key: the public key beside the private key belongs to another key")]
    PublicKeyMismatch(Algorithm),
    /// The caller asked for the seed, but the key was read from its expanded form.
    #[error(
        "this {0} key has no seed, because it was read from its expanded form and the \
         expansion cannot be undone: ask for the expanded form, or use the file that has \
         the seed"
    )]
    NoSeed(Algorithm),
    /// The caller asked for a form of private key that the algorithm doesn't have.
    #[error(
        "{algorithm} private keys have one form (RFC 9909), the expanded one: ask for this form, or for \
         none"
    )]
    FormUnavailable {
        /// The key's algorithm.
        algorithm: Algorithm,
        /// The form asked for.
        form: PrivateKeyForm,
    },
    /// The signature is not valid for this key and message, or has a wrong length.
    #[error("invalid {0} signature")]
    InvalidSignature(SignatureAlgorithm),
    /// Pure SLH-DSA can't sign a message that comes in pieces.
    #[error(
        "{0} reads a message twice to sign it, so it takes messages as a whole; to sign one that comes in \
         pieces, sign a hash of it, with the pre-hash {usual}",
        usual = .0.usual_pre_hash()
    )]
    CannotStream(SignatureAlgorithm),
    /// The caller gave µ for a key of an algorithm that signs no µ.
    #[error("{0} has no µ: only pure ML-DSA has one (FIPS 204); give the message itself")]
    NoMu(SignatureAlgorithm),
    /// The hash is weaker than the algorithm: its collisions are easier to find.
    #[error(
        "{hash} is weaker than {algorithm}, which needs digests of at least {least} bits (FIPS 204 \
         section 5.4, FIPS 205 section 10.2); use {usual}",
        least = 8 * .algorithm.least_digest_len(),
        usual = .algorithm.usual_pre_hash()
    )]
    WeakPreHash {
        /// The key's algorithm.
        algorithm: SignatureAlgorithm,
        /// The hash function asked for.
        hash: PreHash,
    },
    /// The key is for HashSLH-DSA with one hash function, but the caller asked for another.
    #[error(
        "the key is for Hash{algorithm} with {own} (RFC 9909), not with {asked}; ask for no pre-hash, and \
         the key uses its own"
    )]
    OtherPreHash {
        /// The key's parameter set.
        algorithm: SignatureAlgorithm,
        /// The hash function that the key's identifier names.
        own: PreHash,
        /// The hash function asked for.
        asked: PreHash,
    },
    /// The input of an operation was refused, such as a ciphertext of a wrong length.
    #[error("{algorithm}: {error}")]
    Operation {
        /// The key's algorithm.
        algorithm: Algorithm,
        /// What was wrong with the input.
        error: pq_core::Error,
    },
    /// The operating system gave no randomness.
    #[error("the operating system gave no randomness: {0}")]
    Randomness(RandomnessError),
}

from_causes!(KeyError: Der(der::Error), Syntax(SyntaxError), Randomness(RandomnessError));
