/* sum, max, argmax and mean: values, bounds, layouts, errors. What is wanted comes from the plain loop below; operands are mostly
 * small integers, so that sums are exact. Case numbers are those of the shared list. */
#include <float.h>
#include <math.h>

#include "bones.h"
#include "layouts.h"
#include "reference.h"

/* ---- the reference ---- */

typedef enum op { SUM, MAX, ARGMAX, MEAN } op;

static tn_tensor *apply(op o, tn_tensor *x, tn_axes axes, bool keepdim)
{
    switch (o) {
    case SUM: return tn_sum(x, axes, keepdim);
    case MAX: return tn_max(x, axes, keepdim);
    case ARGMAX: return tn_argmax(x, axes, keepdim);
    default: return tn_mean(x, axes, keepdim);
    }
}

/* One output: over n elements. */
typedef struct cell {
    int64_t n, at;
    long double sum, absolute;
    uint64_t wrapped;
    reference_number best;
} cell;

static bool beats(reference_number v, reference_number best)
{
    if (!tn_dtype_is_float(v.dtype)) return v.i > best.i;
    return !isnan(best.f) && (isnan(v.f) || v.f > best.f);
}

/* cells: row-major over the kept axes. */
static cell *reduce(tn_tensor *x, const tn_axes *axes, tn_shape *kept, tn_shape *with_ones)
{
    const tn_shape s = tn_shape_of(x);
    const tn_dtype dtype = tn_dtype_of(x);
    const size_t size = tn_dtype_size(dtype), n = (size_t)tn_numel(x);
    bool gone[TN_MAX_AXES] = {false};
    int64_t step[TN_MAX_AXES] = {0}, index[TN_MAX_AXES] = {0}, count = 1;
    for (int a = 0; a < s.ndim; a++) gone[a] = axes->count == -1;
    for (int i = 0; i < axes->count; i++) gone[axes->axis[i] < 0 ? axes->axis[i] + s.ndim : axes->axis[i]] = true;
    *kept = TN_SHAPE();
    *with_ones = s;
    for (int a = 0; a < s.ndim; a++) {
        if (gone[a]) with_ones->dim[a] = 1;
        else kept->dim[kept->ndim++] = s.dim[a];
    }
    for (int a = s.ndim - 1; a >= 0; a--)
        if (!gone[a]) step[a] = count, count *= s.dim[a];
    cell *cells = calloc((size_t)count + 1, sizeof *cells);
    char *bytes = malloc(n * size + 1);
    ck_ok(tn_read(x, bytes, n * size));
    for (size_t i = 0; i < n; i++) {
        int64_t to = 0;
        for (int a = 0; a < s.ndim; a++) to += index[a] * step[a];
        cell *c = cells + to;
        const reference_number v = reference_load(dtype, bytes + i * size);
        if (tn_dtype_is_float(dtype)) c->sum += v.f, c->absolute += fabsl(v.f);
        else c->wrapped += (uint64_t)v.i;
        if (c->n == 0 || beats(v, c->best)) c->best = v, c->at = c->n;
        c->n++;
        for (int a = s.ndim - 1; a >= 0 && ++index[a] == s.dim[a]; a--) index[a] = 0;
    }
    free(bytes);
    return cells;
}

/* Exact: the sum is representable at every step. Otherwise within the contract's bound. */
static void check(op o, bool exact, tn_tensor *x, tn_axes axes, bool keepdim)
{
    static const char *const names[] = {"sum", "max", "argmax", "mean"};
    const tn_dtype dtype = tn_dtype_of(x);
    tn_shape kept, with_ones;
    cell *cells = reduce(x, &axes, &kept, &with_ones);
    tn_tensor *y = ck_made(apply(o, x, axes, keepdim));
    tn_dtype to = dtype;
    if (o == SUM && !tn_dtype_is_float(dtype)) to = dtype == TN_BOOL || tn_dtype_is_signed(dtype) ? TN_I64 : TN_U64;
    if (o == ARGMAX) to = TN_I64;
    ck_assert_int_eq((int)tn_dtype_of(y), (int)to);
    ck_shape(y, keepdim ? with_ones : kept);
    const size_t size = tn_dtype_size(to), count = (size_t)tn_numel(y);
    char *bytes = malloc(count * size + 1), want[16] = {0};
    ck_ok(tn_read(y, bytes, count * size));
    for (size_t i = 0; i < count; i++) {
        const cell *c = cells + i;
        const char *got = bytes + i * size;
        const int64_t n = c->n;
        bool right;
        if (o == ARGMAX || (o == SUM && !tn_dtype_is_float(to))) {
            const uint64_t number = o == ARGMAX ? (uint64_t)c->at : c->wrapped;
            right = memcmp(&number, got, 8) == 0;
        } else if (o == MAX) {
            reference_store(want, c->best);
            right = test_bits_equal(to, want, got) || (tn_dtype_is_float(to) && c->best.f == 0 && test_number(to, got) == 0);
        } else {
            const long double value = o == MEAN ? c->sum / (long double)n : c->sum;
            const double result = test_number(to, got);
            if (exact || !isfinite((double)value)) right = test_ulps(to, result, value) <= (o == MEAN ? (size == 2 ? 1 : 2.5) : 0);
            else {
                const long double eps = to == TN_F64 ? DBL_EPSILON : FLT_EPSILON, by = o == MEAN ? (long double)n : 1;
                const long double stored = size == 2 ? 0.5L * test_step(to, value) : o == MEAN ? 2.5L * test_step(to, value) : 0;
                right = fabsl((long double)result - value) <= (log2l((long double)n) + 8) * eps * c->absolute / by + stored;
            }
        }
        int64_t whole = 0;
        memcpy(&whole, got, size);
        ck_assert_msg(right, "%s of %s, %d axes first %lld, output %d of %d over %lld: got %.9g (%llx), sum %.9Lg place %lld", names[o],
                      tn_dtype_name(dtype), tn_ndim(x), (long long)(tn_ndim(x) ? tn_dim(x, 0) : 0), (int)i, (int)count, (long long)n,
                      test_number(to, got), (unsigned long long)whole, c->sum, (long long)c->at);
    }
    free(bytes);
    free(cells);
    tn_release(y);
}

