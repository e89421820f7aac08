/* What a caller does right, and what it does wrong. */
#include "test.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define MESSAGE (const uint8_t *)"message", 7
#define CONTEXT (const uint8_t *)"context", 7
#define NOTHING NULL, 0

/* Randomness for tests: counts up, and fails when `calls_left` is 0. */
struct source {
    int calls_left;
    uint8_t next;
};

static int take(void *context, uint8_t *out, size_t len) {
    struct source *source = context;
    for (size_t i = 0; i < len; i++) out[i] = source->next++;
    return source->calls_left-- > 0 ? 0 : -1;
}

static void test_ml_kem(const struct set *set) {
    pqtls_ml_kem_decapsulation_key *key = storage(set->private_storage);
    pqtls_ml_kem_encapsulation_key *public_key = storage(set->public_storage);
    uint8_t *ek = malloc(set->public_key), *c = malloc(set->output), ours[32], theirs[32], seed[64];
    size_t size = set->private_storage;

    IS(pqtls_ml_kem_generate(set->number, NULL, NULL, key, size), PQTLS_OK);
    IS(pqtls_ml_kem_encapsulation_key_of(key, ek, set->public_key), PQTLS_OK);
    IS(pqtls_ml_kem_from_encapsulation_key(set->number, ek, set->public_key, public_key,
                                           set->public_storage),
       PQTLS_OK);
    IS(pqtls_ml_kem_encapsulate(public_key, NULL, NULL, c, set->output, ours, 32), PQTLS_OK);
    IS(pqtls_ml_kem_decapsulate(key, c, set->output, theirs, 32), PQTLS_OK);
    CHECK(memcmp(ours, theirs, 32) == 0);
    /* a ciphertext that nobody made: another secret */
    c[0] ^= 1;
    IS(pqtls_ml_kem_decapsulate(key, c, set->output, theirs, 32), PQTLS_OK);
    CHECK(memcmp(ours, theirs, 32) != 0);

    /* the callback's bytes are the seed's, and the same seed gives the same key */
    struct source source = {1, 0};
    IS(pqtls_ml_kem_generate(set->number, take, &source, key, size), PQTLS_OK);
    IS(pqtls_ml_kem_seed(key, seed, 64), PQTLS_OK);
    for (int i = 0; i < 64; i++) CHECK(seed[i] == i);

    /* wrong lengths */
    IS(pqtls_ml_kem_seed(key, seed, 63), PQTLS_ERROR_WRONG_LENGTH);
    CHECK(is_zero(seed, 63));
    IS(pqtls_ml_kem_encapsulation_key_of(key, ek, set->public_key - 1), PQTLS_ERROR_WRONG_LENGTH);
    IS(pqtls_ml_kem_encapsulate(public_key, NULL, NULL, c, set->output - 1, ours, 32),
       PQTLS_ERROR_WRONG_LENGTH);
    CHECK(is_zero(c, set->output - 1) && is_zero(ours, 32));
    IS(pqtls_ml_kem_encapsulate(public_key, NULL, NULL, c, set->output, ours, 31),
       PQTLS_ERROR_WRONG_LENGTH);
    IS(pqtls_ml_kem_encapsulate_derand(public_key, seed, 31, c, set->output, ours, 32),
       PQTLS_ERROR_WRONG_LENGTH);
    memset(theirs, 1, 32);
    IS(pqtls_ml_kem_decapsulate(key, c, set->output - 1, theirs, 32), PQTLS_ERROR_WRONG_LENGTH);
    CHECK(is_zero(theirs, 32));
    IS(pqtls_ml_kem_decapsulate(key, c, SIZE_MAX, theirs, 32), PQTLS_ERROR_WRONG_LENGTH);

    /* null pointers */
    IS(pqtls_ml_kem_generate(set->number, NULL, NULL, NULL, size), PQTLS_ERROR_NULL);
    IS(pqtls_ml_kem_decapsulate(NULL, c, set->output, theirs, 32), PQTLS_ERROR_NULL);
    IS(pqtls_ml_kem_decapsulate(key, NULL, set->output, theirs, 32), PQTLS_ERROR_NULL);
    IS(pqtls_ml_kem_decapsulate(key, c, set->output, NULL, 32), PQTLS_ERROR_NULL);
    IS(pqtls_ml_kem_encapsulate(public_key, NULL, NULL, NULL, set->output, ours, 32), PQTLS_ERROR_NULL);

    /* overlaps */
    IS(pqtls_ml_kem_decapsulate(key, c, set->output, c + 1, 32), PQTLS_ERROR_OVERLAP);
    IS(pqtls_ml_kem_decapsulate(key, c, set->output, (uint8_t *)key + 64, 32), PQTLS_ERROR_OVERLAP);
    IS(pqtls_ml_kem_encapsulate(public_key, NULL, NULL, c, set->output, c + set->output - 1, 32),
       PQTLS_ERROR_OVERLAP);

    /* a callback that fails, though it has written something */
    source.calls_left = 0;
    memset(c, 1, set->output);
    memset(ours, 1, 32);
    IS(pqtls_ml_kem_encapsulate(public_key, take, &source, c, set->output, ours, 32),
       PQTLS_ERROR_RANDOMNESS);
    CHECK(is_zero(c, set->output) && is_zero(ours, 32));
    source.calls_left = 0;
    IS(pqtls_ml_kem_generate(set->number, take, &source, key, size), PQTLS_ERROR_RANDOMNESS);
    CHECK(is_zero(key, size));

    /* all of the storage is wiped, if it gets no key */
    memset(key, 1, size);
    IS(pqtls_ml_kem_from_seed(set->number, seed, 63, key, size), PQTLS_ERROR_WRONG_LENGTH);
    CHECK(is_zero(key, size));

    /* storage: too small, misaligned, zeroed, of another kind, wiped */
    IS(pqtls_ml_kem_decapsulate(key, c, set->output, ours, 32), PQTLS_ERROR_NO_KEY);
    IS(pqtls_ml_kem_generate(set->number, NULL, NULL, key, 64), PQTLS_ERROR_TOO_SMALL);
    IS(pqtls_ml_kem_generate(set->number, NULL, NULL, (void *)((char *)key + 8), size - 8),
       PQTLS_ERROR_MISALIGNED);
    IS(pqtls_ml_kem_decapsulate((const void *)public_key, c, set->output, ours, 32), PQTLS_ERROR_NO_KEY);
    IS(pqtls_ml_kem_generate(99, NULL, NULL, key, size), PQTLS_ERROR_ALGORITHM);
    IS(pqtls_ml_kem_generate(PQTLS_ML_DSA_44, NULL, NULL, key, size), PQTLS_ERROR_ALGORITHM);
    IS(pqtls_ml_kem_generate(set->number, NULL, NULL, key, size), PQTLS_OK);
    pqtls_wipe(key, size);
    CHECK(is_zero(key, size));
    IS(pqtls_ml_kem_seed(key, seed, 64), PQTLS_ERROR_NO_KEY);
    memset(key, 0xa5, size);
    IS(pqtls_ml_kem_seed(key, seed, 64), PQTLS_ERROR_NO_KEY);

    free(key);
    free(public_key);
    free(ek);
    free(c);
}

