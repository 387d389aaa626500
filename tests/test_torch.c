/* PyTorch's .pt and .pth: files of PyTorch's own, and every way to be wrong. */
#include "file_kit.h"

#include "io/format.h"

/* ---- right ones ---- */

static void check_checkpoint(const char *name)
{
    static const struct {
        const char *name;
        tn_dtype dtype;
    } rows[] = {{"model.f64", TN_F64}, {"model.f32", TN_F32}, {"model.f16", TN_F16}, {"model.bf16", TN_BF16}, {"model.i64", TN_I64},
                {"model.i32", TN_I32}, {"model.i16", TN_I16}, {"model.i8", TN_I8},   {"model.u8", TN_U8}};
    tn_archive *a = opened(name);
    ck_assert_int_eq(tn_archive_count(a), 22);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_str_eq(tn_archive_name(a, (int)i), rows[i].name);
        HAS(a, rows[i].name, rows[i].dtype, TN_SHAPE(3), {1, 0, 3});
    }
    HAS(a, "model.bool", TN_BOOL, TN_SHAPE(3), {1, 0, 1});
    HAS(a, "model.part", TN_F32, TN_SHAPE(3, 4), {6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17});
    HAS(a, "model.transposed", TN_F32, TN_SHAPE(6, 4),
        {0, 6, 12, 18, 1, 7, 13, 19, 2, 8, 14, 20, 3, 9, 15, 21, 4, 10, 16, 22, 5, 11, 17, 23});
    HAS(a, "model.every_third", TN_F32, TN_SHAPE(8), {1, 4, 7, 10, 13, 16, 19, 22});
    HAS(a, "model.expanded", TN_F32, TN_SHAPE(2, 3), {5, 5, 5, 6, 6, 6});
    HAS(a, "model.number", TN_I64, TN_SHAPE(), {7});
    HAS_NOTHING(a, "model.nothing", TN_F32, TN_SHAPE(0, 5));
    HAS(a, "model.weight", TN_F32, TN_SHAPE(1, 2), {0.5, -2});
    HAS(a, "model.tied", TN_F32, TN_SHAPE(1, 2), {0.5, -2});
    HAS(a, "optimizer.state.0.exp_avg", TN_F32, TN_SHAPE(2), {4, 5});
    HAS(a, "history.0", TN_U8, TN_SHAPE(2), {8, 9});
    HAS(a, "history.1.0", TN_BOOL, TN_SHAPE(), {1});
    tn_archive_close(a);
}

START_TEST(a_checkpoint_is_read_in_the_zip_form)
{
    check_checkpoint(DATA_FILE("checkpoint.pt"));
    check_checkpoint(DATA_FILE("protocol4.pt"));
}
END_TEST

START_TEST(a_checkpoint_is_read_in_the_old_form)
{
    check_checkpoint(DATA_FILE("checkpoint_old.pth"));
    tn_archive *a = opened(DATA_FILE("protocol4_old.pth"));
    HAS(a, "a", TN_I64, TN_SHAPE(3), {0, 1, 2});
    tn_archive_close(a);
}
END_TEST

START_TEST(a_layers_state_dict_has_attributes_that_do_not_matter)
{
    tn_archive *a = opened(DATA_FILE("layer.pt"));
    ck_assert_int_eq(tn_archive_count(a), 2);
    HAS(a, "weight", TN_F32, TN_SHAPE(1, 2), {1.5, -2});
    HAS(a, "bias", TN_F32, TN_SHAPE(1), {4});
    tn_archive_close(a);
}
END_TEST

START_TEST(a_single_tensor_has_no_name)
{
    tn_tensor *x = ck_made(tn_load(DATA_FILE("tensor.pt"), "host"));
    ck_values(x, {0, 1, 2, 3});
    ck_assert_int_eq(tn_dtype_of(x), TN_I16);
    tn_release(x);
}
END_TEST

