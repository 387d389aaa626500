/* cumsum, cumprod, cummax, cummin, logcumsumexp: values, bounds, axes, layouts, dtypes, errors. What is wanted comes from the plain
 * loop below, in long double. */
#include <float.h>
#include <math.h>

#include "bones.h"
#include "layouts.h"

/* ---- the reference ---- */

typedef enum op { SUM, PROD, MOST, LEAST, LOG_SUM, OPS } op;
typedef tn_tensor *call(tn_tensor *x, int axis);
static call *const calls[] = {tn_cumsum, tn_cumprod, tn_cummax, tn_cummin, tn_logcumsumexp};
static const char *const names[] = {"cumsum", "cumprod", "cummax", "cummin", "logcumsumexp"};

static long double combine(op o, long double a, long double b)
{
    if (o == SUM) return a + b;
    if (o == PROD) return a * b;
    if (isnan(a) || isnan(b)) return NAN;
    if (o == MOST) return a < b ? b : a;
    if (o == LEAST) return b < a ? b : a;
    const long double high = fmaxl(a, b), low = fminl(a, b);
    return isinf(high) ? high : high + log1pl(expl(low - high));
}

static const long double inits[] = {0, 1, -INFINITY, INFINITY, -INFINITY};

static tn_dtype result_dtype(op o, tn_dtype from)
{
    if (tn_dtype_is_float(from) || o == MOST || o == LEAST) return from;
    if (o == LOG_SUM) return TN_F32;
    return from == TN_BOOL || tn_dtype_is_signed(from) ? TN_I64 : TN_U64;
}

/* How far a result may be off: nothing where it is exact, else the contract's bound of sums, and the rounding to the dtype. */
static long double allowed(op o, bool exact, tn_dtype to, int64_t n, long double size, long double want)
{
    const long double eps = to == TN_F64 ? DBL_EPSILON : FLT_EPSILON, stored = tn_dtype_size(to) == 2 ? 0.5L : 0;
    if (o == MOST || o == LEAST || !tn_dtype_is_float(to)) return 0;
    if (exact && o != LOG_SUM) return stored * test_step(to, want);
    if (o == LOG_SUM) size = 1 + fabsl(want); /* every step rounds a number of this size, and errors of the operands do not grow */
    return (log2l((long double)n) + 8) * eps * size + stored * test_step(to, want);
}

static void check(op o, bool exact, tn_tensor *x, int axis)
{
    const tn_shape s = tn_shape_of(x);
    const tn_dtype to = result_dtype(o, tn_dtype_of(x));
    tn_tensor *y = ck_made(calls[o](x, axis));
    const int64_t n = s.dim[axis], count = tn_numel(x);
    int64_t inner = 1;
    for (int a = axis + 1; a < s.ndim; a++) inner *= s.dim[a];
    ck_assert_int_eq((int)tn_dtype_of(y), (int)to);
    ck_shape(y, s);
    double *in = test_numbers(x), *got = test_numbers(y);
    for (int64_t line = 0; line < count / n; line++) {
        long double want = inits[o], size = 0;
        for (int64_t k = 0; k < n; k++) {
            const int64_t at = (line / inner * n + k) * inner + line % inner;
            want = combine(o, want, (long double)in[at]);
            size += fabsl((long double)in[at]);
            const bool same = (isnan(want) && isnan(got[at])) || (long double)got[at] == want;
            ck_assert_msg(same || fabsl(got[at] - want) <= allowed(o, exact, to, k + 1, size, want),
                          "%s of %s along axis %d of %d, line %d element %d: got %.9g, not %.9Lg", names[o],
                          tn_dtype_name(tn_dtype_of(x)), axis, s.ndim, (int)line, (int)k, got[at], want);
        }
    }
    free(in);
    free(got);
    tn_release(y);
}

/* ---- operands ---- */

static double spread(int64_t i)
{
    return (double)((uint64_t)i * 0x9e3779b97f4a7c15ull >> 40 & 127) / 8 - 5;
}

static double sign(int64_t i)
{
    const uint64_t h = (uint64_t)i * 0x9e3779b97f4a7c15ull >> 40;
    return h % 53 == 0 ? 2 : h % 2 ? 1 : -1; /* products stay exact */
}

static double tenth(int64_t i)
{
    (void)i;
    return 0.1f;
}

static tn_tensor *filled(double (*f)(int64_t), tn_dtype dtype, tn_shape s)
{
    int64_t n = 1;
    for (int a = 0; a < s.ndim; a++) n *= s.dim[a];
    const bool negative = tn_dtype_is_float(dtype) || tn_dtype_is_signed(dtype);
    const size_t size = tn_dtype_size(dtype);
    char *values = malloc((size_t)n * size + 1);
    for (int64_t i = 0; i < n; i++) test_store(dtype, values + (size_t)i * size, negative ? f(i) : fabs(f(i)));
    tn_tensor *x = ck_made(tn_from(dtype, s, values, test_device()));
    free(values);
    return x;
}

