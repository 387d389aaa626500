/* One input for the file readers: whatever the bytes are, they are a tensor file or an error, never a fault. */
#ifndef FUZZ_IO_H
#define FUZZ_IO_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>
#include <unistd.h>

#define FUZZ_REQUIRE(condition)                                                                               \
    do {                                                                                                      \
        if (!(condition)) {                                                                                   \
            fprintf(stderr, "%s:%d: %s (last error: %s)\n", __FILE__, __LINE__, #condition, tn_last_error()); \
            abort();                                                                                          \
        }                                                                                                     \
    } while (0)

/* Bytes of values that a file of so many bytes may have: all its own, or those that deflate makes of them at best. */
static size_t fuzz_bound(const uint8_t *bytes, size_t size)
{
    return size > 0 && bytes[0] == 'P' ? 1032 * size : size;
}

/* Reads every tensor; what the file says must be what comes. Damage of a zip's member may show only now. Views, as PyTorch's files
 * have them, may be of any size. */
static void fuzz_read(tn_archive *archive, const uint8_t *bytes, size_t size)
{
    for (int i = 0; i < tn_archive_count(archive); i++) {
        tn_dtype dtype = TN_DTYPE_COUNT;
        tn_shape shape = {0};
        const char *name = tn_archive_name(archive, i);
        FUZZ_REQUIRE(name && tn_archive_info(archive, name, &dtype, &shape) == TN_OK);
        tn_tensor *x = tn_archive_get(archive, name, "host");
        if (!x) {
            FUZZ_REQUIRE(tn_last_status() == TN_FORMAT && bytes[0] == 'P');
            continue;
        }
        FUZZ_REQUIRE(tn_dtype_of(x) == dtype && tn_ndim(x) == shape.ndim);
        FUZZ_REQUIRE(!tn_is_contiguous(x) || tn_nbytes(x) <= fuzz_bound(bytes, size));
        if (tn_nbytes(x) > 1 << 20) {
            tn_release(x);
            continue;
        }
        void *values = malloc(tn_nbytes(x) + 1);
        FUZZ_REQUIRE(values && tn_read(x, values, tn_nbytes(x)) == TN_OK);
        free(values);
        tn_release(x);
    }
}

/* Tries one file, written over the one at path: cutting that off afterwards is far cheaper than making it anew. Returns the number of its tensors, -1 when it was refused. */
static int fuzz_file(const char *path, const uint8_t *bytes, size_t size)
{
    FILE *file = fopen(path, "r+b");
    FUZZ_REQUIRE(file && fwrite(bytes, 1, size, file) == size && ftruncate(fileno(file), (off_t)size) == 0 && fclose(file) == 0);
    tn_clear_error();
    tn_archive *archive = tn_archive_open(path);
    if (!archive) {
        const bool no_shard = tn_last_status() == TN_FILE && strstr(tn_last_error(), "cannot be opened");
        FUZZ_REQUIRE((tn_last_status() == TN_FORMAT || no_shard) && strstr(tn_last_error(), path));
        return -1;
    }
    fuzz_read(archive, bytes, size);
    const int count = tn_archive_count(archive);
    tn_archive_close(archive);
    return count;
}

#endif
