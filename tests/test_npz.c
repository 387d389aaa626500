/* NumPy's .npz and the zip archives below it: right ones and every way to be wrong. */
#include "file_kit.h"

#include "base/platform.h"

#include <pthread.h>

static bool has_zlib(void)
{
    void *library = tn__library_open("libz.so.1");
    tn__library_close(library);
    return library != NULL;
}
#define NEEDS_ZLIB() TN_SKIP_IF(!has_zlib(), "zlib is not installed")

/* ---- right ones ---- */

START_TEST(arrays_of_numpy_are_read)
{
    tn_archive *archive = opened(DATA_FILE("stored.npz"));
    ck_assert_int_eq(tn_archive_count(archive), 7);
    ck_assert_str_eq(tn_archive_name(archive, 6), "mask");
    HAS(archive, "matrix", TN_F32, TN_SHAPE(2, 3), {0, 1, 2, 3, 4, 5});
    HAS(archive, "half", TN_F16, TN_SHAPE(3), {0, 1, 2});
    HAS(archive, "number", TN_I64, TN_SHAPE(), {-7});
    HAS_NOTHING(archive, "nothing", TN_U8, TN_SHAPE(0, 4));
    HAS(archive, "mask", TN_BOOL, TN_SHAPE(3), {1, 0, 1});
    tn_archive_close(archive);
}
END_TEST

START_TEST(C81_both_byte_orders_and_axis_orders_are_read_from_a_zip)
{
    tn_archive *archive = opened(DATA_FILE("stored.npz"));
    HAS(archive, "big", TN_I16, TN_SHAPE(4), {0, 1, 2, 3});
    HAS(archive, "columns", TN_F32, TN_SHAPE(2, 3), {0, 1, 2, 3, 4, 5});
    tn_archive_close(archive);
}
END_TEST

START_TEST(deflated_arrays_are_read)
{
    NEEDS_ZLIB();
    tn_archive *archive = opened(DATA_FILE("deflated.npz"));
    tn_tensor *zeros = tn_archive_get(archive, "zeros", "host"), *ramp = tn_archive_get(archive, "ramp", "host");
    ck_shape(zeros, TN_SHAPE(20000));
    double *zero = test_numbers(zeros), *step = test_numbers(ramp);
    for (int i = 0; i < 20000; i++) ck_assert_msg(zero[i] == 0, "%d: %g", i, zero[i]);
    for (int i = 0; i < 300; i++) ck_assert_msg(step[i] == i, "%d: %g", i, step[i]);
    free(zero);
    free(step);
    tn_release(zeros);
    tn_release(ramp);
    tn_archive_close(archive);
}
END_TEST

START_TEST(members_with_and_without_suffix_are_found_as_in_numpy)
{
    tn_archive *archive = opened(DATA_FILE("members.npz")); /* a text and a folder are in there, too */
    static const char *const names[] = {"plain", "a", "sub/b", "a.npy"};
    ck_assert_int_eq(tn_archive_count(archive), 4);
    for (int i = 0; i < 4; i++) ck_assert_str_eq(tn_archive_name(archive, i), names[i]);
    HAS(archive, "plain", TN_F32, TN_SHAPE(2), {0, 1});
    HAS(archive, "a", TN_F32, TN_SHAPE(3), {0, 1, 2});
    HAS(archive, "sub/b", TN_F32, TN_SHAPE(4), {0, 1, 2, 3});
    HAS(archive, "sub/b.npy", TN_F32, TN_SHAPE(4), {0, 1, 2, 3});
    HAS(archive, "a.npy", TN_F32, TN_SHAPE(5), {0, 1, 2, 3, 4}); /* its own name comes before another's member */
    ck_fails(tn_archive_get(archive, "notes.txt", NULL), TN_ARGUMENT, "no tensor \"notes.txt\" among 4");
    tn_archive_close(archive);
}
END_TEST

START_TEST(a_zip_of_nothing_has_no_tensors)
{
    tn_archive *archive = opened(DATA_FILE("empty.npz"));
    ck_assert_int_eq(tn_archive_count(archive), 0);
    tn_archive_close(archive);
    ck_ok(tn_save_npz(path, NULL, NULL, 0));
    archive = opened(path);
    ck_assert_int_eq(tn_archive_count(archive), 0);
    tn_archive_close(archive);
}
END_TEST

