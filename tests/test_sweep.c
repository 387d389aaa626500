/* Every elementwise row in every dtype and layout, and every cast: the device under test against the contract's reference and
 * against host, on edges and ordinary values. Which cases run comes from the tables; TENON_TEST_LONG=1 runs them all, else
 * each row and dtype gets a few layouts, other ones in each configuration. */
#include "support/test.h"

#include "graph/node.h"
#include "support/layouts.h"
#include "support/reference.h"

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
#include "tables/elementwise.def"
#undef EW
};

static tn_tensor *call(int r, tn_tensor *const *x)
{
    const function *f = &functions[r];
    return f->one ? f->one(x[0]) : f->two ? f->two(x[0], x[1]) : f->three(x[0], x[1], x[2]);
}

/* ---- what occurred ---- */

static int row_cases[TN__ROWS], dtype_cases[TN_DTYPE_COUNT], layout_cases[LAYOUTS], cast_cases[TN_DTYPE_COUNT][TN_DTYPE_COUNT];
static int faults; /* of the running test; the first few are told */

#define FAULT(...)                                  \
    do {                                            \
        if (faults++ < 12) {                        \
            printf("  FAULT %s: ", test_name());    \
            printf(__VA_ARGS__);                    \
            printf("\n");                           \
        }                                           \
    } while (0)

static void end_of_faults(void)
{
    const int count = faults;
    faults = 0;
    ck_assert_msg(count == 0, "%s: %d faults", test_name(), count);
}

static bool on_host(void)
{
    return strcmp(test_device(), "host") == 0;
}

/* Configurations choose different cases. */
static int turn(void)
{
    int sum = 0;
    for (const char *p = test_config(); *p; p++) sum += *p;
    return sum;
}

static bool takes(tn_dtype dtype)
{
    return dtype != TN_F64 || test_has_f64();
}

/* ---- values ---- */

enum { MOST = 512, EDGES = 16 };

static void float_edges(tn_dtype dtype, double *edge)
{
    const double largest = dtype == TN_F16 ? 65504 : dtype == TN_BF16 ? 0x1.fep127 : dtype == TN_F32 ? 0x1.fffffep127 : 0x1.fffffffffffffp1023;
    const double least = dtype == TN_F16 ? 0x1p-14 : dtype == TN_F64 ? 0x1p-1022 : 0x1p-126;
    const double list[EDGES] = {0, -0.0, 1, -1, NAN, INFINITY, -INFINITY, largest, -largest, least, least / 8, -least / 4, 0.5, -2.5, 3, 100};
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
    if (tn_dtype_is_float(dtype)) test_store(dtype, p, v);
    else store_integer(dtype, p, (int64_t)floor(tn_dtype_is_signed(dtype) ? v : fabs(v)));
}

/* Operand `which`: all pairs of edges first, then numbers of the row's range mixed with edges. From element `first` on. */
static void fill(const tn__row *row, tn_dtype dtype, int which, int64_t first, int64_t n, test_random *r, void *out)
{
    const int64_t pairs = row->arity == 1 ? EDGES : EDGES * EDGES;
    for (int64_t k = 0; k < n; k++) {
        char *p = (char *)out + (size_t)k * tn_dtype_size(dtype);
        const int64_t i = first + k;
        if (i < pairs && which < 2) put_edge(dtype, (int)(which == 0 ? i % EDGES : i / EDGES), p);
        else if (i < pairs || test_below(r, 4) == 0) put_edge(dtype, (int)test_below(r, EDGES), p);
        else put_ordinary(dtype, row->low, row->high, r, p);
    }
}

/* ---- one case ---- */

typedef struct sweep_case {
    const tn__row *row;
    int r;
    tn_dtype dtype, computed;
    tn_dtype from[3]; /* dtypes of the operands */
    test_layout layout;
    int64_t n;
    char values[3][MOST * 8];
} sweep_case;

static bool allowed(const tn__row *row, tn_dtype dtype)
{
    const int kind = tn_dtype_is_float(dtype) ? 0 : dtype == TN_BOOL ? 2 : 1;
    return row->text[kind] || (row->inputs == TN__REAL && row->text[0]);
}

static bool sign_of_zero_is_free(const tn__row *row)
{
    static const char *const names[] = {"relu", "maximum", "minimum", "clamp", "remainder", "sign"};
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
static bool agrees(const tn__row *row, tn_dtype computed, const reference_number *operands, const void *got, bool may_flush, reference_number *want)
{
    char exact[8];
    double slack;
    if (!reference_row(row->name, computed, operands, want, &slack)) ck_abort_msg("%s has no reference (tests/support/reference.c)", row->name);
    if (!tn_dtype_is_float(want->dtype)) {
        reference_store(exact, *want);
        return memcmp(exact, got, tn_dtype_size(want->dtype)) == 0;
    }
    const double g = test_number(want->dtype, got);
    if (may_flush && reference_may_flush(*want) && fabs(g) <= (want->dtype == TN_F64 ? 0x1p-1022 : 0x1p-126)) return true;
    if (row->ulp > 0) return test_ulps(want->dtype, g, want->f) <= bound_of(row, want->dtype, slack);
    test_store(want->dtype, exact, (double)want->f);
    return test_bits_equal(want->dtype, exact, got) || (g == 0 && test_number(want->dtype, exact) == 0 && sign_of_zero_is_free(row));
}

/* The same, with each subnormal operand as it is or taken for 0. */
static bool agrees_flushed(const sweep_case *c, const reference_number *operands, const void *got, bool may_flush, reference_number *want, bool *flushed)
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
        if (c->from[k] != c->computed && c->from[k] != TN_BOOL) operands[k] = reference_cast(operands[k], c->computed);
        else if (c->row->inputs == TN__REAL) operands[k] = reference_cast(operands[k], c->computed);
    }
}

