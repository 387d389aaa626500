/* Names, order, choice and faults of devices. */
#include "device_kit.h"

/* ---- names ---- */

static const char *const malformed[] = {"",      "gpu:",   "gpu:-1", "gpu:+1",  "GPU:0",  "gpu:00",          "gpu:01", "gpu: 0",
                                        " cpu:0", "cpu:0 ", "cpu:0x1", "cpu:1.0", "cuda:0", "gpu:9999999999", "host:0", "auto:0",
                                        "gpu0",  "cpu,0",  "hos",    "hostess", "accel:", "cpu:0:0"};

START_TEST(C05_a_malformed_name_is_an_argument_error_that_quotes_it)
{
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        char quoted[64];
        tn_device_info info;
        snprintf(quoted, sizeof quoted, "\"%s\"", malformed[i]);
        ck_assert_ptr_null(tn_device_resolve(malformed[i]));
        ck_assert_int_eq(tn_last_status(), TN_ARGUMENT);
        ck_assert_has(tn_last_error(), quoted);
        ck_assert_int_eq(tn_device_query(malformed[i], &info), TN_ARGUMENT);
        ck_assert_int_eq(tn_device_probe(malformed[i]), TN_ARGUMENT);
        ck_assert_int_eq(tn_device_push(malformed[i]), TN_ARGUMENT);
        ck_assert_int_eq(tn_set("device", malformed[i]), TN_ARGUMENT);
    }
}
END_TEST

START_TEST(C08_a_name_without_number_means_number_0)
{
    NEEDS_FAKE();
    kit_fake("P=gpu,cpu,accel");
    ck_assert_str_eq(tn_device_resolve("gpu"), "gpu:0");
    ck_assert_str_eq(tn_device_resolve("cpu"), "cpu:0");
    ck_assert_str_eq(tn_device_resolve("accel"), "accel:0");
    ck_assert_str_eq(tn_device_resolve(tn_device_resolve("gpu")), "gpu:0");
    ck_assert_str_eq(tn_device_resolve("host"), "host");
    ck_assert_ptr_eq(tn__device_find("gpu"), tn__device_find("gpu:0"));
}
END_TEST

START_TEST(C05_the_order_is_type_then_real_then_platform_then_the_drivers)
{
    static const char *const expected[][2] = {{"gpu:0", "Alpha"}, {"gpu:1", "Zeta"}, {"gpu:2", "Zeta"},   {"gpu:3", "a llvmpipe"},
                                              {"accel:0", "Beta"}, {"cpu:0", "Alpha"}, {"cpu:1", "Beta"}, {"host", ""}};
    NEEDS_FAKE();
    kit_fake("a llvmpipe=gpu;Zeta=gpu,gpu;Beta=cpu,accel;Alpha=cpu,gpu");
    setenv("FAKE_ALONE", "1", 1);
    ck_assert_int_eq(tn_device_count(NULL), 8);
    for (int i = 0; i < 8; i++) {
        tn_device_info info;
        ck_assert_str_eq(tn_device_name(i), expected[i][0]);
        ck_assert_int_eq(tn_device_query(expected[i][0], &info), TN_OK);
        ck_assert_str_eq(info.platform, expected[i][1]);
        ck_assert_int_eq(info.software, i == 3);
    }
    ck_assert_ptr_null(tn_device_name(8));
    ck_assert_ptr_null(tn_device_name(-1));
}
END_TEST

START_TEST(a_device_of_several_types_is_listed_once)
{
    NEEDS_FAKE();
    kit_fake("P=cpu+gpu+accel,cpu+accel");
    setenv("FAKE_ALONE", "1", 1);
    ck_assert_int_eq(tn_device_count("gpu"), 1);
    ck_assert_int_eq(tn_device_count("accel"), 1);
    ck_assert_int_eq(tn_device_count("cpu"), 0);
    ck_assert_int_eq(tn_device_count("host"), 1);
    ck_assert_int_eq(tn_device_count(NULL), 3);
}
END_TEST

START_TEST(C05_the_filter_looks_at_every_platform_and_device)
{
    tn_device_info info;
    NEEDS_FAKE();
    kit_fake("Intel=gpu;Intel(R) OpenCL=cpu;Other=cpu");
    setenv("FAKE_ALONE", "1", 1);
    tn_set("devices", "intel");
    ck_assert_int_eq(tn_device_query("cpu:0", &info), TN_OK);
    ck_assert_str_eq(info.platform, "Intel(R) OpenCL");
    ck_assert_int_eq(tn_device_count(NULL), 3);
    ck_assert_ptr_null(tn_device_resolve("cpu:1"));
    tn_shutdown();
    tn_set("devices", "fake dev");
    ck_assert_int_eq(tn_device_count("cpu"), 2);
    tn_shutdown();
    tn_set("devices", "nothing like it");
    ck_assert_int_eq(tn_device_count(NULL), 1);
    ck_assert_has(tn_device_trouble(), "nothing like it");
}
END_TEST