START_TEST(unsigned_dtypes_are_read_as_newer_versions_write_them)
{
    tn_archive *a = opened(DATA_FILE("unsigned.pt"));
    HAS(a, "u16", TN_U16, TN_SHAPE(3), {0, 1, 65535});
    HAS(a, "u32", TN_U32, TN_SHAPE(3), {0, 1, 4294967295.0});
    HAS(a, "u64", TN_U64, TN_SHAPE(3), {0, 1, 18446744073709551616.0});
    tn_archive_close(a);
}
END_TEST

START_TEST(C81_a_file_of_a_big_endian_machine_is_swapped)
{
    tn_archive *a = opened(DATA_FILE("big_endian.pt"));
    HAS(a, "a", TN_F32, TN_SHAPE(2), {1, -2.5});
    HAS(a, "t", TN_I32, TN_SHAPE(3, 2), {0, 3, 1, 4, 2, 5});
    tn_archive_close(a);
}
END_TEST

START_TEST(C88_tensors_that_lay_on_a_gpu_come_where_they_are_wanted)
{
    static const char *const names[] = {DATA_FILE("gpu.pt"), DATA_FILE("gpu_old.pth")};
    for (int i = 0; i < 2; i++) {
        tn_archive *a = opened(names[i]);
        tn_tensor *x = tn_archive_get(a, "a", NULL), *y = tn_archive_get(a, "a", test_device());
        ck_assert_str_eq(tn_device_of(x), "host");
        ck_assert_str_eq(tn_device_of(y), test_device());
        ck_tensor_f32(y, {1, 2});
        tn_release(x);
        tn_release(y);
        tn_archive_close(a);
    }
}
END_TEST

START_TEST(without_memory_a_checkpoint_is_not_opened)
{
    opens_without_memory(DATA_FILE("layer.pt"));
    opens_without_memory(DATA_FILE("gpu_old.pth"));
}
END_TEST

/* ---- pickles of our own, in a zip with one storage "0" of four floats ---- */

#define NAMED(module, name) "c" module "\n" name "\n"
#define STORAGE(key, n) "(X\7\0\0\0storage" NAMED("torch", "FloatStorage") "X\1\0\0\0" key "X\3\0\0\0cpuK" n "tQ"
#define REBUILD NAMED("torch._utils", "_rebuild_tensor_v2")
#define HOOKS "\211" NAMED("collections", "OrderedDict") ")R"
/* Offset, shape and stride are pieces of pickle. */
#define TENSOR(offset, shape, stride) REBUILD "(" STORAGE("0", "\4") offset shape stride HOOKS "tR"
#define WHOLE TENSOR("K\0", "K\4\205", "K\1\205")

static void put_members(const void *pickle, size_t length, const void *order, size_t storage)
{
    static const float values[8] = {1, 2, 3, 4};
    tn__writer w;
    ck_ok(tn__writer_open(&w, path));
    tn__zip_writer z = {.file = &w};
    ck_ok(tn__zip_begin(&z, "m/data.pkl", length, tn__crc32(0, pickle, length)));
    ck_ok(tn__zip_put(&z, pickle, length));
    if (order) {
        ck_ok(tn__zip_begin(&z, "m/byteorder", strlen(order), tn__crc32(0, order, strlen(order))));
        ck_ok(tn__zip_put(&z, order, strlen(order)));
    }
    if (storage) {
        ck_ok(tn__zip_begin(&z, "m/data/0", storage, tn__crc32(0, values, storage)));
        ck_ok(tn__zip_put(&z, values, storage));
    }
    ck_ok(tn__writer_close(&w, tn__zip_end(&z, TN_OK)));
}
#define PUT(pickle) put_members(pickle, sizeof(pickle) - 1, "little", 16)
#define BAD(pickle, ...)                 \
    do {                                 \
        PUT(pickle);                     \
        REFUSED(TN_FORMAT, __VA_ARGS__); \
    } while (0)