static void check_values(const sweep_case *c, tn_dtype result, const char *got, const char *host)
{
    const size_t size = tn_dtype_size(result);
    int told = 0;
    for (int64_t i = 0; i < c->n; i++) {
        reference_number operands[3], want;
        bool flushed;
        const char *g = got + (size_t)i * size, *h = host + (size_t)i * size;
        operands_at(c, i, operands);
        const bool good = agrees_flushed(c, operands, g, !on_host(), &want, &flushed);
        if (good && want.dtype != result) {
            FAULT("%s %s: the result is %s, not %s", c->row->name, tn_dtype_name(c->dtype), tn_dtype_name(result), tn_dtype_name(want.dtype));
            return;
        }
        if (!good && told++ < 3)
            FAULT("%s %s %s, element %d: of %.9Lg %.9Lg %.9Lg it is %.17g, not %.17Lg (%g ulps)", c->row->name, tn_dtype_name(c->dtype),
                  layout_name(c->layout), (int)i, reference_float(operands[0]), reference_float(operands[1]), reference_float(operands[2]),
                  test_number(result, g), reference_float(want), test_ulps(result, test_number(result, g), reference_float(want)));
        const bool exact = c->row->ulp == 0 || !tn_dtype_is_float(result);
        if (good && exact && !flushed && !reference_may_flush(want) && !test_bits_equal(result, g, h) &&
            !(test_number(result, g) == 0 && test_number(result, h) == 0 && sign_of_zero_is_free(c->row)))
            FAULT("%s %s %s, element %d: %.17g, on host %.17g", c->row->name, tn_dtype_name(c->dtype), layout_name(c->layout), (int)i,
                  test_number(result, g), test_number(result, h));
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
            FAULT("%s %s %s: stride of axis %d is %d, on host %d, instead of %d", c->row->name, tn_dtype_name(c->dtype), layout_name(c->layout), a,
                  (int)tn_stride(y, a), (int)tn_stride(on_host_, a), (int)stride[a]);
}

/* The same expression written into the middle of a larger tensor: it is right there too, and its neighbours stay. */
static void check_guards(const sweep_case *c, tn_tensor *y, const char *host)
{
    enum { GUARD = 9 };
    const tn_dtype dtype = tn_dtype_of(y);
    const size_t size = tn_dtype_size(dtype), bytes = (size_t)(c->n + 2 * GUARD) * size;
    char *before = malloc(bytes), *after = malloc(bytes);
    for (size_t i = 0; i < bytes; i++) before[i] = dtype == TN_BOOL ? (char)(i % 3 == 0) : (char)(1 + i * 7);
    tn_tensor *whole = ck_made(tn_from(dtype, TN_SHAPE(c->n + 2 * GUARD), before, test_device()));
    tn_tensor *part = ck_made(tn_slice(whole, 0, GUARD, GUARD + c->n, 1)), *middle = ck_made(tn_view(part, layout_shape(c->layout)));
    ck_ok(tn_assign(middle, y));
    ck_ok(tn_read(whole, after, bytes));
    if (memcmp(before, after, GUARD * size) != 0 || memcmp(before + bytes - GUARD * size, after + bytes - GUARD * size, GUARD * size) != 0)
        FAULT("%s %s %s: it wrote beyond its place", c->row->name, tn_dtype_name(c->dtype), layout_name(c->layout));
    check_values(c, dtype, after + GUARD * size, host);
    tn_release(middle);
    tn_release(part);
    tn_release(whole);
    free(before);
    free(after);
}

/* Rows that always see every layout. */
static bool is_pilot(int r, tn_dtype dtype)
{
    const tn__row *row = &tn__rows[r];
    return dtype == TN_F32 && !test_is("rusticl-deep") && (strcmp(row->name, "sub") == 0 || strcmp(row->name, "where") == 0 || strcmp(row->name, "abs") == 0);
}

/* Which cases run where not all can: each kernel costs a driver's compiler a tenth of a second. */
typedef struct choice {
    bool any;            /* of this row and dtype */
    test_layout plain;   /* one of those whose kernels are the same */
    test_layout dear;    /* one with a kernel of its own; LAYOUTS: none */
    bool guards;
} choice;

/* A dtype that each row gets in every configuration. */
static tn_dtype sure_dtype(int r)
{
    int d = (r * 5 + turn()) % TN_DTYPE_COUNT;
    while (!allowed(&tn__rows[r], (tn_dtype)d) || !takes((tn_dtype)d)) d = (d + 1) % TN_DTYPE_COUNT;
    return (tn_dtype)d;
}

static choice choose(int r, tn_dtype dtype)
{
    static const test_layout plain[] = {LAYOUT_CONTIGUOUS, LAYOUT_OFFSET, LAYOUT_CHANNELS_LAST, LAYOUT_ODD};
    static const test_layout dear[] = {LAYOUT_TRANSPOSED, LAYOUT_BROADCAST, LAYOUT_NEGATIVE, LAYOUT_ZERO_D};
    test_random mixed = {.state = (uint64_t)(turn() * 10000 + r * 100 + (int)dtype)};
    const int at = (int)test_below(&mixed, 1 << 20);
    const bool converts = tn__rows[r].inputs == TN__REAL && !tn_dtype_is_float(dtype);
    choice c = {.plain = plain[at % 4], .dear = at / 4 % 4 == 0 ? dear[at / 16 % 4] : LAYOUTS, .guards = at / 4 % 4 == 1};
    if (test_is("rusticl-deep")) c.any = at / 64 % 8 == 0;
    else c.any = converts ? at / 64 % 4 == 0 : at / 64 % 8 < 5;
    c.any = c.any || dtype == sure_dtype(r);
    return c;
}

static bool chosen(int r, tn_dtype dtype, test_layout layout)
{
    const choice c = choose(r, dtype);
    if (on_host() || test_long() || layout == LAYOUT_EMPTY) return true; /* what costs no kernel */
    if (is_pilot(r, dtype)) return true;
    return c.any && (layout == c.plain || layout == c.dear);
}

/* One draw of values through the row, on the device and on host. first: as for fill. */
static void run_case(int r, tn_dtype dtype, test_layout layout, int64_t first)
{
    static sweep_case c;
    const tn__row *row = &tn__rows[r];
    test_random random = {.state = (uint64_t)(r * 1000 + dtype * 20 + layout)};
    c = (sweep_case){.row = row, .r = r, .dtype = dtype, .layout = layout, .n = layout_count(layout)};
    c.computed = row->inputs == TN__REAL && !tn_dtype_is_float(dtype) ? TN_F32 : dtype;
    tn_tensor *x[3] = {0}, *h[3] = {0};
    for (int k = 0; k < row->arity; k++) {
        c.from[k] = row->inputs == TN__CHOOSE && k == 0 ? TN_BOOL : dtype;
        fill(row, c.from[k], k, first, c.n, &random, c.values[k]);
        x[k] = layout_tensor(layout, k, row->arity, c.from[k], c.values[k], test_device());
        h[k] = layout_tensor(layout, k, row->arity, c.from[k], c.values[k], "host");
    }
    if (layout == LAYOUT_ZERO_D && strcmp(row->name, "pow") == 0 && !tn_dtype_is_float(dtype) && reference_load(dtype, c.values[1]).i < 0) {
        ck_fails(tn_pow(h[0], h[1]), TN_ARGUMENT, "pow", "an integer to the power -"); /* a scalar on host: known at once */
        for (int k = 0; k < row->arity; k++) tn_release(x[k]), tn_release(h[k]);
        return;
    }
    const int64_t handles = tn_live_count();
    tn_tensor *y = ck_made(call(r, x)), *z = ck_made(call(r, h));
    if (tn_live_count() != handles + 2) FAULT("%s %s: it made %d handles", row->name, tn_dtype_name(dtype), (int)(tn_live_count() - handles));
    char *got = malloc(MOST * 8), *host = malloc(MOST * 8);
    check_layout(&c, x, y, z);
    ck_ok(tn_read(y, got, tn_nbytes(y)));
    ck_ok(tn_read(z, host, tn_nbytes(z)));
    check_values(&c, tn_dtype_of(y), got, host);
    if (c.n > 1 && (on_host() || test_long() || is_pilot(r, dtype) || choose(r, dtype).guards)) {
        tn_tensor *again = ck_made(call(r, x));
        check_guards(&c, again, host);
        tn_release(again);
    }
    for (int k = 0; k < row->arity; k++) tn_release(x[k]), tn_release(h[k]);
    tn_release(y);
    tn_release(z);
    free(got);
    free(host);
    if (c.n > 0) row_cases[r]++, dtype_cases[dtype]++;
    layout_cases[layout]++;
    test_case_passed();
}

static void sweep_rows(tn_dtype dtype)
{
    int missing = 0;
    for (int r = 0; r < TN__ROWS; r++) {
        if (!allowed(&tn__rows[r], dtype)) continue;
        for (int layout = 0; layout < LAYOUTS; layout++) {
            if (!takes(dtype)) {
                missing += chosen(r, dtype, (test_layout)layout);
                continue;
            }
            if (!chosen(r, dtype, (test_layout)layout)) continue;
            run_case(r, dtype, (test_layout)layout, 0);
            if (layout == LAYOUT_ZERO_D)
                for (int64_t first = 1; first < 2000; first = first * 5 + 2) run_case(r, dtype, (test_layout)layout, first);
        }
    }
    if (missing) test_cases_skipped(missing, "the device has no f64");
    end_of_faults();
}

#define DT(id, name, ...) START_TEST(rows_in_##name) { sweep_rows(TN_##id); } END_TEST
#include "tables/dtypes.def"
#undef DT

/* ---- rows that a dtype is not allowed in ---- */

START_TEST(other_dtypes_are_refused_by_name)
{
    for (int r = 0; r < TN__ROWS; r++)
        for (int d = 0; d < TN_DTYPE_COUNT; d++) {
            if (allowed(&tn__rows[r], (tn_dtype)d) || !takes((tn_dtype)d)) continue;
            tn_tensor *x = ck_made(tn_ones((tn_dtype)d, TN_SHAPE(2), test_device()));
            ck_fails(call(r, (tn_tensor *const[]){x, x, x}), TN_DTYPE, tn__rows[r].name, tn_dtype_name((tn_dtype)d));
            tn_release(x);
            test_case_passed();
        }
}
END_TEST

START_TEST(without_f64_the_error_names_the_capability)
{
    TN_SKIP_IF(test_has_f64(), "the device has f64");
    tn_tensor *x = test_f32(TN_SHAPE(1), {1});
    const double one = 1;
    ck_fails(tn_from(TN_F64, TN_SHAPE(1), &one, test_device()), TN_CAPABILITY, "f64", test_device());
    ck_fails(tn_zeros(TN_F64, TN_SHAPE(1), test_device()), TN_CAPABILITY, "f64");
    ck_fails(tn_cast(x, TN_F64), TN_CAPABILITY, "f64");
    tn_release(x);
}
END_TEST

/* ---- casts ---- */

static int cast_values(tn_dtype from, test_layout layout, char *out)
{
    static const double floats[] = {0,         -0.0,       NAN,       INFINITY,  -INFINITY, 3e9,        -1.5,      300,       255,       256,         -0.4,
                                    0.99999,   127.9,      128,       -128.9,    -129,      32767.5,    32768,     -32769,    65535.4,   65536,       2147483520.0,
                                    2147483647.0, 2147483648.0, -2147483648.0, -2147483904.0, 4294967040.0, 4294967295.0, 4294967296.0, 9.2233715e18, 9223372036854775807.0, -9.3e18,
                                    1.8446743e19, 18446744073709551615.0, 1e30, -1e30, 65504, 65519, 65520, -65520, 0x1p-14, 0x1p-24, 0x1.8p-24, 0x1p-25, 0x1.00001p-25,
                                    0x1p-26,   1e-40,      -3e-45,    1e-300,    5e-324,    1e300,      16777217,  16842753,  0.1,       1.0009765,   1.00048828125,
                                    1.0014648, 1.00390625, 1.01171875, 3.3895314e38, 3.4028234e38, 3.4028235677973366e38, 1 / 3.0, -7, 2};
    static const int64_t integers[] = {0, 1, -1, 2, 127, 128, 129, -128, -129, 255, 256, 32767, 32768, -32768, 65535, 65536, 65504, 65519, 65520,
                                       2147483647, 2147483648, -2147483648, -2147483649, 4294967295, 4294967296, INT64_MAX, INT64_MIN, 16777215, 16777216,
                                       16777217, 16777219, 16842753, -16842753, 33554433, 33685505, 9007199254740993, -9007199254740995, 9223371761976868863,
                                       2049, 2051, 257, 259, INT64_C(0x0080800000000001), INT64_C(0x7fffff4000000001), INT64_C(0x7fffffbfffffffff), 300};
    const size_t size = tn_dtype_size(from);
    const int64_t n = layout_count(layout);
    for (int64_t i = 0; i < n; i++) {
        char *p = out + (size_t)i * size;
        if (tn_dtype_is_float(from)) test_store(from, p, floats[i % (int64_t)(sizeof floats / sizeof *floats)]);
        else store_integer(from, p, integers[i % (int64_t)(sizeof integers / sizeof *integers)]);
    }
    return (int)n;
}

static void check_cast(tn_dtype from, tn_dtype to, test_layout layout, int n, const char *values, tn_tensor *y)
{
    char got[MOST * 8], exact[8];
    int told = 0;
    ck_assert_int_eq(tn_dtype_of(y), to);
    ck_ok(tn_read(y, got, tn_nbytes(y)));
    for (int i = 0; i < n; i++) {
        const reference_number x = reference_load(from, values + (size_t)i * tn_dtype_size(from));
        const reference_number want = reference_cast(x, to);
        const char *g = got + (size_t)i * tn_dtype_size(to);
        reference_store(exact, want);
        if (test_bits_equal(to, exact, g)) continue;
        if (!on_host() && (reference_may_flush(x) || reference_may_flush(want)) && test_number(to, g) == 0) continue;
        if (told++ < 3)
            FAULT("%s to %s, %s: %.20Lg is %.17g, not %.17Lg", tn_dtype_name(from), tn_dtype_name(to), layout_name(layout), reference_float(x),
                  test_number(to, g), reference_float(want));
    }
}

/* To every dtype, a few at a time: a kernel of several results; alone where time does not matter. */
static void cast_all(tn_dtype from, test_layout layout)
{
    enum { TOGETHER = 4 };
    char values[MOST * 8];
    const int n = cast_values(from, layout, values);
    tn_tensor *x = layout_tensor(layout, 0, 1, from, values, test_device());
    for (int to = 0; to < TN_DTYPE_COUNT;) {
        tn_tensor *y[TOGETHER];
        int count = 0;
        for (; to < TN_DTYPE_COUNT && count < TOGETHER; to++)
            if (takes((tn_dtype)to)) y[count++] = ck_made(tn_cast(x, (tn_dtype)to));
        if (!test_long()) ck_ok(tn_realize(y, count));
        for (int i = 0; i < count; i++) {
            check_cast(from, tn_dtype_of(y[i]), layout, n, values, y[i]);
            cast_cases[from][tn_dtype_of(y[i])]++;
            test_case_passed();
            tn_release(y[i]);
        }
    }
    tn_release(x);
}

static void sweep_casts(tn_dtype from)
{
    TN_SKIP_IF(!takes(from), "the device has no f64");
    const int chosen_one = test_is("rusticl-deep") ? LAYOUT_ODD : (turn() + (int)from) % LAYOUTS;
    for (int layout = 0; layout < LAYOUTS; layout++)
        if (on_host() || test_long() || layout == LAYOUT_EMPTY || layout == chosen_one) cast_all(from, (test_layout)layout);
    end_of_faults();
}

#define DT(id, name, ...) START_TEST(casts_of_##name) { sweep_casts(TN_##id); } END_TEST
#include "tables/dtypes.def"
#undef DT

/* ---- the contract's lines ---- */

/* Checks two-operand functions on pairs of numbers, in one dtype. */
static void pairs(tn_tensor *(*f)(tn_tensor *, tn_tensor *), tn_dtype dtype, const double (*row)[3], int count, const char *file, int line)
{
    double a[32], b[32], want[32];
    for (int i = 0; i < count; i++) a[i] = row[i][0], b[i] = row[i][1], want[i] = row[i][2];
    const tn_shape shape = TN_SHAPE(count);
    tn_tensor *x = test_tensor_from(dtype, shape, a, (size_t)count, file, line), *y = test_tensor_from(dtype, shape, b, (size_t)count, file, line);
    tn_tensor *z = f(x, y);
    test_equals_numbers(z, want, (size_t)count, 0, test_name(), file, line);
    tn_release(z);
    tn_release(y);
    tn_release(x);
    test_case_passed();
}
#define PAIRS(f, dtype, ...) \
    pairs(f, dtype, (const double[][3])__VA_ARGS__, (int)(sizeof((const double[][3])__VA_ARGS__) / sizeof(double[3])), __FILE__, __LINE__)

START_TEST(floor_division_and_remainder_are_Pythons)
{
    PAIRS(tn_floor_divide, TN_F32, {{-7, 2, -4}, {7, -2, -4}, {7, 2, 3}, {-7, -2, 3}, {5, -INFINITY, -1}, {-5, INFINITY, -1}, {5, INFINITY, 0},
                                    {INFINITY, 2, NAN}, {1, 0, INFINITY}, {-1, 0, -INFINITY}, {0, 0, NAN}, {NAN, 1, NAN}, {1, 0.1f, 9}, {6, 0.5, 12}});
    PAIRS(tn_remainder, TN_F32, {{-7, 2, 1}, {7, -2, -1}, {7, 2, 1}, {-7, -2, -1}, {-5, INFINITY, INFINITY}, {5, INFINITY, 5}, {5, -INFINITY, -INFINITY},
                                 {INFINITY, 2, NAN}, {1, 0, NAN}, {5.5, 2, 1.5}, {-5.5, 2, 0.5}});
    PAIRS(tn_floor_divide, TN_I32, {{-7, 2, -4}, {7, -2, -4}, {-7, -2, 3}, {7, 0, 0}, {0, 0, 0}, {-2147483648.0, -1, -2147483648.0}, {-2147483648.0, 1, -2147483648.0}});
    PAIRS(tn_remainder, TN_I32, {{-7, 2, 1}, {7, -2, -1}, {-7, -2, -1}, {7, 0, 0}, {-2147483648.0, -1, 0}, {-2147483648.0, 3, 1}});
    PAIRS(tn_floor_divide, TN_I8, {{-128, -1, -128}, {-128, 0, 0}, {127, -2, -64}, {-7, 2, -4}});
    PAIRS(tn_remainder, TN_I8, {{-128, -1, 0}, {-7, 2, 1}, {127, -2, -1}});
    PAIRS(tn_floor_divide, TN_U8, {{255, 2, 127}, {255, 255, 1}, {254, 255, 0}, {7, 0, 0}});
    PAIRS(tn_remainder, TN_U8, {{255, 2, 1}, {255, 255, 0}, {254, 255, 254}, {7, 0, 0}});
    PAIRS(tn_floor_divide, TN_I64, {{-9223372036854775808.0, -1, -9223372036854775808.0}, {-7, 2, -4}, {5, 0, 0}});
}
END_TEST

START_TEST(shifts_by_what_is_out_of_range_give_0_or_the_sign)
{
    PAIRS(tn_left_shift, TN_I32, {{1, 31, -2147483648.0}, {1, 32, 0}, {1, -1, 0}, {3, 1, 6}, {-1, 4, -16}, {1, 1000, 0}});
    PAIRS(tn_right_shift, TN_I32, {{-8, 1, -4}, {-8, 31, -1}, {-8, 32, -1}, {-8, -1, -1}, {8, 32, 0}, {8, -1, 0}});
    PAIRS(tn_left_shift, TN_I8, {{1, 7, -128}, {1, 8, 0}, {1, 31, 0}, {1, 127, 0}});
    PAIRS(tn_right_shift, TN_I8, {{-128, 7, -1}, {-128, 8, -1}, {-128, 40, -1}, {127, 8, 0}});
    PAIRS(tn_right_shift, TN_U8, {{255, 7, 1}, {255, 8, 0}, {255, 255, 0}});
    PAIRS(tn_left_shift, TN_U64, {{1, 63, 9223372036854775808.0}, {1, 64, 0}});
    PAIRS(tn_right_shift, TN_I64, {{-9223372036854775808.0, 63, -1}, {-5, 64, -1}, {5, 64, 0}});
}
END_TEST

START_TEST(integers_wrap_and_their_powers_too)
{
    PAIRS(tn_add, TN_I32, {{2147483647.0, 1, -2147483648.0}});
    PAIRS(tn_sub, TN_U8, {{0, 1, 255}});
    PAIRS(tn_mul, TN_I16, {{256, 256, 0}, {300, 300, 24464}});
    PAIRS(tn_pow, TN_I32, {{3, 4, 81}, {2, 31, -2147483648.0}, {2, 32, 0}, {0, 0, 1}, {-1, -3, -1}, {-1, -2, 1}, {1, -5, 1}, {2, -1, 0}, {0, -1, 0}});
    PAIRS(tn_pow, TN_U8, {{3, 5, 243}, {3, 6, 217}, {2, 8, 0}});
    tn_tensor *x = test_i32(TN_SHAPE(2), {1, 2}), *minus = tn_int(-1);
    ck_fails(tn_pow(x, minus), TN_ARGUMENT, "pow", "-1");
    tn_release(minus);
    tn_release(x);
}
END_TEST

START_TEST(C25_NaN_propagates_through_extremes)
{
    PAIRS(tn_maximum, TN_F32, {{0, NAN, NAN}, {NAN, 0, NAN}, {1, 2, 2}, {-INFINITY, NAN, NAN}});
    PAIRS(tn_minimum, TN_F32, {{0, NAN, NAN}, {NAN, 0, NAN}, {1, 2, 1}});
    tn_tensor *x = test_f32(TN_SHAPE(4), {NAN, -1, 0.5, 7}), *zero = tn_int(0), *one = tn_int(1), *nan = tn_float(NAN);
    tn_tensor *relu = tn_relu(x), *within = tn_clamp(x, zero, one), *crossed = tn_clamp(x, one, zero), *above = tn_clamp(x, zero, TN_NONE),
              *below = tn_clamp(x, TN_NONE, one), *bound = tn_clamp(x, nan, one), *sign = tn_sign(x);
    ck_tensor_f32(relu, {NAN, 0, 0.5, 7});
    ck_tensor_f32(within, {NAN, 0, 0.5, 1});
    ck_tensor_f32(crossed, {NAN, 0, 0, 0});
    ck_tensor_f32(above, {NAN, 0, 0.5, 7});
    ck_tensor_f32(below, {NAN, -1, 0.5, 1});
    ck_tensor_f32(bound, {NAN, NAN, NAN, NAN});
    ck_tensor_f32(sign, {NAN, -1, 1, 1});
    ck_fails(tn_clamp(x, TN_NONE, TN_NONE), TN_ARGUMENT, "clamp");
    tn_tensor *all[] = {x, zero, one, nan, relu, within, crossed, above, below, bound, sign};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tn_release(all[i]);
}
END_TEST

START_TEST(C27_floats_saturate_as_integers_and_NaN_is_0)
{
    tn_tensor *x = test_f32(TN_SHAPE(6), {NAN, INFINITY, -INFINITY, 3e9f, -1.5f, 300});
    tn_tensor *i = tn_cast(x, TN_I32), *u = tn_cast(x, TN_U8), *b = tn_cast(x, TN_BOOL);
    ck_tensor_i32(i, {0, 2147483647, INT32_MIN, 2147483647, -1, 300});
    ck_tensor_u8(u, {0, 255, 0, 255, 0, 255});
    ck_tensor_bool(b, {1, 1, 1, 1, 1, 1});
    tn_tensor *wide = test_i64(TN_SHAPE(3), {16842753, -16842753, 16777217}), *half = tn_cast(wide, TN_BF16), *single = tn_cast(wide, TN_F32);
    ck_values(half, {16908288, -16908288, 16777216});
    ck_values(single, {16842752, -16842752, 16777216});
    tn_tensor *all[] = {x, i, u, b, wide, half, single};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) tn_release(all[k]);
}
END_TEST

