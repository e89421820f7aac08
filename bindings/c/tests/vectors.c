/* ACVP vectors, one a line as tests/vectors.py writes them: a word for what is done, then fields of which
 * each is hexadecimal, a number or a name. "-" is an empty field. */
#include "test.h"

#define MAX_FIELDS 10

struct bytes {
    unsigned char *data;
    size_t len;
};

static struct bytes decode(const char *hex) {
    struct bytes bytes = {NULL, 0};
    if (strcmp(hex, "-") == 0) return bytes;
    bytes.len = strlen(hex) / 2;
    /* exactly as long, so that reading past the end is seen */
    bytes.data = malloc(bytes.len);
    CHECK(bytes.data != NULL);
    for (size_t i = 0; i < bytes.len; i++) {
        unsigned int byte;
        CHECK(sscanf(hex + 2 * i, "%2x", &byte) == 1);
        bytes.data[i] = (unsigned char)byte;
    }
    return bytes;
}

static int same(const void *ours, struct bytes theirs) {
    return memcmp(ours, theirs.data, theirs.len) == 0;
}

static void ml_kem_keygen(const struct set *set, struct bytes *f) {
    pqtls_ml_kem_decapsulation_key *key = storage(set->private_storage);
    unsigned char *ek = malloc(set->public_key), *dk = malloc(set->expanded), seed[64];
    IS(pqtls_ml_kem_from_seed(set->number, f[0].data, f[0].len, key, set->private_storage), PQTLS_OK);
    IS(pqtls_ml_kem_encapsulation_key_of(key, ek, set->public_key), PQTLS_OK);
    IS(pqtls_ml_kem_expanded(key, dk, set->expanded), PQTLS_OK);
    IS(pqtls_ml_kem_seed(key, seed, sizeof seed), PQTLS_OK);
    CHECK(f[1].len == set->public_key && same(ek, f[1]));
    CHECK(f[2].len == set->expanded && same(dk, f[2]));
    CHECK(same(seed, f[0]));
    pqtls_wipe(key, set->private_storage);
    free(key);
    free(ek);
    free(dk);
}

static void ml_kem_encaps(const struct set *set, struct bytes *f) {
    pqtls_ml_kem_encapsulation_key *key = storage(set->public_storage);
    unsigned char *ciphertext = malloc(set->output), secret[32];
    IS(pqtls_ml_kem_from_encapsulation_key(set->number, f[0].data, f[0].len, key, set->public_storage),
       PQTLS_OK);
    IS(pqtls_ml_kem_encapsulate_derand(key, f[1].data, f[1].len, ciphertext, set->output, secret, 32),
       PQTLS_OK);
    CHECK(f[2].len == set->output && same(ciphertext, f[2]));
    CHECK(f[3].len == 32 && same(secret, f[3]));
    free(key);
    free(ciphertext);
}

static void ml_kem_decaps(const struct set *set, struct bytes *f) {
    pqtls_ml_kem_decapsulation_key *key = storage(set->private_storage);
    unsigned char secret[32];
    IS(pqtls_ml_kem_from_expanded(set->number, f[0].data, f[0].len, key, set->private_storage), PQTLS_OK);
    IS(pqtls_ml_kem_decapsulate(key, f[1].data, f[1].len, secret, sizeof secret), PQTLS_OK);
    CHECK(f[2].len == 32 && same(secret, f[2]));
    IS(pqtls_ml_kem_seed(key, secret, 32), PQTLS_ERROR_NO_SEED);
    free(key);
}

/* A public or private key that is refused, or not. */
static void ml_kem_check(const struct set *set, int encapsulation, int good, struct bytes *f) {
    size_t bytes = encapsulation ? set->public_storage : set->private_storage;
    void *key = storage(bytes);
    int result = encapsulation
                     ? pqtls_ml_kem_from_encapsulation_key(set->number, f[0].data, f[0].len, key, bytes)
                     : pqtls_ml_kem_from_expanded(set->number, f[0].data, f[0].len, key, bytes);
    if (good) IS(result, PQTLS_OK);
    else CHECK(result == PQTLS_ERROR_MALFORMED_KEY || result == PQTLS_ERROR_WRONG_LENGTH);
    free(key);
}

