/* The OpenCL driver itself, beside the library: for what the library's interface does not offer. Found at run time, as Tenon finds it;
 * the few types and values are OpenCL's. */
#ifndef TENON_BENCH_DRIVER_H
#define TENON_BENCH_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef CL_API_CALL
#define CL_API_CALL
#endif

typedef struct cl_object *driver_object;

enum { DRIVER_SUCCESS = 0, DRIVER_READ_WRITE = 1 };

typedef struct driver_calls {
    int32_t(CL_API_CALL *get_platforms)(uint32_t, driver_object *, uint32_t *);
    int32_t(CL_API_CALL *platform_info)(driver_object, uint32_t, size_t, void *, size_t *);
    int32_t(CL_API_CALL *get_devices)(driver_object, uint64_t, uint32_t, driver_object *, uint32_t *);
    int32_t(CL_API_CALL *device_info)(driver_object, uint32_t, size_t, void *, size_t *);
    driver_object(CL_API_CALL *create_context)(const intptr_t *, uint32_t, const driver_object *, void *, void *, int32_t *);
    driver_object(CL_API_CALL *create_queue)(driver_object, driver_object, uint64_t, int32_t *);
    driver_object(CL_API_CALL *create_buffer)(driver_object, uint64_t, size_t, void *, int32_t *);
    driver_object(CL_API_CALL *create_program)(driver_object, uint32_t, const char **, const size_t *, int32_t *);
    int32_t(CL_API_CALL *build)(driver_object, uint32_t, const driver_object *, const char *, void *, void *);
    driver_object(CL_API_CALL *create_kernel)(driver_object, const char *, int32_t *);
    int32_t(CL_API_CALL *set_argument)(driver_object, uint32_t, size_t, const void *);
    int32_t(CL_API_CALL *launch)(driver_object, driver_object, uint32_t, const size_t *, const size_t *, const size_t *, uint32_t,
                                 void *, void *);
    int32_t(CL_API_CALL *write)(driver_object, driver_object, uint32_t, size_t, size_t, const void *, uint32_t, void *, void *);
    int32_t(CL_API_CALL *copy)(driver_object, driver_object, driver_object, size_t, size_t, size_t, uint32_t, void *, void *);
    int32_t(CL_API_CALL *finish)(driver_object);
    int32_t(CL_API_CALL *release_kernel)(driver_object);
    int32_t(CL_API_CALL *release_program)(driver_object);
    int32_t(CL_API_CALL *release_buffer)(driver_object);
    int32_t(CL_API_CALL *release_queue)(driver_object);
    int32_t(CL_API_CALL *release_context)(driver_object);
} driver_calls;

typedef struct driver {
    driver_calls cl;
    driver_object device, context, queue;
} driver;

/* The device that Tenon calls so, in a context of its own. False where that cannot be done, and why. */
bool driver_open(driver *d, const char *device, const char **why);
void driver_close(driver *d);

#endif