/* ---- operands ---- */

typedef float fill(int64_t i);

static float hashed(int64_t i)
{
    return (float)((uint64_t)i * 0x9e3779b97f4a7c15ull >> 40 & 63) - 20;
}

static float tenth(int64_t i)
{
    (void)i;
    return 0.1f;
}

static float large_and_small(int64_t i)
{
    return i % 2 ? 0.1f : i % 4 ? -1e6f : 1e6f;
}

static float growing(int64_t i)
{
    return (float)(i % 1000) * 1e-3f + 1e-4f;
}

static tn_tensor *filled(fill *f, tn_shape s)
{
    int64_t n = 1;
    for (int a = 0; a < s.ndim; a++) n *= s.dim[a];
    float *values = malloc((size_t)n * sizeof *values + 1);
    for (int64_t i = 0; i < n; i++) values[i] = f(i);
    tn_tensor *x = ck_made(tn_from(TN_F32, s, values, test_device()));
    free(values);
    return x;
}

/* 0 … n - 1 along the axis, plus the place on the last axis where that is another one. */
static tn_tensor *counting(tn_shape s, int axis)
{
    int64_t n = 1, inner = 1;
    for (int a = 0; a < s.ndim; a++) n *= s.dim[a];
    for (int a = axis + 1; a < s.ndim; a++) inner *= s.dim[a];
    float *values = malloc((size_t)n * sizeof *values + 1);
    for (int64_t i = 0; i < n; i++) values[i] = (float)(i / inner % s.dim[axis] + i % inner);
    tn_tensor *x = ck_made(tn_from(TN_F32, s, values, test_device()));
    free(values);
    return x;
}

static tn_tensor *same_numbers(tn_dtype dtype, tn_shape s, double value)
{
    tn_tensor *v = tn_float(value), *x = ck_made(tn_full(dtype, s, v, test_device()));
    tn_release(v);
    return x;
}

/* Numbers that are not few take Oclgrind minutes. */
#define NEEDS_SPEED() TN_SKIP_IF(test_is("oclgrind"), "too many elements for Oclgrind")

/* ---- values ---- */

START_TEST(values_of_a_small_matrix)
{
    tn_tensor *x = test_f32(TN_SHAPE(2, 3), {1, 5, 3, 4, -2, 6});
    ck_tensor_f32(tn_sum(x, TN_ALL_AXES, false), {17});
    ck_tensor_i64(tn_argmax(x, TN_ALL_AXES, false), {5});
    if (test_takes(0, 2)) {
        ck_tensor_f32(tn_sum(x, TN_AXES(0), false), {5, 3, 9});
        ck_tensor_f32(tn_max(x, TN_AXES(-1), false), {5, 6});
        ck_tensor_i64(tn_argmax(x, TN_AXES(0), false), {1, 0, 1});
    }
    if (test_takes(1, 2)) {
        ck_tensor_f32(tn_sum(x, TN_AXES(1), false), {9, 8});
        ck_tensor_f32(tn_max(x, TN_AXES(0), false), {4, 5, 6});
        ck_tensor_i64(tn_argmax(x, TN_AXES(1), false), {1, 2});
        ck_close(tn_mean(x, TN_AXES(1), false), 2.5, {3, 8.0 / 3});
    }
}
END_TEST