START_TEST(C03_an_absent_device_is_an_error_that_lists_what_exists)
{
    NEEDS_FAKE();
    kit_fake("P=cpu");
    setenv("FAKE_ALONE", "1", 1);
    ck_assert_ptr_null(tn_device_resolve("gpu:0"));
    ck_assert_int_eq(tn_last_status(), TN_DEVICE);
    ck_assert_has(tn_last_error(), "gpu:0");
    ck_assert_has(tn_last_error(), "cpu:0 (fake device, P)");
    ck_assert_has(tn_last_error(), "host");
    ck_assert_has(tn_last_error(), "Debian");
    ck_assert_ptr_null(tn__device_use("cpu:1"));
    ck_assert_has(tn_last_error(), "called \"host\"");
}
END_TEST

/* ---- platforms ---- */

START_TEST(C01_a_platform_without_devices_hides_nobody)
{
    NEEDS_FAKE();
    kit_fake("Empty=;Bad=!-6;Good=cpu");
    ck_assert_int_ge(tn_device_count("cpu"), 1);
    ck_assert_str_eq(tn_device_resolve("cpu:0"), "cpu:0");
    ck_assert_str_eq(tn_device_trouble(), "");
    ck_assert_ptr_null(tn_device_resolve("accel:0"));
    ck_assert_has(tn_last_error(), "platform Empty has no device");
    ck_assert_has(tn_last_error(), "platform Bad: clGetDeviceIDs gives -6");
}
END_TEST

START_TEST(C02_without_a_platform_host_works_and_the_error_says_what_to_install)
{
    NEEDS_FAKE();
    kit_fake("");
    setenv("FAKE_FAIL", "clGetPlatformIDs:-1001", 1);
    tn__buffer *buffer = tn__buffer_new(kit_use("host"), 8);
    ck_assert_ptr_nonnull(buffer);
    tn__buffer_release(buffer);
    ck_assert_ptr_null(tn__device_use("gpu:0"));
    ck_assert_int_eq(tn_last_status(), TN_DEVICE);
    ck_assert_has(tn_last_error(), "no OpenCL platform is installed");
    ck_assert_has(tn_last_error(), "pocl-opencl-icd");
    ck_assert_str_eq(tn_device_resolve("auto"), "host");
    unsetenv("FAKE_FAIL"); /* the answer stays until tn_shutdown */
    ck_assert_ptr_null(tn__device_use("gpu:0"));
}
END_TEST

START_TEST(C12_a_library_without_an_entry_point_is_that_devices_error)
{
    tn_device_info info;
    NEEDS_FAKE();
    tn_set("opencl", OLD_ICD);
    ck_assert_int_eq(tn_device_query("cpu:0", &info), TN_OK);
    ck_assert(info.usable);
    ck_assert_ptr_null(tn__device_use("cpu:0"));
    ck_assert_int_eq(tn_last_status(), TN_DEVICE);
    ck_assert_has(tn_last_error(), "clCreateContext");
    ck_assert_int_eq(tn_device_query("cpu:0", &info), TN_OK);
    ck_assert(!info.usable);
    ck_assert_str_eq(tn_device_resolve("auto"), "host");
}
END_TEST

START_TEST(C12_without_an_OpenCL_library_host_works)
{
    NEEDS_FAKE();
    tn_set("opencl", "/nowhere/libOpenCL.so");
    ck_assert_int_eq(tn_device_count(NULL), 1);
    ck_assert_has(tn_device_trouble(), "/nowhere/libOpenCL.so cannot be opened");
    ck_assert_str_eq(tn_device_resolve("auto"), "host");
}
END_TEST

START_TEST(C10_none_never_opens_a_library)
{
    tn_set("opencl", "none");
    ck_assert_int_eq(tn_device_count(NULL), 1);
    ck_assert_has(tn_device_trouble(), "TENON_OPENCL=none");
    ck_assert_ptr_null(tn_device_resolve("cpu:0"));
    ck_assert_int_eq(tn_last_status(), TN_DEVICE);
}
END_TEST

/* ---- auto ---- */

