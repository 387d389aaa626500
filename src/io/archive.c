/* Open files of tensors: probing by content, look-up, reading on demand. */
#include "io/format.h"
#include "base/alloc.h"
#include "io/near.h"
#include <tenon/device.h>
#include <tenon/movement.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#define FORMAT(name) extern const tn__format tn__format_##name;
#define FOREIGN(bytes, text)
#include "tables/formats.def"

static const tn__format *const formats[] = {
#define FORMAT(name) &tn__format_##name,
#define FOREIGN(bytes, text)
#include "tables/formats.def"
};

static const struct foreign {
    const char *bytes;
    size_t count;
    const char *text;
} foreigns[] = {
#define FORMAT(name)
#define FOREIGN(bytes, text) {bytes, sizeof(bytes) - 1, text},
#include "tables/formats.def"
};

/* ---- shared by the formats ---- */

static uint64_t size_of_file(FILE *file)
{
    if (fseek(file, 0, SEEK_END) != 0)
        return UINT64_MAX;
    const long size = ftell(file);
    return size < 0 || size == LONG_MAX ? UINT64_MAX : (uint64_t)size;
}

tn_status tn__archive_read(tn_archive *archive, uint64_t offset, void *out, uint64_t bytes)
{
    if (bytes == 0)
        return TN_OK;
    tn__lock(&archive->lock);
    errno = 0;
    const uint64_t size = size_of_file(archive->file);
    size_t got = 0;
    if (size == archive->size && fseek(archive->file, (long)offset, SEEK_SET) == 0)
        got = fread(out, 1, (size_t)bytes, archive->file);
    const int code = errno;
    clearerr(archive->file);
    tn__unlock(&archive->lock);
    if (size != archive->size)
        return tn__fail(TN_FILE, "%s: the file changed after it was opened: it had %" PRIu64 " bytes, now %" PRIu64,
                        archive->path, archive->size, size == UINT64_MAX ? 0 : size);
    if (got != bytes)
        return tn__fail(TN_FILE, "%s: %" PRIu64 " bytes at offset %" PRIu64 " could not be read, only %zu: %s",
                        archive->path, bytes, offset, got, code ? strerror(code) : "the file ends");
    return TN_OK;
}

tn_status tn__archive_read_part(tn_archive *archive, tn__zip_member *member, uint64_t offset, void *out, uint64_t bytes)
{
    return member ? tn__zip_read(archive, member, offset, out, bytes, false) : tn__archive_read(archive, offset, out, bytes);
}

tn_status tn__archive_add(tn_archive *archive, const char *name, const tn__entry *entry)
{
    char shown[80];
    if (tn__map_get(archive->by_name, name, strlen(name)))
        return tn__fail(TN_FORMAT, "%s: tensor \"%s\" is there twice", archive->path,
                        tn__shown(name, strlen(name), shown));
    if (archive->count == archive->capacity) {
        if (archive->capacity > INT_MAX / 4)
            return tn__fail(TN_OVERFLOW, "%s: more than %d tensors", archive->path, archive->capacity);
        const int capacity = archive->capacity ? 2 * archive->capacity : 4;
        tn__entry *more = tn__realloc(archive->entry, (size_t)capacity * sizeof *more);
        if (!more)
            return TN_MEMORY;
        archive->entry = more;
        archive->capacity = capacity;
    }
    char *copy = tn__strdup(name);
    if (!copy)
        return TN_MEMORY;
    archive->entry[archive->count] = *entry;
    archive->entry[archive->count++].name = copy;
    /* The map's pointers are numbers: entries move while the list grows. */
    return tn__map_put(archive->by_name, name, strlen(name), (void *)(uintptr_t)archive->count) ? TN_OK : TN_MEMORY;
}

bool tn__entry_bytes(tn_dtype dtype, const tn_shape *shape, uint64_t *bytes)
{
    uint64_t product = tn_dtype_size(dtype);
    bool empty = false;
    for (int i = 0; i < shape->ndim; i++) {
        const uint64_t extent = (uint64_t)shape->dim[i];
        if (extent == 0) {
            empty = true;
            continue;
        }
        if (product > (uint64_t)INT64_MAX / extent)
            return false;
        product *= extent;
    }
    *bytes = empty ? 0 : product;
    return true;
}

