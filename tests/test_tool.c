/* The tenon command. */
#include "device_kit.h"

#include <sys/stat.h>

#define TOOL TN_TEST_BUILD_DIR "/tenon"

static char output[1 << 16];

/* Runs the command; gives its exit status and leaves both its outputs in output. */
static int run(const char *arguments)
{
    char line[512];
    snprintf(line, sizeof line, "'%s' %s 2>&1", TOOL, arguments);
    FILE *pipe = popen(line, "r");
    ck_assert_ptr_nonnull(pipe);
    const size_t length = fread(output, 1, sizeof output - 1, pipe);
    output[length] = '\0';
    const int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define NEEDS_TOOL() SKIP_IF(access(TOOL, X_OK) != 0, "the command was not built")

static void use_fake(const char *platforms)
{
    setenv("TENON_OPENCL", FAKE_ICD, 1);
    setenv("FAKE_PLATFORMS", platforms, 1);
}

static void use_none(void)
{
    if (kit_is("none"))
        setenv("TENON_OPENCL", "none", 1);
    else
        unsetenv("TENON_OPENCL");
}

START_TEST(help_and_version_tell_what_there_is)
{
    NEEDS_TOOL();
    ck_assert_int_eq(run("--help"), 0);
    ck_assert_has(output, "tenon devices [--json]");
    ck_assert_int_eq(run("--version"), 0);
    ck_assert_has(output, tn_version());
    ck_assert_int_eq(run("nonsense"), 2);
    ck_assert_has(output, "nonsense");
    ck_assert_int_eq(run(""), 2);
    ck_assert_int_eq(run("devices --xml"), 2);
}
END_TEST

START_TEST(devices_lists_the_device_under_test_as_usable)
{
    char line[64];
    NEEDS_TOOL();
    ck_assert_int_eq(run("devices"), 0);
    snprintf(line, sizeof line, "\n%s ", kit_device());
    ck_assert_has(output, line);
    ck_assert_has(output, "\nhost ");
    ck_assert_ptr_null(strstr(output, "not usable"));
    if (strcmp(kit_device(), "host") == 0) ck_assert_has(output, "no OpenCL device: ");
}
END_TEST

START_TEST(devices_as_json_has_every_field)
{
    static const char *const fields[] = {"name",     "type",         "vendor",           "platform",      "driver",       "usable",
                                         "software", "memory_total", "memory_in_use",    "compute_units", "vector_width", "fp16",
                                         "fp64",     "version",      "max_work_group",   "c_version",     "description",  "profile",
                                         "error",    "default",      "memory_allocation"};
    NEEDS_TOOL();
    ck_assert_int_eq(run("devices --json"), 0);
    ck_assert_int_eq(output[0], '[');
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        char key[64];
        snprintf(key, sizeof key, "\"%s\": ", fields[i]);
        ck_assert_has(output, key);
    }
    ck_assert_has(output, "\"name\": \"host\"");
    ck_assert_has(output, "\"default\": true");
    ck_assert_has(output, "\n]\n");
}
END_TEST

START_TEST(C04_devices_says_what_could_not_be_used_and_why)
{
    NEEDS_TOOL();
    NEEDS_FAKE();
    use_fake("Broken=accel");
    ck_assert_int_eq(run("devices"), 0);
    ck_assert_has(output, "accel:0");
    ck_assert_has(output, "clCreateContext gives -6");
    use_none();
}
END_TEST

static void use_crashing_fake(void)
{
    use_fake("Fragile=accel");
    setenv("FAKE_ALONE", "1", 1);
    setenv("FAKE_FAIL", "clCreateContext:666", 1);
    setenv("ASAN_OPTIONS", "handle_segv=0:detect_leaks=0", 1); /* a crash is to end as one */
}

