/* Gradients of every operation of the catalogue, from the table support/backward.def, against central differences. */
#include "bones.h"
#include "support/leaves.h"

#include <math.h>

enum { INPUTS = 3, RESULTS = 4, MOST = 128 };

/* ---- what the table's calls are made of ---- */

#define INTS(shape, ...) tn_from(TN_I64, shape, (const int64_t[]){__VA_ARGS__}, tn_device_of(x[0]))
#define BOOLS(shape, ...) tn_from(TN_BOOL, shape, (const uint8_t[]){__VA_ARGS__}, tn_device_of(x[0]))
#define PLACES INTS(TN_SHAPE(2, 4), 0, 2, 0, 0, 1, 1, 2, 1) /* in a row one element has no update, one several */
#define VALUE(status) ((status) == TN_OK ? v[0] : NULL)
#define BOTH(status) ((status) == TN_OK ? both(v) : NULL)

static tn_tensor *both(tn_tensor *const *v)
{
    return tn_concat((tn_tensor *const[]){tn_reshape(v[0], TN_SHAPE(-1)), tn_reshape(v[1], TN_SHAPE(-1))}, 2, 0);
}

/* x, its second column NaN. */
static tn_tensor *with_nan(tn_tensor *x)
{
    tn_tensor *column = tn_arange(TN_I64, 0, (double)tn_dim(x, -1), 1, tn_device_of(x));
    return tn_where(tn_eq(column, tn_int(1)), tn_float(NAN), x);
}

static tn_tensor *unit(tn_tensor *x)
{
    return tn_eye(tn_dtype_of(x), tn_dim(x, -1), tn_dim(x, -1), 0, tn_device_of(x));
}

/* Matrices that are symmetric and positive definite; that have large diagonals. */
static tn_tensor *definite(tn_tensor *x)
{
    return tn_add(tn_matmul(x, tn_transpose(x, -2, -1)), tn_mul(unit(x), tn_int(3)));
}
static tn_tensor *strong(tn_tensor *x)
{
    return tn_add(x, tn_mul(unit(x), tn_int(6)));
}

static tn_tensor *scaled(tn_tensor *loss)
{
    tn_grad_scaler *scaler = tn_grad_scaler_new(&(tn_grad_scaler_options){.scale = 8});
    tn_tensor *y = tn_grad_scaler_scale(scaler, loss);
    tn_grad_scaler_release(scaler);
    return y;
}

static tn_tensor *recomputed(tn_tensor *const *x, int count, void *user)
{
    (void)count;
    (void)user;
    return tn_mul(tn_sin(x[0]), tn_exp(x[1]));
}

/* ---- the table ---- */

typedef enum kind { SMOOTH, ONCE, KINK } kind;

typedef struct entry {
    const char *operation, *text, *inputs;
    kind kind;
    tn_function *call;
} entry;

#define JOIN_2(a, b) a##b
#define JOIN(a, b) JOIN_2(a, b)
#define BACK(operation, kind, inputs, ...)                                                    \
    static tn_tensor *JOIN(call_, __LINE__)(tn_tensor *const *x, int inputs_, void *user)     \
    {                                                                                         \
        tn_tensor *v[RESULTS] = {NULL};                                                       \
        int count = 0;                                                                        \
        (void)x, (void)inputs_, (void)user, (void)v, (void)count;                             \
        return __VA_ARGS__;                                                                   \
    }
#include "support/backward.def"
#undef BACK

static const entry table[] = {
#define BACK(operation, kind, inputs, ...) {#operation, #__VA_ARGS__, inputs, kind, JOIN(call_, __LINE__)},
#include "support/backward.def"
#undef BACK
};
enum { ENTRIES = sizeof table / sizeof table[0] };

/* ---- inputs ---- */

typedef struct inputs {
    const entry *entry;
    leaf_layout layout;
    int count;
    tn_shape shape[INPUTS];
    tn_tensor *leaf[INPUTS];
} inputs;

static void parse(inputs *in)
{
    for (const char *p = in->entry->inputs; *p && in->count < INPUTS;) {
        tn_shape *s = &in->shape[in->count++];
        *s = TN_SHAPE();
        for (; *p && *p != ' '; p += *p == ',' || *p == '-') {
            char *end = (char *)p;
            if (*p != '-') s->dim[s->ndim++] = strtol(p, &end, 10);
            p = end;
        }
        while (*p == ' ') p++;
    }
}