START_TEST(zip64_is_read)
{
    tn_archive *archive = opened(DATA_FILE("zip64.npz"));
    HAS(archive, "a", TN_F32, TN_SHAPE(3), {0, 1, 2});
    HAS(archive, "b", TN_I8, TN_SHAPE(2), {0, 1});
    tn_archive_close(archive);
}
END_TEST

static void *read_often(void *archive)
{
    for (int i = 0; i < 20; i++) {
        tn_tensor *x = tn_archive_get(archive, i % 2 ? "ramp" : "zeros", "host");
        if (!x) return archive;
        tn_release(x);
    }
    return NULL;
}

START_TEST(threads_may_read_one_npz)
{
    NEEDS_ZLIB();
    threads_read(opened(DATA_FILE("deflated.npz")), 3, read_often);
}
END_TEST

START_TEST(without_memory_an_npz_is_not_opened)
{
    opens_without_memory(DATA_FILE("stored.npz"));
    opens_without_memory(DATA_FILE("zip64.npz"));
    if (has_zlib()) opens_without_memory(DATA_FILE("deflated.npz"));
}
END_TEST

/* ---- wrong ones: a file with a few bytes changed ---- */

static unsigned char bytes[1 << 14];
static size_t length;

/* The n-th directory record, local header or end record of stored.npz, whose members have 160 or so bytes each. */
static unsigned char *record(const char *name, const char *signature, int n)
{
    length = get(name, bytes, sizeof bytes);
    return bytes + find(bytes, length, signature, 4, n);
}
#define CENTRAL(n) record(DATA_FILE("stored.npz"), "PK\1\2", n)
#define LOCAL(n) record(DATA_FILE("stored.npz"), "PK\3\4", n)
#define END() record(DATA_FILE("stored.npz"), "PK\5\6", 0)

START_TEST(C84_a_cut_npz_is_refused)
{
    refused_when_cut(DATA_FILE("stored.npz"));
    refused_when_cut(DATA_FILE("zip64.npz"));
    if (has_zlib()) refused_when_cut(DATA_FILE("deflated.npz"));
    length = get(DATA_FILE("stored.npz"), bytes, sizeof bytes);
    put(bytes, length - 1);
    REFUSED(TN_FORMAT, "zip archive", "without its directory", "truncated");
    put(bytes, length + 1);
    REFUSED(TN_FORMAT, "without its directory");
}
END_TEST

START_TEST(C84_a_directory_that_lies_is_refused)
{
    unsigned char *end = END();
    little(end + 10, 60000, 2);
    put(bytes, length);
    REFUSED(TN_FORMAT, "60000 members do not fit the zip directory's");
    end = END();
    little(end + 12, 1 << 20, 4);
    put(bytes, length);
    REFUSED(TN_FORMAT, "directory of 1048576 bytes", "not before its end record");
    end = END();
    little(end + 16, 0x7fffffff, 4);
    put(bytes, length);
    REFUSED(TN_FORMAT, "at 2147483647", "not before its end record");
    *CENTRAL(2) = 'Q';
    put(bytes, length);
    REFUSED(TN_FORMAT, "member 2 of the zip directory is damaged");
    little(CENTRAL(6) + 28, 999, 2);
    put(bytes, length);
    REFUSED(TN_FORMAT, "member 6 of the zip directory is damaged");
}
END_TEST

