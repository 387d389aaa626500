/* Plain copies to compare with: by the OpenCL driver, and by memcpy in host memory. */
#ifndef TENON_BENCH_COPIES_H
#define TENON_BENCH_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* clEnqueueCopyBuffer on the device that Tenon calls so, in a context of its own. */
typedef struct driver_copy driver_copy;
/* NULL where that cannot be done, and why. source holds bytes bytes. */
driver_copy *driver_copy_open(const char *device, const void *source, size_t bytes, const char **why);
bool driver_copy_once(void *copy, double *ms, uint64_t *launches);
void driver_copy_close(driver_copy *copy);

/* memcpy, one thread. */
typedef struct host_copy {
    void *from, *to;
    size_t bytes;
} host_copy;
bool host_copy_open(host_copy *copy, size_t bytes);
bool host_copy_once(void *copy, double *ms, uint64_t *launches);
void host_copy_close(host_copy *copy);

#endif
