/* The values of pickles: all live in a few chunks of memory, until the last one is needed no more. */
#include "io/pickle.h"
#include "base/alloc.h"
#include <inttypes.h>
#include <stddef.h>

#define CHUNK ((size_t)1 << 14)
#define VALUES_MOST ((uint64_t)1 << 30) /* bytes */

typedef struct tn__pickle_chunk {
    struct tn__pickle_chunk *next;
    max_align_t bytes[];
} tn__pickle_chunk;

void *tn__pickle_alloc(tn__pickle *p, size_t bytes)
{
    tn__pickle_memory *s = &p->memory;
    bytes = (bytes + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    if (bytes > VALUES_MOST - s->total)
        return TN__NULL(TN_FORMAT, "%s: the pickle makes more than %" PRIu64 " bytes of values", p->archive->path, VALUES_MOST);
    if (bytes > s->room - s->used) {
        const size_t room = bytes > CHUNK ? bytes : CHUNK;
        tn__pickle_chunk *c = tn__zalloc(sizeof *c + room);
        if (!c) return NULL;
        c->next = s->chunks;
        s->chunks = c;
        s->room = room;
        s->used = 0;
    }
    void *memory = (char *)s->chunks->bytes + s->used;
    s->used += bytes;
    s->total += bytes;
    return memory;
}

tn__pickle_value *tn__pickle_new(tn__pickle *p, tn__pickle_kind kind)
{
    tn__pickle_value *value = tn__pickle_alloc(p, sizeof *value);
    if (value) value->kind = kind;
    return value;
}

tn_status tn__pickle_append(tn__pickle *p, tn__pickle_value *to, tn__pickle_value *value)
{
    tn__pickle_item *item = tn__pickle_alloc(p, sizeof *item);
    if (!item) return tn_last_status();
    item->value = value;
    *(to->items.last ? &to->items.last->next : &to->items.first) = item;
    to->items.last = item;
    to->items.count++;
    return TN_OK;
}

const tn__pickle_value *tn__pickle_item_at(const tn__pickle_value *of, int64_t i)
{
    const tn__pickle_item *item = of->items.first;
    for (; item && i > 0; i--) item = item->next;
    return item ? item->value : NULL;
}

void tn__pickle_free_values(tn__pickle *p)
{
    while (p->memory.chunks) {
        tn__pickle_chunk *next = p->memory.chunks->next;
        tn__free(p->memory.chunks);
        p->memory.chunks = next;
    }
}

tn_status tn__pickle_fault(const tn__pickle *p, const char *format, ...)
{
    char sentence[400];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return tn__fail(TN_FORMAT, "%s: the pickle %s", p->archive->path, sentence);
}
