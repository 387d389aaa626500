/* PyTorch's .pt and .pth: a pickle of tensors in dicts and lists, and the storages that they are windows on.
 *
 *   zip (since 1.6)   NAME/data.pkl, NAME/data/KEY for each storage, NAME/byteorder ("little", "big"; without it: little)
 *   old               five pickles: a magic number, a protocol, the writer's machine, the tensors, the storages' keys;
 *                     then each storage: the number of its elements in 8 bytes, its bytes; always little-endian
 *
 * A tensor's name is its path of keys and places, joined by dots: {"model": {"fc.bias": …}} has "model.fc.bias". */
#include "io/torch.h"
#include "base/alloc.h"
#include <inttypes.h>
#include <string.h>

enum { DEPTH_MOST = 64 };

typedef struct reader {
    tn_archive *archive;
    tn__map *storages; /* by key */
    tn__text prefix;   /* of a zip's members, "archive/" */
    bool big;
    uint64_t names_left; /* bytes, see walk_item */
    tn__text name;
} reader;

/* ---- from tensors to entries ---- */

#define BAD(r, ...) tn__archive_fault((r)->archive, "tensor", (r)->name.data, __VA_ARGS__)

static bool is_row_major(const tn__torch_tensor *t)
{
    int64_t step = 1;
    for (int i = t->shape.ndim - 1; i >= 0; step *= t->shape.dim[i--])
        if (t->shape.dim[i] != 1 && t->stride.dim[i] != step) return false;
    return true;
}

/* Elements from the first to behind the last; more than `most` count as most + 1. */
static uint64_t extent_of(const tn__torch_tensor *t, uint64_t most)
{
    uint64_t last = 0;
    for (int i = 0; i < t->shape.ndim; i++) {
        const uint64_t steps = (uint64_t)t->shape.dim[i] - 1, stride = (uint64_t)t->stride.dim[i];
        if (stride > 0 && steps > (most - last) / stride) return most + 1;
        last += steps * stride;
    }
    return last + 1;
}

static tn_status add_tensor(reader *r, const tn__torch_tensor *t)
{
    const tn__torch_storage *s = t->values->of;
    const uint64_t size = tn_dtype_size(t->dtype), offset = (uint64_t)t->offset, type_size = tn_dtype_size(t->values->type->dtype);
    const uint64_t count = t->values->count * type_size / size; /* elements of dtype */
    char shown[80];
    tn__entry entry = {.dtype = t->dtype, .shape = t->shape, .member = s->member};
    if (!tn__entry_bytes(t->dtype, &t->shape, &entry.bytes))
        return BAD(r, "the product of its shape's extents times %" PRIu64 " bytes overflows 63 bits", size);
    const uint64_t extent = entry.bytes ? extent_of(t, count) : 0;
    if (offset > count || extent > count - offset)
        return BAD(r, "its %d axes from element %" PRIu64 " leave the %" PRIu64 " elements of storage \"%s\"", t->shape.ndim,
                   offset, count, tn__shown(s->key, strlen(s->key), shown));
    if (entry.bytes && !is_row_major(t)) {
        entry.stride = t->stride;
        entry.bytes = extent * size;
    }
    entry.begin = s->begin + t->values->offset * type_size + offset * size;
    entry.swapped = size > 1 && tn__machine_is_little() == r->big;
    return tn__archive_add(r->archive, r->name.data, &entry);
}

static tn_status walk(reader *r, const tn__pickle_value *value, int depth);

/* The value under one more key. Values that are shared may be reached by more ways than a file has bytes, so that names are
 * counted. */
static tn_status walk_item(reader *r, const char *key, size_t length, const tn__pickle_value *value, int depth)
{
    const size_t before = r->name.length;
    if (before) tn__text_puts(&r->name, ".");
    tn__text_put(&r->name, key, length);
    if (r->name.failed) return TN_MEMORY;
    if (r->name.length + 1 > r->names_left)
        return tn__fail(TN_FORMAT, "%s: the pickle has more names than a pickle of its size", r->archive->path);
    r->names_left -= r->name.length + 1;
    TN__TRY(walk(r, value, depth + 1));
    r->name.length = before;
    r->name.data[before] = '\0';
    return TN_OK;
}

static tn_status walk_dict(reader *r, const tn__pickle_value *dict, int depth)
{
    for (const tn__pickle_item *i = dict->items.first; i; i = i->next->next) {
        char number[24];
        const tn__pickle_value *key = i->value;
        const bool text = key->kind == TN__PICKLE_TEXT;
        if (!text && key->kind != TN__PICKLE_INT)
            return tn__archive_fault(r->archive, "value", r->name.data, "a dict's key that is neither a text nor a whole number");
        if (text && strlen(key->text.bytes) != key->text.length)
            return tn__archive_fault(r->archive, "value", r->name.data, "a dict's key with a NUL");
        (void)snprintf(number, sizeof number, "%" PRId64, text ? 0 : key->number);
        TN__TRY(walk_item(r, text ? key->text.bytes : number, text ? key->text.length : strlen(number), i->next->value, depth));
    }
    return TN_OK;
}

