// What a library's driver gives to driver.c, which does the rest.
#include <stddef.h>
#include <stdint.h>

struct bytes {
    const uint8_t *data;
    size_t length;
};

// The most inputs that an operation has, beside its key.
#define FIELDS 3

// The longest output: an SLH-DSA signature of 49,856 bytes.
#define OUTPUT 50000

// Performs an operation, and returns the length of its output; 0 if the inputs are refused.
//
// The outputs are what the operation of that name in schemes/ writes; encapsulation's is the ciphertext with the
// secret behind it, and a verification's is one byte if the signature is right.
typedef size_t (*perform)(const struct bytes fields[FIELDS], uint8_t output[OUTPUT]);

// The library's version.
const char *version(void);

// From now on uses nothing beyond AVX2.
void stop_at_avx2(void);

// Finds an operation of a parameter set, and loads the key that it uses. NULL if the library lacks either.
perform prepare(const char *set, const char *operation, struct bytes key);

// Exits with what failed. For what fails only if the library or this program is broken.
void require(int condition, const char *what);
