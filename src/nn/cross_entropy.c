/* Losses of classes. A label is compared with the numbers of all classes, which fuses forwards and backwards, where a gather would need
 * a scatter on the way back. */
#include "device/fault.h"
#include "nn/loss.h"
#include "ops/create.h"
#include "ops/phases.h"
#include <tenon/autograd.h>

/* What a target means, whatever x is. */
typedef struct classes {
    const char *name;
    int axis, ndim; /* of x */
    int64_t count;
    double smoothing;
    int64_t ignored;
    int fault; /* the report of a label that is no class */
} classes;

typedef struct class_loss {
    tn__loss loss;
    classes of;
    tn_tensor *x;      /* probabilities' logarithms, or what softmax makes them of */
    tn_tensor *weight; /* [count], TN_NONE: 1 */
} class_loss;

/* v [count] along the axis of the classes. */
static tn_tensor *along(const classes *c, tn_tensor *v)
{
    tn_shape shape = {.ndim = c->ndim - c->axis, .dim = {c->count}};
    for (int a = 1; a < shape.ndim; a++) shape.dim[a] = 1;
    return tn_reshape(v, shape);
}

static tn_status check_shapes(const class_loss *c, const tn_tensor *x, const tn_tensor *target)
{
    const bool labels = !tn_dtype_is_float(target->dtype);
    tn_shape want = tn__tensor_shape(x), given = tn__tensor_shape(target);
    if (x->ndim == 0) return tn__fail(TN_SHAPE, "%s: x [] has no axis of classes", c->loss.name);
    if (labels) {
        for (int a = c->of.axis; a + 1 < want.ndim; a++) want.dim[a] = want.dim[a + 1];
        want.ndim--;
    }
    if (!tn__shape_equal(&want, &given))
        return tn__fail(TN_SHAPE, "%s: x %s and target %s; %s of such x are %s", c->loss.name, tn__shape_text(x->ndim, x->dim),
                        tn__shape_text(target->ndim, target->dim), labels ? "labels" : "probabilities",
                        tn__shape_text(want.ndim, want.dim));
    if (c->weight != TN_NONE && (c->weight->ndim != 1 || c->weight->dim[0] != c->of.count))
        return tn__fail(TN_SHAPE, "%s: weight %s for %lld classes", c->loss.name, tn__shape_text(c->weight->ndim, c->weight->dim),
                        (long long)c->of.count);
    return TN_OK;
}

static bool start(class_loss *c, const char *name, int fault, tn_tensor *x, tn_tensor *target, tn_reduction reduction,
                  const tn_cross_entropy_options *options)
{
    const tn__loss_form form = {name, {"x", "target", "weight"}, 3, 2, 1};
    tn_tensor *const operands[] = {x, target, options ? options->weight : NULL};
    *c = (class_loss){.of = {.name = name,
                             .fault = fault,
                             .ignored = options && options->ignores ? options->ignore_index : -100,
                             .smoothing = options ? options->smoothing : 0}};
    if (tn__loss_start(&c->loss, &form, operands, reduction) != TN_OK) return false;
    c->x = c->loss.x[0];
    c->of.ndim = x->ndim;
    c->of.axis = x->ndim > 1 ? 1 : 0;
    c->of.count = x->ndim > 0 ? x->dim[c->of.axis] : 0;
    c->weight = c->loss.x[2] == TN_NONE ? TN_NONE : tn_detach(c->loss.x[2]);
    if (!(c->of.smoothing >= 0 && c->of.smoothing <= 1)) {
        (void)tn__fail(TN_ARGUMENT, "%s: smoothing %g is not in 0 ... 1", name, c->of.smoothing);
        return false;
    }
    return c->weight && check_shapes(c, x, target) == TN_OK;
}

/* ---- labels, in i64 ---- */