static void test_ml_dsa(const struct set *set) {
    pqtls_ml_dsa_signing_key *key = storage(set->private_storage);
    pqtls_ml_dsa_verifying_key *public_key = storage(set->public_storage);
    uint8_t *pk = malloc(set->public_key), *sig = malloc(set->output), *other = malloc(set->output);
    uint8_t mu[64], long_context[256] = {0}, digest[64] = {0};
    size_t size = set->private_storage, len = set->output;

    IS(pqtls_ml_dsa_generate(set->number, NULL, NULL, key, size), PQTLS_OK);
    IS(pqtls_ml_dsa_verifying_key_of(key, pk, set->public_key), PQTLS_OK);
    IS(pqtls_ml_dsa_from_verifying_key(set->number, pk, set->public_key, public_key,
                                       set->public_storage),
       PQTLS_OK);
    IS(pqtls_ml_dsa_sign(key, NULL, NULL, PQTLS_PURE, MESSAGE, CONTEXT, sig, len), PQTLS_OK);
    IS(pqtls_ml_dsa_verify(public_key, PQTLS_PURE, MESSAGE, CONTEXT, sig, len), PQTLS_OK);
    IS(pqtls_ml_dsa_verify(public_key, PQTLS_PURE, MESSAGE, NOTHING, sig, len),
       PQTLS_ERROR_INVALID_SIGNATURE);
    IS(pqtls_ml_dsa_verify(public_key, PQTLS_HASH_SHA2_512, MESSAGE, CONTEXT, sig, len),
       PQTLS_ERROR_INVALID_SIGNATURE);
    /* hedged: never the same; deterministic: always */
    IS(pqtls_ml_dsa_sign(key, NULL, NULL, PQTLS_PURE, MESSAGE, CONTEXT, other, len), PQTLS_OK);
    CHECK(memcmp(sig, other, len) != 0);
    IS(pqtls_ml_dsa_sign_derand(key, NOTHING, PQTLS_PURE, MESSAGE, CONTEXT, sig, len), PQTLS_OK);
    IS(pqtls_ml_dsa_mu(public_key, MESSAGE, CONTEXT, mu, 64), PQTLS_OK);
    IS(pqtls_ml_dsa_sign_derand(key, NOTHING, PQTLS_MU, mu, 64, NOTHING, other, len), PQTLS_OK);
    CHECK(memcmp(sig, other, len) == 0);
    IS(pqtls_ml_dsa_verify(public_key, PQTLS_MU, mu, 64, NOTHING, sig, len), PQTLS_OK);
    IS(pqtls_ml_dsa_verify(public_key, PQTLS_MU, mu, 64, CONTEXT, sig, len), PQTLS_ERROR_CONTEXT);
    IS(pqtls_ml_dsa_verify(public_key, PQTLS_MU, mu, 63, NOTHING, sig, len), PQTLS_ERROR_WRONG_LENGTH);
    /* an empty message and output */
    IS(pqtls_ml_dsa_sign(key, NULL, NULL, PQTLS_PURE, NOTHING, NOTHING, sig, len), PQTLS_OK);
    IS(pqtls_ml_dsa_verify(public_key, PQTLS_PURE, NOTHING, NOTHING, sig, len), PQTLS_OK);
    /* digests */
    IS(pqtls_ml_dsa_sign(key, NULL, NULL, PQTLS_DIGEST | PQTLS_HASH_SHA2_512, digest, 64, NOTHING, sig,
                         len),
       PQTLS_OK);
    IS(pqtls_ml_dsa_verify(public_key, PQTLS_DIGEST | PQTLS_HASH_SHA2_512, digest, 64, NOTHING, sig, len),
       PQTLS_OK);
    IS(pqtls_ml_dsa_verify(public_key, PQTLS_DIGEST | PQTLS_HASH_SHA2_256, digest, 64, NOTHING, sig, len),
       PQTLS_ERROR_WRONG_LENGTH);
    IS(pqtls_ml_dsa_verify(public_key, PQTLS_DIGEST, digest, 64, NOTHING, sig, len),
       PQTLS_ERROR_ALGORITHM);
    IS(pqtls_ml_dsa_verify(public_key, -1, digest, 64, NOTHING, sig, len), PQTLS_ERROR_ALGORITHM);

    /* refusals */
    memset(sig, 1, len);
    IS(pqtls_ml_dsa_sign(key, NULL, NULL, PQTLS_PURE, MESSAGE, long_context, 256, sig, len),
       PQTLS_ERROR_CONTEXT);
    CHECK(is_zero(sig, len));
    IS(pqtls_ml_dsa_sign(key, NULL, NULL, PQTLS_PURE, MESSAGE, NOTHING, sig, len - 1),
       PQTLS_ERROR_WRONG_LENGTH);
    IS(pqtls_ml_dsa_sign(key, NULL, NULL, PQTLS_PURE, NULL, 1, NOTHING, sig, len), PQTLS_ERROR_NULL);
    IS(pqtls_ml_dsa_sign(key, NULL, NULL, PQTLS_PURE, sig, 1, NOTHING, sig, len), PQTLS_ERROR_OVERLAP);
    IS(pqtls_ml_dsa_sign_derand(key, digest, 31, PQTLS_PURE, MESSAGE, NOTHING, sig, len),
       PQTLS_ERROR_WRONG_LENGTH);
    IS(pqtls_ml_dsa_verify(public_key, PQTLS_PURE, MESSAGE, NOTHING, sig, len - 1),
       PQTLS_ERROR_WRONG_LENGTH);
    IS(pqtls_ml_dsa_from_verifying_key(set->number, pk, 5, public_key, set->public_storage),
       PQTLS_ERROR_WRONG_LENGTH);
    IS(pqtls_ml_dsa_verify(public_key, PQTLS_PURE, MESSAGE, NOTHING, sig, len), PQTLS_ERROR_NO_KEY);
    struct source source = {0, 0};
    memset(sig, 1, len);
    IS(pqtls_ml_dsa_sign(key, take, &source, PQTLS_PURE, MESSAGE, NOTHING, sig, len),
       PQTLS_ERROR_RANDOMNESS);
    CHECK(is_zero(sig, len));
    /* a storage that was copied is a key as well */
    pqtls_ml_dsa_signing_key *copy = storage(size);
    memcpy(copy, key, size);
    pqtls_wipe(key, size);
    IS(pqtls_ml_dsa_sign(key, NULL, NULL, PQTLS_PURE, MESSAGE, NOTHING, sig, len), PQTLS_ERROR_NO_KEY);
    IS(pqtls_ml_dsa_sign(copy, NULL, NULL, PQTLS_PURE, MESSAGE, NOTHING, sig, len), PQTLS_OK);
    pqtls_wipe(copy, size);

    free(copy);
    free(key);
    free(public_key);
    free(pk);
    free(sig);
    free(other);
}