/* Different numbers of (-2, 2), apart from each other by more than differences step, and from 0; their sizes differ, too. */
static tn_tensor *numbers(tn_dtype dtype, tn_shape s, test_random *r, int *used)
{
    double value[MOST];
    int64_t n = 1;
    for (int a = 0; a < s.ndim; a++) n *= s.dim[a];
    ck_assert_int_le(n, MOST);
    for (int64_t i = 0; i < n; i++, (*used)++) {
        const int place = *used * 37 % 211; /* each once */
        value[i] = (0.15 + place * 0.0085 + 0.004 * test_unit(r)) * (test_below(r, 2) ? 1 : -1);
    }
    tn_tensor *x = tn_cast(tn_from(TN_F64, s, value, "host"), dtype);
    return tn_to(x, test_device());
}

static void make_inputs(inputs *in, tn_dtype dtype)
{
    test_random r = {test_seed(17) + (uint64_t)(in->entry - table)};
    int used = 0;
    parse(in);
    for (int i = 0; i < in->count; i++) {
        in->leaf[i] = ck_made(numbers(dtype, leaf_shape(in->layout, in->shape[i]), &r, &used));
        ck_ok(tn_set_requires_grad(in->leaf[i], true));
    }
}

/* The entry's call on views of the leaves. */
static tn_tensor *call(tn_tensor *const *leaf, int count, void *user)
{
    const inputs *in = user;
    tn_tensor *x[INPUTS] = {NULL};
    for (int i = 0; i < count; i++) {
        x[i] = leaf_view(in->layout, in->shape[i], leaf[i]);
        if (!x[i]) return NULL;
    }
    return in->entry->call(x, count, NULL);
}

static void check_gradient(const entry *e, leaf_layout way)
{
    const tn_scope scope = tn_scope_push();
    inputs in = {.entry = e, .layout = way};
    make_inputs(&in, TN_F64);
    const tn_status status = tn_gradcheck(call, in.leaf, in.count, &in, NULL);
    ck_assert_msg(status == TN_OK, "%s, layout %d of %s: %s", e->text, (int)way, e->inputs, tn_last_error());
    ck_ok(tn_scope_pop(scope));
    test_case_passed();
}

/* As test_takes, but in the long run PoCL has a third: all would be 1,500 programs, which it builds for a quarter of an hour. */
static bool takes(int i, int n)
{
    return test_takes(i, n) && (!test_long() || !test_is("pocl") || i % 3 == 0);
}

START_TEST(gradients_equal_central_differences_in_every_layout)
{
    NEEDS_F64();
    for (int i = 0; i < ENTRIES; i++) {
        if (!takes(i, 60)) continue;
        const int most = table[i].kind == KINK ? LEAF_REPEATED : LEAF_LAYOUTS;
        for (int way = 0; way < most; way++)
            if (test_is("host") || way == i / 60 % most) check_gradient(&table[i], (leaf_layout)way);
    }
}
END_TEST

/* ---- the gradient's own gradient ---- */

/* All gradients of Σ weight · call(leaves), one after the other. */
static tn_tensor *gradients(tn_tensor *const *leaf, int count, void *user)
{
    tn_tensor *g[INPUTS], *flat[INPUTS + 1], *joined = NULL;
    int n = 0;
    const bool before = tn_set_grad_enabled(true);
    tn_tensor *y = call(leaf, count, user), *weight = NULL;
    if (y) weight = tn_add(tn_reshape(tn_arange(tn_dtype_of(y), 0, (double)tn_numel(y), 1, tn_device_of(y)), tn_shape_of(y)), tn_int(1));
    if (weight && tn_grad(&y, &weight, 1, leaf, count, g, &(tn_backward_options){.create = true, .unused = true}) == TN_OK) {
        for (int i = 0; i < count; i++)
            if (g[i] != TN_NONE) flat[n++] = tn_reshape(g[i], TN_SHAPE(-1));
        flat[n++] = tn_reshape(tn_mul(leaf[0], tn_int(0)), TN_SHAPE(-1)); /* those of what is linear depend on nothing */
        joined = tn_concat(flat, n, 0);
    }
    (void)tn_set_grad_enabled(before);
    return joined;
}

