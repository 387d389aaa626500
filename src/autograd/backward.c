/* The way back: from tensors to what they were computed from, youngest history first, so that a history's gradients are complete when
 * its turn comes. Gradients are recorded like any operation. */
#include "autograd/variable.h"
#include "base/alloc.h"
#include "base/platform.h"
#include "core/scope.h"
#include "ops/gradient.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A history to go back through, or a leaf. */
typedef struct stop {
    tn__history *history; /* NULL: a leaf */
    tn__variable *leaf;
    tn_tensor **gradient; /* one a result; of a leaf, one */
    bool *asked;          /* for each of them: it is wanted */
    bool needed;          /* something asked for lies beyond */
} stop;

typedef struct run {
    stop *stops; /* after collect(): by age, the oldest first */
    int count, room;
    int *table; /* hash of histories and leaves: place in stops + 1 */
    int table_size;
    tn_tensor **gradients; /* of all stops, and what is asked */
    int gradient_count;
    tn__variable *const *wanted; /* NULL: all leaves */
    int wanted_count;
    tn_tensor **found; /* of wanted */
    tn_backward_options options;
} run;

static const void *key_of(const stop *s)
{
    return s->history ? (const void *)s->history : s->leaf;
}

static unsigned slot_of(const run *r, const void *key)
{
    const uint64_t h = (uint64_t)(uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15);
    unsigned i = (unsigned)(h >> 33) & (unsigned)(r->table_size - 1);
    while (r->table[i] && key_of(&r->stops[r->table[i] - 1]) != key) i = (i + 1) & (unsigned)(r->table_size - 1);
    return i;
}

static bool index_stops(run *r, int size)
{
    int *table = tn__zalloc((size_t)size * sizeof *table);
    if (!table) return false;
    tn__free(r->table);
    r->table = table;
    r->table_size = size;
    for (int i = 0; i < r->count; i++) r->table[slot_of(r, key_of(&r->stops[i]))] = i + 1;
    return true;
}

static stop *stop_of(const run *r, const tn__variable *v)
{
    const int i = r->table[slot_of(r, v->history ? (const void *)v->history : v)];
    return i ? &r->stops[i - 1] : NULL;
}

/* Adds the stop of v unless it is there. */
static bool add_stop(run *r, tn__variable *v)
{
    if (r->table_size < 2 * r->room + 2 && !index_stops(r, r->table_size ? 4 * r->table_size : 64)) return false;
    const unsigned i = slot_of(r, v->history ? (const void *)v->history : v);
    if (r->table[i]) return true;
    if (r->count == r->room) {
        const int room = r->room ? 2 * r->room : 32;
        stop *stops = tn__realloc(r->stops, (size_t)room * sizeof *stops);
        if (!stops) return false;
        r->stops = stops;
        r->room = room;
        if (r->table_size < 2 * room + 2 && !index_stops(r, 4 * room)) return false;
        return add_stop(r, v);
    }
    r->stops[r->count] = (stop){.history = v->history, .leaf = v->history ? NULL : v};
    r->table[i] = ++r->count;
    return true;
}

static int by_age(const void *a, const void *b)
{
    const stop *x = a, *y = b;
    const uint64_t m = x->history ? x->history->number : 0, n = y->history ? y->history->number : 0;
    return m < n ? -1 : m > n;
}

/* A variable's place among the gradients of its stop. */
static int place_of(const tn__variable *v)
{
    return v->history ? v->result : 0;
}

/* Is v asked for, or something behind it? */
static bool leads_on(const run *r, const tn__variable *v)
{
    const stop *s = stop_of(r, v);
    return !r->wanted || s->needed || s->asked[place_of(v)];
}

static tn_status check_saved(const tn__history *h)
{
    if (h->spent)
        return tn__fail(TN_ARGUMENT, "backward: %s was gone through before, and what it saved is gone; retain keeps it",
                        h->derivative->name);
    for (int k = 0; k < h->count + h->results; k++) {
        const tn__saved *s = k < h->count ? &h->in[k] : &h->out[k - h->count];
        if (!s->tensor || s->tensor->storage->version == s->version) continue;
        return tn__fail(TN_ARGUMENT,
                        "backward: %s %d of %s, %s, was written to after it was saved (version %" PRIu64 ", saved at %" PRIu64 ")",
                        k < h->count ? "operand" : "result", k < h->count ? k : k - h->count, h->derivative->name,
                        tn__shape_text(s->tensor->ndim, s->tensor->dim), s->tensor->storage->version, s->version);
    }
    return TN_OK;
}

