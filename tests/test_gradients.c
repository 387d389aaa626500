/* The gradient column of the table of rows against central differences in f64 on host; what the tape will hang on. Case numbers are
 * those of the shared list. */
#include "bones.h"
#include "graph/rows.h"
#include "support/derive.h"
#include "support/leaves.h"

#include <math.h>

enum { MOST = 64 };

/* Operands of a row as numbers: shapes, and values in the row's range. */
typedef struct point {
    const tn__row *row;
    tn_shape shape[3];
    double value[3][MOST];
    double upstream[MOST]; /* of the result, row-major */
} point;

static int64_t count_of(tn_shape s)
{
    int64_t n = 1;
    for (int a = 0; a < s.ndim; a++) n *= s.dim[a];
    return n;
}

/* The first operand of rows that choose is a bool, and nothing flows into it. */
static bool is_condition(const tn__row *row, int operand)
{
    return row->inputs == TN__CHOOSE && operand == 0;
}

static tn_tensor *operand_of(const point *p, int i, const char *device)
{
    tn_tensor *x = tn_from(TN_F64, p->shape[i], p->value[i], "host");
    if (is_condition(p->row, i)) x = tn_gt(x, tn_int(0));
    return tn_to(x, device);
}

static void operands_of(const point *p, tn_tensor **operands)
{
    for (int i = 0; i < p->row->arity; i++) operands[i] = ck_made(operand_of(p, i, "host"));
}

/* Values of all operands are apart from each other and from 0 by more than the step of a difference: no kinks. */
static point point_of(const tn__row *row, const tn_shape *shapes, uint64_t seed)
{
    test_random r = {seed + 1000 * (uint64_t)(row - tn__rows)};
    point p = {.row = row};
    for (int i = 0; i < row->arity; i++) {
        p.shape[i] = shapes[i];
        for (int64_t k = 0; k < count_of(shapes[i]); k++) {
            bool apart = false;
            while (!apart) {
                const double v = row->low + (row->high - row->low) * test_unit(&r);
                apart = fabs(v) > 0.01;
                for (int j = 0; j < i; j++)
                    for (int64_t l = 0; l < count_of(shapes[j]); l++) apart = apart && fabs(v - p.value[j][l]) > 0.001;
                p.value[i][k] = v;
            }
        }
    }
    for (int k = 0; k < MOST; k++) p.upstream[k] = 2 * test_unit(&r) - 1;
    return p;
}

/* Σ upstream · row(operands) */
static long double loss(const point *p)
{
    const tn_scope scope = tn_scope_push();
    tn_tensor *operands[3];
    double out[MOST];
    operands_of(p, operands);
    tn_tensor *y = ck_made(tn__elementwise(p->row, operands));
    ck_assert_int_eq(tn_dtype_of(y), TN_F64);
    ck_ok(tn_read(y, out, tn_nbytes(y)));
    long double sum = 0;
    for (int64_t k = 0; k < tn_numel(y); k++) sum += (long double)out[k] * p->upstream[k];
    (void)tn_scope_pop(scope);
    return sum;
}

static void check_numerically(point *p)
{
    const double step = 1e-5;
    tn_tensor *operands[3], *gradients[3] = {0};
    operands_of(p, operands);
    tn_tensor *out = ck_made(tn__elementwise(p->row, operands));
    tn_tensor *up = ck_made(tn_from(TN_F64, tn_shape_of(out), p->upstream, "host"));
    ck_ok(row_gradient(p->row, operands, out, up, gradients));
    for (int i = 0; i < p->row->arity; i++) {
        const int64_t n = count_of(p->shape[i]);
        double got[MOST];
        if (is_condition(p->row, i)) {
            ck_assert_msg(!gradients[i], "%s: a gradient flows into the condition", p->row->name);
            continue;
        }
        ck_assert_msg(gradients[i], "%s: no gradient for operand %d", p->row->name, i);
        ck_shape(gradients[i], p->shape[i]);
        ck_assert_int_eq(tn_dtype_of(gradients[i]), TN_F64);
        ck_ok(tn_read(gradients[i], got, sizeof got[0] * (size_t)n));
        for (int64_t k = 0; k < n; k++) {
            const double x = p->value[i][k];
            p->value[i][k] = x + step;
            const long double more = loss(p);
            p->value[i][k] = x - step;
            const double want = (double)((more - loss(p)) / (2 * step));
            p->value[i][k] = x;
            ck_assert_msg(fabs(got[k] - want) <= 1e-7 * (1 + fabs(want)),
                          "%s: operand %d at %g: the gradient is %.12g, differences give %.12g", p->row->name, i, x, got[k], want);
        }
        tn_release(gradients[i]);
    }
    test_case_passed();
}

