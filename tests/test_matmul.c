/* Matrix product in NumPy's sense. The operands are small integers, so that every result is exact and equals the triple loop
 * below; case numbers are those of the shared list. */
#include "bones.h"
#include "graph/node.h"
#include "ops/matmul.h"

#include <math.h>

/* ---- operands: a shape, and how it lies in memory ---- */

typedef enum form {
    PLAIN,
    TURNED,      /* the last two axes swapped in memory */
    STEPPED,     /* every second element of the last two axes */
    FLIPPED,     /* the last two axes backwards */
    ROW_SPREAD,  /* one row, expanded */
    COLUMN_SPREAD,
    FORMS
} form;

typedef struct operand {
    tn_shape shape;
    form form;
    int64_t offset; /* elements in front */
    tn_dtype dtype;
} operand;

#define F32(...) ((operand){TN_SHAPE(__VA_ARGS__), PLAIN, 0, TN_F32})
#define OF(dtype, form, ...) ((operand){TN_SHAPE(__VA_ARGS__), form, 0, dtype})

static void store_integer(tn_dtype dtype, void *p, int64_t v)
{
    if (tn_dtype_is_float(dtype)) test_store(dtype, p, (double)v);
    else memcpy(p, &v, tn_dtype_size(dtype)); /* wraps; little-endian, as are all devices here */
}

static int64_t load_integer(tn_dtype dtype, const void *p)
{
    int64_t v = 0;
    if (tn_dtype_is_float(dtype)) return (int64_t)test_number(dtype, p);
    const int unused = 64 - 8 * (int)tn_dtype_size(dtype);
    memcpy(&v, p, tn_dtype_size(dtype));
    v = (int64_t)((uint64_t)v << unused);
    return tn_dtype_is_signed(dtype) ? v >> unused : (int64_t)((uint64_t)v >> unused);
}

/* -3 … 3, without a pattern that tiles could share. */
static int64_t small(int64_t i)
{
    return (int64_t)(((uint64_t)i * 0x9e3779b97f4a7c15ull >> 40) % 7) - 3;
}

static int64_t count_of(tn_shape s)
{
    int64_t n = 1;
    for (int a = 0; a < s.ndim; a++) n *= s.dim[a];
    return n;
}

/* What lies between and before the elements would be seen in any result. */
static tn_tensor *make(operand o, const char *device)
{
    const int last = o.shape.ndim - 1, row = last > 0 ? last - 1 : 0;
    tn_shape base = o.shape;
    if (o.form == TURNED) base.dim[last] = o.shape.dim[row], base.dim[row] = o.shape.dim[last];
    if (o.form == STEPPED) base.dim[last] *= 2;
    if (o.form == STEPPED && row != last) base.dim[row] *= 2;
    if (o.form == ROW_SPREAD) base.dim[row] = 1;
    if (o.form == COLUMN_SPREAD) base.dim[last] = 1;
    const int64_t n = count_of(base) + o.offset;
    const size_t size = tn_dtype_size(o.dtype);
    char *bytes = malloc((size_t)n * size + 1);
    for (int64_t i = 0; i < n; i++) store_integer(o.dtype, bytes + (size_t)i * size, i < o.offset ? 77 : small(i));
    tn_tensor *x = tn_from(o.dtype, TN_SHAPE(n), bytes, device);
    free(bytes);
    x = tn_view(tn_slice(x, 0, o.offset, TN_END, 1), base);
    if (o.form == TURNED) x = tn_transpose(x, row, last);
    if (o.form == STEPPED) x = tn_slice(x, last, 0, TN_END, 2);
    if (o.form == STEPPED && row != last) x = tn_slice(x, row, 0, TN_END, 2);
    if (o.form == FLIPPED) x = row == last ? tn_flip(x, TN_AXES(0)) : tn_flip(x, TN_AXES(-2, -1));
    if (o.form == ROW_SPREAD || o.form == COLUMN_SPREAD) x = tn_expand(x, o.shape);
    return x;
}

/* ---- the reference ---- */

static int64_t *integers_of(tn_tensor *x)
{
    const tn_dtype dtype = tn_dtype_of(x);
    const size_t n = (size_t)tn_numel(x), size = tn_dtype_size(dtype);
    char *bytes = malloc(n * size + 1);
    int64_t *list = malloc((n + 1) * sizeof *list);
    ck_ok(tn_read(x, bytes, n * size));
    for (size_t i = 0; i < n; i++) list[i] = load_integer(dtype, bytes + i * size);
    free(bytes);
    return list;
}

/* Both with two axes at least, and the leading ones of the result. */
typedef struct pair {
    tn_shape a, b, batch, result;
    int64_t m, n, k;
} pair;

static pair pair_of(tn_shape a, tn_shape b)
{
    pair p = {.a = a.ndim == 1 ? TN_SHAPE(1, a.dim[0]) : a, .b = b.ndim == 1 ? TN_SHAPE(b.dim[0], 1) : b};
    p.m = p.a.dim[p.a.ndim - 2], p.k = p.a.dim[p.a.ndim - 1], p.n = p.b.dim[p.b.ndim - 1];
    const int more_a = p.a.ndim - 2, more_b = p.b.ndim - 2, rank = more_a > more_b ? more_a : more_b;
    p.batch.ndim = rank;
    for (int g = 0; g < rank; g++) {
        const int64_t da = g < rank - more_a ? 1 : p.a.dim[g - (rank - more_a)];
        const int64_t db = g < rank - more_b ? 1 : p.b.dim[g - (rank - more_b)];
        p.batch.dim[g] = da == 1 ? db : da;
    }
    p.result = p.batch;
    if (a.ndim > 1) p.result.dim[p.result.ndim++] = p.m;
    if (b.ndim > 1) p.result.dim[p.result.ndim++] = p.n;
    return p;
}

/* Number of the operand's matrix that goes into matrix z of the result. */
static int64_t matrix_of(const pair *p, const tn_shape *x, int64_t z)
{
    const int lead = p->batch.ndim - (x->ndim - 2);
    int64_t index = 0, step = 1;
    for (int g = p->batch.ndim - 1; g >= 0; g--) {
        const int64_t at = z % p->batch.dim[g];
        z /= p->batch.dim[g];
        if (g < lead) continue;
        index += x->dim[g - lead] == 1 ? 0 : at * step;
        step *= x->dim[g - lead];
    }
    return index;
}

static int64_t *triple_loop(const pair *p, const int64_t *a, const int64_t *b)
{
    int64_t *out = malloc(((size_t)count_of(p->result) + 1) * sizeof *out);
    for (int64_t z = 0; z < count_of(p->batch) && count_of(p->result) > 0; z++) {
        const int64_t *x = a + matrix_of(p, &p->a, z) * p->m * p->k, *y = b + matrix_of(p, &p->b, z) * p->k * p->n;
        for (int64_t i = 0; i < p->m; i++)
            for (int64_t j = 0; j < p->n; j++) {
                uint64_t sum = 0;
                for (int64_t k = 0; k < p->k; k++) sum += (uint64_t)x[i * p->k + k] * (uint64_t)y[k * p->n + j];
                out[(z * p->m + i) * p->n + j] = (int64_t)sum;
            }
    }
    return out;
}

static char told[512];

/* What is wrong with x, or NULL. */
static const char *difference(tn_tensor *x, tn_dtype dtype, tn_shape shape, const int64_t *want)
{
    if (!x) return tn_last_error();
    const tn_shape is = tn_shape_of(x);
    bool same = is.ndim == shape.ndim;
    for (int a = 0; same && a < shape.ndim; a++) same = is.dim[a] == shape.dim[a];
    if (!same) return "another shape";
    if (tn_dtype_of(x) != dtype) return tn_dtype_name(tn_dtype_of(x));
    if (!tn_is_contiguous(x)) return "not row-major";
    const size_t n = (size_t)count_of(shape), size = tn_dtype_size(dtype);
    char *bytes = malloc(n * size + 1), one[8];
    const char *wrong = tn_read(x, bytes, n * size) == TN_OK ? NULL : tn_last_error();
    for (size_t i = 0; i < n && !wrong; i++) {
        store_integer(dtype, one, want[i]);
        if (tn_dtype_is_float(dtype) ? test_number(dtype, one) == test_number(dtype, bytes + i * size)
                                     : memcmp(one, bytes + i * size, size) == 0)
            continue;
        snprintf(told, sizeof told, "element %zu is %.17g instead of %.17g", i, test_number(dtype, bytes + i * size),
                 test_number(dtype, one));
        wrong = told;
    }
    free(bytes);
    return wrong;
}

/* The product of two operands on the device under test against the triple loop on what they hold on host. */
static const char *product_differs(operand a, operand b)
{
    const tn_scope scope = tn_scope_push();
    const pair p = pair_of(a.shape, b.shape);
    int64_t *x = integers_of(make(a, "host")), *y = integers_of(make(b, "host")), *want = triple_loop(&p, x, y);
    tn_tensor *c = tn_matmul(make(a, test_device()), make(b, test_device()));
    const char *wrong = difference(c, tn_promote(a.dtype, b.dtype), p.result, want);
    free(x);
    free(y);
    free(want);
    if (wrong && wrong != told) snprintf(told, sizeof told, "%s", wrong);
    (void)tn_scope_pop(scope);
    return wrong ? told : NULL;
}