START_TEST(auto_is_never_a_software_renderer)
{
    NEEDS_FAKE();
    kit_fake("llvmpipe=gpu");
    setenv("FAKE_ALONE", "1", 1);
    ck_assert(!tn_gpu_is_available());
    ck_assert_str_eq(tn_device_resolve("auto"), "host");
    ck_assert_str_eq(tn_device_resolve("gpu:0"), "gpu:0");
}
END_TEST

START_TEST(C03_auto_says_once_what_it_fell_back_to)
{
    NEEDS_FAKE();
    kit_fake("Broken=gpu");
    setenv("FAKE_ALONE", "1", 1);
    ck_assert(tn_gpu_is_available());
    for (int i = 0; i < 3; i++) ck_assert_str_eq(tn_device_resolve("auto"), "host");
    ck_assert_int_eq(kit_log_count("auto is host"), 1);
    ck_assert_int_eq(kit_log_count("auto passes over gpu:0"), 1);
    ck_assert(!tn_gpu_is_available()); /* it is known to be broken now */
    ck_assert_int_eq(tn_last_status(), TN_OK);
}
END_TEST

START_TEST(TENON_DEVICE_redefines_auto_and_nothing_else)
{
    NEEDS_FAKE();
    kit_fake("P=gpu,cpu");
    setenv("FAKE_ALONE", "1", 1);
    tn_set("device", "host");
    ck_assert_str_eq(tn_device_resolve("auto"), "host");
    ck_assert_str_eq(tn_device_resolve("gpu"), "gpu:0");
    ck_assert_str_eq(tn_device_current(), "host");
    tn_shutdown();
    tn_set("device", "cpu:7");
    ck_assert_ptr_null(tn_device_resolve("auto"));
    ck_assert_int_eq(tn_last_status(), TN_DEVICE);
    ck_assert_has(tn_last_error(), "TENON_DEVICE");
}
END_TEST

/* ---- faults ---- */

START_TEST(C04_a_driver_that_cannot_open_hurts_nobody_else)
{
    tn_device_info info;
    NEEDS_REAL_BEHIND_FAKE();
    kit_fake("Broken=cpu,gpu");
    ck_assert_int_eq(tn_device_query("cpu:0", &info), TN_OK);
    ck_assert_str_eq(info.platform, "Broken");
    ck_assert_ptr_null(tn__device_use("cpu:0"));
    ck_assert_int_eq(tn_last_status(), TN_DEVICE);
    ck_assert_has(tn_last_error(), "clCreateContext gives -6 (CL_OUT_OF_HOST_MEMORY)");
    ck_assert_int_eq(tn_device_query("cpu:0", &info), TN_OK);
    ck_assert(!info.usable);
    ck_assert_has(info.error, "-6");
    const char *good = strcmp(kit_device(), "gpu:0") == 0 ? "gpu:1" : "cpu:1";
    ck_assert_int_eq(kit_add(kit_use(good), 1), TN_OK);
}
END_TEST

START_TEST(C73_a_compiler_that_fails_makes_the_device_unusable_with_its_log)
{
    tn_device_info info;
    NEEDS_REAL_BEHIND_FAKE();
    kit_fake("");
    tn_set("cache_dir", "");
    setenv("FAKE_FAIL", "clBuildProgram:-11", 1);
    setenv("FAKE_LOG", "error: unknown target CPU 'generic'\n", 1);
    ck_assert_int_eq(tn_device_probe(kit_device()), TN_COMPILE);
    ck_assert_has(tn_last_error(), "unknown target CPU 'generic'");
    ck_assert_int_eq(tn_device_query(kit_device(), &info), TN_OK);
    ck_assert(!info.usable);
    ck_assert_has(info.error, "unknown target CPU");
    tn_clear_error();
    ck_assert_str_eq(tn_device_resolve("auto"), "host");
    ck_assert_int_eq(tn_last_status(), TN_OK);
    ck_assert_int_eq(kit_log_count("auto is host"), 1);
    ck_assert_ptr_null(tn__device_use(kit_device())); /* no second try, no fall-back */
    ck_assert_int_eq(tn_last_status(), TN_COMPILE);
}
END_TEST

