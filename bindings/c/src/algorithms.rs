//! Numbers of the algorithms, of the kinds of messages to sign, and of forms and encodings of keys.

use pq_core::ml_dsa::PreHash;
use pq_keys::{Algorithm, KemAlgorithm, SignatureAlgorithm};

use crate::error::{Code, PQTLS_ERROR_ALGORITHM};

/// ML-KEM-512
pub const PQTLS_ML_KEM_512: i32 = 1;
/// ML-KEM-768
pub const PQTLS_ML_KEM_768: i32 = 2;
/// ML-KEM-1024
pub const PQTLS_ML_KEM_1024: i32 = 3;
/// ML-DSA-44
pub const PQTLS_ML_DSA_44: i32 = 4;
/// ML-DSA-65
pub const PQTLS_ML_DSA_65: i32 = 5;
/// ML-DSA-87
pub const PQTLS_ML_DSA_87: i32 = 6;
/// SLH-DSA-SHA2-128s
pub const PQTLS_SLH_DSA_SHA2_128S: i32 = 7;
/// SLH-DSA-SHA2-128f
pub const PQTLS_SLH_DSA_SHA2_128F: i32 = 8;
/// SLH-DSA-SHA2-192s
pub const PQTLS_SLH_DSA_SHA2_192S: i32 = 9;
/// SLH-DSA-SHA2-192f
pub const PQTLS_SLH_DSA_SHA2_192F: i32 = 10;
/// SLH-DSA-SHA2-256s
pub const PQTLS_SLH_DSA_SHA2_256S: i32 = 11;
/// SLH-DSA-SHA2-256f
pub const PQTLS_SLH_DSA_SHA2_256F: i32 = 12;
/// SLH-DSA-SHAKE-128s
pub const PQTLS_SLH_DSA_SHAKE_128S: i32 = 13;
/// SLH-DSA-SHAKE-128f
pub const PQTLS_SLH_DSA_SHAKE_128F: i32 = 14;
/// SLH-DSA-SHAKE-192s
pub const PQTLS_SLH_DSA_SHAKE_192S: i32 = 15;
/// SLH-DSA-SHAKE-192f
pub const PQTLS_SLH_DSA_SHAKE_192F: i32 = 16;
/// SLH-DSA-SHAKE-256s
pub const PQTLS_SLH_DSA_SHAKE_256S: i32 = 17;
/// SLH-DSA-SHAKE-256f
pub const PQTLS_SLH_DSA_SHAKE_256F: i32 = 18;

/// The message itself is signed. Use only this kind and PQTLS_MU, unless you have a reason for another.
pub const PQTLS_PURE: i32 = 0;
/// The message is hashed with SHA-224, and the digest is signed (HashML-DSA, HashSLH-DSA).
pub const PQTLS_HASH_SHA2_224: i32 = 1;
/// The message is hashed with SHA-256, and the digest is signed (HashML-DSA, HashSLH-DSA).
pub const PQTLS_HASH_SHA2_256: i32 = 2;
/// The message is hashed with SHA-384, and the digest is signed (HashML-DSA, HashSLH-DSA).
pub const PQTLS_HASH_SHA2_384: i32 = 3;
/// The message is hashed with SHA-512, and the digest is signed (HashML-DSA, HashSLH-DSA).
pub const PQTLS_HASH_SHA2_512: i32 = 4;
/// The message is hashed with SHA-512/224, and the digest is signed (HashML-DSA, HashSLH-DSA).
pub const PQTLS_HASH_SHA2_512_224: i32 = 5;
/// The message is hashed with SHA-512/256, and the digest is signed (HashML-DSA, HashSLH-DSA).
pub const PQTLS_HASH_SHA2_512_256: i32 = 6;
/// The message is hashed with SHA3-224, and the digest is signed (HashML-DSA, HashSLH-DSA).
pub const PQTLS_HASH_SHA3_224: i32 = 7;
/// The message is hashed with SHA3-256, and the digest is signed (HashML-DSA, HashSLH-DSA).
pub const PQTLS_HASH_SHA3_256: i32 = 8;
/// The message is hashed with SHA3-384, and the digest is signed (HashML-DSA, HashSLH-DSA).
pub const PQTLS_HASH_SHA3_384: i32 = 9;
/// The message is hashed with SHA3-512, and the digest is signed (HashML-DSA, HashSLH-DSA).
pub const PQTLS_HASH_SHA3_512: i32 = 10;
/// The message is hashed with SHAKE128 with 256 bits, and the digest is signed (HashML-DSA, HashSLH-DSA).
pub const PQTLS_HASH_SHAKE128: i32 = 11;
/// The message is hashed with SHAKE256 with 512 bits, and the digest is signed (HashML-DSA, HashSLH-DSA).
pub const PQTLS_HASH_SHAKE256: i32 = 12;
/// Added to one of PQTLS_HASH_...: the digest is given instead of the message.
pub const PQTLS_DIGEST: i32 = 32;
/// ML-DSA: the message's representative of 64 bytes, which pqtls_ml_dsa_mu computes, is given instead of the
/// message, and no context.
pub const PQTLS_MU: i32 = 64;

/// A private key is its seed.
pub const PQTLS_FORM_SEED: i32 = 1;
/// A private key is as its FIPS encodes it.
pub const PQTLS_FORM_EXPANDED: i32 = 2;

