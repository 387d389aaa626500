/* The file readers on damaged files: seeds, changed at random places, always the same ones. Worth most under ASan. */
#include "fuzz/io.h"

#include "file_kit.h"
#include "io/format.h"

enum { ROUNDS = 6000, MOST = 4096 };

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
    for (int i = 0; i < 8; i++) f.byte[i] = (uint8_t)((uint64_t)strlen(json) >> (8 * i));
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

static file text(const char *words)
{
    file f = {.size = strlen(words)};
    memcpy(f.byte, words, f.size);
    return f;
}

enum { SEEDS = 7, INDEX = 3 };

static file seed(size_t which)
{
    switch (which % SEEDS) {
    case 0: return safetensors("{\"t\":{\"dtype\":\"U8\",\"shape\":[2,3],\"data_offsets\":[0,6]}}", 6);
    case 1:
        return safetensors("{\"__metadata__\":{\"a\":\"b\"},\"x\\u00e9\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":"
                           "[4,12]},\"y\":{\"dtype\":\"BOOL\",\"shape\":[4],\"data_offsets\":[0,4]}} ",
                           12);
    case 2:
        return safetensors("{\"a\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[0,8]},\"b\":{\"dtype\":\"BF16\","
                           "\"shape\":[0,7],\"data_offsets\":[8,8]}}",
                           8);
    case INDEX: return text("{\"metadata\":{\"n\":[1,null]},\"weight_map\":{\"t\":\"1.safetensors\"}}");
    case 4: return npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 24);
    case 5: return npy(2, "{'descr': '>i2', 'fortran_order': True, 'shape': (3, 2), }\n", 12);
    default: return npy(3, "{'shape': (), 'descr': '|b1', 'fortran_order': False}", 1);
    }
}

/* ---- changes ---- */

static void insert(file *f, size_t at, const void *bytes, size_t count)
{
    if (f->size + count > MOST) return;
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
                                        " ",
                                        "\377\377\377\377",
                                        "\377\377\377\177",
                                        "PK\1\2",
                                        "PK\3\4",
                                        "PK\5\6",
                                        "PK\6\7",
                                        "h\1",
                                        "q\1",
                                        "cos\nsystem\n",
                                        "X\377\377\377\177",
                                        "J\377\377\377\377",
                                        "K\377",
                                        "\212\10",
                                        "\206",
                                        "\223",
                                        "\224",
                                        "R",
                                        "Q",
                                        "u",
                                        "e",
                                        "t",
                                        "2",
                                        "."};
    const size_t at = below(f->size);
    const char *const word = words[below(sizeof words / sizeof *words)];
    switch (below(7)) {
    case 0: f->byte[at] ^= (uint8_t)(1u << below(8)); break;
    case 1: f->byte[at] = (uint8_t)below(256); break;
    case 2: cut(f, at, 1 + below(6)); break;
    case 3: insert(f, at, word, strlen(word)); break;
    case 4:
        cut(f, at, 1);
        insert(f, at, word, strlen(word));
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
    if (f->size < 12 || length > 255) return;
    f->byte[numpy ? 8 : 0] = (uint8_t)length;
}

START_TEST(damaged_files_are_errors_and_never_faults)
{
    const file shard = seed(0); /* of the index */
    char name[sizeof path];
    put(shard.byte, shard.size);
    (void)snprintf(name, sizeof name, "%s/1.safetensors", folder);
    ck_assert_int_eq(rename(path, name), 0);
    put("", 0);
    state = 0x9e3779b97f4a7c15;
    int opened = 0, refused = 0;
    for (size_t round = 0; round < ROUNDS; round++) {
        file f = seed(round);
        const size_t length = f.byte[f.byte[0] == 0223 ? 8 : 0], size = f.size;
        for (size_t n = round < SEEDS ? 0 : 1 + below(3); n > 0 && f.size > 0; n--) change(&f);
        if (round % SEEDS != INDEX && below(4)) mend(&f, length, size);
        const int tensors = fuzz_file(path, f.byte, f.size);
        opened += tensors >= 0;
        refused += tensors < 0;
        ck_assert_msg(round >= SEEDS || tensors > 0, "seed %zu: %s", round, tn_last_error());
    }
    printf("fuzz: %d files opened, %d refused\n", opened, refused);
    ck_assert_int_gt(opened, ROUNDS / 50);
    ck_assert_int_gt(refused, ROUNDS / 2);
}
END_TEST

