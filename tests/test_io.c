/* Files: .npy and .safetensors, right ones and every way to be wrong. */
#include "file_kit.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- making files ---- */

/* A safetensors file: a JSON header, and that many bytes 0, 1, 2, … as values. */
static void put_safetensors(const char *json, size_t values)
{
    static unsigned char bytes[1 << 16];
    const size_t length = strlen(json);
    ck_assert_uint_lt(8 + length + values, sizeof bytes);
    little(bytes, length, 8);
    memcpy(bytes + 8, json, length);
    for (size_t i = 0; i < values; i++)
        bytes[8 + length + i] = (unsigned char)i;
    put(bytes, 8 + length + values);
}

/* A .npy file of that version. */
static void put_npy(int version, const char *dictionary, const void *values, size_t count)
{
    unsigned char bytes[4096] = "\223NUMPY";
    const size_t length = strlen(dictionary);
    bytes[6] = (unsigned char)version;
    size_t at = 8 + little(bytes + 8, length, version == 1 ? 2 : 4);
    memcpy(bytes + at, dictionary, length);
    at += length;
    if (count)
        memcpy(bytes + at, values, count);
    put(bytes, at + count);
}

/* ---- what is expected ---- */

/* The one tensor of the file at path has this dtype, shape and values. */
static void holds(int line, tn_dtype dtype, tn_shape shape, const void *values, size_t bytes)
{
    unsigned char got[4096];
    tn_tensor *x = tn_load(path, test_device());
    ck_assert_msg(x != NULL, "line %d: %s", line, tn_last_error());
    ck_assert_msg(tn_dtype_of(x) == dtype, "line %d: dtype %s", line, tn_dtype_name(tn_dtype_of(x)));
    ck_assert_msg(tn_ndim(x) == shape.ndim, "line %d: %d axes", line, tn_ndim(x));
    for (int i = 0; i < shape.ndim; i++)
        ck_assert_msg(tn_dim(x, i) == shape.dim[i], "line %d: axis %d", line, i);
    ck_assert_msg(tn_nbytes(x) == bytes, "line %d: %zu bytes", line, tn_nbytes(x));
    ck_assert_msg(tn_read(x, got, bytes) == TN_OK, "line %d: %s", line, tn_last_error());
    ck_assert_msg(memcmp(got, values, bytes) == 0, "line %d: other values", line);
    tn_release(x);
}
#define HOLDS(dtype, shape, ...) holds(__LINE__, dtype, shape, &(__VA_ARGS__), sizeof(__VA_ARGS__))

/* ---- safetensors ---- */

START_TEST(safetensors_of_one_tensor_is_read)
{
    put_safetensors("{\"t\":{\"dtype\":\"U8\",\"shape\":[2,3],\"data_offsets\":[0,6]}}", 6);
    HOLDS(TN_U8, TN_SHAPE(2, 3), (unsigned char[]){0, 1, 2, 3, 4, 5});
}
END_TEST

START_TEST(safetensors_reads_every_dtype_at_odd_places)
{
    static const struct {
        const char *name;
        tn_dtype dtype;
    } rows[] = {{"F64", TN_F64}, {"F32", TN_F32}, {"F16", TN_F16}, {"BF16", TN_BF16}, {"I64", TN_I64}, {"I32", TN_I32},
                {"I16", TN_I16}, {"I8", TN_I8},   {"U64", TN_U64}, {"U32", TN_U32},   {"U16", TN_U16}, {"U8", TN_U8}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const size_t bytes = 3 * tn_dtype_size(rows[i].dtype);
        char json[200];
        (void)snprintf(json, sizeof json,
                       "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
                       "\"b\":{\"dtype\":\"%s\",\"shape\":[3],\"data_offsets\":[1,%zu]}}",
                       rows[i].name, 1 + bytes);
        put_safetensors(json, 1 + bytes);
        unsigned char got[24];
        tn_archive *archive = tn_archive_open(path);
        tn_tensor *x = tn_archive_get(archive, "b", "host");
        ck_assert_msg(x && tn_dtype_of(x) == rows[i].dtype, "%s: %s", rows[i].name, tn_last_error());
        ck_assert_int_eq(tn_read(x, got, bytes), TN_OK);
        for (size_t k = 0; k < bytes; k++) /* 1, 2, 3, … as the file has them, on a little-endian machine */
            ck_assert_uint_eq(got[k], 1 + k);
        tn_release(x);
        tn_archive_close(archive);
    }
}
END_TEST

START_TEST(bool_bytes_become_0_and_1)
{
    put_safetensors("{\"t\":{\"dtype\":\"BOOL\",\"shape\":[4],\"data_offsets\":[0,4]}}", 4);
    HOLDS(TN_BOOL, TN_SHAPE(4), (unsigned char[]){0, 1, 1, 1});
    put_npy(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }", "\0\5\377", 3);
    HOLDS(TN_BOOL, TN_SHAPE(3), (unsigned char[]){0, 1, 1});
}
END_TEST

START_TEST(tensors_of_no_axes_and_of_no_elements_are_read)
{
    put_safetensors("{\"t\":{\"dtype\":\"I16\",\"shape\":[],\"data_offsets\":[0,2]}}", 2);
    HOLDS(TN_I16, TN_SHAPE(), (int16_t){0x100});
    put_safetensors("{\"t\":{\"dtype\":\"F32\",\"shape\":[3,0],\"data_offsets\":[0,0]}}", 0);
    holds(__LINE__, TN_F32, TN_SHAPE(3, 0), "", 0);
    put_npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (), }", (float[]){7}, 4);
    HOLDS(TN_F32, TN_SHAPE(), (float){7});
    put_npy(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (0, 3), }", NULL, 0);
    holds(__LINE__, TN_F32, TN_SHAPE(0, 3), "", 0);
}
END_TEST

