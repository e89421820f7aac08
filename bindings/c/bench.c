/* Compares the library's functions with calls of the same code from Rust and with liboqs, in one process: `bench`. */
#include <pqtls.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* calls from Rust: how many nanoseconds they take */
uint64_t pqtls_bench(int32_t what, uint32_t calls);

/* liboqs */
int OQS_KEM_ml_kem_768_keypair(uint8_t *public_key, uint8_t *secret_key);
int OQS_KEM_ml_kem_768_encaps(uint8_t *ciphertext, uint8_t *secret, const uint8_t *public_key);
int OQS_KEM_ml_kem_768_decaps(uint8_t *secret, const uint8_t *ciphertext, const uint8_t *secret_key);
int OQS_SIG_ml_dsa_65_keypair(uint8_t *public_key, uint8_t *secret_key);
int OQS_SIG_ml_dsa_65_sign(uint8_t *signature, size_t *signature_len, const uint8_t *message, size_t message_len,
                           const uint8_t *secret_key);
int OQS_SIG_ml_dsa_65_verify(const uint8_t *message, size_t message_len, const uint8_t *signature,
                             size_t signature_len, const uint8_t *public_key);
int OQS_SIG_sphincs_sha2_128f_simple_keypair(uint8_t *public_key, uint8_t *secret_key);
int OQS_SIG_sphincs_sha2_128f_simple_sign(uint8_t *signature, size_t *signature_len, const uint8_t *message,
                                          size_t message_len, const uint8_t *secret_key);
int OQS_SIG_sphincs_sha2_128f_simple_verify(const uint8_t *message, size_t message_len, const uint8_t *signature,
                                            size_t signature_len, const uint8_t *public_key);

#define ROUNDS 41

static PQTLS_STORAGE(kem_place, PQTLS_ML_KEM_768_DECAPSULATION_KEY_STORAGE_BYTES);
static PQTLS_STORAGE(kem_public_place, PQTLS_ML_KEM_768_ENCAPSULATION_KEY_STORAGE_BYTES);
static PQTLS_STORAGE(dsa_place, PQTLS_ML_DSA_65_SIGNING_KEY_STORAGE_BYTES);
static PQTLS_STORAGE(dsa_public_place, PQTLS_ML_DSA_65_VERIFYING_KEY_STORAGE_BYTES);
static PQTLS_STORAGE(other_place, PQTLS_ML_DSA_65_SIGNING_KEY_STORAGE_BYTES);
static uint8_t seed[64], ek[1184], ciphertext[1088], secret[32], vk[1952], signature[3309], fixed[3309];
static uint8_t slh_key[64], slh_public[32], slh_signature[17088], message[32];
static uint8_t oqs_kem_key[2400], oqs_ek[1184], oqs_ciphertext[1088], oqs_secret[32];
static uint8_t oqs_dsa_key[4032], oqs_vk[1952], oqs_signature[3309], oqs_fixed[3309];
static uint8_t oqs_slh_key[64], oqs_slh_public[32], oqs_slh_signature[17088];
static uint8_t oqs_other_key[4032], oqs_other_public[1952];

/* The time of signing depends on the message, so all sign the same messages. */
static void vary(uint8_t varied[32], uint32_t i) {
    memcpy(varied, message, 32);
    for (int byte = 0; byte < 4; byte++) varied[byte] = (uint8_t)(i >> 8 * byte);
}

static int call(int what, uint32_t i) {
    void *other = other_place;
    uint8_t varied[32];
    int code;
    switch (what) {
    case 0: /* and wiped, as Rust does when it drops a key */
        code = pqtls_ml_kem_from_seed(PQTLS_ML_KEM_768, seed, 64, other, sizeof kem_place);
        pqtls_wipe(other, sizeof kem_place);
        return code;
    case 1:
        return pqtls_ml_kem_encapsulate_derand((void *)kem_public_place, seed, 32, ciphertext,
                                               sizeof ciphertext, secret, 32);
    case 2: return pqtls_ml_kem_decapsulate((void *)kem_place, ciphertext, sizeof ciphertext, secret, 32);
    case 3:
        code = pqtls_ml_dsa_from_seed(PQTLS_ML_DSA_65, seed, 32, other, sizeof other_place);
        pqtls_wipe(other, sizeof other_place);
        return code;
    case 4:
        vary(varied, i);
        return pqtls_ml_dsa_sign_derand((void *)dsa_place, NULL, 0, PQTLS_PURE, varied, 32, NULL, 0,
                                        signature, sizeof signature);
    case 5:
        return pqtls_ml_dsa_verify((void *)dsa_public_place, PQTLS_PURE, message, 32, NULL, 0, fixed,
                                   sizeof fixed);
    case 6:
        return pqtls_slh_dsa_from_seed(PQTLS_SLH_DSA_SHA2_128F, seed, 48, slh_key, sizeof slh_key,
                                       slh_public, sizeof slh_public);
    case 7:
        return pqtls_slh_dsa_sign_derand(PQTLS_SLH_DSA_SHA2_128F, slh_key, sizeof slh_key, NULL, 0,
                                         PQTLS_PURE, message, 32, NULL, 0, slh_signature,
                                         sizeof slh_signature);
    default:
        return pqtls_slh_dsa_verify(PQTLS_SLH_DSA_SHA2_128F, slh_public, sizeof slh_public, PQTLS_PURE,
                                    message, 32, NULL, 0, slh_signature, sizeof slh_signature);
    }
}