/* Where a label counts. Made anew for each reader: one that several kernels read would take a launch of its own. */
static tn_tensor *kept(const classes *c, tn_tensor *labels)
{
    return tn_ne(labels, tn_int(c->ignored));
}

/* Labels of what counts, 0 elsewhere; one that is no class is reported. */
static tn_tensor *places_of(const classes *c, tn_tensor *labels)
{
    const tn__lookup lookup = {.form = TN__PLACE, .count = c->count, .fault = -c->fault};
    tn_tensor *key = tn_where(kept(c, labels), labels, tn_int(0));
    if (!key || key->numel == 0) return key;
    const tn_shape shape = tn__tensor_shape(key);
    return tn__record_lookup(c->name, &lookup, key, NULL, labels, &shape, NULL);
}

/* What each class counts for each label, in dtype: where it is the label's 1 - smoothing, and its part of smoothing, times its weight;
 * nothing where the label does not count. */
static tn_tensor *shares(const classes *c, tn_tensor *labels, tn_tensor *weight, tn_dtype dtype)
{
    tn_tensor *numbers = along(c, tn__numbers(c->count, tn_device_of(labels)));
    tn_tensor *hit = tn_eq(tn_unsqueeze(tn_cast(places_of(c, labels), TN_I32), c->axis), numbers);
    tn_tensor *counts = tn_unsqueeze(kept(c, labels), c->axis);
    tn_tensor *y = tn_cast(c->smoothing > 0 ? hit : tn_logical_and(hit, counts), dtype);
    if (c->smoothing > 0) {
        y = tn_add(tn_mul(y, tn_float(1 - c->smoothing)), tn_float(c->smoothing / (double)c->count));
        y = tn_where(counts, y, tn_int(0));
    }
    return weight == TN_NONE ? y : tn_cast(tn_mul(y, along(c, weight)), dtype);
}

/* What the mean divides by: how many labels count, or their weights. */
static tn_tensor *total_of(const class_loss *c, tn_tensor *labels)
{
    tn_tensor *counts = kept(&c->of, labels);
    if (c->weight != TN_NONE) counts = tn_where(counts, tn_index_select(c->weight, 0, places_of(&c->of, labels)), tn_int(0));
    return tn_sum(tn_cast(counts, c->x->dtype), TN_ALL_AXES, false);
}

/* x, labels, weight. With respect to x; as phases, or as operations that can be differentiated again. */
static void rows_back(const tn__backward *back)
{
    const classes *c = back->attributes;
    tn_tensor *x = back->in[0], *weight = back->in[2] ? back->in[2] : TN_NONE;
    tn_tensor *labels = tn_cast(back->in[1], TN_I64), *counts = x && labels ? shares(c, labels, weight, x->dtype) : NULL, *g;
    if (!counts) return;
    if (tn__derives())
        g = tn_sub(tn_mul(tn_softmax(x, c->axis), tn_sum(counts, TN_AXES(c->axis), true)), counts);
    else
        g = tn__phases(TN__LIST_cross_entropy_gradient, x, counts, 0, c->axis);
    back->g[0] = tn_mul(g, tn_unsqueeze(tn_where(kept(c, labels), back->up[0], tn_int(0)), c->axis));
}

static const tn__derivative derive_rows = {"cross_entropy", rows_back, TN__SAVES_IN, sizeof(classes)};

/* The loss of each label, of x that softmax makes probabilities of. Saved are the labels as they were given: what is made of them is
 * part of the kernel that needs it. */
static tn_tensor *rows_of(const class_loss *c, tn_tensor *labels)
{
    tn_tensor *const operands[] = {c->x, c->loss.x[1], c->weight};
    tn__derive_pause();
    tn_tensor *counts = shares(&c->of, labels, c->weight, c->x->dtype);
    tn_tensor *y = counts ? tn__phases(TN__LIST_cross_entropy, c->x, counts, 0, c->of.axis) : NULL;
    y = tn_where(kept(&c->of, labels), y, tn_int(0));
    tn__derive_resume();
    return tn__recorded(&derive_rows, &c->of, operands, 3, y);
}