START_TEST(every_length_is_exact_along_every_axis)
{ /* C13 */
    static const int64_t lengths[] = {1, 2, 3, 31, 32, 33, 255, 256, 257, 1000, 4097};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        const int64_t n = lengths[i];
        const struct {
            tn_shape shape;
            int axis;
        } forms[] = {{TN_SHAPE(n), 0}, {TN_SHAPE(3, n), 1}, {TN_SHAPE(n, 5), 0}, {TN_SHAPE(n, 40), 0}, {TN_SHAPE(3, n, 18), 1}};
        for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++) {
            if (test_is("oclgrind") && n > 1000 && f > 0) continue;
            if (n < 31 && !test_takes((int)(f + i), 5)) continue; /* kernels of their own */
            for (int kind = 0; kind < 2; kind++) {
                tn_tensor *x = kind ? filled(hashed, forms[f].shape) : counting(forms[f].shape, forms[f].axis);
                for (int o = SUM; o <= MEAN; o++)
                    if (test_takes((int)f + o, o == SUM ? 1 : 3)) check((op)o, true, x, TN_AXES(forms[f].axis), false);
                if (f == 1 && kind && n > 31) {
                    check(SUM, true, x, TN_ALL_AXES, false);
                    check(ARGMAX, true, x, TN_ALL_AXES, false);
                }
                tn_release(x);
            }
        }
    }
    ck_tensor_f32(tn_sum(counting(TN_SHAPE(4097), 0), TN_ALL_AXES, false), {8390656});
    ck_tensor_f32(tn_max(counting(TN_SHAPE(4097), 0), TN_ALL_AXES, false), {4096});
}
END_TEST

START_TEST(the_maximum_is_found_in_every_position)
{ /* C14 */
    float values[64 * 64];
    for (int p = 0; p < 64; p++)
        for (int i = 0; i < 64; i++) values[p * 64 + i] = i == p ? 3 : (float)-((i * 37 + p) % 5);
    tn_tensor *square = tn_from(TN_F32, TN_SHAPE(64, 64), values, test_device());
    for (int p = 0; p < 64; p++) {
        tn_tensor *x = tn_from(TN_F32, TN_SHAPE(64), values + (ptrdiff_t)p * 64, test_device());
        ck_tensor_f32(tn_max(x, TN_ALL_AXES, false), {3});
        ck_tensor_i64(tn_argmax(x, TN_ALL_AXES, false), {p});
    }
    for (int axis = 0; axis < 2; axis++) {
        check(MAX, true, square, TN_AXES(axis), false);
        check(ARGMAX, true, square, TN_AXES(axis), false);
    }
}
END_TEST

START_TEST(large_numbers_do_not_swallow_small_ones)
{
    double sum = 0;
    ck_ok(tn_item(tn_sum(test_f32(TN_SHAPE(5), {16777216, 1, 1, 1, 1}), TN_ALL_AXES, false), &sum));
    ck_assert_msg(sum >= 16777216 && sum <= 16777220, "%.9g", sum);
    ck_ok(tn_item(tn_sum(test_f32(TN_SHAPE(5, 1), {16777216, 1, 1, 1, 1}), TN_AXES(0), false), &sum));
    ck_assert_msg(sum >= 16777216 && sum <= 16777220, "%.9g", sum);
}
END_TEST

START_TEST(a_mean_is_the_sum_over_n)
{
    TN_SHARED(0, 2);
    ck_tensor_f32(tn_mean(test_f32(TN_SHAPE(2), {3e38f, 3e38f}), TN_ALL_AXES, false), {INFINITY});
    ck_values(tn_mean(same_numbers(TN_F16, TN_SHAPE(1000), 100), TN_ALL_AXES, false), {100});
    ck_values(tn_mean(same_numbers(TN_BF16, TN_SHAPE(1000), 100), TN_ALL_AXES, false), {100});
    ck_fails(tn_mean(test_i32(TN_SHAPE(2), {1, 2}), TN_ALL_AXES, false), TN_DTYPE, "mean", "i32");
    ck_fails(tn_mean(test_bool(TN_SHAPE(2), {1, 0}), TN_AXES(0), true), TN_DTYPE, "mean", "bool");
    ck_values(tn_sum(same_numbers(TN_F16, TN_SHAPE(1000), 100), TN_ALL_AXES, false), {INFINITY}); /* 100000 is beyond f16 */
    ck_values(tn_sum(same_numbers(TN_F16, TN_SHAPE(4096), 1), TN_ALL_AXES, false), {4096});       /* beyond f16's 2048 */
    ck_values(tn_sum(same_numbers(TN_BF16, TN_SHAPE(1024), 1), TN_ALL_AXES, false), {1024});
}
END_TEST