static tn_status make_room(run *r)
{
    for (int at = 0; at < r->count; at++) r->gradient_count += r->stops[at].history ? r->stops[at].history->results : 1;
    const size_t n = (size_t)r->gradient_count;
    r->gradients = tn__zalloc(n * (sizeof *r->gradients + sizeof(bool)));
    if (!r->gradients) return TN_MEMORY;
    tn_tensor **gradient = r->gradients;
    bool *asked = (bool *)(gradient + n);
    for (int at = 0; at < r->count; at++) {
        stop *s = &r->stops[at];
        const int results = s->history ? s->history->results : 1;
        s->gradient = gradient;
        s->asked = asked;
        gradient += results;
        asked += results;
    }
    return TN_OK;
}

/* All stops behind the roots, and which of them anything asked for depends on. Nothing has changed when one cannot be passed. */
static tn_status collect(run *r, tn__variable *const *roots, int count)
{
    for (int i = 0; i < count; i++)
        if (!add_stop(r, roots[i])) return TN_MEMORY;
    for (int at = 0; at < r->count; at++) {
        const tn__history *h = r->stops[at].history;
        for (int i = 0; h && i < h->count; i++)
            if (h->from[i] && !add_stop(r, h->from[i])) return TN_MEMORY;
    }
    qsort(r->stops, (size_t)r->count, sizeof *r->stops, by_age);
    if (!index_stops(r, r->table_size)) return TN_MEMORY;
    TN__TRY(make_room(r));
    for (int i = 0; i < r->wanted_count; i++) {
        const stop *s = stop_of(r, r->wanted[i]);
        if (s) s->asked[place_of(r->wanted[i])] = true;
    }
    for (int at = 0; at < r->count; at++) {
        stop *s = &r->stops[at];
        for (int i = 0; s->history && i < s->history->count && !s->needed; i++)
            s->needed = s->history->from[i] && leads_on(r, s->history->from[i]);
    }
    for (int at = r->count - 1; at >= 0; at--)
        if (r->stops[at].needed)
            TN__TRY(check_saved(r->stops[at].history));
        else if (!r->stops[at].history && r->stops[at].leaf->left)
            return tn__fail(
                TN_ARGUMENT,
                "backward: a leaf was moved or cast since (tn_module_to, tn_module_cast); compute what it is used in anew");
    return TN_OK;
}

/* Takes over g. */
static tn_status flow_into(const run *r, const tn__variable *v, tn_tensor *g)
{
    tn_tensor **sum = &stop_of(r, v)->gradient[place_of(v)];
    if (!*sum) {
        *sum = g;
        return TN_OK;
    }
    tn_tensor *both = tn_add(*sum, g);
    tn_release(*sum);
    tn_release(g);
    *sum = both;
    return both ? TN_OK : tn_last_status();
}

/* ---- a complete gradient ---- */

/* Takes over what a hook gave. */
static tn_status replace(tn_tensor **g, tn_tensor *other)
{
    const tn_shape shape = tn__tensor_shape(other), own = tn__tensor_shape(*g);
    tn_status status = TN_OK;
    if (!tn__shape_equal(&shape, &own))
        status = tn__fail(TN_SHAPE, "backward: a hook gave %s for a gradient of %s", tn__shape_text(shape.ndim, shape.dim),
                          tn__shape_text(own.ndim, own.dim));
    else if (other->dtype != (*g)->dtype)
        status = tn__fail(TN_DTYPE, "backward: a hook gave %s for a gradient of %s", tn_dtype_name(other->dtype),
                          tn_dtype_name((*g)->dtype));
    else if (tn__tensor_device(other) != tn__tensor_device(*g))
        status = tn__fail(TN_DEVICE, "backward: a hook gave a tensor on %s for a gradient on %s", tn_device_of(other),
                          tn_device_of(*g));
    tn_release(status == TN_OK ? *g : other);
    if (status == TN_OK) *g = other;
    return status;
}