static void test_slh_dsa(const struct set *set) {
    uint8_t *sk = malloc(set->expanded), *pk = malloc(set->public_key), *sig = malloc(set->output);
    size_t sk_len = set->expanded, pk_len = set->public_key, len = set->output;

    IS(pqtls_slh_dsa_generate(set->number, NULL, NULL, sk, sk_len, pk, pk_len), PQTLS_OK);
    IS(pqtls_slh_dsa_sign(set->number, sk, sk_len, NULL, NULL, PQTLS_PURE, MESSAGE, CONTEXT, sig, len),
       PQTLS_OK);
    IS(pqtls_slh_dsa_verify(set->number, pk, pk_len, PQTLS_PURE, MESSAGE, CONTEXT, sig, len), PQTLS_OK);
    IS(pqtls_slh_dsa_verify(set->number, pk, pk_len, PQTLS_PURE, MESSAGE, NOTHING, sig, len),
       PQTLS_ERROR_INVALID_SIGNATURE);
    IS(pqtls_slh_dsa_verify(set->number, pk, pk_len, PQTLS_MU, MESSAGE, NOTHING, sig, len),
       PQTLS_ERROR_ALGORITHM);
    IS(pqtls_slh_dsa_verify(set->number, pk, pk_len - 1, PQTLS_PURE, MESSAGE, NOTHING, sig, len),
       PQTLS_ERROR_WRONG_LENGTH);
    IS(pqtls_slh_dsa_verify(set->number, pk, pk_len, PQTLS_PURE, MESSAGE, NOTHING, sig, len - 1),
       PQTLS_ERROR_WRONG_LENGTH);
    IS(pqtls_slh_dsa_verify(PQTLS_ML_DSA_44, pk, pk_len, PQTLS_PURE, MESSAGE, NOTHING, sig, len),
       PQTLS_ERROR_ALGORITHM);
    IS(pqtls_slh_dsa_sign(set->number, sk, sk_len, NULL, NULL, PQTLS_PURE, MESSAGE, CONTEXT, sig,
                          len - 1),
       PQTLS_ERROR_WRONG_LENGTH);
    IS(pqtls_slh_dsa_sign(set->number, sk, sk_len, NULL, NULL, PQTLS_PURE, sig, 3, CONTEXT, sig, len),
       PQTLS_ERROR_OVERLAP);
    struct source source = {0, 0};
    memset(sig, 1, len);
    IS(pqtls_slh_dsa_sign(set->number, sk, sk_len, take, &source, PQTLS_PURE, MESSAGE, CONTEXT, sig, len),
       PQTLS_ERROR_RANDOMNESS);
    CHECK(is_zero(sig, len));
    source.calls_left = 0;
    IS(pqtls_slh_dsa_generate(set->number, take, &source, sk, sk_len, pk, pk_len), PQTLS_ERROR_RANDOMNESS);
    CHECK(is_zero(sk, sk_len) && is_zero(pk, pk_len));
    IS(pqtls_slh_dsa_generate(set->number, NULL, NULL, sk, sk_len, sk, pk_len), PQTLS_ERROR_OVERLAP);

    free(sk);
    free(pk);
    free(sig);
}