START_TEST(gradients_of_smooth_operations_can_be_differentiated_again)
{
    NEEDS_F64();
    for (int i = 0; i < ENTRIES; i++) {
        if (table[i].kind != SMOOTH || !takes(i + 7, 200)) continue;
        const tn_scope scope = tn_scope_push();
        inputs in = {.entry = &table[i], .layout = i % 2 ? LEAF_TURNED : LEAF_PLAIN};
        make_inputs(&in, TN_F64);
        const tn_status status = tn_gradcheck(gradients, in.leaf, in.count, &in, NULL);
        ck_assert_msg(status == TN_OK, "%s of %s: %s", table[i].text, table[i].inputs, tn_last_error());
        ck_ok(tn_scope_pop(scope));
        test_case_passed();
    }
}
END_TEST

/* ---- shapes, dtypes, devices ---- */

static void gradients_of(const entry *e, tn_dtype dtype, const char *device, inputs *in, tn_tensor **g)
{
    *in = (inputs){.entry = e, .layout = LEAF_STEPPED};
    make_inputs(in, dtype);
    for (int i = 0; i < in->count; i++) {
        in->leaf[i] = ck_made(tn_to(tn_detach(in->leaf[i]), device));
        ck_ok(tn_set_requires_grad(in->leaf[i], true));
    }
    tn_tensor *y = ck_made(call(in->leaf, in->count, in)), *up = tn_ones(tn_dtype_of(y), tn_shape_of(y), device);
    ck_ok(tn_grad(&y, &up, 1, in->leaf, in->count, g, &(tn_backward_options){.unused = true}));
}

START_TEST(gradients_have_the_shape_dtype_and_device_of_their_operands)
{
    if (!test_is("host")) TN_SKIP("the same on every device; agreement with host is a test of its own");
    for (int i = 0; i < ENTRIES; i++)
        for (int d = 0; d < 3; d++) {
            static const tn_dtype dtypes[] = {TN_F64, TN_F32, TN_F16};
            const bool solver = strstr(table[i].text, "definite") || strstr(table[i].text, "strong");
            if (solver && dtypes[d] == TN_F16) continue;
            const tn_scope scope = tn_scope_push();
            inputs in;
            tn_tensor *g[INPUTS];
            gradients_of(&table[i], dtypes[d], test_device(), &in, g);
            for (int k = 0; k < in.count; k++) {
                if (g[k] == TN_NONE) continue;
                ck_assert_msg(tn_dtype_of(g[k]) == dtypes[d], "%s: %s", table[i].text, tn_dtype_name(tn_dtype_of(g[k])));
                ck_shape(g[k], tn_shape_of(in.leaf[k]));
                ck_assert_str_eq(tn_device_of(g[k]), test_device());
            }
            ck_ok(tn_scope_pop(scope));
        }
}
END_TEST

/* Solvers subtract. */
static void check_agreement(const entry *e)
{
    const tn_scope scope = tn_scope_push();
    inputs in;
    tn_tensor *here[INPUTS], *host[INPUTS];
    gradients_of(e, TN_F32, test_device(), &in, here);
    gradients_of(e, TN_F32, "host", &in, host);
    for (int k = 0; k < in.count; k++) {
        ck_assert_msg((here[k] == TN_NONE) == (host[k] == TN_NONE), "%s: operand %d", e->text, k);
        if (here[k] == TN_NONE) continue;
        double *got = test_numbers(here[k]), *want = test_numbers(host[k]);
        for (int64_t n = 0; n < tn_numel(host[k]); n++)
            ck_assert_msg(fabs(got[n] - want[n]) <= 2e-5 * (1 + fabs(want[n])) || (isnan(got[n]) && isnan(want[n])),
                          "%s: operand %d, element %d: %.9g, on host %.9g", e->text, k, (int)n, got[n], want[n]);
        free(got);
        free(want);
    }
    ck_ok(tn_scope_pop(scope));
    test_case_passed();
}

START_TEST(gradients_on_the_device_agree_with_host)
{
    NEEDS_OPENCL();
    for (int i = 0; i < ENTRIES; i++)
        if (takes(i + 3, test_has_f64() ? 200 : 16) && !strstr(table[i].text, "float_power")) check_agreement(&table[i]);
}
END_TEST