START_TEST(C63_a_device_error_is_kept_as_the_first_cause)
{
    static const int codes[] = {-5, -14, -36, -9999};
    NEEDS_REAL_BEHIND_FAKE();
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        char fail[32], cause[32];
        tn_shutdown();
        kit_fake("");
        tn__device *device = kit_use(kit_device());
        snprintf(fail, sizeof fail, "clFinish:%d", codes[i]);
        snprintf(cause, sizeof cause, "clFinish gives %d", codes[i]);
        ck_assert_int_eq(kit_add(device, 1), TN_OK);
        setenv("FAKE_FAIL", fail, 1);
        ck_assert_int_eq(tn__device_finish(device), TN_LOST);
        ck_assert_has(tn_last_error(), cause);
        ck_assert_has(tn_last_error(), "add");
        unsetenv("FAKE_FAIL");
        ck_assert_int_eq(kit_add(device, 1), TN_LOST);
        ck_assert_has(tn_last_error(), cause);
        ck_assert_ptr_null(tn__device_use(kit_device()));
        ck_assert_int_eq(tn_last_status(), TN_LOST);
        ck_assert_int_eq(kit_log_count(cause), 1);
    }
    tn_shutdown(); /* starts anew */
    ck_assert_int_eq(kit_add(kit_use(kit_device()), 1), TN_OK);
}
END_TEST

START_TEST(C63_lack_of_memory_at_an_enqueue_loses_nothing)
{
    static const int codes[] = {-4, -5, -6};
    NEEDS_REAL_BEHIND_FAKE();
    kit_fake("");
    tn__device *device = kit_use(kit_device());
    ck_assert_int_eq(kit_add(device, 1), TN_OK);
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        char fail[40];
        snprintf(fail, sizeof fail, "clEnqueueNDRangeKernel:%d:1", codes[i]);
        setenv("FAKE_FAIL", fail, 1);
        ck_assert_int_eq(kit_add(device, 1), TN_MEMORY);
        ck_assert_int_eq(kit_add(device, 2), TN_OK);
    }
    setenv("FAKE_FAIL", "clEnqueueNDRangeKernel:-5,clFinish:-5", 1); /* a fault that came to light here */
    ck_assert_int_eq(kit_add(device, 1), TN_LOST);
}
END_TEST

START_TEST(C22_a_small_work_group_is_enough)
{
    static const char *const sizes[] = {"1", "3", "17"};
    NEEDS_REAL_BEHIND_FAKE();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        tn_shutdown();
        kit_fake("");
        tn_set("profile", "wide");
        setenv("FAKE_GROUP", sizes[i], 1);
        tn__device *device = kit_use(kit_device());
        ck_assert_int_eq(device->profile, TN__WIDE);
        tn__kernel *kernel = tn__kernel_get(device, kit_add_text, strlen(kit_add_text), "add");
        ck_assert_ptr_nonnull(kernel);
        ck_assert_uint_le(tn__kernel_max_group(kernel), strtoul(sizes[i], NULL, 10));
    }
}
END_TEST

START_TEST(the_profile_follows_the_type_unless_forced)
{
    tn_device_info info;
    NEEDS_FAKE();
    kit_fake("P=gpu,cpu");
    setenv("FAKE_ALONE", "1", 1);
    ck_assert_int_eq(tn_device_query("gpu:0", &info), TN_OK);
    ck_assert_str_eq(info.profile, "wide");
    ck_assert_int_eq(tn_device_query("cpu:0", &info), TN_OK);
    ck_assert_str_eq(info.profile, "deep");
    tn_shutdown();
    tn_set("profile", "wide");
    ck_assert_int_eq(tn_device_query("cpu:0", &info), TN_OK);
    ck_assert_str_eq(info.profile, "wide");
    if (strcmp(kit_device(), "host") == 0) return;
    kit_begin(); /* settings count from the first use on */
    tn_device_count(NULL);
    tn_set("profile", "wide");
    ck_assert_int_eq(kit_use(kit_device())->profile, TN__WIDE);
}
END_TEST

START_TEST(C07_a_device_is_judged_by_what_it_offers_not_by_its_name)
{
    tn_device_info info;
    NEEDS_FAKE();
    kit_fake("rusticl=gpu;Unheard Of=cpu");
    setenv("FAKE_ALONE", "1", 1);
    ck_assert_int_eq(tn_device_query("gpu:0", &info), TN_OK);
    ck_assert(info.usable);
    ck_assert_int_eq(tn_device_query("cpu:0", &info), TN_OK);
    ck_assert(info.usable);
    tn_shutdown();
    setenv("FAKE_C", "OpenCL C 1.1", 1);
    ck_assert_ptr_null(tn__device_use("gpu:0"));
    ck_assert_has(tn_last_error(), "does not offer OpenCL 1.2");
    ck_assert_int_eq(tn_device_query("gpu:0", &info), TN_OK);
    ck_assert(!info.usable);
}
END_TEST

/* ---- the rest of the interface ---- */