/* Does the row work on f64, and has it a gradient? */
static bool has_gradient(int i)
{
    return tn__rows[i].derivative.gradient && tn__rows[i].derivative.gradient != tn__grad_missing;
}

START_TEST(every_gradient_of_the_table_equals_central_differences)
{
    const tn_shape shapes[3] = {TN_SHAPE(5, 4), TN_SHAPE(5, 4), TN_SHAPE(5, 4)};
    int count = 0;
    for (int i = 0; i < TN__ROWS; i++) {
        if (!has_gradient(i)) continue;
        for (uint64_t seed = 1; seed <= 3; seed++) {
            point p = point_of(&tn__rows[i], shapes, test_seed(seed));
            check_numerically(&p);
        }
        count++;
    }
    ck_assert_int_ge(count, 73);
}
END_TEST

START_TEST(every_continuous_row_has_a_gradient)
{
    for (int i = 0; i < TN__ROWS; i++) ck_assert_msg(has_gradient(i) || tn__rows[i].step, "%s is continuous, but has no gradient", tn__rows[i].name);
}
END_TEST

START_TEST(saves_names_all_that_a_gradient_reads)
{
    const tn_shape shapes[3] = {TN_SHAPE(6), TN_SHAPE(6), TN_SHAPE(6)};
    for (int i = 0; i < TN__ROWS; i++) {
        if (!has_gradient(i)) continue;
        const tn__row *row = &tn__rows[i];
        const point p = point_of(row, shapes, 3);
        tn_tensor *operands[3], *lied[3], *right[3] = {0}, *other[3] = {0};
        operands_of(&p, operands);
        tn_tensor *out = tn__elementwise(row, operands), *up = tn_from(TN_F64, tn_shape_of(out), p.upstream, "host");
        for (int k = 0; k < row->arity; k++) /* what is not saved only has its shape */
            lied[k] = row->derivative.saves & 1 ? operands[k] : tn_full(tn_dtype_of(operands[k]), p.shape[k], is_condition(row, k) ? tn_bool(true) : tn_float(NAN), "host");
        ck_ok(row_gradient(row, operands, out, up, right));
        ck_ok(row_gradient(row, lied, row->derivative.saves & TN__SAVES_OUT ? out : tn_full(TN_F64, tn_shape_of(out), tn_float(NAN), "host"), up, other));
        for (int k = 0; k < row->arity; k++) {
            if (right[k]) ck_same(right[k], other[k]);
            tn_release(right[k]);
            tn_release(other[k]);
        }
    }
}
END_TEST

/* ---- C45: broadcast operands ---- */

static void check_shapes(const tn_shape *shapes)
{
    for (int i = 0; i < TN__ROWS; i++) {
        if (!has_gradient(i) || tn__rows[i].arity < 2) continue;
        point p = point_of(&tn__rows[i], shapes, 11);
        check_numerically(&p);
    }
}

