/* A line of an exchange, and what the programs in C have in common: see `run`. */
#ifndef RECORD_H
#define RECORD_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct bytes {
    uint8_t *data;
    size_t len;
};

/* The keys are PKCS#8 and SubjectPublicKeyInfo in DER. For ML-KEM the message is the shared secret, and the output the
 * ciphertext; for the others the output is the signature. */
struct record {
    char algorithm[32];
    struct bytes private_key, public_key, message, context, output;
};

/* What each program does: makes keys and an output for the algorithm. */
void make(struct record *record);
/* Checks what another made, and puts an output of its own in its place. `changed` is the output with a flipped bit. */
void answer(struct record *record, const struct bytes *changed);

/* Both programs call this to choose a message and a context. */
void random_message(struct record *record);

extern const char *const program;
extern size_t number;

#define CHECK(condition)                                                                              \
    do {                                                                                              \
        if (!(condition)) {                                                                           \
            fprintf(stderr, "%s: number %zu: %s:%d: not so: %s\n", program, number, __FILE__, __LINE__, #condition); \
            exit(1);                                                                                  \
        }                                                                                             \
    } while (0)

static inline int is_kem(const struct record *record) { return strncmp(record->algorithm, "ML-KEM", 6) == 0; }

static inline struct bytes bytes_of(size_t len) {
    struct bytes bytes = {malloc(len ? len : 1), len};
    CHECK(bytes.data != NULL);
    return bytes;
}

static inline void replace(struct bytes *old, struct bytes new) {
    free(old->data);
    *old = new;
}

#endif
