/* Layers without parameters, and modules one after the other. */
#include "nn/layer.h"
#include <string.h>
#include <tenon/nn.h>

/* ---- Sequential ---- */

static tn_tensor *sequential(tn_module *m, tn_tensor *const *inputs, int count)
{
    tn_tensor *x = inputs[0];
    (void)count;
    for (int i = 0; i < m->count && x; i++)
        if (m->part[i].child) x = tn_module_forward(m->part[i].child, x);
    return x;
}

static const tn_module_class sequential_class = {.name = "Sequential", .forward = sequential};

tn_module *tn_sequential_new(tn_module *const *children, int count)
{
    const tn_scope scope = tn_scope_push();
    tn_module *m = tn_module_new(&sequential_class, NULL);
    for (int i = 0; i < count; i++) (void)tn_module_add(m, NULL, children[i]);
    return tn__module_made(scope, m);
}

/* ---- Identity, Flatten ---- */

static tn_tensor *identity(tn_module *m, tn_tensor *const *inputs, int count)
{
    (void)m;
    (void)count;
    return inputs[0];
}

static const tn_module_class identity_class = {.name = "Identity", .forward = identity};

tn_module *tn_identity_new(void)
{
    return tn_module_new(&identity_class, NULL);
}

typedef struct flatten {
    int first, last;
} flatten;

static tn_tensor *flat(tn_module *m, tn_tensor *const *inputs, int count)
{
    const flatten *own = m->data;
    (void)count;
    return tn_flatten(inputs[0], own->first, own->last);
}

static const tn_module_class flatten_class = {.name = "Flatten", .forward = flat, .size = sizeof(flatten)};

tn_module *tn_flatten_new(int first, int last)
{
    return tn_module_new(&flatten_class, &(flatten){first, last});
}

/* ---- Dropout ---- */

typedef struct dropout {
    double p;
} dropout;

/* x times 0 or 1 / (1 - p). The mask's numbers are f32 for every dtype of x, so it is the same for all. */
static tn_tensor *drop(tn_module *m, tn_tensor *const *inputs, int count)
{
    tn_tensor *x = inputs[0];
    const double keep = 1 - ((const dropout *)m->data)->p;
    (void)count;
    if (!m->training || keep == 1) return x;
    tn_tensor *mask = tn_lt(tn_rand(TN_F32, tn__tensor_shape(x), tn_device_of(x)), tn_float(keep));
    return tn_mul(tn_mul(x, mask), tn_float(keep > 0 ? 1 / keep : 0));
}

static const tn_module_class dropout_class = {.name = "Dropout", .forward = drop, .size = sizeof(dropout)};

tn_module *tn_dropout_new(double p)
{
    if (!(p >= 0 && p <= 1)) return TN__NULL(TN_ARGUMENT, "dropout_new: probability %g is not in 0 ... 1", p);
    return tn_module_new(&dropout_class, &(dropout){p});
}

/* ---- activations ---- */

enum { SETTINGS = 2 };

typedef struct activation {
    tn_module_class type; /* first: a module's class is this row */
    tn_tensor *(*function)(tn_tensor *x, const double *s);
    int settings;
    double otherwise[SETTINGS];
} activation;

static tn_tensor *activate(tn_module *m, tn_tensor *const *inputs, int count)
{
    (void)count;
    return ((const activation *)m->type)->function(inputs[0], m->data);
}

#define ACTIVATION(title, count, first, second, expression)     \
    static tn_tensor *title##_of(tn_tensor *x, const double *s) \
    {                                                           \
        (void)s;                                                \
        return expression;                                      \
    }
#include "tables/activations.def"
#undef ACTIVATION

static const activation activations[] = {
#define ACTIVATION(title, count, first, second, expression) \
    {{.name = #title, .forward = activate, .size = SETTINGS * sizeof(double)}, title##_of, count, {first, second}},
#include "tables/activations.def"
#undef ACTIVATION
};

tn_module *tn_activation_new(const char *name, const double *settings)
{
    if (!name) return (void)tn__fail_null("activation_new", "name"), NULL;
    for (size_t i = 0; i < sizeof activations / sizeof activations[0]; i++) {
        const activation *row = &activations[i];
        double values[SETTINGS];
        if (strcmp(row->type.name, name) != 0) continue;
        for (int k = 0; k < SETTINGS; k++) values[k] = settings && k < row->settings ? settings[k] : row->otherwise[k];
        return tn_module_new(&row->type, values);
    }
    return TN__NULL(TN_ARGUMENT, "activation_new: there is no activation \"%s\"", name);
}
