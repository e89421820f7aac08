/*
 * ML-KEM (FIPS 203), ML-DSA (FIPS 204) and SLH-DSA (FIPS 205).
 *
 * Made by cbindgen from the Rust sources: edit those, not this file.
 *
 * Rules for every function that returns an int:
 *
 *  - It returns PQTLS_OK, which is 0, or a negative PQTLS_ERROR_..., which pqtls_error_string explains.
 *    No input makes it end the process. (Only a lack of memory does, in the functions for PEM and DER,
 *    which are the only ones that allocate.)
 *  - A pointer points to as many bytes as the length beside it says. They are readable, and writable
 *    unless the type is const. A null pointer is an error, except for inputs of length 0 and where a
 *    function says otherwise.
 *  - Lengths are exact: macros define them.
 *  - After an error outputs are zeros. They are untouched if the pointers, the key or the algorithm were
 *    refused first (null, misaligned, overlapping, storage too small, no key).
 *  - Outputs must not overlap each other, inputs or keys: PQTLS_ERROR_OVERLAP. Inputs may overlap.
 *  - Threads may use a key at the same time, as long as none makes it anew or wipes it.
 *  - Nothing is kept between calls, so a program may fork.
 *
 * Keys of ML-KEM and ML-DSA are prepared once and used often. They are in storage that the caller
 * provides: as many bytes as PQTLS_..._STORAGE_BYTES says, aligned to PQTLS_KEY_ALIGNMENT; PQTLS_STORAGE
 * declares it. You may copy or move storage as bytes. Storage that is zeroed, wiped or has a key of
 * another kind gives PQTLS_ERROR_NO_KEY. Call pqtls_wipe for storage whose key you no longer need, and
 * before you make another key there. Nothing has to be freed.
 *
 * Randomness comes from a pqtls_random, or from the operating system if that is null.
 */


#ifndef PQTLS_H
#define PQTLS_H

#include <stddef.h>
#include <stdint.h>

/* The result of a function must not be ignored. */
#if defined(__GNUC__) || defined(__clang__)
#define PQTLS_MUST_USE __attribute__((warn_unused_result))
#else
#define PQTLS_MUST_USE
#endif

/* Declares storage for a key, as a local or static variable or a member: PQTLS_STORAGE(name, bytes); */
#ifdef __cplusplus
#define PQTLS_STORAGE(name, bytes) unsigned char name alignas(64)[bytes]
#else
#define PQTLS_STORAGE(name, bytes) _Alignas(64) unsigned char name[bytes]
#endif


// ML-KEM-512
#define PQTLS_ML_KEM_512 1

// ML-KEM-768
#define PQTLS_ML_KEM_768 2

// ML-KEM-1024
#define PQTLS_ML_KEM_1024 3

// ML-DSA-44
#define PQTLS_ML_DSA_44 4

// ML-DSA-65
#define PQTLS_ML_DSA_65 5

// ML-DSA-87
#define PQTLS_ML_DSA_87 6

// SLH-DSA-SHA2-128s
#define PQTLS_SLH_DSA_SHA2_128S 7

// SLH-DSA-SHA2-128f
#define PQTLS_SLH_DSA_SHA2_128F 8

// SLH-DSA-SHA2-192s
#define PQTLS_SLH_DSA_SHA2_192S 9

// SLH-DSA-SHA2-192f
#define PQTLS_SLH_DSA_SHA2_192F 10

// SLH-DSA-SHA2-256s
#define PQTLS_SLH_DSA_SHA2_256S 11

// SLH-DSA-SHA2-256f
#define PQTLS_SLH_DSA_SHA2_256F 12

// SLH-DSA-SHAKE-128s
#define PQTLS_SLH_DSA_SHAKE_128S 13

// SLH-DSA-SHAKE-128f
#define PQTLS_SLH_DSA_SHAKE_128F 14

// SLH-DSA-SHAKE-192s
#define PQTLS_SLH_DSA_SHAKE_192S 15

// SLH-DSA-SHAKE-192f
#define PQTLS_SLH_DSA_SHAKE_192F 16

// SLH-DSA-SHAKE-256s
#define PQTLS_SLH_DSA_SHAKE_256S 17

// SLH-DSA-SHAKE-256f
#define PQTLS_SLH_DSA_SHAKE_256F 18

// The message itself is signed. Use only this kind and PQTLS_MU, unless you have a reason for another.
#define PQTLS_PURE 0

// The message is hashed with SHA-224, and the digest is signed (HashML-DSA, HashSLH-DSA).
#define PQTLS_HASH_SHA2_224 1

// The message is hashed with SHA-256, and the digest is signed (HashML-DSA, HashSLH-DSA).
#define PQTLS_HASH_SHA2_256 2

// The message is hashed with SHA-384, and the digest is signed (HashML-DSA, HashSLH-DSA).
#define PQTLS_HASH_SHA2_384 3

