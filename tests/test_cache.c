/* Programs are few, and found again: bone 14 through the public interface. What the caches do with damaged files, refused
 * binaries and other drivers is in test_device_programs.c. */
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>

#include "bones.h"

/* ---- folders ---- */

static char folder[128]; /* of this test, with everything in it */

static void remove_folder(const char *path)
{
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
        char inner[1024];
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        snprintf(inner, sizeof inner, "%s/%s", path, e->d_name);
        if (remove(inner) != 0) remove_folder(inner);
    }
    if (dir) closedir(dir);
    (void)rmdir(path);
}

static void set_up(void)
{
    bones_push();
    snprintf(folder, sizeof folder, "/tmp/tenon-test-cache-%s-%ld", test_config(), (long)getpid());
    remove_folder(folder);
    ck_assert_int_eq(mkdir(folder, 0777), 0);
}

static void tear_down(void)
{
    ck_ok(tn_set("cache_dir", NULL));
    ck_ok(tn_set("kernel_dir", NULL));
    remove_folder(folder);
    bones_pop();
}

static const char *inside(const char *name)
{
    static char path[4][256];
    static int at;
    at = (at + 1) % 4;
    snprintf(path[at], sizeof path[at], "%s/%s", folder, name);
    return path[at];
}

static void make_file(const char *path, const char *text, size_t length)
{
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(text, 1, length, file), length);
    fclose(file);
}

static char *read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s", path);
    fseek(file, 0, SEEK_END);
    *length = (size_t)ftell(file);
    rewind(file);
    char *text = calloc(*length + 1, 1);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_eq(fread(text, 1, *length, file), *length);
    fclose(file);
    return text;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Programs in a cache folder, by name. */
enum { FILES = 64 };
static int list_programs(const char *path, char names[FILES][256])
{
    int count = 0;
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && count < FILES && (e = readdir(dir)) != NULL;)
        if (strlen(e->d_name) > 4 && strcmp(e->d_name + strlen(e->d_name) - 4, ".bin") == 0) strcpy(names[count++], e->d_name);
    if (dir) closedir(dir);
    qsort(names, (size_t)count, sizeof names[0], compare_names);
    return count;
}

/* ---- children ---- */

static int lines_built, lines_loaded, lines_of_warning;

static void count_lines(int level, const char *line, void *user)
{
    (void)user;
    lines_built += strstr(line, ": built ") != NULL;
    lines_loaded += strstr(line, ": loaded ") != NULL && strstr(line, "from the cache") != NULL;
    lines_of_warning += level == 1;
}

static uint64_t hash_of(uint64_t hash, tn_tensor *x)
{
    unsigned char bytes[8192];
    const size_t size = tn_nbytes(x);
    if (!x || size > sizeof bytes || tn_read(x, bytes, size) != TN_OK) return 0;
    for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 1099511628211u;
    return hash;
}

static int tell(uint64_t hash)
{
    tn_device_info info;
    EXPECT(tn_last_status() == TN_OK && hash != 0);
    EXPECT(tn_device_query(test_device(), &info) == TN_OK);
    printf("%016llx %d %d %d %d %d\n", (unsigned long long)hash, (int)info.programs_built, (int)info.programs_loaded, lines_built,
           lines_loaded, lines_of_warning);
    fflush(stdout);
    return 0;
}

/* Some of everything: prints a hash of all bits, and how many programs were built and loaded. */
static int role_work(void)
{
    tn_set_log(count_lines, NULL);
    tn_seed(7);
    uint64_t hash = 14695981039346656037u;
    tn_tensor *x = tn_rand(TN_F32, TN_SHAPE(24, 40), test_device()), *w = tn_rand(TN_F32, TN_SHAPE(40, 20), test_device());
    hash = hash_of(hash, tn_relu(tn_sub(tn_mul(x, tn_float(3)), tn_int(1))));
    hash = hash_of(hash, tn_softmax(x, 1));
    hash = hash_of(hash, tn_sum(tn_exp(x), TN_AXES(0), false));
    hash = hash_of(hash, tn_relu(tn_add(tn_matmul(x, w), tn_float(-8))));
    hash = hash_of(hash, tn_cast(tn_transpose(x, 0, 1), TN_F16));
    return tell(hash);
}