START_TEST(an_empty_archive_has_no_tensors)
{
    put_safetensors("{}", 0);
    tn_archive *archive = tn_archive_open(path);
    ck_assert_ptr_nonnull(archive);
    ck_assert_int_eq(tn_archive_count(archive), 0);
    ck_assert_ptr_null(tn_archive_name(archive, 0));
    ck_assert_ptr_null(tn_archive_get(archive, "a", NULL));
    FAILED(TN_ARGUMENT, "no tensor \"a\" among 0", "there are none");
    tn_archive_close(archive);
}
END_TEST

START_TEST(metadata_and_white_space_are_allowed)
{
    put_safetensors(" { }", 0); /* only a brace first makes it this format */
    REFUSED(TN_FORMAT, "not a file of a known format");
    put_safetensors(
        "{\"__metadata__\" : {\"format\":\"pt\", \"a\" : \"\\\"{\"} ,\n\t\"t\": { \"shape\" : [ 1 , 2 ] ,\r "
        "\"data_offsets\": [0, 2], \"dtype\": \"I8\"}}     ",
        2);
    HOLDS(TN_I8, TN_SHAPE(1, 2), (unsigned char[]){0, 1});
    put_safetensors("{\"__metadata__\":{}}", 0);
    tn_archive *archive = tn_archive_open(path);
    ck_assert_int_eq(tn_archive_count(archive), 0);
    tn_archive_close(archive);
}
END_TEST

START_TEST(names_keep_the_files_order_and_their_letters)
{
    put_safetensors(
        "{\"z\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]},"
        "\"Gr\\u00f6\\u00dfe \\ud83d\\ude00 \\\"\\/\\n\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
        "\"\xc3\xa9\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[2,2]}}",
        2);
    tn_archive *archive = tn_archive_open(path);
    ck_assert_msg(archive != NULL, "%s", tn_last_error());
    ck_assert_int_eq(tn_archive_count(archive), 3);
    ck_assert_str_eq(tn_archive_name(archive, 0), "z");
    ck_assert_str_eq(tn_archive_name(archive, 1), "Gr\xc3\xb6\xc3\x9f"
                                                  "e \xf0\x9f\x98\x80 \"/\n");
    ck_assert_str_eq(tn_archive_name(archive, 2), "\xc3\xa9");
    ck_assert_ptr_null(tn_archive_name(archive, 3));
    ck_assert_ptr_null(tn_archive_name(archive, -1));
    tn_archive_close(archive);
}
END_TEST

