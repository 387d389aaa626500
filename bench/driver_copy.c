/* The driver's own copy, which the library's interface does not offer. */
#include "copies.h"

#include <stdlib.h>

#include "driver.h"
#include "measure.h"

struct driver_copy {
    driver on;
    driver_object from, to;
    size_t bytes;
};

/* Both buffers are written, so that their memory is there. */
static bool make(driver_copy *copy, const void *source)
{
    const driver_calls *cl = &copy->on.cl;
    const driver_object queue = copy->on.queue;
    int32_t code;
    copy->from = cl->create_buffer(copy->on.context, DRIVER_READ_WRITE, copy->bytes, NULL, &code);
    copy->to = copy->from ? cl->create_buffer(copy->on.context, DRIVER_READ_WRITE, copy->bytes, NULL, &code) : NULL;
    return copy->to && cl->write(queue, copy->from, 1, 0, copy->bytes, source, 0, NULL, NULL) == DRIVER_SUCCESS &&
           cl->write(queue, copy->to, 1, 0, copy->bytes, source, 0, NULL, NULL) == DRIVER_SUCCESS;
}

driver_copy *driver_copy_open(const char *device, const void *source, size_t bytes, const char **why)
{
    driver_copy *copy = calloc(1, sizeof *copy);
    *why = "no memory";
    if (copy && driver_open(&copy->on, device, why)) {
        copy->bytes = bytes;
        *why = "the driver gives no memory for it";
        if (make(copy, source)) return copy;
    }
    driver_copy_close(copy);
    return NULL;
}

bool driver_copy_once(void *what, double *ms, uint64_t *launches)
{
    driver_copy *copy = what;
    const driver *on = &copy->on;
    const double start = measure_now();
    const bool good = on->cl.copy(on->queue, copy->from, copy->to, 0, 0, copy->bytes, 0, NULL, NULL) == DRIVER_SUCCESS &&
                      on->cl.finish(on->queue) == DRIVER_SUCCESS;
    *ms = measure_now() - start;
    *launches = 0;
    return good;
}

void driver_copy_close(driver_copy *copy)
{
    if (!copy) return;
    if (copy->from) copy->on.cl.release_buffer(copy->from);
    if (copy->to) copy->on.cl.release_buffer(copy->to);
    driver_close(&copy->on);
    free(copy);
}
