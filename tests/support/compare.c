#include "support/compare.h"

#include "core/tensor.h"
#include "graph/node.h"

#include <math.h>

/* All elements of x, freed by the caller. */
static char *read_all(tn_tensor *x, const char *what, const char *file, int line)
{
    (void)test_made(x, what, file, line);
    char *bytes = malloc(tn_nbytes(x) + 8);
    const tn_status status = tn_read(x, bytes, tn_nbytes(x));
    if (status != TN_OK) {
        free(bytes);
        FAIL_AT(file, line, "reading %s is %s: %s", what, tn_status_name(status), tn_last_error());
    }
    return bytes;
}

double *test_numbers(tn_tensor *x)
{
    const tn_dtype dtype = tn_dtype_of(x);
    const size_t n = (size_t)tn_numel(x), size = tn_dtype_size(dtype);
    char *bytes = read_all(x, "x", __FILE__, __LINE__);
    double *list = malloc((n + 1) * sizeof *list);
    for (size_t i = 0; i < n; i++) list[i] = test_number(dtype, bytes + i * size);
    free(bytes);
    return list;
}

static void check_count(tn_tensor *x, size_t count, const char *what, const char *file, int line)
{
    (void)test_made(x, what, file, line);
    if ((size_t)tn_numel(x) != count)
        FAIL_AT(file, line, "%s has %lld elements instead of %zu", what, (long long)tn_numel(x), count);
}

/* ---- comparing ---- */

/* What x, of so many elements, must be: values of its dtype (ulps below 0), or numbers and how far off they may be. */
typedef struct expected {
    const void *values;
    size_t count;
    double ulps;
    const char *what, *file;
    int line;
} expected;

static void compare_bits(tn_tensor *x, const expected *e)
{
    const tn_dtype dtype = tn_dtype_of(x);
    char *bytes = read_all(x, e->what, e->file, e->line);
    for (size_t i = 0, size = tn_dtype_size(dtype); i < e->count; i++) {
        const char *got = bytes + i * size, *want = (const char *)e->values + i * size;
        const double g = test_number(dtype, got), w = test_number(dtype, want);
        if (test_bits_equal(dtype, got, want) || (g == 0 && w == 0)) continue;
        free(bytes);
        FAIL_AT(e->file, e->line, "%s: element %zu is %.17g instead of %.17g", e->what, i, g, w);
    }
    free(bytes);
}

static void compare_numbers(tn_tensor *x, const expected *e)
{
    const tn_dtype dtype = tn_dtype_of(x);
    const double *values = e->values;
    char *bytes = read_all(x, e->what, e->file, e->line);
    for (size_t i = 0; i < e->count; i++) {
        const double got = test_number(dtype, bytes + i * tn_dtype_size(dtype)), want = values[i];
        const double far = tn_dtype_is_float(dtype) ? test_ulps(dtype, got, want) : got == want ? 0 : INFINITY;
        if (e->ulps > 0 ? far <= e->ulps : got == want || (isnan(got) && isnan(want))) continue;
        free(bytes);
        FAIL_AT(e->file, e->line, "%s (%s): element %zu is %.17g instead of %.17g, %g ulps away", e->what, tn_dtype_name(dtype), i,
                got, want, far);
    }
    free(bytes);
}

static void compare(tn_tensor *x, const expected *e)
{
    if (e->ulps < 0)
        compare_bits(x, e);
    else
        compare_numbers(x, e);
}

/* ---- later ---- */

enum { MOST_WAITING = 64 };

/* A window on a pending value, and what it must be; values and what are copies. */
typedef struct waiting {
    tn__value *value;
    tn_tensor window;
    expected expected;
} waiting;

static waiting list[MOST_WAITING];
static int count_waiting;
static bool at_once, always; /* the running test, all */

void test_at_once(bool wish)
{
    if (wish) test_look();
    at_once = wish;
    always = always || (wish && !*test_name());
}

static void forget(waiting *w)
{
    free((void *)w->expected.values);
    free((void *)w->expected.what);
    tn__value_release(w->value);
}

void test_look_away(void)
{
    at_once = false;
    while (count_waiting > 0) forget(&list[--count_waiting]);
}