START_TEST(C10_a_driver_that_crashes_is_reported)
{
    NEEDS_TOOL();
    NEEDS_FAKE();
    use_crashing_fake();
    ck_assert_int_eq(run("devices"), 0);
    ck_assert_has(output, "accel:0");
    ck_assert_has(output, "not usable: its driver crashed");
    ck_assert_int_eq(run("devices --json"), 0);
    ck_assert_has(output, "\"usable\": false");
    setenv("FAKE_FAIL", "clGetPlatformIDs:666", 1);
    ck_assert_int_eq(run("devices"), 0);
    ck_assert_has(output, "\nhost ");
    ck_assert_has(output, "crashed");
    use_none();
}
END_TEST

/* ---- cache ---- */

static char folder[128];

static void make_file(const char *name, int bytes)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    for (int i = 0; i < bytes; i++) fputc('x', file);
    fclose(file);
}

static int is_there(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static void begin_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/tenon-test-tool-%ld", (long)getpid());
    setenv("TENON_CACHE_DIR", folder, 1);
    ck_assert_int_eq(mkdir(folder, 0777), 0);
}

static void end_folder(void)
{
    char line[256];
    snprintf(line, sizeof line, "rm -r '%s'", folder);
    ck_assert_int_eq(system(line), 0);
    setenv("TENON_CACHE_DIR", "", 1);
}

#define PROGRAM "0123456789abcdef0123456789abcdef.bin"
#define ANOTHER "fedcba98765432100123456789abcdef.bin"

START_TEST(cache_lists_measures_and_removes_programs_and_nothing_else)
{
    NEEDS_TOOL();
    begin_folder();
    make_file(PROGRAM, 100);
    make_file(ANOTHER, 2000000);
    make_file(PROGRAM ".lock", 0);
    make_file(ANOTHER ".77.0.tmp", 10);
    make_file("tuning.txt", 5);
    make_file("notes.bin", 7);
    ck_assert_int_eq(run("cache"), 0);
    ck_assert_has(output, "2 programs, 1.9 MiB, in /tmp/tenon-test-tool-");
    ck_assert_int_eq(run("cache list"), 0);
    ck_assert_has(output, PROGRAM "        100 bytes  20");
    ck_assert_has(output, ANOTHER "    2000000 bytes  20");
    ck_assert_ptr_null(strstr(output, "notes.bin"));
    ck_assert_int_eq(run("cache list --json"), 0);
    ck_assert_has(output, "{\"folder\": \"/tmp/tenon-test-tool-");
    ck_assert_has(output, "\"programs\": 2, \"bytes\": 2000100, \"files\": [");
    ck_assert_has(output, "{\"name\": \"" PROGRAM "\", \"bytes\": 100, \"written\": \"20");
    ck_assert_int_eq(run("cache clear --json"), 0);
    ck_assert_has(output, "\"programs\": 2, \"bytes\": 2000100, \"removed\": true}");
    ck_assert(!is_there(PROGRAM) && !is_there(ANOTHER) && !is_there(PROGRAM ".lock") && !is_there(ANOTHER ".77.0.tmp"));
    ck_assert(is_there("tuning.txt") && is_there("notes.bin"));
    ck_assert_int_eq(run("cache size"), 0);
    ck_assert_has(output, "0 programs, 0.0 MiB, in ");
    end_folder();
}
END_TEST

START_TEST(cache_is_empty_where_there_is_no_folder)
{
    NEEDS_TOOL();
    setenv("TENON_CACHE_DIR", "/tmp/tenon-test-no-such-folder", 1);
    ck_assert_int_eq(run("cache"), 0);
    ck_assert_has(output, "0 programs, 0.0 MiB, in /tmp/tenon-test-no-such-folder");
    ck_assert_int_eq(run("cache clear"), 0);
    ck_assert_int_eq(run("cache list --json"), 0);
    ck_assert_has(output, "\"files\": [\n]}");
    setenv("TENON_CACHE_DIR", "", 1);
    ck_assert_int_eq(run("cache"), 0);
    ck_assert_has(output, "there is no program cache");
    ck_assert_int_eq(run("cache size --json"), 0);
    ck_assert_has(output, "{\"folder\": \"\", \"programs\": 0, \"bytes\": 0}");
}
END_TEST