/* ---- the contract's lines ---- */

typedef tn_tensor *of_one(tn_tensor *x);

/* The gradient of the sum of f(x). */
static tn_tensor *sloped(of_one *f, tn_tensor *x)
{
    tn_tensor *g;
    ck_ok(tn_set_requires_grad(x, true));
    tn_tensor *y = ck_made(tn_sum(ck_made(f(x)), TN_ALL_AXES, false));
    ck_ok(tn_grad(&y, NULL, 1, &x, 1, &g, NULL));
    return g;
}
#define OF(name, ...)                     \
    static tn_tensor *name(tn_tensor *x)  \
    {                                     \
        tn_tensor *v[2] = {NULL};         \
        (void)v;                          \
        return __VA_ARGS__;               \
    }
#define ck_slope(f, x, ...) ck_close(sloped(f, x), 4, __VA_ARGS__)

OF(largest, tn_max(x, TN_ALL_AXES, false))
OF(least, tn_amin(x, TN_AXES(0), true))
OF(largest_place, VALUE(tn_max_with_index(x, 0, false, &v[0], NULL)))
OF(largest_norm, tn_norm(x, INFINITY, TN_ALL_AXES, false))
OF(running_largest, tn_cummax(x, 0))
OF(in_order, VALUE(tn_sort(x, 0, false, &v[0], NULL)))
OF(two_largest, VALUE(tn_topk(x, 2, 0, true, &v[0], NULL)))
OF(middle, tn_median(x, TN_ALL_AXES, false))

START_TEST(ties_are_shared_by_values_and_go_to_the_index_where_there_is_one)
{
    TN_SHARED(0 + 1, 12);
    ck_slope(largest, test_f32(TN_SHAPE(4), {2, 1, 2, 0}), {0.5, 0, 0.5, 0});
    ck_slope(least, test_f32(TN_SHAPE(3), {-1, -1, -1}), {1.0 / 3, 1.0 / 3, 1.0 / 3});
    ck_slope(largest_norm, test_f32(TN_SHAPE(4), {-2, 1, 2, 0}), {-0.5, 0, 0.5, 0});
    ck_slope(largest_place, test_f32(TN_SHAPE(4), {2, 1, 2, 0}), {1, 0, 0, 0});
    ck_slope(running_largest, test_f32(TN_SHAPE(4), {2, 1, 2, 0}), {2, 0, 2, 0}); /* to the last place so far */
    ck_slope(two_largest, test_f32(TN_SHAPE(4), {1, 2, 1, 2}), {0, 1, 0, 1});
    ck_slope(middle, test_f32(TN_SHAPE(4), {3, 1, 1, 5}), {0, 0, 1, 0}); /* the second of the ones */
}
END_TEST

OF(root_of_squares, tn_norm(x, 2, TN_ALL_AXES, false))
OF(norm_1, tn_norm(x, 1, TN_ALL_AXES, false))
OF(norm_1_5, tn_norm(x, 1.5, TN_ALL_AXES, false))
OF(norm_half, tn_norm(x, 0.5, TN_ALL_AXES, false))
OF(root, tn_sqrt(x))
OF(distances, tn_cdist(tn_unsqueeze(x, 0), tn_unsqueeze(x, 0), 2))
OF(deviation, tn_std(x, TN_ALL_AXES, 1, false))
OF(deviation_of_numbers, tn_nanstd(x, TN_ALL_AXES, 0, false))
OF(unit_length, tn_normalize(x, 2, 0, 0.5))

START_TEST(norms_and_deviations_of_nothing_have_no_gradient_and_roots_an_infinite_one)
{
    TN_SHARED(1 + 1, 12);
    tn_tensor *zeros = tn_zeros(TN_F32, TN_SHAPE(2), test_device());
    ck_slope(root_of_squares, zeros, {0, 0});
    ck_slope(norm_1, zeros, {0, 0});
    ck_slope(norm_1_5, zeros, {0, 0});
    ck_slope(norm_half, zeros, {0, 0});
    ck_slope(largest_norm, zeros, {0, 0});
    ck_slope(norm_half, test_f32(TN_SHAPE(2), {0, 2}), {0, 1});
    ck_slope(root, zeros, {INFINITY, INFINITY});
    ck_slope(distances, test_f32(TN_SHAPE(2), {3, 4}), {0, 0});
    ck_slope(deviation, test_f32(TN_SHAPE(3), {2, 2, 2}), {0, 0, 0});
    ck_slope(deviation_of_numbers, test_f32(TN_SHAPE(3), {2, NAN, 2}), {0, 0, 0});
    ck_slope(unit_length, zeros, {2, 2});
}
END_TEST