/// Keys are written as DER.
pub const PQTLS_DER: i32 = 1;
/// Keys are written as PEM, without a null byte at the end.
pub const PQTLS_PEM: i32 = 2;

/// Each number with the algorithm that pq-keys knows it as.
const ALGORITHMS: [(i32, Algorithm); 18] = [
    (PQTLS_ML_KEM_512, Algorithm::Kem(KemAlgorithm::MlKem512)),
    (PQTLS_ML_KEM_768, Algorithm::Kem(KemAlgorithm::MlKem768)),
    (PQTLS_ML_KEM_1024, Algorithm::Kem(KemAlgorithm::MlKem1024)),
    (
        PQTLS_ML_DSA_44,
        Algorithm::Signature(SignatureAlgorithm::MlDsa44),
    ),
    (
        PQTLS_ML_DSA_65,
        Algorithm::Signature(SignatureAlgorithm::MlDsa65),
    ),
    (
        PQTLS_ML_DSA_87,
        Algorithm::Signature(SignatureAlgorithm::MlDsa87),
    ),
    (
        PQTLS_SLH_DSA_SHA2_128S,
        Algorithm::Signature(SignatureAlgorithm::SlhDsaSha2_128s),
    ),
    (
        PQTLS_SLH_DSA_SHA2_128F,
        Algorithm::Signature(SignatureAlgorithm::SlhDsaSha2_128f),
    ),
    (
        PQTLS_SLH_DSA_SHA2_192S,
        Algorithm::Signature(SignatureAlgorithm::SlhDsaSha2_192s),
    ),
    (
        PQTLS_SLH_DSA_SHA2_192F,
        Algorithm::Signature(SignatureAlgorithm::SlhDsaSha2_192f),
    ),
    (
        PQTLS_SLH_DSA_SHA2_256S,
        Algorithm::Signature(SignatureAlgorithm::SlhDsaSha2_256s),
    ),
    (
        PQTLS_SLH_DSA_SHA2_256F,
        Algorithm::Signature(SignatureAlgorithm::SlhDsaSha2_256f),
    ),
    (
        PQTLS_SLH_DSA_SHAKE_128S,
        Algorithm::Signature(SignatureAlgorithm::SlhDsaShake128s),
    ),
    (
        PQTLS_SLH_DSA_SHAKE_128F,
        Algorithm::Signature(SignatureAlgorithm::SlhDsaShake128f),
    ),
    (
        PQTLS_SLH_DSA_SHAKE_192S,
        Algorithm::Signature(SignatureAlgorithm::SlhDsaShake192s),
    ),
    (
        PQTLS_SLH_DSA_SHAKE_192F,
        Algorithm::Signature(SignatureAlgorithm::SlhDsaShake192f),
    ),
    (
        PQTLS_SLH_DSA_SHAKE_256S,
        Algorithm::Signature(SignatureAlgorithm::SlhDsaShake256s),
    ),
    (
        PQTLS_SLH_DSA_SHAKE_256F,
        Algorithm::Signature(SignatureAlgorithm::SlhDsaShake256f),
    ),
];

/// The algorithm with this number.
pub(crate) fn algorithm(number: i32) -> Result<Algorithm, Code> {
    let found = ALGORITHMS.iter().find(|(known, _)| *known == number);
    found.map_or(Err(PQTLS_ERROR_ALGORITHM), |(_, algorithm)| Ok(*algorithm))
}

/// The number of this algorithm.
pub(crate) fn number(algorithm: Algorithm) -> Result<i32, Code> {
    let found = ALGORITHMS.iter().find(|(_, known)| *known == algorithm);
    found.map_or(Err(PQTLS_ERROR_ALGORITHM), |(number, _)| Ok(*number))
}

/// What a caller gives to be signed.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Pure,
    Hashed(PreHash),
    Digest(PreHash),
    Mu,
}

impl Kind {
    pub(crate) fn from_number(number: i32) -> Result<Self, Code> {
        let hash = match number & !PQTLS_DIGEST {
            PQTLS_PURE if number == PQTLS_PURE => return Ok(Self::Pure),
            PQTLS_MU if number == PQTLS_MU => return Ok(Self::Mu),
            PQTLS_HASH_SHA2_224 => PreHash::Sha224,
            PQTLS_HASH_SHA2_256 => PreHash::Sha256,
            PQTLS_HASH_SHA2_384 => PreHash::Sha384,
            PQTLS_HASH_SHA2_512 => PreHash::Sha512,
            PQTLS_HASH_SHA2_512_224 => PreHash::Sha512_224,
            PQTLS_HASH_SHA2_512_256 => PreHash::Sha512_256,
            PQTLS_HASH_SHA3_224 => PreHash::Sha3_224,
            PQTLS_HASH_SHA3_256 => PreHash::Sha3_256,
            PQTLS_HASH_SHA3_384 => PreHash::Sha3_384,
            PQTLS_HASH_SHA3_512 => PreHash::Sha3_512,
            PQTLS_HASH_SHAKE128 => PreHash::Shake128,
            PQTLS_HASH_SHAKE256 => PreHash::Shake256,
            _ => return Err(PQTLS_ERROR_ALGORITHM),
        };
        Ok(if number & PQTLS_DIGEST == 0 {
            Self::Hashed(hash)
        } else {
            Self::Digest(hash)
        })
    }
}
