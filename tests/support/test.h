/* What every suite starts from: Check, a main that counts, a watchdog, and assertions on tensors.
 *
 *   #include "support/test.h"
 *
 *   START_TEST(a_test_is_a_sentence)
 *   {
 *       tn_tensor *x = test_f32(TN_SHAPE(3), {1, 2, 3}), *y = tn_neg(x);
 *       ck_tensor_f32(y, {-1, -2, -3});
 *       ck_fails(tn_reshape(x, TN_SHAPE(2)), TN_SHAPE, "3 elements", "[2]");
 *       tn_release(y);
 *       tn_release(x);
 *   }
 *   END_TEST
 *
 *   TN_SUITE(name, a_test_is_a_sentence, another_one)
 *
 * TENON_TEST_ONLY=part runs the tests whose names contain this. All run in this process, one after the other. A test that leaves handles or scopes behind fails, one that takes too long
 * ends the program with its name. At the end stands "TENON-CASES suite=… device=… passed=… skipped=… programs=…", the last
 * one the programs built on the device. TENON_TEST_TRACE=1 tells each test's programs on standard error. */
#ifndef TEST_H
#define TEST_H

#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

/* ---- where and how ---- */

/* The device under test, TENON_TEST_DEVICE; "host" by default. */
const char *test_device(void);
/* The configuration of tests/configurations.cmake, TENON_TEST_CONFIG; the device when there is none. */
const char *test_config(void);
/* Is this the configuration, or the device? test_is("host"), test_is("rusticl-deep") */
bool test_is(const char *config_or_device);
/* The device under test computes in f64. */
bool test_has_f64(void);
/* TENON_TEST_LONG=1: everything, without regard to time; not under a sanitizer. */
bool test_long(void);
/* Whether a sanitizer watches: everything takes several times as long then. */
#if defined(__SANITIZE_ADDRESS__)
enum { TEST_ASAN = 1, TEST_TSAN = 0 };
#elif defined(__SANITIZE_THREAD__)
enum { TEST_ASAN = 0, TEST_TSAN = 1 };
#else
enum { TEST_ASAN = 0, TEST_TSAN = 0 };
#endif
enum { TEST_SANITIZED = TEST_ASAN || TEST_TSAN };
/* Case i of a list is for this configuration: on host and on a machine's own drivers all are. Elsewhere each n-th
 * is, and each 2 n-th where a device has the kernels made for another, in every configuration others (in the long run PoCL takes all,
 * the others eight times as many): a kernel costs PoCL 0.1 s. With n = 1 only devices with the kernels made for another share. */
bool test_takes(int i, int n);
/* TENON_TEST_SEED, else the one given. */
uint64_t test_seed(uint64_t otherwise);
/* Name of the running test; "" between tests. */
const char *test_name(void);

/* ---- counting ---- */

/* A test counts as one case, unless it counts cases of its own. Each starts the watchdog's time anew. */
void test_case_passed(void);
/* So many cases that cannot be had here, and why. */
void test_cases_skipped(int count, const char *reason);

/* Leaves the test, which counts as skipped, with a reason. */
#define TN_SKIP(reason)       \
    do {                      \
        test_skipped(reason); \
        return;               \
    } while (0)
#define TN_SKIP_IF(condition, reason)   \
    do {                                \
        if (condition) TN_SKIP(reason); \
    } while (0)
/* Leaves a test whose kernels are for another configuration (test_takes). */
#define TN_SHARED(i, n) TN_SKIP_IF(!test_takes(i, n), "shared out: another device runs it, and --all all of them")
#define NEEDS_OPENCL() TN_SKIP_IF(strcmp(test_device(), "host") == 0, "needs an OpenCL device")
#define NEEDS_F64() TN_SKIP_IF(!test_has_f64(), "the device has no f64")
void test_skipped(const char *reason);

/* ---- tensors on the device under test ---- */