START_TEST(a_million_elements_stay_within_the_bound)
{
    NEEDS_SPEED();
    fill *const kinds[] = {tenth, large_and_small, growing};
    for (int k = 0; k < 3; k++) {
        tn_tensor *x = filled(kinds[k], TN_SHAPE(1000, 1000)), *flat = tn_reshape(x, TN_SHAPE(-1));
        check(SUM, false, flat, TN_ALL_AXES, false);
        check(MEAN, false, flat, TN_ALL_AXES, false);
        for (int axis = 0; axis < 2; axis++) check(SUM, false, x, TN_AXES(axis), false);
        tn_tensor *tall = tn_reshape(x, TN_SHAPE(500000, 2)), *wide = tn_reshape(x, TN_SHAPE(20, 50000));
        check(SUM, false, tall, TN_AXES(0), false);
        check(SUM, false, wide, TN_AXES(0), false);
        check(SUM, false, wide, TN_AXES(1), false);
        check(MAX, true, tall, TN_AXES(0), false);
    }
}
END_TEST

START_TEST(long_axes_with_few_outputs)
{
    NEEDS_SPEED();
    const tn_shape shapes[] = {TN_SHAPE(3, 200000), TN_SHAPE(200000, 3), TN_SHAPE(65536), TN_SHAPE(65535), TN_SHAPE(9001, 24)};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        tn_tensor *x = filled(hashed, shapes[i]);
        const int axis = shapes[i].dim[0] == 3 ? 1 : 0;
        check(SUM, true, x, TN_AXES(axis), false);
        check(MAX, true, x, TN_AXES(axis), false);
        check(ARGMAX, true, x, TN_AXES(axis), false);
        check(SUM, true, x, TN_ALL_AXES, false);
        check(ARGMAX, true, x, TN_ALL_AXES, true);
    }
}
END_TEST

/* Blocks of columns, the last one narrow; with many rows, several segments of them. */
START_TEST(many_columns)
{
    NEEDS_SPEED();
    const tn_shape shapes[] = {TN_SHAPE(101, 700), TN_SHAPE(2001, 530)};
    for (int i = 0; i < 2; i++) {
        tn_tensor *x = filled(hashed, shapes[i]);
        check(SUM, true, x, TN_AXES(0), false);
        check(ARGMAX, true, x, TN_AXES(0), false);
        check(MAX, true, tn_slice(x, 1, 1, 517, 1), TN_AXES(0), false);
    }
}
END_TEST

START_TEST(means_of_ones_are_one_along_any_axis)
{ /* C23 */
    TN_SHARED(1, 2);
    NEEDS_SPEED();
    tn_tensor *x = tn_ones(TN_F32, TN_SHAPE(2000000, 2), test_device());
    ck_tensor_f32(tn_mean(x, TN_AXES(0), false), {1, 1});
    ck_tensor_f32(tn_mean(x, TN_ALL_AXES, false), {1});
    ck_tensor_f32(tn_mean(tn_ones(TN_F32, TN_SHAPE(2, 2000000), test_device()), TN_AXES(1), false), {1, 1});
    ck_tensor_f32(tn_mean(tn_transpose(x, 0, 1), TN_AXES(1), false), {1, 1});
}
END_TEST

START_TEST(five_million_elements)
{ /* C39 */
    TN_SHARED(1, 2);
    NEEDS_SPEED();
    tn_tensor *x = tn_add(tn_ones(TN_F32, TN_SHAPE(5000000), test_device()), tn_int(1));
    ck_tensor_f32(tn_slice(x, 0, -1, TN_END, 1), {2});
    ck_tensor_f32(tn_sum(x, TN_ALL_AXES, false), {10000000});
    ck_tensor_i64(tn_argmax(x, TN_ALL_AXES, false), {0});
}
END_TEST

/* ---- ties and NaN ---- */

START_TEST(the_first_of_equals_and_the_first_nan)
{ /* C26 */
    ck_tensor_i64(tn_argmax(test_f32(TN_SHAPE(5), {2, 3, 0, 3, 3}), TN_ALL_AXES, false), {1});
    ck_tensor_i64(tn_argmax(test_f32(TN_SHAPE(5), {1, 3, 1, 3, 1}), TN_ALL_AXES, false), {1});
    ck_tensor_i64(tn_argmax(tn_zeros(TN_F32, TN_SHAPE(2001), test_device()), TN_ALL_AXES, false), {0});
    ck_tensor_i64(tn_argmax(test_f32(TN_SHAPE(4), {1, NAN, 2, NAN}), TN_ALL_AXES, false), {1});
    ck_tensor_i64(tn_argmax(test_f32(TN_SHAPE(3), {NAN, NAN, NAN}), TN_ALL_AXES, false), {0});
    ck_tensor_i64(tn_argmax(test_f32(TN_SHAPE(3), {-INFINITY, -INFINITY, -INFINITY}), TN_ALL_AXES, false), {0});
    ck_tensor_f32(tn_max(test_f32(TN_SHAPE(3), {-INFINITY, -INFINITY, -INFINITY}), TN_ALL_AXES, false), {-INFINITY});
    ck_tensor_f32(tn_max(test_f32(TN_SHAPE(3), {1, NAN, 2}), TN_ALL_AXES, false), {NAN});
    ck_tensor_f32(tn_max(test_f32(TN_SHAPE(3), {INFINITY, 1, NAN}), TN_ALL_AXES, false), {NAN});
    ck_tensor_f32(tn_sum(test_f32(TN_SHAPE(2), {INFINITY, -INFINITY}), TN_ALL_AXES, false), {NAN});
    ck_tensor_f32(tn_sum(test_f32(TN_SHAPE(3), {1, INFINITY, 2}), TN_ALL_AXES, false), {INFINITY});
    ck_tensor_i64(tn_argmax(test_values(TN_F16, TN_SHAPE(4), {1, 2, NAN, NAN}), TN_ALL_AXES, false), {2});
}
END_TEST

