#include "autograd/variable.h"
#include "base/alloc.h"
#include "base/platform.h"
#include "core/scope.h"
#include "graph/move.h"
#include <string.h>

static atomic_uint_fast64_t histories;
/* Guards `made`, and the choice of who frees what. */
static tn__mutex lock = TN__MUTEX_INIT;

/* ---- release, without recursion ---- */

typedef struct work {
    tn__variable *variables;
    tn__history *histories;
} work;

static void drop_variable(work *w, tn__variable *v)
{
    if (!v || atomic_fetch_sub_explicit(&v->references, 1, memory_order_acq_rel) != 1) return;
    v->next = w->variables;
    w->variables = v;
}

static void drop_history(work *w, tn__history *h)
{
    if (!h || atomic_fetch_sub_explicit(&h->references, 1, memory_order_acq_rel) != 1) return;
    h->next = w->histories;
    w->histories = h;
}

/* A handle of autograd's own, in no scope: its variable is dropped with the others. */
static void drop_tensor(work *w, tn_tensor *x)
{
    if (!x) return;
    drop_variable(w, x->gradient);
    x->gradient = NULL;
    tn__tensor_unref(x);
}

static void forget_saved(work *w, tn__history *h)
{
    for (int i = 0; i < h->count; i++) drop_tensor(w, h->in[i].tensor), h->in[i].tensor = NULL;
    for (int i = 0; i < h->results; i++) drop_tensor(w, h->out[i].tensor), h->out[i].tensor = NULL;
}

static void free_variable(work *w, tn__variable *v)
{
    if (v->history) {
        tn__lock(&lock);
        if (v->history->made[v->result] == v) v->history->made[v->result] = NULL;
        tn__unlock(&lock);
        drop_history(w, v->history);
    }
    drop_tensor(w, v->gradient);
    while (v->watchers) {
        tn__grad_watcher *watcher = v->watchers;
        v->watchers = watcher->next;
        tn__free(watcher);
    }
    tn__free(v);
}

static void free_history(work *w, tn__history *h)
{
    forget_saved(w, h);
    for (int i = 0; i < h->count; i++) drop_variable(w, h->from[i]);
    tn__free(h);
}

static void finish(work *w)
{
    while (w->variables || w->histories) {
        while (w->variables) {
            tn__variable *v = w->variables;
            w->variables = v->next;
            free_variable(w, v);
        }
        while (w->histories) {
            tn__history *h = w->histories;
            w->histories = h->next;
            free_history(w, h);
        }
    }
}

void tn__variable_release(tn__variable *v)
{
    work w = {NULL, NULL};
    drop_variable(&w, v);
    finish(&w);
}

void tn__history_spend(tn__history *h)
{
    work w = {NULL, NULL};
    h->spent = true;
    forget_saved(&w, h);
    finish(&w);
}

static void free_slot(void *variable)
{
    tn__variable_release(variable);
}

/* ---- making ---- */

static tn__variable *variable_new(void)
{
    tn__variable *v = tn__zalloc(sizeof *v);
    if (v) atomic_init(&v->references, 1);
    return v;
}

tn__variable *tn__variable_make(tn_tensor *x)
{
    if (!x->gradient) x->gradient = variable_new();
    return x->gradient;
}

tn_status tn__variable_renew(tn_tensor *x)
{
    tn__variable *old = x->gradient, *v = old ? variable_new() : NULL;
    if (!old) return TN_OK;
    if (!v) return TN_MEMORY;
    v->required = old->required;
    v->gradient = old->gradient;
    v->watchers = old->watchers;
    v->numbered = old->numbered;
    old->gradient = NULL;
    old->watchers = NULL;
    old->left = true;
    x->gradient = v;
    tn__variable_release(old);
    return TN_OK;
}

tn__variable *tn__variable_retain(tn__variable *v)
{
    if (v) atomic_fetch_add_explicit(&v->references, 1, memory_order_relaxed);
    return v;
}

tn__variable *tn__history_result(tn__history *h, int result)
{
    tn__lock(&lock);
    tn__variable *v = h->made[result];
    int seen = v ? atomic_load(&v->references) : 0;
    while (seen > 0 && !atomic_compare_exchange_weak(&v->references, &seen, seen + 1)) {
    }
    tn__unlock(&lock);
    return seen > 0 ? v : NULL;
}

static tn__signature signature_of(const tn_tensor *x, bool wanted)
{
    const bool turned = x->ndim > 1 && x->stride[x->ndim - 2] < x->stride[x->ndim - 1];
    return (tn__signature){tn__tensor_shape(x), x->dtype, tn__tensor_device(x), wanted, turned};
}

/* Does a gradient flow into x? */
static bool takes_part(const tn_tensor *x)
{
    const tn__variable *v = x && x != TN_NONE ? tn__variable_of(x) : NULL;
    return v && (v->required || v->history) && tn_dtype_is_float(x->dtype);
}

static tn__history *history_new(const tn__derivative *d, int count, int results)
{
    const size_t n = (size_t)count, m = (size_t)results;
    const size_t size = sizeof(tn__history) + n * sizeof(tn__signature) + (n + m) * (sizeof(tn__variable *) + sizeof(tn__saved));
    tn__history *h = tn__zalloc(size + d->attributes);
    if (!h) return NULL;
    atomic_init(&h->references, 0);
    h->number = atomic_fetch_add(&histories, 1) + 1;
    h->derivative = d;
    h->count = count;
    h->results = results;
    h->operand = (tn__signature *)(h + 1);
    h->in = (tn__saved *)(h->operand + n);
    h->out = h->in + n;
    h->from = (tn__variable **)(h->out + m);
    h->made = h->from + n;
    h->attributes = h->made + m;
    return h;
}