/* A handle of the value as it was then, whatever was written since. */
static tn_tensor *handle_of(const waiting *w)
{
    const tn_shape shape = tn_shape_make(w->window.ndim, w->window.dim);
    tn__storage *storage = tn__storage_new(tn__value_retain(w->value));
    tn_tensor *x = tn__tensor_new(storage, w->window.dtype, &shape);
    tn__storage_release(storage);
    x->offset = w->window.offset;
    memcpy(x->stride, w->window.stride, sizeof x->stride);
    return x;
}

void test_look(void)
{
    tn__value *values[MOST_WAITING];
    for (int i = 0; i < count_waiting; i++) values[i] = list[i].value;
    if (count_waiting > 0) ck_ok(tn__realize_values(values[0]->device, values, count_waiting));
    while (count_waiting > 0) {
        waiting w = list[--count_waiting];
        tn_tensor *x = handle_of(&w);
        compare(x, &w.expected);
        tn_release(x);
        forget(&w);
    }
}

static bool waits(const tn_tensor *x)
{
    return !at_once && !always && strcmp(test_device(), "cpu:0") == 0 && x->storage->value->node &&
           strcmp(tn_device_of((tn_tensor *)x), "cpu:0") == 0;
}

static void expect(tn_tensor *x, size_t bytes, const expected *e)
{
    if (!waits(x)) {
        compare(x, e);
        return;
    }
    if (count_waiting == MOST_WAITING) test_look();
    waiting *w = &list[count_waiting++];
    *w = (waiting){tn__value_retain(x->storage->value), *x, *e};
    w->expected.what = strdup(e->what);
    w->expected.values = memcpy(malloc(bytes + 1), e->values, bytes);
}

void test_equals(tn_tensor *x, tn_dtype dtype, const void *values, size_t count, const char *what, const char *file, int line)
{
    check_count(x, count, what, file, line);
    if (tn_dtype_of(x) != dtype) FAIL_AT(file, line, "%s is %s, not %s", what, tn_dtype_name(tn_dtype_of(x)), tn_dtype_name(dtype));
    expect(x, count * tn_dtype_size(dtype), &(expected){values, count, -1, what, file, line});
}

void test_equals_numbers(tn_tensor *x, const double *values, size_t count, double ulps, const char *what, const char *file,
                         int line)
{
    check_count(x, count, what, file, line);
    expect(x, count * sizeof *values, &(expected){values, count, ulps, what, file, line});
}

void test_has_shape(tn_tensor *x, tn_shape shape, const char *what, const char *file, int line)
{
    (void)test_made(x, what, file, line);
    if (tn_ndim(x) != shape.ndim) FAIL_AT(file, line, "%s has %d axes instead of %d", what, tn_ndim(x), shape.ndim);
    for (int i = 0; i < shape.ndim; i++)
        if (tn_dim(x, i) != shape.dim[i])
            FAIL_AT(file, line, "%s: axis %d has extent %lld instead of %lld", what, i, (long long)tn_dim(x, i),
                    (long long)shape.dim[i]);
}

void test_same(tn_tensor *x, tn_tensor *y, const char *x_text, const char *y_text, const char *file, int line)
{
    (void)test_made(y, y_text, file, line);
    test_has_shape(x, tn_shape_of(y), x_text, file, line);
    const tn_dtype dtype = tn_dtype_of(x);
    if (dtype != tn_dtype_of(y))
        FAIL_AT(file, line, "%s is %s, %s is %s", x_text, tn_dtype_name(dtype), y_text, tn_dtype_name(tn_dtype_of(y)));
    char *a = read_all(x, x_text, file, line), *b = read_all(y, y_text, file, line);
    for (size_t i = 0, size = tn_dtype_size(dtype); i < (size_t)tn_numel(x); i++) {
        if (test_bits_equal(dtype, a + i * size, b + i * size)) continue;
        const double g = test_number(dtype, a + i * size), w = test_number(dtype, b + i * size);
        free(a);
        free(b);
        FAIL_AT(file, line, "element %zu of %s is %.17g, of %s %.17g", i, x_text, g, y_text, w);
    }
    free(a);
    free(b);
}
