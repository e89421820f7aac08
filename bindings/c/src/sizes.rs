//! Lengths in bytes, as literal numbers for the header. The compiler checks them against pq-core's.

use pq_core::ml_dsa::{self, MlDsa44, MlDsa65, MlDsa87};
use pq_core::ml_kem::{self, MlKem512, MlKem768, MlKem1024};
use pq_core::slh_dsa::*;

/// Alignment of a key's storage.
pub const PQTLS_KEY_ALIGNMENT: usize = 64;
/// A seed of ML-KEM, d and z.
pub const PQTLS_ML_KEM_SEED_BYTES: usize = 64;
/// The randomness of an encapsulation, m.
pub const PQTLS_ML_KEM_RANDOMNESS_BYTES: usize = 32;
/// A shared secret of ML-KEM.
pub const PQTLS_ML_KEM_SHARED_SECRET_BYTES: usize = 32;
/// A seed of ML-DSA, ξ.
pub const PQTLS_ML_DSA_SEED_BYTES: usize = 32;
/// The randomness of a signature of ML-DSA, rnd.
pub const PQTLS_ML_DSA_RANDOMNESS_BYTES: usize = 32;
/// A representative of a message, µ.
pub const PQTLS_ML_DSA_MU_BYTES: usize = 64;
/// The longest context string.
pub const PQTLS_MAX_CONTEXT_BYTES: usize = 255;

/// An encapsulation key of ML-KEM-512.
pub const PQTLS_ML_KEM_512_ENCAPSULATION_KEY_BYTES: usize = 800;

/// An expanded decapsulation key of ML-KEM-512.
pub const PQTLS_ML_KEM_512_EXPANDED_KEY_BYTES: usize = 1632;

/// A ciphertext of ML-KEM-512.
pub const PQTLS_ML_KEM_512_CIPHERTEXT_BYTES: usize = 768;

/// Storage for a pqtls_ml_kem_decapsulation_key of ML-KEM-512.
pub const PQTLS_ML_KEM_512_DECAPSULATION_KEY_STORAGE_BYTES: usize = 7168;

/// Storage for a pqtls_ml_kem_encapsulation_key of ML-KEM-512.
pub const PQTLS_ML_KEM_512_ENCAPSULATION_KEY_STORAGE_BYTES: usize = 3072;

/// An encapsulation key of ML-KEM-768.
pub const PQTLS_ML_KEM_768_ENCAPSULATION_KEY_BYTES: usize = 1184;

/// An expanded decapsulation key of ML-KEM-768.
pub const PQTLS_ML_KEM_768_EXPANDED_KEY_BYTES: usize = 2400;

/// A ciphertext of ML-KEM-768.
pub const PQTLS_ML_KEM_768_CIPHERTEXT_BYTES: usize = 1088;

/// Storage for a pqtls_ml_kem_decapsulation_key of ML-KEM-768.
pub const PQTLS_ML_KEM_768_DECAPSULATION_KEY_STORAGE_BYTES: usize = 11264;

/// Storage for a pqtls_ml_kem_encapsulation_key of ML-KEM-768.
pub const PQTLS_ML_KEM_768_ENCAPSULATION_KEY_STORAGE_BYTES: usize = 4096;

/// An encapsulation key of ML-KEM-1024.
pub const PQTLS_ML_KEM_1024_ENCAPSULATION_KEY_BYTES: usize = 1568;

/// An expanded decapsulation key of ML-KEM-1024.
pub const PQTLS_ML_KEM_1024_EXPANDED_KEY_BYTES: usize = 3168;

/// A ciphertext of ML-KEM-1024.
pub const PQTLS_ML_KEM_1024_CIPHERTEXT_BYTES: usize = 1568;

/// Storage for a pqtls_ml_kem_decapsulation_key of ML-KEM-1024.
pub const PQTLS_ML_KEM_1024_DECAPSULATION_KEY_STORAGE_BYTES: usize = 17408;