static const char *text_of(operand o)
{
    static const char *const forms[] = {"plain", "turned", "stepped", "flipped", "one row", "one column"};
    static char texts[2][128];
    static int which;
    char *t = texts[which ^= 1];
    int at = snprintf(t, 128, "%s %s +%d [", tn_dtype_name(o.dtype), forms[o.form], (int)o.offset);
    for (int a = 0; a < o.shape.ndim && at < 120; a++) at += snprintf(t + at, (size_t)(128 - at), "%s%d", a ? "," : "", (int)o.shape.dim[a]);
    snprintf(t + at, (size_t)(128 - at), "]");
    return t;
}

static void check_product(operand a, operand b)
{
    const char *wrong = product_differs(a, b);
    ck_assert_msg(!wrong, "%s @ %s: %s", text_of(a), text_of(b), wrong);
    test_case_passed();
}

/* Where a program costs a second or more: a profile the driver is not meant for. */
static bool few(void)
{
    return test_is("rusticl-deep") || test_is("pocl-wide");
}
/* There a kernel with barriers takes PoCL two seconds; rusticl has the same ones for less. */
#define NOT_IN_POCL_WIDE() TN_SKIP_IF(test_is("pocl-wide"), "left to rusticl, which builds these kernels in a fifth of the time")

/* ---- NumPy's sense ---- */

START_TEST(a_product_by_hand_is_right)
{
    tn_tensor *a = test_f32(TN_SHAPE(2, 2), {1, 2, 3, 4}), *b = test_f32(TN_SHAPE(2, 3), {5, 6, 7, 8, 9, 10});
    ck_tensor_f32(tn_matmul(a, b), {21, 24, 27, 47, 54, 61});
    ck_tensor_f32(tn_matmul(tn_transpose(a, 0, 1), b), {29, 33, 37, 42, 48, 54});
    ck_tensor_f32(tn_matmul(tn_transpose(b, 0, 1), a), {29, 42, 33, 48, 37, 54});
}
END_TEST

START_TEST(operands_of_one_axis_are_a_row_and_a_column_that_go_again)
{
    NOT_IN_POCL_WIDE();
    tn_tensor *v = test_f32(TN_SHAPE(3), {1, 2, 3}), *w = test_f32(TN_SHAPE(3, 2), {1, 0, 0, 1, 1, 1}), *y;
    y = tn_matmul(v, v);
    ck_shape(y, TN_SHAPE());
    ck_tensor_f32(y, {14});
    y = tn_matmul(v, w);
    ck_shape(y, TN_SHAPE(2));
    ck_tensor_f32(y, {4, 5});
    y = tn_matmul(tn_transpose(w, 0, 1), v);
    ck_shape(y, TN_SHAPE(2));
    ck_tensor_f32(y, {4, 5});
}
END_TEST

START_TEST(leading_axes_broadcast_on_either_side)
{
    const operand pairs[][2] = {{F32(2, 1, 4, 5), F32(3, 5, 6)}, {F32(5, 2, 3), F32(3, 4)},       {F32(2, 3), F32(5, 3, 4)},
                                {F32(5, 2, 3), F32(3)},          {F32(3, 4, 5), F32(2, 1, 5, 6)}, {F32(2, 3, 1, 2), F32(2, 1, 2, 3)},
                                {F32(5, 2, 3), F32(5, 3, 4)},    {F32(3), F32(5, 3, 2)},          {F32(2, 1, 2, 3), F32(3)},
                                {F32(1, 3), F32(4, 1, 3, 1)},    {F32(1, 1, 2, 3), F32(3, 4)}};
    for (int i = 0; i < (int)(sizeof pairs / sizeof pairs[0]); i++)
        if (test_takes(i, 3)) check_product(pairs[i][0], pairs[i][1]);
}
END_TEST

START_TEST(sixteen_axes_multiply)
{
    TN_SHARED(1, 2);
    NOT_IN_POCL_WIDE();
    operand a = {{16, {2, 1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 3, 1, 1, 2, 3}}, PLAIN, 0, TN_F32};
    operand b = {{16, {1, 2, 1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 2, 1, 3, 2}}, PLAIN, 0, TN_F32};
    check_product(a, b);
    if (!few()) check_product(a, F32(3, 2));
}
END_TEST

START_TEST(every_layout_multiplies)
{
    TN_SHARED(1, 1);
    static const struct { form a, b; } pairs[] = {
        {PLAIN, TURNED},         {TURNED, PLAIN},     {TURNED, TURNED},         {STEPPED, PLAIN},       {PLAIN, STEPPED},
        {STEPPED, STEPPED},      {FLIPPED, PLAIN},    {PLAIN, FLIPPED},         {FLIPPED, FLIPPED},     {ROW_SPREAD, PLAIN},
        {PLAIN, ROW_SPREAD},     {COLUMN_SPREAD, PLAIN}, {PLAIN, COLUMN_SPREAD}, {ROW_SPREAD, COLUMN_SPREAD}, {FLIPPED, STEPPED}};
    for (int i = 0; i < (int)(sizeof pairs / sizeof pairs[0]); i++) {
        operand a = OF(TN_F32, pairs[i].a, 2, 17, 11), b = OF(TN_F32, pairs[i].b, 2, 11, 35);
        if (!test_takes(i, 2)) continue;
        a.offset = 3, b.offset = 1;
        check_product(a, b);
        a.shape = TN_SHAPE(7, 11), b.shape = TN_SHAPE(11, 9);
        if (test_long()) check_product(a, b);
    }
}
END_TEST

START_TEST(vectors_of_every_layout_multiply)
{
    NOT_IN_POCL_WIDE();
    static const form forms[] = {FLIPPED, STEPPED, PLAIN};
    for (int i = 0; i < (few() ? 1 : test_long() ? 3 : 2); i++) {
        check_product(OF(TN_F32, forms[i], 37), F32(37));
        check_product(OF(TN_F32, forms[i], 11), OF(TN_F32, forms[i], 11, 70));
        check_product(OF(TN_F32, forms[i], 70, 11), OF(TN_F32, forms[i], 11));
        if (test_long()) check_product(OF(TN_F32, TURNED, 70, 11), OF(TN_F32, forms[i], 11));
    }
}
END_TEST

START_TEST(a_batch_of_any_order_in_memory_multiplies)
{
    NOT_IN_POCL_WIDE();
    const char *d = test_device();
    tn_tensor *a = make(F32(4, 3, 5), d), *b = make(F32(5, 3, 6), d), *ha = make(F32(4, 3, 5), "host"), *hb = make(F32(5, 3, 6), "host");
    const tn_axes first = TN_AXES(1, 0, 2), heads = TN_AXES(1, 0, 2);
    ck_same(tn_host(tn_matmul(tn_flip(tn_permute(a, first), TN_AXES(0)), tn_permute(b, heads))),
            tn_matmul(tn_flip(tn_permute(ha, first), TN_AXES(0)), tn_permute(hb, heads)));
    const pair p = pair_of(TN_SHAPE(3, 4, 5), TN_SHAPE(3, 5, 6));
    int64_t *x = integers_of(tn_permute(ha, first)), *y = integers_of(tn_permute(hb, heads)), *want = triple_loop(&p, x, y);
    const char *wrong = difference(tn_matmul(tn_permute(a, first), tn_permute(b, heads)), TN_F32, p.result, want);
    ck_assert_msg(!wrong, "%s", wrong);
    free(x);
    free(y);
    free(want);
}
END_TEST

START_TEST(the_same_matrix_on_both_sides_multiplies)
{
    TN_SHARED(1, 2);
    NOT_IN_POCL_WIDE();
    tn_tensor *a = test_f32(TN_SHAPE(2, 2), {1, 2, 3, 4});
    ck_tensor_f32(tn_matmul(a, a), {7, 10, 15, 22});
    ck_tensor_f32(tn_matmul(a, tn_transpose(a, 0, 1)), {5, 11, 11, 25});
    ck_tensor_f32(tn_matmul(tn_matmul(a, a), a), {37, 54, 81, 118});
}
END_TEST

/* ---- C20: nothing to add up ---- */