/* Those that are there now, in their order; they may add and remove some meanwhile. */
static tn_status call_watchers(const tn__variable *v, tn_tensor **g)
{
    const int last = v->numbered;
    for (int number = 0;;) {
        const tn__grad_watcher *w = v->watchers;
        while (w && w->number <= number) w = w->next;
        if (!w || w->number > last) return TN_OK;
        number = w->number;
        tn_tensor *other = w->hook(*g, w->user);
        if (!other) return tn_last_status() == TN_OK ? tn__fail(TN_ARGUMENT, "backward: a hook gave NULL") : tn_last_status();
        if (other != TN_NONE && other != *g) TN__TRY(replace(g, other));
    }
}

/* A handle on g's values whose memory nobody else has. */
static tn_tensor *own_memory(tn_tensor *g)
{
    const bool own = atomic_load(&g->references) == 1 && atomic_load(&g->storage->references) == 1 && tn__tensor_covers(g);
    return own ? tn_cast(g, g->dtype) : tn_clone(g);
}

/* Adds g to the gradient that v keeps, in place unless either is part of a graph: handles on it see it. */
static tn_status accumulate(tn__variable *v, tn_tensor *g, bool create)
{
    if (v->gradient && !create && !tn_requires_grad(v->gradient)) {
        tn_tensor *sum = tn_add(v->gradient, g);
        const tn_status status = sum ? tn_assign(v->gradient, sum) : tn_last_status();
        tn_release(sum);
        return status;
    }
    tn__scope_pause();
    tn_tensor *sum = v->gradient ? tn_add(v->gradient, g) : own_memory(g);
    tn__scope_resume();
    if (!sum) return tn_last_status();
    tn_release(v->gradient);
    v->gradient = sum;
    return TN_OK;
}

static bool is_same(const tn__variable *v, const tn__variable *w)
{
    return v == w || (v->history && v->history == w->history && v->result == w->result);
}

/* The gradient number i of a stop, whose variable is v, is complete. */
static tn_status arrive(const run *r, const stop *s, int i, tn__variable *v)
{
    TN__TRY(call_watchers(v, &s->gradient[i]));
    for (int k = 0; s->asked[i] && k < r->wanted_count; k++)
        if (is_same(r->wanted[k], v)) r->found[k] = tn_retain(s->gradient[i]);
    if (r->wanted || !(v->retains || (v->required && !v->history))) return TN_OK;
    return accumulate(v, s->gradient[i], r->options.create);
}

/* ---- one history ---- */

enum { FEW = 8 };

/* A saved result as part of the graph again, for gradients of gradients. */
static tn_tensor *in_graph(tn__history *h, int r)
{
    tn_tensor *y = tn__tensor_alias(h->out[r].tensor);
    tn__variable *v = y ? tn__variable_make(y) : NULL;
    if (!v) return tn_release(y), NULL;
    atomic_fetch_add(&h->references, 1);
    v->history = h;
    v->result = r;
    return y;
}

static tn_status check_gradients(const stop *s, tn_tensor *const *g)
{
    const tn__history *h = s->history;
    char name[64];
    snprintf(name, sizeof name, "backward of %s", h->derivative->name);
    for (int i = 0; i < h->count; i++)
        if (g[i]) TN__TRY(tn__check_nan(name, s->gradient, h->results, g[i]));
    return TN_OK;
}

static tn_status go_back(const run *r, const stop *s, tn_tensor **list)
{
    tn__history *h = s->history;
    tn_tensor **in = list, **out = in + h->count, **g = out + h->results;
    const tn__backward back = {h->derivative->name, h->count,      h->results, h->operand, in, out,
                               s->gradient,         h->attributes, g,          !r->wanted};
    tn_status status = check_saved(h); /* once more: a hook may have written */
    for (int i = 0; i < h->count; i++) in[i] = h->in[i].tensor;
    for (int i = 0; i < h->results && status == TN_OK; i++) {
        if (!h->out[i].tensor) continue;
        out[i] = r->options.create ? in_graph(h, i) : h->out[i].tensor;
        if (!out[i]) status = tn_last_status();
    }
    if (status == TN_OK) status = tn__differentiate(h->derivative, &back);
    for (int i = 0; i < h->results && r->options.create; i++) tn_release(out[i]);
    if (status == TN_OK && tn__detects_nan) status = check_gradients(s, g);
    for (int i = 0; i < h->count; i++) {
        if (!g[i]) continue;
        if (status == TN_OK && h->from[i] && leads_on(r, h->from[i]))
            status = flow_into(r, h->from[i], g[i]);
        else
            tn_release(g[i]);
    }
    return status;
}

