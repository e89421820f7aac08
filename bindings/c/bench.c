/* Compares the library's functions with calls of the same code from Rust and with PQClean, in one process: `bench`. */
#include <pqtls.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t pqtls_bench(int32_t who, int32_t what, uint32_t calls);

#define ROUNDS 41

static PQTLS_STORAGE(kem_place, PQTLS_ML_KEM_768_DECAPSULATION_KEY_STORAGE_BYTES);
static PQTLS_STORAGE(kem_public_place, PQTLS_ML_KEM_768_ENCAPSULATION_KEY_STORAGE_BYTES);
static PQTLS_STORAGE(dsa_place, PQTLS_ML_DSA_65_SIGNING_KEY_STORAGE_BYTES);
static PQTLS_STORAGE(dsa_public_place, PQTLS_ML_DSA_65_VERIFYING_KEY_STORAGE_BYTES);
static PQTLS_STORAGE(other_place, PQTLS_ML_DSA_65_SIGNING_KEY_STORAGE_BYTES);
static uint8_t seed[64], ek[1184], ciphertext[1088], secret[32], vk[1952], signature[3309], fixed[3309];
static uint8_t slh_key[64], slh_public[32], slh_signature[17088], message[32];

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
        memcpy(varied, message, sizeof varied);
        for (int byte = 0; byte < 4; byte++) varied[byte] = (uint8_t)(i >> 8 * byte);
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

static void must(int code) {
    if (code != PQTLS_OK) {
        fprintf(stderr, "%s\n", pqtls_error_string(code));
        exit(1);
    }
}

static double ours(int what, uint32_t calls) {
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (uint32_t i = 0; i < calls; i++) must(call(what, i));
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

    puts("| | C, µs | Rust, µs | C / Rust | PQClean, µs | PQClean / C |\n|---|---|---|---|---|---|");
    for (int what = 0; what < 9; what++) {
        double c[ROUNDS], rust[ROUNDS], ratio[ROUNDS], pqclean[ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
            /* the two take turns to be first, as the second may be quicker */
            if (round % 2) c[round] = ours(what, calls[what]);
            rust[round] = (double)pqtls_bench(0, what, calls[what]);
            if (round % 2 == 0) c[round] = ours(what, calls[what]);
            pqclean[round] = (double)pqtls_bench(1, what, calls[what]);
            ratio[round] = c[round] / rust[round];
        }
        double unit = 1000.0 * calls[what], mine = median(c) / unit, theirs = median(pqclean) / unit;
        printf("| %s | %.2f | %.2f | %.3f | %.2f | %.2f |\n", names[what], mine, median(rust) / unit,
               median(ratio), theirs, theirs / mine);
    }
    return 0;
}