START_TEST(the_device_under_test_computes)
{
    tn_device_info info;
    NEEDS_OPENCL();
    ck_assert_int_eq(tn_device_probe(kit_device()), TN_OK);
    ck_assert_int_eq(tn_device_probe(kit_device()), TN_OK);
    ck_assert_int_eq(kit_add(kit_use(kit_device()), 3), TN_OK);
    ck_assert_int_eq(tn_device_query(kit_device(), &info), TN_OK);
    ck_assert(info.usable && !info.error && *info.platform && *info.driver && *info.version && *info.c_version);
    ck_assert_uint_gt(info.memory_total, 0);
    ck_assert_uint_ge(info.launches, 1);
    if (kit_is("oclgrind")) ck_assert_str_eq(info.platform, "Oclgrind");
}
END_TEST

START_TEST(a_creation_scope_belongs_to_its_thread_and_nests)
{
    ck_assert_str_eq(tn_device_current(), "host");
    ck_assert_int_eq(tn_device_pop(), TN_ARGUMENT);
    ck_assert_int_eq(tn_device_push("host"), TN_OK);
    if (strcmp(kit_device(), "host") != 0) {
        ck_assert_int_eq(tn_device_push(kit_device()), TN_OK);
        ck_assert_str_eq(tn_device_current(), kit_device());
        ck_assert_str_eq(tn__device_for_creation(NULL)->name, kit_device());
        ck_assert_int_eq(tn_device_pop(), TN_OK);
    }
    ck_assert_int_eq(tn_device_push("cpu:77"), TN_DEVICE);
    ck_assert_int_eq(tn_device_pop(), TN_OK);
    ck_assert_int_eq(tn_device_pop(), TN_ARGUMENT);
}
END_TEST

START_TEST(settings_refuse_what_they_do_not_take)
{
    ck_assert_int_eq(tn_set("colour", "red"), TN_ARGUMENT);
    ck_assert_int_eq(tn_set("eager", "maybe"), TN_ARGUMENT);
    ck_assert_int_eq(tn_set("profile", "narrow"), TN_ARGUMENT);
    ck_assert_int_eq(tn_set("memory_limit", "12Q"), TN_ARGUMENT);
    ck_assert_int_eq(tn_set("memory_limit", "99999999999999999999"), TN_ARGUMENT);
    ck_assert_int_eq(tn_set("memory_limit", "64M"), TN_OK);
    ck_assert_str_eq(tn_get("memory_limit"), "64M");
    ck_assert_int_eq(tn_set("memory_limit", NULL), TN_OK);
    ck_assert_str_eq(tn_get("memory_limit"), "");
    ck_assert_ptr_null(tn_get("colour"));
}
END_TEST

START_TEST(C11_a_missing_kernel_folder_is_named_by_its_whole_path)
{
    size_t length;
    tn_set("kernel_dir", "no/such/folder");
    ck_assert_ptr_null(tn__kernel_source("x.cl", &length));
    ck_assert_int_eq(tn_last_status(), TN_FILE);
    ck_assert_has(tn_last_error(), " /");
    ck_assert_has(tn_last_error(), "/no/such/folder/x.cl");
}
END_TEST

int main(int argc, char **argv)
{
    const TTest *const tests[] = {
        C05_a_malformed_name_is_an_argument_error_that_quotes_it,
        C08_a_name_without_number_means_number_0,
        C05_the_order_is_type_then_real_then_platform_then_the_drivers,
        a_device_of_several_types_is_listed_once,
        C05_the_filter_looks_at_every_platform_and_device,
        C03_an_absent_device_is_an_error_that_lists_what_exists,
        C01_a_platform_without_devices_hides_nobody,
        C02_without_a_platform_host_works_and_the_error_says_what_to_install,
        C12_a_library_without_an_entry_point_is_that_devices_error,
        C12_without_an_OpenCL_library_host_works,
        C10_none_never_opens_a_library,
        auto_is_never_a_software_renderer,
        C03_auto_says_once_what_it_fell_back_to,
        TENON_DEVICE_redefines_auto_and_nothing_else,
        C04_a_driver_that_cannot_open_hurts_nobody_else,
        C73_a_compiler_that_fails_makes_the_device_unusable_with_its_log,
        C63_a_device_error_is_kept_as_the_first_cause,
        C63_lack_of_memory_at_an_enqueue_loses_nothing,
        C22_a_small_work_group_is_enough,
        C07_a_device_is_judged_by_what_it_offers_not_by_its_name,
        the_profile_follows_the_type_unless_forced,
        the_device_under_test_computes,
        a_creation_scope_belongs_to_its_thread_and_nests,
        settings_refuse_what_they_do_not_take,
        C11_a_missing_kernel_folder_is_named_by_its_whole_path,
    };
    return kit_main(argc, argv, "device", tests, sizeof tests / sizeof *tests, NULL);
}