START_TEST(c45_one_element_with_a_matrix)
{
    check_shapes((const tn_shape[]){TN_SHAPE(1), TN_SHAPE(5, 4), TN_SHAPE(5, 4)});
    check_shapes((const tn_shape[]){TN_SHAPE(5, 4), TN_SHAPE(1), TN_SHAPE(1)});
}
END_TEST
START_TEST(c45_a_column_with_a_row)
{
    check_shapes((const tn_shape[]){TN_SHAPE(4, 1), TN_SHAPE(1, 3), TN_SHAPE(4, 3)});
    check_shapes((const tn_shape[]){TN_SHAPE(1, 3), TN_SHAPE(4, 1), TN_SHAPE(3)});
}
END_TEST
START_TEST(c45_no_axes_with_a_vector)
{
    check_shapes((const tn_shape[]){TN_SHAPE(), TN_SHAPE(2), TN_SHAPE()});
    check_shapes((const tn_shape[]){TN_SHAPE(2), TN_SHAPE(), TN_SHAPE(2)});
    check_shapes((const tn_shape[]){TN_SHAPE(), TN_SHAPE(), TN_SHAPE()});
}
END_TEST
START_TEST(c45_a_vector_with_a_matrix)
{
    check_shapes((const tn_shape[]){TN_SHAPE(3), TN_SHAPE(2, 3), TN_SHAPE(2, 1)});
    check_shapes((const tn_shape[]){TN_SHAPE(2, 1, 3), TN_SHAPE(1, 4, 1), TN_SHAPE(4, 3)});
    check_shapes((const tn_shape[]){TN_SHAPE(1), TN_SHAPE(1, 2), TN_SHAPE(1, 1)});
}
END_TEST

/* ---- every layout, through autograd ---- */

typedef struct laid {
    const tn__row *row;
    leaf_layout layout;
} laid;

static const tn_shape laid_shape[3] = {{2, {4, 3}}, {2, {4, 3}}, {2, {1, 3}}};

static tn_tensor *row_of_leaves(tn_tensor *const *leaf, int count, void *user)
{
    const laid *of = user;
    tn_tensor *x[3];
    for (int i = 0; i < count; i++) {
        x[i] = leaf_view(of->layout, laid_shape[i], leaf[i]);
        if (is_condition(of->row, i)) x[i] = tn_gt(x[i], tn_int(0));
    }
    return tn__elementwise(of->row, x);
}

static void check_layout(const tn__row *row, leaf_layout layout)
{
    const tn_scope scope = tn_scope_push();
    laid of = {row, layout};
    tn_shape shape[3];
    tn_tensor *leaf[3];
    for (int i = 0; i < 3; i++) shape[i] = leaf_shape(layout, laid_shape[i]);
    const point p = point_of(row, shape, 29);
    for (int i = 0; i < row->arity; i++) {
        leaf[i] = ck_made(tn_to(tn_from(TN_F64, shape[i], p.value[i], "host"), test_device()));
        if (!is_condition(row, i)) ck_ok(tn_set_requires_grad(leaf[i], true));
    }
    const tn_status status = tn_gradcheck(row_of_leaves, leaf, row->arity, &of, NULL);
    ck_assert_msg(status == TN_OK, "%s, layout %d: %s", row->name, (int)layout, tn_last_error());
    ck_ok(tn_scope_pop(scope));
    test_case_passed();
}

START_TEST(gradients_of_views_in_every_layout_equal_central_differences)
{
    NEEDS_F64();
    for (int i = 0; i < TN__ROWS; i++) {
        if (!has_gradient(i) || !test_takes(i, 12)) continue;
        for (int layout = 0; layout < LEAF_LAYOUTS; layout++)
            if (test_is("host") || layout == i / 12 % LEAF_LAYOUTS) check_layout(&tn__rows[i], (leaf_layout)layout);
    }
}
END_TEST

/* The gradient of one operand, by hand. */
static tn_tensor *gradient_of(int row, int operand, tn_tensor *a, tn_tensor *b, tn_tensor *c, tn_tensor *up)
{
    tn_tensor *operands[3] = {a, b, c}, *g[3] = {0};
    tn_tensor *out = ck_made(tn__elementwise(&tn__rows[row], operands));
    if (!up) up = tn_ones(tn_dtype_of(out), tn_shape_of(out), test_device());
    ck_ok(row_gradient(&tn__rows[row], operands, out, up, g));
    for (int i = 0; i < 3; i++)
        if (i != operand) tn_release(g[i]);
    return ck_made(g[operand]);
}

