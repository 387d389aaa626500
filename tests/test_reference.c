/* The library against NumPy and PyTorch: operands and results made by tests/data/reference/generate.py, run on host. */
#include "bones.h"
#include "graph/rows.h"
#include "support/derive.h"
#include "support/row_cases.h"

#include "support/reference.h"

#include <math.h>
#include <tenon/io.h>

enum { MOST_ELEMENTS = 256 };

static tn_archive *archive;
static int faults;

static void open_file(const char *path)
{
    tn_archive_close(archive);
    archive = tn_archive_open(path);
    ck_assert_msg(archive, "%s", tn_last_error());
}

static void open_archive(void)
{
    open_file(TN_TEST_SOURCE_DIR "/tests/data/reference/reference.safetensors");
    faults = 0;
    bones_push();
}

static void close_archive(void)
{
    tn_archive_close(archive);
    archive = NULL;
    bones_pop();
}

/* KIND/OPERATION/…, taken apart at the slashes. */
enum { PARTS = 8 };
typedef struct title {
    char text[128];
    const char *part[PARTS];
    int parts;
} title;

static void take_apart(title *t, const char *name)
{
    t->parts = 0;
    snprintf(t->text, sizeof t->text, "%s", name);
    for (char *p = t->text; p && t->parts < PARTS;) {
        t->part[t->parts++] = p;
        p = strchr(p, '/');
        if (p) *p++ = '\0';
    }
}

/* Tensor `letter` of the case whose result is `name` ("…/out"). */
static tn_tensor *sibling(const char *name, const char *letter)
{
    char text[128];
    snprintf(text, sizeof text, "%.*s%s", (int)(strlen(name) - strlen("out")), name, letter);
    return ck_made(tn_archive_get(archive, text, "host"));
}

/* How far floats may be away: so many ulps, of the element's own more ulps, or an absolute distance. */
typedef struct bound {
    double ulps;
    const double *slack;    /* of each element; NULL: none */
    const double *distance; /* the same */
} bound;

static bool within(const bound *b, tn_dtype dtype, double got, double want, size_t i)
{
    if (!tn_dtype_is_float(dtype) || b->ulps == 0) return false;
    return test_ulps(dtype, got, want) <= b->ulps + (b->slack ? b->slack[i] : 0) ||
           (b->distance && fabs(got - want) <= b->distance[i]);
}

/* got against want: the same dtype and shape, and each element within its bound (0 ulps: the bits; any NaN, any zero). */
static void compare(const char *name, tn_tensor *got, tn_tensor *want, bound b)
{
    const tn_dtype dtype = tn_dtype_of(want);
    const size_t size = tn_dtype_size(dtype), n = (size_t)tn_numel(want);
    char *g = malloc(n * size + 1), *w = malloc(n * size + 1);
    int wrong = 0;
    if (tn_dtype_of(got) != dtype || tn_numel(got) != tn_numel(want) || tn_ndim(got) != tn_ndim(want)) {
        printf("  FAULT %s: dtype %s, %d axes, %lld elements\n", name, tn_dtype_name(tn_dtype_of(got)), tn_ndim(got), (long long)tn_numel(got));
        faults++;
    } else {
        for (int a = 0; a < tn_ndim(want); a++)
            if (tn_dim(got, a) != tn_dim(want, a)) wrong++;
        ck_ok(tn_read(got, g, n * size));
        ck_ok(tn_read(want, w, n * size));
        for (size_t i = 0; i < n; i++) {
            const double x = test_number(dtype, g + i * size), y = test_number(dtype, w + i * size);
            const bool same = test_bits_equal(dtype, g + i * size, w + i * size) || (x == 0 && y == 0);
            if (same || within(&b, dtype, x, y, i)) continue;
            if (wrong++ < 3) printf("  FAULT %s, element %zu: %.17g, not %.17g\n", name, i, x, y);
        }
        faults += wrong > 0;
    }
    free(g);
    free(w);
    test_case_passed();
}

/* Ulps of the row's own bound, and one for what NumPy's and PyTorch's functions and the rounding of the result cost. */
static double bound_of_row(const tn__row *row, tn_dtype dtype)
{
    return row->ulp == 0 ? 0 : dtype == TN_F16 || dtype == TN_BF16 ? 1 : row->ulp + 1;
}

