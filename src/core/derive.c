#include "core/derive.h"

static _Atomic(const tn__listener *) listener;
static _Thread_local int paused;
static _Thread_local bool disabled;

void tn__derive_listen(const tn__listener *l)
{
    atomic_store(&listener, l);
}

void tn__derive_pause(void)
{
    paused++;
}

void tn__derive_resume(void)
{
    paused--;
}

bool tn__derive_enable(bool enabled)
{
    const bool before = !disabled;
    disabled = !enabled;
    return before;
}

bool tn__derives(void)
{
    return paused == 0 && !disabled;
}

/* Whoever is to be told something now. */
static const tn__listener *listening(void)
{
    return tn__derives() ? atomic_load_explicit(&listener, memory_order_acquire) : NULL;
}

tn_status tn__recorded_results(const tn__derivative *d, const void *attributes, tn_tensor *const *operands, int count,
                               tn_tensor *const *out, int results)
{
    const tn__listener *l = listening();
    return l ? l->recorded(d, attributes, operands, count, out, results) : TN_OK;
}

tn_tensor *tn__recorded(const tn__derivative *d, const void *attributes, tn_tensor *const *operands, int count, tn_tensor *out)
{
    if (!out || tn__recorded_results(d, attributes, operands, count, &out, 1) == TN_OK) return out;
    tn_release(out);
    return NULL;
}

tn_status tn__derive_assign(tn_tensor *x, tn_tensor *src)
{
    const tn__listener *l = listening();
    return l ? l->assign(x, src) : TN_OK;
}

tn_status tn__derive_assigned(tn_tensor *x, tn_tensor *src)
{
    const tn__listener *l = listening();
    return l ? l->assigned(x, src) : TN_OK;
}

void tn__derive_free(void *slot)
{
    const tn__listener *l = slot ? atomic_load_explicit(&listener, memory_order_acquire) : NULL;
    if (l) l->free_slot(slot);
}
