/* What the driver is given - calls, program texts, options, arguments - seen from outside by tests/preload/observe_calls.c, behind which
 * this program starts itself again. How many kernels an expression starts is the suite launches. */
#define _GNU_SOURCE
#include "bones.h"

#include "observer.h"

/* The statement makes the driver start so many kernels; the library counts the same. */
#define ck_outside(count, statement)                                                                            \
    do {                                                                                                        \
        const uint64_t inside_ = bones_launches();                                                              \
        outside_forget();                                                                                       \
        statement;                                                                                              \
        const uint64_t seen_ = outside_calls("launches");                                                       \
        ck_assert_msg(seen_ == (count), "%s: %d launches instead of %d", #statement, (int)seen_, (int)(count)); \
        ck_assert_uint_eq(bones_launches() - inside_, seen_);                                                   \
    } while (0)

static tn_tensor *stored(tn_tensor *x)
{
    bones_run(ck_made(x));
    return x;
}

/* ---- an optimizer ---- */

enum { PARAMETERS = 20 };

/* Elements of parameter i: vectors, matrices, kernels of a convolution, a number. */
static tn_shape shape_of(int i)
{
    switch (i % 5) {
    case 0: return TN_SHAPE(7 + 3 * i);
    case 1: return TN_SHAPE(10 + i, 64);
    case 2: return TN_SHAPE(i, 3, 3, 3);
    case 3: return TN_SHAPE(1);
    default: return TN_SHAPE(129, 5 + i);
    }
}

/* One step of Adam for one parameter: moments and parameter are assigned, nothing runs. */
static void adam(tn_tensor *p, tn_tensor *m, tn_tensor *v, tn_tensor *g)
{
    ck_ok(tn_assign(m, tn_add(tn_mul(m, tn_float(0.9)), tn_mul(g, tn_float(0.1)))));
    ck_ok(tn_assign(v, tn_add(tn_mul(v, tn_float(0.999)), tn_mul(tn_mul(g, g), tn_float(0.001)))));
    ck_ok(tn_assign(p, tn_sub(p, tn_div(tn_mul(m, tn_float(0.01)), tn_add(tn_sqrt(v), tn_float(1e-8))))));
}

START_TEST(bone_10_an_adam_update_of_20_tensors_of_different_shapes_is_one_launch)
{
    tn_tensor *p[PARAMETERS], *m[PARAMETERS], *v[PARAMETERS], *g[PARAMETERS];
    for (int i = 0; i < PARAMETERS; i++) {
        p[i] = stored(tn_randn(TN_F32, shape_of(i), test_device()));
        m[i] = stored(tn_add(tn_zeros(TN_F32, shape_of(i), test_device()), tn_float(0)));
        v[i] = stored(tn_add(tn_zeros(TN_F32, shape_of(i), test_device()), tn_float(0)));
        g[i] = stored(tn_randn(TN_F32, shape_of(i), test_device()));
    }
    tn_tensor *before = tn_host(p[4]), *gradient = tn_host(g[4]);
    for (int i = 0; i < PARAMETERS; i++) adam(p[i], m[i], v[i], g[i]);
    ck_outside(1, ck_ok(tn_realize(p, PARAMETERS)));
    ck_outside(0, ck_ok(tn_realize(m, PARAMETERS)));
    ck_outside(0, ck_ok(tn_realize(v, PARAMETERS)));
    tn_tensor *hm = tn_mul(gradient, tn_float(0.1)), *hv = tn_mul(tn_mul(gradient, gradient), tn_float(0.001));
    tn_tensor *want = tn_sub(before, tn_div(tn_mul(hm, tn_float(0.01)), tn_add(tn_sqrt(hv), tn_float(1e-8))));
    ck_tensor_bool(tn_lt(tn_max(tn_abs(tn_sub(tn_host(p[4]), want)), TN_ALL_AXES, false), tn_float(1e-5)), {1});
    for (int i = 0; i < PARAMETERS; i++) adam(p[i], m[i], v[i], g[i]);
    ck_outside(1, ck_ok(tn_finish(test_device()))); /* however it is asked for */
}
END_TEST

START_TEST(bone_10_a_plain_gradient_step_of_20_tensors_is_one_launch)
{
    tn_tensor *p[PARAMETERS], *g[PARAMETERS], *old[PARAMETERS];
    for (int i = 0; i < PARAMETERS; i++) {
        p[i] = stored(tn_randn(TN_F32, shape_of(i), test_device()));
        g[i] = stored(tn_randn(TN_F32, shape_of(i), test_device()));
        old[i] = tn_host(p[i]);
    }
    for (int i = 0; i < PARAMETERS; i++) ck_ok(tn_assign(p[i], tn_sub(p[i], tn_mul(g[i], tn_float(0.5)))));
    ck_outside(1, ck_ok(tn_realize(p, PARAMETERS)));
    for (int i = 0; i < PARAMETERS; i++) ck_same(tn_host(p[i]), tn_sub(old[i], tn_mul(tn_host(g[i]), tn_float(0.5))));
}
END_TEST

/* ---- small things that must cost nothing ---- */

START_TEST(reading_what_is_stored_starts_no_kernel)
{
    float out[12];
    tn_tensor *x = stored(tn_reshape(tn_arange(TN_F32, 0, 12, 1, test_device()), TN_SHAPE(3, 4)));
    ck_outside(0, ck_ok(tn_read(x, out, sizeof out)));
    ck_assert_uint_eq(outside_calls("clEnqueueReadBuffer"), 1);
    ck_outside(0, ck_ok(tn_read(tn_select(x, 0, 1), out, 16))); /* a gapless part */
    ck_assert(out[0] == 4);
    ck_outside(0, ck_made(tn_host(tn_transpose(x, 0, 1)))); /* the layout travels along */
    ck_outside(1, ck_ok(tn_read(tn_transpose(x, 0, 1), out, sizeof out)));
}
END_TEST

START_TEST(views_copies_of_references_and_questions_call_nothing)
{
    tn_tensor *x = stored(tn_ones(TN_F32, TN_SHAPE(4, 4), test_device()));
    ck_ok(tn_finish(test_device()));
    outside_forget();
    tn_tensor *y = tn_slice(tn_transpose(tn_reshape(x, TN_SHAPE(2, 8)), 0, 1), 0, 1, 5, 2);
    ck_made(tn_to(y, test_device()));
    ck_made(tn_contiguous(x));
    ck_made(tn_cast(x, TN_F32));
    ck_assert(!tn_is_pending(y) && tn_nbytes(y) == 16);
    (void)bones_info(test_device());
    static const char *const calls[] = {
        "launches", "clEnqueueReadBuffer", "clEnqueueWriteBuffer", "clEnqueueCopyBuffer", "clCreateBuffer",
        "clFinish", "clGetPlatformIDs"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) ck_assert_msg(outside_calls(calls[i]) == 0, "%s", calls[i]);
}
END_TEST

START_TEST(sizes_of_0_never_reach_OpenCL)
{
    tn_tensor *x = ck_made(tn_zeros(TN_F32, TN_SHAPE(0, 4), test_device()));
    ck_ok(tn_finish(test_device()));
    outside_forget();
    bones_run(tn_exp(tn_add(x, x)));
    bones_run(tn_softmax(x, 1));
    bones_run(tn_max(x, TN_AXES(1), false));
    ck_ok(tn_assign(x, tn_int(1)));
    ck_ok(tn_write(x, NULL, 0));
    ck_made(tn_host(x));
    ck_assert_uint_eq(outside_calls("launches") + outside_calls("clCreateBuffer") + outside_calls("clEnqueueReadBuffer"), 0);
    ck_tensor_f32(tn_sum(x, TN_AXES(0), false), {0, 0, 0, 0});
}
END_TEST

START_TEST(C18_no_view_is_ever_a_sub_buffer)
{
    tn_tensor *x = stored(tn_arange(TN_F32, 0, 10, 1, test_device()));
    outside_forget();
    ck_tensor_f32(tn_add(tn_slice(tn_slice(x, 0, 1, 5, 1), 0, 1, 3, 1), tn_int(0)), {2, 3});
    ck_ok(tn_assign(tn_slice(x, 0, 3, 7, 1), tn_slice(x, 0, 2, 6, 1)));
    ck_tensor_f32(tn_sum(tn_slice(x, 0, 1, TN_END, 3), TN_ALL_AXES, false), {1 + 3 + 7});
    ck_assert_uint_eq(outside_calls("clCreateSubBuffer"), 0);
}
END_TEST

START_TEST(C89_kernel_objects_are_made_once)
{
    tn_tensor *x = stored(tn_ones(TN_F32, TN_SHAPE(100, 100), test_device())), *one = tn_int(1);
    bones_run(tn_add(x, one));
    outside_forget();
    for (int i = 0; i < 200; i++) {
        tn_tensor *y = tn_add(x, one);
        bones_run(y);
        tn_release(y);
    }
    ck_assert_uint_eq(outside_calls("launches"), 200);
    ck_assert_uint_eq(outside_calls("clCreateKernel") + outside_calls("clCreateProgramWithSource") +
                          outside_calls("clCreateProgramWithBinary"),
                      0);
    ck_assert_uint_le(outside_calls("clCreateBuffer"), 4); /* the freed ones come again */
    ck_assert_uint_eq(outside_calls("clFinish"), 0);       /* nobody asked to wait */
}
END_TEST

START_TEST(only_plain_kernel_launches_are_used)
{
    tn_tensor *x = stored(tn_randn(TN_F32, TN_SHAPE(33, 17), test_device()));
    outside_forget();
    bones_run(tn_softmax(tn_matmul(x, tn_transpose(x, 0, 1)), 0));
    ck_assert_uint_gt(outside_calls("launches"), 0);
    ck_assert_uint_eq(outside_calls("clEnqueueTask") + outside_calls("clEnqueueNativeKernel"), 0);
}
END_TEST

START_TEST(bone_01_queries_only_enumerate)
{
    (void)tn_scope_pop(bones_scope);
    ck_ok(tn_shutdown());
    outside_forget();
    ck_assert_int_ge(tn_device_count(NULL), 2);
    tn_device_info info;
    ck_ok(tn_device_query(test_device(), &info));
    ck_assert_uint_eq(outside_calls("clCreateContext") + outside_calls("clCreateBuffer") + outside_calls("clBuildProgram"), 0);
    ck_assert_uint_eq(outside_calls("clGetPlatformIDs") > 0, 1);
    bones_push();
    (void)stored(tn_ones(TN_F32, TN_SHAPE(1), test_device()));
    ck_assert_uint_eq(outside_calls("clCreateContext"), 1);
}
END_TEST

/* ---- what is compiled ---- */

/* With an empty program cache, everything that the statement needs is compiled and its text seen here. */
static void compile_anew(void)
{
    (void)tn_scope_pop(bones_scope);
    ck_ok(tn_shutdown());
    ck_ok(tn_set("cache_dir", ""));
    bones_push();
    outside_forget();
}

static void use_cache_again(void)
{
    (void)tn_scope_pop(bones_scope);
    ck_ok(tn_shutdown());
    ck_ok(tn_set("cache_dir", NULL));
    bones_push();
}

/* A bit of every kind of kernel in f32. */
static void run_some(void)
{
    tn_tensor *x = tn_reshape(tn_arange(TN_F32, 0, 64, 1, test_device()), TN_SHAPE(8, 8)),
              *y = tn_erf(tn_pow(tn_add(x, tn_float(0.5)), tn_float(1.5)));
    bones_run(tn_softmax(tn_matmul(y, tn_gelu(x)), 1));
    bones_run(tn_sum(tn_remainder(tn_rand(TN_F32, TN_SHAPE(100), test_device()), tn_float(0.3)), TN_ALL_AXES, false));
    bones_run(tn_cast(tn_cast(tn_argmax(tn_tanh(x), TN_AXES(0), false), TN_F16), TN_F32));
}

START_TEST(C31_no_option_allows_fast_maths_and_nothing_contracts)
{
    static const char *const never[] = {"-cl-fast-relaxed-math",
                                        "-cl-finite-math-only",
                                        "-cl-unsafe-math-optimizations",
                                        "-cl-mad-enable",
                                        "-cl-no-signed-zeros",
                                        "-cl-denorms-are-zero",
                                        "-I"};
    compile_anew();
    run_some();
    const char *sources = outside_sources();
    ck_assert_uint_gt(outside_calls("clBuildProgram"), 3);
    for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
        char word[64];
        snprintf(word, sizeof word, " %s", never[i]);
        ck_assert_msg(!strstr(sources, word), "%s", never[i]);
    }
    ck_has(sources, "-cl-std=CL1.2");
    ck_has(sources, "#pragma OPENCL FP_CONTRACT OFF");
    use_cache_again();
}
END_TEST