/* Two equal extremes, at places that lie in other lanes, items, segments. */
START_TEST(ties_and_nan_across_lanes_items_and_segments)
{
    static const int64_t places[][2] = {{0, 1}, {3, 4}, {7, 9}, {15, 16}, {63, 64}, {127, 128}, {5, 900}, {899, 1000}, {8, 16}, {1, 200}};
    static const int64_t far[][2] = {{32767, 32768}, {1, 199999}, {40000, 140000}, {199998, 199999}, {65535, 65536}, {100001, 199993}};
    for (int size = 0; size < (test_is("oclgrind") ? 1 : 2); size++) {
        const int64_t n = size ? 200000 : 1001;
        float *values = calloc((size_t)n, sizeof *values);
        const size_t count = size ? sizeof far / sizeof far[0] : sizeof places / sizeof places[0];
        for (size_t i = 0; i < count; i++)
            for (int nan = 0; nan < 2; nan++) {
                const int64_t a = size ? far[i][0] : places[i][0], b = size ? far[i][1] : places[i][1];
                values[a] = values[b] = nan ? NAN : 1;
                tn_tensor *x = tn_from(TN_F32, TN_SHAPE(n), values, test_device()), *column = tn_view(x, TN_SHAPE(n, 1));
                const double want = nan ? NAN : 1;
                ck_tensor_i64(tn_argmax(x, TN_ALL_AXES, false), {a});
                ck_tensor_i64(tn_argmax(column, TN_AXES(0), false), {a});
                ck_values(tn_max(x, TN_ALL_AXES, false), {want});
                values[a] = values[b] = 0;
                tn_release(x);
            }
        free(values);
    }
    /* by columns: every column its own pair */
    float *square = calloc(1001 * 40, sizeof *square);
    for (int c = 0; c < 40; c++) square[(c * 23 % 1001) * 40 + c] = square[(c * 23 + 61) % 1001 * 40 + c] = c % 2 ? NAN : 1;
    tn_tensor *x = tn_from(TN_F32, TN_SHAPE(1001, 40), square, test_device());
    free(square);
    check(ARGMAX, true, x, TN_AXES(0), false);
    check(MAX, true, x, TN_AXES(0), false);
}
END_TEST

/* ---- dtypes ---- */

START_TEST(integers_are_summed_in_64_bits)
{ /* C30 */
    tn_tensor *mask = tn_eq(tn_ones(TN_F32, TN_SHAPE(5000), test_device()), tn_int(1));
    ck_tensor_i64(tn_sum(mask, TN_ALL_AXES, false), {5000});
    ck_tensor_i64(tn_sum(mask, TN_AXES(0), false), {5000});
    ck_tensor_i64(tn_sum(test_i32(TN_SHAPE(3), {INT32_MAX, INT32_MAX, INT32_MAX}), TN_ALL_AXES, false), {6442450941});
    ck_tensor_i64(tn_sum(test_i32(TN_SHAPE(3), {INT32_MIN, INT32_MIN, INT32_MIN}), TN_ALL_AXES, false), {-6442450944});
    if (test_takes(0, 2)) {
        ck_tensor_u64(tn_sum(test_u8(TN_SHAPE(2), {200, 100}), TN_ALL_AXES, false), {300});
        ck_tensor_u64(tn_sum(test_u8(TN_SHAPE(2, 1), {200, 100}), TN_AXES(0), false), {300});
    }
    if (test_takes(1, 2)) {
        ck_tensor_u64(tn_sum(test_u32(TN_SHAPE(2), {UINT32_MAX, UINT32_MAX}), TN_ALL_AXES, false), {8589934590});
        ck_tensor_i64(tn_sum(test_i64(TN_SHAPE(2), {INT64_MAX, 1}), TN_ALL_AXES, false), {INT64_MIN});
    }
    const uint64_t wraps[] = {UINT64_MAX, 2};
    if (test_takes(0, 2)) ck_tensor_u64(tn_sum(tn_from(TN_U64, TN_SHAPE(2), wraps, test_device()), TN_ALL_AXES, false), {1});
}
END_TEST

