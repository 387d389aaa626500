/* What holds memory: the values that are alive, and the allocators' counts. */
#include "base/alloc.h"
#include "base/text.h"
#include "graph/node.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
    uint64_t bytes;
    tn_dtype dtype;
    tn_shape shape;
    const char *made_by;
} entry;

typedef struct list {
    const tn__device *device;
    entry *entries;
    int64_t count, capacity, pending;
    uint64_t bytes;
    bool failed;
} list;

static void add(const tn__value *v, void *list_)
{
    list *l = list_;
    if (v->device != l->device || v->count == 0 || l->failed) return;
    if (!v->buffer) {
        l->pending++;
        return;
    }
    if (l->count == l->capacity) {
        const int64_t capacity = l->capacity ? l->capacity * 2 : 64;
        entry *grown = tn__realloc(l->entries, (size_t)capacity * sizeof *grown);
        l->failed = !grown;
        if (!grown) return;
        l->entries = grown;
        l->capacity = capacity;
    }
    const uint64_t bytes = (uint64_t)v->count * tn_dtype_size(v->dtype);
    l->entries[l->count++] = (entry){bytes, v->dtype, v->shape, v->made_by};
    l->bytes += bytes;
}

/* The largest first; among equals, what belongs together. */
static int by_bytes(const void *a_, const void *b_)
{
    const entry *a = a_, *b = b_;
    if (a->bytes != b->bytes) return a->bytes < b->bytes ? 1 : -1;
    return strcmp(a->made_by, b->made_by);
}

static void put_list(tn__text *text, const list *l, const tn_device_info *info)
{
    tn__text_add(text, "%s: %" PRId64 " tensors hold %" PRIu64 " bytes, %" PRId64 " are not computed yet\n", l->device->name,
                 l->count, l->bytes, l->pending);
    if (l->count > 0) tn__text_add(text, "%14s  %-5s  %-20s  made by\n", "bytes", "dtype", "shape");
    for (int64_t i = 0; i < l->count; i++) {
        const entry *e = &l->entries[i];
        tn__text_add(text, "%14" PRIu64 "  %-5s  %-20s  %s\n", e->bytes, tn_dtype_name(e->dtype),
                     tn__shape_text(e->shape.ndim, e->shape.dim), e->made_by);
    }
    tn__text_add(text, "in use %" PRIu64 ", cached %" PRIu64 ", peak %" PRIu64 " bytes\n", info->memory_in_use, info->memory_cached,
                 info->memory_peak);
}

static tn_status report(tn__text *text, const tn__device *device, bool if_used)
{
    tn_device_info info;
    list l = {.device = device};
    TN__TRY(tn_device_query(device->name, &info));
    tn__values_each(add, &l);
    if (l.failed) {
        tn__free(l.entries);
        return TN_MEMORY;
    }
    if (l.count > 0) qsort(l.entries, (size_t)l.count, sizeof *l.entries, by_bytes);
    if (!if_used || l.count > 0 || l.pending > 0 || info.memory_peak > 0) put_list(text, &l, &info);
    tn__free(l.entries);
    return TN_OK;
}

static tn_status write_text(FILE *file, const tn__text *text)
{
    if (text->failed) return tn__fail(TN_MEMORY, "memory_report: no memory for its text");
    if (text->length > 0 && (fwrite(text->data, 1, text->length, file) != text->length || fflush(file) != 0))
        return tn__fail(TN_FILE, "memory_report: the file cannot be written");
    return TN_OK;
}

tn_status tn_memory_report(FILE *file, const char *name)
{
    tn__text text = {0};
    tn_status status = TN_OK;
    tn__graph_start();
    if (!file) return tn__fail_null("memory_report", "file");
    const tn__device *device = name ? tn__device_find(name) : NULL;
    if (name && !device) return tn_last_status();
    if (device) status = report(&text, device, false);
    for (int i = 0; !device && i < tn__device_total() && status == TN_OK; i++) status = report(&text, tn__device_at(i), true);
    if (status == TN_OK) status = write_text(file, &text);
    tn__text_free(&text);
    return status;
}