/* Is the name behind "#ifdef " never defined in the text? */
static bool undefined(const char *text, const char *name)
{
    char define[80];
    snprintf(define, sizeof define, "#define %.*s", (int)strcspn(name, " \n"), name);
    return !strstr(text, define);
}

/* What is compiled of a text: without what stands behind an #ifdef that is not met, comments, and macro definitions. */
static char *without_guarded(const char *text)
{
    char *out = malloc(strlen(text) + 1), *to = out;
    int depth = 0, guard = 0;
    bool more = false, comment = false; /* of a directive, of the same kind */
    for (const char *line = text; *line;) {
        const char *end = strchr(line, '\n'), *word = line + strspn(line, " ");
        const size_t length = end ? (size_t)(end - line) + 1 : strlen(line);
        const bool directive = more || *word == '#';
        if (!more && strncmp(word, "#if", 3) == 0) {
            depth++;
            if (!guard && strncmp(word, "#ifdef ", 7) == 0 && undefined(text, word + 7)) guard = depth;
        }
        if (!more && guard == depth && (strncmp(word, "#endif", 6) == 0 || strncmp(word, "#else", 5) == 0)) guard = 0;
        if (!more && strncmp(word, "#endif", 6) == 0) depth--;
        more = directive && length >= 2 && line[length - 2] == '\\';
        comment = comment || strncmp(word, "/*", 2) == 0;
        if (!directive && !comment && !guard) {
            memcpy(to, line, length);
            to += length;
        }
        if (comment && memmem(line, length, "*/", 2)) comment = false;
        line += length;
    }
    *to = '\0';
    return out;
}