START_TEST(C76_a_tensor_that_lies_is_refused_by_name)
{
    static const struct {
        const char *members, *word, *number;
    } rows[] = {
        {"\"dtype\":\"F32\",\"shape\":[1000,1000],\"data_offsets\":[0,4]", "need 4000000 bytes", "hold 4"},
        {"\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]", "end is before the begin", "[4, 0]"},
        {"\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]", "end is behind the file's 4 bytes", "[0, 8]"},
        {"\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4,4]", "data_offsets holds 3 numbers", "not 2"},
        {"\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[-4,4]", "data_offsets holds the negative number", "-4"},
        {"\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]", "shape holds the negative number", "-1"},
        {"\"dtype\":\"U8\",\"shape\":[8589934592,8589934592],\"data_offsets\":[0,4]", "overflows 63 bits", "extents"},
        {"\"dtype\":\"F32\",\"shape\":[0,8589934592,8589934592],\"data_offsets\":[0,0]", "overflows 63 bits",
         "4 bytes"},
        {"\"dtype\":\"F32\",\"shape\":[18446744073709551615],\"data_offsets\":[0,4]", "does not fit 63 bits",
         "18446744073709551615"},
        {"\"dtype\":\"F99\",\"shape\":[1],\"data_offsets\":[0,4]", "unknown dtype", "F99"},
        {"\"shape\":[1],\"data_offsets\":[0,4]", "dtype is missing", ""},
        {"\"dtype\":\"F32\",\"data_offsets\":[0,4]", "shape is missing", ""},
        {"\"dtype\":\"F32\",\"shape\":[1]", "data_offsets is missing", ""},
        {"", "dtype is missing", ""},
        {"\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]", "dtype is there twice", ""},
        {"\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],\"x\":1", "unknown member", "x"},
        {"\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,4]", "17 axes", "16"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char json[300];
        (void)snprintf(json, sizeof json, "{\"layer.weight\":{%s}}", rows[i].members);
        put_safetensors(json, 4);
        REFUSED(TN_FORMAT, "tensor \"layer.weight\"", rows[i].word, rows[i].number);
    }
}
END_TEST

/* Two tensors a and b of 4 bytes each in 8 bytes of values, at these places. */
static void put_two(int a_begin, int a_end, int b_begin, int b_end, size_t values)
{
    char json[300];
    (void)snprintf(json, sizeof json,
                   "{\"b\":{\"dtype\":\"U8\",\"shape\":[%d],\"data_offsets\":[%d,%d]},"
                   "\"a\":{\"dtype\":\"U8\",\"shape\":[%d],\"data_offsets\":[%d,%d]}}",
                   b_end - b_begin, b_begin, b_end, a_end - a_begin, a_begin, a_end);
    put_safetensors(json, values);
}

START_TEST(C76_tensors_that_overlap_or_leave_holes_are_refused)
{
    put_two(0, 4, 3, 8, 8);
    REFUSED(TN_FORMAT, "tensor \"b\"", "from 3 overlap", "\"a\"", "end at 4");
    put_two(0, 4, 0, 4, 4);
    REFUSED(TN_FORMAT, "overlap");
    put_two(0, 4, 5, 8, 8);
    REFUSED(TN_FORMAT, "tensor \"b\"", "hole of 1 bytes", "at 5");
    put_two(1, 4, 4, 8, 8);
    REFUSED(TN_FORMAT, "tensor \"a\"", "hole of 1 bytes", "at 1");
    put_two(0, 4, 4, 6, 8);
    REFUSED(TN_FORMAT, "2 bytes after the last tensor");
    put_two(0, 0, 0, 4, 4);
    tn_archive *archive = tn_archive_open(path);
    ck_assert_msg(archive != NULL, "empty ones share a place: %s", tn_last_error());
    tn_archive_close(archive);
}
END_TEST

START_TEST(C76_a_name_given_twice_is_refused)
{
    put_safetensors("{\"t\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
                    "\"t\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[2,4]}}",
                    4);
    REFUSED(TN_FORMAT, "tensor \"t\" is there twice");
}
END_TEST

START_TEST(C76_a_header_that_is_no_json_is_refused_with_its_byte)
{
    static const struct {
        const char *json, *word;
    } rows[] = {
        {"{", "ends too early"},
        {"{\"t\"", "ends too early"},
        {"{\"t\":", "ends too early"},
        {"{\"t", "a string without an end"},
        {"{t:1}", "expected a string"},
        {"{\"t\" 1}", "expected ':'"},
        {"{\"t\":[]}", "expected '{'"},
        {"{},", "more after the end"},
        {"{\"t\":{\"dtype\":3}}", "expected a string"},
        {"{\"t\":{\"shape\":[1.5]}}", "whole number"},
        {"{\"t\":{\"shape\":[1e3]}}", "whole number"},
        {"{\"t\":{\"shape\":[01]}}", "leading zeros"},
        {"{\"t\":{\"shape\":[1,]}}", "expected a number"},
        {"{\"t\":{\"shape\":[1 2]}}", "expected ']'"},
        {"{\"t\":{\"shape\":[99999999999999999999]}}", "above 64 bits"},
        {"{\"t\":{\"shape\":\"1\"}}", "expected '['"},
        {"{\"t\\x\":{}}", "wrong escape"},
        {"{\"t\\u12g4\":{}}", "wrong escape"},
        {"{\"t\\ud800\":{}}", "wrong escape"},
        {"{\"t\\udc00\":{}}", "wrong escape"},
        {"{\"t\\u0000\":{}}", "wrong escape"},
        {"{\"t\\", "wrong escape"},
        {"{\"t\\u00", "wrong escape"},
        {"{\"t\n\":{}}", "control character"},
        {"{\"\xc0\x80\":{}}", "not UTF-8"},
        {"{\"\xed\xa0\x80\":{}}", "not UTF-8"},
        {"{\"\xf5\x80\x80\x80\":{}}", "not UTF-8"},
        {"{\"\xc3", "not UTF-8"},
        {"{\"__metadata__\":{\"a\":{\"b\":\"c\"}}}", "expected a string"},
        {"{\"__metadata__\":[[[[[[[[", "expected '{'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put_safetensors(rows[i].json, 0);
        REFUSED(TN_FORMAT, "not valid JSON at byte", rows[i].word);
    }
    unsigned char bytes[] = "\5\0\0\0\0\0\0\0{\0\"t\"";
    put(bytes, 13);
    REFUSED(TN_FORMAT, "not valid JSON at byte 1 of 5", "expected a string");
}
END_TEST

START_TEST(C77_what_is_no_tensor_file_says_what_it_looks_like)
{
    const char pointer[] = "version https://git-lfs.github.com/spec/v1\noid sha256:1234\nsize 126000000\n";
    put(pointer, sizeof pointer - 1);
    REFUSED(TN_FORMAT, "looks like a Git LFS pointer");
    put("1234567", 7);
    REFUSED(TN_FORMAT, "only 7 bytes", "truncated download");
    put("", 0);
    REFUSED(TN_FORMAT, "empty");
    put("\0\0\0\0\0\0\0\0", 8); /* a header length, and no header */
    REFUSED(TN_FORMAT, "8 bytes");
    put("PK\003\004 and so on", 14);
    REFUSED(TN_FORMAT, "zip archive");
    put("hello world, this is text", 25);
    REFUSED(TN_FORMAT, "not a file of a known format", ".npy", ".safetensors", "header length", "25 bytes");
}
END_TEST

START_TEST(C77_a_header_length_beyond_the_file_is_refused)
{
    unsigned char bytes[40] = {0};
    memcpy(bytes + 8, "{\"t\":", 5);
    little(bytes, UINT64_C(1) << 63, 8);
    put(bytes, sizeof bytes);
    REFUSED(TN_FORMAT, "header too large", "9223372036854775808", "32 bytes");
    little(bytes, sizeof bytes, 8);
    put(bytes, sizeof bytes);
    REFUSED(TN_FORMAT, "header too large", "length 40", "32 bytes");
    little(bytes, UINT64_MAX, 8);
    put(bytes, sizeof bytes);
    REFUSED(TN_FORMAT, "header too large", "18446744073709551615");
    little(bytes, 0, 8);
    put(bytes, sizeof bytes);
    REFUSED(TN_FORMAT, "ends too early");
}
END_TEST

/* ---- npy ---- */

START_TEST(C84_all_three_npy_versions_are_read)
{
    for (int version = 1; version <= 3; version++) {
        put_npy(version, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }          \n",
                (float[]){1, 2, 3, 4, 5, 6}, 24);
        HOLDS(TN_F32, TN_SHAPE(2, 3), (float[]){1, 2, 3, 4, 5, 6});
    }
    put_npy(4, "{'descr': '<f4', 'fortran_order': False, 'shape': (), }", (float[]){1}, 4);
    REFUSED(TN_FORMAT, "version 4.0");
}
END_TEST

START_TEST(npy_keys_come_in_any_order_in_either_quotes)
{
    put_npy(1, "{ \"shape\" :(2,),'fortran_order':False, 'descr' : \"<i2\"}\n", (int16_t[]){5, -5}, 4);
    HOLDS(TN_I16, TN_SHAPE(2), (int16_t[]){5, -5});
}
END_TEST

START_TEST(C81_big_endian_values_are_swapped)
{
    put_npy(1, "{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", "\x3f\x80\0\0\x40\0\0\0", 8);
    HOLDS(TN_F32, TN_SHAPE(2), (float[]){1, 2});
    put_npy(1, "{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }", "\1\2\377\376", 4);
    HOLDS(TN_I16, TN_SHAPE(2), (int16_t[]){258, -2});
    put_npy(1, "{'descr': '>f2', 'fortran_order': False, 'shape': (2,), }", "\x3c\0\xc0\0", 4);
    HOLDS(TN_F16, TN_SHAPE(2), (uint16_t[]){0x3c00, 0xc000});
    put_npy(1, "{'descr': '>u8', 'fortran_order': False, 'shape': (1,), }", "\1\2\3\4\5\6\7\10", 8);
    HOLDS(TN_U64, TN_SHAPE(1), (uint64_t[]){0x0102030405060708});
    put_npy(1, "{'descr': '>f8', 'fortran_order': False, 'shape': (1,), }", "\x3f\xf8\0\0\0\0\0\0", 8);
    tn_tensor *x = tn_load(path, "host");
    double value = 0;
    ck_assert_int_eq(tn_item(x, &value), TN_OK);
    ck_assert(value == 1.5);
    tn_release(x);
}
END_TEST

START_TEST(C81_every_byte_order_mark_is_understood)
{
    put_npy(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }", "\1\377", 2);
    HOLDS(TN_U8, TN_SHAPE(2), (unsigned char[]){1, 255});
    put_npy(1, "{'descr': '>u1', 'fortran_order': False, 'shape': (2,), }", "\1\377", 2);
    HOLDS(TN_U8, TN_SHAPE(2), (unsigned char[]){1, 255});
    put_npy(1, "{'descr': '=f4', 'fortran_order': False, 'shape': (2,), }", (float[]){1, 2}, 8);
    HOLDS(TN_F32, TN_SHAPE(2), (float[]){1, 2});
    put_npy(1, "{'descr': '<f2', 'fortran_order': False, 'shape': (2,), }", "\0\x3c\0\x40", 4);
    HOLDS(TN_F16, TN_SHAPE(2), (uint16_t[]){0x3c00, 0x4000});
    put_npy(1, "{'descr': '|f4', 'fortran_order': False, 'shape': (1,), }", "abcd", 4);
    REFUSED(TN_FORMAT, "'|f4' does not say its byte order");
}
END_TEST

START_TEST(C81_column_major_values_are_read_in_their_order)
{
    put_npy(1, "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }", (int32_t[]){1, 4, 2, 5, 3, 6}, 24);
    HOLDS(TN_I32, TN_SHAPE(2, 3), (int32_t[]){1, 2, 3, 4, 5, 6});
    put_npy(1, "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 1, 2), }", "\0\1\0\2\0\3\0\4", 8);
    HOLDS(TN_I16, TN_SHAPE(2, 1, 2), (int16_t[]){1, 3, 2, 4});
    put_npy(1, "{'descr': '<i4', 'fortran_order': True, 'shape': (3,), }", (int32_t[]){1, 2, 3}, 12);
    HOLDS(TN_I32, TN_SHAPE(3), (int32_t[]){1, 2, 3});
}
END_TEST

START_TEST(other_dtypes_of_numpy_are_refused_by_name)
{
    static const char *const rows[] = {"<c8", "|O", "<U3", "|S4", "<M8[ns]", "<f16", "f4", "<", "", "?", "|V2"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char dictionary[100], quoted[30];
        (void)snprintf(dictionary, sizeof dictionary, "{'descr': '%s', 'fortran_order': False, 'shape': (1,), }",
                       rows[i]);
        (void)snprintf(quoted, sizeof quoted, "dtype '%s'", rows[i]);
        put_npy(1, dictionary, "12345678", 8);
        REFUSED(TN_FORMAT, quoted);
    }
    put_npy(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "1234", 4);
    REFUSED(TN_FORMAT, "structured");
}
END_TEST

START_TEST(C84_lengths_are_compared_with_the_file)
{
    put("\223NUMPY\2\0\377\377\377\377", 12);
    REFUSED(TN_FORMAT, "header length 4294967295", "12 bytes");
    put("\223NUMPY\1\0\377\377", 10);
    REFUSED(TN_FORMAT, "header length 65535", "10 bytes");
    put("\223NUMPY\2\0\1", 9);
    REFUSED(TN_FORMAT, "cut off");
    put("\223NUMPY\2\0\1\0", 10);
    REFUSED(TN_FORMAT, "header length 1", "10 bytes");
    static char values[4096 / 2];
    put_npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (128, 1048576), }", values, sizeof values);
    REFUSED(TN_FORMAT, "expected 536870912 bytes", "found 2048");
    put_npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", values, 5);
    REFUSED(TN_FORMAT, "expected 4 bytes", "found 5");
}
END_TEST