static void ml_dsa_keygen(const struct set *set, struct bytes *f) {
    pqtls_ml_dsa_signing_key *key = storage(set->private_storage);
    unsigned char *pk = malloc(set->public_key), *sk = malloc(set->expanded);
    IS(pqtls_ml_dsa_from_seed(set->number, f[0].data, f[0].len, key, set->private_storage), PQTLS_OK);
    IS(pqtls_ml_dsa_verifying_key_of(key, pk, set->public_key), PQTLS_OK);
    IS(pqtls_ml_dsa_expanded(key, sk, set->expanded), PQTLS_OK);
    CHECK(f[1].len == set->public_key && same(pk, f[1]));
    CHECK(f[2].len == set->expanded && same(sk, f[2]));
    free(key);
    free(pk);
    free(sk);
}

static void sign(const struct set *set, int kind, struct bytes *f) {
    unsigned char *signature = malloc(set->output);
    if (set->private_storage) {
        pqtls_ml_dsa_signing_key *key = storage(set->private_storage);
        IS(pqtls_ml_dsa_from_expanded(set->number, f[0].data, f[0].len, key, set->private_storage),
           PQTLS_OK);
        IS(pqtls_ml_dsa_sign_derand(key, f[1].data, f[1].len, kind, f[2].data, f[2].len, f[3].data,
                                    f[3].len, signature, set->output),
           PQTLS_OK);
        free(key);
    } else {
        IS(pqtls_slh_dsa_sign_derand(set->number, f[0].data, f[0].len, f[1].data, f[1].len, kind,
                                     f[2].data, f[2].len, f[3].data, f[3].len, signature, set->output),
           PQTLS_OK);
    }
    CHECK(f[4].len == set->output && same(signature, f[4]));
    free(signature);
}

static void verify(const struct set *set, int good, int kind, struct bytes *f) {
    int result;
    if (set->private_storage) {
        pqtls_ml_dsa_verifying_key *key = storage(set->public_storage);
        IS(pqtls_ml_dsa_from_verifying_key(set->number, f[0].data, f[0].len, key, set->public_storage),
           PQTLS_OK);
        result = pqtls_ml_dsa_verify(key, kind, f[1].data, f[1].len, f[2].data, f[2].len, f[3].data,
                                     f[3].len);
        free(key);
    } else {
        result = pqtls_slh_dsa_verify(set->number, f[0].data, f[0].len, kind, f[1].data, f[1].len,
                                      f[2].data, f[2].len, f[3].data, f[3].len);
    }
    if (good) IS(result, PQTLS_OK);
    else CHECK(result == PQTLS_ERROR_INVALID_SIGNATURE || result == PQTLS_ERROR_WRONG_LENGTH);
}

static void slh_dsa_keygen(const struct set *set, struct bytes *f) {
    unsigned char *sk = malloc(set->expanded), *pk = malloc(set->public_key);
    IS(pqtls_slh_dsa_from_seed(set->number, f[0].data, f[0].len, sk, set->expanded, pk, set->public_key),
       PQTLS_OK);
    CHECK(f[1].len == set->public_key && same(pk, f[1]));
    CHECK(f[2].len == set->expanded && same(sk, f[2]));
    free(sk);
    free(pk);
}

void test_vectors(const char *path) {
    static char line[1 << 20];
    FILE *file = fopen(path, "r");
    size_t count = 0;
    CHECK(file != NULL);
    while (fgets(line, sizeof line, file) != NULL) {
        char *what = strtok(line, " \n"), *word;
        const struct set *set = set_named(strtok(NULL, " \n"));
        int good = atoi(strtok(NULL, " \n")), kind = atoi(strtok(NULL, " \n"));
        struct bytes f[MAX_FIELDS] = {{NULL, 0}};
        size_t fields = 0;
        while ((word = strtok(NULL, " \n")) != NULL) {
            CHECK(fields < MAX_FIELDS);
            f[fields++] = decode(word);
        }
        if (strcmp(what, "kem-keygen") == 0) ml_kem_keygen(set, f);
        else if (strcmp(what, "kem-encaps") == 0) ml_kem_encaps(set, f);
        else if (strcmp(what, "kem-decaps") == 0) ml_kem_decaps(set, f);
        else if (strcmp(what, "kem-check-ek") == 0) ml_kem_check(set, 1, good, f);
        else if (strcmp(what, "kem-check-dk") == 0) ml_kem_check(set, 0, good, f);
        else if (strcmp(what, "dsa-keygen") == 0) ml_dsa_keygen(set, f);
        else if (strcmp(what, "slh-keygen") == 0) slh_dsa_keygen(set, f);
        else if (strcmp(what, "sign") == 0) sign(set, kind, f);
        else if (strcmp(what, "verify") == 0) verify(set, good, kind, f);
        else CHECK(!"known");
        for (size_t i = 0; i < fields; i++) free(f[i].data);
        count++;
    }
    fclose(file);
    CHECK(count > 100);
    printf("%zu vectors\n", count);
}
