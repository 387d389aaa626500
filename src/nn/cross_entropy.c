/* Losses of classes. A label is compared with the numbers of all classes, which fuses with the sum forwards and backwards, where a
 * gather would need a scatter on the way back. */
#include "device/fault.h"
#include "nn/loss.h"
#include <tenon/autograd.h>

typedef struct classes {
    tn__loss loss;
    tn_tensor *logs; /* logarithms of the classes' probabilities */
    int axis;
    int64_t count;
    tn_tensor *weight; /* [count], TN_NONE: 1 */
    double smoothing;
    int64_t ignored;
} classes;

/* v [count] along the axis of the classes. */
static tn_tensor *along(const classes *c, tn_tensor *v)
{
    tn_shape shape = {.ndim = c->logs->ndim - c->axis, .dim = {c->count}};
    for (int a = 1; a < shape.ndim; a++) shape.dim[a] = 1;
    return tn_reshape(v, shape);
}

static tn_status check_shapes(const classes *c, const tn_tensor *x, const tn_tensor *target)
{
    const bool labels = !tn_dtype_is_float(target->dtype);
    tn_shape want = tn__tensor_shape(x), given = tn__tensor_shape(target);
    if (x->ndim == 0) return tn__fail(TN_SHAPE, "%s: x [] has no axis of classes", c->loss.name);
    if (labels) {
        for (int a = c->axis; a + 1 < want.ndim; a++) want.dim[a] = want.dim[a + 1];
        want.ndim--;
    }
    if (!tn__shape_equal(&want, &given))
        return tn__fail(TN_SHAPE, "%s: x %s and target %s; %s of such x are %s", c->loss.name, tn__shape_text(x->ndim, x->dim),
                        tn__shape_text(target->ndim, target->dim), labels ? "labels" : "probabilities",
                        tn__shape_text(want.ndim, want.dim));
    if (c->weight != TN_NONE && (c->weight->ndim != 1 || c->weight->dim[0] != c->count))
        return tn__fail(TN_SHAPE, "%s: weight %s for %lld classes", c->loss.name, tn__shape_text(c->weight->ndim, c->weight->dim),
                        (long long)c->count);
    return TN_OK;
}

static bool start(classes *c, const char *name, tn_tensor *x, tn_tensor *target, tn_reduction reduction,
                  const tn_cross_entropy_options *options)
{
    const tn__loss_form form = {name, {"x", "target", "weight"}, 3, 2, 1};
    tn_tensor *const operands[] = {x, target, options ? options->weight : NULL};
    *c = (classes){.ignored = options && options->ignores ? options->ignore_index : -100,
                   .smoothing = options ? options->smoothing : 0};
    if (tn__loss_start(&c->loss, &form, operands, reduction) != TN_OK) return false;
    c->axis = x->ndim > 1 ? 1 : 0;
    c->count = x->ndim > 0 ? x->dim[c->axis] : 0;
    c->weight = c->loss.x[2] == TN_NONE ? TN_NONE : tn_detach(c->loss.x[2]);
    if (!(c->smoothing >= 0 && c->smoothing <= 1)) {
        (void)tn__fail(TN_ARGUMENT, "%s: smoothing %g is not in 0 ... 1", name, c->smoothing);
        return false;
    }
    return c->weight && check_shapes(c, x, target) == TN_OK;
}

/* ---- labels ---- */

/* Where a label counts. Made anew for each reader: one that several kernels read would take a launch of its own. */
static tn_tensor *kept(const classes *c, tn_tensor *labels)
{
    return tn_ne(labels, tn_int(c->ignored));
}

/* Labels of what counts, 0 elsewhere; one that is no class is reported. */
static tn_tensor *places_of(const classes *c, tn_tensor *labels, int fault)
{
    const tn__lookup lookup = {.form = TN__PLACE, .count = c->count, .fault = -fault};
    tn_tensor *key = tn_where(kept(c, labels), labels, tn_int(0));
    if (!key || key->numel == 0) return key;
    const tn_shape shape = tn__tensor_shape(key);
    return tn__record_lookup(c->loss.name, &lookup, key, NULL, c->logs, &shape, NULL);
}

/* What each class counts for each label: weight where it is the label's (1 - smoothing of it), and its part of smoothing. */
static tn_tensor *share(const classes *c, tn_tensor *hit)
{
    const double even = c->count > 0 ? c->smoothing / (double)c->count : 0;
    tn_tensor *y = tn_add(tn_mul(tn_cast(hit, c->logs->dtype), tn_float(1 - c->smoothing)), tn_float(even));
    return c->weight == TN_NONE ? y : tn_mul(y, along(c, c->weight));
}