static tn_tensor *operand(op o, tn_dtype dtype, tn_shape s)
{
    return filled(o == PROD ? sign : spread, dtype, s);
}

/* ---- values ---- */

START_TEST(scans_of_a_small_matrix)
{
    tn_tensor *x = test_f32(TN_SHAPE(2, 3), {1, 5, 3, 4, -2, 6});
    ck_tensor_f32(tn_cumsum(x, 1), {1, 6, 9, 4, 2, 8});
    ck_tensor_f32(tn_cumsum(x, 0), {1, 5, 3, 5, 3, 9});
    ck_tensor_f32(tn_cumprod(x, -1), {1, 5, 15, 4, -8, -48});
    ck_tensor_f32(tn_cummax(x, 1), {1, 5, 5, 4, 4, 6});
    ck_tensor_f32(tn_cummin(x, 1), {1, 1, 1, 4, -2, -2});
    ck_close(tn_logcumsumexp(test_f32(TN_SHAPE(3), {1000, 1000, 999}), 0), 2, {1000, 1000.69314718056, 1000.86199480406});
}
END_TEST

START_TEST(integers_are_scanned_in_64_bits)
{
    TN_SHARED(1, 2);
    ck_tensor_i64(tn_cumsum(test_i32(TN_SHAPE(3), {INT32_MAX, INT32_MAX, 1}), 0), {INT32_MAX, 4294967294, 4294967295});
    ck_tensor_i64(tn_cumsum(test_i64(TN_SHAPE(2), {INT64_MAX, 1}), 0), {INT64_MAX, INT64_MIN});
    ck_tensor_u64(tn_cumprod(test_u8(TN_SHAPE(3), {200, 2, 3}), 0), {200, 400, 1200});
    ck_tensor_i64(tn_cumsum(test_bool(TN_SHAPE(4), {1, 0, 1, 1}), 0), {1, 1, 2, 3});
    ck_tensor_bool(tn_cummax(test_bool(TN_SHAPE(4), {0, 1, 0, 0}), 0), {0, 1, 1, 1});
}
END_TEST

START_TEST(every_length_along_every_axis)
{
    static const int64_t lengths[] = {1, 2, 31, 32, 33, 64, 1023, 1024, 1025, 2100};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        const int64_t n = lengths[i];
        const struct {
            tn_shape shape;
            int axis;
        } forms[] = {{TN_SHAPE(n), 0}, {TN_SHAPE(3, n), 1}, {TN_SHAPE(n, 3), 0}, {TN_SHAPE(2, n, 19), 1}};
        for (int f = 0; f < 4; f++)
            for (int o = 0; o < OPS; o++)
                if (o == SUM || test_takes(o + f, OPS)) check((op)o, true, operand((op)o, TN_F32, forms[f].shape), forms[f].axis);
    }
}
END_TEST

START_TEST(long_lines_stay_within_the_bound)
{
    tn_tensor *x = filled(tenth, TN_F32, TN_SHAPE(120000));
    check(SUM, false, x, 0);
    check(SUM, false, tn_reshape(x, TN_SHAPE(40000, 3)), 0);
    check(SUM, false, tn_reshape(x, TN_SHAPE(4800, 25)), 0);
    check(LOG_SUM, false, tn_slice(x, 0, 0, 3000, 1), 0);
}
END_TEST

START_TEST(nan_and_infinities_stay_from_there_on)
{
    tn_tensor *x = test_f32(TN_SHAPE(4), {1, NAN, 5, -INFINITY}), *y = test_f32(TN_SHAPE(5), {-INFINITY, -INFINITY, 1, INFINITY, 2});
    ck_tensor_f32(tn_cumsum(x, 0), {1, NAN, NAN, NAN});
    ck_tensor_f32(tn_cummax(x, 0), {1, NAN, NAN, NAN});
    ck_tensor_f32(tn_cummin(x, 0), {1, NAN, NAN, NAN});
    ck_tensor_f32(tn_logcumsumexp(x, 0), {1, NAN, NAN, NAN});
    ck_tensor_f32(tn_cumsum(y, 0), {-INFINITY, -INFINITY, -INFINITY, NAN, NAN});
    ck_tensor_f32(tn_cummax(y, 0), {-INFINITY, -INFINITY, 1, INFINITY, INFINITY});
    ck_tensor_f32(tn_cummin(y, 0), {-INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY});
    ck_tensor_f32(tn_logcumsumexp(y, 0), {-INFINITY, -INFINITY, 1, INFINITY, INFINITY});
    ck_tensor_f32(tn_cumprod(test_f32(TN_SHAPE(3), {INFINITY, 0, 1}), 0), {INFINITY, NAN, NAN});
}
END_TEST

START_TEST(every_dtype_once)
{
    for (int d = 0; d < TN_DTYPE_COUNT; d++) {
        if (d == TN_F64 && !test_has_f64()) continue;
        for (int o = 0; o < OPS; o++)
            if (test_takes(d + o, 2 * OPS)) check((op)o, true, operand((op)o, (tn_dtype)d, TN_SHAPE(3, 50)), 1);
    }
    ck_values(tn_cumsum(test_values(TN_F16, TN_SHAPE(4), {2048, 1, 1, 1}), 0), {2048, 2048, 2050, 2052}); /* 2049 and 2051 in between */
}
END_TEST