/* What the composition of a row of one operand may cost, by element, in ulps of its f32 or f64. */
static void slack_of_row(const tn__row *row, tn_tensor *x, double *slack)
{
    const tn_dtype dtype = tn_dtype_of(x);
    const size_t size = tn_dtype_size(dtype), n = (size_t)tn_numel(x);
    char *bytes = malloc(n * size + 1);
    ck_ok(tn_read(x, bytes, n * size));
    for (size_t i = 0; i < n; i++) {
        const reference_number operands[3] = {reference_load(dtype, bytes + i * size)};
        (void)reference_row((int)(row - tn__rows), dtype, operands, &slack[i]);
        if (size == 2) slack[i] = 0;
    }
    free(bytes);
}

/* Rows whose further operands are numbers of the call: those of generate.py. */
static const struct {
    const char *name;
    int count;
    double number[2];
} numbers[] = {{"leaky_relu", 1, {0.25}}, {"elu", 1, {0.5}},        {"celu", 1, {0.5}},        {"hardtanh", 2, {-2, 3}},
               {"softshrink", 1, {0.5}},  {"hardshrink", 1, {0.5}}, {"threshold", 2, {1, -3}}};

static int put_numbers(const char *row, tn_tensor **x)
{
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (strcmp(numbers[i].name, row) != 0) continue;
        for (int k = 0; k < numbers[i].count; k++) x[1 + k] = ck_made(tn_float(numbers[i].number[k]));
        return numbers[i].count;
    }
    return 0;
}

static void run_row(const char *name, const title *t, tn_tensor *want)
{
    static const char *const letters[] = {"a", "b", "c"};
    tn_tensor *x[3] = {0};
    int r = 0;
    while (r < TN__ROWS && strcmp(tn__rows[r].name, t->part[1]) != 0) r++;
    ck_assert_msg(r < TN__ROWS, "no row is called %s", t->part[1]);
    const int given = tn__rows[r].arity - put_numbers(t->part[1], x);
    for (int k = 0; k < given; k++) x[k] = sibling(name, letters[k]);
    double slack[MOST_ELEMENTS] = {0};
    ck_assert_int_le(tn_numel(want), MOST_ELEMENTS);
    const tn__row *row = &tn__rows[r];
    if (row->arity == 1 && row->ulp > 0) slack_of_row(row, x[0], slack);
    compare(name, ck_made(row_call(r, x)), want, (bound){.ulps = bound_of_row(row, tn_dtype_of(want)), .slack = slack});
}

/* Of f64, whose rounding alone is of size: the row's bound beside the gradient, and beside its terms. */
static void run_gradient(const char *name, const title *t, tn_tensor *want)
{
    static const char *const letters[] = {"a", "b", "c"}, *const gradients[] = {"p", "q", "r"};
    const tn__row *row = tn__row_find(t->part[1]);
    ck_assert_msg(row && row->derivative.gradient, "no row with a gradient is called %s", t->part[1]);
    tn_tensor *x[3] = {0}, *g[3] = {0};
    double distance[MOST_ELEMENTS];
    for (int i = 0; i < MOST_ELEMENTS; i++) distance[i] = 1e-13;
    for (int k = 0; k < row->arity; k++) x[k] = sibling(name, letters[k]);
    ck_ok(row_gradient(row, x, want, sibling(name, "u"), g));
    for (int k = 0; k < row->arity; k++) {
        compare(name, ck_made(g[k]), sibling(name, gradients[k]), (bound){.ulps = 256, .distance = distance});
        tn_release(g[k]);
    }
}

static tn_axes axes_of(const char *text)
{
    tn_axes axes = {.count = 0};
    if (strcmp(text, "all") == 0) return TN_ALL_AXES;
    for (const char *p = text; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) axes.axis[axes.count++] = atoi(p);
    return axes;
}

/* The contract's bound of sums, (log2 n + 8)·eps·Σ|x|, here taken of a few numbers; of means an n-th of it. */
static void distance_of_sum(tn_tensor *x, tn_axes axes, bool keepdim, bool mean, double *distance)
{
    tn_tensor *sizes = ck_made(tn_sum(tn_abs(tn_cast(x, TN_F64)), axes, keepdim));
    const double n = (double)tn_numel(x) / (double)tn_numel(sizes), eps = tn_dtype_of(x) == TN_F64 ? 0x1p-53 : 0x1p-24;
    ck_assert_int_le(tn_numel(sizes), MOST_ELEMENTS);
    ck_ok(tn_read(sizes, distance, tn_nbytes(sizes)));
    for (int64_t i = 0; i < tn_numel(sizes); i++) distance[i] *= (log2(n) + 8) * eps / (mean ? n : 1);
}