/* What the mean divides by: how many labels count, or their weights. */
static tn_tensor *total_of(const classes *c, tn_tensor *labels, int fault)
{
    tn_tensor *counts = kept(c, labels);
    if (c->weight != TN_NONE) counts = tn_where(counts, tn_index_select(c->weight, 0, places_of(c, labels, fault)), tn_int(0));
    return tn_sum(tn_cast(counts, c->logs->dtype), TN_ALL_AXES, false);
}

static tn_tensor *by_labels(classes *c, tn_tensor *labels, int fault)
{
    labels = tn_cast(labels, TN_I64);
    tn_tensor *numbers = along(c, tn_arange(TN_I64, 0, (double)c->count, 1, tn_device_of(c->logs)));
    tn_tensor *hit = tn_eq(tn_unsqueeze(places_of(c, labels, fault), c->axis), numbers);
    tn_tensor *looked_at = tn_unsqueeze(kept(c, labels), c->axis);
    tn_tensor *terms = c->logs;
    if (c->smoothing > 0)
        terms = tn_mul(terms, share(c, hit));
    else {
        looked_at = tn_logical_and(hit, looked_at);
        if (c->weight != TN_NONE) terms = tn_mul(terms, along(c, c->weight));
    }
    terms = tn_where(looked_at, terms, tn_int(0));
    if (c->loss.reduction == TN_REDUCE_NONE) return tn__loss_end(&c->loss, tn_neg(tn_sum(terms, TN_AXES(c->axis), false)));
    tn_tensor *sum = tn_neg(tn_sum(terms, TN_ALL_AXES, false));
    if (c->loss.reduction == TN_REDUCE_SUM) return tn__loss_end(&c->loss, sum);
    return tn__loss_end(&c->loss, tn_div(sum, total_of(c, labels, fault)));
}

static tn_tensor *of_labels(classes *c, tn_tensor *labels, int fault)
{
    const tn__kind kind = tn__dtypes[labels->dtype].kind;
    if ((kind == TN__SIGNED || kind == TN__UNSIGNED) && labels->dtype != TN_U64) return by_labels(c, labels, fault);
    (void)tn__fail(TN_DTYPE, "%s: labels of %s; integers but u64", c->loss.name, tn_dtype_name(labels->dtype));
    return tn__loss_end(&c->loss, NULL);
}

/* ---- probabilities ---- */

static tn_tensor *by_probabilities(classes *c, tn_tensor *target)
{
    if (c->smoothing > 0)
        target = tn_add(tn_mul(target, tn_float(1 - c->smoothing)), tn_float(c->smoothing / (double)(c->count > 0 ? c->count : 1)));
    if (c->weight != TN_NONE) target = tn_mul(target, along(c, c->weight));
    tn_tensor *terms = tn_mul(c->logs, target);
    if (c->loss.reduction == TN_REDUCE_NONE) return tn__loss_end(&c->loss, tn_neg(tn_sum(terms, TN_AXES(c->axis), false)));
    tn_tensor *sum = tn_neg(tn_sum(terms, TN_ALL_AXES, false));
    if (c->loss.reduction == TN_REDUCE_SUM) return tn__loss_end(&c->loss, sum);
    int64_t rows = 1;
    for (int a = 0; a < c->logs->ndim; a++) rows *= a == c->axis ? 1 : c->logs->dim[a];
    return tn__loss_end(&c->loss, tn_div(sum, tn_float((double)rows)));
}

tn_tensor *tn_cross_entropy(tn_tensor *x, tn_tensor *target, tn_reduction reduction, const tn_cross_entropy_options *options)
{
    classes c;
    if (!start(&c, "cross_entropy", x, target, reduction, options)) return tn__loss_end(&c.loss, NULL);
    if (!(c.logs = tn_log_softmax(c.loss.x[0], c.axis))) return tn__loss_end(&c.loss, NULL);
    return tn_dtype_is_float(target->dtype) ? by_probabilities(&c, c.loss.x[1])
                                            : of_labels(&c, c.loss.x[1], TN__FAULT_cross_entropy);
}

tn_tensor *tn_nll_loss(tn_tensor *x, tn_tensor *target, tn_reduction reduction, const tn_cross_entropy_options *options)
{
    tn_cross_entropy_options plain = options ? *options : (tn_cross_entropy_options){0};
    classes c;
    plain.smoothing = 0;
    if (!start(&c, "nll_loss", x, target, reduction, &plain)) return tn__loss_end(&c.loss, NULL);
    c.logs = c.loss.x[0];
    return of_labels(&c, c.loss.x[1], TN__FAULT_nll_loss);
}
