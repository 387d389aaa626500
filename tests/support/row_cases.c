#include "support/row_cases.h"

#include "support/reference.h"
#include "support/test.h"

#include <math.h>

/* ---- the rows as functions ---- */

typedef struct function {
    tn_tensor *(*one)(tn_tensor *);
    tn_tensor *(*two)(tn_tensor *, tn_tensor *);
    tn_tensor *(*three)(tn_tensor *, tn_tensor *, tn_tensor *);
} function;
#define FUNCTION_1(name) .one = tn_##name
#define FUNCTION_2(name) .two = tn_##name
#define FUNCTION_3(name) .three = tn_##name
static const function functions[TN__ROWS] = {
#define EW(name, arity, ...) [TN__ROW_##name] = {FUNCTION_##arity(name)},
#define EWN(name, ...) [TN__ROW_##name] = {.one = NULL}, /* the public one takes numbers */
#include "tables/elementwise.def"
#undef EW
};

tn_tensor *row_call(int r, tn_tensor *const *x)
{
    const function *f = &functions[r];
    if (!f->one && !f->two && !f->three) return tn__elementwise(&tn__rows[r], x);
    return f->one ? f->one(x[0]) : f->two ? f->two(x[0], x[1]) : f->three(x[0], x[1], x[2]);
}

/* ---- faults ---- */

static int faults; /* of the case */
static int told;   /* of the program: no more than a few dozen */

#define FAULT(...)                               \
    do {                                         \
        faults++;                                \
        if (told++ < 40) {                       \
            printf("  FAULT %s: ", test_name()); \
            printf(__VA_ARGS__);                 \
            printf("\n");                        \
        }                                        \
    } while (0)

static bool on_host(void)
{
    return strcmp(test_device(), "host") == 0;
}

/* ---- values ---- */

enum { EDGES = 16 };

static void float_edges(tn_dtype dtype, double *edge)
{
    const double largest = dtype == TN_F16    ? 65504
                           : dtype == TN_BF16 ? 0x1.fep127
                           : dtype == TN_F32  ? 0x1.fffffep127
                                              : 0x1.fffffffffffffp1023;
    const double least = dtype == TN_F16 ? 0x1p-14 : dtype == TN_F64 ? 0x1p-1022 : 0x1p-126;
    const double list[EDGES] = {0,        -0.0,  1,         -1,         NAN, INFINITY, -INFINITY, largest,
                                -largest, least, least / 8, -least / 4, 0.5, -2.5,     3,         100};
    memcpy(edge, list, sizeof list);
}

static int64_t integer_edge(tn_dtype dtype, int e)
{
    const int bits = (int)tn_dtype_size(dtype) * 8;
    const int64_t top = tn_dtype_is_signed(dtype) ? (int64_t)(UINT64_MAX >> (65 - bits)) : (int64_t)(UINT64_MAX >> (64 - bits));
    const int64_t list[EDGES] = {0, 1, -1, 2, 3, -2, -7, top, top - 1, -top - 1, -top, 7, bits - 1, bits, bits + 1, 100};
    return list[e];
}

static void store_integer(tn_dtype dtype, void *p, int64_t value)
{
    reference_store(p, reference_cast((reference_number){.dtype = TN_I64, .i = value}, dtype));
}

static void put_edge(tn_dtype dtype, int e, void *p)
{
    double edge[EDGES];
    if (tn_dtype_is_float(dtype)) {
        float_edges(dtype, edge);
        test_store(dtype, p, edge[e]);
    } else
        store_integer(dtype, p, integer_edge(dtype, e));
}

static void put_ordinary(tn_dtype dtype, double low, double high, test_random *r, void *p)
{
    const double v = low + test_unit(r) * (high - low);
    if (tn_dtype_is_float(dtype))
        test_store(dtype, p, v);
    else
        store_integer(dtype, p, (int64_t)floor(tn_dtype_is_signed(dtype) ? v : fabs(v)));
}

/* Operand `which`: all pairs of edges first, then numbers of the row's range mixed with edges. From element `first` on. */
static void fill(const tn__row *row, tn_dtype dtype, int which, int64_t first, int64_t n, test_random *r, void *out)
{
    const int64_t pairs = row->arity == 1 ? EDGES : EDGES * EDGES;
    for (int64_t k = 0; k < n; k++) {
        char *p = (char *)out + (size_t)k * tn_dtype_size(dtype);
        const int64_t i = first + k;
        if (i < pairs && which < 2)
            put_edge(dtype, (int)(which == 0 ? i % EDGES : i / EDGES), p);
        else if (i < pairs || test_below(r, 4) == 0)
            put_edge(dtype, (int)test_below(r, EDGES), p);
        else
            put_ordinary(dtype, row->low, row->high, r, p);
    }
}

