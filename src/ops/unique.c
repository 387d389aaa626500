/* Distinct elements, and membership: a sort, then lookups. */
#include "ops/index.h"
#include "ops/compose.h"
#include "graph/rows.h"
#include <tenon/ops.h>

/* Whether an element of a line [n], n > 0, differs from the one before it; the first does. */
static tn_tensor *begins(tn_tensor *line)
{
    tn_tensor *one = tn_ones(TN_BOOL, TN_SHAPE(1), tn_device_of(line));
    tn_tensor *later = tn_ne(tn_slice(line, 0, 1, TN_END, 1), tn_slice(line, 0, 0, -1, 1));
    return tn_concat((tn_tensor *const[]){one, later}, 2, 0);
}

/* Which of the distinct elements each of x is; a NaN is its own, in the order of x. */
static tn_tensor *places(tn_tensor *distinct, tn_tensor *x)
{
    tn_tensor *at = tn_searchsorted(distinct, x, false);
    if (!at || !tn_dtype_is_float(x->dtype)) return at;
    tn_tensor *nan = tn_isnan(x), *number = tn_sub(tn_cumsum(tn_reshape(nan, TN_SHAPE(-1)), 0), tn_int(1));
    return tn_where(nan, tn_add(at, tn_reshape(number, tn__tensor_shape(x))), at);
}

static tn_status unique(const char *function, tn_tensor *x, bool sorted, tn_tensor **values, tn_tensor **inverse, tn_tensor **counts)
{
    tn_tensor **const wanted[3] = {values, inverse, counts};
    tn_tensor *made[3] = {NULL};
    for (int i = 0; i < 3; i++)
        if (wanted[i]) *wanted[i] = NULL;
    TN__TRY(tn__tensor_check(x, function, "x"));
    if (!values && !inverse && !counts) return tn__fail(TN_ARGUMENT, "%s: values, inverse and counts are all NULL", function);
    const tn_scope scope = tn_scope_push();
    const char *device = tn_device_of(x);
    tn_tensor *line = tn_reshape(x, TN_SHAPE(-1));
    if (x->numel == 0) {
        if (values) made[0] = tn_zeros(x->dtype, TN_SHAPE(0), device);
        if (inverse) made[1] = tn_zeros(TN_I64, tn__tensor_shape(x), device);
        if (counts) made[2] = tn_zeros(TN_I64, TN_SHAPE(0), device);
        return tn__leave_all(scope, made, wanted, 3);
    }
    if (sorted && tn_sort(line, 0, false, &line, NULL) != TN_OK) return tn_scope_pop(scope);
    tn_tensor *first = begins(line), *starts = tn_flatnonzero(first), *end = tn_full(TN_I64, TN_SHAPE(1), tn_int(x->numel), device);
    tn_tensor *distinct = tn_take(line, starts);
    made[0] = distinct;
    if (inverse && sorted) made[1] = places(distinct, x);
    if (inverse && !sorted) made[1] = tn_reshape(tn_sub(tn_cumsum(first, 0), tn_int(1)), tn__tensor_shape(x));
    if (counts) made[2] = tn_diff(tn_concat((tn_tensor *const[]){starts, end}, 2, 0), 1, 0);
    return tn__leave_all(scope, made, wanted, 3);
}

tn_status tn_unique(tn_tensor *x, tn_tensor **values, tn_tensor **inverse, tn_tensor **counts)
{
    return unique("unique", x, true, values, inverse, counts);
}

tn_status tn_unique_consecutive(tn_tensor *x, tn_tensor **values, tn_tensor **inverse, tn_tensor **counts)
{
    return unique("unique_consecutive", x, false, values, inverse, counts);
}

tn_tensor *tn_isin(tn_tensor *x, tn_tensor *elements)
{
    const tn_scope scope = tn_scope_push();
    tn__pair p;
    tn_tensor *y = NULL;
    if (tn__pair_promote("isin", x, "x", elements, "elements", &p)) {
        tn_tensor *line = tn_reshape(p.b, TN_SHAPE(-1));
        if (p.b->numel == 0)
            y = tn_zeros(TN_BOOL, tn__tensor_shape(p.a), tn_device_of(p.a));
        else if (line && tn_sort(line, 0, false, &line, NULL) == TN_OK) {
            tn_tensor *at = tn_searchsorted(line, p.a, false);
            y = tn_eq(tn_take(line, tn_minimum(at, tn_int(p.b->numel - 1))), p.a);
        }
    }
    tn__pair_drop(&p);
    return tn__leave(scope, y);
}
