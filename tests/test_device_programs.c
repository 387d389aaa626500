/* Building kernels, and the caches of programs. */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "device_kit.h"

/* ---- a cache folder of one's own ---- */

static char folder[256];

static void each_file(void (*act)(const char *path))
{
    DIR *dir = opendir(folder);
    ck_assert_ptr_nonnull(dir);
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        char path[600];
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        act(path);
    }
    closedir(dir);
}

static int files;

static void count_one(const char *path)
{
    const size_t length = strlen(path);
    files += length > 4 && strcmp(path + length - 4, ".bin") == 0;
}

static int count_files(void)
{
    files = 0;
    each_file(count_one);
    return files;
}

static void remove_one(const char *path)
{
    unlink(path);
}

static void begin_cache(void)
{
    snprintf(folder, sizeof folder, "/tmp/tenon-test-cache-%ld", (long)getpid());
    mkdir(folder, 0777);
    each_file(remove_one);
    ck_assert_int_eq(tn_set("cache_dir", folder), TN_OK);
}

static void end_cache(void)
{
    if (!*folder) return;
    each_file(remove_one);
    rmdir(folder);
    folder[0] = '\0';
}

static uint64_t built(void)
{
    tn_device_info info;
    ck_assert_int_eq(tn_device_query(kit_device(), &info), TN_OK);
    return info.programs_built;
}

static uint64_t loaded(void)
{
    tn_device_info info;
    ck_assert_int_eq(tn_device_query(kit_device(), &info), TN_OK);
    return info.programs_loaded;
}

/* The addition in a life of its own; then how many programs were built and loaded in it, the probe's included. */
static void expect_life(uint64_t expected_built, uint64_t expected_loaded)
{
    tn_shutdown();
    ck_assert_int_eq(kit_add(kit_use(kit_device()), 1), TN_OK);
    ck_assert_uint_eq(built(), expected_built);
    ck_assert_uint_eq(loaded(), expected_loaded);
}

/* ---- what compilers say ---- */

static tn__kernel *get(tn__device *device, const char *text, const char *name)
{
    return tn__kernel_get(device, text, strlen(text), name);
}

START_TEST(C64_a_failed_build_tells_all_there_is_to_know)
{
    static const char text[] = "__kernel void wrong(__global float *a)\n{\n    a[0] = undeclared_thing;\n}\n";
    NEEDS_OPENCL();
    tn__device *device = kit_use(kit_device());
    ck_assert_ptr_null(get(device, text, "wrong"));
    ck_assert_int_eq(tn_last_status(), TN_COMPILE);
    ck_assert_has(tn_last_error(), kit_device());
    ck_assert_has(tn_last_error(), "kernel wrong");
    ck_assert_has(tn_last_error(), "undeclared_thing");
    ck_assert_has(tn_last_error(), "line 3 of the source: a[0] = undeclared_thing;");
    ck_assert_has(tn_last_error(), device->info.description);
    ck_assert_has(tn_last_error(), device->info.driver);
    ck_assert_has(tn_last_error(), "-cl-std=CL1.2");
    ck_assert_int_eq(kit_add(device, 1), TN_OK); /* and nothing else suffers */
}
END_TEST

START_TEST(C64_success_is_silent_but_for_the_log)
{
    static const char text[] = "__kernel void idle(__global float *a)\n{\n    int unused = 3;\n    a[0] = 1.0f;\n}\n";
    NEEDS_OPENCL();
    tn_set("cache_dir", "");
    ck_assert_ptr_nonnull(get(kit_use(kit_device()), text, "idle"));
    ck_assert_int_eq(tn_last_status(), TN_OK);
    ck_assert_int_eq(kit_log_count("[2] ") - kit_log_count("[2] auto"), 2); /* the probe's and this one */
    ck_assert_int_eq(kit_log_count(": built idle in "), 1);
}
END_TEST

START_TEST(C64_an_empty_log_is_said_to_be_empty)
{
    NEEDS_REAL_BEHIND_FAKE();
    kit_fake("");
    tn__device *device = kit_use(kit_device());
    setenv("FAKE_FAIL", "clBuildProgram:-11", 1);
    setenv("FAKE_LOG", "", 1);
    ck_assert_ptr_null(get(device, "__kernel void k(void) {}", "k"));
    ck_assert_int_eq(tn_last_status(), TN_COMPILE);
    ck_assert_has(tn_last_error(), "log: (empty)");
}
END_TEST

