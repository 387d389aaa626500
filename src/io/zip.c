/* Reading zip archives: the directory, and the bytes of one member. */
#include "io/zip.h"
#include "base/alloc.h"
#include "io/format.h"
#include "io/inflate.h"
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Sizes of the records, without what varies. */
enum { LOCAL = 30, CENTRAL = 46, END = 22, LOCATOR = 20, END64 = 56, COMMENT_MOST = 65535 };

/* Deflate's best: 258 bytes by a code of 1 bit for the length and one of 1 bit for the distance. */
#define DEFLATE_BEST 1032

bool tn__zip_probe(const unsigned char *head, size_t count)
{
    return count >= 4 && (memcmp(head, "PK\3\4", 4) == 0 || memcmp(head, "PK\5\6", 4) == 0);
}

#define BAD(archive, name, ...) tn__archive_fault(archive, "member", name, __VA_ARGS__)

/* ---- the end record, which tells where the directory is ---- */

typedef struct end {
    uint64_t at; /* of the record itself */
    uint64_t count, size, offset;
} end;

/* With zip64, another record before the end record has the numbers in full. */
static tn_status find_end64(tn_archive *archive, end *e)
{
    unsigned char locator[LOCATOR], record[END64];
    if (e->at < LOCATOR) return TN_OK;
    TN__TRY(tn__archive_read(archive, e->at - LOCATOR, locator, LOCATOR));
    if (memcmp(locator, "PK\6\7", 4) != 0) return TN_OK;
    const uint64_t at = tn__little(locator + 8, 8), most = e->at - LOCATOR;
    if (most < END64 || at > most - END64)
        return tn__fail(TN_FORMAT, "%s: the zip64 end record at %" PRIu64 " is not before %" PRIu64, archive->path, at, most);
    TN__TRY(tn__archive_read(archive, at, record, END64));
    if (memcmp(record, "PK\6\6", 4) != 0) return tn__fail(TN_FORMAT, "%s: no zip64 end record at %" PRIu64, archive->path, at);
    *e = (end){at, tn__little(record + 32, 8), tn__little(record + 40, 8), tn__little(record + 48, 8)};
    return TN_OK;
}

/* The last record whose comment ends with the file. */
static tn_status find_end(tn_archive *archive, end *e)
{
    const size_t length = archive->size < END + COMMENT_MOST ? (size_t)archive->size : END + COMMENT_MOST;
    unsigned char *tail = tn__alloc(length);
    if (!tail) return TN_MEMORY;
    tn_status status = tn__archive_read(archive, archive->size - length, tail, length);
    size_t at = length < END ? 0 : length - END + 1;
    bool found = false;
    while (status == TN_OK && !found && at > 0) {
        at--;
        found = memcmp(tail + at, "PK\5\6", 4) == 0 && tn__little(tail + at + 20, 2) == length - at - END;
    }
    if (found)
        *e = (end){archive->size - length + at, tn__little(tail + at + 10, 2), tn__little(tail + at + 12, 4),
                   tn__little(tail + at + 16, 4)};
    tn__free(tail);
    TN__TRY(status);
    return found ? TN_OK
                 : tn__fail(TN_FORMAT, "%s: a zip archive of %" PRIu64 " bytes without its directory (a truncated download?)",
                            archive->path, archive->size);
}

static tn_status check_end(const tn_archive *archive, const end *e)
{
    if (e->offset > e->at || e->size > e->at - e->offset)
        return tn__fail(TN_FORMAT,
                        "%s: the zip directory of %" PRIu64 " bytes at %" PRIu64 " is not before its end record at %" PRIu64,
                        archive->path, e->size, e->offset, e->at);
    if (e->count > e->size / CENTRAL || e->count > INT_MAX)
        return tn__fail(TN_FORMAT, "%s: %" PRIu64 " members do not fit the zip directory's %" PRIu64 " bytes", archive->path,
                        e->count, e->size);
    return TN_OK;
}

/* ---- the directory ---- */

/* zip64's extra field has those numbers that did not fit 32 bits, in this order. */
static tn_status read_extra(const tn_archive *archive, tn__zip_member *m, const unsigned char *extra, size_t length)
{
    uint64_t *const wide[] = {&m->size, &m->packed, &m->header};
    size_t at = 0, field = 0;
    while (at + 4 <= length) {
        const size_t bytes = (size_t)tn__little(extra + at + 2, 2);
        if (bytes > length - at - 4)
            return BAD(archive, m->name, "an extra field of %zu bytes where %zu are left", bytes, length - at - 4);
        if (tn__little(extra + at, 2) == 1)
            for (size_t i = 0; i < 3; i++) {
                if (*wide[i] != UINT32_MAX) continue;
                if (field + 8 > bytes) return BAD(archive, m->name, "its zip64 field has %zu bytes, too few", bytes);
                *wide[i] = tn__little(extra + at + 4 + field, 8);
                field += 8;
            }
        at += 4 + bytes;
    }
    return TN_OK;
}

