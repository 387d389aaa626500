/* What optimizers keep, as named tensors, and back. */
#include "nn/optimizer.h"
#include "nn/within.h"
#include "nn/problems.h"
#include "base/alloc.h"
#include "base/map.h"
#include <string.h>
#include <tenon/ops.h>

/* ---- a group's numbers: lr, base, then the options ---- */

enum { RATE, BASE, NUMBERS = TN__OPTIONS + 2 };

static bool has_number(const tn_optimizer *o, int n)
{
    return n <= BASE || tn__option_of(n - BASE - 1, o->kind);
}

static const char *number_name(int n)
{
    return n == RATE ? "lr" : n == BASE ? "initial_lr" : tn__option_name(n - BASE - 1);
}

static double get_number(const tn__group *g, int n)
{
    return n == RATE ? g->lr : n == BASE ? g->base : tn__option_get(&g->options, n - BASE - 1);
}

static void set_number(tn__group *g, int n, double value)
{
    if (n == RATE)
        g->lr = value;
    else if (n == BASE)
        g->base = value;
    else
        tn__option_set(&g->options, n - BASE - 1, value);
}

/* ---- giving out ---- */

static tn_tensor *number_tensor(tn_dtype dtype, double value)
{
    const int64_t whole = (int64_t)(dtype == TN_I64 ? value : 0);
    return tn_from(dtype, TN_SHAPE(), dtype == TN_I64 ? (const void *)&whole : &value, "host");
}

/* Finds entry number `index`, or counts them all; gives how many were passed. */
static int walk(tn_optimizer *o, int index, tn_tensor **value)
{
    int at = 0;
    for (int g = 0; g < o->groups_count; g++)
        for (int n = 0; n < NUMBERS; n++) {
            if (!has_number(o, n) || at++ != index) continue;
            snprintf(o->name, sizeof o->name, "group.%d.%s", g, number_name(n));
            *value = number_tensor(TN_F64, get_number(&o->groups[g], n));
        }
    for (int i = 0; i < o->count; i++) {
        const tn__trained *t = &o->list[i];
        if (t->steps == 0) continue;
        if (at++ == index) {
            snprintf(o->name, sizeof o->name, "%d.step", i);
            *value = number_tensor(TN_I64, (double)t->steps);
        }
        for (int s = 0; s < TN__STATES; s++) {
            if (!t->state[s] || at++ != index) continue;
            snprintf(o->name, sizeof o->name, "%d.%s", i, tn__state_name(s));
            *value = tn__tensor_alias(t->state[s]);
        }
    }
    return at;
}

int tn_optimizer_state_count(const tn_optimizer *o)
{
    tn_tensor *none = NULL;
    return o ? walk((tn_optimizer *)(uintptr_t)o, -1, &none) : 0;
}

tn_status tn_optimizer_state(tn_optimizer *o, int index, const char **name, tn_tensor **value)
{
    if (!o) return tn__fail_null("optimizer_state", "optimizer");
    if (!name || !value) return tn__fail_null("optimizer_state", name ? "value" : "name");
    *name = NULL;
    *value = NULL;
    const int count = walk(o, index, value);
    if (index < 0 || index >= count) return tn__fail(TN_ARGUMENT, "optimizer_state: entry %d of %d", index, count);
    *name = o->name;
    return *value ? TN_OK : tn_last_status();
}

/* ---- taking in ---- */

typedef struct loading {
    const tn_optimizer *optimizer;
    tn__map *by_name; /* -> place in the list, plus 1 */
    tn_tensor *const *values;
    bool *seen;
    tn__loaded *to;
    tn__problems *problems;
} loading;

static tn_tensor *find(loading *l, const char *name)
{
    const uintptr_t place = (uintptr_t)tn__map_get(l->by_name, name, strlen(name));
    if (!place) return NULL;
    l->seen[place - 1] = true;
    return l->values[place - 1];
}

/* The one number of an entry; *there tells whether there is one. */
static tn_status find_number(loading *l, const char *name, double *value, bool *there)
{
    tn_tensor *x = find(l, name);
    *there = x != NULL;
    if (!x) return TN_OK;
    if (x->numel == 1) return tn_item(x, value);
    tn__problem(l->problems, "\"%s\" is %s, a number belongs there", name, tn__shape_text(x->ndim, x->dim));
    return TN_OK;
}

static tn_status load_group(loading *l, int g)
{
    char name[64];
    for (int n = 0; n < NUMBERS; n++) {
        double value = 0;
        bool there;
        if (!has_number(l->optimizer, n)) continue;
        snprintf(name, sizeof name, "group.%d.%s", g, number_name(n));
        TN__TRY(find_number(l, name, &value, &there));
        if (!there) tn__problem(l->problems, "\"%s\" is missing", name);
        set_number(&l->to->groups[g], n, value);
    }
    tn__group *group = &l->to->groups[g];
    return l->problems->count == 0 ? tn__options_resolve(l->optimizer->kind, group->lr, &group->options) : TN_OK;
}

/* Makes *to a copy of x as it is kept for t; beyond all scopes. */
static tn_status take(const tn__trained *t, tn_tensor *x, tn_tensor **to)
{
    tn_scope scope;
    tn_status status = tn__enter(&scope);
    tn_tensor *y = status == TN_OK ? tn_cast(tn_to(x, tn_device_of(t->tensor)), tn__state_dtype(t->tensor->dtype)) : NULL;
    if (y && y->storage == x->storage) y = tn_clone(y);
    if (y)
        *to = tn_retain(y);
    else if (status == TN_OK)
        status = tn_last_status();
    return tn__exit(scope, status);
}