/* of_logs: x are logarithms. */
static tn_tensor *by_labels(class_loss *c, tn_tensor *labels, bool of_logs)
{
    labels = tn_cast(labels, TN_I64);
    tn_tensor *terms;
    if (of_logs) {
        tn_tensor *counts = shares(&c->of, labels, c->weight, c->x->dtype);
        terms = tn_where(tn_cast(counts, TN_BOOL), tn_mul(tn_neg(c->x), counts), tn_int(0));
        if (c->loss.reduction == TN_REDUCE_NONE) terms = tn_sum(terms, TN_AXES(c->of.axis), false);
    } else
        terms = rows_of(c, labels);
    if (c->loss.reduction == TN_REDUCE_NONE) return tn__loss_end(&c->loss, terms);
    tn_tensor *sum = tn_sum(terms, TN_ALL_AXES, false);
    if (c->loss.reduction == TN_REDUCE_SUM) return tn__loss_end(&c->loss, sum);
    return tn__loss_end(&c->loss, tn_div(sum, total_of(c, labels)));
}

static tn_tensor *of_labels(class_loss *c, bool of_logs)
{
    tn_tensor *labels = c->loss.x[1];
    const tn__kind kind = tn__dtypes[labels->dtype].kind;
    if ((kind == TN__SIGNED || kind == TN__UNSIGNED) && labels->dtype != TN_U64) return by_labels(c, labels, of_logs);
    (void)tn__fail(TN_DTYPE, "%s: labels of %s; integers but u64", c->of.name, tn_dtype_name(labels->dtype));
    return tn__loss_end(&c->loss, NULL);
}

/* ---- probabilities ---- */

static tn_tensor *by_probabilities(class_loss *c, tn_tensor *target)
{
    const double all = c->of.count > 0 ? (double)c->of.count : 1, smoothing = c->of.smoothing;
    if (smoothing > 0) target = tn_add(tn_mul(target, tn_float(1 - smoothing)), tn_float(smoothing / all));
    if (c->weight != TN_NONE) target = tn_mul(target, along(&c->of, c->weight));
    tn_tensor *terms = tn_mul(tn_log_softmax(c->x, c->of.axis), target);
    if (c->loss.reduction == TN_REDUCE_NONE) return tn__loss_end(&c->loss, tn_neg(tn_sum(terms, TN_AXES(c->of.axis), false)));
    tn_tensor *sum = tn_neg(tn_sum(terms, TN_ALL_AXES, false));
    if (c->loss.reduction == TN_REDUCE_SUM) return tn__loss_end(&c->loss, sum);
    int64_t rows = 1;
    for (int a = 0; a < c->x->ndim; a++) rows *= a == c->of.axis ? 1 : c->x->dim[a];
    return tn__loss_end(&c->loss, tn_div(sum, tn_float((double)rows)));
}

tn_tensor *tn_cross_entropy(tn_tensor *x, tn_tensor *target, tn_reduction reduction, const tn_cross_entropy_options *options)
{
    class_loss c;
    if (!start(&c, "cross_entropy", TN__FAULT_cross_entropy, x, target, reduction, options)) return tn__loss_end(&c.loss, NULL);
    return tn_dtype_is_float(target->dtype) ? by_probabilities(&c, c.loss.x[1]) : of_labels(&c, false);
}

tn_tensor *tn_nll_loss(tn_tensor *x, tn_tensor *target, tn_reduction reduction, const tn_cross_entropy_options *options)
{
    tn_cross_entropy_options plain = options ? *options : (tn_cross_entropy_options){0};
    class_loss c;
    plain.smoothing = 0;
    if (!start(&c, "nll_loss", TN__FAULT_nll_loss, x, target, reduction, &plain)) return tn__loss_end(&c.loss, NULL);
    return of_labels(&c, true);
}