/* The same; what anybody writes to standard error goes into a file. */
static int role_work_aside(void)
{
    const int file = open(getenv("STDERR_FILE"), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    EXPECT(file >= 0 && dup2(file, 2) == 2);
    return role_work();
}

static int role_little(void)
{
    tn_set_log(count_lines, NULL);
    uint64_t hash = 14695981039346656037u;
    tn_tensor *x = tn_arange(TN_F32, 0, 100, 1, test_device());
    hash = hash_of(hash, tn_mul(x, tn_float(0.5)));
    hash = hash_of(hash, tn_add(tn_mul(x, x), tn_float(0.5)));
    return tell(hash);
}

/* What a store at computed places leaves is right when a copy reads it at once. */
static int role_scatter(void)
{
    int32_t got[4];
    tn_set_log(count_lines, NULL);
    tn_tensor *at = tn_arange(TN_I64, 0, 4, 1, test_device()),
              *from = tn_from(TN_I32, TN_SHAPE(4), (int32_t[]){0, 8, 16, 24}, test_device());
    tn_tensor *y = tn_clone(tn_put(tn_full(TN_I32, TN_SHAPE(4), tn_int(-1), test_device()), at, from, false));
    EXPECT(y && tn_read(y, got, sizeof got) == TN_OK);
    for (int i = 0; i < 4; i++) EXPECT(got[i] == 8 * i);
    return tell(hash_of(1, y));
}

typedef struct outcome {
    char hash[32];
    int built, loaded, lines_built, lines_loaded, warnings;
} outcome;

/* A child with this cache folder (NULL: as it is), and further settings. */
static outcome run_child(const char *role, const char *cache, const char *more, const char *yet_more)
{
    char text[256], setting[300];
    outcome o = {.built = -1};
    const char *settings[4] = {setting, more, yet_more, NULL};
    snprintf(setting, sizeof setting, "TENON_CACHE_DIR%s%s", cache ? "=" : "", cache ? cache : "");
    ck_assert_int_eq(bones_child(role, settings, text, sizeof text), 0);
    ck_assert_msg(sscanf(text, "%31s %d %d %d %d %d", o.hash, &o.built, &o.loaded, &o.lines_built, &o.lines_loaded, &o.warnings) ==
                      6,
                  "the child says \"%s\"", text);
    return o;
}

/* ---- the disk cache ---- */

START_TEST(a_second_process_builds_nothing)
{
    const outcome first = run_child("work", folder, NULL, NULL);
    ck_assert_int_ge(first.built, 7); /* a kernel each, the product and its packing in one, the probe's */
    ck_assert_int_eq(first.loaded, 0);
    ck_assert_int_eq(first.lines_built, first.built);
    const outcome second = run_child("work", folder, NULL, NULL);
    ck_assert_int_eq(second.built, 0);
    ck_assert_int_eq(second.lines_built, 0);
    ck_assert_int_eq(second.loaded, first.built);
    ck_assert_int_eq(second.lines_loaded, first.built + 1);
    ck_assert_str_eq(second.hash, first.hash);
    char names[FILES][256];
    ck_assert_int_eq(list_programs(folder, names), first.built + 2); /* the two texts in one name it */
}
END_TEST

START_TEST(a_program_under_anothers_name_is_not_taken)
{
    char names[FILES][256], path[600];
    const outcome first = run_child("little", folder, NULL, NULL);
    const int count = list_programs(folder, names);
    ck_assert_int_ge(count, 3);
    ck_assert_int_eq(count, first.built);
    size_t length[FILES];
    char *text[FILES];
    for (int i = 0; i < count; i++) text[i] = read_file(inside(names[i]), &length[i]);
    for (int i = 0; i < count; i++) make_file(inside(names[i]), text[(i + 1) % count], length[(i + 1) % count]);
    const outcome second = run_child("little", folder, NULL, NULL);
    ck_assert_int_eq(second.built, count);
    ck_assert_int_eq(second.loaded, 0);
    ck_assert_int_eq(second.warnings, 0);
    ck_assert_str_eq(second.hash, first.hash);
    for (int i = 0; i < count; i++) free(text[i]);
    /* and other people's files */
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        make_file(path, "#!/bin/sh\necho this is no program\n", 33);
    }
    make_file(inside("notes.txt"), "mine", 4);
    const outcome third = run_child("little", folder, NULL, NULL);
    ck_assert_int_eq(third.built, count);
    ck_assert_str_eq(third.hash, first.hash);
    ck_assert_int_eq(run_child("little", folder, NULL, NULL).loaded, count);
    size_t notes;
    char *kept = read_file(inside("notes.txt"), &notes);
    ck_assert_str_eq(kept, "mine");
    free(kept);
}
END_TEST

