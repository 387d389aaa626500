/* Safetensors in several files, by model.safetensors.index.json. */
#include "file_kit.h"

#include <sys/stat.h>

static const char *in_folder(const char *name)
{
    static char text[200];
    (void)snprintf(text, sizeof text, "%s/%s", folder, name);
    return text;
}

/* a and b in the first file, b and c in the second. */
static void put_shards(void)
{
    tn_tensor *a = test_f32(TN_SHAPE(2), {1, 2}), *b = test_i32(TN_SHAPE(1), {3}), *c = test_u8(TN_SHAPE(1, 2), {4, 5});
    ck_ok(tn_save_safetensors(in_folder("1.safetensors"), (const char *const[]){"a", "b"}, (tn_tensor *const[]){a, b}, 2, NULL));
    ck_ok(tn_save_safetensors(in_folder("2.safetensors"), (const char *const[]){"b", "c"}, (tn_tensor *const[]){c, c}, 2, NULL));
    tn_release(a);
    tn_release(b);
    tn_release(c);
}

static void put_index(const char *json)
{
    put(json, strlen(json));
}

#define GOOD                                                                                                          \
    "{\n  \"metadata\": {\"total_size\": 1.4e1, \"more\": [null, true, {\"x\": []}, {}, -1]},\n  \"weight_map\": {\n" \
    "    \"c\": \"2.safetensors\",\n    \"a\": \"1.safetensors\",\n    \"b\": \"1.safetensors\"\n  }\n}\n"

/* ---- right ones ---- */

START_TEST(all_tensors_of_all_shards_are_there_by_name)
{
    static const char *const names[] = {"c", "a", "b"};
    put_shards();
    put_index(GOOD);
    tn_archive *archive = opened(path);
    ck_assert_int_eq(tn_archive_count(archive), 3);
    for (int i = 0; i < 3; i++) ck_assert_str_eq(tn_archive_name(archive, i), names[i]);
    HAS(archive, "a", TN_F32, TN_SHAPE(2), {1, 2});
    HAS(archive, "b", TN_I32, TN_SHAPE(1), {3});
    HAS(archive, "c", TN_U8, TN_SHAPE(1, 2), {4, 5});
    ck_fails(tn_archive_get(archive, "d", NULL), TN_ARGUMENT, path, "no tensor \"d\" among 3");
    tn_archive_close(archive);
}
END_TEST

START_TEST(C86_shards_lie_beside_their_index_wherever_the_program_is)
{
    char before[4096];
    put_shards();
    put_index(GOOD);
    ck_assert_ptr_nonnull(getcwd(before, sizeof before));
    ck_assert_int_eq(chdir("/"), 0);
    tn_archive *archive = opened(path);
    HAS(archive, "a", TN_F32, TN_SHAPE(2), {1, 2});
    tn_archive_close(archive);
    ck_assert_int_eq(chdir(folder), 0);
    archive = opened("file");
    HAS(archive, "c", TN_U8, TN_SHAPE(1, 2), {4, 5});
    tn_archive_close(archive);
    ck_assert_int_eq(chdir(before), 0);
}
END_TEST

START_TEST(a_shard_may_be_a_link_as_in_caches_of_models)
{
    put_shards();
    ck_assert_int_eq(symlink(TN_TEST_SOURCE_DIR "/examples/data/digits_mlp.safetensors", in_folder("3.safetensors")), 0);
    put_index("{\"weight_map\": {\"fc1.bias\": \"3.safetensors\", \"a\": \"1.safetensors\"}}");
    tn_archive *archive = opened(path);
    tn_tensor *x = tn_archive_get(archive, "fc1.bias", "host");
    ck_shape(x, TN_SHAPE(128));
    tn_release(x);
    tn_archive_close(archive);
}
END_TEST

START_TEST(an_index_of_nothing_has_no_tensors)
{
    put_index(" {\"weight_map\": {}}");
    tn_archive *archive = opened(path);
    ck_assert_int_eq(tn_archive_count(archive), 0);
    tn_archive_close(archive);
}
END_TEST

START_TEST(without_memory_shards_are_not_opened)
{
    put_shards();
    put_index(GOOD);
    opens_without_memory(path);
}
END_TEST

/* ---- wrong ones ---- */

START_TEST(a_missing_shard_is_named)
{
    put_shards();
    put_index("{\"weight_map\": {\"a\": \"1.safetensors\", \"z\": \"9.safetensors\"}}");
    REFUSED(TN_FILE, "9.safetensors", "No such file");
}
END_TEST

