/* Printing as NumPy prints: aligned columns, one style for all numbers, the middle of long axes left out.
 *
 *   tensor([[1. , 2.5],
 *           [3. , 4. ]], dtype=f32, device=gpu:0)
 *
 * gather: the elements that will be seen, on the host.  measure: the style and width they need.  layout: the text. */
#include "base/alloc.h"
#include "base/decimal.h"
#include "base/text.h"
#include "core/tensor.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <tenon/tensor.h>

#define PREFIX "tensor("
enum { EDGE = 3, THRESHOLD = 1000, LINE = 75, PRECISION = 8 };
#define MOST_SHOWN (INT64_C(1) << 24)

/* What is seen: x, or its corners. */
typedef struct picture {
    tn_tensor *x;
    tn_shape shape; /* of what is seen: at most twice EDGE along an axis that is cut */
    bool cut[TN_MAX_AXES];
    bool summary;
    unsigned char *data; /* row-major, in x's dtype */
    int64_t count;
    tn_dtype dtype;
    size_t size;
} picture;

/* How numbers are written. */
typedef struct style {
    tn__kind kind;
    tn__binary_format format; /* of floats */
    bool scientific;
    int left, right; /* columns before and after the point */
    int precision;   /* digits after the point, at most; when scientific, exactly */
    int exponent;    /* digits of the exponent, at least */
    int width;       /* of integers and bools */
} style;

/* ---- gather ---- */

static tn_status choose(picture *p)
{
    const int64_t numel = tn_numel(p->x);
    p->summary = numel > THRESHOLD;
    p->shape = tn_shape_of(p->x);
    p->count = 1;
    for (int i = 0; i < p->shape.ndim; i++) {
        p->cut[i] = p->summary && p->shape.dim[i] > 2 * EDGE;
        if (p->cut[i]) p->shape.dim[i] = 2 * EDGE;
        p->count *= p->shape.dim[i];
        if (p->count > MOST_SHOWN) return tn__fail(TN_OVERFLOW, "print: the edges of %d axes are too many elements", p->shape.ndim);
    }
    return TN_OK;
}

/* Copies a block of corner elements to its place in the picture: the block starts at `at` along each axis. */
static void place(const picture *p, const unsigned char *block, const tn_shape *size, const int64_t *at)
{
    int64_t index[TN_MAX_AXES] = {0};
    const int last = p->shape.ndim - 1;
    const size_t row = (size_t)size->dim[last] * p->size;
    for (bool more = true; more; block += row) {
        int64_t to = 0;
        for (int i = 0; i <= last; i++) to = to * p->shape.dim[i] + at[i] + index[i];
        memcpy(p->data + (size_t)to * p->size, block, row);
        int axis = last - 1;
        while (axis >= 0 && ++index[axis] == size->dim[axis]) index[axis--] = 0;
        more = axis >= 0;
    }
}

/* Reads the block of x that bit i of `side` puts at the low or the high end of axis i. */
static tn_status read_block(picture *p, unsigned side, unsigned char *buffer)
{
    int64_t at[TN_MAX_AXES] = {0};
    tn_tensor *block = tn_slice(p->x, 0, 0, TN_END, 1);
    for (int i = 0; i < p->shape.ndim && block; i++) {
        if (!p->cut[i]) continue;
        const bool high = side >> i & 1;
        tn_tensor *part = tn_slice(block, i, high ? -EDGE : 0, high ? TN_END : EDGE, 1);
        tn_release(block);
        block = part;
        at[i] = high ? EDGE : 0;
    }
    const tn_shape size = block ? tn_shape_of(block) : p->shape;
    const tn_status status = block ? tn_read(block, buffer, tn_nbytes(block)) : tn_last_status();
    tn_release(block);
    if (status == TN_OK) place(p, buffer, &size, at);
    return status;
}