START_TEST(C65_programs_for_f32_contain_no_double)
{
    compile_anew();
    run_some();
    const char *sources = outside_sources();
    ck_assert_uint_gt(strlen(sources), 10000);
    ck_assert_msg(!strstr(sources, "#define USES_DOUBLE"), "a program for f32 uses double");
    char *compiled = without_guarded(sources), *word = strstr(compiled, "double");
    if (word) word[60] = '\0';
    char line[80];
    snprintf(line, sizeof line, "%s", word ? word : "");
    free(compiled);
    ck_assert_msg(!word, "\"%s\"", line);
    if (test_has_f64()) {
        bones_run(tn_add(test_f64(TN_SHAPE(1), {1}), tn_float(0.1)));
        ck_has(outside_sources(), "#define USES_DOUBLE"); /* the word looked for is the right one */
    }
    use_cache_again();
}
END_TEST

START_TEST(C74_kernels_take_fixed_width_arguments_only)
{
    compile_anew();
    run_some();
    ck_assert_uint_gt(outside_calls("clSetKernelArg"), 10);
    ck_assert_uint_eq(outside_calls("odd arguments"), 0); /* than 4 and 8 bytes, or local memory */
    use_cache_again();
}
END_TEST

/* The same in each life. */
static void live(void)
{
    tn_tensor *y = tn_mul(tn_add(tn_ones(TN_F32, TN_SHAPE(3), test_device()), tn_float(0.5)), tn_int(3));
    ck_tensor_f32(y, {4.5f, 4.5f, 4.5f});
}