// The message is hashed with SHA-512, and the digest is signed (HashML-DSA, HashSLH-DSA).
#define PQTLS_HASH_SHA2_512 4

// The message is hashed with SHA-512/224, and the digest is signed (HashML-DSA, HashSLH-DSA).
#define PQTLS_HASH_SHA2_512_224 5

// The message is hashed with SHA-512/256, and the digest is signed (HashML-DSA, HashSLH-DSA).
#define PQTLS_HASH_SHA2_512_256 6

// The message is hashed with SHA3-224, and the digest is signed (HashML-DSA, HashSLH-DSA).
#define PQTLS_HASH_SHA3_224 7

// The message is hashed with SHA3-256, and the digest is signed (HashML-DSA, HashSLH-DSA).
#define PQTLS_HASH_SHA3_256 8

// The message is hashed with SHA3-384, and the digest is signed (HashML-DSA, HashSLH-DSA).
#define PQTLS_HASH_SHA3_384 9

// The message is hashed with SHA3-512, and the digest is signed (HashML-DSA, HashSLH-DSA).
#define PQTLS_HASH_SHA3_512 10

// The message is hashed with SHAKE128 with 256 bits, and the digest is signed (HashML-DSA, HashSLH-DSA).
#define PQTLS_HASH_SHAKE128 11

// The message is hashed with SHAKE256 with 512 bits, and the digest is signed (HashML-DSA, HashSLH-DSA).
#define PQTLS_HASH_SHAKE256 12

// Added to one of PQTLS_HASH_...: the digest is given instead of the message.
#define PQTLS_DIGEST 32

// ML-DSA: the message's representative of 64 bytes, which pqtls_ml_dsa_mu computes, is given instead of the
// message, and no context.
#define PQTLS_MU 64

// A private key is its seed.
#define PQTLS_FORM_SEED 1

// A private key is as its FIPS encodes it.
#define PQTLS_FORM_EXPANDED 2

// Keys are written as DER.
#define PQTLS_DER 1

// Keys are written as PEM, without a null byte at the end.
#define PQTLS_PEM 2

// All went well.
#define PQTLS_OK 0

// A pointer is null.
#define PQTLS_ERROR_NULL -1

// A key, ciphertext, signature, digest or other buffer has the wrong number of bytes.
#define PQTLS_ERROR_WRONG_LENGTH -2

// The function doesn't know the algorithm, hash function, form or encoding.
#define PQTLS_ERROR_ALGORITHM -3

// The storage of a key is not aligned to PQTLS_KEY_ALIGNMENT.
#define PQTLS_ERROR_MISALIGNED -4

// A storage or an output is too small.
#define PQTLS_ERROR_TOO_SMALL -5

// An output overlaps another output, an input or a key.
#define PQTLS_ERROR_OVERLAP -6

// There is no key in the storage, or one of another kind.
#define PQTLS_ERROR_NO_KEY -7

// There was no randomness: the callback failed, or the operating system did.
#define PQTLS_ERROR_RANDOMNESS -8

// The key fails a check of its standard.
#define PQTLS_ERROR_MALFORMED_KEY -9

// The context string is longer than 255 bytes, or one was given together with µ.
#define PQTLS_ERROR_CONTEXT -10

// The signature is not valid for this key, message and context.
#define PQTLS_ERROR_INVALID_SIGNATURE -11

// The key was made from its expanded form, which does not contain the seed.
#define PQTLS_ERROR_NO_SEED -12

// The PEM or DER can't be read.
#define PQTLS_ERROR_SYNTAX -13

// Another error, for which this version has no number.
#define PQTLS_ERROR_OTHER -14

// Alignment of a key's storage.
#define PQTLS_KEY_ALIGNMENT 64

// A seed of ML-KEM, d and z.
#define PQTLS_ML_KEM_SEED_BYTES 64

// The randomness of an encapsulation, m.
#define PQTLS_ML_KEM_RANDOMNESS_BYTES 32

// A shared secret of ML-KEM.
#define PQTLS_ML_KEM_SHARED_SECRET_BYTES 32

// A seed of ML-DSA, ξ.
#define PQTLS_ML_DSA_SEED_BYTES 32

// The randomness of a signature of ML-DSA, rnd.
#define PQTLS_ML_DSA_RANDOMNESS_BYTES 32

// A representative of a message, µ.
#define PQTLS_ML_DSA_MU_BYTES 64

// The longest context string.
#define PQTLS_MAX_CONTEXT_BYTES 255

// An encapsulation key of ML-KEM-512.
#define PQTLS_ML_KEM_512_ENCAPSULATION_KEY_BYTES 800

// An expanded decapsulation key of ML-KEM-512.
#define PQTLS_ML_KEM_512_EXPANDED_KEY_BYTES 1632

// A ciphertext of ML-KEM-512.
#define PQTLS_ML_KEM_512_CIPHERTEXT_BYTES 768