/* From literals: test_f32(TN_SHAPE(2, 2), {1, 2, 3, 4}). */
#define test_f32(shape, ...) test_tensor_of(TN_F32, shape, TEST_LIST(float, __VA_ARGS__), __FILE__, __LINE__)
#define test_f64(shape, ...) test_tensor_of(TN_F64, shape, TEST_LIST(double, __VA_ARGS__), __FILE__, __LINE__)
#define test_i32(shape, ...) test_tensor_of(TN_I32, shape, TEST_LIST(int32_t, __VA_ARGS__), __FILE__, __LINE__)
#define test_i64(shape, ...) test_tensor_of(TN_I64, shape, TEST_LIST(int64_t, __VA_ARGS__), __FILE__, __LINE__)
#define test_u8(shape, ...) test_tensor_of(TN_U8, shape, TEST_LIST(uint8_t, __VA_ARGS__), __FILE__, __LINE__)
#define test_u32(shape, ...) test_tensor_of(TN_U32, shape, TEST_LIST(uint32_t, __VA_ARGS__), __FILE__, __LINE__)
#define test_bool(shape, ...) test_tensor_of(TN_BOOL, shape, TEST_LIST(uint8_t, __VA_ARGS__), __FILE__, __LINE__)
/* Of any dtype, from numbers: test_values(TN_F16, TN_SHAPE(3), {1, 0.5, -2}), converted as tn_cast does. */
#define test_values(dtype, shape, ...) test_tensor_from(dtype, shape, TEST_LIST(double, __VA_ARGS__), __FILE__, __LINE__)

/* ---- assertions ---- */

/* A status is OK, a handle is there; else the last error is told. ck_made gives the handle. */
#define ck_ok(status) test_ok(status, #status, __FILE__, __LINE__)
#define ck_made(x) test_made(x, #x, __FILE__, __LINE__)

/* The expression (a handle, a status, an integer that is -1 or 0 on failure) failed with this code, and the last error
 * contains all of these words, at least one. Clears the error. */