static tn_status walk_list(reader *r, const tn__pickle_value *list, int depth)
{
    int64_t place = 0;
    for (const tn__pickle_item *i = list->items.first; i; i = i->next) {
        char number[24];
        (void)snprintf(number, sizeof number, "%" PRId64, place++);
        TN__TRY(walk_item(r, number, strlen(number), i->value, depth));
    }
    return TN_OK;
}

static tn_status walk(reader *r, const tn__pickle_value *value, int depth)
{
    if (depth > DEPTH_MOST)
        return tn__archive_fault(r->archive, "value", r->name.data, "dicts and lists nested deeper than %d", DEPTH_MOST);
    switch (value->kind) {
    case TN__PICKLE_TENSOR: return add_tensor(r, value->object);
    case TN__PICKLE_DICT: return walk_dict(r, value, depth);
    case TN__PICKLE_TUPLE:
    case TN__PICKLE_LIST: return walk_list(r, value, depth);
    default: return TN_OK;
    }
}

static tn_status add_all(reader *r, const tn__pickle_value *top, uint64_t pickle_bytes)
{
    r->names_left = 64 * (pickle_bytes + 128);
    tn__text_puts(&r->name, "");
    return r->name.failed ? TN_MEMORY : walk(r, top, 0);
}

/* ---- the zip form ---- */

/* NAME/data.pkl, one folder deep. */
static tn__zip_member *find_pickle(const tn_archive *archive)
{
    for (int i = 0; archive->zip && i < archive->zip->count; i++) {
        const char *slash = strchr(archive->zip->member[i].name, '/');
        if (slash && strcmp(slash, "/data.pkl") == 0) return &archive->zip->member[i];
    }
    return NULL;
}

static tn__zip_member *find_member(reader *r, const char *name)
{
    const size_t length = r->prefix.length;
    tn__text_puts(&r->prefix, name);
    tn__zip_member *found = r->prefix.failed ? NULL : tn__zip_find(r->archive->zip, r->prefix.data);
    r->prefix.length = length;
    return found;
}

static tn_status read_byte_order(reader *r)
{
    char text[7] = "little";
    tn__zip_member *m = find_member(r, "byteorder");
    if (m && m->size < sizeof text) {
        memset(text, 0, sizeof text);
        TN__TRY(tn__zip_read(r->archive, m, 0, text, m->size, true));
    }
    r->big = strcmp(text, "big") == 0;
    return r->big || strcmp(text, "little") == 0
               ? TN_OK
               : tn__fail(TN_FORMAT, "%s: byteorder is neither \"little\" nor \"big\"", r->archive->path);
}

/* Puts one storage into its place; those are collected by tn__map_each, which knows no errors. */
typedef struct places {
    reader *reader;
    tn_status status;
} places;

static void place_member(void *value, void *user)
{
    tn__torch_storage *s = value;
    places *all = user;
    reader *r = all->reader;
    char shown[80];
    if (all->status != TN_OK) return;
    tn__text name = {0};
    tn__text_add(&name, "data/%s", s->key);
    s->member = name.failed ? NULL : find_member(r, name.data);
    if (name.failed || r->prefix.failed)
        all->status = TN_MEMORY;
    else if (!s->member)
        all->status = tn__fail(TN_FORMAT, "%s: storage \"%s\" is missing: no member \"%s\"", r->archive->path,
                               tn__shown(s->key, strlen(s->key), shown), name.data);
    else if (s->member->size != s->bytes)
        all->status = tn__fail(TN_FORMAT, "%s: storage \"%s\" has %" PRIu64 " bytes, its tensors need %" PRIu64, r->archive->path,
                               tn__shown(s->key, strlen(s->key), shown), s->member->size, s->bytes);
    tn__text_free(&name);
}

static tn_status open_zip(reader *r, tn__pickle *p)
{
    tn__zip_member *m = find_pickle(r->archive);
    tn__pickle_value *top = NULL;
    tn__text_put(&r->prefix, m->name, strlen(m->name) - strlen("data.pkl"));
    if (m->size > SIZE_MAX / 2) return tn__fail(TN_OVERFLOW, "%s: a pickle of %" PRIu64 " bytes", r->archive->path, m->size);
    unsigned char *bytes = r->prefix.failed ? NULL : tn__alloc((size_t)m->size);
    if (!bytes) return TN_MEMORY;
    p->end = m->size;
    tn_status status = tn__zip_read(r->archive, m, 0, bytes, m->size, true);
    if (status == TN_OK) status = tn__pickle_read(p, bytes, &top);
    tn__free(bytes);
    TN__TRY(status);
    TN__TRY(read_byte_order(r));
    places all = {r, TN_OK};
    tn__map_each(r->storages, place_member, &all);
    TN__TRY(all.status);
    return add_all(r, top, m->size);
}