// Storage for a pqtls_ml_kem_decapsulation_key of ML-KEM-512.
#define PQTLS_ML_KEM_512_DECAPSULATION_KEY_STORAGE_BYTES 7168

// Storage for a pqtls_ml_kem_encapsulation_key of ML-KEM-512.
#define PQTLS_ML_KEM_512_ENCAPSULATION_KEY_STORAGE_BYTES 3072

// An encapsulation key of ML-KEM-768.
#define PQTLS_ML_KEM_768_ENCAPSULATION_KEY_BYTES 1184

// An expanded decapsulation key of ML-KEM-768.
#define PQTLS_ML_KEM_768_EXPANDED_KEY_BYTES 2400

// A ciphertext of ML-KEM-768.
#define PQTLS_ML_KEM_768_CIPHERTEXT_BYTES 1088

// Storage for a pqtls_ml_kem_decapsulation_key of ML-KEM-768.
#define PQTLS_ML_KEM_768_DECAPSULATION_KEY_STORAGE_BYTES 11264

// Storage for a pqtls_ml_kem_encapsulation_key of ML-KEM-768.
#define PQTLS_ML_KEM_768_ENCAPSULATION_KEY_STORAGE_BYTES 4096

// An encapsulation key of ML-KEM-1024.
#define PQTLS_ML_KEM_1024_ENCAPSULATION_KEY_BYTES 1568

// An expanded decapsulation key of ML-KEM-1024.
#define PQTLS_ML_KEM_1024_EXPANDED_KEY_BYTES 3168

// A ciphertext of ML-KEM-1024.
#define PQTLS_ML_KEM_1024_CIPHERTEXT_BYTES 1568

// Storage for a pqtls_ml_kem_decapsulation_key of ML-KEM-1024.
#define PQTLS_ML_KEM_1024_DECAPSULATION_KEY_STORAGE_BYTES 17408

// Storage for a pqtls_ml_kem_encapsulation_key of ML-KEM-1024.
#define PQTLS_ML_KEM_1024_ENCAPSULATION_KEY_STORAGE_BYTES 5120

// A verifying key of ML-DSA-44.
#define PQTLS_ML_DSA_44_VERIFYING_KEY_BYTES 1312

// An expanded signing key of ML-DSA-44.
#define PQTLS_ML_DSA_44_EXPANDED_KEY_BYTES 2560

// A signature of ML-DSA-44.
#define PQTLS_ML_DSA_44_SIGNATURE_BYTES 2420

// Storage for a pqtls_ml_dsa_signing_key of ML-DSA-44.
#define PQTLS_ML_DSA_44_SIGNING_KEY_STORAGE_BYTES 28672

// Storage for a pqtls_ml_dsa_verifying_key of ML-DSA-44.
#define PQTLS_ML_DSA_44_VERIFYING_KEY_STORAGE_BYTES 23552

// A verifying key of ML-DSA-65.
#define PQTLS_ML_DSA_65_VERIFYING_KEY_BYTES 1952

// An expanded signing key of ML-DSA-65.
#define PQTLS_ML_DSA_65_EXPANDED_KEY_BYTES 4032

// A signature of ML-DSA-65.
#define PQTLS_ML_DSA_65_SIGNATURE_BYTES 3309

// Storage for a pqtls_ml_dsa_signing_key of ML-DSA-65.
#define PQTLS_ML_DSA_65_SIGNING_KEY_STORAGE_BYTES 48128

// Storage for a pqtls_ml_dsa_verifying_key of ML-DSA-65.
#define PQTLS_ML_DSA_65_VERIFYING_KEY_STORAGE_BYTES 39936

// A verifying key of ML-DSA-87.
#define PQTLS_ML_DSA_87_VERIFYING_KEY_BYTES 2592

// An expanded signing key of ML-DSA-87.
#define PQTLS_ML_DSA_87_EXPANDED_KEY_BYTES 4896

// A signature of ML-DSA-87.
#define PQTLS_ML_DSA_87_SIGNATURE_BYTES 4627

// Storage for a pqtls_ml_dsa_signing_key of ML-DSA-87.
#define PQTLS_ML_DSA_87_SIGNING_KEY_STORAGE_BYTES 80896

// Storage for a pqtls_ml_dsa_verifying_key of ML-DSA-87.
#define PQTLS_ML_DSA_87_VERIFYING_KEY_STORAGE_BYTES 69632

// A verifying key of SLH-DSA-SHA2-128s.
#define PQTLS_SLH_DSA_SHA2_128S_VERIFYING_KEY_BYTES 32

// A signing key of SLH-DSA-SHA2-128s.
#define PQTLS_SLH_DSA_SHA2_128S_SIGNING_KEY_BYTES 64

// A seed of SLH-DSA-SHA2-128s.
#define PQTLS_SLH_DSA_SHA2_128S_SEED_BYTES 48

