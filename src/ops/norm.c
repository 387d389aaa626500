/* Layer and RMS normalisation over the last axes: a phase list (tables/phases.def), whose store takes weight and bias. */
#include "graph/node.h"
#include "ops/compose.h"
#include "ops/gradient.h"
#include "ops/phases.h"

typedef struct norm {
    const char *name;
    int list, gradient; /* of tables/phases.def */
    tn__derivative derivative;
} norm;

/* What the way back knows. */
typedef struct norm_attributes {
    const norm *of;
    int axes; /* so many are normalised over */
    double epsilon;
    bool weight, bias; /* there is one */
} norm_attributes;
enum { X, WEIGHT, BIAS, OPERANDS };

/* The last axes as one. */
static tn_tensor *lined(tn_tensor *x, int axes)
{
    if (!x || axes == 1) return x;
    tn_shape s = {.ndim = x->ndim - axes + 1};
    for (int a = 0; a < s.ndim - 1; a++) s.dim[a] = x->dim[a];
    s.dim[s.ndim - 1] = 1;
    for (int a = s.ndim - 1; a < x->ndim; a++) s.dim[s.ndim - 1] *= x->dim[a];
    return tn_reshape(x, s);
}

/* ---- backwards ---- */

static tn_tensor *mean(tn_tensor *x)
{
    return tn_mean(x, TN_AXES(-1), true);
}

/* The phases of the gradient as operations that can be differentiated. */
static void compose(const norm_attributes *own, tn_tensor *x, tn_tensor *up, tn_tensor **made)
{
    const bool centred = own->of->list == TN__LIST_layer_norm;
    tn_tensor *d = centred ? tn_sub(x, mean(x)) : x;
    tn_tensor *scale = tn_rsqrt(tn_add(mean(tn_square(d)), tn_float(own->epsilon)));
    made[1] = tn_mul(d, scale);
    tn_tensor *rest = centred ? tn_sub(up, mean(up)) : up;
    made[0] = tn_mul(tn_sub(rest, tn_mul(made[1], mean(tn_mul(up, made[1])))), scale);
}

/* made: the gradient of x, and x normalised; NULL where unwanted. */
static void differentiate(const norm_attributes *own, tn_tensor *x, tn_tensor *up, const bool *wanted, tn_tensor **made)
{
    tn_tensor **const out[2] = {wanted[0] ? &made[0] : NULL, wanted[1] ? &made[1] : NULL};
    if (!x || !up) return;
    if (tn__derives())
        compose(own, x, up, made);
    else if (wanted[0])
        (void)tn__phases_results(own->of->gradient, up, x, own->epsilon, x->ndim - 1, out);
    else
        made[1] = tn__phases(own->of->list, x, NULL, own->epsilon, x->ndim - 1);
}

static void norm_back(const tn__backward *back)
{
    const norm_attributes *own = back->attributes;
    const tn_shape shape = back->operand[X].shape;
    tn_tensor *x = tn__wide(back->in[X]), *up = back->up[0], *through = up, *made[2] = {NULL, NULL};
    const bool wanted[2] = {WANTED(X), own->weight && WANTED(WEIGHT)};
    if (own->bias) back->g[BIAS] = up;
    if (!wanted[0] && !wanted[1]) return;
    if (own->weight) through = tn_mul(up, back->in[WEIGHT]);
    if (x && through && through->dtype != x->dtype) through = tn_cast(through, x->dtype);
    differentiate(own, lined(x, own->axes), lined(through, own->axes), wanted, made);
    if (wanted[0]) back->g[X] = tn_reshape(made[0], shape);
    if (wanted[1]) back->g[WEIGHT] = tn_reshape(tn_mul(lined(up, own->axes), made[1]), shape);
}

static const norm layer = {"layer_norm",
                           TN__LIST_layer_norm,
                           TN__LIST_layer_norm_gradient,
                           {"layer_norm", norm_back, TN__SAVES_FIRST | TN__SAVES_SECOND, sizeof(norm_attributes)}};
static const norm rms = {"rms_norm",
                         TN__LIST_rms_norm,
                         TN__LIST_rms_norm_gradient,
                         {"rms_norm", norm_back, TN__SAVES_FIRST | TN__SAVES_SECOND, sizeof(norm_attributes)}};

