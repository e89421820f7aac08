/* The RFCs' example keys: pairs of a private and a public one, and private ones that must be refused. */
#include "test.h"

static uint8_t *read_file(const char *path, size_t *len) {
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = malloc(1 << 17);
    CHECK(file != NULL && bytes != NULL);
    *len = fread(bytes, 1, 1 << 17, file);
    fclose(file);
    return bytes;
}

static const struct set *set_numbered(int32_t number) {
    for (size_t i = 0; i < 18; i++)
        if (sets[i].number == number) return &sets[i];
    exit(1);
}

static void public_of(const struct set *set, int seed, const uint8_t *key, size_t len, uint8_t *output) {
    size_t size = set->private_storage;
    void *made = size ? storage(size) : NULL;
    if (!size) {
        memcpy(output, key + len / 2, set->public_key);
    } else if (set->number <= PQTLS_ML_KEM_1024) {
        IS(seed ? pqtls_ml_kem_from_seed(set->number, key, len, made, size)
                : pqtls_ml_kem_from_expanded(set->number, key, len, made, size),
           PQTLS_OK);
        IS(pqtls_ml_kem_encapsulation_key_of(made, output, set->public_key), PQTLS_OK);
    } else {
        IS(seed ? pqtls_ml_dsa_from_seed(set->number, key, len, made, size)
                : pqtls_ml_dsa_from_expanded(set->number, key, len, made, size),
           PQTLS_OK);
        IS(pqtls_ml_dsa_verifying_key_of(made, output, set->public_key), PQTLS_OK);
    }
    free(made);
}

void test_files(const char *private_path, const char *public_path) {
    size_t len, file_len;
    int32_t algorithm, form, public_algorithm;
    static uint8_t key[5000], computed[3000], read[3000];
    uint8_t *file = read_file(private_path, &file_len);
    int result = pqtls_private_key_read(file, file_len, &algorithm, &form, key, sizeof key, &len);
    free(file);
    if (strcmp(public_path, "-") == 0) {
        CHECK(result == PQTLS_ERROR_MALFORMED_KEY || result == PQTLS_ERROR_SYNTAX ||
              result == PQTLS_ERROR_WRONG_LENGTH);
        return;
    }
    IS(result, PQTLS_OK);
    const struct set *set = set_numbered(algorithm);
    public_of(set, form == PQTLS_FORM_SEED, key, len, computed);
    file = read_file(public_path, &file_len);
    IS(pqtls_public_key_read(file, file_len, &public_algorithm, read, sizeof read, &len), PQTLS_OK);
    CHECK(public_algorithm == algorithm && len == set->public_key && memcmp(read, computed, len) == 0);

    /* and what is written is read as that */
    size_t written;
    uint8_t *again = malloc(file_len + 100);
    IS(pqtls_public_key_write(algorithm, read, len, PQTLS_PEM, again, file_len + 100, &written), PQTLS_OK);
    size_t read_len;
    IS(pqtls_public_key_read(again, written, &public_algorithm, computed, sizeof computed, &read_len), PQTLS_OK);
    CHECK(public_algorithm == algorithm && read_len == len && memcmp(computed, read, len) == 0);
    free(again);
    free(file);
}