OF(product, tn_prod(x, TN_ALL_AXES, false))
OF(products, tn_cumprod(x, 0))
OF(scattered_product, tn_scatter_reduce(x, 0, tn_zeros(TN_I64, TN_SHAPE(3), tn_device_of(x)), tn_mul(x, tn_int(1)), TN_COMBINE_PROD, false))

START_TEST(c47_products_are_exact_with_zeros)
{
    TN_SHARED(2 + 1, 12);
    ck_slope(product, test_f32(TN_SHAPE(3), {0, 2, 3}), {6, 0, 0});
    ck_slope(product, test_f32(TN_SHAPE(3), {0, 2, 0}), {0, 0, 0});
    ck_slope(product, test_f32(TN_SHAPE(3), {1, 2, 3}), {6, 3, 2});
    ck_slope(products, test_f32(TN_SHAPE(3), {0, 2, 3}), {1 + 2 + 6, 0, 0});
    ck_slope(products, test_f32(TN_SHAPE(4), {2, 0, 3, 0}), {1, 2 + 6, 0, 0});
    ck_slope(scattered_product, test_f32(TN_SHAPE(3), {0, 2, 3}), {6, 1, 1}); /* the last two are kept as they are, too */
}
END_TEST

/* d²(abc) by a and b is c, also where they are 0. */
START_TEST(products_with_zeros_can_be_differentiated_twice)
{
    TN_SHARED(3 + 1, 12);
    tn_tensor *x = test_f32(TN_SHAPE(3), {0, 2, 3}), *g, *second;
    ck_ok(tn_set_requires_grad(x, true));
    tn_tensor *y = tn_prod(x, TN_ALL_AXES, false);
    ck_ok(tn_grad(&y, NULL, 1, &x, 1, &g, &(tn_backward_options){.create = true}));
    ck_tensor_f32(g, {6, 0, 0});
    tn_tensor *sum = tn_sum(g, TN_ALL_AXES, false);
    ck_ok(tn_grad(&sum, NULL, 1, &x, 1, &second, NULL));
    ck_tensor_f32(second, {3 + 2, 3 + 0, 2 + 0});
}
END_TEST

START_TEST(c47_where_and_nothing_times_infinity)
{
    TN_SHARED(4 + 1, 12);
    tn_tensor *x = test_f32(TN_SHAPE(2), {0, 1}), *n = test_f32(TN_SHAPE(2), {0, 2}), *zero = tn_int(0), *g[2];
    ck_ok(tn_set_requires_grad(x, true));
    ck_ok(tn_set_requires_grad(n, true));
    tn_tensor *y = tn_sum(tn_where(tn_eq(n, zero), zero, tn_div(x, n)), TN_ALL_AXES, false);
    ck_ok(tn_grad(&y, NULL, 1, (tn_tensor *const[]){x, n}, 2, g, NULL));
    ck_tensor_f32(g[0], {NAN, 0.5});
    ck_tensor_f32(g[1], {NAN, -0.25});
    ck_ok(tn_set_requires_grad(x, false));
    tn_tensor *safe = tn_where(tn_eq(x, zero), tn_int(1), x); /* the way around it */
    ck_ok(tn_set_requires_grad(n, true));
    y = tn_sum(tn_where(tn_eq(x, zero), zero, tn_div(n, safe)), TN_ALL_AXES, false);
    ck_ok(tn_grad(&y, NULL, 1, &n, 1, g, NULL));
    ck_tensor_f32(g[0], {0, 1});
}
END_TEST

OF(variance_of_one, tn_var(x, TN_ALL_AXES, 1, false))
OF(sum_of_numbers, tn_nansum(x, TN_ALL_AXES, false))
OF(mean_of_numbers, tn_nanmean(x, TN_ALL_AXES, false))
OF(logarithm_of_sums, tn_logcumsumexp(x, 0))
OF(determinant, tn_det(x))

