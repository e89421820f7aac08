// The main program of all drivers: reads inputs, performs an operation on them, and takes the time.
//
// Usage: DRIVER version, or DRIVER SET OPERATION all|AVX2
//
// Numbers are little-endian, of 32 bits, and a string of bytes has its length before it. The program reads a key,
// the number of items, and FIELDS strings for each. It answers with one byte: whether it has the operation. Then it
// reads numbers until its input ends. For n > 0 it makes n passes over all items, and answers with their CPU time in
// nanoseconds, of 64 bits; for 0 it makes one, and answers with the output of each item.
#define _POSIX_C_SOURCE 200809L
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void require(int condition, const char *what) {
    if (!condition) {
        fprintf(stderr, "%s failed\n", what);
        exit(1);
    }
}

// Whether there was a number.
static int read_number(uint32_t *number) {
    uint8_t bytes[4];
    if (fread(bytes, 1, sizeof bytes, stdin) != sizeof bytes) return 0;
    *number = bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    return 1;
}

static struct bytes read_bytes(void) {
    uint32_t length;
    require(read_number(&length), "reading a length");
    uint8_t *data = malloc(length + 1);
    require(data && fread(data, 1, length, stdin) == length, "reading bytes");
    return (struct bytes){data, length};
}

static void write_number(uint64_t number, size_t length) {
    for (size_t i = 0; i < length; i++) putchar((int)(number >> 8 * i & 0xff));
}

static uint64_t now(void) {
    struct timespec time;
    require(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0, "clock_gettime");
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

int main(int count, char **arguments) {
    if (count == 2 && strcmp(arguments[1], "version") == 0) {
        puts(version());
        return 0;
    }
    require(count == 4, "reading the arguments");
    if (strcmp(arguments[3], "AVX2") == 0) stop_at_avx2();

    struct bytes key = read_bytes();
    uint32_t items, passes;
    require(read_number(&items), "reading the number of items");
    struct bytes(*fields)[FIELDS] = malloc((items + 1) * sizeof *fields);
    require(fields != NULL, "malloc");
    for (uint32_t i = 0; i < items; i++)
        for (int j = 0; j < FIELDS; j++) fields[i][j] = read_bytes();

    perform operation = prepare(arguments[1], arguments[2], key);
    putchar(operation != NULL);
    fflush(stdout);
    if (operation == NULL) return 0;

    static uint8_t output[OUTPUT];
    while (read_number(&passes)) {
        if (passes == 0) {
            for (uint32_t i = 0; i < items; i++) {
                size_t length = operation(fields[i], output);
                write_number(length, 4);
                fwrite(output, 1, length, stdout);
            }
        } else {
            uint64_t start = now();
            for (uint32_t pass = 0; pass < passes; pass++)
                for (uint32_t i = 0; i < items; i++) operation(fields[i], output);
            write_number(now() - start, 8);
        }
        fflush(stdout);
    }
    return 0;
}