// The randomness of a signature of SLH-DSA-SHA2-128s.
#define PQTLS_SLH_DSA_SHA2_128S_RANDOMNESS_BYTES 16

// A signature of SLH-DSA-SHA2-128s.
#define PQTLS_SLH_DSA_SHA2_128S_SIGNATURE_BYTES 7856

// A verifying key of SLH-DSA-SHA2-128f.
#define PQTLS_SLH_DSA_SHA2_128F_VERIFYING_KEY_BYTES 32

// A signing key of SLH-DSA-SHA2-128f.
#define PQTLS_SLH_DSA_SHA2_128F_SIGNING_KEY_BYTES 64

// A seed of SLH-DSA-SHA2-128f.
#define PQTLS_SLH_DSA_SHA2_128F_SEED_BYTES 48

// The randomness of a signature of SLH-DSA-SHA2-128f.
#define PQTLS_SLH_DSA_SHA2_128F_RANDOMNESS_BYTES 16

// A signature of SLH-DSA-SHA2-128f.
#define PQTLS_SLH_DSA_SHA2_128F_SIGNATURE_BYTES 17088

// A verifying key of SLH-DSA-SHA2-192s.
#define PQTLS_SLH_DSA_SHA2_192S_VERIFYING_KEY_BYTES 48

// A signing key of SLH-DSA-SHA2-192s.
#define PQTLS_SLH_DSA_SHA2_192S_SIGNING_KEY_BYTES 96

// A seed of SLH-DSA-SHA2-192s.
#define PQTLS_SLH_DSA_SHA2_192S_SEED_BYTES 72

// The randomness of a signature of SLH-DSA-SHA2-192s.
#define PQTLS_SLH_DSA_SHA2_192S_RANDOMNESS_BYTES 24

// A signature of SLH-DSA-SHA2-192s.
#define PQTLS_SLH_DSA_SHA2_192S_SIGNATURE_BYTES 16224

// A verifying key of SLH-DSA-SHA2-192f.
#define PQTLS_SLH_DSA_SHA2_192F_VERIFYING_KEY_BYTES 48

// A signing key of SLH-DSA-SHA2-192f.
#define PQTLS_SLH_DSA_SHA2_192F_SIGNING_KEY_BYTES 96

// A seed of SLH-DSA-SHA2-192f.
#define PQTLS_SLH_DSA_SHA2_192F_SEED_BYTES 72

// The randomness of a signature of SLH-DSA-SHA2-192f.
#define PQTLS_SLH_DSA_SHA2_192F_RANDOMNESS_BYTES 24

// A signature of SLH-DSA-SHA2-192f.
#define PQTLS_SLH_DSA_SHA2_192F_SIGNATURE_BYTES 35664

// A verifying key of SLH-DSA-SHA2-256s.
#define PQTLS_SLH_DSA_SHA2_256S_VERIFYING_KEY_BYTES 64

// A signing key of SLH-DSA-SHA2-256s.
#define PQTLS_SLH_DSA_SHA2_256S_SIGNING_KEY_BYTES 128

// A seed of SLH-DSA-SHA2-256s.
#define PQTLS_SLH_DSA_SHA2_256S_SEED_BYTES 96

// The randomness of a signature of SLH-DSA-SHA2-256s.
#define PQTLS_SLH_DSA_SHA2_256S_RANDOMNESS_BYTES 32

// A signature of SLH-DSA-SHA2-256s.
#define PQTLS_SLH_DSA_SHA2_256S_SIGNATURE_BYTES 29792

// A verifying key of SLH-DSA-SHA2-256f.
#define PQTLS_SLH_DSA_SHA2_256F_VERIFYING_KEY_BYTES 64

// A signing key of SLH-DSA-SHA2-256f.
#define PQTLS_SLH_DSA_SHA2_256F_SIGNING_KEY_BYTES 128

// A seed of SLH-DSA-SHA2-256f.
#define PQTLS_SLH_DSA_SHA2_256F_SEED_BYTES 96

// The randomness of a signature of SLH-DSA-SHA2-256f.
#define PQTLS_SLH_DSA_SHA2_256F_RANDOMNESS_BYTES 32

// A signature of SLH-DSA-SHA2-256f.
#define PQTLS_SLH_DSA_SHA2_256F_SIGNATURE_BYTES 49856

// A verifying key of SLH-DSA-SHAKE-128s.
#define PQTLS_SLH_DSA_SHAKE_128S_VERIFYING_KEY_BYTES 32

// A signing key of SLH-DSA-SHAKE-128s.
#define PQTLS_SLH_DSA_SHAKE_128S_SIGNING_KEY_BYTES 64

// A seed of SLH-DSA-SHAKE-128s.
#define PQTLS_SLH_DSA_SHAKE_128S_SEED_BYTES 48

// The randomness of a signature of SLH-DSA-SHAKE-128s.
#define PQTLS_SLH_DSA_SHAKE_128S_RANDOMNESS_BYTES 16