/* ---- one case ---- */

typedef struct sweep_case {
    const tn__row *row;
    tn_dtype dtype, computed;
    tn_dtype from[3]; /* dtypes of the operands */
    test_layout layout;
    int64_t n;
    bool loose, refused;
    tn_tensor *x[3], *h[3], *y; /* operands on the device and on host, the result */
    char values[3][CASE_ELEMENTS * 8];
    char host[CASE_ELEMENTS * 8]; /* what host gives */
} sweep_case;

bool row_allowed(int r, tn_dtype dtype)
{
    const tn__row *row = &tn__rows[r];
    const int kind = tn_dtype_is_float(dtype) ? 0 : dtype == TN_BOOL ? 2 : 1;
    return row->text[kind] || (row->inputs == TN__REAL && row->text[0]);
}

static bool sign_of_zero_is_free(const tn__row *row)
{
    static const char *const names[] = {"relu", "maximum", "minimum", "clamp", "remainder", "sign", "fmax", "fmin", "relu6", "hardtanh"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(row->name, names[i]) == 0) return true;
    return false;
}

/* Ulps of the result's dtype: the row's own bound, in what it is computed in, and half of one for the rounding. */
static double bound_of(const tn__row *row, tn_dtype dtype, double slack)
{
    if (row->ulp == 0 || !tn_dtype_is_float(dtype)) return 0;
    const double within = row->ulp + slack;
    return dtype == TN_F16 ? 0.5 + within * 0x1p-13 : dtype == TN_BF16 ? 0.5 + within * 0x1p-16 : within;
}

/* got is what the reference gives for these operands, in exact rows with its bits. */
static bool agrees(const tn__row *row, tn_dtype computed, const reference_number *operands, const void *got, bool may_flush,
                   reference_number *want)
{
    char exact[8];
    double slack;
    *want = reference_row((int)(row - tn__rows), computed, operands, &slack);
    if (!tn_dtype_is_float(want->dtype)) {
        reference_store(exact, *want);
        return memcmp(exact, got, tn_dtype_size(want->dtype)) == 0;
    }
    const double g = test_number(want->dtype, got);
    if (may_flush && reference_may_flush(*want) && fabs(g) <= (want->dtype == TN_F64 ? 0x1p-1022 : 0x1p-126)) return true;
    if (row->ulp > 0) return test_ulps(want->dtype, g, want->f) <= bound_of(row, want->dtype, slack);
    test_store(want->dtype, exact, (double)want->f);
    return test_bits_equal(want->dtype, exact, got) ||
           (g == 0 && test_number(want->dtype, exact) == 0 && sign_of_zero_is_free(row));
}

/* The same, with each subnormal operand as it is or taken for 0. */
static bool agrees_flushed(const sweep_case *c, const reference_number *operands, const void *got, bool may_flush,
                           reference_number *want, bool *flushed)
{
    *flushed = false;
    if (agrees(c->row, c->computed, operands, got, may_flush, want)) return true;
    for (int set = 1; may_flush && set < 1 << c->row->arity; set++) {
        reference_number tried[3], other;
        for (int k = 0; k < 3; k++) {
            tried[k] = operands[k];
            if (set >> k & 1 && reference_may_flush(operands[k])) tried[k].f = copysignl(0, operands[k].f), *flushed = true;
        }
        if (*flushed && agrees(c->row, c->computed, tried, got, may_flush, &other)) return true;
    }
    return false;
}

/* Operands of element i, in what the row computes in. */
static void operands_at(const sweep_case *c, int64_t i, reference_number *operands)
{
    memset(operands, 0, 3 * sizeof *operands);
    for (int k = 0; k < c->row->arity; k++) {
        operands[k] = reference_load(c->from[k], c->values[k] + (size_t)i * tn_dtype_size(c->from[k]));
        if (c->from[k] != c->computed && c->from[k] != TN_BOOL)
            operands[k] = reference_cast(operands[k], c->computed);
        else if (c->row->inputs == TN__REAL)
            operands[k] = reference_cast(operands[k], c->computed);
    }
}