START_TEST(bool_adds_as_or_and_multiplies_as_and)
{
    tn_tensor *a = test_bool(TN_SHAPE(4), {0, 0, 1, 1}), *b = test_bool(TN_SHAPE(4), {0, 1, 0, 1});
    tn_tensor *sum = tn_add(a, b), *product = tn_mul(a, b), *ratio = tn_div(a, b);
    ck_tensor_bool(sum, {0, 1, 1, 1});
    ck_tensor_bool(product, {0, 0, 0, 1});
    ck_tensor_f32(ratio, {NAN, 0, INFINITY, 1});
    ck_fails(tn_sub(a, b), TN_DTYPE, "sub", "bool");
    ck_fails(tn_neg(a), TN_DTYPE, "neg", "bool");
    tn_tensor *all[] = {a, b, sum, product, ratio};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tn_release(all[i]);
}
END_TEST

START_TEST(C31_what_is_not_finite_stays_so)
{
    tn_tensor *x = test_f32(TN_SHAPE(4), {NAN, 1, -1, 0}), *zero = test_f32(TN_SHAPE(1), {0});
    tn_tensor *nan = tn_isnan(x), *ratio = tn_div(x, zero), *log = tn_log(x);
    ck_tensor_bool(nan, {1, 0, 0, 0});
    ck_tensor_f32(ratio, {NAN, INFINITY, -INFINITY, NAN});
    ck_tensor_f32(log, {NAN, 0, NAN, -INFINITY});
    tn_tensor *all[] = {x, zero, nan, ratio, log};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tn_release(all[i]);
}
END_TEST

