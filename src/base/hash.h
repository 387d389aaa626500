/* 64-bit and 128-bit hashes of bytes (FNV-1a with a finisher); stable over runs and machines. */
#ifndef TN__HASH_H
#define TN__HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t tn__hash(const void *bytes, size_t length, uint64_t seed);
typedef struct tn__hash128 {
    uint64_t lo, hi;
} tn__hash128;
tn__hash128 tn__hash_wide(const void *bytes, size_t length);

#endif