/// Storage for a pqtls_ml_kem_encapsulation_key of ML-KEM-1024.
pub const PQTLS_ML_KEM_1024_ENCAPSULATION_KEY_STORAGE_BYTES: usize = 5120;

/// A verifying key of ML-DSA-44.
pub const PQTLS_ML_DSA_44_VERIFYING_KEY_BYTES: usize = 1312;

/// An expanded signing key of ML-DSA-44.
pub const PQTLS_ML_DSA_44_EXPANDED_KEY_BYTES: usize = 2560;

/// A signature of ML-DSA-44.
pub const PQTLS_ML_DSA_44_SIGNATURE_BYTES: usize = 2420;

/// Storage for a pqtls_ml_dsa_signing_key of ML-DSA-44.
pub const PQTLS_ML_DSA_44_SIGNING_KEY_STORAGE_BYTES: usize = 28672;

/// Storage for a pqtls_ml_dsa_verifying_key of ML-DSA-44.
pub const PQTLS_ML_DSA_44_VERIFYING_KEY_STORAGE_BYTES: usize = 23552;

/// A verifying key of ML-DSA-65.
pub const PQTLS_ML_DSA_65_VERIFYING_KEY_BYTES: usize = 1952;

/// An expanded signing key of ML-DSA-65.
pub const PQTLS_ML_DSA_65_EXPANDED_KEY_BYTES: usize = 4032;

/// A signature of ML-DSA-65.
pub const PQTLS_ML_DSA_65_SIGNATURE_BYTES: usize = 3309;

/// Storage for a pqtls_ml_dsa_signing_key of ML-DSA-65.
pub const PQTLS_ML_DSA_65_SIGNING_KEY_STORAGE_BYTES: usize = 48128;

/// Storage for a pqtls_ml_dsa_verifying_key of ML-DSA-65.
pub const PQTLS_ML_DSA_65_VERIFYING_KEY_STORAGE_BYTES: usize = 39936;

/// A verifying key of ML-DSA-87.
pub const PQTLS_ML_DSA_87_VERIFYING_KEY_BYTES: usize = 2592;

/// An expanded signing key of ML-DSA-87.
pub const PQTLS_ML_DSA_87_EXPANDED_KEY_BYTES: usize = 4896;

/// A signature of ML-DSA-87.
pub const PQTLS_ML_DSA_87_SIGNATURE_BYTES: usize = 4627;

/// Storage for a pqtls_ml_dsa_signing_key of ML-DSA-87.
pub const PQTLS_ML_DSA_87_SIGNING_KEY_STORAGE_BYTES: usize = 80896;

/// Storage for a pqtls_ml_dsa_verifying_key of ML-DSA-87.
pub const PQTLS_ML_DSA_87_VERIFYING_KEY_STORAGE_BYTES: usize = 69632;

/// A verifying key of SLH-DSA-SHA2-128s.
pub const PQTLS_SLH_DSA_SHA2_128S_VERIFYING_KEY_BYTES: usize = 32;

/// A signing key of SLH-DSA-SHA2-128s.
pub const PQTLS_SLH_DSA_SHA2_128S_SIGNING_KEY_BYTES: usize = 64;

/// A seed of SLH-DSA-SHA2-128s.
pub const PQTLS_SLH_DSA_SHA2_128S_SEED_BYTES: usize = 48;

/// The randomness of a signature of SLH-DSA-SHA2-128s.
pub const PQTLS_SLH_DSA_SHA2_128S_RANDOMNESS_BYTES: usize = 16;

/// A signature of SLH-DSA-SHA2-128s.
pub const PQTLS_SLH_DSA_SHA2_128S_SIGNATURE_BYTES: usize = 7856;

/// A verifying key of SLH-DSA-SHA2-128f.
pub const PQTLS_SLH_DSA_SHA2_128F_VERIFYING_KEY_BYTES: usize = 32;

/// A signing key of SLH-DSA-SHA2-128f.
pub const PQTLS_SLH_DSA_SHA2_128F_SIGNING_KEY_BYTES: usize = 64;