START_TEST(C84_shapes_are_checked)
{
    static const struct {
        const char *shape, *word;
    } rows[] = {
        {"(4294967296, 4294967296)", "overflows 63 bits"},
        {"(99999999999999999999,)", "does not fit 63 bits"},
        {"(-1, 4)", "negative extent of axis 0"},
        {"(4, -1)", "negative extent of axis 1"},
        {"(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)", "more than 16 axes"},
        {"(4)", "without a comma"},
        {"(4, ", "expected a number"},
        {"[4]", "expected '('"},
        {"(a,)", "expected a number"},
        {"(,)", "expected a number"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char dictionary[200];
        (void)snprintf(dictionary, sizeof dictionary, "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }",
                       rows[i].shape);
        put_npy(1, dictionary, "1234", 4);
        REFUSED(TN_FORMAT, rows[i].word);
    }
    put_npy(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2L, 2L), }", "1234", 4); /* Python 2 */
    HOLDS(TN_U8, TN_SHAPE(2, 2), (char[]){'1', '2', '3', '4'});
}
END_TEST

START_TEST(C84_a_damaged_dictionary_is_refused)
{
    static const struct {
        const char *dictionary, *word;
    } rows[] = {
        {"", "expected '{'"},
        {"{", "expected a quoted text"},
        {"{}", "descr is missing"},
        {"{'descr': '<f4', 'shape': (1,), }", "fortran_order is missing"},
        {"{'descr': '<f4', 'fortran_order': True}", "shape is missing"},
        {"{'descr': '<f4', 'descr': '<f4'}", "descr is in the .npy header twice"},
        {"{'color': 1}", "unknown key \"color\""},
        {"{'descr", "a text without an end"},
        {"{'descr' '<f4'}", "expected ':'"},
        {"{'descr': '<f4' 'shape': (1,)}", "expected '}'"},
        {"{'fortran_order': 1}", "True or False"},
        {"{'fortran_order': T", "True or False"},
        {"{'descr': 4}", "expected a quoted text"},
        {"{'descr': '\\n'}", "not plain"},
        {"{'descr': '012345678901234567890123456789'}", "too long"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), } x", "more after the end"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put_npy(1, rows[i].dictionary, "1234", 4);
        REFUSED(TN_FORMAT, rows[i].word);
    }
}
END_TEST

