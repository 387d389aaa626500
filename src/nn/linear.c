/* Layers with a weight that x is multiplied by, or looked up in. */
#include "nn/layer.h"
#include <math.h>
#include <tenon/autograd.h>
#include <tenon/nn.h>

/* A parameter between -1/sqrt(inputs) and 1/sqrt(inputs), as PyTorch fills weights and biases. */
static void add_uniform(tn_module *m, const char *name, tn_shape shape, int64_t inputs)
{
    const double bound = inputs > 0 ? 1 / sqrt((double)inputs) : 0;
    (void)tn_module_add_parameter(m, name, tn_uniform(TN_F32, shape, -bound, bound, NULL));
}

/* The last axis of x has as many elements as the weight takes. */
static tn_status check_last(const tn_tensor *x, const char *name, const tn_tensor *weight, int axis)
{
    if (x->ndim > 0 && x->dim[x->ndim - 1] == weight->dim[axis]) return TN_OK;
    return tn__fail(TN_SHAPE, "%s %s, weight %s: the last axis of %s is not %lld", name, tn__shape_text(x->ndim, x->dim),
                    tn__shape_text(weight->ndim, weight->dim), name, (long long)weight->dim[axis]);
}

/* ---- Linear ---- */

static tn_tensor *linear(tn_module *m, tn_tensor *const *inputs, int count)
{
    tn_tensor *weight = tn__module_own(m, "weight");
    (void)count;
    if (check_last(inputs[0], "input", weight, 1) != TN_OK) return NULL;
    return tn__with_bias(m, tn_matmul(inputs[0], tn_transpose(weight, 0, 1)));
}

static const tn_module_class linear_class = {.name = "Linear", .forward = linear};

tn_module *tn_linear_new(int64_t inputs, int64_t outputs, bool bias)
{
    if (tn__layer_size("linear_new", "inputs", inputs) != TN_OK || tn__layer_size("linear_new", "outputs", outputs) != TN_OK)
        return NULL;
    const tn_scope scope = tn_scope_push();
    tn_module *m = tn_module_new(&linear_class, NULL);
    add_uniform(m, "weight", TN_SHAPE(outputs, inputs), inputs);
    if (bias) add_uniform(m, "bias", TN_SHAPE(outputs), inputs);
    return tn__module_made(scope, m);
}

/* ---- Bilinear ---- */

/* x as rows: all axes but the last are one. */
static tn_tensor *rows_of(tn_tensor *x)
{
    int64_t rows = 1;
    for (int a = 0; a + 1 < x->ndim; a++) rows *= x->dim[a];
    return tn_reshape(x, TN_SHAPE(rows, x->dim[x->ndim - 1]));
}

/* sum over i and j of a[n,i] weight[o,i,j] b[n,j]. */
static tn_tensor *bilinear(tn_module *m, tn_tensor *const *inputs, int count)
{
    tn_tensor *a = inputs[0], *b = inputs[1], *weight = tn__module_own(m, "weight");
    (void)count;
    if (check_last(a, "input a", weight, 1) != TN_OK || check_last(b, "input b", weight, 2) != TN_OK) return NULL;
    tn_shape shape = tn__tensor_shape(a), other = tn__tensor_shape(b);
    shape.dim[a->ndim - 1] = weight->dim[0];
    if (b->ndim > 0) other.dim[b->ndim - 1] = weight->dim[0];
    if (!tn__shape_equal(&shape, &other))
        return TN__NULL(TN_SHAPE, "input a %s and input b %s differ in more than the last axis", tn__shape_text(a->ndim, a->dim),
                        tn__shape_text(b->ndim, b->dim));
    tn_tensor *products = tn_mul(tn_matmul(rows_of(a), weight), rows_of(b)); /* [o, n, j] */
    tn_tensor *y = tn_transpose(tn_sum(products, TN_AXES(2), false), 0, 1);
    return tn__with_bias(m, tn_reshape(y, shape));
}

static const tn_module_class bilinear_class = {.name = "Bilinear", .forward = bilinear, .inputs = 2};

tn_module *tn_bilinear_new(int64_t inputs_a, int64_t inputs_b, int64_t outputs, bool bias)
{
    if (tn__layer_size("bilinear_new", "inputs_a", inputs_a) != TN_OK ||
        tn__layer_size("bilinear_new", "inputs_b", inputs_b) != TN_OK ||
        tn__layer_size("bilinear_new", "outputs", outputs) != TN_OK)
        return NULL;
    const tn_scope scope = tn_scope_push();
    tn_module *m = tn_module_new(&bilinear_class, NULL);
    add_uniform(m, "weight", TN_SHAPE(outputs, inputs_a, inputs_b), inputs_a);
    if (bias) add_uniform(m, "bias", TN_SHAPE(outputs), inputs_a);
    return tn__module_made(scope, m);
}

/* ---- Embedding ---- */

typedef struct embedding {
    int64_t padding; /* a row; -1: none */
} embedding;

static tn_tensor *look_up(tn_module *m, tn_tensor *const *inputs, int count)
{
    const embedding *own = m->data;
    tn_tensor *y = tn_index_select(tn__module_own(m, "weight"), 0, inputs[0]);
    (void)count;
    if (own->padding < 0) return y;
    tn_tensor *padded = tn_unsqueeze(tn_eq(inputs[0], tn_int(own->padding)), -1);
    return tn_where(padded, tn_detach(y), y);
}

static const tn_module_class embedding_class = {.name = "Embedding", .forward = look_up, .size = sizeof(embedding)};

tn_module *tn_embedding_new(int64_t count, int64_t width, int64_t padding)
{
    if (tn__layer_size("embedding_new", "count", count) != TN_OK || tn__layer_size("embedding_new", "width", width) != TN_OK)
        return NULL;
    if (padding < -1 || padding >= count)
        return TN__NULL(TN_ARGUMENT, "embedding_new: padding row %lld of %lld; -1 for none", (long long)padding, (long long)count);
    const tn_scope scope = tn_scope_push();
    tn_module *m = tn_module_new(&embedding_class, &(embedding){.padding = padding});
    tn_tensor *weight = tn_randn(TN_F32, TN_SHAPE(count, width), NULL);
    if (padding >= 0 && weight) (void)tn_assign(tn_select(weight, 0, padding), tn_int(0));
    (void)tn_module_add_parameter(m, "weight", weight);
    return tn__module_made(scope, m);
}