static tn_status check_member(const tn_archive *archive, const tn__zip_member *m, int flags, int method)
{
    if (flags & 0x2041) return BAD(archive, m->name, "it is encrypted");
    if (method != 0 && method != 8)
        return BAD(archive, m->name, "compression method %d is not read, only 0 (stored) and 8 (deflated)", method);
    if (!m->deflated && m->packed != m->size)
        return BAD(archive, m->name, "stored, with %" PRIu64 " bytes in the file for %" PRIu64, m->packed, m->size);
    if (m->size / DEFLATE_BEST > m->packed)
        return BAD(archive, m->name, "%" PRIu64 " packed bytes cannot hold %" PRIu64, m->packed, m->size);
    return TN_OK;
}

/* What stands before the member's bytes: the same name and method; sizes may be missing there. */
static tn_status check_local(tn_archive *archive, tn__zip_member *m, uint64_t bound)
{
    const size_t name = strlen(m->name), length = LOCAL + name;
    if (m->header > bound || bound - m->header < length)
        return BAD(archive, m->name, "its header at %" PRIu64 " is not before the directory at %" PRIu64, m->header, bound);
    unsigned char *local = tn__alloc(length);
    if (!local) return TN_MEMORY;
    tn_status status = tn__archive_read(archive, m->header, local, length);
    if (status == TN_OK && (memcmp(local, "PK\3\4", 4) != 0 || tn__little(local + 26, 2) != name ||
                            memcmp(local + LOCAL, m->name, name) != 0 || tn__little(local + 8, 2) != (m->deflated ? 8 : 0)))
        status = BAD(archive, m->name, "no header of its own at %" PRIu64, m->header);
    if (status == TN_OK) m->begin = m->header + length + tn__little(local + 28, 2);
    tn__free(local);
    TN__TRY(status);
    if (m->begin > bound || m->packed > bound - m->begin)
        return BAD(archive, m->name, "its %" PRIu64 " bytes from %" PRIu64 " are not before the directory at %" PRIu64, m->packed,
                   m->begin, bound);
    return TN_OK;
}

/* One record of the directory, *left bytes from its end. */
static tn_status read_member(tn_archive *archive, tn__zip *zip, unsigned char *record, uint64_t *left, uint64_t bound)
{
    const size_t name = *left < CENTRAL ? 0 : (size_t)tn__little(record + 28, 2);
    const size_t extra = *left < CENTRAL ? 0 : (size_t)tn__little(record + 30, 2);
    const size_t length = *left < CENTRAL ? CENTRAL : CENTRAL + name + extra + (size_t)tn__little(record + 32, 2);
    if (*left < length || memcmp(record, "PK\1\2", 4) != 0)
        return tn__fail(TN_FORMAT, "%s: member %d of the zip directory is damaged", archive->path, zip->count);
    *left -= length;
    tn__zip_member *m = &zip->member[zip->count];
    const int flags = (int)tn__little(record + 8, 2), method = (int)tn__little(record + 10, 2);
    m->crc = (uint32_t)tn__little(record + 16, 4);
    m->packed = tn__little(record + 20, 4);
    m->size = tn__little(record + 24, 4);
    m->header = tn__little(record + 42, 4);
    m->deflated = method == 8;
    /* A byte to the left of its place, where it can be terminated. */
    char *text = memmove(record + CENTRAL - 1, record + CENTRAL, name);
    text[name] = '\0';
    m->name = text;
    if (strlen(text) != name) return BAD(archive, text, "its name of %zu bytes holds a NUL", name);
    TN__TRY(read_extra(archive, m, record + CENTRAL + name, extra));
    TN__TRY(check_member(archive, m, flags, method));
    TN__TRY(check_local(archive, m, bound));
    if (tn__map_get(zip->by_name, text, name)) return BAD(archive, text, "it is there twice");
    zip->count++;
    return tn__map_put(zip->by_name, text, name, m) ? TN_OK : TN_MEMORY;
}

static int by_place(const void *a, const void *b)
{
    const tn__zip_member *x = *(const tn__zip_member *const *)a, *y = *(const tn__zip_member *const *)b;
    return x->header < y->header ? -1 : x->header > y->header;
}