START_TEST(C84_a_zeroed_magic_is_not_accepted)
{
    unsigned char bytes[64] = {0};
    memcpy(bytes + 6, "\1\0", 2);
    put(bytes, sizeof bytes);
    REFUSED(TN_FORMAT, "not a file of a known format");
    put("\223NUMP", 5);
    REFUSED(TN_FORMAT, "only 5 bytes");
}
END_TEST

/* ---- archives ---- */

static tn_archive *digits(void)
{
    tn_archive *archive = tn_archive_open(TN_TEST_SOURCE_DIR "/examples/data/digits_mlp.safetensors");
    ck_assert_msg(archive != NULL, "%s", tn_last_error());
    return archive;
}

START_TEST(dtype_and_shape_are_known_without_reading)
{
    tn_archive *archive = digits();
    tn_dtype dtype = TN_U8;
    tn_shape shape = {0};
    ck_assert_int_eq(tn_archive_count(archive), 6);
    ck_assert_int_eq(tn_archive_info(archive, "fc1.weight", &dtype, &shape), TN_OK);
    ck_assert_int_eq(dtype, TN_F32);
    ck_assert_int_eq(shape.ndim, 2);
    ck_assert_int_eq(shape.dim[0], 128);
    ck_assert_int_eq(shape.dim[1], 64);
    ck_assert_int_eq(tn_archive_info(archive, "fc1.weight", NULL, NULL), TN_OK);
    tn_archive_close(archive);
}
END_TEST

START_TEST(a_name_that_is_not_there_gets_the_near_ones)
{
    tn_archive *archive = digits();
    ck_assert_ptr_null(tn_archive_get(archive, "fc2.weigth", "host"));
    FAILED(TN_ARGUMENT, "no tensor \"fc2.weigth\" among 6", "nearest: \"fc2.weight\"");
    ck_assert_ptr_null(tn_archive_get(archive, "FC1.BIAS", "host"));
    FAILED(TN_ARGUMENT, "nearest: \"fc1.bias\"");
    ck_assert_ptr_null(tn_archive_get(archive, "weight", "host"));
    FAILED(TN_ARGUMENT, "\"fc1.weight\", \"fc2.weight\", \"fc3.weight\"");
    ck_assert_ptr_null(tn_archive_get(archive, "transformer.h.0.attn", "host"));
    FAILED(TN_ARGUMENT, "there are: \"fc1.bias\", \"fc1.weight\", \"fc2.bias\", ...");
    ck_assert_int_eq(tn_archive_info(archive, "", NULL, NULL), TN_ARGUMENT);
    FAILED(TN_ARGUMENT, "no tensor \"\"");
    tn_archive_close(archive);
}
END_TEST

START_TEST(C88_a_tensor_comes_onto_the_device_asked_for)
{
    tn_archive *archive = digits();
    tn_tensor *x = tn_archive_get(archive, "fc3.bias", test_device()), *y = tn_archive_get(archive, "fc3.bias", NULL);
    float there[10], here[10];
    ck_assert_msg(x && y, "%s", tn_last_error());
    ck_assert_str_eq(tn_device_of(x), test_device());
    ck_assert_str_eq(tn_device_of(y), "host");
    ck_assert_int_eq(tn_read(x, there, sizeof there), TN_OK);
    ck_assert_int_eq(tn_read(y, here, sizeof here), TN_OK);
    ck_assert_mem_eq(there, here, sizeof here);
    ck_assert_ptr_null(tn_archive_get(archive, "fc3.bias", "gpu:77"));
    FAILED(TN_DEVICE, "gpu:77");
    ck_assert_ptr_null(tn_archive_get(archive, "fc3.bias", "gpu:x"));
    FAILED(TN_ARGUMENT, "gpu:x");
    tn_release(x);
    tn_release(y);
    tn_archive_close(archive);
}
END_TEST

START_TEST(load_wants_a_file_of_one_tensor)
{
    ck_assert_ptr_null(tn_load(TN_TEST_SOURCE_DIR "/examples/data/digits_mlp.safetensors", NULL));
    FAILED(TN_ARGUMENT, "holds 6 tensors", "tn_archive_open");
    tn_tensor *x = tn_load(TN_TEST_SOURCE_DIR "/examples/data/digits_test_images.npy", NULL);
    ck_assert_msg(x != NULL, "%s", tn_last_error());
    ck_assert_int_eq(tn_dim(x, 0), 360);
    tn_release(x);
}
END_TEST

START_TEST(a_file_that_cannot_be_read_is_a_file_error)
{
    ck_assert_ptr_null(tn_load(path, NULL));
    FAILED(TN_FILE, path, "No such file");
    ck_assert_ptr_null(tn_archive_open(folder));
    FAILED(TN_FILE, folder);
    ck_assert_ptr_null(tn_archive_open(NULL));
    FAILED(TN_ARGUMENT, "path");
    ck_assert_ptr_null(tn_load(NULL, NULL));
    FAILED(TN_ARGUMENT, "path");
    ck_assert_ptr_null(tn_archive_get(NULL, "a", NULL));
    FAILED(TN_ARGUMENT, "archive");
    ck_assert_int_eq(tn_archive_count(NULL), 0);
    ck_assert_ptr_null(tn_archive_name(NULL, 0));
    tn_archive_close(NULL);
    tn_archive *archive = digits();
    ck_assert_ptr_null(tn_archive_get(archive, NULL, NULL));
    FAILED(TN_ARGUMENT, "name");
    tn_archive_close(archive);
}
END_TEST

