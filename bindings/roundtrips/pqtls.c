/* The library for C as one of the programs that exchange keys, signatures and ciphertexts: see `run`. */
#include <pqtls.h>

#include "../c/tests/test.h"
#undef CHECK
#include "record.h"

const char *const program = "C";

#undef IS
#define OK(call)                                                                                          \
    do {                                                                                                  \
        int result_ = (call);                                                                             \
        if (result_ != PQTLS_OK) fprintf(stderr, "%s: %s\n", #call, pqtls_error_string(result_));         \
        CHECK(result_ == PQTLS_OK);                                                                       \
    } while (0)

/* A key pair, prepared for use; for SLH-DSA the standard's bytes. */
struct pair {
    const struct set *set;
    void *private_key, *public_key;
    struct bytes public_bytes;
};

static int is_slh_dsa(const struct set *set) { return set->private_storage == 0; }

static struct pair pair_for(const char *algorithm) {
    const struct set *set = set_named(algorithm);
    int slh_dsa = is_slh_dsa(set);
    return (struct pair){
        .set = set,
        .private_key = slh_dsa ? malloc(set->expanded) : storage(set->private_storage),
        .public_key = slh_dsa ? NULL : storage(set->public_storage),
        .public_bytes = bytes_of(set->public_key),
    };
}

static void prepare_public(struct pair *pair, int kem) {
    const struct set *set = pair->set;
    struct bytes *bytes = &pair->public_bytes;
    if (is_slh_dsa(set)) return;
    if (kem)
        OK(pqtls_ml_kem_from_encapsulation_key(set->number, bytes->data, bytes->len, pair->public_key, set->public_storage));
    else
        OK(pqtls_ml_dsa_from_verifying_key(set->number, bytes->data, bytes->len, pair->public_key, set->public_storage));
}

static void release_pair(struct pair *pair) {
    pqtls_wipe(pair->private_key, is_slh_dsa(pair->set) ? pair->set->expanded : pair->set->private_storage);
    free(pair->private_key);
    free(pair->public_key);
    free(pair->public_bytes.data);
}

/* The public half of the private key, as the standard encodes it. */
static struct bytes public_half(const struct pair *pair, int kem) {
    const struct set *set = pair->set;
    struct bytes half = bytes_of(set->public_key);
    if (is_slh_dsa(set)) /* the latter half of the signing key: FIPS 205, figure 15 */
        memcpy(half.data, (uint8_t *)pair->private_key + set->expanded - half.len, half.len);
    else if (kem)
        OK(pqtls_ml_kem_encapsulation_key_of(pair->private_key, half.data, half.len));
    else
        OK(pqtls_ml_dsa_verifying_key_of(pair->private_key, half.data, half.len));
    return half;
}

static void write_keys(struct record *record, const struct pair *pair) {
    const struct set *set = pair->set;
    struct bytes seed = bytes_of(is_slh_dsa(set) ? set->expanded : set->seed);
    if (is_slh_dsa(set))
        memcpy(seed.data, pair->private_key, seed.len);
    else if (is_kem(record))
        OK(pqtls_ml_kem_seed(pair->private_key, seed.data, seed.len));
    else
        OK(pqtls_ml_dsa_seed(pair->private_key, seed.data, seed.len));
    struct bytes der = bytes_of(8192);
    OK(pqtls_private_key_write(set->number, seed.data, seed.len, PQTLS_DER, der.data, 8192, &der.len));
    replace(&record->private_key, der);
    free(seed.data);
    der = bytes_of(8192);
    OK(pqtls_public_key_write(set->number, pair->public_bytes.data, pair->public_bytes.len, PQTLS_DER, der.data, 8192,
                              &der.len));
    replace(&record->public_key, der);
}

static void write_output(struct record *record, const struct pair *pair) {
    const struct set *set = pair->set;
    replace(&record->output, bytes_of(set->output));
    struct bytes *message = &record->message, *context = &record->context, *output = &record->output;
    if (is_kem(record)) {
        replace(message, bytes_of(32));
        replace(context, bytes_of(0));
        OK(pqtls_ml_kem_encapsulate(pair->public_key, NULL, NULL, output->data, output->len, message->data, message->len));
        return;
    }
    random_message(record);
    if (is_slh_dsa(set))
        OK(pqtls_slh_dsa_sign(set->number, pair->private_key, set->expanded, NULL, NULL, PQTLS_PURE, message->data,
                              message->len, context->data, context->len, output->data, output->len));
    else
        OK(pqtls_ml_dsa_sign(pair->private_key, NULL, NULL, PQTLS_PURE, message->data, message->len, context->data,
                             context->len, output->data, output->len));
}

void make(struct record *record) {
    struct pair pair = pair_for(record->algorithm);
    const struct set *set = pair.set;
    if (is_slh_dsa(set)) {
        OK(pqtls_slh_dsa_generate(set->number, NULL, NULL, pair.private_key, set->expanded, pair.public_bytes.data,
                                  pair.public_bytes.len));
    } else {
        if (is_kem(record))
            OK(pqtls_ml_kem_generate(set->number, NULL, NULL, pair.private_key, set->private_storage));
        else
            OK(pqtls_ml_dsa_generate(set->number, NULL, NULL, pair.private_key, set->private_storage));
        replace(&pair.public_bytes, public_half(&pair, is_kem(record)));
        prepare_public(&pair, is_kem(record));
    }
    write_keys(record, &pair);
    write_output(record, &pair);
    release_pair(&pair);
}

static struct pair read_pair(const struct record *record) {
    struct pair pair = pair_for(record->algorithm);
    const struct set *set = pair.set;
    int32_t algorithm, form;
    uint8_t key[8192];
    size_t len;
    const struct bytes *file = &record->private_key;
    OK(pqtls_private_key_read(file->data, file->len, &algorithm, &form, key, sizeof key, &len));
    CHECK(algorithm == set->number);
    CHECK(form == (is_slh_dsa(set) ? PQTLS_FORM_EXPANDED : PQTLS_FORM_SEED));
    if (is_slh_dsa(set)) {
        CHECK(len == set->expanded);
        memcpy(pair.private_key, key, len);
    } else if (is_kem(record)) {
        OK(pqtls_ml_kem_from_seed(algorithm, key, len, pair.private_key, set->private_storage));
    } else {
        OK(pqtls_ml_dsa_from_seed(algorithm, key, len, pair.private_key, set->private_storage));
    }
    pqtls_wipe(key, sizeof key);
    file = &record->public_key;
    OK(pqtls_public_key_read(file->data, file->len, &algorithm, pair.public_bytes.data, pair.public_bytes.len, &len));
    CHECK(algorithm == set->number);
    CHECK(len == pair.public_bytes.len);
    prepare_public(&pair, is_kem(record));
    return pair;
}

static int verify(const struct pair *pair, const struct record *record, const struct bytes *output) {
    const struct bytes *message = &record->message, *context = &record->context;
    if (is_slh_dsa(pair->set))
        return pqtls_slh_dsa_verify(pair->set->number, pair->public_bytes.data, pair->public_bytes.len, PQTLS_PURE,
                                    message->data, message->len, context->data, context->len, output->data, output->len);
    return pqtls_ml_dsa_verify(pair->public_key, PQTLS_PURE, message->data, message->len, context->data, context->len,
                               output->data, output->len);
}

static int has_secret(const struct pair *pair, const struct record *record, const struct bytes *output) {
    uint8_t secret[32];
    OK(pqtls_ml_kem_decapsulate(pair->private_key, output->data, output->len, secret, sizeof secret));
    return record->message.len == sizeof secret && memcmp(secret, record->message.data, sizeof secret) == 0;
}

void answer(struct record *record, const struct bytes *changed) {
    struct pair pair = read_pair(record);
    struct bytes half = public_half(&pair, is_kem(record));
    CHECK(memcmp(half.data, pair.public_bytes.data, half.len) == 0);
    free(half.data);
    if (is_kem(record)) {
        CHECK(has_secret(&pair, record, &record->output));
        CHECK(!has_secret(&pair, record, changed));
    } else {
        OK(verify(&pair, record, &record->output));
        CHECK(verify(&pair, record, changed) == PQTLS_ERROR_INVALID_SIGNATURE);
    }
    write_keys(record, &pair);
    write_output(record, &pair);
    release_pair(&pair);
}