START_TEST(c45_the_gradient_of_one_element_is_a_sum)
{
    tn_tensor *a = test_f32(TN_SHAPE(1), {3}), *b = tn_ones(TN_F32, TN_SHAPE(5, 4), test_device()), *g = gradient_of(TN__ROW_mul, 0, a, b, NULL, NULL);
    ck_shape(g, TN_SHAPE(1));
    ck_tensor_f32(g, {20});
    tn_release(g);
    g = gradient_of(TN__ROW_mul, 1, a, b, NULL, NULL);
    ck_shape(g, TN_SHAPE(5, 4));
    tn_release(g);
    g = gradient_of(TN__ROW_add, 0, tn_float(1), b, NULL, NULL);
    ck_shape(g, TN_SHAPE());
    ck_values(g, {20});
    tn_release(g);
}
END_TEST

START_TEST(gradients_of_nothing_are_nothing_and_of_what_it_was_added_to_zeros)
{
    tn_tensor *empty = tn_zeros(TN_F32, TN_SHAPE(0, 3), test_device()), *row = tn_ones(TN_F32, TN_SHAPE(3), test_device());
    tn_tensor *g = gradient_of(TN__ROW_mul, 0, empty, row, NULL, NULL);
    ck_shape(g, TN_SHAPE(0, 3));
    tn_release(g);
    g = gradient_of(TN__ROW_mul, 1, empty, row, NULL, NULL);
    ck_tensor_f32(g, {0, 0, 0});
    tn_release(g);
}
END_TEST

/* ---- kinks, and places where a gradient is not finite ---- */