/* Keys in PEM and DER, there and back. */
static void test_files_of(const struct set *set) {
    uint8_t *sk = malloc(set->expanded), *pk = malloc(set->public_key), *key = sk, *back;
    int32_t algorithm = 0, form = 0;
    size_t key_len = set->expanded, len = 0, back_len = 0;
    if (set->private_storage) {
        for (size_t i = 0; i < set->seed; i++) sk[i] = (uint8_t)i;
        key_len = set->seed;
    } else {
        IS(pqtls_slh_dsa_generate(set->number, NULL, NULL, sk, set->expanded, pk, set->public_key),
           PQTLS_OK);
    }
    back = malloc(set->expanded);
    for (int32_t encoding = PQTLS_DER; encoding <= PQTLS_PEM; encoding++) {
        IS(pqtls_private_key_write(set->number, key, key_len, encoding, NULL, 0, &len),
           PQTLS_ERROR_TOO_SMALL);
        uint8_t *file = malloc(len);
        IS(pqtls_private_key_write(set->number, key, key_len, encoding, file, len, &len), PQTLS_OK);
        IS(pqtls_private_key_read(file, len, &algorithm, &form, back, set->expanded, &back_len), PQTLS_OK);
        CHECK(algorithm == set->number && back_len == key_len && memcmp(key, back, key_len) == 0);
        CHECK(form == (set->private_storage ? PQTLS_FORM_SEED : PQTLS_FORM_EXPANDED));
        IS(pqtls_private_key_read(file, len - 1, &algorithm, &form, back, set->expanded, &back_len),
           encoding == PQTLS_DER ? PQTLS_ERROR_SYNTAX : PQTLS_OK);
        IS(pqtls_private_key_read(file, len / 2, &algorithm, &form, back, set->expanded, &back_len),
           PQTLS_ERROR_SYNTAX);
        free(file);
    }
    if (!set->private_storage) {
        for (int32_t encoding = PQTLS_DER; encoding <= PQTLS_PEM; encoding++) {
            uint8_t file[1000];
            IS(pqtls_public_key_write(set->number, pk, set->public_key, encoding, file, sizeof file, &len),
               PQTLS_OK);
            IS(pqtls_public_key_read(file, len, &algorithm, back, set->expanded, &back_len), PQTLS_OK);
            CHECK(algorithm == set->number && back_len == set->public_key);
            CHECK(memcmp(pk, back, back_len) == 0);
        }
        sk[set->expanded - 1] ^= 1;
        IS(pqtls_private_key_write(set->number, sk, key_len, PQTLS_DER, NULL, 0, &len),
           PQTLS_ERROR_MALFORMED_KEY);
    }
    IS(pqtls_private_key_write(set->number, key, key_len - 1, PQTLS_DER, NULL, 0, &len),
       PQTLS_ERROR_WRONG_LENGTH);
    IS(pqtls_private_key_write(99, key, key_len, PQTLS_DER, NULL, 0, &len), PQTLS_ERROR_ALGORITHM);
    memset(back, 1, 2);
    IS(pqtls_private_key_read((const uint8_t *)"x", 1, &algorithm, &form, back, 1, &back_len),
       PQTLS_ERROR_SYNTAX);
    CHECK(algorithm == 0 && form == 0 && back_len == 0 && back[0] == 0 && back[1] == 1);
    IS(pqtls_private_key_read(back, 1, &algorithm, &form, back, 1, &back_len), PQTLS_ERROR_OVERLAP);
    IS(pqtls_private_key_read(back, 1, &algorithm, &algorithm, back + 1, 1, &back_len), PQTLS_ERROR_OVERLAP);
    IS(pqtls_private_key_read(back, 1, NULL, &form, back + 1, 1, &back_len), PQTLS_ERROR_NULL);
    free(sk);
    free(pk);
    free(back);
}