/* The same by liboqs, which asks the system for randomness. */
static int liboqs(int what, uint32_t i) {
    uint8_t varied[32];
    size_t len;
    switch (what) {
    case 0: return OQS_KEM_ml_kem_768_keypair(oqs_other_public, oqs_other_key);
    case 1: return OQS_KEM_ml_kem_768_encaps(oqs_ciphertext, oqs_secret, oqs_ek);
    case 2: return OQS_KEM_ml_kem_768_decaps(oqs_secret, oqs_ciphertext, oqs_kem_key);
    case 3: return OQS_SIG_ml_dsa_65_keypair(oqs_other_public, oqs_other_key);
    case 4: vary(varied, i); return OQS_SIG_ml_dsa_65_sign(oqs_signature, &len, varied, 32, oqs_dsa_key);
    case 5: return OQS_SIG_ml_dsa_65_verify(message, 32, oqs_fixed, sizeof oqs_fixed, oqs_vk);
    case 6: return OQS_SIG_sphincs_sha2_128f_simple_keypair(oqs_other_public, oqs_other_key);
    case 7: return OQS_SIG_sphincs_sha2_128f_simple_sign(oqs_slh_signature, &len, message, 32, oqs_slh_key);
    default:
        return OQS_SIG_sphincs_sha2_128f_simple_verify(message, 32, oqs_slh_signature, sizeof oqs_slh_signature,
                                                       oqs_slh_public);
    }
}

static void must(int code) {
    if (code != PQTLS_OK) {
        fprintf(stderr, "%s\n", pqtls_error_string(code));
        exit(1);
    }
}

static void liboqs_must(int code) {
    if (code != 0) {
        fputs("liboqs failed\n", stderr);
        exit(1);
    }
}

static void ours_must(int what, uint32_t i) { must(call(what, i)); }
static void theirs_must(int what, uint32_t i) { liboqs_must(liboqs(what, i)); }

static double nanoseconds(void one(int, uint32_t), int what, uint32_t calls) {
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (uint32_t i = 0; i < calls; i++) one(what, i);
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec);
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values) {
    qsort(values, ROUNDS, sizeof *values, compare);
    return values[ROUNDS / 2];
}

int main(void) {
    static const char *names[] = {"ML-KEM-768 key",        "encapsulate", "decapsulate", "ML-DSA-65 key", "sign",
                                  "verify", "SLH-DSA-SHA2-128f key", "sign",          "verify"};
    static const uint32_t calls[] = {200, 200, 200, 50, 200, 50, 20, 1, 20};
    memset(seed, 7, sizeof seed);
    memset(message, 7, sizeof message);
    void *kem = kem_place, *kem_public = kem_public_place, *dsa = dsa_place, *dsa_public = dsa_public_place;
    must(pqtls_ml_kem_from_seed(PQTLS_ML_KEM_768, seed, 64, kem, sizeof kem_place));
    must(pqtls_ml_kem_encapsulation_key_of(kem, ek, sizeof ek));
    must(pqtls_ml_kem_from_encapsulation_key(PQTLS_ML_KEM_768, ek, sizeof ek, kem_public,
                                             sizeof kem_public_place));
    must(pqtls_ml_dsa_from_seed(PQTLS_ML_DSA_65, seed, 32, dsa, sizeof dsa_place));
    must(pqtls_ml_dsa_verifying_key_of(dsa, vk, sizeof vk));
    must(pqtls_ml_dsa_from_verifying_key(PQTLS_ML_DSA_65, vk, sizeof vk, dsa_public,
                                         sizeof dsa_public_place));
    must(pqtls_ml_dsa_sign_derand(dsa, NULL, 0, PQTLS_PURE, message, 32, NULL, 0, fixed, sizeof fixed));

    size_t len;
    liboqs_must(OQS_KEM_ml_kem_768_keypair(oqs_ek, oqs_kem_key));
    liboqs_must(OQS_KEM_ml_kem_768_encaps(oqs_ciphertext, oqs_secret, oqs_ek));
    liboqs_must(OQS_SIG_sphincs_sha2_128f_simple_keypair(oqs_slh_public, oqs_slh_key));
    liboqs_must(OQS_SIG_ml_dsa_65_keypair(oqs_vk, oqs_dsa_key));
    liboqs_must(OQS_SIG_ml_dsa_65_sign(oqs_fixed, &len, message, 32, oqs_dsa_key));

    puts("| | C, µs | Rust, µs | C / Rust | liboqs, µs | liboqs / C |\n|---|---|---|---|---|---|");
    for (int what = 0; what < 9; what++) {
        double c[ROUNDS], rust[ROUNDS], ratio[ROUNDS], theirs[ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
            /* the two take turns to be first, as the second may be quicker */
            if (round % 2) c[round] = nanoseconds(ours_must, what, calls[what]);
            rust[round] = (double)pqtls_bench(what, calls[what]);
            if (round % 2 == 0) c[round] = nanoseconds(ours_must, what, calls[what]);
            theirs[round] = nanoseconds(theirs_must, what, calls[what]);
            ratio[round] = c[round] / rust[round];
        }
        double unit = 1000.0 * calls[what], mine = median(c) / unit, other = median(theirs) / unit;
        printf("| %s | %.2f | %.2f | %.3f | %.2f | %.2f |\n", names[what], mine, median(rust) / unit,
               median(ratio), other, other / mine);
    }
    return 0;
}
