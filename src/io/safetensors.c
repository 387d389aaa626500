/* safetensors: 8 bytes of header length, a JSON header, then the values, little-endian, row-major, without gaps.
 *
 *   {"__metadata__": {"format": "pt"}, "fc1.bias": {"dtype": "F32", "shape": [128], "data_offsets": [0, 512]}, ...}
 *
 * The header is parsed by hand: objects are never nested deeper than this, so nothing recurses. */
#include "io/format.h"
#include "io/json.h"
#include "base/alloc.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH_BYTES 8

static const struct {
    const char *name;
    tn_dtype dtype;
} dtypes[] = {
    {"F64", TN_F64}, {"F32", TN_F32}, {"F16", TN_F16},   {"BF16", TN_BF16}, {"I64", TN_I64},
    {"I32", TN_I32}, {"I16", TN_I16}, {"I8", TN_I8},     {"U64", TN_U64},   {"U32", TN_U32},
    {"U16", TN_U16}, {"U8", TN_U8},   {"BOOL", TN_BOOL},
};

/* What the object of one tensor says; "seen" so that nothing is missing or said twice. */
typedef struct description {
    const char *dtype;
    tn_shape shape;
    uint64_t offset[2];
    bool has_dtype, has_shape, has_offsets;
} description;

typedef struct header {
    tn_archive *archive;
    tn__json json;
    uint64_t data;      /* where the values begin in the file */
    uint64_t data_size; /* bytes from there to the file's end */
    const char *name;   /* of the tensor being read */
} header;

#define BAD(h, ...) tn__archive_fault((h)->archive, "tensor", (h)->name, __VA_ARGS__)

/* ---- the header's parts ---- */

static tn_status read_dtype(header *h, description *d)
{
    return tn__json_text(&h->json, &d->dtype);
}

/* [n, n, …]: at most `most` numbers are stored, all are counted. */
static tn_status read_numbers(header *h, const char *key, uint64_t *out, int most, int *count)
{
    tn__json *j = &h->json;
    *count = 0;
    TN__TRY(tn__json_expect(j, '['));
    if (tn__json_accept(j, ']'))
        return TN_OK;
    do {
        uint64_t value = 0;
        bool negative = false;
        TN__TRY(tn__json_number(j, &value, &negative));
        if (negative)
            return BAD(h, "%s holds the negative number -%" PRIu64, key, value);
        if (*count < most)
            out[*count] = value;
        ++*count;
    } while (tn__json_accept(j, ','));
    return tn__json_expect(j, ']');
}

static tn_status read_shape(header *h, description *d)
{
    uint64_t extent[TN_MAX_AXES];
    int count = 0;
    TN__TRY(read_numbers(h, "shape", extent, TN_MAX_AXES, &count));
    if (count > TN_MAX_AXES)
        return BAD(h, "%d axes, more than %d", count, TN_MAX_AXES);
    d->shape.ndim = count;
    for (int i = 0; i < count; i++) {
        if (extent[i] > INT64_MAX)
            return BAD(h, "extent %" PRIu64 " of axis %d does not fit 63 bits", extent[i], i);
        d->shape.dim[i] = (int64_t)extent[i];
    }
    return TN_OK;
}

static tn_status read_offsets(header *h, description *d)
{
    int count = 0;
    TN__TRY(read_numbers(h, "data_offsets", d->offset, 2, &count));
    return count == 2 ? TN_OK : BAD(h, "data_offsets holds %d numbers, not 2", count);
}

static tn_status read_member(header *h, description *d)
{
    static const struct {
        const char *key;
        tn_status (*read)(header *, description *);
    } members[] = {{"dtype", read_dtype}, {"shape", read_shape}, {"data_offsets", read_offsets}};
    bool *const seen[] = {&d->has_dtype, &d->has_shape, &d->has_offsets};

    const char *key = NULL;
    TN__TRY(tn__json_text(&h->json, &key));
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        if (strcmp(key, members[i].key) != 0)
            continue;
        if (*seen[i])
            return BAD(h, "%s is there twice", key);
        *seen[i] = true;
        TN__TRY(tn__json_expect(&h->json, ':'));
        return members[i].read(h, d);
    }
    char shown[80];
    return BAD(h, "unknown member \"%s\"", tn__shown(key, strlen(key), shown));
}

