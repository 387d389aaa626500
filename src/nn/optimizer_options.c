/* Options of optimizers, and what those keep by them, from the table. */
#include "nn/optimizer.h"
#include <math.h>

enum { SGD = 1 << TN__SGD, ADAM = 1 << TN__ADAM, ADAMW = 1 << TN__ADAMW };

static const struct {
    const char *name;
    size_t place;
    bool truth; /* bool, else double */
    int of;
    double otherwise, below;
} options[TN__OPTIONS] = {
#define OPTION(name, type, of, otherwise, below) \
    {#name, offsetof(tn_optimizer_options, name), sizeof(type) == sizeof(bool), of, otherwise, below},
#include "tables/optimizers.def"
};

static const struct {
    const char *name;
    int of, option;
} states[TN__STATES] = {
    [TN__STATE_master] = {"master", 0, 0},
#define STATE(name, of, option) [TN__STATE_##name] = {#name, of, TN__OPTION_##option},
#include "tables/optimizers.def"
};

bool tn__option_of(int option, tn__optimizer_kind kind)
{
    return (options[option].of >> kind) & 1;
}

const char *tn__option_name(int option)
{
    return options[option].name;
}

double tn__option_get(const tn_optimizer_options *o, int option)
{
    const char *at = (const char *)o + options[option].place;
    return options[option].truth ? *(const bool *)at : *(const double *)at;
}

void tn__option_set(tn_optimizer_options *o, int option, double value)
{
    char *at = (char *)o + options[option].place;
    if (options[option].truth)
        *(bool *)at = value != 0;
    else
        *(double *)at = value;
}

const char *tn__state_name(int state)
{
    return states[state].name;
}

bool tn__state_kept(tn__optimizer_kind kind, const tn_optimizer_options *o, tn_dtype dtype, int state)
{
    if (state == TN__STATE_master) return tn__state_dtype(dtype) != dtype;
    return ((states[state].of >> kind) & 1) && tn__option_get(o, states[state].option) != 0;
}

tn_status tn__options_resolve(tn__optimizer_kind kind, double lr, tn_optimizer_options *o)
{
    const char *function = tn__optimizer_names[kind];
    if (!(lr >= 0) || isinf(lr)) return tn__fail(TN_ARGUMENT, "%s: lr is %g; 0 or more, and finite", function, lr);
    for (int i = 0; i < TN__OPTIONS; i++) {
        const double v = tn__option_get(o, i);
        if (!tn__option_of(i, kind) && v != 0)
            return tn__fail(TN_ARGUMENT, "%s: %s is %g, an option of other optimizers", function, options[i].name, v);
        if (!(v >= 0 && v < options[i].below))
            return tn__fail(TN_ARGUMENT, "%s: %s is %g; from 0 to below %g", function, options[i].name, v, options[i].below);
        if (v == 0 && tn__option_of(i, kind)) tn__option_set(o, i, options[i].otherwise);
    }
    if (o->nesterov && (o->momentum == 0 || o->dampening != 0))
        return tn__fail(TN_ARGUMENT, "%s: nesterov with momentum %g and dampening %g; it needs momentum, and no dampening",
                        function, o->momentum, o->dampening);
    return TN_OK;
}