/* Members that share bytes are how a small file unpacks to a huge one (Fifield, "A better zip bomb", 2019). */
static tn_status check_overlaps(const tn_archive *archive, const tn__zip *zip)
{
    const size_t count = (size_t)zip->count;
    const tn__zip_member **sorted = tn__alloc(count * sizeof *sorted);
    if (!sorted) return TN_MEMORY;
    for (size_t i = 0; i < count; i++) sorted[i] = &zip->member[i];
    qsort(sorted, count, sizeof *sorted, by_place);
    tn_status status = TN_OK;
    for (size_t i = 1; i < count && status == TN_OK; i++) {
        char shown[80];
        const tn__zip_member *before = sorted[i - 1];
        if (sorted[i]->header < before->begin + before->packed)
            status = BAD(archive, sorted[i]->name, "its header at %" PRIu64 " overlaps \"%s\", which ends at %" PRIu64,
                         sorted[i]->header, tn__shown(before->name, strlen(before->name), shown), before->begin + before->packed);
    }
    tn__free(sorted);
    return status;
}

static tn_status read_directory(tn_archive *archive, tn__zip *zip, const end *e)
{
    zip->directory = tn__alloc((size_t)e->size);
    zip->member = tn__zalloc((size_t)e->count * sizeof *zip->member);
    zip->by_name = tn__map_new();
    if (!zip->directory || !zip->member || !zip->by_name) return TN_MEMORY;
    TN__TRY(tn__archive_read(archive, e->offset, zip->directory, e->size));
    for (uint64_t i = 0, left = e->size; i < e->count; i++)
        TN__TRY(read_member(archive, zip, zip->directory + (e->size - left), &left, e->offset));
    return check_overlaps(archive, zip);
}

tn_status tn__zip_open(tn_archive *archive, tn__zip **zip)
{
    end e = {0};
    TN__TRY(find_end(archive, &e));
    TN__TRY(find_end64(archive, &e));
    TN__TRY(check_end(archive, &e));
    *zip = tn__zalloc(sizeof **zip);
    return *zip ? read_directory(archive, *zip, &e) : TN_MEMORY;
}

void tn__zip_close(tn__zip *zip)
{
    if (!zip) return;
    if (zip->by_name) tn__map_free(zip->by_name);
    tn__free(zip->member);
    tn__free(zip->directory);
    tn__free(zip);
}

tn__zip_member *tn__zip_find(const tn__zip *zip, const char *name)
{
    return tn__map_get(zip->by_name, name, strlen(name));
}

/* ---- the bytes of a member ---- */

typedef struct reader {
    tn_archive *archive;
    const tn__zip_member *member;
    tn__inflater *inflater; /* NULL: stored */
    uint64_t at;
    uint32_t crc;
} reader;

/* The next bytes of the member; out NULL: only for the checksum. */
static tn_status pull(reader *r, unsigned char *out, uint64_t bytes)
{
    unsigned char unused[1 << 14];
    while (bytes > 0) {
        const size_t most = out ? (size_t)1 << 30 : sizeof unused, n = bytes < most ? (size_t)bytes : most;
        unsigned char *to = out ? out : unused;
        if (r->inflater)
            TN__TRY(tn__inflate(r->inflater, to, n));
        else
            TN__TRY(tn__archive_read(r->archive, r->member->begin + r->at, to, n));
        r->crc = tn__crc32(r->crc, to, n);
        r->at += n;
        bytes -= n;
        out = out ? out + n : NULL;
    }
    return TN_OK;
}

static tn_status pull_rest(reader *r)
{
    const tn__zip_member *m = r->member;
    TN__TRY(pull(r, NULL, m->size - r->at));
    if (r->inflater) TN__TRY(tn__inflate_end(r->inflater));
    if (r->crc != m->crc)
        return BAD(r->archive, m->name, "its checksum is %08" PRIx32 ", not the %08" PRIx32 " of the directory", r->crc, m->crc);
    return TN_OK;
}

tn_status tn__zip_read(tn_archive *archive, tn__zip_member *m, uint64_t offset, void *out, uint64_t bytes, bool check)
{
    check = check && !m->checked;
    if (!m->deflated && !check) return tn__archive_read(archive, m->begin + offset, out, bytes);
    reader r = {.archive = archive, .member = m};
    if (m->deflated) TN__TRY(tn__inflate_open(archive, m, &r.inflater));
    tn_status status = pull(&r, NULL, offset);
    if (status == TN_OK) status = pull(&r, out, bytes);
    if (status == TN_OK && check) status = pull_rest(&r);
    if (status == TN_OK && check) m->checked = true;
    tn__inflate_close(r.inflater);
    return status;
}