START_TEST(C35_nothing_contracts)
{
    tn_tensor *a = test_f32(TN_SHAPE(2), {0.1f, 1 + 0x1p-12f}), *b = test_f32(TN_SHAPE(2), {300, 1 + 0x1p-12f});
    tn_tensor *product = tn_mul(a, b), *rounded = tn_clone(product), *difference = tn_sub(product, rounded);
    tn_tensor *one = test_f32(TN_SHAPE(2), {-0x1.e00002p4f, -(1 + 0x1p-11f)}), *sum = tn_add(product, one);
    ck_tensor_f32(difference, {0, 0});
    ck_tensor_f32(sum, {0.1f * 300 - 0x1.e00002p4f, 0});
    tn_tensor *all[] = {a, b, product, rounded, difference, one, sum};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tn_release(all[i]);
}
END_TEST

START_TEST(C15_operands_of_different_layouts_meet_by_their_indices)
{
    tn_tensor *a = test_f32(TN_SHAPE(2, 2), {0, 1, 0, 0}), *stored = test_f32(TN_SHAPE(2, 2), {0, 0, 1, 0}), *b = tn_transpose(stored, 0, 1);
    tn_tensor *sum = tn_add(a, b);
    ck_tensor_f32(sum, {0, 2, 0, 0});
    tn_tensor *cube = tn_arange(TN_I32, 0, 8, 1, test_device()), *x = tn_view(cube, TN_SHAPE(2, 2, 2)), *y = tn_select(x, 2, 1), *z = tn_clone(y);
    ck_tensor_i32(z, {1, 3, 5, 7});
    tn_tensor *all[] = {a, stored, b, sum, cube, x, y, z};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tn_release(all[i]);
}
END_TEST