/// A seed of SLH-DSA-SHA2-128f.
pub const PQTLS_SLH_DSA_SHA2_128F_SEED_BYTES: usize = 48;

/// The randomness of a signature of SLH-DSA-SHA2-128f.
pub const PQTLS_SLH_DSA_SHA2_128F_RANDOMNESS_BYTES: usize = 16;

/// A signature of SLH-DSA-SHA2-128f.
pub const PQTLS_SLH_DSA_SHA2_128F_SIGNATURE_BYTES: usize = 17088;

/// A verifying key of SLH-DSA-SHA2-192s.
pub const PQTLS_SLH_DSA_SHA2_192S_VERIFYING_KEY_BYTES: usize = 48;

/// A signing key of SLH-DSA-SHA2-192s.
pub const PQTLS_SLH_DSA_SHA2_192S_SIGNING_KEY_BYTES: usize = 96;

/// A seed of SLH-DSA-SHA2-192s.
pub const PQTLS_SLH_DSA_SHA2_192S_SEED_BYTES: usize = 72;

/// The randomness of a signature of SLH-DSA-SHA2-192s.
pub const PQTLS_SLH_DSA_SHA2_192S_RANDOMNESS_BYTES: usize = 24;

/// A signature of SLH-DSA-SHA2-192s.
pub const PQTLS_SLH_DSA_SHA2_192S_SIGNATURE_BYTES: usize = 16224;

/// A verifying key of SLH-DSA-SHA2-192f.
pub const PQTLS_SLH_DSA_SHA2_192F_VERIFYING_KEY_BYTES: usize = 48;

/// A signing key of SLH-DSA-SHA2-192f.
pub const PQTLS_SLH_DSA_SHA2_192F_SIGNING_KEY_BYTES: usize = 96;

/// A seed of SLH-DSA-SHA2-192f.
pub const PQTLS_SLH_DSA_SHA2_192F_SEED_BYTES: usize = 72;

/// The randomness of a signature of SLH-DSA-SHA2-192f.
pub const PQTLS_SLH_DSA_SHA2_192F_RANDOMNESS_BYTES: usize = 24;

/// A signature of SLH-DSA-SHA2-192f.
pub const PQTLS_SLH_DSA_SHA2_192F_SIGNATURE_BYTES: usize = 35664;

/// A verifying key of SLH-DSA-SHA2-256s.
pub const PQTLS_SLH_DSA_SHA2_256S_VERIFYING_KEY_BYTES: usize = 64;

/// A signing key of SLH-DSA-SHA2-256s.
pub const PQTLS_SLH_DSA_SHA2_256S_SIGNING_KEY_BYTES: usize = 128;

/// A seed of SLH-DSA-SHA2-256s.
pub const PQTLS_SLH_DSA_SHA2_256S_SEED_BYTES: usize = 96;

/// The randomness of a signature of SLH-DSA-SHA2-256s.
pub const PQTLS_SLH_DSA_SHA2_256S_RANDOMNESS_BYTES: usize = 32;

/// A signature of SLH-DSA-SHA2-256s.
pub const PQTLS_SLH_DSA_SHA2_256S_SIGNATURE_BYTES: usize = 29792;

/// A verifying key of SLH-DSA-SHA2-256f.
pub const PQTLS_SLH_DSA_SHA2_256F_VERIFYING_KEY_BYTES: usize = 64;

/// A signing key of SLH-DSA-SHA2-256f.
pub const PQTLS_SLH_DSA_SHA2_256F_SIGNING_KEY_BYTES: usize = 128;

/// A seed of SLH-DSA-SHA2-256f.
pub const PQTLS_SLH_DSA_SHA2_256F_SEED_BYTES: usize = 96;

/// The randomness of a signature of SLH-DSA-SHA2-256f.
pub const PQTLS_SLH_DSA_SHA2_256F_RANDOMNESS_BYTES: usize = 32;