START_TEST(a_file_that_changes_its_size_while_open_is_a_file_error)
{
    const char json[] = "{\"t\":{\"dtype\":\"U8\",\"shape\":[40],\"data_offsets\":[0,40]}}";
    put_safetensors(json, 40);
    tn_archive *archive = tn_archive_open(path);
    ck_assert_int_eq(truncate(path, 70), 0);
    ck_assert_ptr_null(tn_archive_get(archive, "t", NULL));
    FAILED(TN_FILE, path, "changed after it was opened", "now 70");
    put_safetensors(json, 40); /* whole again, in the same place */
    tn_tensor *x = tn_archive_get(archive, "t", NULL);
    ck_assert_msg(x != NULL, "%s", tn_last_error());
    tn_release(x);
    ck_assert_int_eq(truncate(path, 5000), 0);
    ck_assert_ptr_null(tn_archive_get(archive, "t", NULL));
    FAILED(TN_FILE, "now 5000");
    tn_archive_close(archive);
}
END_TEST

static void *read_often(void *archive)
{
    for (int i = 0; i < 50; i++) {
        static const char *const names[] = {"fc1.bias", "fc3.bias", "fc2.bias"};
        float value = 0;
        tn_tensor *x = tn_archive_get(archive, names[i % 3], "host");
        tn_tensor *first = tn_select(x, 0, 0);
        const bool good = tn_read(first, &value, sizeof value) == TN_OK && value != 0;
        tn_release(first);
        tn_release(x);
        if (!good)
            return archive;
    }
    return NULL;
}

START_TEST(threads_may_read_one_archive)
{
    threads_read(digits(), 4, read_often);
}
END_TEST

START_TEST(without_memory_opening_fails_and_leaves_nothing)
{
    opens_without_memory(TN_TEST_SOURCE_DIR "/examples/data/digits_mlp.safetensors");
}
END_TEST

/* ---- writing ---- */

static void reads_back(int line, tn_tensor *x)
{
    unsigned char want[512], got[512];
    const size_t bytes = tn_nbytes(x);
    tn_tensor *y = tn_load(path, "host");
    ck_assert_msg(y != NULL, "line %d: %s", line, tn_last_error());
    const tn_shape a = tn_shape_of(x), b = tn_shape_of(y);
    ck_assert_msg(tn_dtype_of(x) == tn_dtype_of(y) && a.ndim == b.ndim, "line %d: %s", line, tn_dtype_name(tn_dtype_of(y)));
    ck_assert_msg(memcmp(a.dim, b.dim, (size_t)a.ndim * sizeof a.dim[0]) == 0, "line %d: shape", line);
    ck_assert_msg(bytes <= sizeof got && tn_nbytes(y) == bytes, "line %d: bytes", line);
    ck_assert_msg(tn_read(x, want, bytes) == TN_OK && tn_read(y, got, bytes) == TN_OK, "line %d: %s", line, tn_last_error());
    ck_assert_msg(memcmp(want, got, bytes) == 0, "line %d: other bits", line);
    tn_release(y);
}

/* x as each format, and back: the same bits. */
static void saves(int line, tn_tensor *x)
{
    ck_assert_msg(x != NULL, "line %d: %s", line, tn_last_error());
    if (tn_dtype_of(x) != TN_BF16) {
        ck_assert_msg(tn_save_npy(path, x) == TN_OK, "line %d: %s", line, tn_last_error());
        reads_back(line, x);
    }
    const char *const name = "a \"name\"\n";
    if (tn_dtype_of(x) != TN_BF16) {
        ck_assert_msg(tn_save_npz(path, &name, &x, 1) == TN_OK, "line %d: %s", line, tn_last_error());
        reads_back(line, x);
    }
    const tn_status status = tn_save_safetensors(path, &name, &x, 1, NULL);
    ck_assert_msg(status == TN_OK, "line %d: %s", line, tn_last_error());
    reads_back(line, x);
    tn_release(x);
}
#define SAVES(x) saves(__LINE__, x)

START_TEST(what_is_saved_reads_back_with_the_same_bits)
{
    unsigned char bits[96];
    for (size_t i = 0; i < sizeof bits; i++) /* with NaNs of all kinds, infinities, subnormals among them */
        bits[i] = (unsigned char)(i % 7 == 0 ? 0xff : i * 37);
    for (int d = 0; d < TN_DTYPE_COUNT; d++) {
        const tn_dtype dtype = (tn_dtype)d;
        if (dtype == TN_F64 && !test_has_f64())
            continue;
        SAVES(tn_from(dtype, TN_SHAPE(3, 4), bits, test_device()));
        SAVES(tn_from(dtype, TN_SHAPE(), bits, test_device()));
        SAVES(tn_from(dtype, TN_SHAPE(2, 0, 3), NULL, test_device()));
        SAVES(tn_from(dtype, TN_SHAPE(12), bits, test_device()));
    }
}
END_TEST

START_TEST(views_and_pending_values_are_saved)
{
    const tn_scope scope = tn_scope_push();
    tn_tensor *x = tn_arange(TN_I32, 0, 24, 1, test_device()), *m = tn_reshape(x, TN_SHAPE(4, 6));
    SAVES(tn_transpose(m, 0, 1));
    SAVES(tn_slice(tn_flip(m, TN_AXES(1)), 0, 1, TN_END, 2));
    SAVES(tn_expand(tn_select(m, 0, 2), TN_SHAPE(3, 6)));
    SAVES(tn_add(m, tn_int(1)));
    SAVES(tn_reshape(m, TN_SHAPE(1, 1, 2, 1, 1, 2, 1, 1, 3, 1, 1, 2, 1, 1, 1, 1)));
    ck_assert_int_eq(tn_scope_pop(scope), TN_OK);
}
END_TEST