START_TEST(C18_views_of_views_add_at_odd_places)
{
    tn_tensor *x = tn_arange(TN_F32, 0, 10, 1, test_device()), *zero = tn_int(0), *a = tn_slice(x, 0, 1, 5, 1), *b = tn_slice(a, 0, 1, 3, 1);
    tn_tensor *y = tn_add(a, zero), *z = tn_add(b, zero);
    ck_tensor_f32(y, {1, 2, 3, 4});
    ck_tensor_f32(z, {2, 3});
    tn_tensor *all[] = {x, zero, a, b, y, z};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tn_release(all[i]);
}
END_TEST

START_TEST(scalars_are_weak_and_enter_in_the_compute_type)
{
    tn_tensor *x = test_values(TN_F16, TN_SHAPE(3), {1, 2, 3}), *tenth = tn_float(0.1), *y = tn_mul(x, tenth);
    ck_assert_int_eq(tn_dtype_of(y), TN_F16);
    ck_close(y, 0.6, {0.1f * 1.0, 0.1f * 2.0, 0.1f * 3.0});
    tn_tensor *bytes = test_u8(TN_SHAPE(2), {1, 255}), *one = tn_int(1), *big = tn_int(300), *minus = tn_int(-1), *half = tn_float(0.5);
    tn_tensor *sum = tn_add(bytes, one), *mixed = tn_mul(bytes, half);
    ck_tensor_u8(sum, {2, 0});
    ck_tensor_f32(mixed, {0.5, 127.5});
    ck_fails(tn_add(bytes, big), TN_OVERFLOW, "300", "u8");
    ck_fails(tn_lt(bytes, minus), TN_OVERFLOW, "-1", "u8");
    tn_tensor *all[] = {x, tenth, y, bytes, one, big, minus, half, sum, mixed};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tn_release(all[i]);
}
END_TEST