static void run_reduction(const char *name, const title *t, tn_tensor *want)
{
    static const struct {
        const char *name;
        tn_tensor *(*call)(tn_tensor *, tn_axes, bool);
    } table[] = {{"sum", tn_sum}, {"mean", tn_mean}, {"max", tn_max}, {"argmax", tn_argmax}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(table[i].name, t->part[1]) == 0) {
            const tn_axes axes = axes_of(t->part[4]);
            const bool keepdim = t->part[5][0] == '1';
            tn_tensor *x = sibling(name, "a");
            double distance[MOST_ELEMENTS] = {0};
            if (i < 2 && tn_dtype_is_float(tn_dtype_of(x))) distance_of_sum(x, axes, keepdim, i == 1, distance);
            compare(name, ck_made(table[i].call(x, axes, keepdim)), want, (bound){.ulps = 1, .distance = distance});
            return;
        }
    ck_abort_msg("no reduction is called %s", t->part[1]);
}

static void run_along_axis(const char *name, const title *t, tn_tensor *want)
{
    tn_tensor *x = sibling(name, "a");
    const int axis = atoi(t->part[4]);
    const bool logarithm = strcmp(t->part[1], "log_softmax") == 0;
    double distance[MOST_ELEMENTS]; /* a logarithm near 0 is a difference of numbers of size 1 and more */
    for (int i = 0; i < MOST_ELEMENTS; i++) distance[i] = logarithm ? 4 * test_step(tn_dtype_of(x), 1) : 0;
    compare(name, ck_made(logarithm ? tn_log_softmax(x, axis) : tn_softmax(x, axis)), want, (bound){.ulps = 32, .distance = distance});
}

static void run_cast(const char *name, const title *t, tn_tensor *want)
{
    (void)t;
    compare(name, ck_made(tn_cast(sibling(name, "a"), tn_dtype_of(want))), want, (bound){.ulps = 0});
}

/* ---- products ---- */

/* Operands are below 10 and few: the contract's bound of sums of products, taken once for all. */
static void compare_products(const char *name, tn_tensor *got, tn_tensor *want, double size)
{
    double distance[MOST_ELEMENTS];
    for (int i = 0; i < MOST_ELEMENTS; i++) distance[i] = size * test_step(tn_dtype_of(want), 1);
    compare(name, got, want, (bound){.ulps = 4, .distance = distance});
}

static int operands_of(const char *name, tn_tensor **x)
{
    int count = 0;
    for (char letter[] = "a"; count < 3; letter[0]++) {
        char text[128];
        snprintf(text, sizeof text, "%.*s%s", (int)(strlen(name) - strlen("out")), name, letter);
        int i = 0;
        while (i < tn_archive_count(archive) && strcmp(tn_archive_name(archive, i), text) != 0) i++;
        if (i == tn_archive_count(archive)) break;
        x[count++] = sibling(name, letter);
    }
    return count;
}

static void run_einsum(const char *name, const title *t, tn_tensor *want)
{
    tn_tensor *x[3];
    const int count = operands_of(name, x);
    compare_products(name, ck_made(tn_einsum(t->part[1], x, count)), want, 1000);
}

static tn_tensor *call(const char *name, tn_tensor **x)
{
    if (strcmp(name, "dot") == 0) return tn_dot(x[0], x[1]);
    if (strcmp(name, "inner") == 0) return tn_inner(x[0], x[1]);
    if (strcmp(name, "outer") == 0) return tn_outer(x[0], x[1]);
    if (strcmp(name, "mv") == 0) return tn_mv(x[0], x[1]);
    if (strcmp(name, "mm") == 0) return tn_mm(x[0], x[1]);
    if (strcmp(name, "bmm") == 0) return tn_bmm(x[0], x[1]);
    if (strcmp(name, "addmm") == 0) return tn_addmm(x[0], x[1], x[2], 2, 3);
    if (strcmp(name, "baddbmm") == 0) return tn_baddbmm(x[0], x[1], x[2], 2, 3);
    if (strncmp(name, "matrix_power", 12) == 0) return tn_matrix_power(x[0], atoi(name + 12));
    if (strcmp(name, "tensordot") == 0) return tn_tensordot(x[0], x[1], TN_AXES(0, 1), TN_AXES(1, 0));
    if (strcmp(name, "kron") == 0) return tn_kron(x[0], x[1]);
    if (strcmp(name, "cross") == 0) return tn_cross(x[0], x[1], -1);
    if (strcmp(name, "triu") == 0) return tn_triu(x[0], 0);
    if (strcmp(name, "tril") == 0) return tn_tril(x[0], 0);
    if (strncmp(name, "cdist", 5) == 0) return tn_cdist(x[0], x[1], atof(name + 5));
    ck_abort_msg("the test does not know %s", name);
    return NULL;
}

