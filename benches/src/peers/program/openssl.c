// OpenSSL's operations, of version 4, by the interface that it has since 3.5.
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "driver.h"

#include <string.h>

static const char *algorithm;
// What is fetched once, as a program does that cares for speed.
static EVP_SIGNATURE *signatures;
static EVP_PKEY_CTX *generator;
// The key in memory, ready for its operation.
static EVP_PKEY *loaded;
static EVP_PKEY_CTX *ready;

const char *version(void) { return OpenSSL_version(OPENSSL_VERSION_STRING); }

// It uses nothing beyond AVX2 for these operations.
void stop_at_avx2(void) {}

static EVP_PKEY *from_seed(struct bytes seed) {
    EVP_PKEY *key = NULL;
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_octet_string("seed", (void *)seed.data, seed.length), OSSL_PARAM_construct_end()};
    require(EVP_PKEY_CTX_set_params(generator, parameters) == 1 && EVP_PKEY_generate(generator, &key) == 1,
            "EVP_PKEY_generate");
    return key;
}

static EVP_PKEY *public_key(struct bytes key) {
    return EVP_PKEY_new_raw_public_key_ex(NULL, algorithm, NULL, key.data, key.length);
}

static EVP_PKEY_CTX *context(EVP_PKEY *key) {
    EVP_PKEY_CTX *made = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
    require(made != NULL, "EVP_PKEY_CTX_new_from_pkey");
    return made;
}

static size_t generate(const struct bytes fields[FIELDS], uint8_t output[OUTPUT]) {
    EVP_PKEY *key = from_seed(fields[0]);
    size_t length = OUTPUT;
    require(EVP_PKEY_get_raw_public_key(key, output, &length) == 1, "EVP_PKEY_get_raw_public_key");
    EVP_PKEY_free(key);
    return length;
}

static size_t encapsulate(const struct bytes fields[FIELDS], uint8_t output[OUTPUT]) {
    EVP_PKEY *key = public_key(fields[0]);
    if (key == NULL) return 0;
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_octet_string("ikme", (void *)fields[1].data, fields[1].length),
        OSSL_PARAM_construct_end()};
    EVP_PKEY_CTX *made = context(key);
    size_t length, secret;
    require(EVP_PKEY_encapsulate_init(made, parameters) == 1
                && EVP_PKEY_encapsulate(made, NULL, &length, NULL, &secret) == 1
                && EVP_PKEY_encapsulate(made, output, &length, output + length, &secret) == 1,
            "EVP_PKEY_encapsulate");
    EVP_PKEY_CTX_free(made);
    EVP_PKEY_free(key);
    return length + secret;
}

static size_t decapsulate(const struct bytes fields[FIELDS], uint8_t output[OUTPUT]) {
    size_t length = OUTPUT;
    require(EVP_PKEY_decapsulate(ready, output, &length, fields[0].data, fields[0].length) == 1,
            "EVP_PKEY_decapsulate");
    return length;
}

static size_t sign_with(const OSSL_PARAM *parameters, struct bytes message, uint8_t *output) {
    size_t length = OUTPUT;
    require(EVP_PKEY_sign_message_init(ready, signatures, parameters) == 1
                && EVP_PKEY_sign(ready, output, &length, message.data, message.length) == 1,
            "EVP_PKEY_sign");
    return length;
}

static size_t sign_hedged(const struct bytes fields[FIELDS], uint8_t output[OUTPUT]) {
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_octet_string("test-entropy", (void *)fields[1].data, fields[1].length),
        OSSL_PARAM_construct_end()};
    return sign_with(parameters, fields[0], output);
}

static size_t sign_deterministic(const struct bytes fields[FIELDS], uint8_t output[OUTPUT]) {
    int yes = 1;
    const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_int("deterministic", &yes), OSSL_PARAM_construct_end()};
    return sign_with(parameters, fields[0], output);
}

static size_t verify_with(EVP_PKEY_CTX *with, struct bytes message, struct bytes signature, uint8_t *output) {
    require(EVP_PKEY_verify_message_init(with, signatures, NULL) == 1, "EVP_PKEY_verify_message_init");
    output[0] = 1;
    return EVP_PKEY_verify(with, signature.data, signature.length, message.data, message.length) == 1;
}

static size_t verify(const struct bytes fields[FIELDS], uint8_t output[OUTPUT]) {
    EVP_PKEY *key = public_key(fields[0]);
    if (key == NULL) return 0;
    EVP_PKEY_CTX *made = context(key);
    size_t right = verify_with(made, fields[1], fields[2], output);
    EVP_PKEY_CTX_free(made);
    EVP_PKEY_free(key);
    return right;
}

static size_t verify_expanded(const struct bytes fields[FIELDS], uint8_t output[OUTPUT]) {
    return verify_with(ready, fields[0], fields[1], output);
}

static perform load(EVP_PKEY *key, perform operation) {
    require(key != NULL, "loading a key");
    loaded = key;
    ready = context(loaded);
    return operation;
}

perform prepare(const char *set, const char *operation, struct bytes key) {
    int is_kem = strncmp(set, "ML-KEM-", 7) == 0, is_slh = strncmp(set, "SLH-DSA-", 8) == 0;
    algorithm = set;
    generator = EVP_PKEY_CTX_new_from_name(NULL, set, NULL);
    if (generator == NULL) return NULL;
    require(EVP_PKEY_keygen_init(generator) == 1, "EVP_PKEY_keygen_init");
    if (!is_kem) {
        signatures = EVP_SIGNATURE_fetch(NULL, set, NULL);
        require(signatures != NULL, "EVP_SIGNATURE_fetch");
    }

    if (strcmp(operation, "key-generation") == 0) return generate;
    if (strcmp(operation, "encapsulation") == 0) return encapsulate;
    if (strcmp(operation, "decapsulation") == 0) {
        load(from_seed(key), decapsulate);
        require(EVP_PKEY_decapsulate_init(ready, NULL) == 1, "EVP_PKEY_decapsulate_init");
        return decapsulate;
    }
    if (strcmp(operation, "signing") == 0) {
        if (!is_slh) return load(from_seed(key), sign_hedged);
        return load(EVP_PKEY_new_raw_private_key_ex(NULL, set, NULL, key.data, key.length), sign_deterministic);
    }
    if (strcmp(operation, "verification") == 0) return verify;
    if (strcmp(operation, "verification-expanded") == 0) return load(public_key(key), verify_expanded);
    return NULL;
}