START_TEST(a_kernel_that_the_program_lacks_is_named)
{
    NEEDS_OPENCL();
    tn__device *device = kit_use(kit_device());
    ck_assert_ptr_null(get(device, kit_add_text, "subtract"));
    ck_assert_int_eq(tn_last_status(), TN_COMPILE);
    ck_assert_has(tn_last_error(), "no kernel subtract");
}
END_TEST

/* ---- in memory ---- */

static void *get_add(void *device)
{
    return get(device, kit_add_text, "add");
}

START_TEST(threads_that_ask_for_one_text_get_one_kernel_built_once)
{
    pthread_t threads[8];
    void *kernels[8];
    NEEDS_OPENCL();
    tn_set("cache_dir", "");
    tn__device *device = kit_use(kit_device());
    const uint64_t before = built();
    for (int i = 0; i < 8; i++) pthread_create(&threads[i], NULL, get_add, device);
    for (int i = 0; i < 8; i++) pthread_join(threads[i], &kernels[i]);
    for (int i = 0; i < 8; i++) ck_assert_ptr_eq(kernels[i], kernels[0]);
    ck_assert_ptr_nonnull(kernels[0]);
    ck_assert_uint_eq(built() - before, 1);
}
END_TEST

/* ---- on disk ---- */

START_TEST(a_second_life_builds_nothing)
{
    NEEDS_OPENCL();
    begin_cache();
    expect_life(2, 0);
    ck_assert_int_eq(count_files(), 2);
    ck_assert_int_eq(kit_log_count("loaded "), 0);
    expect_life(0, 2);
    ck_assert_int_eq(kit_log_count(": built add in "), 1);
    ck_assert_int_eq(kit_log_count(": loaded add from the cache"), 1);
    end_cache();
}
END_TEST

START_TEST(a_short_program_leaves_its_kernels_behind)
{
    NEEDS_OPENCL();
    begin_cache();
    tn_shutdown(); /* the role is another process, and shuts nothing down */
    setenv("TENON_CACHE_DIR", folder, 1);
    ck_assert_int_eq(kit_run_role("add"), 0);
    expect_life(0, 2);
    end_cache();
}
END_TEST

static void truncate_one(const char *path)
{
    ck_assert_int_eq(truncate(path, 10), 0);
}

static void empty_one(const char *path)
{
    ck_assert_int_eq(truncate(path, 0), 0);
}

static void lengthen_one(const char *path)
{
    FILE *file = fopen(path, "ab");
    fputs("more", file);
    fclose(file);
}

/* Flips a bit at a hundredth, half, and the last byte: head or key, and binary. */
static void flip_one(const char *path)
{
    struct stat about;
    FILE *file = fopen(path, "r+b");
    ck_assert_int_eq(stat(path, &about), 0);
    const long places[] = {about.st_size / 100, about.st_size / 2, about.st_size - 1};
    for (int i = 0; i < 3; i++) {
        fseek(file, places[i], SEEK_SET);
        const int byte = fgetc(file);
        fseek(file, places[i], SEEK_SET);
        fputc(byte ^ 4, file);
    }
    fclose(file);
}

static void forbid_one(const char *path)
{
    unlink(path);
    mkdir(path, 0777);
}

static void allow_one(const char *path)
{
    rmdir(path);
}

START_TEST(C69_damaged_files_are_made_anew_silently)
{
    static void (*const damages[])(const char *) = {truncate_one, empty_one, lengthen_one, flip_one, forbid_one};
    NEEDS_OPENCL();
    begin_cache();
    expect_life(2, 0);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        each_file(damages[i]);
        expect_life(2, 0);
        ck_assert_int_eq(tn_last_status(), TN_OK);
        each_file(allow_one);
        if (damages[i] == forbid_one) expect_life(2, 0);
        expect_life(0, 2);
    }
    end_cache();
}
END_TEST

START_TEST(C70_another_driver_version_is_another_program)
{
    NEEDS_REAL_BEHIND_FAKE();
    begin_cache();
    kit_fake("");
    expect_life(2, 0);
    setenv("FAKE_DRIVER", "99.1", 1);
    expect_life(2, 0);
    expect_life(0, 2);
    unsetenv("FAKE_DRIVER");
    expect_life(0, 2);
    ck_assert_int_eq(count_files(), 4);
    end_cache();
}
END_TEST