static tn_status read_corners(picture *p)
{
    unsigned char *buffer = tn__alloc((size_t)p->count * p->size);
    if (!buffer) return TN_MEMORY;
    unsigned mask = 0;
    for (int i = 0; i < p->shape.ndim; i++) mask |= p->cut[i] ? 1u << i : 0;
    /* Every subset of the cut axes once. */
    tn_status status = tn_realize(&p->x, 1);
    for (unsigned side = mask; status == TN_OK; side = (side - 1) & mask) {
        status = read_block(p, side, buffer);
        if (side == 0) break;
    }
    tn__free(buffer);
    return status;
}

static tn_status gather(picture *p)
{
    TN__TRY(choose(p));
    p->dtype = tn_dtype_of(p->x);
    p->size = tn_dtype_size(p->dtype);
    p->data = tn__alloc((size_t)p->count * p->size);
    if (!p->data) return TN_MEMORY;
    return p->summary ? read_corners(p) : tn_read(p->x, p->data, (size_t)p->count * p->size);
}

static tn__number element(const picture *p, int64_t index)
{
    return tn__number_load(p->dtype, p->data + (size_t)index * p->size);
}

/* ---- one number ---- */

static tn__binary_format format_of(tn_dtype dtype)
{
    switch (dtype) {
    case TN_F16: return (tn__binary_format){11, -24};
    case TN_BF16: return (tn__binary_format){8, -133};
    case TN_F32: return (tn__binary_format){24, -149};
    default: return (tn__binary_format){53, -1074};
    }
}

static void put_repeated(tn__text *t, char c, int count)
{
    for (; count > 0; count--) tn__text_put(t, &c, 1);
}

/* The digits after the point without trailing zeros, as many as are there. */
static int fraction_length(const tn__decimal *d, bool scientific)
{
    int count = d->count;
    while (count > 0 && d->digit[count - 1] == '0') count--;
    const int after = scientific ? count - 1 : count - 1 - d->exponent;
    return after > 0 ? after : 0;
}

static void put_scientific(tn__text *t, const style *s, double value)
{
    tn__decimal d;
    tn__decimal_of(value, s->format, false, s->precision + 1, s->precision + 1, &d);
    put_repeated(t, ' ', s->left - 1 - (signbit(value) ? 1 : 0));
    tn__text_add(t, "%s%c.%s", signbit(value) ? "-" : "", d.digit[0], d.digit + 1);
    put_repeated(t, '0', s->precision + 1 - d.count);
    tn__text_add(t, "e%c%0*d", d.exponent < 0 ? '-' : '+', s->exponent, d.exponent < 0 ? -d.exponent : d.exponent);
}

static void put_positional(tn__text *t, const style *s, double value)
{
    tn__decimal d;
    tn__decimal_of(value, s->format, true, 0, s->precision, &d);
    const int before = d.exponent >= 0 ? d.exponent + 1 : 1, after = fraction_length(&d, false);
    put_repeated(t, ' ', s->left - before - (signbit(value) ? 1 : 0));
    tn__text_puts(t, signbit(value) ? "-" : "");
    for (int place = before - 1; place >= -after; place--) {
        const int i = d.exponent - place;
        put_repeated(t, i >= 0 && i < d.count ? d.digit[i] : '0', 1);
        if (place == 0) put_repeated(t, '.', 1);
    }
    put_repeated(t, ' ', s->right - after);
}

