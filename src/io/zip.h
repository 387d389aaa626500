/* Zip archives, the container of NumPy's .npz and PyTorch's .pt (PKWARE's APPNOTE 6.3, zip64 too).
 *
 * The directory at the file's end is read and checked as a whole: nothing overlaps, nothing lies outside, and no member states
 * more bytes than its packed ones can hold. Members are stored, or deflated (RFC 1951), which zlib unpacks. */
#ifndef TN__ZIP_H
#define TN__ZIP_H

#include "base/platform.h"
#include "base/text.h"
#include <stdatomic.h>
#include <tenon/io.h>

typedef struct tn__zip_member {
    const char *name;
    uint64_t header;       /* where its header lies in the file */
    uint64_t begin;        /* where its packed bytes do */
    uint64_t packed, size; /* bytes in the file, and what they hold */
    uint32_t crc;
    bool deflated;
    atomic_bool checked; /* it was read whole, and its checksum is right */
} tn__zip_member;

typedef struct tn__zip {
    tn__zip_member *member; /* in the directory's order */
    int count;
    unsigned char *directory; /* the members' names are in there */
    struct tn__map *by_name;
} tn__zip;

/* ---- reading ---- */

bool tn__zip_probe(const unsigned char *head, size_t count);
/* error  FORMAT, naming the member; FILE, MEMORY. Closed by the archive, after a failure too. */
tn_status tn__zip_open(tn_archive *archive, tn__zip **zip);
void tn__zip_close(tn__zip *zip);                                   /* NULL allowed */
tn__zip_member *tn__zip_find(const tn__zip *zip, const char *name); /* NULL when absent */
/* Bytes of a member, a range that lies inside its size. check: the whole of it against its checksum, once.
 * error  FORMAT (damaged), FILE (no zlib), MEMORY */
tn_status tn__zip_read(tn_archive *archive, tn__zip_member *member, uint64_t offset, void *out, uint64_t bytes, bool check);

/* ---- writing (zip_write.c): stored members, one after the other ---- */

/* CRC-32 as in IEEE 802.3, going on from crc, at first 0. */
uint32_t tn__crc32(uint32_t crc, const void *bytes, size_t count);

typedef struct tn__zip_writer {
    struct tn__writer *file;
    tn__text directory;
    uint64_t at; /* bytes written */
    uint64_t count;
} tn__zip_writer;

/* Begins a member; its bytes, of which size and checksum are known, follow by tn__zip_put. */
tn_status tn__zip_begin(tn__zip_writer *z, const char *name, uint64_t size, uint32_t crc);
tn_status tn__zip_put(tn__zip_writer *z, const void *bytes, size_t count);
/* Writes the directory; frees z's memory in any case. Gives the first failure. */
tn_status tn__zip_end(tn__zip_writer *z, tn_status status);

#endif