// A signature of SLH-DSA-SHAKE-128s.
#define PQTLS_SLH_DSA_SHAKE_128S_SIGNATURE_BYTES 7856

// A verifying key of SLH-DSA-SHAKE-128f.
#define PQTLS_SLH_DSA_SHAKE_128F_VERIFYING_KEY_BYTES 32

// A signing key of SLH-DSA-SHAKE-128f.
#define PQTLS_SLH_DSA_SHAKE_128F_SIGNING_KEY_BYTES 64

// A seed of SLH-DSA-SHAKE-128f.
#define PQTLS_SLH_DSA_SHAKE_128F_SEED_BYTES 48

// The randomness of a signature of SLH-DSA-SHAKE-128f.
#define PQTLS_SLH_DSA_SHAKE_128F_RANDOMNESS_BYTES 16

// A signature of SLH-DSA-SHAKE-128f.
#define PQTLS_SLH_DSA_SHAKE_128F_SIGNATURE_BYTES 17088

// A verifying key of SLH-DSA-SHAKE-192s.
#define PQTLS_SLH_DSA_SHAKE_192S_VERIFYING_KEY_BYTES 48

// A signing key of SLH-DSA-SHAKE-192s.
#define PQTLS_SLH_DSA_SHAKE_192S_SIGNING_KEY_BYTES 96

// A seed of SLH-DSA-SHAKE-192s.
#define PQTLS_SLH_DSA_SHAKE_192S_SEED_BYTES 72

// The randomness of a signature of SLH-DSA-SHAKE-192s.
#define PQTLS_SLH_DSA_SHAKE_192S_RANDOMNESS_BYTES 24

// A signature of SLH-DSA-SHAKE-192s.
#define PQTLS_SLH_DSA_SHAKE_192S_SIGNATURE_BYTES 16224

// A verifying key of SLH-DSA-SHAKE-192f.
#define PQTLS_SLH_DSA_SHAKE_192F_VERIFYING_KEY_BYTES 48

// A signing key of SLH-DSA-SHAKE-192f.
#define PQTLS_SLH_DSA_SHAKE_192F_SIGNING_KEY_BYTES 96

// A seed of SLH-DSA-SHAKE-192f.
#define PQTLS_SLH_DSA_SHAKE_192F_SEED_BYTES 72

// The randomness of a signature of SLH-DSA-SHAKE-192f.
#define PQTLS_SLH_DSA_SHAKE_192F_RANDOMNESS_BYTES 24

// A signature of SLH-DSA-SHAKE-192f.
#define PQTLS_SLH_DSA_SHAKE_192F_SIGNATURE_BYTES 35664

// A verifying key of SLH-DSA-SHAKE-256s.
#define PQTLS_SLH_DSA_SHAKE_256S_VERIFYING_KEY_BYTES 64

// A signing key of SLH-DSA-SHAKE-256s.
#define PQTLS_SLH_DSA_SHAKE_256S_SIGNING_KEY_BYTES 128

// A seed of SLH-DSA-SHAKE-256s.
#define PQTLS_SLH_DSA_SHAKE_256S_SEED_BYTES 96

// The randomness of a signature of SLH-DSA-SHAKE-256s.
#define PQTLS_SLH_DSA_SHAKE_256S_RANDOMNESS_BYTES 32

// A signature of SLH-DSA-SHAKE-256s.
#define PQTLS_SLH_DSA_SHAKE_256S_SIGNATURE_BYTES 29792

// A verifying key of SLH-DSA-SHAKE-256f.
#define PQTLS_SLH_DSA_SHAKE_256F_VERIFYING_KEY_BYTES 64

// A signing key of SLH-DSA-SHAKE-256f.
#define PQTLS_SLH_DSA_SHAKE_256F_SIGNING_KEY_BYTES 128

// A seed of SLH-DSA-SHAKE-256f.
#define PQTLS_SLH_DSA_SHAKE_256F_SEED_BYTES 96

// The randomness of a signature of SLH-DSA-SHAKE-256f.
#define PQTLS_SLH_DSA_SHAKE_256F_RANDOMNESS_BYTES 32

// A signature of SLH-DSA-SHAKE-256f.
#define PQTLS_SLH_DSA_SHAKE_256F_SIGNATURE_BYTES 49856

// A decapsulation key of ML-KEM, in storage of the caller.
typedef struct pqtls_ml_kem_decapsulation_key pqtls_ml_kem_decapsulation_key;

// An encapsulation key of ML-KEM, prepared for use, in storage of the caller.
typedef struct pqtls_ml_kem_encapsulation_key pqtls_ml_kem_encapsulation_key;

// A signing key of ML-DSA, in storage of the caller.
typedef struct pqtls_ml_dsa_signing_key pqtls_ml_dsa_signing_key;

// A verifying key of ML-DSA, prepared for use, in storage of the caller.
typedef struct pqtls_ml_dsa_verifying_key pqtls_ml_dsa_verifying_key;