START_TEST(integers_have_exact_maxima)
{
    TN_SHARED(0, 2);
    const uint64_t large[] = {UINT64_MAX, 2};
    if (test_takes(0, 2)) {
        ck_tensor_u64(tn_max(tn_from(TN_U64, TN_SHAPE(2), large, test_device()), TN_ALL_AXES, false), {UINT64_MAX});
        ck_tensor_bool(tn_max(test_bool(TN_SHAPE(2, 2), {0, 1, 0, 0}), TN_AXES(1), false), {1, 0});
    }
    if (test_takes(1, 2)) ck_tensor_u8(tn_max(test_u8(TN_SHAPE(3), {7, 255, 128}), TN_ALL_AXES, false), {255});
    ck_tensor_i64(tn_max(test_i64(TN_SHAPE(3), {9007199254740992, 9007199254740993, INT64_MIN}), TN_ALL_AXES, false), {9007199254740993});
    ck_tensor_i64(tn_max(test_i64(TN_SHAPE(2), {INT64_MIN, INT64_MIN}), TN_ALL_AXES, false), {INT64_MIN});
}
END_TEST

START_TEST(every_dtype_once)
{
    double values[3 * 70];
    for (int i = 0; i < 210; i++) values[i] = (double)((i * 31 + i / 70) % 11);
    for (int d = 0; d < TN_DTYPE_COUNT; d++) {
        const tn_dtype dtype = (tn_dtype)d;
        if (dtype == TN_F64 && !test_has_f64()) continue;
        const bool negative = tn_dtype_is_float(dtype) || tn_dtype_is_signed(dtype);
        tn_tensor *x = tn_cast(tn_to(tn_sub(tn_from(TN_F64, TN_SHAPE(3, 70), values, "host"), tn_int(negative ? 5 : 0)), "host"), dtype);
        x = tn_to(x, test_device());
        for (int o = SUM; o <= (tn_dtype_is_float(dtype) ? MEAN : ARGMAX); o++)
            if (test_takes(d + o, 6)) check((op)o, true, x, TN_AXES(1), false);
    }
}
END_TEST

/* ---- axes ---- */

START_TEST(several_axes_and_keepdim)
{
    tn_tensor *x = filled(hashed, TN_SHAPE(3, 4, 5, 6));
    const tn_axes lists[] = {TN_AXES(0, 2), TN_AXES(-1, 1), TN_AXES(3, 0), TN_AXES(2, 1), TN_ALL_AXES, TN_AXES(0, 1, 2, 3)};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        for (int keep = 0; keep < 2; keep++) {
            if (test_takes((int)i, 3)) check(SUM, true, x, lists[i], keep);
            if (test_takes((int)i + 1, 3)) check(ARGMAX, true, x, lists[i], keep);
        }
    check(MAX, true, x, TN_AXES(1), true);
    check(MEAN, true, x, TN_AXES(1, 3), true);
    ck_shape(tn_sum(x, TN_AXES(0, 2), true), TN_SHAPE(1, 4, 1, 6));
    ck_shape(tn_max(x, TN_ALL_AXES, true), TN_SHAPE(1, 1, 1, 1));
    ck_same(tn_sum(x, TN_AXES(2, 0), false), tn_sum(x, TN_AXES(0, 2), false));
    ck_same(tn_sum(x, TN_AXES(), false), x); /* over nothing but the element itself */
    ck_same(tn_max(x, TN_AXES(), true), x);
}
END_TEST

/* Rows of several vectors are reduced side by side, over points that lie on several axes. */
START_TEST(several_axes_before_long_rows)
{
    tn_tensor *x = filled(hashed, TN_SHAPE(3, 4, 5, 36)), *turned = tn_permute(x, TN_AXES(1, 3, 0, 2));
    const tn_axes lists[] = {TN_AXES(0, 2), TN_AXES(0, 1), TN_AXES(0, 1, 2)};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        check(SUM, true, x, lists[i], false);
        if (i == 0 || test_takes((int)i, 3)) check(ARGMAX, true, x, lists[i], false);
    }
    check(SUM, true, turned, TN_AXES(2, 3), false);
    tn_release(turned);
    tn_release(x);
}
END_TEST

