/* What a file format provides, and what all of them share.
 *
 * A reader sees the file's size first and checks every length and offset against it before it allocates or reads: what it
 * allocates is bounded by a small multiple of the file. Errors name the file, the tensor and the numbers. */
#ifndef TN__FORMAT_H
#define TN__FORMAT_H

#include "base/error.h"
#include "base/map.h"
#include "base/platform.h"
#include "base/text.h"
#include "io/zip.h"
#include <tenon/io.h>

/* One tensor in a file. */
typedef struct tn__entry {
    char *name;
    tn_dtype dtype;
    tn_shape shape;  /* as the user sees it */
    tn_shape stride; /* in elements; without axes: row-major */
    uint64_t begin;  /* first byte in the file, or in the member */
    uint64_t bytes;  /* from there to the last value's end */
    bool swapped;    /* byte order is not this machine's */
    tn__zip_member *member; /* of the archive's zip; NULL: of the file */
    tn_archive *shard;      /* the file it lies in; NULL: this one */
} tn__entry;

struct tn_archive {
    char *path;
    FILE *file;
    tn__mutex lock; /* the file's position */
    uint64_t size;  /* of the file when it was opened */
    tn__zip *zip;   /* its members, when it is a zip */
    tn_archive **shard;
    int shards;
    tn__entry *entry;
    int count, capacity;
    tn__map *by_name; /* name -> place in entry, plus 1 */
};

#define TN__PROBE_BYTES 32

/* One per row of tables/formats.def. */
typedef struct tn__format {
    const char *name; /* as files end */
    /* Whether the file is of this format, from its first bytes (count may be small) and the zip's members. */
    bool (*probe)(const tn_archive *archive, const unsigned char *head, size_t count);
    /* Fills archive->entry; leaves it to the caller to free what is there after a failure. */
    tn_status (*open)(tn_archive *archive);
} tn__format;

/* Opens a file of any format, or of this one alone. */
tn_archive *tn__archive_open(const char *path, const tn__format *only);
/* Reads bytes at an offset, the whole range or a FILE error. */
tn_status tn__archive_read(tn_archive *archive, uint64_t offset, void *out, uint64_t bytes);
/* The same of a member, or of the file when member is NULL. */
tn_status tn__archive_read_part(tn_archive *archive, tn__zip_member *member, uint64_t offset, void *out, uint64_t bytes);
/* Adds an entry; the name is copied. error  FORMAT (a name that is there already), MEMORY */
tn_status tn__archive_add(tn_archive *archive, const char *name, const tn__entry *entry);
/* Multiplies extents and element size; false when that does not fit 63 bits. An extent of 0 makes it 0 only when the others
 * multiply without overflow, as everywhere in the library. */
bool tn__entry_bytes(tn_dtype dtype, const tn_shape *shape, uint64_t *bytes);
/* A FORMAT error about one thing in the file: "FILE: KIND "NAME": …". */
tn_status tn__archive_fault(const tn_archive *archive, const char *kind, const char *name, const char *format, ...) TN__PRINTF(4, 5);
/* Text for messages: at most as long as fits, with control characters and quotes made visible. Returns out. */
const char *tn__shown(const char *name, size_t length, char out[80]);

/* Little-endian numbers of the file. */
uint64_t tn__little(const unsigned char *bytes, int count);
bool tn__machine_is_little(void);
/* Turns each element of size bytes around. */
void tn__swap_bytes(unsigned char *data, uint64_t bytes, size_t size);

/* ---- writing (save.c): a file that takes its place when it is whole ---- */

typedef struct tn__writer {
    const char *path;
    tn__file_out *file;
} tn__writer;

/* Tensors that a function is to write under names: each there, no name NULL or given twice.
 * reserved: a name the format keeps for itself, or NULL */
tn_status tn__check_named(const char *function, const char *path, const char *const *names, tn_tensor *const *tensors, int count,
                          const char *reserved);
/* The values of x, row-major, little-endian: tn_nbytes(x) of them in a fresh block. NULL with an error. */
unsigned char *tn__values(tn_tensor *x);

tn_status tn__writer_open(tn__writer *w, const char *path);
tn_status tn__writer_put(tn__writer *w, const void *bytes, size_t length);
/* The values of x, row-major, little-endian. */
tn_status tn__writer_tensor(tn__writer *w, tn_tensor *x);
/* OK puts the file in its place, an error takes it away; gives the first failure. */
tn_status tn__writer_close(tn__writer *w, tn_status status);

#endif