/// A signature of SLH-DSA-SHA2-256f.
pub const PQTLS_SLH_DSA_SHA2_256F_SIGNATURE_BYTES: usize = 49856;

/// A verifying key of SLH-DSA-SHAKE-128s.
pub const PQTLS_SLH_DSA_SHAKE_128S_VERIFYING_KEY_BYTES: usize = 32;

/// A signing key of SLH-DSA-SHAKE-128s.
pub const PQTLS_SLH_DSA_SHAKE_128S_SIGNING_KEY_BYTES: usize = 64;

/// A seed of SLH-DSA-SHAKE-128s.
pub const PQTLS_SLH_DSA_SHAKE_128S_SEED_BYTES: usize = 48;

/// The randomness of a signature of SLH-DSA-SHAKE-128s.
pub const PQTLS_SLH_DSA_SHAKE_128S_RANDOMNESS_BYTES: usize = 16;

/// A signature of SLH-DSA-SHAKE-128s.
pub const PQTLS_SLH_DSA_SHAKE_128S_SIGNATURE_BYTES: usize = 7856;

/// A verifying key of SLH-DSA-SHAKE-128f.
pub const PQTLS_SLH_DSA_SHAKE_128F_VERIFYING_KEY_BYTES: usize = 32;

/// A signing key of SLH-DSA-SHAKE-128f.
pub const PQTLS_SLH_DSA_SHAKE_128F_SIGNING_KEY_BYTES: usize = 64;

/// A seed of SLH-DSA-SHAKE-128f.
pub const PQTLS_SLH_DSA_SHAKE_128F_SEED_BYTES: usize = 48;

/// The randomness of a signature of SLH-DSA-SHAKE-128f.
pub const PQTLS_SLH_DSA_SHAKE_128F_RANDOMNESS_BYTES: usize = 16;

/// A signature of SLH-DSA-SHAKE-128f.
pub const PQTLS_SLH_DSA_SHAKE_128F_SIGNATURE_BYTES: usize = 17088;

/// A verifying key of SLH-DSA-SHAKE-192s.
pub const PQTLS_SLH_DSA_SHAKE_192S_VERIFYING_KEY_BYTES: usize = 48;

/// A signing key of SLH-DSA-SHAKE-192s.
pub const PQTLS_SLH_DSA_SHAKE_192S_SIGNING_KEY_BYTES: usize = 96;

/// A seed of SLH-DSA-SHAKE-192s.
pub const PQTLS_SLH_DSA_SHAKE_192S_SEED_BYTES: usize = 72;

/// The randomness of a signature of SLH-DSA-SHAKE-192s.
pub const PQTLS_SLH_DSA_SHAKE_192S_RANDOMNESS_BYTES: usize = 24;

/// A signature of SLH-DSA-SHAKE-192s.
pub const PQTLS_SLH_DSA_SHAKE_192S_SIGNATURE_BYTES: usize = 16224;

/// A verifying key of SLH-DSA-SHAKE-192f.
pub const PQTLS_SLH_DSA_SHAKE_192F_VERIFYING_KEY_BYTES: usize = 48;

/// A signing key of SLH-DSA-SHAKE-192f.
pub const PQTLS_SLH_DSA_SHAKE_192F_SIGNING_KEY_BYTES: usize = 96;

/// A seed of SLH-DSA-SHAKE-192f.
pub const PQTLS_SLH_DSA_SHAKE_192F_SEED_BYTES: usize = 72;

/// The randomness of a signature of SLH-DSA-SHAKE-192f.
pub const PQTLS_SLH_DSA_SHAKE_192F_RANDOMNESS_BYTES: usize = 24;

/// A signature of SLH-DSA-SHAKE-192f.
pub const PQTLS_SLH_DSA_SHAKE_192F_SIGNATURE_BYTES: usize = 35664;

/// A verifying key of SLH-DSA-SHAKE-256s.
pub const PQTLS_SLH_DSA_SHAKE_256S_VERIFYING_KEY_BYTES: usize = 64;