START_TEST(a_pickle_of_our_own_is_read)
{
    PUT("\200\2}X\1\0\0\0a" WHOLE "s.");
    tn_archive *a = opened(path);
    HAS(a, "a", TN_F32, TN_SHAPE(4), {1, 2, 3, 4});
    tn_archive_close(a);
}
END_TEST

START_TEST(python_2s_ordered_dict_and_texts_are_read)
{
    PUT("\200\2" NAMED("collections", "OrderedDict") "](](U\1a" WHOLE "e](U\1bK\3ee\205R.");
    tn_archive *a = opened(path);
    ck_assert_int_eq(tn_archive_count(a), 1);
    HAS(a, "a", TN_F32, TN_SHAPE(4), {1, 2, 3, 4});
    tn_archive_close(a);
    BAD("\200\2" NAMED("collections", "OrderedDict") "](K\1e\205R.", "makes an OrderedDict of something that is no pair");
    BAD("\200\2" NAMED("collections", "OrderedDict") "K\1\205R.", "makes an OrderedDict of something that is no list");
}
END_TEST

START_TEST(views_that_overlap_are_read_as_they_are)
{
    PUT("\200\2" TENSOR("K\0", "K\3K\2\206", "K\1K\1\206") ".");
    tn_archive *a = opened(path);
    HAS(a, "", TN_F32, TN_SHAPE(3, 2), {1, 2, 2, 3, 3, 4});
    tn_archive_close(a);
    PUT("\200\2" TENSOR("K\3", "K\2\212\4\0\0\0\1\206", "K\0K\0\206") "."); /* 2^25 numbers that are one */
    a = opened(path);
    tn_tensor *x = tn_archive_get(a, "", "host"), *row = tn_select(x, 0, 1), *one = tn_select(row, 0, 1 << 20);
    ck_assert_int_eq(tn_numel(x), 1 << 25);
    ck_tensor_f32(one, {4});
    tn_release(one);
    tn_release(row);
    tn_release(x);
    tn_archive_close(a);
}
END_TEST

/* ---- what would run code ---- */

#define ONLY "only tensors, dicts, lists, numbers and strings are read"

START_TEST(a_pickle_that_calls_anything_is_refused_by_name)
{
    REFUSED_FILE(DATA_FILE("evil.pt"), TN_FORMAT, "the pickle calls posix.system; " ONLY);
    REFUSED_FILE(DATA_FILE("evil_old.pth"), TN_FORMAT, "the pickle calls posix.system; " ONLY);
    REFUSED_FILE(DATA_FILE("module.pt"), TN_FORMAT, "torch.nn.modules.linear.Linear", ONLY);
    REFUSED_FILE(DATA_FILE("complex.pt"), TN_FORMAT, "torch.ComplexFloatStorage");
    BAD("\200\2cos\nsystem\nX\4\0\0\0true\205R.", "the pickle calls os.system; " ONLY);
    BAD("\200\4\214\2os\214\6system\223\214\4true\205R.", "the pickle calls os.system; " ONLY);
    BAD("\200\2" NAMED("torch", "FloatStorage") ")R.", "the pickle calls torch.FloatStorage; " ONLY);
    BAD("\200\2" NAMED("torch._utils", "_rebuild_tensor_v2\0x") ".", "a name with a NUL");
}
END_TEST

START_TEST(instructions_that_make_objects_are_refused)
{
    BAD("\200\2" NAMED("collections", "OrderedDict") ")\201.", "instruction 0x81 at byte 28", ONLY);
    BAD("\200\2(ios\nsystem\n.", "instruction 0x69 at byte 3", ONLY);
    BAD("\200\2(cos\nsystem\no.", "calls os.system");
    BAD("\200\2" WHOLE "}b.", "attributes for something that is no dict");
    BAD("\200\2)}b.", "attributes for something that is no dict");
    BAD("\200\2K\1)R.", "a call of something that is no function");
    BAD("\200\2" NAMED("collections", "OrderedDict") "]R.", "without a tuple");
    BAD("\200\2K\1K\2\223.", "a name that is no text");
    BAD("\200\2X\6\0\0\0moduleQ.", "refers to something that is no storage");
    BAD("\200\2(X\6\0\0\0modulecos\nsystem\ntQ.", "calls os.system");
}
END_TEST

