/* What the tests have in common. */
#ifndef TEST_H
#define TEST_H

#include <pqtls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* Checks what a function returned, and prints it if it is another number. */
#define IS(call, expected)                                                                         \
    do {                                                                                           \
        int is_ = (call);                                                                          \
        if (is_ != (expected)) {                                                                   \
            fprintf(stderr, "%s:%d: %s: %d, %s, and not %s\n", __FILE__, __LINE__, #call, is_,     \
                    pqtls_error_string(is_), #expected);                                           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* The sizes of an algorithm's keys, ciphertexts or signatures. */
struct set {
    const char *name;
    int32_t number;
    size_t public_key, expanded, output, private_storage, public_storage, seed, randomness;
};

extern const struct set sets[18];
const struct set *set_named(const char *name);

/* Storage from the heap, so that memcheck and ASan see where it ends. */
void *storage(size_t bytes);
int is_zero(const void *bytes, size_t len);

void test_vectors(const char *path);
void test_files(const char *private_path, const char *public_path);

#endif