START_TEST(bone_14_a_second_life_builds_from_binaries)
{
    live();
    (void)tn_scope_pop(bones_scope);
    ck_ok(tn_shutdown());
    bones_push();
    outside_forget();
    live();
    ck_assert_uint_eq(outside_calls("clCreateProgramWithSource"), 0);
    ck_assert_uint_gt(outside_calls("clCreateProgramWithBinary"), 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        bone_10_an_adam_update_of_20_tensors_of_different_shapes_is_one_launch,
        bone_10_a_plain_gradient_step_of_20_tensors_is_one_launch,
        reading_what_is_stored_starts_no_kernel,
        views_copies_of_references_and_questions_call_nothing,
        sizes_of_0_never_reach_OpenCL,
        C18_no_view_is_ever_a_sub_buffer,
        C89_kernel_objects_are_made_once,
        only_plain_kernel_launches_are_used,
        bone_01_queries_only_enumerate,
        C31_no_option_allows_fast_maths_and_nothing_contracts,
        C65_programs_for_f32_contain_no_double,
        C74_kernels_take_fixed_width_arguments_only,
        bone_14_a_second_life_builds_from_binaries,
    };
    const int status = observe("test_driver_calls");
    if (status) return status;
    return test_run("driver_calls", bones_push_at_once, bones_pop, tests, (int)(sizeof tests / sizeof tests[0]));
}
