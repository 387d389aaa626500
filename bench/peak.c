#include "peak.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/device.h>

#include "driver.h"
#include "measure.h"

/* CHAINS accumulators that do not wait for one another, of LANES floats: enough for the latency of a multiply-add, and no more than the
 * registers of AVX2 hold. */
enum { CHAINS = 8, STEPS = 8192, STEPS_QUICK = 512, ITEMS_PER_UNIT = 64, HOST_LANES = 8, MOST_LANES = 16 };

static const char source[] = "#define STEP(i) x##i = mad(x##i, a, b);\n"
                             "kernel void peak(global float *out, float scale, float shift)\n"
                             "{\n"
                             "    const V a = scale, b = shift;\n"
                             "    V x0 = 0, x1 = 1, x2 = 2, x3 = 3, x4 = 4, x5 = 5, x6 = 6, x7 = 7;\n"
                             "    for (int i = 0; i < STEPS; i++) {\n"
                             "        STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7)\n"
                             "    }\n"
                             "    VSTORE(x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7, get_global_id(0), out);\n"
                             "}\n";

struct peak {
    driver on; /* with no queue: the host */
    driver_object program, kernel, out;
    size_t items;
    int lanes, steps;
};

static bool build(peak *p)
{
    char options[128];
    const char *text = source;
    const driver_calls *cl = &p->on.cl;
    int32_t code;
    (void)snprintf(options, sizeof options, "-DSTEPS=%d -DV=float%d -DVSTORE=vstore%d", p->steps, p->lanes, p->lanes);
    p->program = cl->create_program(p->on.context, 1, &text, NULL, &code);
    if (!p->program || cl->build(p->program, 1, &p->on.device, options, NULL, NULL) != DRIVER_SUCCESS) return false;
    p->kernel = cl->create_kernel(p->program, "peak", &code);
    p->out = cl->create_buffer(p->on.context, DRIVER_READ_WRITE, p->items * (size_t)p->lanes * sizeof(float), NULL, &code);
    const float scale = 0.5F, shift = 0.25F;
    return p->kernel && p->out && cl->set_argument(p->kernel, 0, sizeof p->out, &p->out) == DRIVER_SUCCESS &&
           cl->set_argument(p->kernel, 1, sizeof scale, &scale) == DRIVER_SUCCESS &&
           cl->set_argument(p->kernel, 2, sizeof shift, &shift) == DRIVER_SUCCESS;
}

peak *peak_open(const char *device, bool quick, const char **why)
{
    tn_device_info info;
    peak *p = calloc(1, sizeof *p);
    *why = "no memory";
    if (!p || tn_device_query(device, &info) != TN_OK) {
        free(p);
        return NULL;
    }
    p->lanes = info.vector_width >= MOST_LANES ? MOST_LANES : info.vector_width >= HOST_LANES ? HOST_LANES : 4;
    p->steps = quick ? STEPS_QUICK : STEPS;
    p->items = ITEMS_PER_UNIT * (size_t)(info.compute_units > 0 ? info.compute_units : 1);
    if (strcmp(device, "host") == 0) {
        p->lanes = HOST_LANES;
        return p;
    }
    if (driver_open(&p->on, device, why)) {
        *why = "the driver cannot build a kernel for it";
        if (build(p)) return p;
    }
    peak_close(p);
    return NULL;
}

/* What the kernel does, one item after the other. */
static bool on_host(const peak *p)
{
    volatile float scale = 0.5F, shift = 0.25F, out = 0;
    const float a = scale, b = shift;
    for (size_t item = 0; item < p->items; item++) {
        float x[CHAINS * HOST_LANES] = {0};
        for (int i = 0; i < p->steps; i++)
            for (int k = 0; k < CHAINS * HOST_LANES; k++) x[k] = x[k] * a + b;
        for (int k = 0; k < CHAINS * HOST_LANES; k++) out += x[k];
    }
    return out > 0;
}

static bool on_device(const peak *p)
{
    const driver *on = &p->on;
    return on->cl.launch(on->queue, p->kernel, 1, NULL, &p->items, NULL, 0, NULL, NULL) == DRIVER_SUCCESS &&
           on->cl.finish(on->queue) == DRIVER_SUCCESS;
}

bool peak_once(void *what, double *ms, uint64_t *launches)
{
    const peak *p = what;
    const double start = measure_now();
    const bool good = p->on.queue ? on_device(p) : on_host(p);
    *ms = measure_now() - start;
    *launches = 0;
    return good;
}

double peak_flops(const peak *p)
{
    return 2.0 * CHAINS * p->steps * p->lanes * (double)p->items;
}

void peak_close(peak *p)
{
    if (!p) return;
    if (p->out) p->on.cl.release_buffer(p->out);
    if (p->kernel) p->on.cl.release_kernel(p->kernel);
    if (p->program) p->on.cl.release_program(p->program);
    driver_close(&p->on);
    free(p);
}