/* Whose variables are told of their gradients. */
static tn_status arrive_at(const run *r, const stop *s, bool *any)
{
    for (int i = 0; i < (s->history ? s->history->results : 1); i++) {
        if (!s->gradient[i]) continue;
        *any = true;
        tn__variable *v = s->history ? tn__history_result(s->history, i) : tn__variable_retain(s->leaf);
        const tn_status status = v ? arrive(r, s, i, v) : TN_OK;
        tn__variable_release(v);
        TN__TRY(status);
    }
    return TN_OK;
}

static void let_go(const stop *s)
{
    for (int i = 0; i < (s->history ? s->history->results : 1); i++) tn_release(s->gradient[i]), s->gradient[i] = NULL;
}

/* The gradients that reached a stop are complete. */
static tn_status pass(const run *r, const stop *s)
{
    tn__history *h = s->history;
    bool any = false;
    TN__TRY(arrive_at(r, s, &any));
    tn_status status = TN_OK;
    if (any && s->needed) {
        tn_tensor *few[3 * FEW] = {0};
        const int n = 2 * h->count + h->results;
        tn_tensor **list = n <= 3 * FEW ? few : tn__zalloc((size_t)n * sizeof *list);
        status = list ? go_back(r, s, list) : TN_MEMORY;
        if (list != few) tn__free(list);
        if (status == TN_OK && !r->options.retain && !r->options.create) tn__history_spend(h);
    }
    let_go(s);
    return status;
}

static tn_status walk(run *r, tn__variable *const *roots, tn_tensor *const *gradients, int count)
{
    TN__TRY(collect(r, roots, count));
    for (int i = 0; i < count; i++) {
        tn_tensor *g = tn_cast(gradients[i], gradients[i]->dtype);
        if (!g) return tn_last_status();
        TN__TRY(flow_into(r, roots[i], g));
    }
    for (int at = r->count - 1; at >= 0; at--) TN__TRY(pass(r, &r->stops[at]));
    return TN_OK;
}

static void free_run(run *r)
{
    for (int i = 0; i < r->gradient_count && r->gradients; i++) tn_release(r->gradients[i]);
    tn__free(r->gradients);
    tn__free(r->stops);
    tn__free(r->table);
}

/* ---- what is asked for ---- */

static tn_status check_root(const tn_tensor *y, const tn_tensor *g)
{
    TN__TRY(tn__tensor_check(y, "backward", "y"));
    const tn_shape own = tn__tensor_shape(y);
    const tn__variable *v = tn__variable_of(y);
    if (!v || !(v->required || v->history))
        return tn__fail(TN_ARGUMENT, "backward: y %s requires no gradient, nor does anything it was computed from",
                        tn__shape_text(y->ndim, y->dim));
    if (!g) return tn__fail_null("backward", "a gradient");
    if (g == TN_NONE && y->numel != 1)
        return tn__fail(TN_SHAPE,
                        "backward: y %s has %" PRId64 " elements; give the gradient to begin with, which is 1 for one element only",
                        tn__shape_text(y->ndim, y->dim), y->numel);
    if (g == TN_NONE) return TN_OK;
    const tn_shape shape = tn__tensor_shape(g);
    if (!tn__shape_equal(&own, &shape))
        return tn__fail(TN_SHAPE, "backward: a gradient %s for y %s", tn__shape_text(g->ndim, g->dim),
                        tn__shape_text(y->ndim, y->dim));
    if (g->dtype != y->dtype)
        return tn__fail(TN_DTYPE, "backward: a gradient of %s for y of %s", tn_dtype_name(g->dtype), tn_dtype_name(y->dtype));
    return tn__tensor_device(g) == tn__tensor_device(y)
               ? TN_OK
               : tn__fail(TN_DEVICE, "backward: a gradient on %s for y on %s", tn_device_of(g), tn_device_of(y));
}