START_TEST(cache_says_what_it_cannot_read_or_remove)
{
    NEEDS_TOOL();
    begin_folder();
    make_file("file", 1);
    char path[256];
    snprintf(path, sizeof path, "%s/file", folder);
    setenv("TENON_CACHE_DIR", path, 1);
    ck_assert_int_eq(run("cache"), 1);
    ck_assert_has(output, "/file: Not a directory");
    setenv("TENON_CACHE_DIR", folder, 1);
    make_file(PROGRAM, 1);
    chmod(folder, 0555);
    const int status = run("cache clear");
    chmod(folder, 0777);
    if (geteuid() != 0) { /* nothing is forbidden to root */
        ck_assert_int_eq(status, 1);
        ck_assert_has(output, PROGRAM ": Permission denied");
    }
    end_folder();
}
END_TEST

START_TEST(cache_takes_one_word_and_explains_itself)
{
    NEEDS_TOOL();
    ck_assert_int_eq(run("cache --help"), 0);
    ck_assert_has(output, "usage: tenon cache [list | size | clear]");
    ck_assert_has(output, "XDG_CACHE_HOME");
    ck_assert_int_eq(run("cache list clear"), 2);
    ck_assert_int_eq(run("cache everything"), 2);
    ck_assert_int_eq(run("cache --xml"), 2);
}
END_TEST

/* ---- tune ---- */

START_TEST(tune_says_what_is_wrong_with_its_arguments)
{
    NEEDS_TOOL();
    ck_assert_int_eq(run("tune --help"), 0);
    ck_assert_has(output, "--seconds N");
    ck_assert_int_eq(run("tune --seconds soon"), 2);
    ck_assert_int_eq(run("tune --seconds 0"), 2);
    ck_assert_int_eq(run("tune everything"), 2);
    ck_assert_int_eq(run("tune --device"), 2);
    setenv("TENON_CACHE_DIR", "", 1);
    ck_assert_int_eq(run("tune --device host"), 1);
    ck_assert_has(output, "there is no tuning file");
    ck_assert_int_eq(run("tune --device host --output /tmp/tenon-test-never-written"), 1);
    ck_assert_has(output, "host has no kernels that take parameters");
    ck_assert_int_eq(run("tune --device gpu:77 --output /tmp/tenon-test-never-written"), 1);
    ck_assert_has(output, "gpu:77");
    ck_assert_int_ne(access("/tmp/tenon-test-never-written", F_OK), 0);
}
END_TEST

START_TEST(tune_writes_what_the_library_takes)
{
    char line[256], path[256];
    NEEDS_TOOL();
    NEEDS_OPENCL();
    SKIP_IF(kit_is("oclgrind"), "it takes minutes for a product of this size");
    begin_folder();
    snprintf(line, sizeof line, "tune --device %s --quick --seconds 1 --json", kit_device());
    ck_assert_int_eq(run(line), 0);
    ck_assert_has(output, "\"family\": \"matmul_");
    ck_assert_has(output, "\"untuned_seconds\": 0.");
    ck_assert(is_there("tuning.txt"));
    snprintf(path, sizeof path, "%s/tuning.txt", folder);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    const size_t length = fread(output, 1, sizeof output - 1, file);
    output[length] = '\0';
    fclose(file);
    ck_assert_has(output, "# Tenon's tuned parameters");
    ck_assert_has(output, "\n1\t");
    /* a folder that cannot be written is an error at once */
    snprintf(line, sizeof line, "tune --device %s --quick --seconds 1 --output /proc/nowhere/tuning", kit_device());
    ck_assert_int_eq(run(line), 1);
    ck_assert_has(output, "/proc/nowhere/tuning");
    end_folder();
}
END_TEST