/// A signing key of SLH-DSA-SHAKE-256s.
pub const PQTLS_SLH_DSA_SHAKE_256S_SIGNING_KEY_BYTES: usize = 128;

/// A seed of SLH-DSA-SHAKE-256s.
pub const PQTLS_SLH_DSA_SHAKE_256S_SEED_BYTES: usize = 96;

/// The randomness of a signature of SLH-DSA-SHAKE-256s.
pub const PQTLS_SLH_DSA_SHAKE_256S_RANDOMNESS_BYTES: usize = 32;

/// A signature of SLH-DSA-SHAKE-256s.
pub const PQTLS_SLH_DSA_SHAKE_256S_SIGNATURE_BYTES: usize = 29792;

/// A verifying key of SLH-DSA-SHAKE-256f.
pub const PQTLS_SLH_DSA_SHAKE_256F_VERIFYING_KEY_BYTES: usize = 64;

/// A signing key of SLH-DSA-SHAKE-256f.
pub const PQTLS_SLH_DSA_SHAKE_256F_SIGNING_KEY_BYTES: usize = 128;

/// A seed of SLH-DSA-SHAKE-256f.
pub const PQTLS_SLH_DSA_SHAKE_256F_SEED_BYTES: usize = 96;

/// The randomness of a signature of SLH-DSA-SHAKE-256f.
pub const PQTLS_SLH_DSA_SHAKE_256F_RANDOMNESS_BYTES: usize = 32;

/// A signature of SLH-DSA-SHAKE-256f.
pub const PQTLS_SLH_DSA_SHAKE_256F_SIGNATURE_BYTES: usize = 49856;