static void *many_signatures(void *shared) {
    pqtls_ml_dsa_signing_key *key = shared;
    uint8_t sig[PQTLS_ML_DSA_44_SIGNATURE_BYTES];
    for (int i = 0; i < 50; i++)
        IS(pqtls_ml_dsa_sign(key, NULL, NULL, PQTLS_PURE, MESSAGE, NOTHING, sig, sizeof sig), PQTLS_OK);
    return NULL;
}

static void test_threads(void) {
    PQTLS_STORAGE(place, PQTLS_ML_DSA_44_SIGNING_KEY_STORAGE_BYTES);
    pqtls_ml_dsa_signing_key *key = (void *)place;
    pthread_t threads[4];
    IS(pqtls_ml_dsa_generate(PQTLS_ML_DSA_44, NULL, NULL, key, sizeof place), PQTLS_OK);
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, many_signatures, key) == 0);
    for (int i = 0; i < 4; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    pqtls_wipe(place, sizeof place);
}

/* Randomness that is the start of a signature by the key that the outer call signs with. */
static int sign_meanwhile(void *key, uint8_t *out, size_t len) {
    uint8_t sig[PQTLS_ML_DSA_44_SIGNATURE_BYTES];
    int code = pqtls_ml_dsa_sign_derand(key, NULL, 0, PQTLS_PURE, MESSAGE, NOTHING, sig, sizeof sig);
    if (code == PQTLS_OK) memcpy(out, sig, len);
    return code;
}