static void run_call(const char *name, const title *t, tn_tensor *want)
{
    tn_tensor *x[3];
    (void)operands_of(name, x);
    compare_products(name, ck_made(call(t->part[1], x)), want, strcmp(t->part[1], "matrix_power5") == 0 ? 20000 : 500);
}

/* ---- sorting ---- */

typedef struct asked {
    const char *name;
    tn_tensor *x;
    int axis;
    const char *argument;
} asked;

/* Values, and indices where the operation has them. */
static void sorted(const asked *a, tn_tensor **v, tn_tensor **at)
{
    const int axis = a->axis, number = atoi(a->argument);
    const char *n = a->name;
    if (strcmp(n, "sort") == 0) ck_ok(tn_sort(a->x, axis, number != 0, v, at));
    if (strcmp(n, "topk") == 0) ck_ok(tn_topk(a->x, abs(number), axis, number > 0, v, at));
    if (strcmp(n, "kthvalue") == 0) ck_ok(tn_kthvalue(a->x, number, axis, false, v, at));
    if (strcmp(n, "median") == 0) ck_ok(tn_median_with_index(a->x, axis, false, v, at));
    if (strcmp(n, "nanmedian") == 0) ck_ok(tn_nanmedian_with_index(a->x, axis, false, v, at));
    if (strcmp(n, "mode") == 0) ck_ok(tn_mode(a->x, axis, false, v, at));
    if (strcmp(n, "max_with_index") == 0) ck_ok(tn_max_with_index(a->x, axis, false, v, at));
    if (strcmp(n, "min_with_index") == 0) ck_ok(tn_min_with_index(a->x, axis, false, v, at));
    if (strcmp(n, "cummax_with_index") == 0) ck_ok(tn_cummax_with_index(a->x, axis, v, at));
    if (strcmp(n, "cummin_with_index") == 0) ck_ok(tn_cummin_with_index(a->x, axis, v, at));
}

/* The argument is the mode and q, as in "lower0.25". */
static tn_tensor *quantile(const asked *a)
{
    static const char *const modes[] = {"linear", "lower", "higher", "midpoint", "nearest"};
    int m = 0;
    while (m < 4 && strncmp(modes[m], a->argument, strlen(modes[m])) != 0) m++;
    const double q = atof(a->argument + strlen(modes[m]));
    return strcmp(a->name, "quantile") == 0 ? tn_quantile(a->x, q, TN_AXES(a->axis), false, (tn_quantile_mode)m)
                                            : tn_nanquantile(a->x, q, TN_AXES(a->axis), false, (tn_quantile_mode)m);
}

static void run_sort(const char *name, const title *t, tn_tensor *want)
{
    const asked a = {t->part[1], sibling(name, "a"), atoi(t->part[4]), t->part[5]};
    double distance[MOST_ELEMENTS]; /* a quantile between numbers below 10 */
    for (int i = 0; i < MOST_ELEMENTS; i++) distance[i] = 10 * test_step(tn_dtype_of(want), 1);
    if (strstr(a.name, "quantile")) {
        compare(name, ck_made(quantile(&a)), want, (bound){.ulps = 1, .distance = distance});
        return;
    }
    tn_tensor *v = NULL, *at = NULL;
    sorted(&a, &v, &at);
    compare(name, ck_made(v), want, (bound){.ulps = 0});
    compare(name, ck_made(at), sibling(name, "at"), (bound){.ulps = 0});
}

/* ---- gradients of calls ---- */

#define VALUE(status) ((status) == TN_OK ? v[0] : NULL)
#define TORCH(name, ...)                                    \
    static tn_tensor *torch_##name(tn_tensor *const *x)     \
    {                                                       \
        tn_tensor *v[2] = {NULL};                           \
        (void)v;                                            \
        return __VA_ARGS__;                                 \
    }
#include "support/torch.def"
#undef TORCH

static const struct {
    const char *name;
    tn_tensor *(*call)(tn_tensor *const *x);
} calls[] = {
#define TORCH(name, ...) {#name, torch_##name},
#include "support/torch.def"
#undef TORCH
};
enum { CALLS = sizeof calls / sizeof calls[0], OPERANDS = 3 };

/* Is there a tensor of the case for this letter? */
static bool has(const char *name, const char *letter)
{
    char text[128];
    snprintf(text, sizeof text, "%.*s%s", (int)(strlen(name) - strlen("out")), name, letter);
    for (int i = 0; i < tn_archive_count(archive); i++)
        if (strcmp(tn_archive_name(archive, i), text) == 0) return true;
    return false;
}