static void check_values(const sweep_case *c, tn_dtype result, const char *got)
{
    const size_t size = tn_dtype_size(result);
    int wrong = 0;
    if (c->loose) return;
    for (int64_t i = 0; i < c->n; i++) {
        reference_number operands[3], want;
        bool flushed;
        const char *g = got + (size_t)i * size, *h = c->host + (size_t)i * size;
        operands_at(c, i, operands);
        const bool good = agrees_flushed(c, operands, g, !on_host(), &want, &flushed);
        if (good && want.dtype != result) {
            FAULT("%s %s: the result is %s, not %s", c->row->name, tn_dtype_name(c->dtype), tn_dtype_name(result),
                  tn_dtype_name(want.dtype));
            return;
        }
        if (!good && wrong++ < 3)
            FAULT("%s %s %s, element %d: of %.9Lg %.9Lg %.9Lg it is %.17g, not %.17Lg (%g ulps)", c->row->name,
                  tn_dtype_name(c->dtype), layout_name(c->layout), (int)i, reference_float(operands[0]),
                  reference_float(operands[1]), reference_float(operands[2]), test_number(result, g), reference_float(want),
                  test_ulps(result, test_number(result, g), reference_float(want)));
        const bool exact = c->row->ulp == 0 || !tn_dtype_is_float(result);
        if (good && exact && !flushed && !reference_may_flush(want) && !test_bits_equal(result, g, h) &&
            !(test_number(result, g) == 0 && test_number(result, h) == 0 && sign_of_zero_is_free(c->row)))
            FAULT("%s %s %s, element %d: %.17g, on host %.17g", c->row->name, tn_dtype_name(c->dtype), layout_name(c->layout),
                  (int)i, test_number(result, g), test_number(result, h));
    }
}

/* Strides as bone 4 has them, and the same as on host. */
static void check_layout(const sweep_case *c, tn_tensor *const *x, tn_tensor *y, tn_tensor *on_host_)
{
    int64_t stride[TN_MAX_AXES];
    const tn_shape shape = layout_shape(c->layout);
    bool same = tn_ndim(y) == shape.ndim;
    for (int a = 0; same && a < shape.ndim; a++) same = tn_dim(y, a) == shape.dim[a];
    if (!same) {
        FAULT("%s %s %s: the result's shape", c->row->name, tn_dtype_name(c->dtype), layout_name(c->layout));
        return;
    }
    layout_of_result(shape, x, c->row->arity, stride);
    for (int a = 0; a < shape.ndim; a++)
        if (tn_stride(y, a) != stride[a] || tn_stride(on_host_, a) != stride[a])
            FAULT("%s %s %s: stride of axis %d is %d, on host %d, instead of %d", c->row->name, tn_dtype_name(c->dtype),
                  layout_name(c->layout), a, (int)tn_stride(y, a), (int)tn_stride(on_host_, a), (int)stride[a]);
}

/* The same expression written into the middle of a larger tensor: it is right there too, and its neighbours stay. */
static void check_guards(const sweep_case *c, tn_tensor *y)
{
    enum { GUARD = 9 };
    const tn_dtype dtype = tn_dtype_of(y);
    const size_t size = tn_dtype_size(dtype), bytes = (size_t)(c->n + 2 * GUARD) * size;
    char *before = malloc(bytes), *after = malloc(bytes);
    for (size_t i = 0; i < bytes; i++) before[i] = dtype == TN_BOOL ? (char)(i % 3 == 0) : (char)(1 + i * 7);
    tn_tensor *whole = ck_made(tn_from(dtype, TN_SHAPE(c->n + 2 * GUARD), before, test_device()));
    tn_tensor *part = ck_made(tn_slice(whole, 0, GUARD, GUARD + c->n, 1)),
              *middle = ck_made(tn_view(part, layout_shape(c->layout)));
    ck_ok(tn_assign(middle, y));
    ck_ok(tn_read(whole, after, bytes));
    if (memcmp(before, after, GUARD * size) != 0 ||
        memcmp(before + bytes - GUARD * size, after + bytes - GUARD * size, GUARD * size) != 0)
        FAULT("%s %s %s: it wrote beyond its place", c->row->name, tn_dtype_name(c->dtype), layout_name(c->layout));
    check_values(c, dtype, after + GUARD * size);
    tn_release(middle);
    tn_release(part);
    tn_release(whole);
    free(before);
    free(after);
}