START_TEST(tune_survives_a_driver_that_crashes)
{
    NEEDS_TOOL();
    NEEDS_FAKE();
    use_crashing_fake();
    ck_assert_int_eq(run("tune --device accel:0 --output /tmp/tenon-test-never-written"), 1);
    ck_assert_has(output, "accel:0: its driver crashed the process that tried it");
    use_none();
}
END_TEST

/* ---- bench ---- */

/* A baseline of one line, as "tenon bench copy" of the device under test would have saved it. */
static const char *baseline_of(double share)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/tenon-baseline-%d", (int)getpid());
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "{\"work\": \"copy\", \"device\": \"%s\", \"shape\": \"[65536]\", \"of\": \"copy\", \"share\": %.4f}\n",
            kit_device(), share);
    fclose(file);
    return path;
}

static int bench(const char *option, const char *path)
{
    char arguments[512];
    snprintf(arguments, sizeof arguments, "bench copy --quick --repeat 1 --device %s %s '%s'", kit_device(), option, path);
    return run(arguments);
}

#define NEEDS_BENCH()                                                   \
    NEEDS_TOOL();                                                       \
    SKIP_IF(run("bench --help") != 0, "the benchmarks were not built"); \
    SKIP_IF(kit_is("oclgrind"), "its interpreter is no device to measure")

START_TEST(bench_saves_shares_that_it_can_compare)
{
    NEEDS_BENCH();
    const char *path = baseline_of(1e-4);
    ck_assert_int_eq(bench("--save", path), 0);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_ptr_nonnull(fgets(output, sizeof output, file));
    fclose(file);
    ck_assert_has(output, "{\"work\": \"copy\", \"device\": \"");
    ck_assert_has(output, "\"of\": \"copy\", \"share\": ");
    bench("--baseline", path);
    ck_assert_ptr_null(strstr(output, " -\n")); /* the line was found again */
    remove(path);
}
END_TEST

START_TEST(bench_fails_where_a_share_is_a_fifth_below_the_baseline)
{
    NEEDS_BENCH();
    const char *path = baseline_of(1e-4);
    ck_assert_int_eq(bench("--baseline", path), 0);
    ck_assert_has(output, "0.000  ok");
    path = baseline_of(1e4);
    ck_assert_int_eq(bench("--baseline", path), 1);
    ck_assert_has(output, "10000.000  regression");
    remove(path);
}
END_TEST

START_TEST(bench_says_what_is_wrong_with_a_baseline)
{
    NEEDS_BENCH();
    const char *path = baseline_of(-1);
    ck_assert_int_eq(bench("--baseline", path), 2);
    ck_assert_has(output, ":1 is not a line that --save writes");
    remove(path);
    ck_assert_int_eq(bench("--baseline", path), 2);
    ck_assert_has(output, "cannot be read");
    ck_assert_int_eq(bench("--save", "/nowhere/file"), 2);
    ck_assert_has(output, "/nowhere/file cannot be written");
    ck_assert_int_eq(run("bench --baseline"), 2);
    ck_assert_has(output, "--baseline needs a value");
}
END_TEST

int main(int argc, char **argv)
{
    const TTest *const tests[] = {
        help_and_version_tell_what_there_is,
        devices_lists_the_device_under_test_as_usable,
        devices_as_json_has_every_field,
        C04_devices_says_what_could_not_be_used_and_why,
        C10_a_driver_that_crashes_is_reported,
        cache_lists_measures_and_removes_programs_and_nothing_else,
        cache_is_empty_where_there_is_no_folder,
        cache_says_what_it_cannot_read_or_remove,
        cache_takes_one_word_and_explains_itself,
        tune_says_what_is_wrong_with_its_arguments,
        tune_writes_what_the_library_takes,
        tune_survives_a_driver_that_crashes,
        bench_saves_shares_that_it_can_compare,
        bench_fails_where_a_share_is_a_fifth_below_the_baseline,
        bench_says_what_is_wrong_with_a_baseline,
    };
    return kit_main(argc, argv, "tool", tests, sizeof tests / sizeof *tests, NULL);
}
