#include "base/hash.h"

/* Little-endian on every machine, so that hashes in files stay valid. */
static uint64_t word(const unsigned char *p, size_t n)
{
    uint64_t w = 0;
    for (size_t i = 0; i < n; i++) w |= (uint64_t)p[i] << (8 * i);
    return w;
}

static uint64_t finish(uint64_t h)
{
    h ^= h >> 33;
    h *= UINT64_C(0xff51afd7ed558ccd);
    h ^= h >> 33;
    h *= UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ h >> 33;
}

/* FNV-1a over words of eight bytes; the shift brings the high bits, where a product mixes best, down again. */
static uint64_t absorb(const unsigned char *p, size_t length, uint64_t h, uint64_t prime)
{
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        h = (h ^ word(p + i, 8)) * prime;
        h ^= h >> 32;
    }
    if (i < length) {
        h = (h ^ word(p + i, length - i)) * prime;
        h ^= h >> 32;
    }
    return finish(h ^ (uint64_t)length);
}

uint64_t tn__hash(const void *bytes, size_t length, uint64_t seed)
{
    return absorb(bytes, length, UINT64_C(0xcbf29ce484222325) ^ finish(seed), UINT64_C(0x9e3779b97f4a7c15));
}

tn__hash128 tn__hash_wide(const void *bytes, size_t length)
{
    const tn__hash128 h = {
        absorb(bytes, length, UINT64_C(0xcbf29ce484222325), UINT64_C(0x9e3779b97f4a7c15)),
        absorb(bytes, length, UINT64_C(0x6c62272e07bb0142), UINT64_C(0xd6e8feb86659fd93)),
    };
    return h;
}
