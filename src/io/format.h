/* What a file format provides, and what all of them share.
 *
 * A reader sees the file's size first and checks every length and offset against it before it allocates or reads: what it
 * allocates is bounded by a small multiple of the file. Errors name the file, the tensor and the numbers. */
#ifndef TN__FORMAT_H
#define TN__FORMAT_H

#include "base/error.h"
#include "base/map.h"
#include "base/platform.h"
#include <tenon/io.h>

/* One tensor in a file. */
typedef struct tn__entry {
    char *name;
    tn_dtype dtype;
    tn_shape shape; /* as the user sees it */
    uint64_t begin; /* first byte in the file */
    uint64_t bytes; /* of the values: elements times size */
    bool swapped;   /* byte order is not this machine's */
    bool columns;   /* column-major: the first axis is the fastest */
} tn__entry;

struct tn_archive {
    char *path;
    FILE *file;
    tn__mutex lock; /* the file's position */
    uint64_t size;  /* of the file when it was opened */
    tn__entry *entry;
    int count, capacity;
    tn__map *by_name; /* name -> place in entry, plus 1 */
};

#define TN__PROBE_BYTES 32

/* One per row of tables/formats.def. */
typedef struct tn__format {
    const char *name;
    /* Whether the file is of this format, from its first bytes (count may be small). */
    bool (*probe)(const unsigned char *head, size_t count);
    /* Fills archive->entry; leaves it to the caller to free what is there after a failure. */
    tn_status (*open)(tn_archive *archive);
} tn__format;

/* Reads bytes at an offset, the whole range or a FILE error. */
tn_status tn__archive_read(tn_archive *archive, uint64_t offset, void *out, uint64_t bytes);
/* Adds an entry; the name is copied. error  FORMAT (a name that is there already), MEMORY */
tn_status tn__archive_add(tn_archive *archive, const char *name, const tn__entry *entry);
/* Multiplies extents and element size; false when that does not fit 63 bits. An extent of 0 makes it 0 only when the others
 * multiply without overflow, as everywhere in the library. */
bool tn__entry_bytes(tn_dtype dtype, const tn_shape *shape, uint64_t *bytes);
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

tn_status tn__writer_open(tn__writer *w, const char *path);
tn_status tn__writer_put(tn__writer *w, const void *bytes, size_t length);
/* The values of x, row-major, little-endian. */
tn_status tn__writer_tensor(tn__writer *w, tn_tensor *x);
/* OK puts the file in its place, an error takes it away; gives the first failure. */
tn_status tn__writer_close(tn__writer *w, tn_status status);

#endif