const char *tn__shown(const char *name, size_t length, char out[80])
{
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        if (n > 70) {
            while (n > 0 && ((unsigned char)name[n] & 0xC0) == 0x80)
                n--; /* not through a letter of several bytes */
            memcpy(out + n, "...", 4);
            return out;
        }
        const unsigned char c = (unsigned char)name[i];
        out[n++] = c < 0x20 || c == 0x7f ? '?' : (char)c;
    }
    out[n] = 0;
    return out;
}

tn_status tn__archive_fault(const tn_archive *archive, const char *kind, const char *name, const char *format, ...)
{
    char sentence[300], shown[80];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(sentence, sizeof sentence, format, list);
    va_end(list);
    return tn__fail(TN_FORMAT, "%s: %s \"%s\": %s", archive->path, kind, tn__shown(name, strlen(name), shown), sentence);
}

uint64_t tn__little(const unsigned char *bytes, int count)
{
    uint64_t value = 0;
    for (int i = 0; i < count; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

bool tn__machine_is_little(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one == 1;
}

/* ---- open ---- */

static tn_status unknown_kind(const tn_archive *archive, const unsigned char *head, size_t count)
{
    if (archive->size == 0)
        return tn__fail(TN_FORMAT, "%s: the file is empty", archive->path);
    for (size_t i = 0; i < sizeof foreigns / sizeof *foreigns; i++)
        if (count >= foreigns[i].count && memcmp(head, foreigns[i].bytes, foreigns[i].count) == 0)
            return tn__fail(TN_FORMAT, "%s: not a file of tensors that can be read: looks like %s", archive->path,
                            foreigns[i].text);
    char list[120] = "";
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        (void)snprintf(list + strlen(list), sizeof list - strlen(list), "%s.%s", i ? ", " : "", formats[i]->name);
    if (archive->size < 9)
        return tn__fail(TN_FORMAT, "%s: only %" PRIu64 " bytes, too short for any of %s (a truncated download?)",
                        archive->path, archive->size, list);
    return tn__fail(TN_FORMAT,
                    "%s: not a file of a known format (%s); read as .safetensors its header length would be %" PRIu64
                    ", the file has %" PRIu64 " bytes",
                    archive->path, list, tn__little(head, 8), archive->size);
}

static tn_status fill(tn_archive *archive, const tn__format *only)
{
    unsigned char head[TN__PROBE_BYTES] = {0};
    const size_t count = archive->size < sizeof head ? (size_t)archive->size : sizeof head;
    TN__TRY(tn__archive_read(archive, 0, head, count));
    if (tn__zip_probe(head, count))
        TN__TRY(tn__zip_open(archive, &archive->zip));
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if ((!only || only == formats[i]) && formats[i]->probe(archive, head, count))
            return formats[i]->open(archive);
    return only ? tn__fail(TN_FORMAT, "%s: not a .%s file", archive->path, only->name) : unknown_kind(archive, head, count);
}

static tn_status open_file(tn_archive *archive)
{
    errno = 0;
    archive->file = fopen(archive->path, "rb");
    if (!archive->file)
        return tn__fail(TN_FILE, "%s: cannot be opened: %s", archive->path, strerror(errno));
    /* Unbuffered: values go straight to their place, and nothing is kept of a file that changes. */
    (void)setvbuf(archive->file, NULL, _IONBF, 0);
    archive->size = size_of_file(archive->file);
    if (archive->size == UINT64_MAX)
        return tn__fail(TN_FILE, "%s: not a regular file: it has no size", archive->path);
    return TN_OK;
}

tn_archive *tn__archive_open(const char *path, const tn__format *only)
{
    tn_archive *archive = tn__zalloc(sizeof *archive);
    if (!archive)
        return NULL;
    tn__mutex_init(&archive->lock);
    archive->path = tn__strdup(path);
    archive->by_name = tn__map_new();
    if (!archive->path || !archive->by_name || open_file(archive) != TN_OK || fill(archive, only) != TN_OK) {
        tn_archive_close(archive);
        return NULL;
    }
    return archive;
}

tn_archive *tn_archive_open(const char *path)
{
    if (path)
        return tn__archive_open(path, NULL);
    (void)tn__fail_null("archive_open", "path");
    return NULL;
}

void tn_archive_close(tn_archive *archive)
{
    if (!archive)
        return;
    for (int i = 0; i < archive->count; i++)
        tn__free(archive->entry[i].name);
    tn__free(archive->entry);
    for (int i = 0; i < archive->shards; i++)
        tn_archive_close(archive->shard[i]);
    tn__free(archive->shard);
    tn__zip_close(archive->zip);
    if (archive->by_name)
        tn__map_free(archive->by_name);
    if (archive->file)
        (void)fclose(archive->file);
    tn__mutex_destroy(&archive->lock);
    tn__free(archive->path);
    tn__free(archive);
}

/* ---- look-up ---- */

int tn_archive_count(const tn_archive *archive)
{
    return archive ? archive->count : 0;
}

const char *tn_archive_name(const tn_archive *archive, int index)
{
    return archive && index >= 0 && index < archive->count ? archive->entry[index].name : NULL;
}

static tn_status find(const tn_archive *archive, const char *name, const char *function, const tn__entry **found)
{
    if (!archive)
        return tn__fail_null(function, "archive");
    if (!name)
        return tn__fail_null(function, "name");
    const uintptr_t place = (uintptr_t)tn__map_get(archive->by_name, name, strlen(name));
    if (place) {
        *found = &archive->entry[place - 1];
        return TN_OK;
    }
    char near[300], shown[80];
    tn__near_names(archive, name, near, sizeof near);
    return tn__fail(TN_ARGUMENT, "%s: no tensor \"%s\" among %d; %s", archive->path,
                    tn__shown(name, strlen(name), shown), archive->count, near);
}

tn_status tn_archive_info(const tn_archive *archive, const char *name, tn_dtype *dtype, tn_shape *shape)
{
    const tn__entry *entry = NULL;
    TN__TRY(find(archive, name, "archive_info", &entry));
    if (dtype)
        *dtype = entry->dtype;
    if (shape)
        *shape = entry->shape;
    return TN_OK;
}

/* ---- reading ---- */

void tn__swap_bytes(unsigned char *data, uint64_t bytes, size_t size)
{
    for (uint64_t at = 0; at + size <= bytes; at += size)
        for (size_t i = 0; i < size / 2; i++) {
            const unsigned char low = data[at + i];
            data[at + i] = data[at + size - 1 - i];
            data[at + size - 1 - i] = low;
        }
}

/* Values that are not row-major are a view of the bytes as they lie. */
static tn_tensor *tensor_of(const tn__entry *entry, const void *data, const char *device)
{
    if (entry->stride.ndim == 0)
        return tn_from(entry->dtype, entry->shape, data, device);
    const tn_shape flat = {.ndim = 1, .dim = {(int64_t)(entry->bytes / tn_dtype_size(entry->dtype))}};
    tn_tensor *stored = tn_from(entry->dtype, flat, data, device);
    tn_tensor *result = tn_as_strided(stored, entry->shape, entry->stride, 0);
    tn_release(stored);
    return result;
}

static tn_status read_values(tn_archive *archive, const tn__entry *entry, unsigned char *data)
{
    tn_archive *file = entry->shard ? entry->shard : archive;
    if (entry->member)
        TN__TRY(tn__zip_read(file, entry->member, entry->begin, data, entry->bytes, true));
    else
        TN__TRY(tn__archive_read(file, entry->begin, data, entry->bytes));
    if (entry->swapped)
        tn__swap_bytes(data, entry->bytes, tn_dtype_size(entry->dtype));
    return TN_OK;
}

tn_tensor *tn_archive_get(tn_archive *archive, const char *name, const char *device)
{
    const tn__entry *entry = NULL;
    if (find(archive, name, "archive_get", &entry) != TN_OK)
        return NULL;
    /* A wrong device is told before gigabytes are read. */
    if (device && !tn_device_resolve(device))
        return NULL;
    if (entry->bytes > SIZE_MAX)
        return TN__NULL(TN_OVERFLOW, "%s: %" PRIu64 " bytes do not fit this machine's memory", archive->path,
                        entry->bytes);
    unsigned char *data = tn__alloc((size_t)entry->bytes);
    if (!data)
        return NULL;
    tn_tensor *result = NULL;
    if (read_values(archive, entry, data) == TN_OK)
        result = tensor_of(entry, data, device);
    tn__free(data);
    if (!result && *name)
        tn__error_prefix(name);
    return result;
}

tn_tensor *tn_load(const char *path, const char *device)
{
    if (!path) {
        (void)tn__fail_null("load", "path");
        return NULL;
    }
    tn_archive *archive = tn_archive_open(path);
    if (!archive)
        return NULL;
    tn_tensor *result = NULL;
    if (archive->count == 1)
        result = tn_archive_get(archive, archive->entry[0].name, device);
    else
        (void)tn__fail(TN_ARGUMENT, "%s: holds %d tensors, not one: open it with tn_archive_open", path,
                       archive->count);
    tn_archive_close(archive);
    return result;
}