/* Runs with lists of its own: roots as variables, which hold all behind them, and their gradients. */
static tn_status start(run *r, tn_tensor *const *list, tn_tensor *const *gradients, int count)
{
    tn__variable **roots = tn__zalloc((size_t)count * (sizeof *roots + sizeof(tn_tensor *)));
    tn_tensor **begin = (tn_tensor **)(roots + count);
    tn_status status = roots ? TN_OK : TN_MEMORY;
    for (int i = 0; i < count && status == TN_OK; i++) {
        roots[i] = tn__variable_retain(tn__variable_of(list[i]));
        begin[i] = gradients && gradients[i] != TN_NONE ? gradients[i]
                                                        : tn_ones(list[i]->dtype, tn__tensor_shape(list[i]), tn_device_of(list[i]));
        if (!begin[i]) status = tn_last_status();
    }
    if (status == TN_OK) status = walk(r, roots, begin, count);
    free_run(r);
    for (int i = 0; i < count && roots; i++) tn__variable_release(roots[i]);
    tn__free(roots);
    return status;
}

static tn_status go(run *r, tn_tensor *const *list, tn_tensor *const *gradients, int count)
{
    if (!list) return tn__fail_null("backward", "list");
    if (count < 1) return tn__fail(TN_ARGUMENT, "backward: a list of %d tensors", count);
    for (int i = 0; i < count; i++) TN__TRY(check_root(list[i], gradients ? gradients[i] : TN_NONE));
    const tn_scope scope = tn__scope_push_grad(r->options.create);
    if (scope.depth < 0) return TN_MEMORY;
    return tn__scope_end(scope, start(r, list, gradients, count));
}

tn_status tn_backward_all(tn_tensor *const *list, tn_tensor *const *gradients, int count, const tn_backward_options *options)
{
    run r = {.options = options ? *options : (tn_backward_options){0}};
    return go(&r, list, gradients, count);
}

tn_status tn_backward(tn_tensor *y)
{
    return tn_backward_all(&y, NULL, 1, NULL);
}

static tn_status hand_out(const run *r, tn_tensor *const *inputs, int count, tn_tensor **out)
{
    for (int i = 0; i < count; i++) {
        if (!r->found[i] && !r->options.unused)
            return tn__fail(TN_ARGUMENT, "grad: input %d %s was not used to compute the outputs", i,
                            tn__shape_text(inputs[i]->ndim, inputs[i]->dim));
        out[i] = r->found[i] ? own_memory(r->found[i]) : TN_NONE; /* a handle of the caller's scope */
        if (!out[i]) return tn_last_status();
    }
    return TN_OK;
}

tn_status tn_grad(tn_tensor *const *list, tn_tensor *const *gradients, int count, tn_tensor *const *inputs, int input_count,
                  tn_tensor **out, const tn_backward_options *options)
{
    if (!inputs) return tn__fail_null("grad", "inputs");
    if (!out) return tn__fail_null("grad", "out");
    if (input_count < 1) return tn__fail(TN_ARGUMENT, "grad: a list of %d inputs", input_count);
    for (int i = 0; i < input_count; i++) out[i] = NULL;
    for (int i = 0; i < input_count; i++) {
        TN__TRY(tn__tensor_check(inputs[i], "grad", "an input"));
        if (!tn_requires_grad(inputs[i]))
            return tn__fail(TN_ARGUMENT, "grad: input %d %s requires no gradient", i,
                            tn__shape_text(inputs[i]->ndim, inputs[i]->dim));
    }
    const size_t n = (size_t)input_count;
    tn__variable **wanted = tn__zalloc(n * (sizeof *wanted + sizeof(tn_tensor *)));
    if (!wanted) return TN_MEMORY;
    run r = {.wanted = wanted,
             .wanted_count = input_count,
             .found = (tn_tensor **)(wanted + n),
             .options = options ? *options : (tn_backward_options){0}};
    for (int i = 0; i < input_count; i++) wanted[i] = tn__variable_retain(tn__variable_of(inputs[i]));
    tn_status status = go(&r, list, gradients, count);
    if (status == TN_OK) status = hand_out(&r, inputs, input_count, out);
    for (int i = 0; i < input_count; i++) {
        tn_release(r.found[i]);
        tn__variable_release(wanted[i]);
        if (status == TN_OK || !out[i]) continue;
        tn_release(out[i]);
        out[i] = NULL;
    }
    tn__free(wanted);
    return status;
}