static tn_status load_state(loading *l, int i, int state)
{
    char name[64];
    tn__trained *t = &l->to->list[i];
    snprintf(name, sizeof name, "%d.%s", i, tn__state_name(state));
    tn_tensor *x = find(l, name), *of = t->tensor;
    if (!x) {
        if (state != TN__STATE_master) tn__problem(l->problems, "\"%s\" is missing", name);
        return TN_OK;
    }
    const tn_shape own = tn__tensor_shape(x), want = tn__tensor_shape(of);
    if (!tn__shape_equal(&own, &want) || !tn_dtype_is_float(x->dtype)) {
        tn__problem(l->problems, "\"%s\" is %s %s, its parameter %s %s", name, tn_dtype_name(x->dtype),
                    tn__shape_text(own.ndim, own.dim), tn_dtype_name(of->dtype), tn__shape_text(want.ndim, want.dim));
        return TN_OK;
    }
    return take(t, x, &t->state[state]);
}

static tn_status load_parameter(loading *l, int i)
{
    char name[64];
    double steps = 0;
    bool there;
    tn__trained *t = &l->to->list[i];
    const tn_optimizer_options *options = &l->to->groups[t->group].options;
    snprintf(name, sizeof name, "%d.step", i);
    TN__TRY(find_number(l, name, &steps, &there));
    t->steps = (int64_t)steps;
    for (int s = 0; s < TN__STATES && steps > 0; s++)
        if (tn__state_kept(l->optimizer->kind, options, t->tensor->dtype, s)) TN__TRY(load_state(l, i, s));
    return TN_OK;
}

static tn_status index_names(loading *l, const char *const *names, int count)
{
    for (int i = 0; i < count; i++) {
        if (!names[i] || !l->values[i]) return tn__fail_null("optimizer_load_state", names[i] ? "a value" : "a name");
        if (!tn__map_put(l->by_name, names[i], strlen(names[i]), (void *)(uintptr_t)(i + 1))) return TN_MEMORY;
    }
    return TN_OK;
}

static tn_status start(loading *l, int count)
{
    const tn_optimizer *o = l->optimizer;
    *l->to = (tn__loaded){.groups = tn__alloc((size_t)o->groups_count * sizeof *o->groups),
                          .list = tn__zalloc((size_t)o->count * sizeof *o->list)};
    l->by_name = tn__map_new();
    l->seen = tn__zalloc((size_t)count * sizeof *l->seen);
    if (!l->to->groups || !l->to->list || !l->by_name || !l->seen) return TN_MEMORY;
    memcpy(l->to->groups, o->groups, (size_t)o->groups_count * sizeof *o->groups);
    for (int i = 0; i < o->count; i++) l->to->list[i] = (tn__trained){.tensor = o->list[i].tensor, .group = o->list[i].group};
    return TN_OK;
}

tn_status tn__optimizer_prepare(const tn_optimizer *o, const char *const *names, tn_tensor *const *values, int count,
                                tn__loaded *to, tn__problems *problems)
{
    loading l = {.optimizer = o, .values = values, .to = to, .problems = problems};
    tn_status status = start(&l, count);
    if (status == TN_OK) status = index_names(&l, names, count);
    for (int g = 0; g < o->groups_count && status == TN_OK; g++) status = load_group(&l, g);
    for (int i = 0; i < o->count && status == TN_OK; i++) status = load_parameter(&l, i);
    for (int i = 0; i < count && status == TN_OK; i++)
        if (!l.seen[i]) tn__problem(problems, "\"%s\" is unknown", names[i]);
    if (l.by_name) tn__map_free(l.by_name);
    tn__free(l.seen);
    return status;
}

void tn__loaded_free(const tn_optimizer *o, tn__loaded *loaded)
{
    for (int i = 0; loaded->list && i < o->count; i++)
        for (int s = 0; s < TN__STATES; s++) tn_release(loaded->list[i].state[s]);
    tn__free(loaded->list);
    tn__free(loaded->groups);
    *loaded = (tn__loaded){0};
}

void tn__optimizer_commit(tn_optimizer *o, tn__loaded *loaded)
{
    const tn__loaded before = {o->groups, o->list};
    o->groups = loaded->groups;
    o->list = loaded->list;
    *loaded = before; /* freed by the caller, without the parameters, which are the same */
}

tn_status tn_optimizer_load_state(tn_optimizer *o, const char *const *names, tn_tensor *const *values, int count)
{
    if (!o) return tn__fail_null("optimizer_load_state", "optimizer");
    if (count < 0 || !names || !values) return tn__fail(TN_ARGUMENT, "optimizer_load_state: a list of %d values", count);
    tn__problems problems = {0};
    tn__loaded loaded = {0};
    tn_status status = tn__optimizer_prepare(o, names, values, count, &loaded, &problems);
    status = tn__problems_end(&problems, "optimizer_load_state", status);
    if (status == TN_OK) tn__optimizer_commit(o, &loaded);
    tn__loaded_free(o, &loaded);
    return status;
}