/* ---- forwards ---- */

static tn_status check_shape(const norm *of, const char *word, const tn_tensor *t, const tn_shape *shape, bool whole)
{
    const int first = t->ndim - shape->ndim;
    bool fits = whole ? first == 0 : first >= 0;
    if (!tn_dtype_is_float(t->dtype))
        return tn__fail(TN_DTYPE, "%s: %s is %s; floats only", of->name, word, tn_dtype_name(t->dtype));
    for (int a = 0; fits && a < shape->ndim; a++) fits = t->dim[first + a] == shape->dim[a];
    return fits ? TN_OK
                : tn__fail(TN_SHAPE, "%s: %s %s %s %s", of->name, word, tn__shape_text(t->ndim, t->dim),
                           whole ? "is not" : "does not end in", tn__shape_text(shape->ndim, shape->dim));
}

static tn_status check(const norm *of, tn_tensor *const *operands, const tn_shape *shape, double epsilon)
{
    static const char *const words[] = {"x", "weight", "bias"};
    TN__TRY(tn__tensor_check(operands[X], of->name, words[X]));
    if (shape->ndim == 0) return tn__fail(TN_SHAPE, "%s: a shape without axes", of->name);
    if (!(epsilon >= 0)) return tn__fail(TN_ARGUMENT, "%s: epsilon %g is below 0", of->name, epsilon);
    for (int i = 0; i < OPERANDS; i++) {
        if (!operands[i]) return tn__fail_null(of->name, words[i]);
        if (operands[i] != TN_NONE) TN__TRY(check_shape(of, words[i], operands[i], shape, i != X));
    }
    return TN_OK;
}

/* On one device; their common dtype. */
static bool take(const norm *of, tn_tensor **operands, tn_dtype *dtype)
{
    tn_tensor *present[OPERANDS], *moved[OPERANDS];
    int count = 0, at = 0;
    for (int i = 0; i < OPERANDS; i++)
        if (operands[i] != TN_NONE) present[count++] = operands[i];
    if (!tn__promote_list(present, count, dtype) || !tn__common_device(of->name, present, count, moved)) return false;
    for (int i = 0; i < OPERANDS; i++) {
        if (operands[i] == TN_NONE) continue;
        if (moved[at]) operands[i] = moved[at];
        at++;
    }
    return true;
}

/* In f32 or wider; the store takes weight and bias. */
static tn_tensor *normalised(const norm_attributes *own, tn_tensor *const *operands)
{
    tn_tensor *x = lined(tn__wide(operands[X]), own->axes);
    tn_tensor *y = x ? tn__phases(own->of->list, x, NULL, own->epsilon, x->ndim - 1) : NULL;
    if (own->weight) y = tn_mul(y, lined(operands[WEIGHT], own->axes));
    if (own->bias) y = tn_add(y, lined(operands[BIAS], own->axes));
    return y && own->axes > 1 ? tn_reshape(y, tn__tensor_shape(operands[X])) : y;
}

static tn_tensor *norm_of(const norm *of, tn_tensor **operands, tn_shape shape, double epsilon)
{
    tn_dtype dtype;
    tn_tensor *y = NULL;
    if (check(of, operands, &shape, epsilon) != TN_OK) return NULL;
    const norm_attributes own = {of, shape.ndim, epsilon, operands[WEIGHT] != TN_NONE, operands[BIAS] != TN_NONE};
    const tn_scope scope = tn_scope_push();
    if (take(of, operands, &dtype)) {
        tn__derive_pause();
        y = normalised(&own, operands);
        if (y && y->dtype != dtype) y = tn_cast(y, dtype);
        tn__derive_resume();
    }
    return tn__leave(scope, tn__recorded(&of->derivative, &own, operands, OPERANDS, y));
}

tn_tensor *tn_layer_norm(tn_tensor *x, tn_shape shape, tn_tensor *weight, tn_tensor *bias, double epsilon)
{
    return norm_of(&layer, (tn_tensor *[]){x, weight, bias}, shape, epsilon);
}

tn_tensor *tn_rms_norm(tn_tensor *x, tn_shape shape, tn_tensor *weight, double epsilon)
{
    return norm_of(&rms, (tn_tensor *[]){x, weight, TN_NONE}, shape, epsilon);
}