START_TEST(an_empty_TENON_CACHE_DIR_means_no_cache)
{
    char xdg[300], home[300];
    snprintf(xdg, sizeof xdg, "XDG_CACHE_HOME=%s", folder);
    snprintf(home, sizeof home, "HOME=%s", folder);
    const outcome first = run_child("little", "", xdg, home), second = run_child("little", "", xdg, home);
    ck_assert_int_gt(first.built, 0);
    ck_assert_int_eq(second.built, first.built);
    ck_assert_int_eq(second.loaded, 0);
    ck_assert_str_eq(second.hash, first.hash);
    ck_assert_int_ne(access(inside("tenon"), F_OK), 0);
    ck_assert_int_eq(first.warnings, 0);
}
END_TEST

START_TEST(without_TENON_CACHE_DIR_it_is_the_users_cache_folder)
{
    char xdg[300], names[FILES][256];
    snprintf(xdg, sizeof xdg, "XDG_CACHE_HOME=%s", folder);
    const outcome first = run_child("little", NULL, xdg, NULL);
    ck_assert_int_eq(list_programs(inside("tenon"), names), first.built);
    ck_assert_int_eq(run_child("little", NULL, xdg, NULL).built, 0);
}
END_TEST

START_TEST(a_cache_folder_that_cannot_be_made_costs_a_warning_and_time)
{
    make_file(inside("file"), "x", 1);
    const outcome first = run_child("little", inside("file/cache"), NULL, NULL);
    ck_assert_int_gt(first.built, 0);
    ck_assert_int_eq(first.warnings, 1);
    ck_assert_str_eq(run_child("little", inside("file/cache"), NULL, NULL).hash, first.hash);
}
END_TEST

START_TEST(C69_processes_that_start_together_on_an_empty_cache_are_all_right)
{
    enum { PROCESSES = 8 };
    pid_t children[PROCESSES];
    char names[FILES][256];
    fflush(stdout);
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            setenv("BONES_ROLE", "little", 1);
            setenv("TENON_CACHE_DIR", folder, 1);
            if (!freopen(inside(i == 0 ? "out0" : i % 2 ? "out1" : "out2"), "a", stdout)) _exit(126);
            execl("/proc/self/exe", "test", (char *)NULL);
            _exit(127);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = -1;
        waitpid(children[i], &status, 0);
        ck_assert_int_eq(status, 0);
    }
    const int count = list_programs(folder, names);
    char want[17] = "";
    for (int f = 0; f < 3; f++) {
        size_t length;
        char *text = read_file(inside(f == 0 ? "out0" : f == 1 ? "out1" : "out2"), &length);
        for (char *line = text; *line; line = strchr(line, '\n') + 1) {
            if (!*want) snprintf(want, sizeof want, "%s", line);
            ck_assert_msg(strncmp(line, want, 16) == 0, "%.16s and %s", line, want);
        }
        free(text);
    }
    const outcome after = run_child("little", folder, NULL, NULL);
    ck_assert_int_eq(after.built, 0);
    ck_assert_int_eq(after.loaded, count);
    ck_assert_int_eq(strncmp(after.hash, want, 16), 0);
}
END_TEST