// Fills `out` with `len` bytes that nobody can guess, and returns 0; anything else is a failure. `context`
// is the random_context that the library got together with this function.
//
// It must return: no exception and no longjmp may leave it. It may call the library, but it must not change the
// outputs or the key of the call that it serves.
typedef int (*pqtls_random)(void *context, uint8_t *out, size_t len);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Reads a private key of any algorithm from PKCS#8 in DER or PEM (RFC 9881, RFC 9909, RFC 9935), with all
// checks. `form` gets PQTLS_FORM_SEED, or PQTLS_FORM_EXPANDED if there is no seed in the file. For SLH-DSA it
// is always PQTLS_FORM_EXPANDED, the signing key.
//
// `output_len` gets the length of the result, and the rest of `output` gets zeros. If output_size is smaller
// than the result, all of `output` gets zeros, and the function returns PQTLS_ERROR_TOO_SMALL; the length and
// the other numbers are set. To ask for the length, pass a null `output` with a size of 0. The function
// allocates memory to read the file, and wipes it.

PQTLS_MUST_USE
int pqtls_private_key_read(const uint8_t *file,
                           size_t file_len,
                           int32_t *algorithm,
                           int32_t *form,
                           uint8_t *output,
                           size_t output_size,
                           size_t *output_len);

// Writes a private key as PKCS#8 in PQTLS_DER or PQTLS_PEM. `key` is the seed of an ML-KEM or ML-DSA key, or an
// SLH-DSA signing key. For `output` see pqtls_private_key_read.

PQTLS_MUST_USE
int pqtls_private_key_write(int32_t algorithm,
                            const uint8_t *key,
                            size_t key_len,
                            int32_t encoding,
                            uint8_t *output,
                            size_t output_size,
                            size_t *output_len);

// Reads a public key of any algorithm from a SubjectPublicKeyInfo in DER or PEM, with all checks, and writes it
// in the encoding of its FIPS. For `output` see pqtls_private_key_read.

PQTLS_MUST_USE
int pqtls_public_key_read(const uint8_t *file,
                          size_t file_len,
                          int32_t *algorithm,
                          uint8_t *output,
                          size_t output_size,
                          size_t *output_len);

// Writes a public key as a SubjectPublicKeyInfo in PQTLS_DER or PQTLS_PEM. For `output` see
// pqtls_private_key_read.

PQTLS_MUST_USE
int pqtls_public_key_write(int32_t algorithm,
                           const uint8_t *key,
                           size_t key_len,
                           int32_t encoding,
                           uint8_t *output,
                           size_t output_size,
                           size_t *output_len);

// Makes a signing key of PQTLS_ML_DSA_44, PQTLS_ML_DSA_65 or PQTLS_ML_DSA_87 from fresh randomness
// (ML-DSA.KeyGen, FIPS 204, algorithm 1).

PQTLS_MUST_USE
int pqtls_ml_dsa_generate(int32_t algorithm,
                          pqtls_random random,
                          void *random_context,
                          struct pqtls_ml_dsa_signing_key *key,
                          size_t key_bytes);

// Makes the signing key from a seed of 32 bytes, xi (ML-DSA.KeyGen_internal, algorithm 6).

PQTLS_MUST_USE
int pqtls_ml_dsa_from_seed(int32_t algorithm,
                           const uint8_t *seed,
                           size_t seed_len,
                           struct pqtls_ml_dsa_signing_key *key,
                           size_t key_bytes);

// Makes a signing key from its expanded form, if the coefficients are in range and the parts belong together.
// The seed stays unknown.

PQTLS_MUST_USE
int pqtls_ml_dsa_from_expanded(int32_t algorithm,
                               const uint8_t *expanded,
                               size_t expanded_len,
                               struct pqtls_ml_dsa_signing_key *key,
                               size_t key_bytes);

// Reads a verifying key, and computes what all verifications have in common.

PQTLS_MUST_USE
int pqtls_ml_dsa_from_verifying_key(int32_t algorithm,
                                    const uint8_t *bytes,
                                    size_t bytes_len,
                                    struct pqtls_ml_dsa_verifying_key *key,
                                    size_t key_bytes);

// Writes the verifying key that belongs to a signing key.

PQTLS_MUST_USE
int pqtls_ml_dsa_verifying_key_of(const struct pqtls_ml_dsa_signing_key *key,
                                  uint8_t *output,
                                  size_t output_len);

// Writes the seed that a signing key was made from. A key that was made from its expanded form has no seed:
// PQTLS_ERROR_NO_SEED.

PQTLS_MUST_USE
int pqtls_ml_dsa_seed(const struct pqtls_ml_dsa_signing_key *key,
                      uint8_t *output,
                      size_t output_len);

// Writes a signing key as FIPS 204 encodes it.

PQTLS_MUST_USE
int pqtls_ml_dsa_expanded(const struct pqtls_ml_dsa_signing_key *key,
                          uint8_t *output,
                          size_t output_len);