START_TEST(c20_an_empty_inner_axis_gives_zeros)
{
    TN_SHARED(1, 2);
    static const tn_dtype dtypes[] = {TN_F32, TN_F16, TN_I32, TN_U8};
    for (int i = 0; i < 4; i++) {
        const tn_scope scope = tn_scope_push();
        tn_release(tn_full(dtypes[i], TN_SHAPE(3, 2), tn_dtype_is_float(dtypes[i]) ? tn_float(9.9) : tn_int(9), test_device()));
        ck_values(tn_matmul(tn_zeros(dtypes[i], TN_SHAPE(3, 0), test_device()), tn_zeros(dtypes[i], TN_SHAPE(0, 2), test_device())),
                  {0, 0, 0, 0, 0, 0});
        ck_ok(tn_scope_pop(scope));
    }
    tn_tensor *v = tn_zeros(TN_F32, TN_SHAPE(0), test_device()), *y = tn_matmul(v, v);
    ck_shape(y, TN_SHAPE());
    ck_tensor_f32(y, {0});
    y = tn_matmul(tn_zeros(TN_F32, TN_SHAPE(2, 1, 3, 0), test_device()), tn_zeros(TN_F32, TN_SHAPE(2, 0, 1), test_device()));
    ck_shape(y, TN_SHAPE(2, 2, 3, 1));
    ck_tensor_f32(y, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
}
END_TEST

START_TEST(c20_an_empty_inner_axis_leaves_what_it_is_added_to)
{
    NOT_IN_POCL_WIDE();
    const char *d = test_device();
    tn_tensor *c = tn_ones(TN_F32, TN_SHAPE(3, 2), d);
    tn_tensor *y = tn_relu(tn_add(c, tn_matmul(tn_zeros(TN_F32, TN_SHAPE(3, 0), d), tn_zeros(TN_F32, TN_SHAPE(0, 2), d))));
    ck_tensor_f32(y, {1, 1, 1, 1, 1, 1});
    ck_ok(tn_assign(c, y));
    ck_tensor_f32(c, {1, 1, 1, 1, 1, 1});
}
END_TEST

START_TEST(empty_results_have_their_shape)
{
    NOT_IN_POCL_WIDE();
    const char *d = test_device();
    tn_tensor *a = tn_zeros(TN_F32, TN_SHAPE(0, 3), d), *b = tn_ones(TN_F32, TN_SHAPE(3, 2), d), *c = tn_zeros(TN_F32, TN_SHAPE(3, 0), d);
    ck_shape(tn_matmul(a, b), TN_SHAPE(0, 2));
    ck_shape(tn_matmul(tn_transpose(b, 0, 1), c), TN_SHAPE(2, 0));
    ck_shape(tn_matmul(a, c), TN_SHAPE(0, 0));
    ck_shape(tn_matmul(tn_zeros(TN_F32, TN_SHAPE(0, 2, 3), d), b), TN_SHAPE(0, 2, 2));
    tn_tensor *e = tn_zeros(TN_F32, TN_SHAPE(4, 3, 5), d);
    ck_ok(tn_finish(d));
    ck_shape(tn_matmul(tn_zeros(TN_F32, TN_SHAPE(0, 1, 2, 3), d), e), TN_SHAPE(0, 4, 2, 5));
    ck_launches(0, ck_ok(tn_finish(d)));
    ck_shape(tn_add(tn_matmul(a, b), tn_int(1)), TN_SHAPE(0, 2));
    ck_tensor_f32(tn_sum(tn_matmul(a, b), TN_AXES(0), false), {0, 0});
}
END_TEST

/* ---- C21: edges of tiles, transpositions, offsets ---- */

static void check_sizes(int64_t m, int64_t n, int64_t k, int how, int64_t batch, int64_t offset)
{
    operand a = OF(TN_F32, how & 1 ? TURNED : PLAIN, batch, m, k), b = OF(TN_F32, how & 2 ? TURNED : PLAIN, batch, k, n);
    a.offset = offset, b.offset = offset == 0 ? 0 : 4 - offset;
    a.shape.dim[0] = 1; /* broadcast where the batch is 3 */
    check_product(a, b);
}

/* All triples on host, unless a sanitizer watches, and in the long run; else every pair of extents with one of the third, of as many
 * extents as the device's speed allows. Operands that are turned have other loads, but the same tiles: fewer pairs. */
static void check_edges(int how)
{
    static const int64_t all[] = {1, 7, 8, 9, 11, 15, 16, 17, 31, 33, 130}, some[] = {1, 8, 9, 16, 17, 33, 130}, four[] = {1, 9, 33, 130};
    static const int64_t offsets[] = {0, 1, 3};
    const bool whole = test_long() || (test_is("host") && !TEST_ASAN), slow = few() && !whole, medium = test_is("rusticl") && !whole;
    const int64_t *sizes = slow ? four : medium ? some : all;
    const int count = slow ? 4 : medium ? 7 : 11, step = whole || slow || how == 0 ? 1 : 2;
    for (int i = 0; i < count; i += step)
        for (int j = 0; j < count; j += step)
            for (int l = 0; l < count; l++) {
                if (whole) {
                    for (int o = 0; o < 3; o++)
                        for (int64_t batch = 1; batch <= 3; batch += 2) check_sizes(sizes[i], sizes[j], sizes[l], how, batch, offsets[o]);
                } else if (l == (i + 2 * j + how) % count)
                    check_sizes(sizes[i], sizes[j], sizes[l], how, 3, offsets[(i + how) % 3]);
            }
}

START_TEST(c21_edges_plain_plain)
{
    check_edges(0);
}
END_TEST
START_TEST(c21_edges_turned_plain)
{
    TN_SKIP_IF(few() && !test_long(), "one operand turned is left to the profile's own device");
    check_edges(1);
}
END_TEST
START_TEST(c21_edges_plain_turned)
{
    TN_SKIP_IF(few() && !test_long(), "one operand turned is left to the profile's own device");
    check_edges(2);
}
END_TEST
START_TEST(c21_edges_turned_turned)
{
    NOT_IN_POCL_WIDE();
    check_edges(3);
}
END_TEST

/* Sizes from which both operands are packed, and those that are long and thin. */
START_TEST(c21_large_products_are_exact)
{
    NOT_IN_POCL_WIDE();
    const operand pairs[][2] = {
        {F32(257, 260), F32(260, 259)},
        {OF(TN_F32, TURNED, 257, 260), F32(260, 259)},
        {OF(TN_F32, TURNED, 2, 257, 260), OF(TN_F32, TURNED, 2, 260, 259)},
        {OF(TN_F32, STEPPED, 257, 260), OF(TN_F32, STEPPED, 260, 259)},
        {F32(1, 3000), OF(TN_F32, TURNED, 3000, 70)},
        {F32(1, 1000), F32(1000, 1000)},
        {F32(1000, 70), F32(70, 1)},
        {F32(300, 1), F32(1, 300)},
        {F32(3000, 2), F32(2, 3)},
    };
    for (int i = 0; i < (int)(sizeof pairs / sizeof pairs[0]); i++)
        if (test_takes(i, 2)) check_product(pairs[i][0], pairs[i][1]);
}
END_TEST

/* ---- how a product is laid out (no device needed) ---- */

static void check_shape(const tn__matmul_case *c)
{
    const tn__matmul_shape s = tn__matmul_choose(c);
    if (c->deep) { /* the last tiles are moved back, so that one must fit; together they cover the result */
        const int64_t columns = s.sweep ? s.sweep : s.dot ? s.nv : (int64_t)s.nv * s.width;
        ck_assert_msg(s.mr <= c->m && (s.sweep ? s.width : columns) <= c->n, "[%d,%d] has a tile of %d x %d", (int)c->m, (int)c->n, s.mr, (int)columns);
        ck_assert_int_ge(s.panels * columns, c->n);
        ck_assert_int_ge(s.chunks * s.tiles * s.mr, c->m);
        ck_assert_int_le(s.sweep, s.most_columns);
        ck_assert_uint_eq(s.global, (uint64_t)(s.panels * s.chunks * c->batch));
    } else {
        const tn__matmul_tile *t = &s.tile;
        ck_assert_uint_ge(c->device->info.max_work_group, s.local);
        if (s.few) {
            ck_assert(s.few >= (s.few_rows ? c->m : c->n) && s.few <= 8);
            ck_assert_uint_le((uint64_t)(s.few * s.width * c->element) * s.local, c->device->info.local_memory);
            return;
        }
        ck_assert_uint_le(tn__matmul_tile_bytes(t, c->element), c->device->info.local_memory);
        ck_assert_int_eq(tn__matmul_tile_items(t), (int)s.local);
        ck_assert_uint_ge(s.global / s.local * (uint64_t)(t->tm * t->tn), (uint64_t)(c->m * c->n * c->batch));
    }
}

START_TEST(c22_c75_tiles_fit_the_matrix_the_group_and_the_local_memory)
{
    static const uint64_t groups[] = {1, 3, 17, 64, 256, 1024}, locals[] = {0, 4096, 16384, 32768};
    static tn__device device;
    device.compute_units = device.info.compute_units = 2;
    for (int g = 0; g < 6; g++)
        for (int l = 0; l < 4; l++)
            for (int64_t i = 0; i < 4096; i++) {
                tn__matmul_case c = {.m = 1 + i % 8 * 9, .n = 1 + i / 8 % 16 * 5, .k = 40, .batch = 1 + i % 2, .device = &device};
                const bool turned_a = i / 128 % 2, turned_b = i / 256 % 2;
                c.a_rs = turned_a ? 1 : c.k, c.a_cs = turned_a ? c.m : 1, c.b_rs = turned_b ? 1 : c.n, c.b_cs = turned_b ? c.k : 1;
                c.element = i / 512 % 2 ? 8 : 4;
                c.deep = i / 1024 % 2;
                device.vector_width = 4 << (i / 2048 + (l == 0));
                device.info.max_work_group = groups[g], device.info.local_memory = locals[l];
                check_shape(&c);
            }
}
END_TEST

/* ---- C22 and C75 on a device ---- */

static int multiply_with_small_groups(void)
{
    const uint64_t most = strtoull(getenv("POCL_MAX_WORK_GROUP_SIZE"), NULL, 10);
    tn_device_info info;
    const char *wrong = NULL;
    EXPECT(tn_device_query(test_device(), &info) == TN_OK && tn_device_probe(test_device()) == TN_OK);
    EXPECT(info.max_work_group <= most);
    if (!wrong) wrong = product_differs(F32(33, 17), F32(17, 70));
    if (!wrong) wrong = product_differs(F32(3, 17), OF(TN_F32, TURNED, 17, 70));
    if (wrong) fprintf(stderr, "groups of %d: %s\n", (int)most, wrong);
    (void)tn_shutdown();
    return wrong != NULL;
}

static void with_groups_of(const char *setting)
{
    TN_SKIP_IF(!test_is("pocl-wide"), "PoCL's groups can be limited");
    ck_assert_int_eq(bones_child("small groups", (const char *const[]){setting, "TENON_PROFILE=wide", NULL}, NULL, 0), 0);
}

START_TEST(c22_groups_of_one)
{
    with_groups_of("POCL_MAX_WORK_GROUP_SIZE=1");
}
END_TEST
START_TEST(c22_groups_of_three)
{
    with_groups_of("POCL_MAX_WORK_GROUP_SIZE=3");
}
END_TEST
START_TEST(c22_groups_of_seventeen)
{
    with_groups_of("POCL_MAX_WORK_GROUP_SIZE=17");
}
END_TEST

START_TEST(c75_little_local_memory_is_enough)
{
    TN_SKIP_IF(test_is("host") || few(), "needs the profile wide");
    tn__device *device = tn__device_use(test_device());
    const uint64_t before = device->info.local_memory;
    device->info.local_memory = 2048;
    const char *wrong = product_differs(F32(64, 65), F32(65, 66));
    device->info.local_memory = before;
    ck_assert_msg(!wrong, "%s", wrong);
    check_product(F32(64, 64), F32(64, 64)); /* in Oclgrind's own 32 KB, among others */
}
END_TEST

/* ---- dtypes ---- */

static void check_dtype(tn_dtype dtype)
{
    const int turn = (int)dtype;
    check_product(OF(dtype, PLAIN, 7, 9), OF(dtype, PLAIN, 9, 5));
    if (test_takes(turn, 2)) check_product(OF(dtype, PLAIN, 17, 33), OF(dtype, TURNED, 33, 130));
    if (test_takes(turn + 1, 2)) check_product(OF(dtype, STEPPED, 3, 17, 33), OF(dtype, PLAIN, 33, 40));
    if (!test_long()) return;
    check_product(OF(dtype, TURNED, 17, 33), OF(dtype, PLAIN, 33, 130));
    check_product(OF(dtype, PLAIN, 1, 33), OF(dtype, TURNED, 33, 9));
}

START_TEST(f64_multiplies)
{
    NOT_IN_POCL_WIDE();
    NEEDS_F64();
    check_dtype(TN_F64);
}
END_TEST
START_TEST(f16_multiplies)
{
    check_dtype(TN_F16);
}
END_TEST
START_TEST(bf16_multiplies_and_rounds_once)
{
    NOT_IN_POCL_WIDE();
    check_dtype(TN_BF16);
}
END_TEST
START_TEST(i32_multiplies)
{
    check_dtype(TN_I32);
}
END_TEST

START_TEST(the_other_integers_multiply)
{
    NOT_IN_POCL_WIDE();
    static const tn_dtype dtypes[] = {TN_I8, TN_U8, TN_I64, TN_U32, TN_I16, TN_U16, TN_U64};
    for (int i = 0; i < 7; i++) {
        const tn_dtype d = dtypes[i];
        if (!test_takes(i, 3)) continue;
        check_product(OF(d, PLAIN, 7, 9), OF(d, PLAIN, 9, 5));
        if (test_long()) check_product(OF(d, TURNED, 12, 21), OF(d, TURNED, 21, 37));
    }
}
END_TEST

START_TEST(mixed_dtypes_multiply_in_the_promoted_one)
{
    NOT_IN_POCL_WIDE();
    static const tn_dtype pairs[][2] = {{TN_F16, TN_F32}, {TN_I32, TN_F32}, {TN_F16, TN_BF16}, {TN_I8, TN_I32}, {TN_U8, TN_I8},
                                        {TN_BOOL, TN_I32}, {TN_I64, TN_F16}, {TN_F32, TN_BOOL}};
    for (int i = 0; i < 8; i++) {
        if (!test_takes(i, 3)) continue;
        operand a = OF(pairs[i][0], PLAIN, 9, 11), b = OF(pairs[i][1], PLAIN, 11, 17);
        if (a.dtype != TN_BOOL && b.dtype != TN_BOOL) {
            check_product(a, b);
            if (test_long()) check_product(OF(pairs[i][1], TURNED, 9, 11), OF(pairs[i][0], STEPPED, 11, 17));
            continue;
        }
        tn_tensor *x = make(OF(TN_I32, PLAIN, 9, 11), "host"), *y = make(OF(TN_I32, PLAIN, 11, 17), "host");
        if (a.dtype == TN_BOOL) x = tn_cast(x, TN_BOOL);
        if (b.dtype == TN_BOOL) y = tn_cast(y, TN_BOOL);
        const tn_dtype to = tn_promote(a.dtype, b.dtype);
        x = a.dtype == TN_BOOL ? x : tn_cast(x, a.dtype), y = b.dtype == TN_BOOL ? y : tn_cast(y, b.dtype);
        const pair p = pair_of(a.shape, b.shape);
        int64_t *u = integers_of(x), *v = integers_of(y), *want = triple_loop(&p, u, v);
        const char *wrong = difference(tn_matmul(tn_to(x, test_device()), tn_to(y, test_device())), to, p.result, want);
        ck_assert_msg(!wrong, "%s @ %s: %s", tn_dtype_name(a.dtype), tn_dtype_name(b.dtype), wrong);
        free(u);
        free(v);
        free(want);
    }
}
END_TEST

START_TEST(integers_wrap_in_their_dtype)
{
    NOT_IN_POCL_WIDE();
    tn_tensor *y = tn_matmul(test_i32(TN_SHAPE(1, 3), {2147483647, -2147483647 - 1, 65536}), test_i32(TN_SHAPE(3, 2), {2, 1, 3, 2147483647, 65536, 65535}));
    ck_tensor_i32(y, {2147483646, -65537});
    if (test_takes(0, 2)) {
        y = tn_matmul(test_u8(TN_SHAPE(2), {200, 100}), test_u8(TN_SHAPE(2), {2, 3}));
        ck_tensor_u8(y, {188});
        y = tn_matmul(test_i64(TN_SHAPE(2), {INT64_MAX, INT64_MIN}), test_i64(TN_SHAPE(2), {3, 5}));
        ck_tensor_i64(y, {INT64_MAX - 2 + INT64_MIN});
    }
    if (test_takes(1, 2)) {
        y = tn_matmul(test_values(TN_I8, TN_SHAPE(1, 4), {127, 127, -128, -128}), test_values(TN_I8, TN_SHAPE(4), {127, 2, -128, 127}));
        ck_values(y, {127});
        y = tn_matmul(test_u32(TN_SHAPE(2), {4294967295u, 4294967295u}), test_u32(TN_SHAPE(2), {4294967295u, 2}));
        ck_values(y, {4294967295.0});
    }
}
END_TEST

START_TEST(integers_wrap_in_the_wider_dtype_asked_for)
{
    NOT_IN_POCL_WIDE();
    tn_tensor *a = test_i32(TN_SHAPE(1, 2), {2000000000, 2000000000}), *b = test_i32(TN_SHAPE(2, 1), {2000000000, 1});
    ck_tensor_i64(tn_matmul(tn_cast(a, TN_I64), b), {4000000002000000000});
    ck_tensor_i64(tn_matmul(a, tn_cast(b, TN_I64)), {4000000002000000000});
}
END_TEST

START_TEST(f16_and_bf16_accumulate_in_f32)
{
    NOT_IN_POCL_WIDE();
    const char *d = test_device();
    tn_tensor *a = tn_ones(TN_F16, TN_SHAPE(2, 4096), d), *b = tn_ones(TN_F16, TN_SHAPE(4096, 2), d);
    ck_values(tn_matmul(a, b), {4096, 4096, 4096, 4096});
    ck_values(tn_matmul(tn_cast(a, TN_BF16), tn_cast(b, TN_BF16)), {4096, 4096, 4096, 4096});
    /* 65504 + 65504 - 65504 stays in range on the way */
    tn_tensor *big = test_values(TN_F16, TN_SHAPE(3), {65504, 65504, -65504}), *ones = tn_ones(TN_F16, TN_SHAPE(3), d);
    ck_values(tn_matmul(big, ones), {65504});
}
END_TEST

/* The bound of the contract: k·eps·Σ|a||b|, plus the one rounding to the result's dtype. */
static void check_bound(tn_dtype dtype, int64_t m, int64_t k, int64_t n, form how)
{
    const tn_scope scope = tn_scope_push();
    const tn_shape sa = TN_SHAPE(m, k), sb = how == TURNED ? TN_SHAPE(n, k) : TN_SHAPE(k, n);
    tn_tensor *a = tn_randn(dtype, sa, "host"), *b = tn_randn(dtype, sb, "host"), *x = tn_to(a, test_device()), *y = tn_to(b, test_device());
    if (how == TURNED) b = tn_transpose(b, 0, 1), y = tn_transpose(y, 0, 1);
    const size_t size = tn_dtype_size(dtype);
    char *u = malloc((size_t)(m * k) * size), *v = malloc((size_t)(k * n) * size), *w = malloc((size_t)(m * n) * size);
    ck_ok(tn_read(a, u, (size_t)(m * k) * size));
    ck_ok(tn_read(b, v, (size_t)(k * n) * size));
    ck_ok(tn_read(ck_made(tn_matmul(x, y)), w, (size_t)(m * n) * size));
    const double eps = dtype == TN_F64 ? 0x1p-52 : 0x1p-23;
    const double round = dtype == TN_F16 ? 0x1p-11 : dtype == TN_BF16 ? 0x1p-8 : dtype == TN_F64 ? 0x1p-53 : 0x1p-24;
    for (int64_t i = 0; i < m * n; i++) {
        long double sum = 0, all = 0;
        for (int64_t l = 0; l < k; l++) {
            const long double t = (long double)test_number(dtype, u + (size_t)(i / n * k + l) * size) * test_number(dtype, v + (size_t)(l * n + i % n) * size);
            sum += t;
            all += fabsl(t);
        }
        const double got = test_number(dtype, w + (size_t)i * size);
        const double bound = (double)k * eps * (double)all * (1 + round) + round * (double)fabsl(sum) + 0x1p-25 * (dtype == TN_F16);
        ck_assert_msg(fabs(got - (double)sum) <= bound, "%s [%d,%d,%d]: element %d is %.17g instead of %.17g, more than %g away",
                      tn_dtype_name(dtype), (int)m, (int)k, (int)n, (int)i, got, (double)sum, bound);
    }
    free(u);
    free(v);
    free(w);
    (void)tn_scope_pop(scope);
    test_case_passed();
}

START_TEST(the_error_of_random_floats_is_within_the_contract)
{
    NOT_IN_POCL_WIDE();
    static const tn_dtype dtypes[] = {TN_F32, TN_F16, TN_BF16, TN_F64};
    tn_seed(test_seed(7));
    for (int i = 0; i < 4; i++) {
        if ((few() && i > 1) || (dtypes[i] == TN_F64 && !test_has_f64())) continue;
        check_bound(dtypes[i], 17, 1000, 33, PLAIN);
        if (i == 0 || test_long()) check_bound(dtypes[i], 5, 3001, 3, TURNED);
        if (i == 0 || test_long()) check_bound(dtypes[i], 17, 1, 130, PLAIN);
    }
}
END_TEST

/* ---- NaN, infinity, and what is not part of an operand ---- */

START_TEST(nan_stays_in_its_row_and_column)
{
    enum { M = 9, K = 5, N = 17 };
    float a[M * K], b[K * N], y[M * N];
    for (int i = 0; i < M * K; i++) a[i] = 1;
    for (int i = 0; i < K * N; i++) b[i] = 1;
    a[8 * K + 4] = NAN;
    b[2 * N + 16] = INFINITY;
    tn_tensor *x = tn_matmul(tn_from(TN_F32, TN_SHAPE(M, K), a, test_device()), tn_from(TN_F32, TN_SHAPE(K, N), b, test_device()));
    ck_ok(tn_read(ck_made(x), y, sizeof y));
    for (int i = 0; i < M * N; i++) {
        const float want = i / N == 8 ? NAN : i % N == 16 ? INFINITY : K;
        ck_assert_msg(test_bits_equal(TN_F32, &y[i], &want), "element %d is %g instead of %g", i, y[i], want);
    }
}
END_TEST

START_TEST(what_lies_around_the_operands_is_not_read)
{
    NOT_IN_POCL_WIDE();
    const char *d = test_device();
    tn_tensor *big = tn_full(TN_F32, TN_SHAPE(40, 50), tn_float(NAN), d);
    tn_tensor *a = tn_slice(tn_slice(big, 0, 3, 12, 1), 1, 5, 10, 1), *b = tn_slice(tn_slice(big, 0, 20, 30, 2), 1, 7, 41, 2);
    ck_ok(tn_assign(a, tn_ones(TN_F32, TN_SHAPE(9, 5), d)));
    ck_ok(tn_assign(b, tn_ones(TN_F32, TN_SHAPE(5, 17), d)));
    ck_same(tn_matmul(a, b), tn_full(TN_F32, TN_SHAPE(9, 17), tn_int(5), "host"));
    ck_same(tn_matmul(tn_transpose(b, 0, 1), tn_transpose(a, 0, 1)), tn_full(TN_F32, TN_SHAPE(17, 9), tn_int(5), "host"));
}
END_TEST

START_TEST(zero_times_infinity_is_nan)
{
    NOT_IN_POCL_WIDE();
    ck_tensor_f32(tn_matmul(test_f32(TN_SHAPE(1, 2), {0, 1}), test_f32(TN_SHAPE(2, 2), {INFINITY, 1, 1, INFINITY})), {NAN, INFINITY});
}
END_TEST

/* ---- what is fused behind ---- */

enum { M = 9, K = 11, N = 21 };

/* x [M,K], w [K,N]; z the product as integers; bias a row, column a column, rest a residual. */
typedef struct layer {
    tn_tensor *x, *w, *bias, *column, *rest;
    int64_t *z;
    double want[M * N];
} layer;

static double bias_at(int64_t j)
{
    return (double)(small(j + 500) * 8);
}
static double column_at(int64_t i)
{
    return (double)(small(i + 900) * 16);
}
static double rest_at(int64_t i)
{
    return (double)(small(i + 1300) * 4);
}

static tn_tensor *list_of(double (*at)(int64_t), tn_shape shape)
{
    float values[M * N];
    for (int64_t i = 0; i < count_of(shape); i++) values[i] = (float)at(i);
    return tn_from(TN_F32, shape, values, test_device());
}

static layer layer_new(void)
{
    layer l = {.bias = list_of(bias_at, TN_SHAPE(N)), .column = list_of(column_at, TN_SHAPE(M, 1)), .rest = list_of(rest_at, TN_SHAPE(M, N))};
    const operand a = F32(M, K), b = F32(K, N);
    const pair p = pair_of(a.shape, b.shape);
    int64_t *x = integers_of(make(a, "host")), *y = integers_of(make(b, "host"));
    l.x = make(a, test_device()), l.w = make(b, test_device());
    l.z = triple_loop(&p, x, y);
    free(x);
    free(y);
    return l;
}

/* want[i] of the product's element V, place I, row R, column C. */
#define WANT(l, expression)                                                \
    for (int64_t I = 0; I < M * N; I++) {                                  \
        const double V = (double)(l).z[I];                                 \
        const int64_t R = I / N, C = I % N;                                \
        (void)R, (void)C;                                                  \
        (l).want[I] = (expression);                                        \
    }
#define ck_layer(l, x) test_equals_numbers(x, (l).want, M * N, 0, #x, __FILE__, __LINE__)
#define RELU(v) ((v) > 0 ? (v) : 0)

START_TEST(bias_and_relu_are_fused_behind_a_product)
{
    layer l = layer_new();
    tn_tensor *y = tn_relu(tn_add(tn_matmul(l.x, l.w), l.bias));
    const uint64_t before = bones_launches();
    WANT(l, RELU(V + bias_at(C)));
    ck_layer(l, y);
    const uint64_t launches = bones_launches() - before;
    ck_assert_msg(test_is("host") || launches <= 2, "%d launches", (int)launches);
    free(l.z);
}
END_TEST

START_TEST(a_column_and_a_residual_are_fused_behind_a_product)
{
    NOT_IN_POCL_WIDE();
    layer l = layer_new();
    tn_tensor *y = tn_add(tn_add(tn_matmul(l.x, l.w), l.column), l.rest);
    const uint64_t before = bones_launches();
    WANT(l, V + column_at(R) + rest_at(I));
    ck_layer(l, y);
    const uint64_t launches = bones_launches() - before;
    ck_assert_msg(test_is("host") || launches <= 2, "%d launches", (int)launches);
    free(l.z);
}
END_TEST

START_TEST(gelu_behind_a_product_is_within_its_bound)
{
    layer l = layer_new();
    tn_tensor *y = tn_gelu(tn_mul(tn_add(tn_matmul(l.x, l.w), l.bias), tn_float(0.0625)));
    WANT(l, 0.0625 * (V + bias_at(C)) / 2 * erfc(-0.0625 * (V + bias_at(C)) * 0.70710678118654752440));
    test_equals_numbers(y, l.want, M * N, tn__rows[TN__ROW_gelu].ulp + 2, "gelu", __FILE__, __LINE__);
    free(l.z);
}
END_TEST

/* The numbers are parameters of the kernel that packs, too. */
START_TEST(numbers_behind_a_product_whose_operand_is_packed)
{
    enum { ROWS = 64, ACROSS = 128, ALONG = 96 };
    tn_tensor *x = tn_remainder(bones_count(TN_F32, TN_SHAPE(ROWS, ALONG), test_device()), tn_int(7)),
              *w = tn_remainder(bones_count(TN_F32, TN_SHAPE(ACROSS, ALONG), test_device()), tn_int(5));
    tn_tensor *y = tn_add(tn_mul(tn_matmul(x, tn_transpose(w, 0, 1)), tn_float(0.5)), tn_float(2));
    static double want[ROWS * ACROSS];
    for (int i = 0; i < ROWS * ACROSS; i++) {
        want[i] = 2;
        for (int k = 0; k < ALONG; k++)
            want[i] += 0.5 * ((i / ACROSS * ALONG + k) % 7) * ((i % ACROSS * ALONG + k) % 5);
    }
    test_equals_numbers(y, want, ROWS * ACROSS, 0, "y", __FILE__, __LINE__);
}
END_TEST

START_TEST(a_product_that_is_read_as_well_is_stored)
{
    layer l = layer_new();
    tn_tensor *p = tn_matmul(l.x, l.w), *y = tn_relu(tn_add(p, l.bias));
    tn_tensor *const both[] = {p, y};
    ck_ok(tn_realize(both, 2));
    WANT(l, RELU(V + bias_at(C)));
    ck_layer(l, y);
    WANT(l, V);
    ck_layer(l, p);
    p = tn_matmul(l.x, l.w), y = tn_neg(p);
    ck_layer(l, p);
    WANT(l, -V);
    ck_layer(l, y);
    free(l.z);
}
END_TEST

START_TEST(a_product_with_two_readers_is_right_for_both)
{
    layer l = layer_new();
    tn_tensor *p = tn_matmul(l.x, l.w), *y = tn_relu(p), *z = tn_mul(p, l.column);
    tn_release(p);
    tn_tensor *const both[] = {y, z};
    const uint64_t before = bones_launches();
    ck_ok(tn_realize(both, 2));
    const uint64_t launches = bones_launches() - before;
    ck_assert_msg(test_is("host") || launches <= 3, "%d launches", (int)launches);
    WANT(l, RELU(V));
    ck_layer(l, y);
    WANT(l, V * column_at(R));
    ck_layer(l, z);
    free(l.z);
}
END_TEST

START_TEST(a_product_used_twice_in_one_expression_is_right)
{
    NOT_IN_POCL_WIDE();
    layer l = layer_new();
    tn_tensor *p = tn_matmul(l.x, l.w);
    WANT(l, V * V + V);
    ck_layer(l, tn_add(tn_mul(p, p), p));
    p = tn_matmul(l.x, l.w);
    WANT(l, V > 0 ? V : rest_at(I));
    ck_layer(l, tn_where(tn_gt(p, tn_int(0)), p, l.rest));
    free(l.z);
}
END_TEST

START_TEST(consumers_of_another_shape_see_the_product)
{
    TN_SHARED(1, 2);
    NOT_IN_POCL_WIDE();
    layer l = layer_new();
    double sum = 0, rows[M] = {0};
    for (int i = 0; i < M * N; i++) sum += (double)l.z[i], rows[i / N] += (double)l.z[i];
    tn_tensor *p = tn_matmul(l.x, l.w);
    test_equals_numbers(tn_sum(p, TN_ALL_AXES, false), &sum, 1, 0, "sum", __FILE__, __LINE__);
    p = tn_matmul(l.x, l.w);
    test_equals_numbers(tn_sum(tn_add(p, tn_int(0)), TN_AXES(1), false), rows, M, 0, "rows", __FILE__, __LINE__);
    p = tn_matmul(l.x, l.w);
    WANT(l, V + 1);
    ck_layer(l, tn_add(tn_reshape(p, TN_SHAPE(M * N)), tn_int(1)));
    p = tn_matmul(l.x, l.w);
    tn_tensor *wide = tn_add(p, tn_mul(tn_reshape(tn_arange(TN_F32, 0, 2, 1, test_device()), TN_SHAPE(2, 1, 1)), tn_int(100)));
    ck_shape(wide, TN_SHAPE(2, M, N));
    WANT(l, V);
    ck_layer(l, tn_select(wide, 0, 0));
    WANT(l, V + 100);
    ck_layer(l, tn_select(wide, 0, 1));
    free(l.z);
}
END_TEST

START_TEST(a_turned_consumer_sees_the_product_turned)
{
    NOT_IN_POCL_WIDE();
    layer l = layer_new();
    tn_tensor *turned = tn_add(tn_transpose(tn_matmul(l.x, l.w), 0, 1), tn_transpose(l.column, 0, 1));
    WANT(l, V + column_at(R));
    ck_layer(l, tn_transpose(turned, 0, 1));
    free(l.z);
}
END_TEST

START_TEST(a_cast_behind_a_product_rounds_after_it)
{
    NOT_IN_POCL_WIDE();
    layer l = layer_new();
    tn_tensor *y = tn_cast(tn_matmul(tn_cast(l.x, TN_F16), tn_cast(l.w, TN_F16)), TN_I32);
    ck_assert_int_eq(tn_dtype_of(y), TN_I32);
    WANT(l, V);
    ck_layer(l, y);
    /* 2049 is no f16: rounded to 2048 before 1 is added in f32 */
    tn_tensor *x = test_values(TN_F16, TN_SHAPE(2), {2048, 1}), *ones = tn_ones(TN_F16, TN_SHAPE(2), test_device());
    ck_tensor_f32(tn_add(tn_cast(tn_matmul(x, ones), TN_F32), tn_int(1)), {2049});
    free(l.z);
}
END_TEST

START_TEST(a_batch_takes_its_epilogue)
{
    NOT_IN_POCL_WIDE();
    const char *d = test_device();
    tn_tensor *a = make(F32(3, 7, 5), d), *b = make(F32(5, 19), d), *row = make(F32(19), d), *each = make(F32(3, 1, 1), d);
    tn_tensor *y = tn_relu(tn_add(tn_mul(tn_matmul(a, b), each), row));
    tn_tensor *ha = make(F32(3, 7, 5), "host"), *hb = make(F32(5, 19), "host"), *hrow = make(F32(19), "host"), *heach = make(F32(3, 1, 1), "host");
    ck_same(tn_host(y), tn_relu(tn_add(tn_mul(tn_matmul(ha, hb), heach), hrow)));
}
END_TEST

/* ---- what goes in front ---- */

START_TEST(casts_and_a_scale_of_the_operands_go_along)
{
    TN_SHARED(1, 2);
    NOT_IN_POCL_WIDE();
    layer l = layer_new();
    tn_tensor *x = ck_made(tn_cast(l.x, TN_I8)), *w = ck_made(tn_cast(l.w, TN_F16));
    tn_tensor *const both[] = {x, w};
    ck_ok(tn_realize(both, 2));
    WANT(l, V);
    ck_layer(l, tn_matmul(tn_cast(x, TN_F32), tn_cast(w, TN_F32)));
    WANT(l, V * -2);
    ck_layer(l, tn_matmul(tn_mul(l.x, tn_float(-2)), l.w));
    WANT(l, V * 0.25);
    ck_layer(l, tn_matmul(l.x, tn_mul(tn_cast(w, TN_F32), tn_float(0.25))));
    free(l.z);
}
END_TEST

START_TEST(operands_that_are_pending_expressions_are_right)
{
    TN_SHARED(1, 2);
    NOT_IN_POCL_WIDE();
    layer l = layer_new();
    tn_tensor *x = tn_sub(tn_add(l.x, tn_int(1)), tn_int(1)), *w = tn_neg(tn_add(tn_neg(l.w), tn_mul(l.bias, tn_int(0))));
    WANT(l, V);
    ck_layer(l, tn_matmul(x, w));
    ck_layer(l, tn_matmul(x, w)); /* stored or not by the first */
    ck_layer(l, tn_matmul(tn_matmul(l.x, tn_cast(tn_eq(tn_reshape(tn_arange(TN_I32, 0, K, 1, test_device()), TN_SHAPE(K, 1)),
                                                       tn_arange(TN_I32, 0, K, 1, test_device())), TN_F32)), l.w));
    tn_tensor *total = tn_sum(tn_matmul(tn_sum(tn_expand(tn_unsqueeze(l.x, 0), TN_SHAPE(3, M, K)), TN_AXES(0), false), l.w), TN_AXES(), false);
    WANT(l, 3 * V);
    ck_layer(l, total);
    free(l.z);
}
END_TEST

START_TEST(an_operand_written_after_the_product_was_recorded_counts_as_it_was)
{
    layer l = layer_new();
    tn_tensor *p = tn_matmul(l.x, l.w);
    ck_ok(tn_assign(l.x, tn_int(0)));
    ck_ok(tn_assign(tn_select(l.w, 0, 0), tn_float(NAN)));
    WANT(l, V);
    ck_layer(l, p);
    ck_tensor_f32(tn_max(tn_matmul(l.x, tn_slice(l.w, 0, 0, TN_END, 1)), TN_ALL_AXES, false), {NAN});
    free(l.z);
}
END_TEST

/* ---- into the middle of something ---- */

START_TEST(a_product_assigned_to_a_part_leaves_the_rest_alone)
{
    static const int64_t steps[] = {1, 2};
    layer l = layer_new();
    for (int s = 0; s < 2; s++) {
        const int64_t st = steps[s], rows = M * st + 5, columns = N * st + 6;
        tn_tensor *big = tn_full(TN_F32, TN_SHAPE(rows, columns), tn_int(-777), test_device());
        ck_ok(tn_assign(tn_slice(tn_slice(big, 0, 2, 2 + M * st, st), 1, 3, 3 + N * st, st), tn_matmul(l.x, l.w)));
        float *all = malloc((size_t)(rows * columns) * sizeof *all);
        ck_ok(tn_read(big, all, (size_t)(rows * columns) * sizeof *all));
        for (int64_t i = 0; i < rows * columns; i++) {
            const int64_t r = i / columns - 2, c = i % columns - 3;
            const bool inside = r >= 0 && r < M * st && r % st == 0 && c >= 0 && c < N * st && c % st == 0;
            const double want = inside ? (double)l.z[r / st * N + c / st] : -777;
            ck_assert_msg(all[i] == want, "step %d: [%d,%d] is %g instead of %g", (int)st, (int)r, (int)c, all[i], want);
        }
        free(all);
    }
    free(l.z);
}
END_TEST

/* Tiles at the border overlap: what a result is added to may not be added twice. */
START_TEST(a_product_is_added_once_to_what_it_is_assigned_to)
{
    layer l = layer_new();
    ck_ok(tn_assign(l.rest, tn_add(l.rest, tn_matmul(l.x, l.w))));
    WANT(l, V + rest_at(I));
    ck_layer(l, l.rest);
    tn_tensor *square = make(F32(13, 13), test_device()), *h = make(F32(13, 13), "host");
    ck_ok(tn_assign(square, tn_matmul(square, square)));
    ck_same(tn_host(square), tn_matmul(h, h));
    free(l.z);
}
END_TEST

/* ---- launches ---- */

static void launches_at_most(uint64_t most, tn_tensor *x, const char *what)
{
    const uint64_t before = bones_launches();
    bones_run(x);
    const uint64_t launches = bones_launches() - before;
    ck_assert_msg(test_is("host") || (launches >= 1 && launches <= most), "%s: %d launches", what, (int)launches);
}

START_TEST(launches_are_few)
{
    NOT_IN_POCL_WIDE();
    NEEDS_OPENCL();
    layer l = layer_new();
    tn_tensor *h = tn_cast(l.x, TN_F16);
    bones_run(h);
    launches_at_most(1, tn_matmul(l.x, l.w), "x @ w");
    launches_at_most(2, tn_relu(tn_add(tn_matmul(l.x, l.w), l.bias)), "relu(x @ w + b)");
    launches_at_most(1, tn_matmul(tn_cast(h, TN_F32), l.w), "cast(x) @ w");
    launches_at_most(1, tn_matmul(tn_mul(l.x, tn_float(-2)), l.w), "(-2 x) @ w");
    launches_at_most(2, tn_matmul(l.x, tn_transpose(tn_contiguous(tn_transpose(l.w, 0, 1)), 0, 1)), "x @ turned w");
    free(l.z);
}
END_TEST

/* ---- panels kept with a weight ---- */

/* [8,64] @ [64,160], whose B is large enough to be kept in panels by the profile for CPUs. */
typedef struct kept {
    operand a, b;
    tn_tensor *x, *w;
    pair p;
    bool panels;
} kept;

static kept kept_new(void)
{
    kept k = {.a = F32(8, 64), .b = F32(64, 160)};
    k.x = make(k.a, test_device()), k.w = make(k.b, test_device());
    k.p = pair_of(k.a.shape, k.b.shape);
    k.panels = !test_is("host") && strcmp(bones_info(test_device()).profile, "deep") == 0;
    bones_run(k.x);
    bones_run(k.w);
    return k;
}

/* x @ w is right; it takes this many launches. */
static void check_kept(const kept *k, uint64_t launches)
{
    int64_t *x = integers_of(k->x), *w = integers_of(k->w), *want = triple_loop(&k->p, x, w);
    const uint64_t before = bones_launches();
    tn_tensor *y = tn_matmul(k->x, k->w);
    bones_run(y);
    if (k->panels) ck_assert_uint_eq(bones_launches() - before, launches);
    const char *wrong = difference(y, TN_F32, k->p.result, want);
    ck_assert_msg(!wrong, "%s", wrong);
    free(x);
    free(w);
    free(want);
    tn_release(y);
}

START_TEST(a_weight_used_again_is_packed_once)
{
    NOT_IN_POCL_WIDE();
    const uint64_t none = bones_info(test_device()).memory_in_use;
    const tn_scope scope = tn_scope_push();
    kept k = kept_new();
    check_kept(&k, 1);
    const uint64_t before = bones_info(test_device()).memory_in_use;
    check_kept(&k, 2);
    if (k.panels) ck_assert_uint_ge(bones_info(test_device()).memory_in_use, before + 64 * 160 * sizeof(float));
    check_kept(&k, 1);
    tn_tensor *rows = tn_slice(k.x, 0, 0, 6, 1); /* other rows, the same panels */
    k.x = rows, k.p = pair_of(TN_SHAPE(6, 64), k.b.shape);
    check_kept(&k, 1);
    ck_ok(tn_scope_pop(scope));
    ck_assert_uint_eq(bones_info(test_device()).memory_in_use, none);
}
END_TEST

START_TEST(a_weight_written_into_is_packed_again)
{
    NOT_IN_POCL_WIDE();
    kept k = kept_new();
    for (int i = 0; i < 3; i++) check_kept(&k, i == 1 ? 2 : 1);
    ck_ok(tn_assign(tn_slice(k.w, 1, 3, 9, 1), tn_int(2)));
    check_kept(&k, 2);
    check_kept(&k, 1);
    ck_ok(tn_assign(k.w, tn_neg(k.w)));
    bones_run(k.w);
    check_kept(&k, 1); /* another value, used for the first time */
}
END_TEST

START_TEST(panels_give_way_when_memory_is_short)
{
    NEEDS_OPENCL();
    NOT_IN_POCL_WIDE();
    kept k = kept_new();
    for (int i = 0; i < 3; i++) check_kept(&k, i == 1 ? 2 : 1);
    ck_ok(tn_memory_empty_cache(test_device()));
    ck_ok(tn_memory_set_limit(test_device(), bones_info(test_device()).memory_in_use + 4096));
    tn_tensor *more = tn_full(TN_F32, TN_SHAPE(64, 120), tn_int(1), test_device()), *const list[] = {more};
    const tn_status s = tn_realize(list, 1);
    ck_ok(tn_memory_set_limit(test_device(), 0));
    if (k.panels) ck_ok(s);
    tn_clear_error();
    check_kept(&k, 2);
}
END_TEST

/* ---- memory ---- */

/* The second operand has a step, so that the profile for CPUs packs it: into about a megabyte, for a result of 4 KB. */
static int run_out_of_memory(tn_tensor *a, tn_tensor *b)
{
    const bool deep = strcmp(bones_info(test_device()).profile, "deep") == 0;
    float y[16 * 64];
    ck_ok(tn_memory_empty_cache(test_device()));
    ck_ok(tn_memory_set_limit(test_device(), bones_info(test_device()).memory_in_use + 65536));
    tn_tensor *c = tn_matmul(a, b);
    const tn_status s = tn_read(ck_made(c), y, sizeof y);
    if (deep || s != TN_OK) {
        ck_assert_msg(s == TN_MEMORY, "%s: %s", tn_status_name(s), tn_last_error());
        ck_has(tn_last_error(), "limit");
    }
    tn_clear_error();
    ck_ok(tn_memory_set_limit(test_device(), 0));
    ck_ok(tn_read(c, y, sizeof y)); /* the same one, now */
    for (int i = 0; i < 16 * 64; i++) ck_assert_msg(y[i] == 4096, "element %d is %g", i, y[i]);
    return deep;
}

START_TEST(too_little_memory_to_pack_is_an_error_that_passes)
{
    NEEDS_OPENCL();
    tn_tensor *a = tn_ones(TN_F32, TN_SHAPE(16, 4096), test_device()), *b = tn_ones(TN_F32, TN_SHAPE(4096, 128), test_device());
    tn_tensor *const both[] = {a, b};
    ck_ok(tn_realize(both, 2));
    (void)run_out_of_memory(a, tn_slice(b, 1, 0, TN_END, 2));
    ck_tensor_f32(tn_matmul(tn_slice(tn_select(a, 0, 0), 0, 0, 3, 1), tn_slice(tn_select(b, 1, 0), 0, 0, 3, 1)), {3});
}
END_TEST

/* TENON_MEMORY_LIMIT is 1M here. */
static int multiply_in_a_megabyte(void)
{
    const char *d = test_device();
    const tn_scope scope = tn_scope_push();
    tn_tensor *a = tn_ones(TN_F32, TN_SHAPE(600, 8), d), *b = tn_ones(TN_F32, TN_SHAPE(8, 600), d), *c = tn_matmul(a, b);
    tn_tensor *const list[] = {c};
    EXPECT(!c || tn_realize(list, 1) != TN_OK); /* 1.4 MB */
    EXPECT(tn_last_status() == TN_MEMORY);
    EXPECT(strstr(tn_last_error(), "1440000") && strstr(tn_last_error(), "limit"));
    tn_clear_error();
    tn_release(c);
    double first = 0;
    EXPECT(tn_item(tn_sum(tn_matmul(a, tn_slice(b, 1, 0, 60, 1)), TN_ALL_AXES, false), &first) == TN_OK && first == 600 * 60 * 8);
    EXPECT(tn_scope_pop(scope) == TN_OK || tn_last_status() == TN_MEMORY);
    (void)tn_shutdown();
    return 0;
}

START_TEST(a_result_above_the_limit_of_the_environment_is_an_error_and_the_next_one_works)
{
    TN_SKIP_IF(!test_is("pocl") && !test_is("host"), "once a device is enough");
    ck_assert_int_eq(bones_child("megabyte", (const char *const[]){"TENON_MEMORY_LIMIT=1M", NULL}, NULL, 0), 0);
}
END_TEST

/* ---- errors ---- */

START_TEST(axes_that_do_not_fit_are_named)
{
    const char *d = test_device();
    tn_tensor *a = tn_ones(TN_F32, TN_SHAPE(2, 3), d), *b = tn_ones(TN_F32, TN_SHAPE(4, 5), d), *s = tn_ones(TN_F32, TN_SHAPE(), d);
    ck_fails(tn_matmul(a, b), TN_SHAPE, "matmul: a [2,3] and b [4,5]: inner axes 3 and 4 differ");
    ck_fails(tn_matmul(a, a), TN_SHAPE, "matmul", "[2,3]", "inner axes 3 and 2 differ");
    ck_fails(tn_matmul(tn_select(b, 0, 0), b), TN_SHAPE, "[5]", "[4,5]", "5 and 4");
    ck_fails(tn_matmul(a, tn_select(b, 0, 0)), TN_SHAPE, "[2,3]", "[5]", "3 and 5");
    ck_fails(tn_matmul(s, a), TN_SHAPE, "matmul: a [] and b [2,3]", "mul");
    ck_fails(tn_matmul(a, s), TN_SHAPE, "matmul", "b []", "mul");
    ck_fails(tn_matmul(a, tn_int(2)), TN_SHAPE, "matmul", "mul");
    ck_fails(tn_matmul(tn_ones(TN_F32, TN_SHAPE(2, 2, 3), d), tn_ones(TN_F32, TN_SHAPE(3, 3, 5), d)), TN_SHAPE, "matmul", "[2,2,3]", "[3,3,5]",
             "leading axes");
    ck_fails(tn_matmul(tn_ones(TN_F32, TN_SHAPE(2, 0), d), b), TN_SHAPE, "inner axes 0 and 4 differ");
    ck_fails(tn_matmul(tn_ones(TN_F32, TN_SHAPE(2, 2, 0), d), tn_ones(TN_F32, TN_SHAPE(3, 0, 5), d)), TN_SHAPE, "leading axes");
    ck_tensor_f32(tn_matmul(a, tn_transpose(a, 0, 1)), {3, 3, 3, 3});
}
END_TEST

START_TEST(dtypes_that_do_not_multiply_are_named)
{
    NOT_IN_POCL_WIDE();
    const char *d = test_device();
    tn_tensor *t = tn_ones(TN_BOOL, TN_SHAPE(2, 2), d);
    ck_fails(tn_matmul(t, t), TN_DTYPE, "matmul", "bool");
    ck_fails(tn_matmul(tn_ones(TN_BOOL, TN_SHAPE(2, 0), d), tn_ones(TN_BOOL, TN_SHAPE(0, 2), d)), TN_DTYPE, "matmul", "bool");
    ck_fails(tn_matmul(tn_ones(TN_U64, TN_SHAPE(2, 2), d), tn_ones(TN_I32, TN_SHAPE(2, 2), d)), TN_DTYPE, "u64", "i32");
    ck_tensor_i32(tn_matmul(t, tn_ones(TN_I32, TN_SHAPE(2, 1), d)), {2, 2});
}
END_TEST

START_TEST(operands_on_two_devices_are_an_error_that_names_both_and_the_remedy)
{
    NEEDS_OPENCL();
    tn_tensor *a = tn_ones(TN_F32, TN_SHAPE(2, 3), test_device()), *b = tn_ones(TN_F32, TN_SHAPE(3, 2), "host");
    ck_fails(tn_matmul(a, b), TN_DEVICE, "matmul", "[2,3]", "[3,2]", test_device(), "host", "tn_to");
    ck_fails(tn_matmul(b, a), TN_DEVICE, "matmul", test_device(), "host");
    ck_tensor_f32(tn_matmul(a, tn_to(b, test_device())), {3, 3, 3, 3});
    const bool before = tn_auto_move(true);
    const uint64_t moved = tn_auto_move_count();
    tn_tensor *y = tn_matmul(a, b);
    (void)tn_auto_move(before);
    ck_tensor_f32(y, {3, 3, 3, 3});
    ck_assert_uint_eq(tn_auto_move_count() - moved, 1);
}
END_TEST

START_TEST(null_and_none_are_no_operands)
{
    tn_tensor *a = tn_ones(TN_F32, TN_SHAPE(2, 2), test_device());
    ck_fails(tn_matmul(a, TN_NONE), TN_ARGUMENT, "matmul", "b");
    ck_fails(tn_matmul(TN_NONE, a), TN_ARGUMENT, "matmul", "a");
    ck_fails(tn_matmul(a, NULL), TN_ARGUMENT, "matmul", "b");
    ck_fails(tn_matmul(tn_matmul(a, tn_reshape(a, TN_SHAPE(3))), a), TN_SHAPE, "[3]"); /* the first error stays */
}
END_TEST

START_TEST(extents_beyond_what_is_possible_are_an_error)
{
    tn_tensor *one = tn_ones(TN_F32, TN_SHAPE(1, 1), test_device());
    tn_tensor *tall = tn_expand(one, TN_SHAPE(3000000000, 1)), *wide = tn_expand(one, TN_SHAPE(1, 3000000000));
    ck_fails(tn_matmul(tall, one), TN_OVERFLOW, "matmul", "3000000000");
    ck_fails(tn_matmul(one, wide), TN_OVERFLOW, "matmul", "3000000000");
    ck_fails(tn_matmul(wide, tall), TN_OVERFLOW, "matmul", "3000000000");
    ck_fails(tn_matmul(tall, wide), TN_OVERFLOW, "matmul");
}
END_TEST

static const bones_role roles[] = {{"small groups", multiply_with_small_groups}, {"megabyte", multiply_in_a_megabyte}, {NULL, NULL}};

BONES_MAIN_WITH_ROLES("matmul", roles, bones_push, a_product_by_hand_is_right, operands_of_one_axis_are_a_row_and_a_column_that_go_again,
                      leading_axes_broadcast_on_either_side, sixteen_axes_multiply, every_layout_multiplies,
                      vectors_of_every_layout_multiply, a_batch_of_any_order_in_memory_multiplies,
                      the_same_matrix_on_both_sides_multiplies, c20_an_empty_inner_axis_gives_zeros,
                      c20_an_empty_inner_axis_leaves_what_it_is_added_to, empty_results_have_their_shape, c21_edges_plain_plain,
                      c21_edges_turned_plain, c21_edges_plain_turned, c21_edges_turned_turned, c21_large_products_are_exact,
                      c22_c75_tiles_fit_the_matrix_the_group_and_the_local_memory, c22_groups_of_one, c22_groups_of_three,
                      c22_groups_of_seventeen, c75_little_local_memory_is_enough, f64_multiplies, f16_multiplies,
                      bf16_multiplies_and_rounds_once, i32_multiplies, the_other_integers_multiply,
                      mixed_dtypes_multiply_in_the_promoted_one, integers_wrap_in_their_dtype,
                      integers_wrap_in_the_wider_dtype_asked_for, f16_and_bf16_accumulate_in_f32,
                      the_error_of_random_floats_is_within_the_contract, nan_stays_in_its_row_and_column,
                      what_lies_around_the_operands_is_not_read, zero_times_infinity_is_nan, bias_and_relu_are_fused_behind_a_product,
                      a_column_and_a_residual_are_fused_behind_a_product, gelu_behind_a_product_is_within_its_bound, numbers_behind_a_product_whose_operand_is_packed,
                      a_product_that_is_read_as_well_is_stored, a_product_with_two_readers_is_right_for_both,
                      a_product_used_twice_in_one_expression_is_right, consumers_of_another_shape_see_the_product,
                      a_turned_consumer_sees_the_product_turned, a_cast_behind_a_product_rounds_after_it, a_batch_takes_its_epilogue,
                      casts_and_a_scale_of_the_operands_go_along, operands_that_are_pending_expressions_are_right,
                      an_operand_written_after_the_product_was_recorded_counts_as_it_was,
                      a_product_assigned_to_a_part_leaves_the_rest_alone, a_product_is_added_once_to_what_it_is_assigned_to,
                      launches_are_few, a_weight_used_again_is_packed_once, a_weight_written_into_is_packed_again,
                      panels_give_way_when_memory_is_short, too_little_memory_to_pack_is_an_error_that_passes,
                      a_result_above_the_limit_of_the_environment_is_an_error_and_the_next_one_works, axes_that_do_not_fit_are_named,
                      dtypes_that_do_not_multiply_are_named, operands_on_two_devices_are_an_error_that_names_both_and_the_remedy,
                      null_and_none_are_no_operands, extents_beyond_what_is_possible_are_an_error)
