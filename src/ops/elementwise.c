/* The public elementwise operations: one for each row of tables/elementwise.def. */
#include "graph/rows.h"
#include <tenon/ops.h>

#define PUBLIC_1(name) (tn_tensor *x) { return tn__elementwise(&tn__rows[TN__ROW_##name], (tn_tensor *const[]){x}); }
#define PUBLIC_2(name) (tn_tensor *a, tn_tensor *b) { return tn__elementwise(&tn__rows[TN__ROW_##name], (tn_tensor *const[]){a, b}); }
#define PUBLIC_3(name) \
    (tn_tensor *a, tn_tensor *b, tn_tensor *c) { return tn__elementwise(&tn__rows[TN__ROW_##name], (tn_tensor *const[]){a, b, c}); }
#define NUMBERS_2(name) (tn_tensor *x, double b) { return with_numbers(&tn__rows[TN__ROW_##name], x, (double[]){b}); }
#define NUMBERS_3(name) (tn_tensor *x, double b, double c) { return with_numbers(&tn__rows[TN__ROW_##name], x, (double[]){b, c}); }
/* A row on x and numbers. */
static tn_tensor *with_numbers(const tn__row *row, tn_tensor *x, const double *numbers)
{
    tn_tensor *operand[3] = {x}, *y;
    for (int i = 1; i < row->arity; i++) operand[i] = tn_float(numbers[i - 1]);
    y = tn__elementwise(row, operand);
    for (int i = 1; i < row->arity; i++) tn_release(operand[i]);
    return y;
}
/* pow and clamp look at their operands first; what they leave to the table is row_pow and row_clamp */
#define tn_pow row_pow
#define tn_clamp row_clamp
static tn_tensor *row_pow(tn_tensor *a, tn_tensor *b);
static tn_tensor *row_clamp(tn_tensor *a, tn_tensor *b, tn_tensor *c);
#define EW(name, arity, ...) tn_tensor *tn_##name PUBLIC_##arity(name)
#define EWN(name, arity, ...) tn_tensor *tn_##name NUMBERS_##arity(name)
#include "tables/elementwise.def"
#undef EW
#undef tn_pow
#undef tn_clamp

/* The exponent of a scalar operand that is known now. */
static bool known_exponent(const tn_tensor *b, tn__number *n)
{
    if (!b || b == TN_NONE || b->ndim != 0 || !(b->weak || tn__tensor_device(b)->is_host)) return false;
    const tn__value *v = b->storage->value;
    *n = tn__number_load(b->dtype, (const char *)v->buffer->memory + (v->base + b->offset) * (int64_t)tn_dtype_size(b->dtype));
    return true;
}

tn_tensor *tn_pow(tn_tensor *a, tn_tensor *b)
{
    tn__number n;
    tn__graph_start();
    if (!a || a == TN_NONE || !known_exponent(b, &n)) return row_pow(a, b);
    const double e = tn__number_double(n);
    const bool integers = !tn_dtype_is_float(a->dtype) && !tn_dtype_is_float(b->dtype);
    if (integers && e < 0) return TN__NULL(TN_ARGUMENT, "pow: an integer to the power %.0f; cast to a float first", e);
    const bool kept = tn_dtype_is_float(a->dtype) && a->ndim > 0; /* the result has a's dtype */
    if (kept && e == 2) return tn_mul(a, a);
    if (kept && e == -1) {
        tn_tensor *one = tn_int(1), *r = tn_div(one, a);
        tn_release(one);
        return r;
    }
    return row_pow(a, b);
}

tn_tensor *tn_clamp(tn_tensor *x, tn_tensor *low, tn_tensor *high)
{
    if (low == TN_NONE && high == TN_NONE) return TN__NULL(TN_ARGUMENT, "clamp: both bounds are TN_NONE");
    if (low == TN_NONE) return tn_minimum(x, high);
    if (high == TN_NONE) return tn_maximum(x, low);
    return row_clamp(x, low, high);
}