START_TEST(C33_what_is_scattered_is_right_the_first_time_and_from_the_cache)
{
    const outcome first = run_child("scatter", folder, NULL, NULL), second = run_child("scatter", folder, NULL, NULL);
    ck_assert_int_gt(first.built, 0);
    ck_assert_int_eq(second.built, 0);
    ck_assert_int_eq(second.loaded, first.built);
    ck_assert_str_eq(second.hash, first.hash);
}
END_TEST

START_TEST(C64_building_says_nothing_on_the_terminal)
{
    char drivers[300], file[300];
    size_t length;
    snprintf(drivers, sizeof drivers, "POCL_CACHE_DIR=%s", inside("pocl")); /* PoCL speaks where it compiles */
    snprintf(file, sizeof file, "STDERR_FILE=%s", inside("stderr"));
    ck_assert_int_gt(run_child("work_aside", folder, drivers, file).built, 0);
    char *text = read_file(inside("stderr"), &length);
    ck_assert_msg(length == 0, "\"%s\"", text);
    free(text);
}
END_TEST

/* ---- sources from a folder ---- */

/* All embedded files into folder/kernels, with `from` in `file` replaced by `to` (once). */
static const char *copy_kernels(const char *file, const char *from, const char *to)
{
    static const struct {
        const char *from, *end;
    } places[] = {
        {TN_TEST_SOURCE_DIR "/kernels", ".cl"}, {TN_TEST_SOURCE_DIR "/kernels", ".h"}, {TN_TEST_SOURCE_DIR "/src/tables", ".def"}};
    bool replaced = false;
    ck_assert_int_eq(mkdir(inside("kernels"), 0777), 0);
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        DIR *dir = opendir(places[p].from);
        ck_assert_ptr_nonnull(dir);
        for (struct dirent *e; (e = readdir(dir)) != NULL;) {
            char source[1024], target[600];
            const size_t name = strlen(e->d_name), end = strlen(places[p].end);
            if (name < end || strcmp(e->d_name + name - end, places[p].end) != 0) continue;
            snprintf(source, sizeof source, "%s/%s", places[p].from, e->d_name);
            snprintf(target, sizeof target, "%s/kernels/%s", folder, e->d_name);
            size_t length;
            char *text = read_file(source, &length), *at = file && strcmp(e->d_name, file) == 0 ? strstr(text, from) : NULL;
            make_file(target, text, at ? (size_t)(at - text) : length);
            if (at) {
                FILE *rest = fopen(target, "ab");
                ck_assert_ptr_nonnull(rest);
                fputs(to, rest);
                fputs(at + strlen(from), rest);
                fclose(rest);
                replaced = true;
            }
            free(text);
        }
        closedir(dir);
    }
    ck_assert_msg(replaced == (file != NULL), "%s lacks \"%s\"", file ? file : "", from ? from : "");
    return inside("kernels");
}

START_TEST(sources_from_a_folder_give_the_same_programs)
{
    char setting[300];
    const outcome first = run_child("little", folder, NULL, NULL);
    snprintf(setting, sizeof setting, "TENON_KERNEL_DIR=%s", copy_kernels(NULL, NULL, NULL));
    const outcome second = run_child("little", folder, setting, NULL);
    ck_assert_str_eq(second.hash, first.hash);
    ck_assert_int_eq(second.built, 0); /* the same text, the same key */
}
END_TEST