const _: () = {
    assert!(
        PQTLS_ML_KEM_512_ENCAPSULATION_KEY_BYTES
            == <MlKem512 as ml_kem::ParameterSet>::ENCAPSULATION_KEY_LEN
    );
    assert!(
        PQTLS_ML_KEM_512_EXPANDED_KEY_BYTES
            == <MlKem512 as ml_kem::ParameterSet>::DECAPSULATION_KEY_LEN
    );
    assert!(
        PQTLS_ML_KEM_512_CIPHERTEXT_BYTES == <MlKem512 as ml_kem::ParameterSet>::CIPHERTEXT_LEN
    );
    assert!(
        PQTLS_ML_KEM_768_ENCAPSULATION_KEY_BYTES
            == <MlKem768 as ml_kem::ParameterSet>::ENCAPSULATION_KEY_LEN
    );
    assert!(
        PQTLS_ML_KEM_768_EXPANDED_KEY_BYTES
            == <MlKem768 as ml_kem::ParameterSet>::DECAPSULATION_KEY_LEN
    );
    assert!(
        PQTLS_ML_KEM_768_CIPHERTEXT_BYTES == <MlKem768 as ml_kem::ParameterSet>::CIPHERTEXT_LEN
    );
    assert!(
        PQTLS_ML_KEM_1024_ENCAPSULATION_KEY_BYTES
            == <MlKem1024 as ml_kem::ParameterSet>::ENCAPSULATION_KEY_LEN
    );
    assert!(
        PQTLS_ML_KEM_1024_EXPANDED_KEY_BYTES
            == <MlKem1024 as ml_kem::ParameterSet>::DECAPSULATION_KEY_LEN
    );
    assert!(
        PQTLS_ML_KEM_1024_CIPHERTEXT_BYTES == <MlKem1024 as ml_kem::ParameterSet>::CIPHERTEXT_LEN
    );
    assert!(
        PQTLS_ML_DSA_44_VERIFYING_KEY_BYTES == <MlDsa44 as ml_dsa::ParameterSet>::VERIFYING_KEY_LEN
    );
    assert!(
        PQTLS_ML_DSA_44_EXPANDED_KEY_BYTES == <MlDsa44 as ml_dsa::ParameterSet>::SIGNING_KEY_LEN
    );
    assert!(PQTLS_ML_DSA_44_SIGNATURE_BYTES == <MlDsa44 as ml_dsa::ParameterSet>::SIGNATURE_LEN);
    assert!(
        PQTLS_ML_DSA_65_VERIFYING_KEY_BYTES == <MlDsa65 as ml_dsa::ParameterSet>::VERIFYING_KEY_LEN
    );
    assert!(
        PQTLS_ML_DSA_65_EXPANDED_KEY_BYTES == <MlDsa65 as ml_dsa::ParameterSet>::SIGNING_KEY_LEN
    );
    assert!(PQTLS_ML_DSA_65_SIGNATURE_BYTES == <MlDsa65 as ml_dsa::ParameterSet>::SIGNATURE_LEN);
    assert!(
        PQTLS_ML_DSA_87_VERIFYING_KEY_BYTES == <MlDsa87 as ml_dsa::ParameterSet>::VERIFYING_KEY_LEN
    );
    assert!(
        PQTLS_ML_DSA_87_EXPANDED_KEY_BYTES == <MlDsa87 as ml_dsa::ParameterSet>::SIGNING_KEY_LEN
    );
    assert!(PQTLS_ML_DSA_87_SIGNATURE_BYTES == <MlDsa87 as ml_dsa::ParameterSet>::SIGNATURE_LEN);
    assert!(PQTLS_SLH_DSA_SHA2_128S_VERIFYING_KEY_BYTES == SlhDsaSha2_128s::VERIFYING_KEY_LEN);
    assert!(PQTLS_SLH_DSA_SHA2_128S_SIGNING_KEY_BYTES == SlhDsaSha2_128s::SIGNING_KEY_LEN);
    assert!(PQTLS_SLH_DSA_SHA2_128S_SIGNATURE_BYTES == SlhDsaSha2_128s::SIGNATURE_LEN);
    assert!(PQTLS_SLH_DSA_SHA2_128F_VERIFYING_KEY_BYTES == SlhDsaSha2_128f::VERIFYING_KEY_LEN);
    assert!(PQTLS_SLH_DSA_SHA2_128F_SIGNING_KEY_BYTES == SlhDsaSha2_128f::SIGNING_KEY_LEN);
    assert!(PQTLS_SLH_DSA_SHA2_128F_SIGNATURE_BYTES == SlhDsaSha2_128f::SIGNATURE_LEN);
    assert!(PQTLS_SLH_DSA_SHA2_192S_VERIFYING_KEY_BYTES == SlhDsaSha2_192s::VERIFYING_KEY_LEN);
    assert!(PQTLS_SLH_DSA_SHA2_192S_SIGNING_KEY_BYTES == SlhDsaSha2_192s::SIGNING_KEY_LEN);
    assert!(PQTLS_SLH_DSA_SHA2_192S_SIGNATURE_BYTES == SlhDsaSha2_192s::SIGNATURE_LEN);
    assert!(PQTLS_SLH_DSA_SHA2_192F_VERIFYING_KEY_BYTES == SlhDsaSha2_192f::VERIFYING_KEY_LEN);
    assert!(PQTLS_SLH_DSA_SHA2_192F_SIGNING_KEY_BYTES == SlhDsaSha2_192f::SIGNING_KEY_LEN);
    assert!(PQTLS_SLH_DSA_SHA2_192F_SIGNATURE_BYTES == SlhDsaSha2_192f::SIGNATURE_LEN);
    assert!(PQTLS_SLH_DSA_SHA2_256S_VERIFYING_KEY_BYTES == SlhDsaSha2_256s::VERIFYING_KEY_LEN);
    assert!(PQTLS_SLH_DSA_SHA2_256S_SIGNING_KEY_BYTES == SlhDsaSha2_256s::SIGNING_KEY_LEN);
    assert!(PQTLS_SLH_DSA_SHA2_256S_SIGNATURE_BYTES == SlhDsaSha2_256s::SIGNATURE_LEN);
    assert!(PQTLS_SLH_DSA_SHA2_256F_VERIFYING_KEY_BYTES == SlhDsaSha2_256f::VERIFYING_KEY_LEN);
    assert!(PQTLS_SLH_DSA_SHA2_256F_SIGNING_KEY_BYTES == SlhDsaSha2_256f::SIGNING_KEY_LEN);
    assert!(PQTLS_SLH_DSA_SHA2_256F_SIGNATURE_BYTES == SlhDsaSha2_256f::SIGNATURE_LEN);
    assert!(PQTLS_SLH_DSA_SHAKE_128S_VERIFYING_KEY_BYTES == SlhDsaShake128s::VERIFYING_KEY_LEN);
    assert!(PQTLS_SLH_DSA_SHAKE_128S_SIGNING_KEY_BYTES == SlhDsaShake128s::SIGNING_KEY_LEN);
    assert!(PQTLS_SLH_DSA_SHAKE_128S_SIGNATURE_BYTES == SlhDsaShake128s::SIGNATURE_LEN);
    assert!(PQTLS_SLH_DSA_SHAKE_128F_VERIFYING_KEY_BYTES == SlhDsaShake128f::VERIFYING_KEY_LEN);
    assert!(PQTLS_SLH_DSA_SHAKE_128F_SIGNING_KEY_BYTES == SlhDsaShake128f::SIGNING_KEY_LEN);
    assert!(PQTLS_SLH_DSA_SHAKE_128F_SIGNATURE_BYTES == SlhDsaShake128f::SIGNATURE_LEN);
    assert!(PQTLS_SLH_DSA_SHAKE_192S_VERIFYING_KEY_BYTES == SlhDsaShake192s::VERIFYING_KEY_LEN);
    assert!(PQTLS_SLH_DSA_SHAKE_192S_SIGNING_KEY_BYTES == SlhDsaShake192s::SIGNING_KEY_LEN);
    assert!(PQTLS_SLH_DSA_SHAKE_192S_SIGNATURE_BYTES == SlhDsaShake192s::SIGNATURE_LEN);
    assert!(PQTLS_SLH_DSA_SHAKE_192F_VERIFYING_KEY_BYTES == SlhDsaShake192f::VERIFYING_KEY_LEN);
    assert!(PQTLS_SLH_DSA_SHAKE_192F_SIGNING_KEY_BYTES == SlhDsaShake192f::SIGNING_KEY_LEN);
    assert!(PQTLS_SLH_DSA_SHAKE_192F_SIGNATURE_BYTES == SlhDsaShake192f::SIGNATURE_LEN);
    assert!(PQTLS_SLH_DSA_SHAKE_256S_VERIFYING_KEY_BYTES == SlhDsaShake256s::VERIFYING_KEY_LEN);
    assert!(PQTLS_SLH_DSA_SHAKE_256S_SIGNING_KEY_BYTES == SlhDsaShake256s::SIGNING_KEY_LEN);
    assert!(PQTLS_SLH_DSA_SHAKE_256S_SIGNATURE_BYTES == SlhDsaShake256s::SIGNATURE_LEN);
    assert!(PQTLS_SLH_DSA_SHAKE_256F_VERIFYING_KEY_BYTES == SlhDsaShake256f::VERIFYING_KEY_LEN);
    assert!(PQTLS_SLH_DSA_SHAKE_256F_SIGNING_KEY_BYTES == SlhDsaShake256f::SIGNING_KEY_LEN);
    assert!(PQTLS_SLH_DSA_SHAKE_256F_SIGNATURE_BYTES == SlhDsaShake256f::SIGNATURE_LEN);
    assert!(PQTLS_ML_KEM_SEED_BYTES == ml_kem::SEED_LEN);
    assert!(PQTLS_ML_KEM_SHARED_SECRET_BYTES == ml_kem::SHARED_SECRET_LEN);
    assert!(PQTLS_ML_DSA_SEED_BYTES == ml_dsa::SEED_LEN);
};
