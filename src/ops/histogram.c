/* Counting: how many elements are of each value, or between each two edges. */
#include "ops/index.h"
#include "ops/compose.h"
#include "graph/rows.h"
#include <inttypes.h>
#include <math.h>
#include <tenon/ops.h>

/* Weights as what sums are kept in: floats keep their dtype. */
static tn_tensor *as_sums(tn_tensor *weights)
{
    return tn_dtype_is_float(weights->dtype) ? tn_reshape(weights, TN_SHAPE(-1)) : tn_reshape(tn_cast(weights, TN_F32), TN_SHAPE(-1));
}

static bool check_weights(const char *function, tn_tensor *x, tn_tensor *weights)
{
    const tn_shape a = tn__tensor_shape(x);
    if (weights == TN_NONE) return true;
    if (tn__tensor_check(weights, function, "weights") != TN_OK) return false;
    const tn_shape b = tn__tensor_shape(weights);
    if (tn__shape_equal(&a, &b)) return true;
    (void)tn__fail(TN_SHAPE, "%s: x %s and weights %s differ", function, tn__shape_text(a.ndim, a.dim), tn__shape_text(b.ndim, b.dim));
    return false;
}

/* ---- bincount ---- */

static tn_tensor *count_values(tn_tensor *x, tn_tensor *weights, int64_t least)
{
    const char *device = tn_device_of(x);
    int64_t low = 0, high = -1;
    if (x->numel > 0 && (tn_item_int(tn_min(x, TN_ALL_AXES, false), &low) != TN_OK ||
                         tn_item_int(tn_max(x, TN_ALL_AXES, false), &high) != TN_OK))
        return NULL;
    if (low < 0) return TN__NULL(TN_ARGUMENT, "bincount: x has a negative element, %" PRId64, low);
    if (high == INT64_MAX) return TN__NULL(TN_OVERFLOW, "bincount: x has the element %" PRId64, high);
    const int64_t n = high + 1 > least ? high + 1 : least;
    if (weights != TN_NONE) {
        tn_tensor *sums = as_sums(weights);
        return sums ? tn_scatter_add(tn_zeros(sums->dtype, TN_SHAPE(n), device), 0, x, sums) : NULL;
    }
    if (x->numel == 0) return tn_zeros(TN_I64, TN_SHAPE(n), device);
    tn_tensor *sorted = NULL;
    if (tn_sort(x, 0, false, &sorted, NULL) != TN_OK) return NULL;
    return tn_diff(tn_searchsorted(sorted, tn_arange(TN_I64, 0, (double)n + 1, 1, device), false), 1, 0);
}

tn_tensor *tn_bincount(tn_tensor *x, tn_tensor *weights, int64_t least)
{
    if (tn__tensor_check(x, "bincount", "x") != TN_OK || !tn__index_check("bincount", x)) return NULL;
    if (x->ndim != 1) return TN__NULL(TN_SHAPE, "bincount: x %s; it has one axis", tn__shape_text(x->ndim, x->dim));
    if (least < 0) return TN__NULL(TN_ARGUMENT, "bincount: at least %" PRId64 " bins", least);
    if (!check_weights("bincount", x, weights)) return NULL;
    const tn_scope scope = tn_scope_push();
    return tn__leave(scope, count_values(x, weights, least));
}

/* ---- histogram ---- */

/* Sums of weights by bin; what is in none goes to one behind the last. */
static tn_tensor *weigh(tn_tensor *x, tn_tensor *edges, tn_tensor *weights)
{
    const int64_t bins = edges->dim[0] - 1;
    tn_tensor *sums = as_sums(weights), *last = tn_select(edges, 0, -1);
    tn_tensor *bin = tn_sub(tn_bucketize(x, edges, true), tn_int(1));
    bin = tn_where(tn_eq(x, last), tn_int(bins - 1), bin);
    bin = tn_where(tn_lt(bin, tn_int(0)), tn_int(bins), bin); /* beyond the last: bins already */
    return sums ? tn_slice(tn_scatter_add(tn_zeros(sums->dtype, TN_SHAPE(bins + 1), tn_device_of(x)), 0, bin, sums), 0, 0, bins, 1) : NULL;
}

static tn_tensor *histogram(tn_tensor *x, tn_tensor *edges, tn_tensor *weights)
{
    const int64_t bins = edges->dim[0] - 1;
    tn_tensor *line = tn_reshape(x, TN_SHAPE(-1)), *sorted = NULL;
    if (!line) return NULL;
    if (weights != TN_NONE) return weigh(line, edges, weights);
    if (x->numel == 0) return tn_zeros(TN_I64, TN_SHAPE(bins), tn_device_of(x));
    if (tn_sort(line, 0, false, &sorted, NULL) != TN_OK) return NULL;
    tn_tensor *const below[2] = {tn_searchsorted(sorted, tn_slice(edges, 0, 0, bins, 1), false),
                                 tn_searchsorted(sorted, tn_slice(edges, 0, bins, TN_END, 1), true)};
    return tn_diff(tn_concat(below, 2, 0), 1, 0);
}

tn_tensor *tn_histogram(tn_tensor *x, tn_tensor *edges, tn_tensor *weights)
{
    const tn_scope scope = tn_scope_push();
    tn__pair p;
    tn_tensor *y = NULL;
    if (tn__pair_promote("histogram", x, "x", edges, "edges", &p) && check_weights("histogram", x, weights)) {
        if (p.b->ndim == 1 && p.b->dim[0] >= 2)
            y = histogram(p.a, p.b, weights);
        else
            (void)tn__fail(TN_SHAPE, "histogram: edges %s; one axis of two elements or more", tn__shape_text(p.b->ndim, p.b->dim));
    }
    tn__pair_drop(&p);
    return tn__leave(scope, y);
}

/* Where the data lie, when no range is given. */
static tn_status find_range(tn_tensor *x, double *low, double *high)
{
    if (x->numel > 0) {
        TN__TRY(tn_item(tn_min(x, TN_ALL_AXES, false), low));
        TN__TRY(tn_item(tn_max(x, TN_ALL_AXES, false), high));
    }
    if (*low == *high) {
        *low -= 1;
        *high += 1;
    }
    return TN_OK;
}

tn_tensor *tn_histc(tn_tensor *x, int64_t bins, double low, double high)
{
    if (tn__tensor_check(x, "histc", "x") != TN_OK) return NULL;
    if (bins < 1 || bins == INT64_MAX) return TN__NULL(TN_ARGUMENT, "histc: %" PRId64 " bins", bins);
    if (low > high) return TN__NULL(TN_ARGUMENT, "histc: low %g is above high %g", low, high);
    const tn_scope scope = tn_scope_push();
    const tn_status s = low == high ? find_range(x, &low, &high) : TN_OK;
    if (s == TN_OK && !(isfinite(low) && isfinite(high)))
        (void)tn__fail(TN_ARGUMENT, "histc: the range %g to %g is not finite", low, high);
    else if (s == TN_OK) {
        const tn_dtype dtype = x->dtype == TN_F64 ? TN_F64 : TN_F32;
        return tn__leave(scope, tn_histogram(x, tn_linspace(dtype, low, high, bins + 1, tn_device_of(x)), TN_NONE));
    }
    return tn__leave(scope, NULL);
}