/* An integer to a negative power that is a scalar. */
static bool refused_scalar(const sweep_case *c)
{
    return c->layout == LAYOUT_ZERO_D && strcmp(c->row->name, "pow") == 0 && !tn_dtype_is_float(c->dtype) &&
           reference_load(c->dtype, c->values[1]).i < 0;
}

/* Operands, those of an earlier case where it has one that fits. */
static void prepare(sweep_case *c, const row_case *want, const sweep_case *shared)
{
    const tn__row *row = &tn__rows[want->row];
    const tn_dtype dtype = want->dtype;
    const test_layout layout = want->layout;
    test_random random = {.state = (uint64_t)(want->row * 1000 + (int)dtype * 20 + (int)layout)};
    *c = (sweep_case){.row = row, .dtype = dtype, .layout = layout, .n = layout_count(layout), .loose = want->loose};
    c->computed = row->inputs == TN__REAL && !tn_dtype_is_float(dtype) ? TN_F32 : dtype;
    for (int k = 0; k < row->arity; k++) {
        c->from[k] = row->inputs == TN__CHOOSE && k == 0 ? TN_BOOL : dtype;
        if (shared && shared->row->arity == row->arity && shared->from[k] == c->from[k]) {
            memcpy(c->values[k], shared->values[k], sizeof c->values[k]);
            c->x[k] = tn_retain(shared->x[k]);
            c->h[k] = tn_retain(shared->h[k]);
            continue;
        }
        fill(row, c->from[k], k, want->first, c->n, &random, c->values[k]);
        c->x[k] = layout_tensor(layout, k, row->arity, c->from[k], c->values[k], test_device());
        c->h[k] = layout_tensor(layout, k, row->arity, c->from[k], c->values[k], "host");
    }
    c->refused = refused_scalar(c);
    if (c->refused)
        ck_fails(tn_pow(c->h[0], c->h[1]), TN_ARGUMENT, "pow", "an integer to the power -"); /* known at once on host */
}

/* Handles, strides, values. */
static void check(sweep_case *c, tn_tensor *on_host_)
{
    char got[CASE_ELEMENTS * 8];
    check_layout(c, c->x, c->y, on_host_);
    ck_ok(tn_read(c->y, got, tn_nbytes(c->y)));
    ck_ok(tn_read(on_host_, c->host, tn_nbytes(on_host_)));
    check_values(c, tn_dtype_of(c->y), got);
}

/* The row on the device, recorded. */
static void record(sweep_case *c, int r)
{
    const int64_t handles = tn_live_count();
    c->y = ck_made(row_call(r, c->x));
    const int64_t made = tn_live_count() - handles;
    if (made != 1) FAULT("%s %s: a call made %d handles", c->row->name, tn_dtype_name(c->dtype), (int)made);
}

/* The first case whose operands the i-th may have. */
static const sweep_case *earlier_like(const row_case *cases, const sweep_case *list, int i)
{
    for (int k = 0; k < i; k++)
        if (cases[k].dtype == cases[i].dtype && cases[k].layout == cases[i].layout && cases[k].first == cases[i].first &&
            tn__rows[cases[k].row].arity == tn__rows[cases[i].row].arity)
            return &list[k];
    return NULL;
}

int row_cases_run(const row_case *cases, int count)
{
    static sweep_case list[ROW_CASES];
    tn_tensor *wanted[ROW_CASES];
    int asked = 0;
    faults = 0;
    for (int i = 0; i < count; i++) {
        prepare(&list[i], &cases[i], earlier_like(cases, list, i));
        if (list[i].refused) continue;
        record(&list[i], cases[i].row);
        wanted[asked++] = list[i].y;
    }
    if (asked > 1) ck_ok(tn_realize(wanted, asked));
    for (int i = 0; i < count; i++) {
        sweep_case *c = &list[i];
        if (!c->refused) {
            tn_tensor *z = ck_made(row_call(cases[i].row, c->h));
            check(c, z);
            tn_release(z);
            tn_release(c->y);
        }
        if (!c->refused && c->n > 1 && cases[i].guards) {
            tn_tensor *again = ck_made(row_call(cases[i].row, c->x));
            check_guards(c, again);
            tn_release(again);
        }
        for (int k = 0; k < c->row->arity; k++) tn_release(c->x[k]), tn_release(c->h[k]);
    }
    return faults;
}