// Signs a message with a context of at most 255 bytes, which may be empty (ML-DSA.Sign, FIPS 204,
// algorithm 2; HashML-DSA.Sign, algorithm 4). `kind` says what the message is: PQTLS_PURE, a
// PQTLS_HASH_..., one of these with PQTLS_DIGEST added, or PQTLS_MU.

PQTLS_MUST_USE
int pqtls_ml_dsa_sign(const struct pqtls_ml_dsa_signing_key *key,
                      pqtls_random random,
                      void *random_context,
                      int32_t kind,
                      const uint8_t *message,
                      size_t message_len,
                      const uint8_t *context,
                      size_t context_len,
                      uint8_t *signature,
                      size_t signature_len);

// Does the same as pqtls_ml_dsa_sign, with randomness of 32 bytes, rnd, as an argument. If these are zeros, or
// `randomness` is null and randomness_len 0, it is the deterministic variant: an attacker who can measure or
// disturb it can have the same computation repeated.

PQTLS_MUST_USE
int pqtls_ml_dsa_sign_derand(const struct pqtls_ml_dsa_signing_key *key,
                             const uint8_t *randomness,
                             size_t randomness_len,
                             int32_t kind,
                             const uint8_t *message,
                             size_t message_len,
                             const uint8_t *context,
                             size_t context_len,
                             uint8_t *signature,
                             size_t signature_len);

// Verifies a signature (ML-DSA.Verify, FIPS 204, algorithm 3; HashML-DSA.Verify, algorithm 5). `kind` must be
// the same as when the message was signed. Returns PQTLS_OK only if the signature is valid.

PQTLS_MUST_USE
int pqtls_ml_dsa_verify(const struct pqtls_ml_dsa_verifying_key *key,
                        int32_t kind,
                        const uint8_t *message,
                        size_t message_len,
                        const uint8_t *context,
                        size_t context_len,
                        const uint8_t *signature,
                        size_t signature_len);

// Computes the representative of a message, mu, for PQTLS_MU: 64 bytes (FIPS 204, algorithm 7, line 6).

PQTLS_MUST_USE
int pqtls_ml_dsa_mu(const struct pqtls_ml_dsa_verifying_key *key,
                    const uint8_t *message,
                    size_t message_len,
                    const uint8_t *context,
                    size_t context_len,
                    uint8_t *mu,
                    size_t mu_len);

// Makes a decapsulation key of PQTLS_ML_KEM_512, PQTLS_ML_KEM_768 or PQTLS_ML_KEM_1024 from fresh
// randomness (ML-KEM.KeyGen, FIPS 203, algorithm 19).

PQTLS_MUST_USE
int pqtls_ml_kem_generate(int32_t algorithm,
                          pqtls_random random,
                          void *random_context,
                          struct pqtls_ml_kem_decapsulation_key *key,
                          size_t key_bytes);

// Makes the decapsulation key from a seed of 64 bytes, d and z (ML-KEM.KeyGen_internal, algorithm 16).

PQTLS_MUST_USE
int pqtls_ml_kem_from_seed(int32_t algorithm,
                           const uint8_t *seed,
                           size_t seed_len,
                           struct pqtls_ml_kem_decapsulation_key *key,
                           size_t key_bytes);

// Makes a decapsulation key from its expanded form, if it passes the checks of FIPS 203, section 7.3, and its
// parts belong together. The seed stays unknown.

PQTLS_MUST_USE
int pqtls_ml_kem_from_expanded(int32_t algorithm,
                               const uint8_t *expanded,
                               size_t expanded_len,
                               struct pqtls_ml_kem_decapsulation_key *key,
                               size_t key_bytes);

// Reads an encapsulation key, with the checks of FIPS 203, section 7.2.

PQTLS_MUST_USE
int pqtls_ml_kem_from_encapsulation_key(int32_t algorithm,
                                        const uint8_t *bytes,
                                        size_t bytes_len,
                                        struct pqtls_ml_kem_encapsulation_key *key,
                                        size_t key_bytes);

// Writes the encapsulation key that belongs to a decapsulation key.

PQTLS_MUST_USE
int pqtls_ml_kem_encapsulation_key_of(const struct pqtls_ml_kem_decapsulation_key *key,
                                      uint8_t *output,
                                      size_t output_len);

// Writes the seed that a decapsulation key was made from. A key that was made from its expanded form has no
// seed: PQTLS_ERROR_NO_SEED.

PQTLS_MUST_USE
int pqtls_ml_kem_seed(const struct pqtls_ml_kem_decapsulation_key *key,
                      uint8_t *output,
                      size_t output_len);

// Writes a decapsulation key as FIPS 203 encodes it.

PQTLS_MUST_USE
int pqtls_ml_kem_expanded(const struct pqtls_ml_kem_decapsulation_key *key,
                          uint8_t *output,
                          size_t output_len);

