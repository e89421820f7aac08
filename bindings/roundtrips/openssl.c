/* OpenSSL 3.5 as one of the programs that exchange keys, signatures and ciphertexts: see `run`. */
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include "record.h"

const char *const program = "OpenSSL";

static void write_keys(struct record *record, EVP_PKEY *private_key) {
    PKCS8_PRIV_KEY_INFO *info = EVP_PKEY2PKCS8(private_key);
    CHECK(info != NULL);
    struct bytes written = {NULL, 0};
    int len = i2d_PKCS8_PRIV_KEY_INFO(info, &written.data);
    CHECK(len > 0);
    written.len = (size_t)len;
    PKCS8_PRIV_KEY_INFO_free(info);
    replace(&record->private_key, written);
    written.data = NULL;
    len = i2d_PUBKEY(private_key, &written.data);
    CHECK(len > 0);
    written.len = (size_t)len;
    replace(&record->public_key, written);
}

/* A context of operations with a key and its algorithm's context string. */
struct operation {
    EVP_PKEY_CTX *context;
    EVP_SIGNATURE *signature;
    OSSL_PARAM parameters[2];
};

static struct operation begin(EVP_PKEY *key, const struct record *record) {
    struct operation operation = {.context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL)};
    CHECK(operation.context != NULL);
    if (!is_kem(record)) {
        operation.signature = EVP_SIGNATURE_fetch(NULL, record->algorithm, NULL);
        CHECK(operation.signature != NULL);
        operation.parameters[0] = OSSL_PARAM_construct_octet_string(OSSL_SIGNATURE_PARAM_CONTEXT_STRING,
                                                                    record->context.data, record->context.len);
    }
    operation.parameters[1] = OSSL_PARAM_construct_end();
    return operation;
}

static void end(struct operation *operation) {
    EVP_PKEY_CTX_free(operation->context);
    EVP_SIGNATURE_free(operation->signature);
}

static void write_output(struct record *record, EVP_PKEY *private_key, EVP_PKEY *public_key) {
    if (is_kem(record)) {
        struct operation operation = begin(public_key, record);
        size_t ciphertext_len, secret_len;
        CHECK(EVP_PKEY_encapsulate_init(operation.context, NULL) == 1);
        CHECK(EVP_PKEY_encapsulate(operation.context, NULL, &ciphertext_len, NULL, &secret_len) == 1);
        replace(&record->output, bytes_of(ciphertext_len));
        replace(&record->message, bytes_of(secret_len));
        replace(&record->context, bytes_of(0));
        CHECK(EVP_PKEY_encapsulate(operation.context, record->output.data, &ciphertext_len, record->message.data,
                                   &secret_len) == 1);
        end(&operation);
        return;
    }
    random_message(record);
    struct operation operation = begin(private_key, record);
    size_t len;
    CHECK(EVP_PKEY_sign_message_init(operation.context, operation.signature, operation.parameters) == 1);
    CHECK(EVP_PKEY_sign(operation.context, NULL, &len, record->message.data, record->message.len) == 1);
    replace(&record->output, bytes_of(len));
    CHECK(EVP_PKEY_sign(operation.context, record->output.data, &len, record->message.data, record->message.len) == 1);
    CHECK(len == record->output.len);
    end(&operation);
}

void make(struct record *record) {
    EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, record->algorithm);
    CHECK(key != NULL);
    write_keys(record, key);
    write_output(record, key, key);
    EVP_PKEY_free(key);
}

static int is_valid(EVP_PKEY *key, const struct record *record, const struct bytes *output) {
    struct operation operation = begin(key, record);
    CHECK(EVP_PKEY_verify_message_init(operation.context, operation.signature, operation.parameters) == 1);
    int result = EVP_PKEY_verify(operation.context, output->data, output->len, record->message.data, record->message.len);
    end(&operation);
    ERR_clear_error();
    return result == 1;
}

static int has_secret(EVP_PKEY *key, const struct record *record, const struct bytes *output) {
    struct operation operation = begin(key, record);
    uint8_t secret[32];
    size_t len = sizeof secret;
    CHECK(EVP_PKEY_decapsulate_init(operation.context, NULL) == 1);
    CHECK(EVP_PKEY_decapsulate(operation.context, secret, &len, output->data, output->len) == 1);
    end(&operation);
    return len == record->message.len && memcmp(secret, record->message.data, len) == 0;
}

void answer(struct record *record, const struct bytes *changed) {
    const unsigned char *start = record->private_key.data;
    EVP_PKEY *private_key = d2i_AutoPrivateKey(NULL, &start, (long)record->private_key.len);
    CHECK(private_key != NULL);
    start = record->public_key.data;
    EVP_PKEY *public_key = d2i_PUBKEY(NULL, &start, (long)record->public_key.len);
    CHECK(public_key != NULL);
    CHECK(EVP_PKEY_is_a(private_key, record->algorithm));
    CHECK(EVP_PKEY_eq(private_key, public_key) == 1);
    if (is_kem(record)) {
        CHECK(has_secret(private_key, record, &record->output));
        CHECK(!has_secret(private_key, record, changed));
    } else {
        CHECK(is_valid(public_key, record, &record->output));
        CHECK(!is_valid(public_key, record, changed));
    }
    write_keys(record, private_key);
    write_output(record, private_key, public_key);
    EVP_PKEY_free(private_key);
    EVP_PKEY_free(public_key);
}
