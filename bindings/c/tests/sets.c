/* The sets with their sizes, and helpers. */
#include "test.h"

#define KEM(bits) {"ML-KEM-" #bits, PQTLS_ML_KEM_##bits, PQTLS_ML_KEM_##bits##_ENCAPSULATION_KEY_BYTES, \
    PQTLS_ML_KEM_##bits##_EXPANDED_KEY_BYTES, PQTLS_ML_KEM_##bits##_CIPHERTEXT_BYTES, \
    PQTLS_ML_KEM_##bits##_DECAPSULATION_KEY_STORAGE_BYTES, \
    PQTLS_ML_KEM_##bits##_ENCAPSULATION_KEY_STORAGE_BYTES, PQTLS_ML_KEM_SEED_BYTES, 32}
#define DSA(n) {"ML-DSA-" #n, PQTLS_ML_DSA_##n, PQTLS_ML_DSA_##n##_VERIFYING_KEY_BYTES, \
    PQTLS_ML_DSA_##n##_EXPANDED_KEY_BYTES, PQTLS_ML_DSA_##n##_SIGNATURE_BYTES, \
    PQTLS_ML_DSA_##n##_SIGNING_KEY_STORAGE_BYTES, PQTLS_ML_DSA_##n##_VERIFYING_KEY_STORAGE_BYTES, \
    PQTLS_ML_DSA_SEED_BYTES, 32}
#define SLH(name, id) {"SLH-DSA-" name, PQTLS_SLH_DSA_##id, PQTLS_SLH_DSA_##id##_VERIFYING_KEY_BYTES, \
    PQTLS_SLH_DSA_##id##_SIGNING_KEY_BYTES, PQTLS_SLH_DSA_##id##_SIGNATURE_BYTES, 0, 0, \
    PQTLS_SLH_DSA_##id##_SEED_BYTES, PQTLS_SLH_DSA_##id##_RANDOMNESS_BYTES}

const struct set sets[18] = {
    KEM(512), KEM(768), KEM(1024), DSA(44), DSA(65), DSA(87),
    SLH("SHA2-128s", SHA2_128S),
    SLH("SHA2-128f", SHA2_128F),
    SLH("SHA2-192s", SHA2_192S),
    SLH("SHA2-192f", SHA2_192F),
    SLH("SHA2-256s", SHA2_256S),
    SLH("SHA2-256f", SHA2_256F),
    SLH("SHAKE-128s", SHAKE_128S),
    SLH("SHAKE-128f", SHAKE_128F),
    SLH("SHAKE-192s", SHAKE_192S),
    SLH("SHAKE-192f", SHAKE_192F),
    SLH("SHAKE-256s", SHAKE_256S),
    SLH("SHAKE-256f", SHAKE_256F),
};

const struct set *set_named(const char *name) {
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (strcmp(sets[i].name, name) == 0) return &sets[i];
    fprintf(stderr, "no set is named %s\n", name);
    exit(1);
}

void *storage(size_t bytes) {
    void *memory = aligned_alloc(PQTLS_KEY_ALIGNMENT, bytes);
    CHECK(memory != NULL);
    return memory;
}

int is_zero(const void *bytes, size_t len) {
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < len; i++)
        if (byte[i] != 0) return 0;
    return 1;
}