START_TEST(where_takes_any_number_as_its_condition)
{
    tn_tensor *c = test_f32(TN_SHAPE(4), {0, -0.0f, NAN, 0.25}), *a = test_i32(TN_SHAPE(4), {1, 2, 3, 4}), *b = tn_int(-1), *y = tn_where(c, a, b);
    ck_tensor_i32(y, {-1, -1, 3, 4});
    tn_tensor *all[] = {c, a, b, y};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tn_release(all[i]);
}
END_TEST

START_TEST(promotion_is_PyTorchs_and_beyond)
{
    static const struct { tn_dtype a, b, to; } table[] = {
        {TN_F16, TN_BF16, TN_F32}, {TN_F16, TN_I64, TN_F16}, {TN_U8, TN_I8, TN_I16}, {TN_BOOL, TN_U16, TN_U16}, {TN_U8, TN_U32, TN_U32},
        {TN_U16, TN_I8, TN_I32}, {TN_U16, TN_I64, TN_I64}, {TN_U32, TN_I8, TN_I64}, {TN_F32, TN_U64, TN_F32}, {TN_I32, TN_I8, TN_I32}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        tn_tensor *a = test_values(table[i].a, TN_SHAPE(2), {1, 0}), *b = test_values(table[i].b, TN_SHAPE(2), {1, 1}), *y = tn_maximum(a, b), *z = tn_maximum(b, a);
        ck_assert_int_eq(tn_dtype_of(ck_made(y)), table[i].to);
        ck_same(y, z);
        ck_values(y, {1, 1});
        tn_release(a);
        tn_release(b);
        tn_release(y);
        tn_release(z);
        test_case_passed();
    }
    tn_tensor *a = test_values(TN_U64, TN_SHAPE(1), {1}), *b = test_values(TN_I8, TN_SHAPE(1), {1});
    ck_fails(tn_add(a, b), TN_DTYPE, "u64", "i8");
    tn_release(a);
    tn_release(b);
}
END_TEST