/* x + 1 for x = 0, 1, …, 99, from a life of its own. */
static float added(void)
{
    float v[100] = {0};
    ck_ok(tn_shutdown());
    const tn_scope scope = tn_scope_push();
    float values[100];
    for (int i = 0; i < 100; i++) values[i] = (float)i;
    ck_ok(tn_read(tn_add(tn_from(TN_F32, TN_SHAPE(100), values, test_device()), tn_int(1)), v, sizeof v));
    ck_ok(tn_scope_pop(scope));
    return v[50];
}

START_TEST(C70_a_changed_source_is_another_program)
{
    ck_ok(tn_set("cache_dir", folder));
    ck_assert_float_eq(added(), 51);
    ck_ok(tn_set("kernel_dir",
                 copy_kernels("scalar.cl", "#define ADD_f(a, b) ((a) + (b))", "#define ADD_f(a, b) ((a) + (b) + 100.0f)")));
    ck_assert_float_eq(added(), 151);
    ck_ok(tn_set("kernel_dir", NULL));
    ck_assert_float_eq(added(), 51);
    ck_assert_uint_eq(bones_info(test_device()).programs_built, 0);
}
END_TEST

START_TEST(C64_a_broken_source_is_told_with_its_log_kernel_and_line_and_hurts_nothing_else)
{
    float v[64], w[64];
    for (int i = 0; i < 64; i++) w[i] = (float)i;
    ck_ok(tn_shutdown());
    ck_ok(tn_set("kernel_dir", copy_kernels("elementwise.cl", "#else", "#else\n    this is no_C_at_all;\n")));
    /* The broken part is the other profile's: */
    ck_ok(tn_set("profile", "wide"));
    tn_tensor *x = ck_made(tn_from(TN_F32, TN_SHAPE(8, 8), w, test_device())), *y = ck_made(tn_add(x, tn_int(1)));
    for (int again = 0; again < 2; again++)
        ck_fails(tn_read(y, v, sizeof v), TN_COMPILE, "kernel elementwise", test_device(), "no_C_at_all", "line ",
                 "this is no_C_at_all;");
    ck_assert(tn_is_pending(y));
    /* Other kernels of the device, and other devices: */
    ck_ok(tn_read(tn_sum(x, TN_AXES(1), false), v, 8 * sizeof(float)));
    ck_assert_float_eq(v[0], 28);
    ck_ok(tn_read(x, v, sizeof v));
    ck_assert_float_eq(v[63], 63);
    ck_tensor_f32(tn_add(tn_ones(TN_F32, TN_SHAPE(2), "host"), tn_int(1)), {2, 2});
    tn_device_info info = bones_info(test_device());
    ck_assert(info.usable && info.error == NULL);
    /* And with good sources: */
    ck_ok(tn_set("kernel_dir", NULL));
    ck_ok(tn_shutdown());
    ck_ok(tn_set("profile", NULL));
    ck_assert_float_eq(added(), 51);
}
END_TEST

START_TEST(a_table_of_a_kernel_folder_may_be_broken_too)
{
    float v[64];
    ck_ok(tn_shutdown());
    ck_ok(tn_set("kernel_dir", copy_kernels("scalar.cl", "#define ADD_f(a, b) ((a) + (b))", "#define ADD_f(a, b) ((a) + (b")));
    ck_fails(
        tn_read(tn_add(tn_ones(TN_F32, TN_SHAPE(64), test_device()), tn_ones(TN_F32, TN_SHAPE(64), test_device())), v, sizeof v),
        TN_COMPILE, "kernel elementwise", test_device(), "line ");
    ck_ok(tn_set("kernel_dir", NULL));
    ck_assert_float_eq(added(), 51);
}
END_TEST

/* ---- how many programs there are ---- */

static uint64_t programs(void)
{
    const tn_device_info info = bones_info(test_device());
    return info.programs_built + info.programs_loaded;
}

#define ck_programs(count, statement)                                                                     \
    do {                                                                                                  \
        const uint64_t at_first_ = programs();                                                            \
        statement;                                                                                        \
        ck_assert_msg(programs() - at_first_ == (count), "%s: %d new programs instead of %d", #statement, \
                      (int)(programs() - at_first_), (int)(count));                                       \
    } while (0)