START_TEST(transposed_values_of_every_dtype_are_saved_as_they_are)
{
    for (int d = 0; d < TN_DTYPE_COUNT; d++) {
        const tn_dtype dtype = (tn_dtype)d;
        const size_t size = tn_dtype_size(dtype);
        unsigned char bits[96], got[96];
        for (size_t i = 0; i < sizeof bits; i++)
            bits[i] = (unsigned char)(dtype == TN_BOOL ? i % 2 : i * 37 % 120); /* finite, and not subnormal in every float */
        if (dtype == TN_F64 && !test_has_f64())
            continue;
        tn_tensor *x = tn_from(dtype, TN_SHAPE(3, 4), bits, test_device()), *t = tn_transpose(x, 0, 1);
        ck_assert_int_eq(tn_save_safetensors(path, (const char *const[]){"t"}, &t, 1, NULL), TN_OK);
        tn_tensor *y = tn_load(path, "host");
        ck_assert_msg(y && tn_dim(y, 0) == 4, "%s", tn_last_error());
        ck_assert_int_eq(tn_read(y, got, 12 * size), TN_OK);
        for (size_t i = 0; i < 4; i++)
            for (size_t j = 0; j < 3; j++)
                ck_assert_msg(memcmp(got + (i * 3 + j) * size, bits + (j * 4 + i) * size, size) == 0, "%s", tn_dtype_name(dtype));
        tn_release(x);
        tn_release(t);
        tn_release(y);
    }
}
END_TEST

START_TEST(npy_headers_are_padded_and_numpys)
{
    static const char want[] = "\223NUMPY\1\0\x76\0{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
    static const float values[6] = {1, 2, 3, 4, 5, 6};
    unsigned char got[300];
    tn_tensor *x = tn_from(TN_F32, TN_SHAPE(2, 3), values, "host");
    ck_assert_int_eq(tn_save_npy(path, x), TN_OK);
    tn_release(x);
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fread(got, 1, sizeof got, file), 128 + 24);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_mem_eq(got, want, sizeof want - 1);
    for (size_t i = sizeof want - 1; i < 127; i++)
        ck_assert_int_eq(got[i], ' ');
    ck_assert_int_eq(got[127], '\n');
    for (int i = 0; i < 6; i++) {
        const unsigned char *at = got + 128 + 4 * i;
        const uint32_t bits = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
        ck_assert(memcmp(&bits, &values[i], 4) == 0);
    }
}
END_TEST

START_TEST(safetensors_keeps_names_order_and_alignment)
{
    static const char *const names[] = {"", "b\\\"\t\x01", "\xc3\xa9t\xc3\xa9", "d"};
    static const char *const metadata[] = {"format", "pt", "no\nte", "\"x\"", NULL};
    const unsigned char bits[16] = {1, 0, 1, 1};
    tn_tensor *x[4] = {tn_from(TN_BOOL, TN_SHAPE(3), bits, "host"), tn_from(TN_F64, TN_SHAPE(2), bits, "host"),
                       tn_from(TN_BF16, TN_SHAPE(1, 3), bits, test_device()), tn_from(TN_I32, TN_SHAPE(), bits, test_device())};
    ck_assert_int_eq(tn_save_safetensors(path, names, x, 4, metadata), TN_OK);
    tn_archive *archive = tn_archive_open(path);
    ck_assert_msg(archive != NULL, "%s", tn_last_error());
    ck_assert_int_eq(tn_archive_count(archive), 4);
    for (int i = 0; i < 4; i++) {
        unsigned char want[16], got[16];
        ck_assert_str_eq(tn_archive_name(archive, i), names[i]);
        tn_tensor *y = tn_archive_get(archive, names[i], "host");
        ck_assert_msg(y && tn_dtype_of(y) == tn_dtype_of(x[i]), "%s", tn_last_error());
        ck_assert_int_eq(tn_read(x[i], want, tn_nbytes(x[i])), TN_OK);
        ck_assert_int_eq(tn_read(y, got, tn_nbytes(x[i])), TN_OK);
        ck_assert_mem_eq(want, got, tn_nbytes(x[i]));
        tn_release(y);
        tn_release(x[i]);
    }
    tn_archive_close(archive);
    unsigned char head[8];
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fread(head, 1, 8, file), 8);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(head[0] % 8, 0);
}
END_TEST

START_TEST(an_archive_of_nothing_can_be_saved)
{
    ck_assert_int_eq(tn_save_safetensors(path, NULL, NULL, 0, NULL), TN_OK);
    tn_archive *archive = tn_archive_open(path);
    ck_assert_msg(archive != NULL, "%s", tn_last_error());
    ck_assert_int_eq(tn_archive_count(archive), 0);
    tn_archive_close(archive);
    ck_assert_int_eq(tn_save_safetensors(path, NULL, NULL, 0, (const char *const[]){"a", "b", NULL}), TN_OK);
    archive = tn_archive_open(path);
    ck_assert_msg(archive != NULL, "%s", tn_last_error());
    tn_archive_close(archive);
}
END_TEST

