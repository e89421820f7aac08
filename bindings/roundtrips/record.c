#include "record.h"

size_t number;

static struct bytes random_bytes(size_t len) {
    struct bytes bytes = bytes_of(len);
    for (size_t have = 0; have < len;) {
        ssize_t more = getrandom(bytes.data + have, len - have, 0);
        CHECK(more > 0);
        have += (size_t)more;
    }
    return bytes;
}

void random_message(struct record *record) {
    replace(&record->message, random_bytes(number * 7919 % 2000));
    replace(&record->context, random_bytes(number % 256));
}

static int digit(char character) {
    if (character >= '0' && character <= '9') return character - '0';
    CHECK(character >= 'a' && character <= 'f');
    return character - 'a' + 10;
}

static struct bytes from_hex(char **rest) {
    const char *text = strsep(rest, " ");
    CHECK(text != NULL);
    if (strcmp(text, "-") == 0) return bytes_of(0);
    struct bytes bytes = bytes_of(strlen(text) / 2);
    for (size_t i = 0; i < bytes.len; i++) bytes.data[i] = (uint8_t)(digit(text[2 * i]) << 4 | digit(text[2 * i + 1]));
    return bytes;
}

static void print_hex(const struct bytes *bytes) {
    static const char DIGITS[] = "0123456789abcdef";
    putchar(' ');
    if (bytes->len == 0) putchar('-');
    for (size_t i = 0; i < bytes->len; i++) {
        putchar(DIGITS[bytes->data[i] >> 4]);
        putchar(DIGITS[bytes->data[i] & 15]);
    }
}

static void print(const struct record *record) {
    fputs(record->algorithm, stdout);
    print_hex(&record->private_key);
    print_hex(&record->public_key);
    print_hex(&record->message);
    print_hex(&record->context);
    print_hex(&record->output);
    putchar('\n');
    CHECK(!ferror(stdout));
}

/* The rest of a line that begins with the algorithm. */
static void read_record(struct record *record, char *line) {
    record->private_key = from_hex(&line);
    record->public_key = from_hex(&line);
    record->message = from_hex(&line);
    record->context = from_hex(&line);
    record->output = from_hex(&line);
}

static void release(struct record *record) {
    struct bytes *all[] = {&record->private_key, &record->public_key, &record->message, &record->context, &record->output};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]->data);
}

/* The output with a random bit flipped. */
static struct bytes changed_output(const struct record *record) {
    CHECK(record->output.len > 0);
    struct bytes changed = bytes_of(record->output.len), where = random_bytes(sizeof(uint64_t));
    uint64_t bit;
    memcpy(&bit, where.data, sizeof bit);
    free(where.data);
    memcpy(changed.data, record->output.data, changed.len);
    changed.data[bit / 8 % changed.len] ^= (uint8_t)(1 << bit % 8);
    return changed;
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    int makes = strcmp(argv[1], "make") == 0;
    CHECK(makes || strcmp(argv[1], "answer") == 0);
    char *line = NULL;
    size_t size = 0;
    for (; getline(&line, &size, stdin) > 0; number++) {
        struct record record = {{0}, {0}, {0}, {0}, {0}, {0}};
        char *rest = line;
        line[strcspn(line, "\n")] = 0;
        snprintf(record.algorithm, sizeof record.algorithm, "%s", strsep(&rest, " "));
        if (makes) {
            make(&record);
        } else {
            read_record(&record, rest);
            struct bytes changed = changed_output(&record);
            answer(&record, &changed);
            free(changed.data);
        }
        print(&record);
        release(&record);
    }
    free(line);
    return 0;
}