/* ---- damaged pickles ---- */

START_TEST(a_cut_file_is_refused)
{
    refused_when_cut(DATA_FILE("layer.pt"));
    refused_when_cut(DATA_FILE("gpu_old.pth"));
    refused_when_cut(DATA_FILE("protocol4_old.pth"));
}
END_TEST

START_TEST(the_stack_and_the_memo_are_guarded)
{
    BAD("\200\2.", "more from the stack than there is");
    BAD("\200\2a.", "more from the stack than there is");
    BAD("\200\2K\1a.", "items without a list");
    BAD("\200\2(.", "more from the stack than there is");
    BAD("\200\2(K\1a.", "items without a list");
    BAD("\200\2K\1K\2a.", "items without a list");
    BAD("\200\2(K\1d.", "a key without a value");
    BAD("\200\2K\1K\2K\3s.", "keys and values without a dict");
    BAD("\200\2}(K\2u.", "a key without a value");
    BAD("\200\2(K\2K\3u.", "keys and values without a dict");
    BAD("\200\2K\1t.", "no mark on the stack");
    BAD("\200\2K\1e.", "no mark on the stack");
    BAD("\200\2K\1"
        "1.",
        "no mark on the stack");
    BAD("\200\2"
        "0.",
        "the stack is empty");
    BAD("\200\2"
        "2.",
        "more from the stack than there is");
    BAD("\200\2K\1\206.", "more from the stack than there is");
    BAD("\200\2K\1K\2.", "leaves 1 values on its stack");
    BAD("\200\2h\7.", "nothing is in place 7 of the memo");
    BAD("\200\2K\1q\5h\4.", "nothing is in place 4 of the memo");
    BAD("\200\2j\377\377\377\377.", "nothing is in place 4294967295 of the memo");
    BAD("\200\2K\1r\377\377\377\177.", "place 2147483647 of the memo");
    BAD("\200\2q\0.", "more from the stack than there is");
}
END_TEST

START_TEST(lengths_of_a_pickle_are_checked_before_memory_is_had)
{
    BAD("\200\2X\377\377\377\177abc.", "a text of 2147483647 bytes at 7, 4 are left");
    BAD("\200\4\215\377\377\377\377\377\377\377\377abc.", "a text of 18446744073709551615 bytes");
    BAD("\200\2\213\377\377\377\177.", "a text of 2147483647 bytes");
    BAD("\200\2K", "ends too early: at byte 3 it needs 1 more, 0 are left");
    BAD("\200\4\225\377\377\377\377\377\377\377\377.", "a frame beyond the end");
    BAD("\200\11.", "protocol 9, beyond 5");
    BAD("\200\2I1\n.", "instruction 0x49 at byte 2");
    BAD("", "ends too early");
    char line[400];
    memset(line, 'c', sizeof line);
    put_members(line, sizeof line, NULL, 0);
    REFUSED(TN_FORMAT, "a name without an end");
}
END_TEST

START_TEST(values_that_hold_themselves_end)
{
    BAD("\200\2]q\0h\0a.", "nested deeper than 64");
    BAD("\200\2}q\0X\1\0\0\0kh\0s.", "nested deeper than 64");
    char deep[200];
    memset(deep, ']', 100);
    memset(deep + 100, 'a', 99);
    deep[199] = '.';
    put_members(deep, sizeof deep, NULL, 0);
    REFUSED(TN_FORMAT, "nested deeper than 64");
}
END_TEST