START_TEST(gradients_where_numbers_are_not_finite)
{
    TN_SHARED(5 + 1, 12);
    ck_slope(variance_of_one, test_f32(TN_SHAPE(1), {3}), {NAN});
    ck_slope(sum_of_numbers, test_f32(TN_SHAPE(3), {1, NAN, 2}), {1, 0, 1});
    ck_slope(mean_of_numbers, test_f32(TN_SHAPE(3), {1, NAN, 2}), {0.5, 0, 0.5});
    ck_slope(in_order, test_f32(TN_SHAPE(3), {1, NAN, 2}), {1, 1, 1});
    ck_slope(logarithm_of_sums, test_f32(TN_SHAPE(3), {-INFINITY, 0, -INFINITY}), {0, 2, 0});
}
END_TEST

/* Of [[1, 2], [2, 4]] the cofactors. */
START_TEST(a_singular_matrix_has_a_gradient_of_its_determinant)
{
    TN_SHARED(6 + 1, 12);
    NEEDS_F64();
    double *g = test_numbers(sloped(determinant, test_f64(TN_SHAPE(2, 2), {1, 2, 2, 4})));
    const double want[] = {4, -2, -2, 1};
    for (int i = 0; i < 4; i++) ck_assert_msg(fabs(g[i] - want[i]) < 1e-6, "element %d is %.12g", i, g[i]);
    free(g);
}
END_TEST

/* ---- updates of one element ---- */

START_TEST(what_is_overwritten_has_no_gradient_and_of_two_updates_the_last)
{
    TN_SHARED(7 + 1, 12);
    tn_tensor *x = test_f32(TN_SHAPE(4), {1, 2, 3, 4}), *src = test_f32(TN_SHAPE(3), {5, 6, 7}), *index = test_i64(TN_SHAPE(3), {2, 0, 2}), *g[2];
    tn_tensor *const leaves[] = {x, src};
    for (int i = 0; i < 2; i++) ck_ok(tn_set_requires_grad(leaves[i], true));
    tn_tensor *const results[] = {tn_scatter(x, 0, index, src), tn_index_copy(x, 0, index, src), tn_put(x, index, src, false)};
    for (int i = 0; i < 3; i++) {
        tn_tensor *up = test_f32(TN_SHAPE(4), {10, 20, 30, 40});
        ck_tensor_f32(results[i], {6, 2, 7, 4});
        ck_ok(tn_grad(&results[i], &up, 1, leaves, 2, g, NULL));
        ck_tensor_f32(g[0], {0, 20, 0, 40});
        ck_tensor_f32(g[1], {0, 10, 30});
    }
}
END_TEST

START_TEST(extremes_without_the_element_itself_take_nothing_from_it)
{
    TN_SHARED(8 + 1, 12);
    tn_tensor *x = test_f32(TN_SHAPE(2), {5, 3}), *src = test_f32(TN_SHAPE(2), {5, 5}), *index = test_i64(TN_SHAPE(2), {0, 0}), *g[2];
    tn_tensor *const leaves[] = {x, src};
    for (int i = 0; i < 2; i++) ck_ok(tn_set_requires_grad(leaves[i], true));
    for (int with = 0; with < 2; with++) {
        tn_tensor *y = tn_sum(tn_scatter_reduce(x, 0, index, src, TN_COMBINE_AMAX, with), TN_ALL_AXES, false);
        ck_ok(tn_grad(&y, NULL, 1, leaves, 2, g, NULL));
        if (with) {
            ck_close(g[0], 2, {1.0 / 3, 1});
            ck_close(g[1], 2, {1.0 / 3, 1.0 / 3});
        } else {
            ck_tensor_f32(g[0], {0, 1});
            ck_tensor_f32(g[1], {0.5, 0.5});
        }
    }
}
END_TEST

/* ---- what an operation keeps ---- */