static tn_status read_description(header *h, description *d)
{
    *d = (description){.dtype = NULL};
    TN__TRY(tn__json_expect(&h->json, '{'));
    if (!tn__json_accept(&h->json, '}')) {
        do
            TN__TRY(read_member(h, d));
        while (tn__json_accept(&h->json, ','));
        TN__TRY(tn__json_expect(&h->json, '}'));
    }
    const char *missing = !d->has_dtype ? "dtype" : !d->has_shape ? "shape" : !d->has_offsets ? "data_offsets" : NULL;
    return missing ? BAD(h, "%s is missing", missing) : TN_OK;
}

/* ---- what a description must fulfil ---- */

static tn_status check(header *h, const description *d, tn__entry *entry)
{
    entry->dtype = TN_DTYPE_COUNT;
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (strcmp(d->dtype, dtypes[i].name) == 0)
            entry->dtype = dtypes[i].dtype;
    char shown[80];
    if (entry->dtype == TN_DTYPE_COUNT)
        return BAD(h, "unknown dtype \"%s\"", tn__shown(d->dtype, strlen(d->dtype), shown));
    entry->shape = d->shape;
    if (!tn__entry_bytes(entry->dtype, &entry->shape, &entry->bytes))
        return BAD(h, "the product of its shape's extents times %zu bytes overflows 63 bits",
                   tn_dtype_size(entry->dtype));
    const uint64_t begin = d->offset[0], end = d->offset[1];
    if (begin > end)
        return BAD(h, "data_offsets [%" PRIu64 ", %" PRIu64 "]: the end is before the begin", begin, end);
    if (end > h->data_size)
        return BAD(h,
                   "data_offsets [%" PRIu64 ", %" PRIu64 "]: the end is behind the file's %" PRIu64 " bytes of values",
                   begin, end, h->data_size);
    if (end - begin != entry->bytes)
        return BAD(h,
                   "its shape and dtype need %" PRIu64 " bytes, data_offsets [%" PRIu64 ", %" PRIu64 "] hold %" PRIu64,
                   entry->bytes, begin, end, end - begin);
    entry->begin = h->data + begin;
    entry->swapped = !tn__machine_is_little() && tn_dtype_size(entry->dtype) > 1;
    return TN_OK;
}