/* ---- casts ---- */

int cast_values(tn_dtype from, test_layout layout, char *out)
{
    static const double floats[] = {0,
                                    -0.0,
                                    NAN,
                                    INFINITY,
                                    -INFINITY,
                                    3e9,
                                    -1.5,
                                    300,
                                    255,
                                    256,
                                    -0.4,
                                    0.99999,
                                    127.9,
                                    128,
                                    -128.9,
                                    -129,
                                    32767.5,
                                    32768,
                                    -32769,
                                    65535.4,
                                    65536,
                                    2147483520.0,
                                    2147483647.0,
                                    2147483648.0,
                                    -2147483648.0,
                                    -2147483904.0,
                                    4294967040.0,
                                    4294967295.0,
                                    4294967296.0,
                                    9.2233715e18,
                                    9223372036854775807.0,
                                    -9.3e18,
                                    1.8446743e19,
                                    18446744073709551615.0,
                                    1e30,
                                    -1e30,
                                    65504,
                                    65519,
                                    65520,
                                    -65520,
                                    0x1p-14,
                                    0x1p-24,
                                    0x1.8p-24,
                                    0x1p-25,
                                    0x1.00001p-25,
                                    0x1p-26,
                                    1e-40,
                                    -3e-45,
                                    1e-300,
                                    5e-324,
                                    1e300,
                                    16777217,
                                    16842753,
                                    0.1,
                                    1.0009765,
                                    1.00048828125,
                                    1.0014648,
                                    1.00390625,
                                    1.01171875,
                                    3.3895314e38,
                                    3.4028234e38,
                                    3.4028235677973366e38,
                                    1 / 3.0,
                                    -7,
                                    2};
    static const int64_t integers[] = {0,
                                       1,
                                       -1,
                                       2,
                                       127,
                                       128,
                                       129,
                                       -128,
                                       -129,
                                       255,
                                       256,
                                       32767,
                                       32768,
                                       -32768,
                                       65535,
                                       65536,
                                       65504,
                                       65519,
                                       65520,
                                       2147483647,
                                       2147483648,
                                       -2147483648,
                                       -2147483649,
                                       4294967295,
                                       4294967296,
                                       INT64_MAX,
                                       INT64_MIN,
                                       16777215,
                                       16777216,
                                       16777217,
                                       16777219,
                                       16842753,
                                       -16842753,
                                       33554433,
                                       33685505,
                                       9007199254740993,
                                       -9007199254740995,
                                       9223371761976868863,
                                       2049,
                                       2051,
                                       257,
                                       259,
                                       INT64_C(0x0080800000000001),
                                       INT64_C(0x7fffff4000000001),
                                       INT64_C(0x7fffffbfffffffff),
                                       300};
    const size_t size = tn_dtype_size(from);
    const int64_t n = layout_count(layout);
    for (int64_t i = 0; i < n; i++) {
        char *p = out + (size_t)i * size;
        if (tn_dtype_is_float(from))
            test_store(from, p, floats[i % (int64_t)(sizeof floats / sizeof *floats)]);
        else
            store_integer(from, p, integers[i % (int64_t)(sizeof integers / sizeof *integers)]);
    }
    return (int)n;
}

int cast_check(tn_dtype from, test_layout layout, int n, const char *values, tn_tensor *y)
{
    char got[CASE_ELEMENTS * 8], exact[8];
    const tn_dtype to = tn_dtype_of(y);
    int wrong = 0;
    ck_ok(tn_read(y, got, tn_nbytes(y)));
    for (int i = 0; i < n; i++) {
        const reference_number x = reference_load(from, values + (size_t)i * tn_dtype_size(from));
        const reference_number want = reference_cast(x, to);
        const char *g = got + (size_t)i * tn_dtype_size(to);
        reference_store(exact, want);
        if (test_bits_equal(to, exact, g)) continue;
        if (!on_host() && (reference_may_flush(x) || reference_may_flush(want)) && test_number(to, g) == 0) continue;
        if (wrong++ < 3)
            FAULT("%s to %s, %s: %.20Lg is %.17g, not %.17Lg", tn_dtype_name(from), tn_dtype_name(to), layout_name(layout),
                  reference_float(x), test_number(to, g), reference_float(want));
    }
    return wrong;
}