static tn_tensor *zeros(tn_dtype dtype, tn_shape shape)
{
    int64_t n = 1;
    for (int i = 0; i < shape.ndim; i++) n *= shape.dim[i];
    void *bytes = calloc((size_t)n + 1, 8);
    tn_tensor *x = ck_made(tn_from(dtype, shape, bytes, test_device()));
    free(bytes);
    return x;
}

static void scale_and_shift(tn_shape shape, double scale, double shift)
{
    bones_run(tn_add(tn_mul(zeros(TN_F32, shape), tn_float(scale)), tn_float(shift)));
}

START_TEST(shapes_and_scalars_are_arguments)
{
    scale_and_shift(TN_SHAPE(1000), 2, 3);
    ck_programs(0, {
        scale_and_shift(TN_SHAPE(1000), 0.25, -7);
        scale_and_shift(TN_SHAPE(64), 1e30, -1e-30);
        scale_and_shift(TN_SHAPE(5000), -0.0, INFINITY);
        scale_and_shift(TN_SHAPE(16, 16), 3, NAN);
        scale_and_shift(TN_SHAPE(2, 3, 4, 5, 6), 11, 12);
        scale_and_shift(TN_SHAPE(1, 1, 77), 11, 12);
        scale_and_shift(TN_SHAPE(100003), 11, 12);
    });
}
END_TEST

START_TEST(equal_scalars_are_two_arguments_all_the_same)
{
    scale_and_shift(TN_SHAPE(1000), 2, 3);
    ck_programs(0, scale_and_shift(TN_SHAPE(1000), 5, 5));
}
END_TEST

START_TEST(broadcast_shapes_are_arguments)
{
    const int64_t sizes[][2] = {{20, 30}, {64, 31}, {7, 100}, {300, 64}};
    for (int i = 0; i < 4; i++) {
        const int64_t m = sizes[i][0], n = sizes[i][1];
        const uint64_t before = programs();
        bones_run(tn_mul(tn_add(zeros(TN_F32, TN_SHAPE(m, n)), zeros(TN_F32, TN_SHAPE(n))), zeros(TN_F32, TN_SHAPE(m, 1))));
        if (i > 0) ck_assert_uint_eq(programs(), before);
    }
}
END_TEST

START_TEST(another_layout_class_or_dtype_is_another_program)
{
    tn_tensor *x = zeros(TN_F32, TN_SHAPE(64, 64)), *base = zeros(TN_F32, TN_SHAPE(128, 128));
    bones_run(tn_mul(tn_abs(x), x));
    ck_programs(1, { /* inner-strided, whatever the steps */
                     tn_tensor *y = tn_slice(base, 1, 0, 100, 2);
                     bones_run(tn_mul(tn_abs(y), y));
                     y = tn_slice(base, 1, 1, 96, 3);
                     bones_run(tn_mul(tn_abs(y), y));
    });
    ck_programs(1, { /* splat */
                     bones_run(tn_mul(tn_abs(x), zeros(TN_F32, TN_SHAPE())));
                     tn_tensor *one = zeros(TN_F32, TN_SHAPE(1, 1));
                     bones_run(tn_mul(tn_abs(x), one));
    });
    ck_programs(1, bones_run(tn_mul(tn_abs(zeros(TN_I32, TN_SHAPE(64, 64))), zeros(TN_I32, TN_SHAPE(64, 64)))));
}
END_TEST