START_TEST(C84_a_member_that_lies_is_refused_by_name)
{
    static const struct {
        int at, bytes;
        uint64_t value;
        const char *word, *more;
    } rows[] = {
        {8, 2, 1, "it is encrypted", "matrix.npy"},
        {10, 2, 12, "method 12 is not read", "stored"},
        {20, 4, 151, "stored, with 151 bytes in the file for 152", "matrix.npy"},
        {24, 4, 153, "stored, with 152 bytes in the file for 153", "matrix.npy"},
        {42, 4, 1 << 30, "its header at 1073741824 is not before the directory", "matrix.npy"},
        {42, 4, 7, "no header of its own at 7", "matrix.npy"},
        {46, 1, 0, "its name of 10 bytes holds a NUL", "member \"\""},
        {46, 1, 'M', "no header of its own at 0", "Matrix.npy"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        little(CENTRAL(0) + rows[i].at, rows[i].value, rows[i].bytes);
        put(bytes, length);
        REFUSED(TN_FORMAT, rows[i].word, rows[i].more);
    }
}
END_TEST

START_TEST(a_member_that_reaches_into_the_next_is_refused)
{
    unsigned char *first = CENTRAL(0);
    little(first + 20, 300, 4);
    little(first + 24, 300, 4);
    put(bytes, length);
    REFUSED(TN_FORMAT, "member \"columns.npy\"", "overlaps \"matrix.npy\"");
    unsigned char *last = CENTRAL(6);
    little(last + 20, 5000, 4);
    little(last + 24, 5000, 4);
    put(bytes, length);
    REFUSED(TN_FORMAT, "member \"mask.npy\"", "its 5000 bytes", "not before the directory");
}
END_TEST

START_TEST(a_member_given_twice_is_refused)
{
    memcpy(LOCAL(3) + 30, "mask", 4); /* was "half" */
    memcpy(bytes + find(bytes, length, "PK\1\2", 4, 3) + 46, "mask", 4);
    put(bytes, length);
    REFUSED(TN_FORMAT, "member \"mask.npy\"", "there twice");
}
END_TEST

START_TEST(C84_the_npy_inside_is_checked_and_its_member_named)
{
    unsigned char *npy = LOCAL(0);
    npy += find(npy, 100, "\223NUMPY", 6, 0);
    npy[0] = 'X';
    put(bytes, length);
    REFUSED(TN_FORMAT, "member \"matrix.npy\"", "not a .npy");
    memcpy(bytes + find(bytes, length, "(2, 3)", 6, 0), "(2, 4)", 6);
    npy[0] = 0223;
    put(bytes, length);
    REFUSED(TN_FORMAT, "member \"matrix.npy\"", "expected 32 bytes of values, found 24");
    REFUSED_FILE(DATA_FILE("no_arrays.zip"), TN_FORMAT, "zip archive without arrays", "notes.txt");
}
END_TEST

START_TEST(a_wrong_checksum_is_found_when_the_tensor_is_read)
{
    bytes[find(LOCAL(0), 200, "\0\0\200\77", 4, 0)] ^= 1; /* the 1 of 0, 1, 2, … */
    put(bytes, length);
    tn_archive *archive = opened(path);
    for (int i = 0; i < 2; i++)
        ck_fails(tn_archive_get(archive, "matrix", NULL), TN_FORMAT, path, "member \"matrix.npy\"", "checksum");
    HAS(archive, "columns", TN_F32, TN_SHAPE(2, 3), {0, 1, 2, 3, 4, 5});
    tn_archive_close(archive);
}
END_TEST

START_TEST(zip64_fields_are_checked)
{
    const char *const name = DATA_FILE("zip64.npz");
    little(record(name, "PK\6\7", 0) + 8, 5000, 8);
    put(bytes, length);
    REFUSED(TN_FORMAT, "zip64 end record at 5000 is not before");
    *record(name, "PK\6\6", 0) = 'Q';
    put(bytes, length);
    REFUSED(TN_FORMAT, "no zip64 end record at");
    little(record(name, "PK\6\6", 0) + 32, UINT64_MAX, 8);
    put(bytes, length);
    REFUSED(TN_FORMAT, "18446744073709551615 members do not fit");
    little(record(name, "PK\6\6", 0) + 48, UINT64_MAX, 8);
    put(bytes, length);
    REFUSED(TN_FORMAT, "not before its end record");
    unsigned char *extra = record(name, "PK\1\2", 0) + 46 + strlen("a.npy") + 6;
    little(extra + 2, 8, 2);
    put(bytes, length);
    REFUSED(TN_FORMAT, "member \"a.npy\"", "zip64 field has 8 bytes, too few");
    little(extra + 2, 500, 2);
    put(bytes, length);
    REFUSED(TN_FORMAT, "member \"a.npy\"", "extra field of 500 bytes");
    little(extra + 2, 24, 2);
    little(extra + 4, UINT64_MAX, 8);
    little(extra + 12, UINT64_MAX, 8);
    put(bytes, length);
    REFUSED(TN_FORMAT, "member \"a.npy\"", "not before the directory");
}
END_TEST

/* ---- deflated ones ---- */

START_TEST(a_zip_bomb_is_refused_by_its_stated_size)
{
    unsigned char *member = record(DATA_FILE("deflated.npz"), "PK\1\2", 0);
    little(member + 24, 0xfffffff0, 4);
    put(bytes, length);
    REFUSED(TN_FORMAT, "member \"zeros.npy\"", "packed bytes cannot hold 4294967280");
}
END_TEST

START_TEST(a_zip_bomb_is_unpacked_to_its_stated_size_only)
{
    NEEDS_ZLIB();
    tn_archive *archive = opened(DATA_FILE("more.npz"));
    ck_fails(tn_archive_get(archive, "z", NULL), TN_FORMAT, "member \"z.npy\"", "more than the 168 bytes");
    tn_archive_close(archive);
    archive = opened(DATA_FILE("fewer.npz"));
    ck_fails(tn_archive_get(archive, "z", NULL), TN_FORMAT, "member \"z.npy\"", "fewer than the 12128 bytes");
    tn_archive_close(archive);
}
END_TEST

START_TEST(damaged_packed_bytes_are_refused)
{
    NEEDS_ZLIB();
    unsigned char *ramp = record(DATA_FILE("deflated.npz"), "PK\3\4", 1);
    const size_t data = 30 + ramp[26] + ramp[28];
    ramp[data] = 7; /* the last block, of a kind that is none */
    put(bytes, length);
    REFUSED(TN_FORMAT, "member \"ramp.npy\"", "invalid block type");
    ramp = record(DATA_FILE("deflated.npz"), "PK\3\4", 1);
    ramp[data + 300] ^= 0x55;
    put(bytes, length);
    tn_archive *archive = opened(path);
    ck_fails(tn_archive_get(archive, "ramp", NULL), TN_FORMAT, path, "member \"ramp.npy\"");
    tn_archive_close(archive);
}
END_TEST

START_TEST(without_zlib_a_deflated_member_is_named_with_what_to_install)
{
    ck_ok(tn_set("zlib", "none"));
    REFUSED_FILE(DATA_FILE("deflated.npz"), TN_FILE, "member \"zeros.npy\"", "deflated", "TENON_ZLIB=none");
    ck_ok(tn_set("zlib", "/no/such/library.so"));
    REFUSED_FILE(DATA_FILE("deflated.npz"), TN_FILE, "member \"zeros.npy\"", "deflated", "install it", "zlib1g");
    tn_archive *archive = opened(DATA_FILE("stored.npz"));
    HAS(archive, "half", TN_F16, TN_SHAPE(3), {0, 1, 2});
    tn_archive_close(archive);
    ck_ok(tn_set("zlib", NULL));
}
END_TEST

/* ---- writing ---- */

START_TEST(what_is_saved_has_names_order_and_values)
{
    tn_tensor *list[] = {test_f32(TN_SHAPE(2, 2), {1, 2, 3, 4}), test_i64(TN_SHAPE(1), {-5}), tn_transpose(list[0], 0, 1)};
    static const char *const names[] = {"w", "sch\303\266n/b", ""};
    ck_ok(tn_save_npz(path, names, list, 3));
    tn_archive *archive = opened(path);
    ck_assert_int_eq(tn_archive_count(archive), 3);
    for (int i = 0; i < 3; i++) ck_assert_str_eq(tn_archive_name(archive, i), names[i]);
    HAS(archive, "w", TN_F32, TN_SHAPE(2, 2), {1, 2, 3, 4});
    HAS(archive, "sch\303\266n/b", TN_I64, TN_SHAPE(1), {-5});
    HAS(archive, "", TN_F32, TN_SHAPE(2, 2), {1, 3, 2, 4});
    tn_archive_close(archive);
    for (int i = 0; i < 3; i++) tn_release(list[i]);
}
END_TEST

START_TEST(a_failed_save_of_an_npz_says_why_and_leaves_nothing)
{
    static char name[65540];
    tn_tensor *x = test_f32(TN_SHAPE(1), {1}), *b = test_values(TN_BF16, TN_SHAPE(1), {1}), *two[] = {x, b};
    memset(name, 'n', sizeof name - 1);
    ck_fails(tn_save_npz(path, (const char *const[]){"x", "b"}, two, 2), TN_DTYPE, "b: ", path, "bf16", "cast to f32");
    ck_fails(tn_save_npz(path, (const char *const[]){"x", "x"}, two, 2), TN_ARGUMENT, path, "\"x\" is given twice");
    ck_fails(tn_save_npz(path, (const char *const[]){"\xff"}, two, 1), TN_ARGUMENT, path, "not UTF-8");
    ck_fails(tn_save_npz(path, (const char *const[]){name}, two, 1), TN_ARGUMENT, path, "65539 bytes, more than 65531");
    ck_fails(tn_save_npz(path, (const char *const[]){NULL}, two, 1), TN_ARGUMENT, "save_npz", "a name");
    ck_fails(tn_save_npz(path, (const char *const[]){"x"}, NULL, 1), TN_ARGUMENT, path, "a list of 1");
    ck_fails(tn_save_npz(NULL, NULL, NULL, 0), TN_ARGUMENT, "save_npz", "path");
    ck_assert_int_eq(files(), 0);
    for (int n = 1, done = 0; !done; n++) {
        tn__alloc_fail_after(n, 1);
        done = tn_save_npz(path, (const char *const[]){"x"}, two, 1) == TN_OK;
        tn__alloc_fail_after(0, 0);
        ck_assert_msg(done || tn_last_status() == TN_MEMORY, "%s", tn_last_error());
        tn_clear_error();
        ck_assert_int_eq(files(), done);
    }
    tn_release(x);
    tn_release(b);
}
END_TEST

START_TEST(more_members_than_16_bits_count_are_written_as_zip64)
{
    TN_SKIP_IF(!test_is("host"), "once is enough");
    enum { COUNT = 66000 };
    static char text[COUNT][8];
    static const char *names[COUNT];
    static tn_tensor *list[COUNT];
    tn_tensor *x = test_u8(TN_SHAPE(1), {9});
    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(text[i], sizeof text[i], "%d", i);
        names[i] = text[i];
        list[i] = x;
    }
    ck_ok(tn_save_npz(path, names, list, COUNT));
    tn_archive *archive = opened(path);
    ck_assert_int_eq(tn_archive_count(archive), COUNT);
    HAS(archive, "65999", TN_U8, TN_SHAPE(1), {9});
    tn_archive_close(archive);
    tn_release(x);
}
END_TEST

TEST_MAIN("npz", set_up, tear_down, arrays_of_numpy_are_read, C81_both_byte_orders_and_axis_orders_are_read_from_a_zip,
          deflated_arrays_are_read, members_with_and_without_suffix_are_found_as_in_numpy, a_zip_of_nothing_has_no_tensors,
          zip64_is_read, threads_may_read_one_npz, without_memory_an_npz_is_not_opened, C84_a_cut_npz_is_refused,
          C84_a_directory_that_lies_is_refused, C84_a_member_that_lies_is_refused_by_name,
          a_member_that_reaches_into_the_next_is_refused, a_member_given_twice_is_refused,
          C84_the_npy_inside_is_checked_and_its_member_named, a_wrong_checksum_is_found_when_the_tensor_is_read,
          zip64_fields_are_checked, a_zip_bomb_is_refused_by_its_stated_size, a_zip_bomb_is_unpacked_to_its_stated_size_only,
          damaged_packed_bytes_are_refused, without_zlib_a_deflated_member_is_named_with_what_to_install,
          what_is_saved_has_names_order_and_values, a_failed_save_of_an_npz_says_why_and_leaves_nothing,
          more_members_than_16_bits_count_are_written_as_zip64)