static int by_place(const void *a, const void *b)
{
    const tn__entry *x = *(const tn__entry *const *)a, *y = *(const tn__entry *const *)b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

/* Values follow each other from the first byte to the last, without holes, and never share a byte. */
static tn_status check_places(header *h)
{
    tn_archive *archive = h->archive;
    const size_t count = (size_t)archive->count;
    const tn__entry **sorted = tn__alloc(count * sizeof *sorted);
    if (!sorted)
        return TN_MEMORY;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &archive->entry[i];
    qsort(sorted, count, sizeof *sorted, by_place);
    uint64_t place = h->data;
    tn_status status = TN_OK;
    for (size_t i = 0; i < count && status == TN_OK; i++) {
        const tn__entry *e = sorted[i];
        char shown[80];
        if (e->begin < place)
            status = tn__archive_fault(archive, "tensor", e->name, "its bytes from %" PRIu64 " overlap those of \"%s\", which end at %" PRIu64,
                         e->begin - h->data, tn__shown(sorted[i - 1]->name, strlen(sorted[i - 1]->name), shown),
                         place - h->data);
        else if (e->begin > place)
            status = tn__archive_fault(archive, "tensor", e->name, "a hole of %" PRIu64 " bytes before its first at %" PRIu64, e->begin - place,
                         e->begin - h->data);
        place = e->begin + e->bytes;
    }
    tn__free(sorted);
    if (status == TN_OK && place != archive->size)
        status = tn__fail(TN_FORMAT, "%s: %" PRIu64 " bytes after the last tensor belong to none", archive->path,
                          archive->size - place);
    return status;
}

/* ---- the header ---- */

static tn_status read_metadata(header *h)
{
    tn__json *j = &h->json;
    const char *text = NULL;
    TN__TRY(tn__json_expect(j, '{'));
    if (tn__json_accept(j, '}'))
        return TN_OK;
    do {
        TN__TRY(tn__json_text(j, &text));
        TN__TRY(tn__json_expect(j, ':'));
        TN__TRY(tn__json_text(j, &text));
    } while (tn__json_accept(j, ','));
    return tn__json_expect(j, '}');
}

static tn_status read_tensor(header *h, const char *name)
{
    description d;
    tn__entry entry = {0};
    TN__TRY(read_description(h, &d));
    TN__TRY(check(h, &d, &entry));
    return tn__archive_add(h->archive, name, &entry);
}

static tn_status read_one(header *h)
{
    TN__TRY(tn__json_text(&h->json, &h->name));
    TN__TRY(tn__json_expect(&h->json, ':'));
    return strcmp(h->name, "__metadata__") == 0 ? read_metadata(h) : read_tensor(h, h->name);
}

static tn_status read_header(header *h)
{
    tn__json *j = &h->json;
    TN__TRY(tn__json_expect(j, '{'));
    if (!tn__json_accept(j, '}')) {
        do
            TN__TRY(read_one(h));
        while (tn__json_accept(j, ','));
        TN__TRY(tn__json_expect(j, '}'));
    }
    TN__TRY(tn__json_end(j));
    return check_places(h);
}

static bool safetensors_probe(const tn_archive *archive, const unsigned char *head, size_t count)
{
    (void)archive;
    return count > LENGTH_BYTES && head[LENGTH_BYTES] == '{';
}

static tn_status safetensors_open(tn_archive *archive)
{
    unsigned char length_bytes[LENGTH_BYTES];
    TN__TRY(tn__archive_read(archive, 0, length_bytes, sizeof length_bytes));
    const uint64_t length = tn__little(length_bytes, sizeof length_bytes);
    if (length > archive->size - LENGTH_BYTES)
        return tn__fail(TN_FORMAT,
                        "%s: header too large: its length %" PRIu64 " is more than the file's %" PRIu64
                        " bytes after it (a truncated download?)",
                        archive->path, length, archive->size - LENGTH_BYTES);
    char *text = tn__alloc((size_t)length + 1);
    if (!text)
        return TN_MEMORY;
    text[length] = 0;
    tn_status status = tn__archive_read(archive, LENGTH_BYTES, text, length);
    if (status == TN_OK) {
        header h = {.archive = archive, .name = "", .data = LENGTH_BYTES + length};
        h.data_size = archive->size - h.data;
        tn__json_start(&h.json, archive->path, text, (size_t)length);
        status = read_header(&h);
    }
    tn__free(text);
    return status;
}

/* ---- writing ---- */

/* What is to be written. The values lie by size of the elements, the largest first, so that each is aligned; the header keeps
 * the caller's order. */
typedef struct contents {
    const char *path;
    const char *const *names;
    tn_tensor *const *tensors;
    int count;
    const char *const *metadata;
} contents;

static tn_status put_text(tn__text *t, const contents *c, const char *text)
{
    char shown[80];
    if (tn__json_quote(t, text))
        return TN_OK;
    return tn__fail(TN_ARGUMENT, "%s: \"%s\" is not UTF-8", c->path, tn__shown(text, strlen(text), shown));
}

static tn_status put_metadata(tn__text *t, const contents *c)
{
    if (!c->metadata || !c->metadata[0])
        return TN_OK;
    tn__text_puts(t, "\"__metadata__\":{");
    for (int i = 0; c->metadata[i]; i += 2) {
        if (!c->metadata[i + 1])
            return tn__fail(TN_ARGUMENT, "%s: the metadata \"%s\" has no value", c->path, c->metadata[i]);
        for (int k = 0; k < i; k += 2)
            if (strcmp(c->metadata[k], c->metadata[i]) == 0)
                return tn__fail(TN_ARGUMENT, "%s: the metadata \"%s\" is given twice", c->path, c->metadata[i]);
        tn__text_puts(t, i ? "," : "");
        TN__TRY(put_text(t, c, c->metadata[i]));
        tn__text_puts(t, ":");
        TN__TRY(put_text(t, c, c->metadata[i + 1]));
    }
    tn__text_puts(t, c->count ? "}," : "}");
    return TN_OK;
}

static tn_status put_tensor(tn__text *t, const contents *c, int i, uint64_t offset)
{
    const tn_tensor *x = c->tensors[i];
    const tn_shape shape = tn_shape_of(x);
    const char *dtype = NULL;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        if (dtypes[d].dtype == tn_dtype_of(x))
            dtype = dtypes[d].name;
    if (!dtype)
        return tn__fail(TN_DTYPE, "%s: safetensors has no %s", c->path, tn_dtype_name(tn_dtype_of(x)));
    TN__TRY(put_text(t, c, c->names[i]));
    tn__text_add(t, ":{\"dtype\":\"%s\",\"shape\":[", dtype);
    for (int k = 0; k < shape.ndim; k++)
        tn__text_add(t, k ? ",%" PRId64 : "%" PRId64, shape.dim[k]);
    tn__text_add(t, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}%s", offset, offset + tn_nbytes(x),
                 i + 1 < c->count ? "," : "");
    return TN_OK;
}