/* ---- the old form ---- */

/* The first pickle, 0x1950a86a20f9469cfc6c: PROTO n, perhaps a frame, LONG1 of 10 bytes. */
static bool is_old(const unsigned char *head, size_t count)
{
    static const unsigned char magic[] = {0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, '.'};
    return count > 11 + sizeof magic && head[0] == 0x80 &&
           (memcmp(head + 2, magic, sizeof magic) == 0 || memcmp(head + 11, magic, sizeof magic) == 0);
}

static tn_status place_storage(reader *r, tn__pickle *p, const tn__pickle_value *key)
{
    char shown[80];
    unsigned char length[8];
    const tn_archive *archive = r->archive;
    tn__torch_storage *s = key->kind == TN__PICKLE_TEXT ? tn__map_get(r->storages, key->text.bytes, key->text.length) : NULL;
    if (!s || s->found)
        return tn__fail(TN_FORMAT, "%s: the list of storages has one that %s", archive->path,
                        s ? "is there twice" : "belongs to no tensor");
    (void)tn__shown(s->key, strlen(s->key), shown);
    if (archive->size - p->at < sizeof length)
        return tn__fail(TN_FORMAT, "%s: storage \"%s\" is missing: the file ends at %" PRIu64, archive->path, shown, archive->size);
    TN__TRY(tn__archive_read(r->archive, p->at, length, sizeof length));
    const uint64_t count = tn__little(length, sizeof length);
    if (count != s->bytes / s->size)
        return tn__fail(TN_FORMAT, "%s: storage \"%s\" has %" PRIu64 " elements, its tensors need %" PRIu64, archive->path, shown,
                        count, s->bytes / s->size);
    s->begin = p->at + sizeof length;
    if (s->bytes > archive->size - s->begin)
        return tn__fail(TN_FORMAT, "%s: storage \"%s\" of %" PRIu64 " bytes at %" PRIu64 " is cut off: the file has %" PRIu64,
                        archive->path, shown, s->bytes, s->begin, archive->size);
    s->found = true;
    p->at = s->begin + s->bytes;
    return TN_OK;
}

static tn_status place_storages(reader *r, tn__pickle *p, const tn__pickle_value *keys)
{
    if (keys->kind != TN__PICKLE_LIST || (uint64_t)keys->items.count != tn__map_count(r->storages))
        return tn__fail(TN_FORMAT, "%s: the list of storages does not have the %zu of the tensors", r->archive->path,
                        tn__map_count(r->storages));
    for (const tn__pickle_item *i = keys->items.first; i; i = i->next) TN__TRY(place_storage(r, p, i->value));
    return p->at == r->archive->size ? TN_OK
                                     : tn__fail(TN_FORMAT, "%s: %" PRIu64 " bytes after the last storage belong to none",
                                                r->archive->path, r->archive->size - p->at);
}

static tn_status open_old(reader *r, tn__pickle *p)
{
    tn__pickle_value *protocol = NULL, *machine = NULL, *top = NULL, *keys = NULL;
    p->end = r->archive->size;
    TN__TRY(tn__pickle_read(p, NULL, &protocol)); /* the magic number, which the probe has seen */
    TN__TRY(tn__pickle_read(p, NULL, &protocol));
    if (protocol->kind != TN__PICKLE_INT || protocol->number != 1001)
        return tn__fail(TN_FORMAT, "%s: a file of PyTorch's old form whose protocol is not 1001", r->archive->path);
    TN__TRY(tn__pickle_read(p, NULL, &machine));
    TN__TRY(tn__pickle_read(p, NULL, &top));
    TN__TRY(tn__pickle_read(p, NULL, &keys));
    const uint64_t pickles = p->at;
    TN__TRY(place_storages(r, p, keys));
    return add_all(r, top, pickles);
}

/* ---- both ---- */

static bool torch_probe(const tn_archive *archive, const unsigned char *head, size_t count)
{
    return find_pickle(archive) != NULL || is_old(head, count);
}

static tn_status torch_open(tn_archive *archive)
{
    reader r = {.archive = archive, .storages = tn__map_new()};
    if (!r.storages) return TN_MEMORY;
    tn__pickle p = {.archive = archive,
                    .globals = tn__torch_globals,
                    .global_count = tn__torch_global_count,
                    .persistent = tn__torch_find_window,
                    .user = r.storages};
    const tn_status status = archive->zip ? open_zip(&r, &p) : open_old(&r, &p);
    tn__pickle_free(&p);
    tn__map_free(r.storages);
    tn__text_free(&r.prefix);
    tn__text_free(&r.name);
    return status;
}

const tn__format tn__format_torch = {"pt", torch_probe, torch_open};