#define ck_fails(expression, code, ...)                                                                           \
    test_failed(_Generic((expression), tn_status: test_is_error, int: test_is_negative, int64_t: test_is_minus,   \
                         uint64_t: test_is_zero, bool: test_is_false, default: test_is_null)(expression),         \
                #expression, code, (const char *const[]){__VA_ARGS__, NULL}, __FILE__, __LINE__)

/* dtype and values of a tensor, row-major; its number of elements is the list's. NaN equals NaN, 0 equals -0. */
#define ck_tensor_f32(x, ...) test_equals(x, TN_F32, TEST_LIST(float, __VA_ARGS__), #x, __FILE__, __LINE__)
#define ck_tensor_f64(x, ...) test_equals(x, TN_F64, TEST_LIST(double, __VA_ARGS__), #x, __FILE__, __LINE__)
#define ck_tensor_i32(x, ...) test_equals(x, TN_I32, TEST_LIST(int32_t, __VA_ARGS__), #x, __FILE__, __LINE__)
#define ck_tensor_i64(x, ...) test_equals(x, TN_I64, TEST_LIST(int64_t, __VA_ARGS__), #x, __FILE__, __LINE__)
#define ck_tensor_u8(x, ...) test_equals(x, TN_U8, TEST_LIST(uint8_t, __VA_ARGS__), #x, __FILE__, __LINE__)
#define ck_tensor_u64(x, ...) test_equals(x, TN_U64, TEST_LIST(uint64_t, __VA_ARGS__), #x, __FILE__, __LINE__)
#define ck_tensor_bool(x, ...) test_equals(x, TN_BOOL, TEST_LIST(uint8_t, __VA_ARGS__), #x, __FILE__, __LINE__)
/* The same for any dtype, from numbers that are exact in it. */
#define ck_values(x, ...) test_equals_numbers(x, TEST_LIST(double, __VA_ARGS__), 0, #x, __FILE__, __LINE__)
/* Floats within so many ulps of their dtype. */
#define ck_close(x, ulps, ...) test_equals_numbers(x, TEST_LIST(double, __VA_ARGS__), ulps, #x, __FILE__, __LINE__)
/* Shape, as in ck_shape(x, TN_SHAPE(2, 3)). */
#define ck_shape(x, ...) test_has_shape(x, __VA_ARGS__, #x, __FILE__, __LINE__)
/* Two tensors, of any devices, have the same dtype, shape and bits; NaN counts as one value. */
#define ck_same(x, y) test_same(x, y, #x, #y, __FILE__, __LINE__)

/* PoCL makes one program of all that a test looks at: the values asserted above are compared when it ends, as they were at the
 * assertion. A test that counts launches or programs, shuts the library down, or wants them compared at once for another reason, says
 * so before. */
void test_at_once(bool wish);

/* Runs all of these, those of one shape and input in one kernel, so that looking at each builds none of its own. */
#define ck_together(...) test_realize((tn_tensor *const[]){__VA_ARGS__}, sizeof((tn_tensor *const[]){__VA_ARGS__}) / sizeof(tn_tensor *))

/* All elements as doubles, row-major; to be freed. */
double *test_numbers(tn_tensor *x);

/* ---- single values ---- */

/* Element at p as a double (i64 and u64 beyond 2^53 lose bits). */
double test_number(tn_dtype dtype, const void *p);
/* Stores value as tn_cast from f64 would. */
void test_store(tn_dtype dtype, void *p, double value);
/* Distance of a float result from the exact value, in ulps of the dtype at that value; 0 when both are NaN or the same
 * infinity, and when rounding `want` gives `got`. Beyond the range: inf when only one is. */
double test_ulps(tn_dtype dtype, double got, long double want);
/* One step of the dtype at that value, and its largest finite number. */
double test_step(tn_dtype dtype, long double value);
double test_largest(tn_dtype dtype);
/* Same bits, any NaN for any NaN. */
bool test_bits_equal(tn_dtype dtype, const void *a, const void *b);

/* splitmix64: the same numbers everywhere. */
typedef struct test_random {
    uint64_t state;
} test_random;
uint64_t test_next(test_random *r);
int64_t test_below(test_random *r, int64_t n); /* 0 … n - 1 */
double test_unit(test_random *r);              /* [0, 1) */

/* ---- the suite ---- */

#define TN_SUITE(name, ...) TEST_MAIN(#name, NULL, NULL, __VA_ARGS__)
/* With functions that run before and after each test; they may be NULL. */
#define TEST_MAIN(name, set_up, tear_down, ...)                                                 \
    int main(void)                                                                              \
    {                                                                                           \
        const TTest *const tests[] = {__VA_ARGS__};                                             \
        return test_run(name, set_up, tear_down, tests, (int)(sizeof tests / sizeof tests[0])); \
    }

/* ---- behind the macros ---- */

#define TEST_LIST(type, ...) (const type[])__VA_ARGS__, sizeof((const type[])__VA_ARGS__) / sizeof(type)

int test_run(const char *name, void (*set_up)(void), void (*tear_down)(void), const TTest *const *tests, int count);
void test_ok(tn_status status, const char *what, const char *file, int line);
void test_realize(tn_tensor *const *list, size_t count);
tn_tensor *test_made(tn_tensor *x, const char *what, const char *file, int line);
bool test_is_error(tn_status status);
bool test_is_negative(int value);
bool test_is_minus(int64_t value);
bool test_is_zero(uint64_t value);
bool test_is_false(bool value);
bool test_is_null(const void *handle);
void test_failed(bool failed, const char *what, tn_status code, const char *const *words, const char *file, int line);
tn_tensor *test_tensor_of(tn_dtype dtype, tn_shape shape, const void *values, size_t count, const char *file, int line);
tn_tensor *test_tensor_from(tn_dtype dtype, tn_shape shape, const double *values, size_t count, const char *file, int line);
void test_equals(tn_tensor *x, tn_dtype dtype, const void *values, size_t count, const char *what, const char *file, int line);
void test_equals_numbers(tn_tensor *x, const double *values, size_t count, double ulps, const char *what, const char *file,
                         int line);
void test_has_shape(tn_tensor *x, tn_shape shape, const char *what, const char *file, int line);
void test_same(tn_tensor *x, tn_tensor *y, const char *x_text, const char *y_text, const char *file, int line);

#endif