START_TEST(C70_a_binary_that_is_refused_is_made_anew)
{
    static const char *const refusals[] = {"clCreateProgramWithBinary:-30", "clCreateProgramWithBinary:-42",
                                           "clBuildProgram:-44:1,clBuildProgram:-44:3",
                                           "clCreateKernel:-45:1,clCreateKernel:-46:3"};
    NEEDS_REAL_BEHIND_FAKE();
    begin_cache();
    kit_fake("");
    expect_life(2, 0);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        setenv("FAKE_FAIL", refusals[i], 1);
        expect_life(2, 0);
        setenv("FAKE_FAIL", "", 1);
        expect_life(0, 2);
    }
    ck_assert_int_eq(tn_last_status(), TN_OK);
    end_cache();
}
END_TEST

START_TEST(a_folder_that_cannot_be_written_is_mentioned_once)
{
    NEEDS_OPENCL();
    tn_set("cache_dir", "/proc/no-folder-here");
    expect_life(2, 0);
    expect_life(2, 0);
    ck_assert_int_eq(kit_log_count("/proc/no-folder-here cannot be written"), 1);
    tn_set("cache_dir", "");
    expect_life(2, 0);
}
END_TEST

/* ---- several texts in one program ---- */

enum { TOGETHER = 3 };
/* The same names mean something else in each; what each kernel gives. */
static const char *const together[TOGETHER] = {
    "#define ADD(a, b) ((a) + (b))\n#define TWICE 2\nstatic int part(int a)\n{\n    return ADD(a, TWICE);\n}\n"
    "__kernel void give(__global int *a) { a[0] = part(10); }",
    "#define NAMED(x) x##_here\ntypedef struct { int v; } part;\n__constant int table[2] = {20, 21};\n"
    "#define DEFINE(name, n) int name(void) { return n + table[0]; }\nDEFINE(sum, 2)\n"
    "__kernel void give(__global int *a) { part p = {sum()}; a[0] = p.v; }",
    "#if 0\n#define ADD 7\n#else\n#define ADD(a, b, c) \\\n    ((a) + (b) + (c)) /* { ( */\n#endif\n// a comment with {\n"
    "static int part(int a);\nstatic int part(int a) { return ADD(a, 1, 1); }\n"
    "__kernel void give(__global int *a) { a[0] = part(30); }\n__kernel void give_more(__global int *a) { a[0] = part(40); }"};
static const int given[TOGETHER] = {12, 22, 32};

static void prepare(tn__device *device, const char *const *texts, int count)
{
    tn__program_text wanted[TOGETHER + 1];
    for (int i = 0; i < count; i++) wanted[i] = (tn__program_text){texts[i], strlen(texts[i]), "give"};
    tn__kernels_prepare(device, wanted, count);
}

static int what_it_gives(tn__device *device, tn__kernel *kernel)
{
    int value = -1;
    tn__buffer *buffer = tn__buffer_new(device, 4);
    const tn__argument argument = {.buffer = buffer};
    ck_assert_ptr_nonnull(kernel);
    ck_assert_int_eq(tn__launch(kernel, &argument, 1, 1, 1), TN_OK);
    ck_assert_int_eq(tn__buffer_read(buffer, 0, &value, 4), TN_OK);
    tn__buffer_release(buffer);
    return value;
}

static void expect_given(tn__device *device)
{
    for (int i = 0; i < TOGETHER; i++) ck_assert_int_eq(what_it_gives(device, get(device, together[i], "give")), given[i]);
    ck_assert_int_eq(tn_last_status(), TN_OK);
}

/* A life in which they are wanted together; then how many programs were built and loaded in it, the probe's included. */
static void expect_life_together(uint64_t expected_built, uint64_t expected_loaded)
{
    tn_shutdown();
    tn__device *device = kit_use(kit_device());
    prepare(device, together, TOGETHER);
    expect_given(device);
    ck_assert_uint_eq(built(), expected_built);
    ck_assert_uint_eq(loaded(), expected_loaded);
}

