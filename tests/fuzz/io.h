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

/* Reads every tensor; what the file says must be what comes. */
static void fuzz_read(tn_archive *archive, size_t size)
{
    for (int i = 0; i < tn_archive_count(archive); i++) {
        tn_dtype dtype = TN_DTYPE_COUNT;
        tn_shape shape = {0};
        const char *name = tn_archive_name(archive, i);
        FUZZ_REQUIRE(name && tn_archive_info(archive, name, &dtype, &shape) == TN_OK);
        tn_tensor *x = tn_archive_get(archive, name, "host");
        FUZZ_REQUIRE(x && tn_dtype_of(x) == dtype && tn_ndim(x) == shape.ndim && tn_nbytes(x) <= size);
        void *values = malloc(tn_nbytes(x) + 1);
        FUZZ_REQUIRE(values && tn_read(x, values, tn_nbytes(x)) == TN_OK);
        free(values);
        tn_release(x);
    }
}

/* Tries one file, written to path. Returns the number of its tensors, -1 when it was refused. */
static int fuzz_file(const char *path, const uint8_t *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    FUZZ_REQUIRE(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
    tn_clear_error();
    tn_archive *archive = tn_archive_open(path);
    if (!archive) {
        FUZZ_REQUIRE(tn_last_status() == TN_FORMAT && strstr(tn_last_error(), path));
        return -1;
    }
    fuzz_read(archive, size);
    const int count = tn_archive_count(archive);
    tn_archive_close(archive);
    return count;
}

#endif