START_TEST(indices_have_no_gradient_and_are_only_kept_for_one)
{
    tn_tensor *x = test_f32(TN_SHAPE(3), {3, 1, 2}), *v, *at;
    ck_ok(tn_sort(x, 0, false, &v, &at));
    ck_assert(!tn_requires_grad(v));
    ck_ok(tn_set_requires_grad(x, true));
    ck_ok(tn_sort(x, 0, false, &v, &at));
    ck_assert(tn_requires_grad(v) && !tn_requires_grad(at));
    const int64_t live = tn_live_count();
    ck_ok(tn_topk(x, 1, 0, true, &v, NULL));
    tn_release(v);
    ck_assert_int_eq(tn_live_count(), live);
}
END_TEST

START_TEST(plain_numbers_count_in_the_dtype_they_are_computed_with)
{
    NEEDS_F64();
    tn_tensor *x = test_f64(TN_SHAPE(1), {1}), *g;
    ck_ok(tn_set_requires_grad(x, true));
    tn_tensor *y = tn_sum(tn_pow(tn_float(0.3), x), TN_ALL_AXES, false);
    ck_ok(tn_grad(&y, NULL, 1, &x, 1, &g, NULL));
    ck_close(g, 4, {-0.36119184129778071}); /* 0.3 log 0.3 */
}
END_TEST

START_TEST(gradients_go_back_to_the_device_that_an_operand_was_moved_from)
{
    NEEDS_OPENCL();
    tn_tensor *x = tn_from(TN_F32, TN_SHAPE(2), (const float[]){1, 2}, "host"), *w = test_f32(TN_SHAPE(2), {3, 4}), *g[2];
    tn_tensor *const leaves[] = {x, w};
    for (int i = 0; i < 2; i++) ck_ok(tn_set_requires_grad(leaves[i], true));
    const bool before = tn_auto_move(true);
    tn_tensor *y = ck_made(tn_sum(tn_concat((tn_tensor *const[]){tn_mul(x, w), x}, 2, 0), TN_ALL_AXES, false));
    (void)tn_auto_move(before);
    ck_ok(tn_grad(&y, NULL, 1, leaves, 2, g, NULL));
    ck_assert_str_eq(tn_device_of(g[0]), "host");
    ck_tensor_f32(g[0], {4, 5});
    ck_assert_str_eq(tn_device_of(g[1]), test_device());
    ck_tensor_f32(g[1], {1, 2});
}
END_TEST

/* ---- completeness ---- */

START_TEST(every_operation_of_the_catalogue_with_a_gradient_has_an_entry)
{
    tn_operation operation;
    for (int i = 0; tn_operation_at(i, &operation); i++) {
        /* rows: tests/test_gradients.c; modules: tests/test_layers.c */
        bool found = !operation.gradient || strcmp(operation.group, "elementwise") == 0 || strcmp(operation.group, "modules") == 0;
        for (int k = 0; k < ENTRIES && !found; k++) found = strcmp(table[k].operation, operation.name) == 0;
        ck_assert_msg(found, "%s: no entry of support/backward.def", operation.name);
    }
    for (int k = 0; k < ENTRIES; k++) {
        ck_assert_msg(tn_operation_find(table[k].operation, &operation), "%s is no operation", table[k].operation);
        ck_assert_msg(operation.gradient, "%s has a gradient, which the catalogue denies", operation.name);
    }
}
END_TEST

BONES_MAIN("backward", gradients_equal_central_differences_in_every_layout, gradients_of_smooth_operations_can_be_differentiated_again,
           gradients_have_the_shape_dtype_and_device_of_their_operands, gradients_on_the_device_agree_with_host,
           ties_are_shared_by_values_and_go_to_the_index_where_there_is_one,
           norms_and_deviations_of_nothing_have_no_gradient_and_roots_an_infinite_one, c47_products_are_exact_with_zeros,
           products_with_zeros_can_be_differentiated_twice, c47_where_and_nothing_times_infinity, gradients_where_numbers_are_not_finite,
           a_singular_matrix_has_a_gradient_of_its_determinant, what_is_overwritten_has_no_gradient_and_of_two_updates_the_last,
           extremes_without_the_element_itself_take_nothing_from_it, indices_have_no_gradient_and_are_only_kept_for_one,
           plain_numbers_count_in_the_dtype_they_are_computed_with, gradients_go_back_to_the_device_that_an_operand_was_moved_from,
           every_operation_of_the_catalogue_with_a_gradient_has_an_entry)