/* ---- everything occurred ---- */

START_TEST(every_row_dtype_layout_and_cast_occurred)
{
    printf("  rows  ");
    for (int r = 0; r < TN__ROWS; r++) printf(" %s %d", tn__rows[r].name, row_cases[r]);
    printf("\n  dtypes");
    for (int d = 0; d < TN_DTYPE_COUNT; d++) printf(" %s %d", tn_dtype_name((tn_dtype)d), dtype_cases[d]);
    printf("\n  layouts");
    for (int l = 0; l < LAYOUTS; l++) printf(" %s %d", layout_name((test_layout)l), layout_cases[l]);
    printf("\n");
    tn_device_info info;
    ck_ok(tn_device_query(test_device(), &info));
    printf("  programs: %llu built, %llu loaded; launches: %llu\n", (unsigned long long)info.programs_built, (unsigned long long)info.programs_loaded,
           (unsigned long long)info.launches);
    for (int r = 0; r < TN__ROWS; r++) ck_assert_msg(row_cases[r] > 0, "no case of %s", tn__rows[r].name);
    for (int l = 0; l < LAYOUTS; l++) ck_assert_msg(layout_cases[l] > 0, "no case of %s", layout_name((test_layout)l));
    for (int d = 0; d < TN_DTYPE_COUNT; d++) {
        ck_assert_msg(dtype_cases[d] > 0 || !takes((tn_dtype)d), "no case in %s", tn_dtype_name((tn_dtype)d));
        for (int to = 0; to < TN_DTYPE_COUNT; to++)
            ck_assert_msg(cast_cases[d][to] > 0 || !takes((tn_dtype)d) || !takes((tn_dtype)to), "no cast of %s to %s", tn_dtype_name((tn_dtype)d), tn_dtype_name((tn_dtype)to));
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
#define DT(id, name, ...) rows_in_##name,
#include "tables/dtypes.def"
#undef DT
        other_dtypes_are_refused_by_name,
        without_f64_the_error_names_the_capability,
#define DT(id, name, ...) casts_of_##name,
#include "tables/dtypes.def"
#undef DT
        floor_division_and_remainder_are_Pythons,
        shifts_by_what_is_out_of_range_give_0_or_the_sign,
        integers_wrap_and_their_powers_too,
        C25_NaN_propagates_through_extremes,
        C27_floats_saturate_as_integers_and_NaN_is_0,
        bool_adds_as_or_and_multiplies_as_and,
        C31_what_is_not_finite_stays_so,
        C35_nothing_contracts,
        C15_operands_of_different_layouts_meet_by_their_indices,
        C18_views_of_views_add_at_odd_places,
        scalars_are_weak_and_enter_in_the_compute_type,
        where_takes_any_number_as_its_condition,
        promotion_is_PyTorchs_and_beyond,
        every_row_dtype_layout_and_cast_occurred,
    };
    (void)tn_set("cache_dir", ""); /* hardly a kernel is used again, and saving it costs as much as building it */
    return test_run("sweep", NULL, NULL, tests, (int)(sizeof tests / sizeof tests[0]));
}
