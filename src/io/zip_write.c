/* Writing zip archives of stored members. What does not fit 32 bits (members, 16 bits) is written as zip64. */
#include "io/format.h"
#include <string.h>

/* ---- CRC-32, four bytes a step (Kounavis and Berry, "slicing-by-4", 2005) ---- */

static uint32_t table[4][256];

static void fill_table(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int bit = 0; bit < 8; bit++) c = c & 1 ? c >> 1 ^ UINT32_C(0xedb88320) : c >> 1;
        table[0][i] = c;
    }
    for (int k = 1; k < 4; k++)
        for (int i = 0; i < 256; i++) table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 0xff];
}

static void need_table(void)
{
    static tn__mutex lock = TN__MUTEX_INIT;
    static bool there = false;
    tn__lock(&lock);
    if (!there) fill_table();
    there = true;
    tn__unlock(&lock);
}

uint32_t tn__crc32(uint32_t crc, const void *bytes, size_t count)
{
    need_table();
    const unsigned char *p = bytes;
    crc = ~crc;
    for (; count >= 4; count -= 4, p += 4) {
        crc ^= (uint32_t)tn__little(p, 4);
        crc = table[3][crc & 0xff] ^ table[2][crc >> 8 & 0xff] ^ table[1][crc >> 16 & 0xff] ^ table[0][crc >> 24];
    }
    for (; count > 0; count--) crc = crc >> 8 ^ table[0][(crc ^ *p++) & 0xff];
    return ~crc;
}

/* ---- records ---- */

enum { VERSION = 20, VERSION_64 = 45, UTF8 = 1 << 11, DATE = 1 << 5 | 1 }; /* 1 January 1980, as NumPy has it */

static void put(tn__text *t, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) tn__text_put(t, &(char){(char)(unsigned char)(value >> (8 * i))}, 1);
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
    return value < most ? value : most;
}

/* What both headers of a member have, from the version that is needed to the lengths. */
static void put_member(tn__text *t, const char *name, uint64_t size, uint32_t crc, bool wide, int extra)
{
    put(t, wide ? VERSION_64 : VERSION, 2);
    put(t, UTF8, 2);
    put(t, 0, 2); /* stored */
    put(t, 0, 2);
    put(t, DATE, 2);
    put(t, crc, 4);
    put(t, at_most(size, UINT32_MAX), 4);
    put(t, at_most(size, UINT32_MAX), 4);
    put(t, strlen(name), 2);
    put(t, (uint64_t)extra, 2);
}

static tn_status flush(tn__zip_writer *z, tn__text *t)
{
    const tn_status status = t->failed ? TN_MEMORY : tn__zip_put(z, t->data, t->length);
    tn__text_free(t);
    return status;
}

tn_status tn__zip_begin(tn__zip_writer *z, const char *name, uint64_t size, uint32_t crc)
{
    const bool large = size >= UINT32_MAX, far = z->at >= UINT32_MAX;
    tn__text local = {0};
    tn__text_put(&local, "PK\3\4", 4);
    put_member(&local, name, size, crc, large, large ? 20 : 0);
    tn__text_puts(&local, name);
    const int extra = (large ? 16 : 0) + (far ? 8 : 0);
    tn__text *d = &z->directory;
    tn__text_put(d, "PK\1\2", 4);
    put(d, VERSION_64, 2);
    put_member(d, name, size, crc, large || far, extra ? 4 + extra : 0);
    put(d, 0, 6); /* no comment, the first disk, */
    put(d, 0, 4); /* no attributes */
    put(d, at_most(z->at, UINT32_MAX), 4);
    tn__text_puts(d, name);
    if (extra) {
        put(d, 1, 2);
        put(d, (uint64_t)extra, 2);
    }
    if (large) {
        put(&local, 1, 2);
        put(&local, 16, 2);
        for (int i = 0; i < 2; i++) {
            put(&local, size, 8);
            put(d, size, 8);
        }
    }
    if (far) put(d, z->at, 8);
    z->count++;
    return flush(z, &local);
}

tn_status tn__zip_put(tn__zip_writer *z, const void *bytes, size_t count)
{
    z->at += count;
    return tn__writer_put(z->file, bytes, count);
}

static tn_status put_end(tn__zip_writer *z)
{
    const uint64_t begin = z->at, size = z->directory.length, end = begin + size;
    tn__text *t = &z->directory;
    if (z->count >= UINT16_MAX || end >= UINT32_MAX) {
        tn__text_put(t, "PK\6\6", 4);
        put(t, 44, 8); /* bytes that follow */
        put(t, VERSION_64, 2);
        put(t, VERSION_64, 2);
        put(t, 0, 8); /* this disk is the first */
        put(t, z->count, 8);
        put(t, z->count, 8);
        put(t, size, 8);
        put(t, begin, 8);
        tn__text_put(t, "PK\6\7", 4);
        put(t, 0, 4);
        put(t, end, 8);
        put(t, 1, 4);
    }
    tn__text_put(t, "PK\5\6", 4);
    put(t, 0, 4);
    put(t, at_most(z->count, UINT16_MAX), 2);
    put(t, at_most(z->count, UINT16_MAX), 2);
    put(t, at_most(size, UINT32_MAX), 4);
    put(t, at_most(begin, UINT32_MAX), 4);
    put(t, 0, 2);
    return flush(z, t);
}

tn_status tn__zip_end(tn__zip_writer *z, tn_status status)
{
    if (status == TN_OK) status = put_end(z);
    tn__text_free(&z->directory);
    return status;
}
