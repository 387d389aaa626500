/* The file readers on damaged files: seeds, changed at random places, always the same ones. Worth most under ASan. */
#include "support/test.h"

#include "fuzz/io.h"

enum { ROUNDS = 6000, MOST = 1024 };

typedef struct file {
    uint8_t byte[MOST];
    size_t size;
} file;

static uint64_t state;

/* xorshift64*, Vigna 2016 */
static size_t below(size_t bound)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return bound ? (size_t)((state * UINT64_C(2685821657736338717)) >> 33) % bound : 0;
}

/* ---- seeds ---- */

static file safetensors(const char *json, size_t values)
{
    file f = {.size = 8 + strlen(json) + values};
    for (int i = 0; i < 8; i++)
        f.byte[i] = (uint8_t)((uint64_t)strlen(json) >> (8 * i));
    memcpy(f.byte + 8, json, strlen(json));
    return f;
}

static file npy(int version, const char *dictionary, size_t values)
{
    file f = {.byte = "\223NUMPY"};
    const size_t width = version == 1 ? 2 : 4;
    f.byte[6] = (uint8_t)version;
    f.byte[8] = (uint8_t)strlen(dictionary);
    memcpy(f.byte + 8 + width, dictionary, strlen(dictionary));
    f.size = 8 + width + strlen(dictionary) + values;
    return f;
}

static file seed(size_t which)
{
    switch (which % 6) {
    case 0: return safetensors("{\"t\":{\"dtype\":\"U8\",\"shape\":[2,3],\"data_offsets\":[0,6]}}", 6);
    case 1:
        return safetensors(
            "{\"__metadata__\":{\"a\":\"b\"},\"x\\u00e9\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":"
            "[4,12]},\"y\":{\"dtype\":\"BOOL\",\"shape\":[4],\"data_offsets\":[0,4]}} ",
            12);
    case 2:
        return safetensors("{\"a\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[0,8]},\"b\":{\"dtype\":\"BF16\","
                           "\"shape\":[0,7],\"data_offsets\":[8,8]}}",
                           8);
    case 3: return npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 24);
    case 4: return npy(2, "{'descr': '>i2', 'fortran_order': True, 'shape': (3, 2), }\n", 12);
    default: return npy(3, "{'shape': (), 'descr': '|b1', 'fortran_order': False}", 1);
    }
}

/* ---- changes ---- */

static void insert(file *f, size_t at, const void *bytes, size_t count)
{
    if (f->size + count > MOST)
        return;
    memmove(f->byte + at + count, f->byte + at, f->size - at);
    memcpy(f->byte + at, bytes, count);
    f->size += count;
}

static void cut(file *f, size_t at, size_t count)
{
    count = count < f->size - at ? count : f->size - at;
    memmove(f->byte + at, f->byte + at + count, f->size - at - count);
    f->size -= count;
}

static void change(file *f)
{
    static const char *const words[] = {"18446744073709551615",
                                        "9223372036854775807",
                                        "4294967296",
                                        "-1",
                                        "0",
                                        "00",
                                        "1e9",
                                        "{",
                                        "}",
                                        "[",
                                        "]",
                                        "(",
                                        ")",
                                        ",",
                                        ":",
                                        "\"",
                                        "'",
                                        "\\u",
                                        "\\ud83d",
                                        "\\",
                                        "\xc3",
                                        "\"t\":",
                                        "\"F64\"",
                                        "'<f8'",
                                        "True",
                                        "\n",
                                        " "};
    const size_t at = below(f->size), word = below(sizeof words / sizeof *words);
    switch (below(7)) {
    case 0: f->byte[at] ^= (uint8_t)(1u << below(8)); break;
    case 1: f->byte[at] = (uint8_t)below(256); break;
    case 2: cut(f, at, 1 + below(6)); break;
    case 3: insert(f, at, words[word], strlen(words[word])); break;
    case 4:
        cut(f, at, 1);
        insert(f, at, words[word], strlen(words[word]));
        break;
    case 5: f->size = at; break;
    default: {
        uint8_t copy[32];
        const size_t count = 1 + below(sizeof copy - 1), from = below(f->size);
        if (from + count <= f->size) {
            memcpy(copy, f->byte + from, count);
            insert(f, at, copy, count);
        }
    }
    }
}

/* Lets a changed header length fit again, so that the change is found behind it. */
static void mend(file *f, size_t length_before, size_t size_before)
{
    const size_t length = length_before + f->size - size_before;
    const bool numpy = f->byte[0] == 0223;
    if (f->size < 12 || length > 255)
        return;
    f->byte[numpy ? 8 : 0] = (uint8_t)length;
}

START_TEST(damaged_files_are_errors_and_never_faults)
{
    char path[] = "/tmp/tenon-fuzz-XXXXXX";
    const int made = mkstemp(path);
    ck_assert_int_ge(made, 0);
    close(made);
    state = 0x9e3779b97f4a7c15;
    int opened = 0, refused = 0;
    for (size_t round = 0; round < ROUNDS; round++) {
        file f = seed(round);
        const size_t length = f.byte[f.byte[0] == 0223 ? 8 : 0], size = f.size;
        for (size_t n = round < 6 ? 0 : 1 + below(3); n > 0 && f.size > 0; n--)
            change(&f);
        if (below(4))
            mend(&f, length, size);
        const int tensors = fuzz_file(path, f.byte, f.size);
        opened += tensors >= 0;
        refused += tensors < 0;
        ck_assert_msg(round >= 6 || tensors > 0, "seed %zu: %s", round, tn_last_error());
    }
    unlink(path);
    printf("fuzz: %d files opened, %d refused\n", opened, refused);
    ck_assert_int_gt(opened, ROUNDS / 50);
    ck_assert_int_gt(refused, ROUNDS / 2);
}
END_TEST

TEST_MAIN("fuzz_io", NULL, NULL, damaged_files_are_errors_and_never_faults)