#define ck_gradient(row, operand, a, b, c, up, ...)                             \
    do {                                                                        \
        tn_tensor *g_ = gradient_of(TN__ROW_##row, operand, a, b, c, up);       \
        ck_values(g_, __VA_ARGS__);                                             \
        tn_release(g_);                                                         \
    } while (0)

START_TEST(ties_are_shared_evenly)
{
    tn_tensor *a = test_f32(TN_SHAPE(3), {1, 2, 3}), *b = test_f32(TN_SHAPE(3), {1, 3, 2}), *up = test_f32(TN_SHAPE(3), {8, 4, 2});
    ck_gradient(maximum, 0, a, b, NULL, up, {4, 0, 2});
    ck_gradient(maximum, 1, a, b, NULL, up, {4, 4, 0});
    ck_gradient(minimum, 0, a, b, NULL, up, {4, 4, 0});
    ck_gradient(minimum, 1, a, b, NULL, up, {4, 0, 2});
    ck_gradient(maximum, 0, test_f32(TN_SHAPE(1), {2}), a, NULL, up, {8 + 2});
    ck_gradient(maximum, 0, test_f32(TN_SHAPE(2), {INFINITY, 0}), test_f32(TN_SHAPE(2), {INFINITY, -0.0}), NULL, NULL, {0.5, 0.5});
}
END_TEST

START_TEST(c47_where_sends_exactly_nothing_into_the_branch_not_taken)
{
    tn_tensor *c = test_bool(TN_SHAPE(2), {1, 0}), *b = test_f32(TN_SHAPE(2), {NAN, INFINITY}), *up = test_f32(TN_SHAPE(2), {INFINITY, NAN});
    ck_gradient(where, 1, c, b, b, up, {INFINITY, 0});
    ck_gradient(where, 2, c, b, b, up, {0, NAN});
    ck_gradient(where, 1, c, tn_float(0), b, test_f32(TN_SHAPE(2), {3, NAN}), {3});
}
END_TEST

/* where(n == 0, 0, x / n): the 0 that where sends into x / n meets 1/0 there. */
START_TEST(c47_zero_times_infinity_beyond_where_stays_nan)
{
    tn_tensor *x = test_f32(TN_SHAPE(2), {0, 1}), *n = test_f32(TN_SHAPE(2), {0, 2}), *zero = tn_float(0);
    tn_tensor *through = gradient_of(TN__ROW_where, 2, tn_eq(n, zero), zero, tn_div(x, n), NULL);
    ck_tensor_f32(through, {0, 1});
    ck_gradient(div, 0, x, n, NULL, through, {NAN, 0.5});
    tn_release(through);
}
END_TEST

START_TEST(c47_the_root_of_nothing_has_an_infinite_gradient)
{
    ck_gradient(sqrt, 0, test_f32(TN_SHAPE(2), {0, 4}), NULL, NULL, NULL, {INFINITY, 0.25});
}
END_TEST

START_TEST(c47_powers_of_nothing_have_finite_gradients)
{
    tn_tensor *zero = test_f32(TN_SHAPE(3), {0, 0, 0}), *e = test_f32(TN_SHAPE(3), {0, 2, 1});
    ck_gradient(pow, 0, zero, e, NULL, NULL, {0, 0, 1});
    ck_gradient(pow, 1, zero, e, NULL, NULL, {0, 0, 0}); /* PyTorch: 0 at base 0 and an exponent of 0 or more */
    ck_gradient(pow, 0, test_f32(TN_SHAPE(2), {-2, -3}), test_f32(TN_SHAPE(2), {3, 2}), NULL, NULL, {12, -6});
}
END_TEST

START_TEST(kinks_have_the_gradient_of_pytorch)
{
    tn_tensor *x = test_f32(TN_SHAPE(3), {-1, 0, 2});
    ck_gradient(relu, 0, x, NULL, NULL, NULL, {0, 0, 1});
    ck_gradient(abs, 0, x, NULL, NULL, NULL, {-1, 0, 1});
    ck_gradient(clamp, 0, x, tn_float(-1), tn_float(2), NULL, {1, 1, 1}); /* the bounds belong to the inside */
    ck_gradient(clamp, 0, x, tn_float(-0.5), tn_float(1.5), NULL, {0, 1, 0});
    ck_gradient(clamp, 0, x, tn_float(3), tn_float(1), NULL, {0, 0, 0}); /* min > max gives max */
    ck_gradient(clamp, 1, x, tn_float(3), tn_float(1), NULL, {0});
    ck_gradient(clamp, 2, x, tn_float(3), tn_float(1), NULL, {3});
    ck_gradient(relu, 0, test_f32(TN_SHAPE(2), {NAN, 1}), NULL, NULL, NULL, {1, 1}); /* only result <= 0 stops it */
}
END_TEST

/* Those of tanh and gelu are differences of 1 and what OpenCL gives within some ulps. */
static void check_far(int row, float left, float right)
{
    const float want[4] = {left, left, right, right};
    float got[4];
    tn_tensor *g = gradient_of(row, 0, test_f32(TN_SHAPE(4), {-200, -100, 100, 200}), NULL, NULL, NULL);
    ck_ok(tn_read(g, got, sizeof got));
    for (int i = 0; i < 4; i++) ck_assert_msg(fabsf(got[i] - want[i]) <= 1e-6f, "%s: element %d is %.9g", tn__rows[row].name, i, got[i]);
    tn_release(g);
}

START_TEST(gradients_far_out_are_finite)
{
    check_far(TN__ROW_sigmoid, 0, 0);
    check_far(TN__ROW_tanh, 0, 0);
    check_far(TN__ROW_erf, 0, 0);
    check_far(TN__ROW_gelu, 0, 1);
}
END_TEST

/* ---- an upstream that is the caller's stays the caller's ---- */

START_TEST(a_gradient_never_is_the_upstream_handle_itself)
{
    tn_tensor *a = test_f32(TN_SHAPE(2), {1, 2}), *up = test_f32(TN_SHAPE(2), {3, 4}), *operands[2] = {a, a}, *g[2] = {0};
    ck_ok(row_gradient(&tn__rows[TN__ROW_add], operands, tn_add(a, a), up, g));
    ck_assert_ptr_ne(g[0], up);
    ck_assert_ptr_ne(g[0], g[1]);
    tn_release(g[0]);
    tn_release(g[1]);
    ck_tensor_f32(up, {3, 4});
}
END_TEST

START_TEST(gradients_can_be_differentiated_again)
{
    tn_tensor *x = test_f32(TN_SHAPE(2), {2, 3}), *operands[1] = {x}, *out = tn_exp(x), *g[1] = {0};
    ck_ok(row_gradient(&tn__rows[TN__ROW_exp], operands, out, tn_ones(TN_F32, TN_SHAPE(2), test_device()), g));
    tn_tensor *second = gradient_of(TN__ROW_mul, 0, g[0], tn_float(2), NULL, NULL);
    ck_tensor_f32(second, {2, 2});
    tn_release(second);
    tn_release(g[0]);
}
END_TEST

/* ---- on a device, in f32, against host ---- */

START_TEST(gradients_on_the_device_agree_with_host)
{
    static const int rows[] = {TN__ROW_mul, TN__ROW_div, TN__ROW_maximum, TN__ROW_gelu, TN__ROW_where};
    NEEDS_OPENCL();
    const tn_shape shapes[3] = {TN_SHAPE(4, 1), TN_SHAPE(3), TN_SHAPE(4, 3)};
    for (int i = 0; i < (int)(sizeof rows / sizeof rows[0]); i++) {
        const tn__row *row = &tn__rows[rows[i]];
        const point p = point_of(row, shapes, 5);
        tn_tensor *h[3], *d[3], *on_host[3] = {0}, *on_device[3] = {0};
        operands_of(&p, h);
        for (int k = 0; k < row->arity; k++) {
            if (!is_condition(row, k)) h[k] = tn_cast(h[k], TN_F32);
            d[k] = tn_to(h[k], test_device());
        }
        tn_tensor *out = tn__elementwise(row, h), *up = tn_cast(tn_from(TN_F64, tn_shape_of(out), p.upstream, "host"), TN_F32);
        ck_ok(row_gradient(row, h, out, up, on_host));
        ck_ok(row_gradient(row, d, tn__elementwise(row, d), tn_to(up, test_device()), on_device));
        for (int k = 0; k < row->arity; k++) {
            float want[MOST], got[MOST];
            if (!on_host[k]) continue;
            ck_assert_str_eq(tn_device_of(ck_made(on_device[k])), test_device());
            ck_shape(on_device[k], p.shape[k]);
            ck_ok(tn_read(on_host[k], want, tn_nbytes(on_host[k])));
            ck_ok(tn_read(on_device[k], got, tn_nbytes(on_device[k])));
            for (int64_t n = 0; n < tn_numel(on_host[k]); n++)
                ck_assert_msg(fabsf(got[n] - want[n]) <= 4e-6f * (1 + fabsf(want[n])), "%s: operand %d: %.9g, on host %.9g", row->name, k, got[n], want[n]);
            tn_release(on_host[k]);
            tn_release(on_device[k]);
        }
        test_case_passed();
    }
}
END_TEST

/* ---- the hook, and the slot ---- */

/* The hook saw one operation of this name ("": any), with these operands and this result. */
static void saw(tn_tensor *out, const char *name, tn_tensor *a, tn_tensor *b, tn_tensor *c)
{
    const int operands = (a != NULL) + (b != NULL) + (c != NULL), count = seen.count;
    (void)ck_made(out);
    ck_assert_msg(count == 1, "%s: seen %d times", name, count);
    seen.count = 0;
    ck_assert_ptr_eq(seen.out, out);
    ck_assert_int_eq(seen.operands, operands);
    ck_assert_ptr_eq(seen.operand[0], a);
    ck_assert_ptr_eq(seen.operand[1], b);
    ck_assert_ptr_eq(seen.operand[2], c);
    if (*name) ck_assert_str_eq(seen.derivative->name, name);
}

static void set_up(void)
{
    derive_watch_end();
    bones_push();
}

START_TEST(the_hook_sees_every_elementwise_operation_once_with_its_public_operands)
{
    tn_tensor *a = test_f32(TN_SHAPE(2, 3), {1, 2, 3, 4, 5, 6}), *b = test_f32(TN_SHAPE(3), {1, 2, 3}), *c = test_f32(TN_SHAPE(), {2});
    tn_tensor *n = test_i32(TN_SHAPE(3), {1, 2, 3}), *s = tn_int(2), *t = test_bool(TN_SHAPE(3), {0, 1, 0});
    derive_watch();
    saw(tn_add(a, b), "add", a, b, NULL);
    saw(tn_mul(a, s), "mul", a, s, NULL);
    saw(tn_div(n, a), "div", n, a, NULL); /* the cast of n is not public */
    saw(tn_exp(n), "exp", n, NULL, NULL);
    saw(tn_where(t, a, c), "where", t, a, c);
    saw(tn_where(n, a, b), "where", n, a, b);
    saw(tn_clamp(a, c, b), "clamp", a, c, b);
    saw(tn_clamp(a, TN_NONE, b), "minimum", a, b, NULL);
    saw(tn_clamp(a, c, TN_NONE), "maximum", a, c, NULL);
    saw(tn_pow(a, b), "pow", a, b, NULL);
    saw(tn_pow(a, s), "mul", a, a, NULL);
    saw(tn_lt(a, b), "lt", a, b, NULL);
}
END_TEST

START_TEST(the_hook_sees_every_row_of_the_table_once)
{
    for (int i = 0; i < TN__ROWS; i++) {
        const tn__row *row = &tn__rows[i];
        tn_tensor *x[3];
        for (int k = 0; k < 3; k++) x[k] = row->text[0] ? tn_ones(TN_F32, TN_SHAPE(2), test_device()) : tn_ones(TN_I32, TN_SHAPE(2), test_device());
        derive_watch();
        saw(tn__elementwise(row, x), row->name, x[0], row->arity > 1 ? x[1] : NULL, row->arity > 2 ? x[2] : NULL);
        derive_watch_end();
    }
}
END_TEST

START_TEST(the_hook_sees_every_structured_operation_once_with_its_public_operands)
{
    tn_tensor *a = test_f32(TN_SHAPE(2, 3), {1, 2, 3, 4, 5, 6}), *h = tn_cast(a, TN_F16), *n = tn_cast(a, TN_I32), *v = tn_select(a, 0, 0);
    tn_tensor *t = tn_transpose(a, 0, 1);
    derive_watch();
    saw(tn_matmul(a, t), "matmul", a, t, NULL);
    saw(tn_matmul(a, v), "matmul", a, v, NULL);
    saw(tn_matmul(v, t), "matmul", v, t, NULL);
    saw(tn_matmul(n, t), "matmul", n, t, NULL);
    saw(tn_sum(a, TN_AXES(1), false), "", a, NULL, NULL);
    saw(tn_sum(n, TN_ALL_AXES, true), "", n, NULL, NULL);
    saw(tn_max(a, TN_AXES(0), false), "", a, NULL, NULL);
    saw(tn_argmax(a, TN_AXES(0), false), "", a, NULL, NULL);
    saw(tn_softmax(a, -1), "", a, NULL, NULL);
    saw(tn_log_softmax(h, 0), "", h, NULL, NULL);
    saw(tn_cast(a, TN_F16), "", a, NULL, NULL);
    saw(tn_clone(a), "", a, NULL, NULL);
    saw(tn_contiguous(t), "", t, NULL, NULL);
}
END_TEST

/* Composed operations are seen as what they are made of, which has gradients; the first piece reads the public operand. */
START_TEST(the_hook_sees_a_composed_operation_end_in_its_result)
{
    tn_tensor *a = test_f32(TN_SHAPE(2), {1, 3});
    derive_watch();
    tn_tensor *m = tn_mean(a, TN_ALL_AXES, false);
    ck_assert_int_ge(seen.count, 1);
    ck_assert_ptr_eq(seen.out, m);
    derive_watch();
    tn_tensor *r = tn_pow(a, tn_int(-1));
    ck_assert_int_eq(seen.count, 1);
    ck_assert_ptr_eq(seen.operand[1], a);
    ck_assert_ptr_eq(seen.out, r);
}
END_TEST

START_TEST(the_hook_sees_nothing_that_failed_and_nothing_internal)
{
    tn_tensor *a = test_f32(TN_SHAPE(2), {1, 2}), *b = test_f32(TN_SHAPE(3), {1, 2, 3}), *big = tn_zeros(TN_F32, TN_SHAPE(2, 2), test_device());
    double value;
    derive_watch();
    ck_fails(tn_add(a, b), TN_SHAPE, "add");
    ck_fails(tn_matmul(a, b), TN_SHAPE, "matmul");
    ck_fails(tn_sum(a, TN_AXES(5), false), TN_AXIS, "sum");
    ck_fails(tn_bitwise_and(a, a), TN_DTYPE, "bitwise_and");
    ck_ok(tn_item(tn_mul(tn_int(2), tn_int(3)), &value));
    ck_assert_int_eq(seen.count, 1);
    ck_ok(tn_assign(big, a));
    ck_ok(tn_finish(test_device()));
    ck_tensor_f32(big, {1, 2, 1, 2});
    ck_assert_int_eq(seen.count, 1);
}
END_TEST

START_TEST(a_removed_hook_sees_nothing)
{
    tn_tensor *a = test_f32(TN_SHAPE(2), {1, 2});
    derive_watch();
    derive_watch_end();
    ck_tensor_f32(tn_add(a, a), {2, 4});
    ck_assert_int_eq(seen.count, 0);
}
END_TEST

START_TEST(a_tensor_has_an_empty_slot_for_its_gradient_and_a_storage_counts_its_writes)
{
    tn_tensor *a = test_f32(TN_SHAPE(2), {1, 2}), *view = tn_slice(a, 0, 0, 1, 1);
    ck_assert_ptr_null(a->gradient);
    ck_assert_ptr_null(tn_add(a, a)->gradient);
    const uint64_t version = a->storage->version;
    ck_ok(tn_assign(view, tn_int(5)));
    ck_assert_ptr_eq(view->storage, a->storage);
    ck_assert_uint_gt(a->storage->version, version);
}
END_TEST

TEST_MAIN("gradients", set_up, bones_pop, every_gradient_of_the_table_equals_central_differences, every_continuous_row_has_a_gradient,
          saves_names_all_that_a_gradient_reads, c45_one_element_with_a_matrix, c45_a_column_with_a_row, c45_no_axes_with_a_vector,
          c45_a_vector_with_a_matrix, c45_the_gradient_of_one_element_is_a_sum, gradients_of_views_in_every_layout_equal_central_differences,
          gradients_of_nothing_are_nothing_and_of_what_it_was_added_to_zeros, ties_are_shared_evenly,
          c47_where_sends_exactly_nothing_into_the_branch_not_taken, c47_zero_times_infinity_beyond_where_stays_nan,
          c47_the_root_of_nothing_has_an_infinite_gradient, c47_powers_of_nothing_have_finite_gradients, kinks_have_the_gradient_of_pytorch,
          gradients_far_out_are_finite, a_gradient_never_is_the_upstream_handle_itself, gradients_can_be_differentiated_again,
          gradients_on_the_device_agree_with_host, the_hook_sees_every_elementwise_operation_once_with_its_public_operands,
          the_hook_sees_every_row_of_the_table_once, the_hook_sees_every_structured_operation_once_with_its_public_operands,
          the_hook_sees_a_composed_operation_end_in_its_result, the_hook_sees_nothing_that_failed_and_nothing_internal,
          a_removed_hook_sees_nothing, a_tensor_has_an_empty_slot_for_its_gradient_and_a_storage_counts_its_writes)