/* In f64, of a few operations on numbers below 10 and solvers of well-posed systems. */
static void run_backward(const char *name, const title *t, tn_tensor *want)
{
    static const char *const letters[] = {"a", "b", "c"}, *const gradients[] = {"p", "q", "r"};
    tn_tensor *x[OPERANDS] = {NULL}, *leaf[OPERANDS], *g[OPERANDS];
    const char *wanted[OPERANDS];
    double distance[MOST_ELEMENTS];
    int n = 0, c = 0;
    while (c < CALLS && strcmp(calls[c].name, t->part[1]) != 0) c++;
    ck_assert_msg(c < CALLS, "support/torch.def has no %s", t->part[1]);
    for (int i = 0; i < MOST_ELEMENTS; i++) distance[i] = 1e-12;
    for (int k = 0; k < OPERANDS && has(name, letters[k]); k++) {
        x[k] = sibling(name, letters[k]);
        if (!has(name, gradients[k])) continue;
        ck_ok(tn_set_requires_grad(x[k], true));
        wanted[n] = gradients[k];
        leaf[n++] = x[k];
    }
    tn_tensor *y = ck_made(calls[c].call(x)), *up = sibling(name, "u");
    compare(name, y, want, (bound){.ulps = 256, .distance = distance});
    ck_assert_msg(tn_grad(&y, &up, 1, leaf, n, g, NULL) == TN_OK, "%s: %s", name, tn_last_error());
    for (int k = 0; k < n; k++) compare(name, g[k], sibling(name, wanted[k]), (bound){.ulps = 256, .distance = distance});
}

/* Runs every case of a kind; at least so many. */
static void run_all(const char *kind, int least, void (*run)(const char *, const title *, tn_tensor *))
{
    int cases = 0;
    for (int i = 0; i < tn_archive_count(archive); i++) {
        const char *name = tn_archive_name(archive, i);
        title t;
        take_apart(&t, name);
        if (strcmp(t.part[0], kind) != 0 || strcmp(t.part[t.parts - 1], "out") != 0) continue;
        const tn_scope scope = tn_scope_push();
        run(name, &t, sibling(name, "out"));
        ck_ok(tn_scope_pop(scope));
        cases++;
    }
    ck_assert_msg(cases >= least, "%d cases of %s, %d are expected", cases, kind, least);
    ck_assert_msg(faults == 0, "%d cases of %s are wrong", faults, kind);
}

START_TEST(rows_give_what_NumPy_and_PyTorch_give)
{
    run_all("row", 3200, run_row);
}
END_TEST

START_TEST(gradients_are_what_PyTorch_finds)
{
    run_all("gradient", 70, run_gradient);
}
END_TEST

START_TEST(reductions_give_what_NumPy_gives)
{
    run_all("reduce", 600, run_reduction);
}
END_TEST

START_TEST(softmax_gives_what_PyTorch_gives)
{
    run_all("axis", 48, run_along_axis);
}
END_TEST

START_TEST(casts_give_what_NumPy_gives_within_the_contract)
{
    run_all("cast", 150, run_cast);
}
END_TEST

START_TEST(einsum_gives_what_NumPy_gives)
{
    run_all("einsum", 120, run_einsum);
}
END_TEST

START_TEST(products_give_what_NumPy_and_PyTorch_give)
{
    run_all("call", 70, run_call);
}
END_TEST

START_TEST(sorting_gives_what_NumPy_and_PyTorch_give)
{
    open_file(TN_TEST_SOURCE_DIR "/tests/data/reference/sort.safetensors");
    run_all("sort", 1900, run_sort);
}
END_TEST

START_TEST(gradients_of_calls_are_what_PyTorch_finds)
{
    open_file(TN_TEST_SOURCE_DIR "/tests/data/reference/backward.safetensors");
    run_all("backward", 300, run_backward);
}
END_TEST

TEST_MAIN("reference", open_archive, close_archive, rows_give_what_NumPy_and_PyTorch_give, gradients_are_what_PyTorch_finds, reductions_give_what_NumPy_gives,
          softmax_gives_what_PyTorch_gives, casts_give_what_NumPy_gives_within_the_contract, einsum_gives_what_NumPy_gives,
          products_give_what_NumPy_and_PyTorch_give, sorting_gives_what_NumPy_and_PyTorch_give,
          gradients_of_calls_are_what_PyTorch_finds)