START_TEST(values_that_double_at_every_level_end)
{
    char laughs[40 * 8 + 8] = "]";
    size_t at = 1;
    for (int i = 0; i < 40; i++) { /* [x, x] of the value on the stack */
        memcpy(laughs + at, "q\0002\206", 4);
        laughs[at + 1] = (char)i;
        at += 4;
    }
    laughs[at++] = '.';
    put_members(laughs, at, NULL, 0);
    REFUSED(TN_FORMAT, "more names than a pickle of its size");
}
END_TEST

/* ---- names ---- */

START_TEST(names_of_a_checkpoint_are_texts_and_unique)
{
    BAD("\200\2}(X\1\0\0\0a}X\1\0\0\0b" WHOLE "sX\3\0\0\0a.b" WHOLE "u.", "tensor \"a.b\" is there twice");
    BAD("\200\2}G\0\0\0\0\0\0\0\0K\1s.", "key that is neither a text nor a whole number");
    BAD("\200\2}X\2\0\0\0a\0K\1s.", "key with a NUL");
}
END_TEST

/* ---- tensors and storages ---- */

START_TEST(C76_a_tensor_that_leaves_its_storage_is_refused_by_name)
{
#define NAMED_TENSOR(...) "\200\2}X\1\0\0\0w" TENSOR(__VA_ARGS__) "s."
    BAD(NAMED_TENSOR("K\1", "K\4\205", "K\1\205"), "tensor \"w\": its 1 axes from element 1 leave the 4 elements of storage \"0\"");
    BAD(NAMED_TENSOR("K\5", "K\0\205", "K\1\205"), "from element 5");
    BAD(NAMED_TENSOR("K\0", "K\3\205", "K\2\205"), "leave the 4 elements");
    BAD(NAMED_TENSOR("K\0", "K\2K\3\206", "K\2K\2\206"), "leave the 4 elements");
    BAD(NAMED_TENSOR("K\0", "\212\10\377\377\377\377\377\377\377\177K\4\206", "K\0K\0\206"), "overflows 63 bits");
    BAD(NAMED_TENSOR("K\0", "K\2\205", "\212\10\377\377\377\377\377\377\377\177\205"), "leave the 4 elements");
    BAD(NAMED_TENSOR("K\0", "J\377\377\377\377\205", "K\1\205"), "size holds what is no whole number from 0");
    BAD(NAMED_TENSOR("K\0", "K\4\205", "\212\1\377\205"), "stride holds what is no whole number from 0");
    BAD(NAMED_TENSOR("\212\1\377", "K\4\205", "K\1\205"), "offset is no whole number from 0");
    BAD(NAMED_TENSOR("K\0", "K\4\205", ")"), "1 axes with 0 strides");
    BAD(NAMED_TENSOR("K\0", "K\4", "K\1\205"), "size is no tuple");
    BAD(NAMED_TENSOR("K\0", "(K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1t", ")"), "17 axes, more than 16");
    BAD("\200\2" REBUILD ")R.", "a tensor of something that is no storage");
    BAD("\200\2" NAMED("torch._utils", "_rebuild_parameter") "K\1\205R.", "a parameter of something that is no tensor");
}
END_TEST