START_TEST(a_failed_save_says_why_and_leaves_what_was_there)
{
    tn_tensor *x = tn_from(TN_BF16, TN_SHAPE(2), "1234", "host"), *two[2] = {x, x};
    put("old", 3);
    ck_assert_int_eq(tn_save_npy(path, x), TN_DTYPE);
    FAILED(TN_DTYPE, path, "bf16", "f32");
    ck_assert_int_eq(tn_save_safetensors(path, (const char *const[]){"a", "a"}, two, 2, NULL), TN_ARGUMENT);
    FAILED(TN_ARGUMENT, path, "\"a\" is given twice");
    ck_assert_int_eq(tn_save_safetensors(path, (const char *const[]){"__metadata__"}, two, 1, NULL), TN_ARGUMENT);
    FAILED(TN_ARGUMENT, "__metadata__");
    ck_assert_int_eq(tn_save_safetensors(path, (const char *const[]){"\xff"}, two, 1, NULL), TN_ARGUMENT);
    FAILED(TN_ARGUMENT, "not UTF-8");
    ck_assert_int_eq(tn_save_safetensors(path, (const char *const[]){NULL}, two, 1, NULL), TN_ARGUMENT);
    FAILED(TN_ARGUMENT, "name");
    ck_assert_int_eq(tn_save_safetensors(path, NULL, NULL, 1, NULL), TN_ARGUMENT);
    FAILED(TN_ARGUMENT, "1 tensors");
    ck_assert_int_eq(tn_save_safetensors(path, (const char *const[]){"a"}, two, 1, (const char *const[]){"k", NULL}), TN_ARGUMENT);
    FAILED(TN_ARGUMENT, "\"k\" has no value");
    two[1] = NULL;
    ck_assert_int_eq(tn_save_safetensors(path, (const char *const[]){"a", "b"}, two, 2, NULL), TN_ARGUMENT);
    FAILED(TN_ARGUMENT, "save_safetensors", "b");
    ck_assert_int_eq(tn_save_npy(NULL, x), TN_ARGUMENT);
    FAILED(TN_ARGUMENT, "path");
    char other[128];
    (void)snprintf(other, sizeof other, "%s/no/file", folder);
    ck_assert_int_eq(tn_save_safetensors(other, (const char *const[]){"a"}, &x, 1, NULL), TN_FILE);
    FAILED(TN_FILE, other, "cannot be written", "No such file");
    (void)snprintf(other, sizeof other, "%s/sub", folder);
    ck_assert_int_eq(mkdir(other, 0777), 0);
    ck_assert_int_eq(tn_save_safetensors(other, (const char *const[]){"a"}, &x, 1, NULL), TN_FILE);
    FAILED(TN_FILE, other, "cannot be written", "directory");
    ck_assert_int_eq(rmdir(other), 0);
    ck_assert_int_eq(files(), 1); /* no temporary file is left */
    char old[4] = "";
    FILE *file = fopen(path, "rb");
    ck_assert_uint_eq(fread(old, 1, 4, file), 3);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_str_eq(old, "old");
    tn_release(x);
}
END_TEST

START_TEST(a_full_disk_leaves_no_half_file)
{
    static float values[4096];
    struct rlimit limit, small;
    tn_tensor *x = tn_from(TN_F32, TN_SHAPE(4096), values, "host");
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = (struct rlimit){.rlim_cur = 1000, .rlim_max = limit.rlim_max};
    void (*const before)(int) = signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    const tn_status status = tn_save_npy(path, x);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    (void)signal(SIGXFSZ, before);
    ck_assert_int_eq(status, TN_FILE);
    FAILED(TN_FILE, path, "cannot be written", "File too large");
    ck_assert_int_eq(files(), 0);
    tn_release(x);
}
END_TEST

START_TEST(without_memory_saving_fails_and_leaves_nothing)
{
    tn_tensor *x = tn_from(TN_F32, TN_SHAPE(1), "1234", "host");
    for (int n = 1; n < 100; n++) {
        tn__alloc_fail_after(n, 1);
        const tn_status status = tn_save_safetensors(path, (const char *const[]){"a"}, &x, 1, NULL);
        tn__alloc_fail_after(0, 0);
        if (status == TN_OK) {
            ck_assert_int_gt(n, 5);
            tn_release(x);
            return;
        }
        ck_assert_msg(status == TN_MEMORY, "%s", tn_last_error());
        tn_clear_error();
        ck_assert_int_eq(files(), 0);
    }
    ck_abort_msg("100 allocations were not enough");
}
END_TEST

TEST_MAIN("io", set_up, tear_down, safetensors_of_one_tensor_is_read, safetensors_reads_every_dtype_at_odd_places,
          bool_bytes_become_0_and_1, tensors_of_no_axes_and_of_no_elements_are_read, an_empty_archive_has_no_tensors,
          metadata_and_white_space_are_allowed, names_keep_the_files_order_and_their_letters,
          C76_a_tensor_that_lies_is_refused_by_name, C76_tensors_that_overlap_or_leave_holes_are_refused,
          C76_a_name_given_twice_is_refused, C76_a_header_that_is_no_json_is_refused_with_its_byte,
          C77_what_is_no_tensor_file_says_what_it_looks_like, C77_a_header_length_beyond_the_file_is_refused,
          C84_all_three_npy_versions_are_read, npy_keys_come_in_any_order_in_either_quotes, C81_big_endian_values_are_swapped,
          C81_every_byte_order_mark_is_understood, C81_column_major_values_are_read_in_their_order,
          other_dtypes_of_numpy_are_refused_by_name, C84_lengths_are_compared_with_the_file, C84_shapes_are_checked,
          C84_a_damaged_dictionary_is_refused, C84_a_zeroed_magic_is_not_accepted,
          dtype_and_shape_are_known_without_reading, a_name_that_is_not_there_gets_the_near_ones,
          C88_a_tensor_comes_onto_the_device_asked_for, load_wants_a_file_of_one_tensor,
          a_file_that_cannot_be_read_is_a_file_error, a_file_that_changes_its_size_while_open_is_a_file_error,
          threads_may_read_one_archive, without_memory_opening_fails_and_leaves_nothing,
          what_is_saved_reads_back_with_the_same_bits, views_and_pending_values_are_saved,
          npy_headers_are_padded_and_numpys,
          transposed_values_of_every_dtype_are_saved_as_they_are, safetensors_keeps_names_order_and_alignment,
          an_archive_of_nothing_can_be_saved, a_failed_save_says_why_and_leaves_what_was_there,
          a_full_disk_leaves_no_half_file, without_memory_saving_fails_and_leaves_nothing)
