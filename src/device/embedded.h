/* The texts of kernels/ and src/tables/, built into the library (cmake/embed.cmake generates them). */
#ifndef TN__DEVICE_EMBEDDED_H
#define TN__DEVICE_EMBEDDED_H

#include <stddef.h>

typedef struct tn__embedded {
    const char *name; /* file name without folder: "elementwise.cl" */
    const char *text; /* ends with a zero byte that size does not count */
    size_t size;
} tn__embedded;

extern const tn__embedded tn__embedded_files[]; /* sorted by folder, then name; one more entry, all zero, at the end */
extern const int tn__embedded_count;

#endif