static void test_calls_from_callbacks(void) {
    PQTLS_STORAGE(place, PQTLS_ML_DSA_44_SIGNING_KEY_STORAGE_BYTES);
    PQTLS_STORAGE(other, PQTLS_ML_DSA_44_SIGNING_KEY_STORAGE_BYTES);
    pqtls_ml_dsa_signing_key *key = (void *)place, *made = (void *)other;
    uint8_t sig[PQTLS_ML_DSA_44_SIGNATURE_BYTES], again[PQTLS_ML_DSA_44_SIGNATURE_BYTES], seed[32];
    IS(pqtls_ml_dsa_generate(PQTLS_ML_DSA_44, NULL, NULL, key, sizeof place), PQTLS_OK);
    IS(sign_meanwhile(key, seed, sizeof seed), PQTLS_OK);
    IS(pqtls_ml_dsa_sign(key, sign_meanwhile, key, PQTLS_PURE, MESSAGE, NOTHING, sig, sizeof sig), PQTLS_OK);
    IS(pqtls_ml_dsa_sign_derand(key, seed, sizeof seed, PQTLS_PURE, MESSAGE, NOTHING, again, sizeof again),
       PQTLS_OK);
    CHECK(memcmp(sig, again, sizeof sig) == 0);
    IS(pqtls_ml_dsa_generate(PQTLS_ML_DSA_44, sign_meanwhile, key, made, sizeof other), PQTLS_OK);
    IS(pqtls_ml_dsa_seed(made, again, sizeof seed), PQTLS_OK);
    CHECK(memcmp(seed, again, sizeof seed) == 0);
    pqtls_wipe(place, sizeof place);
    pqtls_wipe(other, sizeof other);
}

/* Parent and child draw different randomness, and both use their keys before and after. */
static void test_fork(void) {
    PQTLS_STORAGE(place, PQTLS_ML_KEM_768_DECAPSULATION_KEY_STORAGE_BYTES);
    pqtls_ml_kem_decapsulation_key *key = (void *)place;
    uint8_t ours[64], theirs[64];
    int ends[2], status;
    IS(pqtls_ml_kem_generate(PQTLS_ML_KEM_768, NULL, NULL, key, sizeof place), PQTLS_OK);
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    IS(pqtls_ml_kem_generate(PQTLS_ML_KEM_768, NULL, NULL, key, sizeof place), PQTLS_OK);
    IS(pqtls_ml_kem_seed(key, ours, sizeof ours), PQTLS_OK);
    if (child == 0) _exit(write(ends[1], ours, sizeof ours) == sizeof ours ? 0 : 1);
    CHECK(read(ends[0], theirs, sizeof theirs) == sizeof theirs);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(memcmp(ours, theirs, sizeof ours) != 0);
    close(ends[0]);
    close(ends[1]);
}

/* main [VECTORS [PRIVATE PUBLIC]...]: a file that tests/vectors.py wrote, and key files, "-" for the public one
 * of a private key that must be refused. */
int main(int argc, char **argv) {
    CHECK(strcmp(pqtls_error_string(PQTLS_OK), "no error") == 0);
    for (int i = -14; i < 0; i++)
        CHECK(strcmp(pqtls_error_string(i), pqtls_error_string(1)) != 0);
    pqtls_wipe(NULL, 5);
    for (size_t i = 0; i < 18; i++) {
        int slow = !sets[i].private_storage && sets[i].name[strlen(sets[i].name) - 1] == 's';
        if (i < 3) test_ml_kem(&sets[i]);
        else if (i < 6) test_ml_dsa(&sets[i]);
        else if (!slow) test_slh_dsa(&sets[i]);
        if (!slow) test_files_of(&sets[i]);
    }
    test_threads();
    test_calls_from_callbacks();
    test_fork();
    if (argc > 1) test_vectors(argv[1]);
    for (int i = 2; i + 1 < argc; i += 2) test_files(argv[i], argv[i + 1]);
    puts("all is well");
    return 0;
}