/* A plain number in what it is computed with: functions of numbers alone, as 1 - x, would be f32. */
static tn_tensor *number_for(tn_tensor *x, const tn_tensor *out)
{
    tn_dtype dtype = x->dtype;
    if (out && tn_dtype_is_float(out->dtype) && dtype != TN_BOOL) dtype = out->dtype == TN_F64 ? TN_F64 : TN_F32;
    tn_tensor *y = x->dtype == dtype ? tn__tensor_alias(x) : tn__cast(x, dtype, true);
    if (y) y->weak = false;
    return y;
}

/* A handle that keeps x's values, of the operation that made out, and may take part in a gradient again. */
static tn_status save(tn__saved *s, tn_tensor *x, tn__variable *v, const tn_tensor *out)
{
    s->tensor = x->weak ? number_for(x, out) : tn__tensor_alias(x);
    if (!s->tensor) return TN_MEMORY;
    s->version = s->tensor->storage->version;
    s->tensor->gradient = tn__variable_retain(v);
    return TN_OK;
}

/* Does the way back need the values of operand i, when so many gradients are wanted? */
static bool reads(const tn__history *h, int i, int wanted)
{
    const int saves = h->derivative->saves;
    if (!(saves & (1 << (i < 8 ? i : 7)))) return false;
    return (saves & TN__SAVES_OTHERS) != TN__SAVES_OTHERS || wanted > h->operand[i].wanted;
}

static tn_status fill(tn__history *h, const void *attributes, tn_tensor *const *operands, tn_tensor *const *out)
{
    const tn__derivative *d = h->derivative;
    int wanted = 0;
    if (d->attributes) memcpy(h->attributes, attributes, d->attributes);
    for (int i = 0; i < h->count; i++) {
        if (!operands[i] || operands[i] == TN_NONE) continue;
        h->operand[i] = signature_of(operands[i], takes_part(operands[i]));
        if (h->operand[i].wanted) h->from[i] = tn__variable_retain(tn__variable_of(operands[i]));
        wanted += h->operand[i].wanted;
    }
    for (int i = 0; i < h->count; i++)
        if (h->operand[i].device && reads(h, i, wanted)) TN__TRY(save(&h->in[i], operands[i], h->from[i], out[0]));
    for (int r = 0; r < h->results && d->saves & TN__SAVES_OUT; r++)
        if (out[r]) TN__TRY(save(&h->out[r], out[r], NULL, NULL)); /* its variable would hold the history */
    return TN_OK;
}

static tn_status give(tn__history *h, tn_tensor *const *out)
{
    for (int r = 0; r < h->results; r++) {
        if (!out[r] || !tn_dtype_is_float(out[r]->dtype)) continue;
        tn__variable *v = variable_new();
        if (!v) return TN_MEMORY;
        atomic_fetch_add(&h->references, 1);
        v->history = h;
        v->result = r;
        h->made[r] = v; /* nobody else has the history yet */
        tn__variable *old = out[r]->gradient;
        out[r]->gradient = v;
        tn__variable_release(old);
    }
    return TN_OK;
}

tn_status tn__remember(const tn__derivative *d, const void *attributes, tn_tensor *const *operands, int count,
                       tn_tensor *const *out, int results)
{
    bool any = false;
    for (int r = 0; r < results && tn__detects_nan; r++)
        if (out[r]) TN__TRY(tn__check_nan(d->name, operands, count, out[r]));
    for (int i = 0; i < count; i++) any = any || takes_part(operands[i]);
    if (!any || !d->gradient) return TN_OK;
    tn__history *h = history_new(d, count, results);
    if (!h) return TN_MEMORY;
    atomic_fetch_add(&h->references, 1);
    tn__scope_pause();
    tn_status status = fill(h, attributes, operands, out);
    if (status == TN_OK) status = give(h, out);
    tn__scope_resume();
    work w = {NULL, NULL};
    drop_history(&w, h);
    finish(&w);
    return status;
}

/* ---- assignment ---- */

/* Values change where gradients have seen them: only a tensor that nothing else looks at may begin anew. */
static tn_status may_assign(tn_tensor *x, tn_tensor *src)
{
    const tn__variable *v = tn__variable_of(x);
    if (v && v->required && !v->history)
        return tn__fail(TN_ARGUMENT, "assign: x %s is a leaf that requires a gradient; assign to it inside tn_scope_push_no_grad",
                        tn__shape_text(x->ndim, x->dim));
    if ((takes_part(x) || takes_part(src)) && !(tn__tensor_covers(x) && atomic_load(&x->storage->references) == 1))
        return tn__fail(TN_ARGUMENT,
                        "assign: views, or what is saved for a gradient, see the memory of x %s, and their gradients would not see "
                        "the assignment; join parts (tn_concat, tn_where, tn_scatter) instead",
                        tn__shape_text(x->ndim, x->dim));
    return TN_OK;
}

static tn_status assigned(tn_tensor *x, tn_tensor *src)
{
    if (takes_part(x)) {
        tn__variable *old = x->gradient;
        x->gradient = NULL;
        tn__variable_release(old);
    }
    return tn__remember(&tn__derive_identity, NULL, &src, 1, &x, 1);
}

static void watch_forks(void)
{
    tn__lock_over_fork(&lock);
}

void tn__autograd_start(void)
{
    static const tn__listener listener = {tn__remember, may_assign, assigned, free_slot};
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, watch_forks);
    tn__derive_listen(&listener);
}