START_TEST(texts_wanted_together_are_one_program)
{
    NEEDS_OPENCL();
    tn_set("cache_dir", "");
    expect_life_together(2, 0);
    ck_assert_int_eq(kit_log_count(": built give and 2 more in "), 1);
    ck_assert_int_eq(what_it_gives(kit_use(kit_device()), get(kit_use(kit_device()), together[2], "give_more")), 42);
    prepare(kit_use(kit_device()), together, TOGETHER); /* they are there */
    ck_assert_uint_eq(built(), 2);
}
END_TEST

START_TEST(each_text_of_a_program_is_found_again)
{
    NEEDS_OPENCL();
    begin_cache();
    expect_life_together(2, 0);
    ck_assert_int_eq(count_files(), 2 + TOGETHER); /* the probe's, theirs, and where each is */
    expect_life_together(0, 2);
    tn_shutdown();
    ck_assert_int_eq(what_it_gives(kit_use(kit_device()), get(kit_use(kit_device()), together[1], "give")), given[1]);
    ck_assert_uint_eq(built(), 0);
    ck_assert_uint_eq(loaded(), 2);
    end_cache();
}
END_TEST

START_TEST(C69_damaged_files_of_a_joined_program_are_made_anew)
{
    static void (*const damages[])(const char *) = {truncate_one, lengthen_one, flip_one};
    NEEDS_OPENCL();
    begin_cache();
    expect_life_together(2, 0);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        each_file(damages[i]);
        expect_life_together(2, 0);
        expect_life_together(0, 2);
    }
    end_cache();
}
END_TEST

START_TEST(a_text_that_does_not_build_harms_no_other)
{
    const char *const texts[TOGETHER + 1] = {together[0], together[1], "__kernel void give(__global int *a) { nonsense }",
                                             together[2]};
    NEEDS_OPENCL();
    tn_set("cache_dir", "");
    tn__device *device = kit_use(kit_device());
    prepare(device, texts, TOGETHER + 1);
    ck_assert_int_eq(tn_last_status(), TN_OK);
    expect_given(device);
    ck_assert_ptr_null(get(device, texts[2], "give"));
    ck_assert_int_eq(tn_last_status(), TN_COMPILE);
    ck_assert_has(tn_last_error(), "nonsense");
}
END_TEST

/* The largest of the folder's programs, in bytes. */
static off_t largest;

static void find_largest(const char *path)
{
    struct stat about;
    if (stat(path, &about) == 0 && about.st_size > largest) largest = about.st_size;
}

static void count_any(const char *path)
{
    (void)path;
    files++;
}

/* The largest program does not fit, or whatever the driver writes. */
START_TEST(C69_a_full_disk_is_mentioned_once_and_leaves_no_half_file)
{
    struct rlimit limit, small;
    NEEDS_OPENCL();
    SKIP_IF(strncmp(kit_device(), "cpu", 3) == 0, "PoCL ends the process when its own files do not fit");
    begin_cache();
    expect_life(2, 0);
    largest = 0;
    each_file(find_largest);
    each_file(remove_one);
    ck_assert_int_gt(largest, 0);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = (struct rlimit){.rlim_cur = (rlim_t)largest - 1, .rlim_max = limit.rlim_max};
    void (*const before)(int) = signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    expect_life(2, 0);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    (void)signal(SIGXFSZ, before);
    ck_assert_int_eq(count_files(), 1); /* the other one */
    files = 0;
    each_file(count_any);
    ck_assert_int_eq(files, 1);
    ck_assert_int_eq(kit_log_count("cannot be written"), 1);
    expect_life(1, 1);
    expect_life(0, 2);
    end_cache();
}
END_TEST

/* ---- processes that share a folder ---- */

enum { PROCESSES = 8, VICTIMS = 3, KERNELS = 4, KERNELS_LONG = 200 };

static int kernels(void)
{
    const char *set = getenv("TENON_TEST_LONG");
    return set && strcmp(set, "0") != 0 ? KERNELS_LONG : KERNELS;
}

static int role_add(void)
{
    tn__device *device = tn__device_use(kit_device());
    EXPECT(device && kit_add(device, 1) == TN_OK);
    return 0;
}