START_TEST(all_layouts)
{
    for (int l = 0; l < LAYOUTS; l++) {
        if (l == LAYOUT_EMPTY || l == LAYOUT_ZERO_D) continue;
        const int64_t n = layout_count((test_layout)l);
        float *values = malloc((size_t)n * sizeof *values);
        for (int64_t i = 0; i < n; i++) values[i] = hashed(i);
        tn_tensor *x = ck_made(layout_tensor((test_layout)l, 0, 1, TN_F32, values, test_device()));
        free(values);
        if (test_takes(l, 4)) check(SUM, true, x, TN_AXES(0), false);
        if (test_takes(l + 1, 4)) check(ARGMAX, true, x, TN_AXES(-1), false);
        if (test_takes(l + 2, 4)) check(ARGMAX, true, x, TN_ALL_AXES, false);
        tn_release(x); /* beyond all scopes */
    }
    tn_tensor *x = filled(hashed, TN_SHAPE(6, 70, 5));
    check(ARGMAX, true, tn_permute(x, TN_AXES(2, 0, 1)), TN_AXES(0, 1), false); /* row-major over the axes as seen */
    if (test_takes(0, 2)) {
        check(ARGMAX, true, tn_flip(x, TN_AXES(1)), TN_AXES(1), false);
        check(MAX, true, tn_expand(tn_slice(x, 2, 1, 2, 1), TN_SHAPE(6, 70, 80)), TN_AXES(2), true);
    }
    if (test_takes(1, 2)) {
        check(SUM, true, tn_slice(tn_flip(x, TN_AXES(0, 2)), 1, TN_END, TN_END, -3), TN_AXES(0, 1), false);
        check(SUM, true, tn_expand(tn_slice(x, 0, 2, 3, 1), TN_SHAPE(9, 70, 5)), TN_AXES(0), false);
    }
}
END_TEST

START_TEST(sixteen_axes)
{
    TN_SHARED(0, 2);
    tn_tensor *x = filled(hashed, TN_SHAPE(2, 1, 2, 1, 3, 1, 2, 1, 2, 1, 2, 1, 2, 1, 1, 3));
    check(SUM, true, x, TN_ALL_AXES, true);
    check(ARGMAX, true, x, TN_AXES(0, 4, 8, 12), false);
    check(SUM, true, x, TN_AXES(-1, 2, 6), true);
}
END_TEST

START_TEST(one_element_without_axes)
{
    TN_SHARED(1, 2);
    tn_tensor *x = test_f32(TN_SHAPE(), {-7});
    check(SUM, true, x, TN_ALL_AXES, false);
    check(MAX, true, x, TN_ALL_AXES, true);
    check(ARGMAX, true, x, TN_AXES(), false);
    check(MEAN, true, x, TN_ALL_AXES, false);
    ck_fails(tn_sum(x, TN_AXES(1), false), TN_AXIS, "sum", "1");
}
END_TEST

/* As PyTorch has it, and softmax here: of a 0-d tensor axis 0 is its one element. */
START_TEST(axis_0_of_a_tensor_without_axes)
{
    tn_tensor *x = test_f32(TN_SHAPE(), {-7});
    ck_tensor_f32(ck_made(tn_sum(x, TN_AXES(0), false)), {-7});
    ck_tensor_i64(ck_made(tn_argmax(x, TN_AXES(-1), false)), {0});
}
END_TEST

START_TEST(empty_axes)
{
    TN_SHARED(1, 2);
    tn_tensor *x = tn_zeros(TN_F32, TN_SHAPE(0, 3), test_device()), *y = tn_zeros(TN_I32, TN_SHAPE(2, 0, 3), test_device());
    ck_launches(0, {
        ck_tensor_f32(tn_sum(tn_zeros(TN_F32, TN_SHAPE(0), "host"), TN_ALL_AXES, false), {0});
        ck_shape(tn_sum(x, TN_AXES(1), false), TN_SHAPE(0));
        ck_shape(tn_max(x, TN_AXES(1), true), TN_SHAPE(0, 1));
        ck_shape(tn_argmax(y, TN_AXES(2), false), TN_SHAPE(2, 0));
        ck_shape(tn_mean(x, TN_AXES(1), false), TN_SHAPE(0));
    });
    ck_tensor_f32(tn_sum(x, TN_AXES(0), false), {0, 0, 0});
    ck_tensor_f32(tn_sum(x, TN_ALL_AXES, false), {0});
    ck_tensor_i64(tn_sum(y, TN_AXES(1), false), {0, 0, 0, 0, 0, 0});
    ck_shape(tn_sum(x, TN_AXES(0), true), TN_SHAPE(1, 3));
    ck_tensor_f32(tn_mean(x, TN_AXES(0), false), {NAN, NAN, NAN});
    ck_assert_int_eq((int)tn_dtype_of(tn_argmax(x, TN_AXES(1), false)), TN_I64);
    ck_assert_int_eq((int)tn_dtype_of(tn_sum(y, TN_AXES(2), false)), TN_I64);
    ck_fails(tn_max(x, TN_AXES(0), false), TN_SHAPE, "max", "[0,3]");
    ck_fails(tn_max(x, TN_ALL_AXES, false), TN_SHAPE, "max", "[0,3]", "no elements");
    ck_fails(tn_argmax(y, TN_AXES(0, 1), true), TN_SHAPE, "argmax", "[2,0,3]");
}
END_TEST