static void put_number(tn__text *t, const style *s, tn__number n)
{
    if (s->kind == TN__BOOL)
        tn__text_add(t, "%*s", s->width, tn__number_double(n) != 0 ? "True" : "False");
    else if (s->kind == TN__SIGNED)
        tn__text_add(t, "%*" PRId64, s->width, tn__number_to_compute(n, TN__CL).l);
    else if (s->kind == TN__UNSIGNED)
        tn__text_add(t, "%*" PRIu64, s->width, tn__number_to_compute(n, TN__CM).m);
    else {
        const double value = tn__number_double(n);
        if (!isfinite(value))
            tn__text_add(t, "%*s", s->left + s->right + 1, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        else if (s->scientific)
            put_scientific(t, s, value);
        else
            put_positional(t, s, value);
    }
}

/* ---- measure ---- */

static double rounded(double value, tn_dtype dtype)
{
    return tn__number_double(tn__number_to((tn__number){.compute = TN__CD, .d = value}, dtype));
}

/* Scientific, when a number is so large or small, or the two ends so far apart, that columns would become long. The limits
 * are taken in the dtype itself. */
static bool needs_exponent(const picture *p)
{
    double most = 0, least = INFINITY;
    for (int64_t i = 0; i < p->count; i++) {
        const double value = fabs(tn__number_double(element(p, i)));
        if (!isfinite(value) || value == 0) continue;
        most = value > most ? value : most;
        least = value < least ? value : least;
    }
    if (most == 0) return false;
    const double limit = p->dtype == TN_F64 ? 1e8 : p->dtype == TN_F32 ? 1e6 : 1e3;
    return most >= limit || least < rounded(1e-4, p->dtype) || rounded(most / least, p->dtype) > 1000;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static void measure_floats(const picture *p, style *s)
{
    bool special = false, minus_infinity = false, any = false;
    int exponent = 2;
    s->format = format_of(p->dtype);
    s->scientific = needs_exponent(p);
    for (int64_t i = 0; i < p->count; i++) {
        const double value = tn__number_double(element(p, i));
        if (!isfinite(value)) {
            special = true;
            minus_infinity = minus_infinity || (isinf(value) && value < 0);
            continue;
        }
        any = true;
        tn__decimal d;
        tn__decimal_of(value, s->format, !s->scientific, 0, PRECISION + (s->scientific ? 1 : 0), &d);
        const int sign = signbit(value) ? 1 : 0;
        s->left = larger(s->left, sign + (s->scientific || d.exponent < 0 ? 1 : d.exponent + 1));
        s->right = larger(s->right, fraction_length(&d, s->scientific));
        exponent = larger(exponent, d.exponent <= -100 || d.exponent >= 100 ? 3 : 2);
    }
    s->precision = PRECISION;
    if (s->scientific && any) {
        s->precision = s->right;
        s->exponent = exponent;
        s->right = s->exponent + 2 + s->precision;
    }
    if (special) s->left = larger(s->left, 3 + (minus_infinity ? 1 : 0) - (s->right + 1));
}

static style measure(const picture *p)
{
    style s = {.kind = tn__dtypes[p->dtype].kind};
    if (s.kind == TN__FLOAT)
        measure_floats(p, &s);
    else if (s.kind == TN__BOOL)
        s.width = p->shape.ndim ? 5 : 0;
    else
        for (int64_t i = 0; i < p->count; i++) {
            char digits[24];
            const tn__number n = element(p, i);
            const int length = s.kind == TN__SIGNED
                                   ? snprintf(digits, sizeof digits, "%" PRId64, tn__number_to_compute(n, TN__CL).l)
                                   : snprintf(digits, sizeof digits, "%" PRIu64, tn__number_to_compute(n, TN__CM).m);
            s.width = larger(s.width, length);
        }
    return s;
}

/* ---- layout ---- */

typedef struct page {
    const picture *picture;
    const style *style;
    tn__text text;
    int64_t next; /* element */
    int column;
} page;

/* Writes a word of a row, on a new line where it would not fit. */
static void put_word(page *g, const char *word, int length, int indent, int width)
{
    if (g->column + length > width && g->column > indent) {
        while (g->text.length > 0 && g->text.data[g->text.length - 1] == ' ') g->text.length--;
        tn__text_puts(&g->text, "\n");
        put_repeated(&g->text, ' ', indent);
        g->column = indent;
    }
    tn__text_put(&g->text, word, (size_t)length);
    g->column += length;
}

static void put_row(page *g, int axis)
{
    const picture *p = g->picture;
    const int indent = (int)sizeof PREFIX + axis, width = LINE - 2 - axis;
    const int64_t count = p->shape.dim[axis];
    tn__text word = {0};
    g->column = indent;
    for (int64_t i = 0; i < count; i++) {
        if (p->cut[axis] && i == EDGE) {
            put_word(g, "...", 3, indent, width);
            put_word(g, ", ", 2, indent, LINE * 2);
        }
        word.length = 0;
        put_number(&word, g->style, element(p, g->next++));
        if (word.failed) break;
        put_word(g, word.data, (int)word.length, indent, width);
        if (i + 1 < count) put_word(g, ", ", 2, indent, LINE * 2);
    }
    g->text.failed = g->text.failed || word.failed;
    tn__text_free(&word);
}

static void put_axis(page *g, int axis)
{
    const picture *p = g->picture;
    const int left = p->shape.ndim - axis;
    if (left == 0) {
        put_number(&g->text, g->style, element(p, g->next++));
        return;
    }
    tn__text_puts(&g->text, "[");
    if (left == 1) put_row(g, axis);
    for (int64_t i = 0; left > 1 && i < p->shape.dim[axis]; i++) {
        const bool gap = p->cut[axis] && i == EDGE;
        for (int part = gap ? 0 : 1; part < 2; part++) {
            if (i > 0) {
                tn__text_puts(&g->text, ",");
                put_repeated(&g->text, '\n', left - 1);
                put_repeated(&g->text, ' ', (int)sizeof PREFIX + axis);
            }
            if (part == 0)
                tn__text_puts(&g->text, "...");
            else
                put_axis(g, axis + 1);
        }
    }
    tn__text_puts(&g->text, "]");
}

/* ", shape=(0, 3), dtype=f32, device=host)": the shape only where the text before does not show it. */
static void put_tail(tn__text *t, const picture *p)
{
    tn__text tail = {0};
    const tn_shape shape = tn_shape_of(p->x);
    if (p->summary || (p->count == 0 && shape.ndim > 1)) {
        tn__text_puts(&tail, "shape=(");
        for (int i = 0; i < shape.ndim; i++) tn__text_add(&tail, "%s%" PRId64, i ? ", " : "", shape.dim[i]);
        tn__text_puts(&tail, shape.ndim == 1 ? ",), " : "), ");
    }
    tn__text_add(&tail, "dtype=%s, device=%s)\n", tn_dtype_name(p->dtype), tn_device_of(p->x));
    tn__text_puts(t, ",");
    const char *line = t->data && strrchr(t->data, '\n') ? strrchr(t->data, '\n') + 1 : t->data;
    /* tail ends with a newline that takes no column, and follows a space that does */
    if (!t->failed && !tail.failed) {
        if (strlen(line) + tail.length > LINE) {
            tn__text_puts(t, "\n");
            put_repeated(t, ' ', (int)sizeof PREFIX - 1);
        } else
            tn__text_puts(t, " ");
        tn__text_puts(t, tail.data);
    }
    t->failed = t->failed || tail.failed;
    tn__text_free(&tail);
}

static tn_status print(FILE *file, const picture *p)
{
    const style s = measure(p);
    page g = {.picture = p, .style = &s};
    tn__text_puts(&g.text, PREFIX);
    if (p->count > 0)
        put_axis(&g, 0);
    else
        tn__text_puts(&g.text, "[]");
    put_tail(&g.text, p);
    tn_status status = TN_OK;
    if (g.text.failed)
        status = tn__fail(TN_MEMORY, "print: no memory for the text of %" PRId64 " elements", p->count);
    else if (fwrite(g.text.data, 1, g.text.length, file) != g.text.length)
        status = tn__fail(TN_FILE, "print: the file cannot be written");
    tn__text_free(&g.text);
    return status;
}

tn_status tn_print(FILE *file, tn_tensor *x)
{
    TN__TRY(tn__tensor_check(x, "print", "x"));
    if (!file) return tn__fail(TN_ARGUMENT, "print: file is NULL");
    picture p = {.x = x};
    tn_status status = gather(&p);
    if (status == TN_OK) status = print(file, &p);
    tn__free(p.data);
    return status;
}