START_TEST(storages_must_have_the_size_that_the_pickle_says)
{
    put_members("\200\2" WHOLE ".", sizeof("\200\2" WHOLE ".") - 1, NULL, 12);
    REFUSED(TN_FORMAT, "storage \"0\" has 12 bytes, its tensors need 16");
    put_members("\200\2" WHOLE ".", sizeof("\200\2" WHOLE ".") - 1, NULL, 0);
    REFUSED(TN_FORMAT, "storage \"0\" is missing: no member \"data/0\"");
    put_members("\200\2" WHOLE ".", sizeof("\200\2" WHOLE ".") - 1, "middle", 16);
    REFUSED(TN_FORMAT, "byteorder is neither \"little\" nor \"big\"");
    BAD("\200\2" STORAGE("0", "\4") STORAGE("0", "\5") "\206.", "storage \"0\" with 16 bytes and with 20");
    BAD("\200\2(X\7\0\0\0storage" NAMED("torch", "float32") "X\1\0\0\0000X\3\0\0\0cpuK\4tQ.",
        "a storage without type, key and size");
    BAD("\200\2(X\7\0\0\0storageK\1K\2K\3K\4tQ.", "a storage without type, key and size");
    BAD("\200\2(X\7\0\0\0storage" NAMED("torch",
                                        "LongStorage") "X\1\0\0\0000X\3\0\0\0cpu\212\10\377\377\377\377\377\377\377\177tQ.",
        "a storage of 9223372036854775807 elements");
}
END_TEST

/* ---- the old form, with a few bytes changed ---- */

static unsigned char bytes[1 << 12];
static size_t length;

static unsigned char *in_old(const char *what, size_t count, int n)
{
    length = get(DATA_FILE("gpu_old.pth"), bytes, sizeof bytes);
    return bytes + find(bytes, length, what, count, n);
}

START_TEST(storages_of_the_old_form_are_checked)
{
    unsigned char *count = in_old("\2\0\0\0\0\0\0\0\0\0\200\77", 12, 0); /* two elements, 1.0 */
    *count = 3;
    put(bytes, length);
    REFUSED(TN_FORMAT, "has 3 elements, its tensors need 2");
    *count = 2;
    put(bytes, length + 1);
    REFUSED(TN_FORMAT, "1 bytes after the last storage belong to none");
    *in_old("M\351\3", 3, 0) = 'N'; /* 1001 */
    memcpy(bytes + find(bytes, length, "N\351\3.", 4, 0), "M\351\4.", 4);
    put(bytes, length);
    REFUSED(TN_FORMAT, "protocol is not 1001");
    in_old("]q", 2, 0)[0] = '}';
    put(bytes, length);
    REFUSED(TN_FORMAT, "the pickle", "items without a list");
}
END_TEST

START_TEST(the_list_of_storages_in_the_old_form_is_checked)
{
    unsigned char *keys = in_old("]q\0X", 4, 0);
    keys[8] ^= 1; /* the key's first digit */
    put(bytes, length);
    REFUSED(TN_FORMAT, "the list of storages has one that belongs to no tensor");
    keys = in_old("]q\0X", 4, 0);
    keys[0] = ')';
    put(bytes, length);
    REFUSED(TN_FORMAT, "items without a list");
}
END_TEST

TEST_MAIN("torch", set_up, tear_down, a_checkpoint_is_read_in_the_zip_form, a_checkpoint_is_read_in_the_old_form,
          a_layers_state_dict_has_attributes_that_do_not_matter, a_single_tensor_has_no_name,
          unsigned_dtypes_are_read_as_newer_versions_write_them, C81_a_file_of_a_big_endian_machine_is_swapped,
          C88_tensors_that_lay_on_a_gpu_come_where_they_are_wanted, without_memory_a_checkpoint_is_not_opened,
          a_pickle_of_our_own_is_read, python_2s_ordered_dict_and_texts_are_read, views_that_overlap_are_read_as_they_are,
          a_pickle_that_calls_anything_is_refused_by_name, instructions_that_make_objects_are_refused, a_cut_file_is_refused,
          the_stack_and_the_memo_are_guarded, lengths_of_a_pickle_are_checked_before_memory_is_had, values_that_hold_themselves_end,
          values_that_double_at_every_level_end, names_of_a_checkpoint_are_texts_and_unique,
          C76_a_tensor_that_leaves_its_storage_is_refused_by_name, storages_must_have_the_size_that_the_pickle_says,
          storages_of_the_old_form_are_checked, the_list_of_storages_in_the_old_form_is_checked)