/* ---- layouts ---- */

START_TEST(all_layouts)
{
    for (int l = 0; l < LAYOUTS; l++) {
        if (l == LAYOUT_EMPTY || l == LAYOUT_ZERO_D) continue;
        const int64_t n = layout_count((test_layout)l);
        float *values = malloc((size_t)n * sizeof *values);
        for (int64_t i = 0; i < n; i++) values[i] = (float)spread(i);
        tn_tensor *x = ck_made(layout_tensor((test_layout)l, 0, 1, TN_F32, values, test_device()));
        free(values);
        if (test_takes(l, 2)) check(SUM, true, x, 0);
        if (test_takes(l + 1, 2)) check(SUM, true, x, tn_ndim(x) - 1);
        tn_release(x); /* beyond all scopes */
    }
    tn_tensor *x = filled(spread, TN_F32, TN_SHAPE(6, 70, 5));
    if (test_takes(0, 2)) check(SUM, true, tn_permute(x, TN_AXES(2, 0, 1)), 1);
    if (test_takes(1, 2)) check(MOST, true, tn_flip(x, TN_AXES(1)), 1);
    if (test_takes(0, 2)) check(SUM, true, tn_slice(tn_flip(x, TN_AXES(0, 2)), 1, TN_END, TN_END, -3), 1);
    if (test_takes(1, 2)) check(SUM, true, tn_expand(tn_slice(x, 0, 2, 3, 1), TN_SHAPE(9, 70, 5)), 0);
    if (test_takes(0, 2)) check(SUM, true, filled(spread, TN_F32, TN_SHAPE(2, 1, 2, 1, 3, 1, 2, 1, 2, 1, 2, 1, 2, 1, 1, 3)), 4);
}
END_TEST

START_TEST(nothing_and_one_number)
{
    tn_tensor *x = tn_zeros(TN_F32, TN_SHAPE(0, 3), test_device()), *one = test_f32(TN_SHAPE(), {-7});
    ck_launches(0, {
        ck_shape(tn_cumsum(x, 0), TN_SHAPE(0, 3));
        ck_shape(tn_cummax(x, 1), TN_SHAPE(0, 3));
    });
    ck_assert_int_eq((int)tn_dtype_of(tn_cumsum(tn_zeros(TN_U8, TN_SHAPE(0), test_device()), 0)), TN_U64);
    ck_shape(tn_cumsum(one, 0), TN_SHAPE());
    ck_tensor_f32(tn_cumsum(one, -1), {-7});
    ck_tensor_f32(tn_logcumsumexp(one, 0), {-7});
}
END_TEST

START_TEST(wrong_axes)
{
    tn_tensor *x = test_f32(TN_SHAPE(2, 2), {1, 2, 3, 4});
    ck_fails(tn_cumsum(x, 2), TN_AXIS, "cumsum", "axis 2");
    ck_fails(tn_cummin(x, -3), TN_AXIS, "cummin", "-3");
    ck_fails(tn_logcumsumexp(test_f32(TN_SHAPE(), {1}), 1), TN_AXIS, "logcumsumexp");
    ck_fails(tn_cumprod(TN_NONE, 0), TN_ARGUMENT, "cumprod");
}
END_TEST

/* ---- the graph ---- */

START_TEST(producers_and_consumers_join_the_launch)
{
    tn_tensor *x = filled(spread, TN_F32, TN_SHAPE(9, 40)), *y = NULL;
    ck_launches(1, {
        y = tn_mul(tn_cumsum(tn_add(x, x), 1), tn_float(0.5));
        ck_ok(tn_realize(&y, 1));
    });
    ck_same(y, tn_cumsum(x, 1));
    tn_tensor *z = tn_sub(tn_cumsum(x, 0), tn_cummax(x, 0)), *parts[] = {tn_cumsum(x, 0), tn_cummax(x, 0)};
    ck_ok(tn_realize(parts, 2));
    ck_same(z, tn_sub(parts[0], parts[1]));
}
END_TEST

START_TEST(the_same_bits_twice)
{
    tn_tensor *x = filled(tenth, TN_F32, TN_SHAPE(5000, 3));
    ck_same(tn_cumsum(x, 0), tn_cumsum(x, 0));
    ck_same(tn_cumsum(x, 0), tn_transpose(tn_cumsum(tn_contiguous(tn_transpose(x, 0, 1)), 1), 0, 1));
}
END_TEST

BONES_MAIN("scan", scans_of_a_small_matrix, integers_are_scanned_in_64_bits, every_length_along_every_axis, long_lines_stay_within_the_bound,
          nan_and_infinities_stay_from_there_on, every_dtype_once, all_layouts, nothing_and_one_number, wrong_axes,
          producers_and_consumers_join_the_launch, the_same_bits_twice)