/* Builds and runs kernels that differ in a constant; with ALL_LOADED set, none may have to be built. */
static int role_many(void)
{
    tn_device_info info;
    tn__device *device = tn__device_use(kit_device());
    EXPECT(device);
    tn__buffer *buffer = tn__buffer_new(device, 4);
    EXPECT(buffer);
    for (int i = 0; i < kernels(); i++) {
        char text[128];
        int value = 0;
        snprintf(text, sizeof text, "__kernel void give(__global int *a) { a[0] = %d; }", 1000 + i);
        tn__kernel *kernel = tn__kernel_get(device, text, strlen(text), "give");
        const tn__argument argument = {.buffer = buffer};
        EXPECT(kernel && tn__launch(kernel, &argument, 1, 1, 1) == TN_OK);
        EXPECT(tn__buffer_read(buffer, 0, &value, 4) == TN_OK && value == 1000 + i);
    }
    EXPECT(tn_device_query(kit_device(), &info) == TN_OK);
    EXPECT(!getenv("ALL_LOADED") || info.programs_built == 0);
    return 0;
}

static void start_many(pid_t *children, int count)
{
    tn_shutdown();
    setenv("TENON_CACHE_DIR", folder, 1);
    for (int i = 0; i < count; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            execl("/proc/self/exe", "test", "--role", "many", (char *)NULL);
            _exit(127);
        }
    }
}

static int wait_for(pid_t child)
{
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

START_TEST(C69_eight_processes_share_an_empty_cache_and_others_are_killed)
{
    pid_t children[PROCESSES + VICTIMS];
    NEEDS_OPENCL();
    SKIP_IF(kit_is("oclgrind"), "its launcher is not inherited by children alike");
    begin_cache();
    start_many(children, PROCESSES + VICTIMS);
    for (int i = PROCESSES; i < PROCESSES + VICTIMS; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
        kill(children[i], SIGKILL);
        wait_for(children[i]);
    }
    for (int i = 0; i < PROCESSES; i++) ck_assert_int_eq(wait_for(children[i]), 0);
    ck_assert_int_eq(count_files(), kernels() + 1);
    setenv("ALL_LOADED", "1", 1);
    ck_assert_int_eq(kit_run_role("many"), 0);
    unsetenv("ALL_LOADED");
    end_cache();
}
END_TEST

START_TEST(processes_wait_for_each_others_builds)
{
    enum { COUNT = 4 };
    pid_t children[COUNT];
    char path[300], line[512];
    int built_lines = 0;
    NEEDS_OPENCL();
    SKIP_IF(kit_is("oclgrind"), "its launcher is not inherited by children alike");
    begin_cache();
    snprintf(path, sizeof path, "%s/log", folder);
    setenv("TENON_LOG", path, 1);
    start_many(children, COUNT);
    unsetenv("TENON_LOG");
    for (int i = 0; i < COUNT; i++) ck_assert_int_eq(wait_for(children[i]), 0);
    FILE *log = fopen(path, "r");
    ck_assert_ptr_nonnull(log);
    while (fgets(line, sizeof line, log)) built_lines += strstr(line, ": built ") != NULL;
    fclose(log);
    ck_assert_int_ge(built_lines, kernels() + 1);
    ck_assert_int_lt(built_lines, 2 * (kernels() + 1)); /* patience may end on a busy machine */
    end_cache();
}
END_TEST

int main(int argc, char **argv)
{
    static const kit_role roles[] = {{"add", role_add}, {"many", role_many}, {NULL, NULL}};
    const TTest *const tests[] = {
        C64_a_failed_build_tells_all_there_is_to_know,
        C64_success_is_silent_but_for_the_log,
        C64_an_empty_log_is_said_to_be_empty,
        a_kernel_that_the_program_lacks_is_named,
        threads_that_ask_for_one_text_get_one_kernel_built_once,
        a_second_life_builds_nothing,
        a_short_program_leaves_its_kernels_behind,
        C69_damaged_files_are_made_anew_silently,
        C70_another_driver_version_is_another_program,
        C70_a_binary_that_is_refused_is_made_anew,
        a_folder_that_cannot_be_written_is_mentioned_once,
        texts_wanted_together_are_one_program,
        each_text_of_a_program_is_found_again,
        C69_damaged_files_of_a_joined_program_are_made_anew,
        a_text_that_does_not_build_harms_no_other,
        C69_a_full_disk_is_mentioned_once_and_leaves_no_half_file,
        C69_eight_processes_share_an_empty_cache_and_others_are_killed,
        processes_wait_for_each_others_builds,
    };
    return kit_main(argc, argv, "device_programs", tests, sizeof tests / sizeof *tests, roles);
}