START_TEST(only_the_powers_of_the_list_are_compiled_in)
{
    tn_tensor *x = zeros(TN_F32, TN_SHAPE(1000));
    bones_run(tn_pow(x, tn_float(2.5)));
    ck_programs(0, {
        bones_run(tn_pow(x, tn_float(7)));
        bones_run(tn_pow(x, tn_float(-3.25)));
        bones_run(tn_pow(x, tn_float(4)));
    });
    const uint64_t before = programs();
    const double list[] = {0, 1, 2, 3, 0.5, -1};
    for (int i = 0; i < 6; i++) bones_run(tn_pow(x, tn_float(list[i])));
    ck_assert_uint_le(programs() - before, 6);
}
END_TEST

START_TEST(rows_and_reductions_of_other_shapes_are_the_same_programs)
{
    const int64_t sizes[][2] = {{20, 40}, {33, 65}, {100, 333}, {7, 1000}};
    for (int i = 0; i < 4; i++) {
        const uint64_t before = programs();
        tn_tensor *x = zeros(TN_F32, TN_SHAPE(sizes[i][0], sizes[i][1]));
        bones_run(tn_softmax(x, 1));
        bones_run(tn_sum(x, TN_AXES(1), false));
        bones_run(tn_sum(x, TN_AXES(0), false));
        bones_run(tn_argmax(x, TN_AXES(1), true));
        if (i > 0)
            ck_assert_msg(programs() == before, "[%d,%d]: %d new programs", (int)sizes[i][0], (int)sizes[i][1],
                          (int)(programs() - before));
    }
}
END_TEST

START_TEST(matmul_has_at_most_eight_variants_and_the_general_one)
{
    const int64_t sizes[] = {5, 16, 20, 33, 48, 64, 65, 80, 100, 112, 128, 130};
    const uint64_t before = programs();
    for (int i = 0; i < 12; i++)
        bones_run(
            tn_matmul(zeros(TN_F32, TN_SHAPE(sizes[11 - i], sizes[i])), zeros(TN_F32, TN_SHAPE(sizes[i], sizes[(i * 5) % 12]))));
    const uint64_t few = programs() - before;
    ck_assert_msg(few <= 2 * 9, "%d programs", (int)few); /* the product and its packing */
}
END_TEST

START_TEST(one_text_is_one_program_in_every_life)
{
    ck_assert_float_eq(added(), 51);
    const uint64_t first = programs();
    ck_assert_float_eq(added(), 51);
    ck_assert_uint_eq(programs(), first);
    ck_assert_uint_eq(bones_info(test_device()).programs_built, 0);
}
END_TEST

int main(void)
{
    static const bones_role roles[] = {
        {"work", role_work}, {"work_aside", role_work_aside}, {"little", role_little}, {"scatter", role_scatter}, {NULL, NULL}};
    const TTest *const tests[] = {
        a_second_process_builds_nothing,
        a_program_under_anothers_name_is_not_taken,
        an_empty_TENON_CACHE_DIR_means_no_cache,
        without_TENON_CACHE_DIR_it_is_the_users_cache_folder,
        a_cache_folder_that_cannot_be_made_costs_a_warning_and_time,
        C69_processes_that_start_together_on_an_empty_cache_are_all_right,
        C33_what_is_scattered_is_right_the_first_time_and_from_the_cache,
        C64_building_says_nothing_on_the_terminal,
        sources_from_a_folder_give_the_same_programs,
        C70_a_changed_source_is_another_program,
        C64_a_broken_source_is_told_with_its_log_kernel_and_line_and_hurts_nothing_else,
        a_table_of_a_kernel_folder_may_be_broken_too,
        shapes_and_scalars_are_arguments,
        equal_scalars_are_two_arguments_all_the_same,
        broadcast_shapes_are_arguments,
        another_layout_class_or_dtype_is_another_program,
        only_the_powers_of_the_list_are_compiled_in,
        rows_and_reductions_of_other_shapes_are_the_same_programs,
        matmul_has_at_most_eight_variants_and_the_general_one,
        one_text_is_one_program_in_every_life,
    };
    const int role = bones_run_role(roles);
    if (role >= 0) return role;
    return test_run("cache", set_up, tear_down, tests, (int)(sizeof tests / sizeof tests[0]));
}