START_TEST(wrong_axes)
{
    tn_tensor *x = test_f32(TN_SHAPE(2, 3), {1, 2, 3, 4, 5, 6});
    ck_fails(tn_sum(x, TN_AXES(2), false), TN_AXIS, "sum", "axis 2");
    ck_fails(tn_max(x, TN_AXES(-3), false), TN_AXIS, "max", "-3");
    ck_fails(tn_argmax(x, TN_AXES(1, 5), true), TN_AXIS, "argmax", "5");
    ck_fails(tn_sum(x, TN_AXES(0, 0), false), TN_AXIS, "sum", "axis 0", "twice");
    ck_fails(tn_mean(x, TN_AXES(1, -1), false), TN_AXIS, "mean", "-1", "twice");
    ck_fails(tn_sum(x, TN_AXES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16), false), TN_AXIS, "sum", "17");
    ck_fails(tn_sum(TN_NONE, TN_ALL_AXES, false), TN_ARGUMENT, "sum");
    ck_fails(tn_sum(tn_reshape(x, TN_SHAPE(4)), TN_ALL_AXES, false), TN_SHAPE, "reshape"); /* the error of what gave NULL stays */
    ck_tensor_f32(tn_sum(x, TN_ALL_AXES, false), {21});
}
END_TEST

/* ---- the graph ---- */

START_TEST(producers_and_consumers_join_the_launch)
{
    tn_tensor *x = filled(hashed, TN_SHAPE(30, 100)), *y = filled(hashed, TN_SHAPE(30, 100));
    tn_tensor *sums = NULL, *columns = NULL;
    ck_launches(1, {
        sums = tn_mul(tn_add(tn_sum(tn_add(tn_mul(x, y), tn_int(1)), TN_AXES(1), false), tn_int(2)), tn_float(0.5));
        ck_ok(tn_realize(&sums, 1));
    });
    ck_launches(1, {
        columns = tn_neg(tn_max(tn_sub(x, y), TN_AXES(0), false));
        ck_ok(tn_realize(&columns, 1));
    });
    float a[3000], b[3000], got[100];
    ck_ok(tn_read(x, a, sizeof a));
    ck_ok(tn_read(y, b, sizeof b));
    ck_ok(tn_read(sums, got, 30 * sizeof got[0]));
    for (int r = 0; r < 30; r++) {
        float want = 0;
        for (int c = 0; c < 100; c++) want += a[r * 100 + c] * b[r * 100 + c] + 1;
        ck_assert_float_eq(got[r], (want + 2) * 0.5f);
    }
    ck_ok(tn_read(columns, got, sizeof got));
    for (int c = 0; c < 100; c++) {
        float want = -INFINITY;
        for (int r = 0; r < 30; r++) want = fmaxf(want, a[r * 100 + c] - b[r * 100 + c]);
        ck_assert_float_eq(got[c], -want);
    }
    ck_launches(1, {
        tn_tensor *mean = tn_mean(x, TN_AXES(1), true);
        ck_ok(tn_realize(&mean, 1));
    });
}
END_TEST

START_TEST(the_same_bits_twice)
{
    const int64_t n = test_is("oclgrind") ? 3000 : 300000;
    for (int form = 0; form < 3; form++) {
        const tn_shape s = form == 0 ? TN_SHAPE(n) : form == 1 ? TN_SHAPE(n / 3, 3) : TN_SHAPE(3, n / 3);
        tn_tensor *x = filled(growing, s), *y = tn_mul(x, x), *z = tn_mul(x, x);
        ck_same(tn_sum(x, TN_AXES(form == 2), false), tn_sum(x, TN_AXES(form == 2), false));
        ck_same(tn_sum(y, TN_AXES(form == 2), false), tn_sum(z, TN_AXES(form == 2), false));
    }
}
END_TEST

BONES_MAIN("reduce", values_of_a_small_matrix, every_length_is_exact_along_every_axis,
          the_maximum_is_found_in_every_position, large_numbers_do_not_swallow_small_ones, a_mean_is_the_sum_over_n,
          a_million_elements_stay_within_the_bound, long_axes_with_few_outputs, many_columns, means_of_ones_are_one_along_any_axis,
          five_million_elements, the_first_of_equals_and_the_first_nan, ties_and_nan_across_lanes_items_and_segments,
          integers_are_summed_in_64_bits, integers_have_exact_maxima, every_dtype_once, several_axes_and_keepdim,
          several_axes_before_long_rows, all_layouts, sixteen_axes, one_element_without_axes, axis_0_of_a_tensor_without_axes, empty_axes, wrong_axes, producers_and_consumers_join_the_launch,
          the_same_bits_twice)