/* ---- files of NumPy and PyTorch ---- */

static const char *const real[] = {
    DATA_FILE("stored.npz"),         DATA_FILE("deflated.npz"),      DATA_FILE("members.npz"), DATA_FILE("zip64.npz"),
    DATA_FILE("layer.pt"),           DATA_FILE("unsigned.pt"),       DATA_FILE("tensor.pt"),   DATA_FILE("big_endian.pt"),
    DATA_FILE("checkpoint_old.pth"), DATA_FILE("protocol4_old.pth"), DATA_FILE("gpu_old.pth"),
};
enum { REAL = sizeof real / sizeof *real };

START_TEST(damaged_zips_and_pickles_are_errors_and_never_faults)
{
    put("", 0);
    state = 0x2545f4914f6cdd1d;
    int count = 0;
    for (size_t round = 0; round < ROUNDS; round++) {
        file f;
        f.size = get(real[round % REAL], f.byte, sizeof f.byte);
        for (size_t n = round < REAL ? 0 : 1 + below(3); n > 0 && f.size > 0; n--) change(&f);
        const int tensors = fuzz_file(path, f.byte, f.size);
        count += tensors >= 0;
        ck_assert_msg(round >= REAL || tensors > 0, "%s: %s", real[round % REAL], tn_last_error());
    }
    printf("fuzz: %d of %d files opened\n", count, ROUNDS);
    ck_assert_int_gt(count, ROUNDS / 50);
}
END_TEST

/* The archive again, with one member changed and its checksum right. */
static void put_changed(tn_archive *archive)
{
    tn__writer w;
    const size_t changed = below((size_t)archive->zip->count);
    ck_ok(tn__writer_open(&w, path));
    tn__zip_writer z = {.file = &w};
    for (int i = 0; i < archive->zip->count; i++) {
        tn__zip_member *m = &archive->zip->member[i];
        file f = {.size = (size_t)m->size};
        ck_ok(tn__zip_read(archive, m, 0, f.byte, m->size, false));
        for (size_t n = (size_t)i == changed ? 1 + below(3) : 0; n > 0 && f.size > 0; n--) change(&f);
        ck_ok(tn__zip_begin(&z, m->name, f.size, tn__crc32(0, f.byte, f.size)));
        ck_ok(tn__zip_put(&z, f.byte, f.size));
    }
    ck_ok(tn__writer_close(&w, tn__zip_end(&z, TN_OK)));
}

START_TEST(damaged_members_of_zips_are_errors_and_never_faults)
{
    static const char *const names[] = {DATA_FILE("layer.pt"), DATA_FILE("unsigned.pt"), DATA_FILE("stored.npz"),
                                        DATA_FILE("big_endian.pt")};
    int count = 0;
    state = 0x9e3779b97f4a7c15;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        tn_archive *archive = opened(names[i]);
        for (int round = 0; round < ROUNDS / 24; round++) {
            file f;
            put_changed(archive);
            f.size = get(path, f.byte, sizeof f.byte);
            count += fuzz_file(path, f.byte, f.size) >= 0;
        }
        tn_archive_close(archive);
    }
    printf("fuzz: %d of %d archives opened\n", count, ROUNDS / 6);
    ck_assert_int_gt(count, ROUNDS / 50);
}
END_TEST

TEST_MAIN("fuzz_io", set_up, tear_down, damaged_files_are_errors_and_never_faults,
          damaged_zips_and_pickles_are_errors_and_never_faults, damaged_members_of_zips_are_errors_and_never_faults)