/* Length, JSON, and spaces up to a multiple of 8. place[i]: where tensor i's values begin. */
static tn_status put_header(tn__text *t, const contents *c, const uint64_t *place)
{
    tn__text_put(t, "\0\0\0\0\0\0\0\0{", LENGTH_BYTES + 1);
    TN__TRY(put_metadata(t, c));
    for (int i = 0; i < c->count; i++)
        TN__TRY(put_tensor(t, c, i, place[i]));
    tn__text_puts(t, "}");
    while (t->length % 8 != 0 && !t->failed)
        tn__text_puts(t, " ");
    if (t->failed)
        return TN_MEMORY;
    const uint64_t length = t->length - LENGTH_BYTES;
    for (int i = 0; i < LENGTH_BYTES; i++)
        t->data[i] = (char)(unsigned char)(length >> (8 * i));
    return TN_OK;
}

/* The tensors in the order of find_places. */
static tn_status write_values(tn__writer *w, const contents *c)
{
    for (size_t size = 8; size > 0; size /= 2)
        for (int i = 0; i < c->count; i++) {
            if (tn_dtype_size(tn_dtype_of(c->tensors[i])) != size)
                continue;
            const tn_status status = tn__writer_tensor(w, c->tensors[i]);
            if (status != TN_OK && *c->names[i])
                tn__error_prefix(c->names[i]);
            TN__TRY(status);
        }
    return TN_OK;
}

static tn_status find_places(const contents *c, uint64_t *place)
{
    uint64_t at = 0;
    for (size_t size = 8; size > 0; size /= 2)
        for (int i = 0; i < c->count; i++) {
            if (tn_dtype_size(tn_dtype_of(c->tensors[i])) != size)
                continue;
            place[i] = at;
            if (tn_nbytes(c->tensors[i]) > (uint64_t)INT64_MAX - at) /* expanded views */
                return tn__fail(TN_OVERFLOW, "%s: more than 63 bits of values", c->path);
            at += tn_nbytes(c->tensors[i]);
        }
    return TN_OK;
}

tn_status tn_save_safetensors(const char *path, const char *const *names, tn_tensor *const *tensors, int count,
                              const char *const *metadata)
{
    if (!path)
        return tn__fail_null("save_safetensors", "path");
    const contents c = {path, names, tensors, count, metadata};
    TN__TRY(tn__check_named("save_safetensors", path, names, tensors, count, "__metadata__"));
    uint64_t *place = tn__alloc((size_t)count * sizeof *place);
    if (!place)
        return TN_MEMORY;
    tn__text head = {0};
    tn__writer w;
    tn_status status = find_places(&c, place);
    if (status == TN_OK)
        status = put_header(&head, &c, place);
    if (status == TN_OK)
        status = tn__writer_open(&w, path);
    if (status == TN_OK) {
        status = tn__writer_put(&w, head.data, head.length);
        if (status == TN_OK)
            status = write_values(&w, &c);
        status = tn__writer_close(&w, status);
    }
    tn__text_free(&head);
    tn__free(place);
    return status;
}

const tn__format tn__format_safetensors = {"safetensors", safetensors_probe, safetensors_open};