START_TEST(a_tensor_that_is_not_in_its_shard_is_named)
{
    put_shards();
    put_index("{\"weight_map\": {\"a\": \"1.safetensors\", \"c\": \"1.safetensors\"}}");
    REFUSED(TN_FORMAT, "tensor \"c\" is not in", "1.safetensors", "where the index has it");
    put_index("{\"weight_map\": {\"none\": \"2.safetensors\"}}");
    REFUSED(TN_FORMAT, "tensor \"none\" is not in", "2.safetensors");
}
END_TEST

START_TEST(C86_a_shard_outside_the_folder_is_refused)
{
    static const char *const files_named[] = {
        "../secret.safetensors", "/etc/passwd", "sub/1.safetensors", "..", ".", "", "..\\\\x"};
    put_shards();
    for (size_t i = 0; i < sizeof files_named / sizeof *files_named; i++) {
        char json[200];
        (void)snprintf(json, sizeof json, "{\"weight_map\": {\"a\": \"%s\"}}", files_named[i]);
        put_index(json);
        REFUSED(TN_FORMAT, "tensor \"a\"", "is not a name in the same folder");
    }
}
END_TEST

START_TEST(a_shard_is_a_safetensors_file_and_nothing_else)
{
    tn_tensor *x = test_f32(TN_SHAPE(1), {1});
    put_index("{\"weight_map\": {\"a\": \"file\"}}"); /* the index itself */
    REFUSED(TN_FORMAT, "not a .safetensors file");
    ck_ok(tn_save_npy(in_folder("x.npy"), x));
    put_index("{\"weight_map\": {\"a\": \"x.npy\"}}");
    REFUSED(TN_FORMAT, "x.npy: not a .safetensors file");
    tn_release(x);
}
END_TEST

START_TEST(C76_a_damaged_shard_is_named)
{
    put_shards();
    ck_assert_int_eq(truncate(in_folder("2.safetensors"), 40), 0);
    put_index(GOOD);
    REFUSED(TN_FORMAT, "2.safetensors", "header too large");
}
END_TEST

START_TEST(C77_an_index_that_is_cut_is_refused)
{
    put_shards();
    put_index(GOOD);
    for (size_t n = strlen(GOOD) - 1; n-- > 0;) {
        ck_assert_int_eq(truncate(path, (off_t)n), 0);
        tn_archive *archive = tn_archive_open(path);
        ck_assert_msg(!archive && tn_last_status() == TN_FORMAT && strstr(tn_last_error(), path), "%zu bytes: %s", n,
                      tn_last_error());
        tn_clear_error();
    }
}
END_TEST

START_TEST(an_index_is_strict)
{
    static const struct {
        const char *json, *word;
    } rows[] = {
        {"{\"metadata\": {}}", "without a weight_map"},
        {"{\"weight_map\": {}, \"weight_map\": {}}", "weight_map is there twice"},
        {"{\"weight_map\": [\"a\"]}", "expected '{'"},
        {"{\"weight_map\": {\"a\": 1}}", "expected a string"},
        {"{\"weight_map\": {\"a\": \"1.safetensors\", \"a\": \"1.safetensors\"}}", "tensor \"a\" is there twice"},
        {"{\"weight_map\": {}} x", "more after the end"},
        {"{\"x\": , \"weight_map\": {}}", "expected a value"},
        {"{\"x\": [1 2], \"weight_map\": {}}", "expected ']'"},
        {"{\"x\": {\"y\" 1}, \"weight_map\": {}}", "expected ':'"},
        {"{\"x\": {\"y\": 1], \"weight_map\": {}}", "expected '}'"},
        {"{\"x\": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]", "nested deeper than 64"},
    };
    put_shards();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put_index(rows[i].json);
        REFUSED(TN_FORMAT, rows[i].word);
    }
}
END_TEST

TEST_MAIN("shards", set_up, tear_down, all_tensors_of_all_shards_are_there_by_name,
          C86_shards_lie_beside_their_index_wherever_the_program_is, a_shard_may_be_a_link_as_in_caches_of_models,
          an_index_of_nothing_has_no_tensors, without_memory_shards_are_not_opened, a_missing_shard_is_named,
          a_tensor_that_is_not_in_its_shard_is_named, C86_a_shard_outside_the_folder_is_refused,
          a_shard_is_a_safetensors_file_and_nothing_else, C76_a_damaged_shard_is_named, C77_an_index_that_is_cut_is_refused,
          an_index_is_strict)