// Makes a shared secret and its ciphertext (ML-KEM.Encaps, algorithm 20).

PQTLS_MUST_USE
int pqtls_ml_kem_encapsulate(const struct pqtls_ml_kem_encapsulation_key *key,
                             pqtls_random random,
                             void *random_context,
                             uint8_t *ciphertext,
                             size_t ciphertext_len,
                             uint8_t *secret,
                             size_t secret_len);

// Does the same as pqtls_ml_kem_encapsulate, with randomness of 32 bytes, m, as an argument
// (ML-KEM.Encaps_internal, algorithm 17): for tests, and if you have randomness already. Never use it twice.

PQTLS_MUST_USE
int pqtls_ml_kem_encapsulate_derand(const struct pqtls_ml_kem_encapsulation_key *key,
                                    const uint8_t *randomness,
                                    size_t randomness_len,
                                    uint8_t *ciphertext,
                                    size_t ciphertext_len,
                                    uint8_t *secret,
                                    size_t secret_len);

// Finds the shared secret of a ciphertext (ML-KEM.Decaps, algorithm 21). A ciphertext that was not made for
// this key gives another secret, and no error.

PQTLS_MUST_USE
int pqtls_ml_kem_decapsulate(const struct pqtls_ml_kem_decapsulation_key *key,
                             const uint8_t *ciphertext,
                             size_t ciphertext_len,
                             uint8_t *secret,
                             size_t secret_len);

// Makes a key pair of one of PQTLS_SLH_DSA_... from fresh randomness (slh_keygen, FIPS 205, algorithm 21).
// Both keys are as the standard encodes them.

PQTLS_MUST_USE
int pqtls_slh_dsa_generate(int32_t algorithm,
                           pqtls_random random,
                           void *random_context,
                           uint8_t *signing_key,
                           size_t signing_key_len,
                           uint8_t *verifying_key,
                           size_t verifying_key_len);

// Makes the key pair from a seed of 3n bytes, SK.seed, SK.prf and PK.seed (slh_keygen_internal, algorithm 18).

PQTLS_MUST_USE
int pqtls_slh_dsa_from_seed(int32_t algorithm,
                            const uint8_t *seed,
                            size_t seed_len,
                            uint8_t *signing_key,
                            size_t signing_key_len,
                            uint8_t *verifying_key,
                            size_t verifying_key_len);

// Signs a message with a context of at most 255 bytes, which may be empty (slh_sign, FIPS 205,
// algorithm 22; hash_slh_sign, algorithm 23). `kind` says what the message is: PQTLS_PURE, a
// PQTLS_HASH_..., or one of these with PQTLS_DIGEST added. If the public part of the key does not belong to
// its secret part, nobody would accept the signature: PQTLS_ERROR_MALFORMED_KEY.

PQTLS_MUST_USE
int pqtls_slh_dsa_sign(int32_t algorithm,
                       const uint8_t *signing_key,
                       size_t signing_key_len,
                       pqtls_random random,
                       void *random_context,
                       int32_t kind,
                       const uint8_t *message,
                       size_t message_len,
                       const uint8_t *context,
                       size_t context_len,
                       uint8_t *signature,
                       size_t signature_len);

// Does the same as pqtls_slh_dsa_sign, with randomness of n bytes, addrnd, as an argument. If `randomness` is
// null and randomness_len 0, it is the deterministic variant: an attacker who can measure or disturb it can
// have the same computation repeated.

PQTLS_MUST_USE
int pqtls_slh_dsa_sign_derand(int32_t algorithm,
                              const uint8_t *signing_key,
                              size_t signing_key_len,
                              const uint8_t *randomness,
                              size_t randomness_len,
                              int32_t kind,
                              const uint8_t *message,
                              size_t message_len,
                              const uint8_t *context,
                              size_t context_len,
                              uint8_t *signature,
                              size_t signature_len);

// Verifies a signature (slh_verify, FIPS 205, algorithm 24; hash_slh_verify, algorithm 25). `kind` must be the
// same as when the message was signed. Returns PQTLS_OK only if the signature is valid.

PQTLS_MUST_USE
int pqtls_slh_dsa_verify(int32_t algorithm,
                         const uint8_t *verifying_key,
                         size_t verifying_key_len,
                         int32_t kind,
                         const uint8_t *message,
                         size_t message_len,
                         const uint8_t *context,
                         size_t context_len,
                         const uint8_t *signature,
                         size_t signature_len);

// Overwrites `bytes` bytes with zeros: storage of keys, seeds and shared secrets. No compiler leaves this out,
// as it may leave out a memset. Nothing happens if `memory` is null.

void pqtls_wipe(void *memory,
                size_t bytes);

// A sentence that explains the result of a function. It is never null and lives as long as the process.

const char *pqtls_error_string(int error);

// The version of the library, such as "0.1.0".
 const char *pqtls_version(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* PQTLS_H */
