/* The kernels of a run: found by what its plans generated, the missing ones made together. */
#include "graph/build.h"
#include "base/alloc.h"
#include "base/settings.h"
#include "graph/graph.h"
#include "graph/recipe.h"
#include <stdio.h>
#include <string.h>

enum { MOST_TOGETHER = 64 };

typedef struct batch {
    tn__device *device;
    tn__unit *units[MOST_TOGETHER];
    tn__text texts[MOST_TOGETHER];
    int count;
} batch;

static tn_status put_file(tn__text *t, const char *name)
{
    size_t length = 0;
    const char *text = tn__kernel_source(name, &length);
    if (!text) return tn_last_status();
    tn__text_put(t, text, length);
    return TN_OK;
}

/* The whole program: what the plan defines, the macro files, what the plan generated, the kernel's file. */
static tn_status put_program(tn__text *t, const tn__unit *unit)
{
    tn__text_put(t, unit->head.data, unit->head.length);
    tn_status status = put_file(t, "scalar.cl");
    if (status == TN_OK) status = put_file(t, "convert.cl");
    if (status == TN_OK && unit->draws) status = put_file(t, "random.cl");
    if (status == TN_OK && unit->reports) status = put_file(t, "fault.cl");
    if (status == TN_OK && unit->looks) status = put_file(t, "lookup.cl");
    tn__text_put(t, unit->text.data, unit->text.length);
    if (status == TN_OK) status = put_file(t, unit->file);
    return status == TN_OK && t->failed ? tn__fail(TN_MEMORY, "no memory for the text of a kernel") : status;
}

static void put_key(tn__text *key, const tn__unit *unit, int i)
{
    tn__text_free(key);
    tn__text_add(key, "%s %s %llu\n", unit->file, unit->names[i], (unsigned long long)tn__settings_version());
    tn__text_put(key, unit->head.data, unit->head.length);
    tn__text_put(key, unit->text.data, unit->text.length);
}

/* True when all its kernels were made before. */
static bool find_kernels(tn__device *device, tn__unit *unit)
{
    tn__text key = {0};
    bool all = true;
    for (int i = 0; i < unit->count && all; i++) {
        if (unit->kernel[i]) continue;
        put_key(&key, unit, i);
        if (!key.failed) unit->kernel[i] = tn__graph_kernel(device, key.data, key.length);
        all = unit->kernel[i] != NULL;
    }
    tn__text_free(&key);
    return all;
}

static tn_status take_kernels(tn__device *device, tn__unit *unit, const tn__text *text)
{
    tn__text key = {0};
    tn_status status = TN_OK;
    for (int i = 0; i < unit->count && status == TN_OK; i++) {
        unit->kernel[i] = tn__kernel_get(device, text->data, text->length, unit->names[i]);
        if (!unit->kernel[i]) status = tn_last_status();
        put_key(&key, unit, i);
        if (unit->kernel[i] && !key.failed) tn__graph_remember(device, key.data, key.length, unit->kernel[i]);
    }
    tn__text_free(&key);
    return status;
}

/* Makes what was gathered. */
static tn_status make(batch *b)
{
    tn__program_text texts[MOST_TOGETHER];
    tn_status status = TN_OK;
    for (int i = 0; i < b->count && status == TN_OK; i++) {
        status = put_program(&b->texts[i], b->units[i]);
        texts[i] = (tn__program_text){b->texts[i].data, b->texts[i].length, b->units[i]->names[0]};
    }
    if (status == TN_OK) tn__kernels_prepare(b->device, texts, b->count);
    for (int i = 0; i < b->count; i++) {
        if (status == TN_OK) status = take_kernels(b->device, b->units[i], &b->texts[i]);
        tn__text_free(&b->texts[i]);
    }
    b->count = 0;
    return status;
}

static tn_status gather(batch *b, tn__unit *unit)
{
    if (unit->count == 0 || find_kernels(b->device, unit)) return TN_OK;
    b->units[b->count++] = unit;
    return b->count == MOST_TOGETHER ? make(b) : TN_OK;
}

static tn_status make_all(tn__plan *first)
{
    batch *b = tn__zalloc(sizeof *b);
    tn_status status = b ? TN_OK : TN_MEMORY;
    if (b) b->device = first->device;
    for (tn__plan *p = first; p && status == TN_OK; p = p->next) {
        for (int i = 0; i < 2 && status == TN_OK; i++) status = gather(b, &p->stages[i].unit);
        if (status == TN_OK) status = gather(b, &p->unit);
    }
    if (status == TN_OK) status = make(b);
    tn__free(b);
    return status;
}

/* Whether the kernel may have as many items in a group as it was made for; else notes what it may have. */
static bool fits(const tn__plan *p)
{
    const size_t allowed = tn__kernel_max_group(p->unit.kernel[0]);
    if ((size_t)p->local <= allowed || p->local <= 1) return true;
    atomic_store(&p->device->group_bound, (int)allowed);
    for (int i = 0; i < p->unit.count; i++) tn__kernel_spare(p->unit.kernel[i]);
    return false;
}

/* After a failed build: whether the plan whose kernel it was can have another one, which is then generated. */
static bool concede(tn__plan *first)
{
    tn__plan *p = first;
    while (p && p->unit.kernel[0]) p = p->next; /* kernels are taken in the order of plans */
    return p && p->anchor && p->anchor->op->concede && p->anchor->op->concede(p) && tn__plan_generate(p) == TN_OK;
}

/* Makes all kernels; those that the compiler refuses may be replaced. */
static tn_status make_or_concede(tn__plan *first)
{
    char sentence[TN__SENTENCE_MAX];
    for (;;) {
        tn__error_attempt();
        const tn_status status = make_all(first);
        if (status != TN_OK) snprintf(sentence, sizeof sentence, "%s", tn_last_error());
        tn__error_attempt_end();
        if (status == TN_OK) return TN_OK;
        if (status != TN_COMPILE || !concede(first)) return tn__fail(status, "%s", sentence);
    }
}

tn_status tn__plans_build(tn__plan *first)
{
    for (bool again = first != NULL; again;) {
        TN__TRY(make_or_concede(first));
        again = false;
        for (tn__plan *p = first; p; p = p->next) {
            if (p->recipe || fits(p)) continue;
            TN__TRY(tn__plan_generate(p));
            again = true;
        }
    }
    for (tn__plan *p = first; p; p = p->next) tn__plan_remember(p);
    return TN_OK;
}
