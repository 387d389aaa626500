/* A small kernel whose result is known: a driver that is listed may still not be able to compile, or compute. */
#include <stdio.h>
#include <string.h>

#include "device/opencl/opencl.h"

enum { COUNT = 64 };

/* Deep: a vector per work-item. */
static const char deep_text[] = "__attribute__((reqd_work_group_size(1, 1, 1)))\n"
                                "__kernel void tn_probe(__global const float *a, __global const float *b, __global float *c)\n"
                                "{\n"
                                "    const size_t i = get_global_id(0);\n"
                                "    vstore%d(vload%d(i, a) + vload%d(i, b), i, c);\n"
                                "}\n";

/* Wide: the sum of a group, through local memory and barriers; every item of the group stores it beside its own. */
static const char wide_text[] = "__kernel void tn_probe(__global const float *a, __global const float *b, __global float *c,\n"
                                "                       __local float *part)\n"
                                "{\n"
                                "    const uint l = (uint)get_local_id(0);\n"
                                "    const size_t i = get_global_id(0);\n"
                                "    part[l] = b[i];\n"
                                "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                                "    for (uint half_size = (uint)get_local_size(0) / 2; half_size > 0; half_size /= 2) {\n"
                                "        const float more = l < half_size ? part[l + half_size] : 0.0f;\n"
                                "        barrier(CLK_LOCAL_MEM_FENCE);\n"
                                "        part[l] += more;\n"
                                "        barrier(CLK_LOCAL_MEM_FENCE);\n"
                                "    }\n"
                                "    c[i] = a[i] + part[0];\n"
                                "}\n";

/* Small integers, so that every order of adding gives the same. */
static float a_of(int i)
{
    return (float)(3 * i + 1);
}

static float b_of(int i)
{
    return (float)(COUNT - i);
}

static bool right(const tn__device *device, const float *c, size_t group)
{
    for (int i = 0; i < COUNT; i++) {
        float expected = a_of(i);
        const int first = device->profile == TN__DEEP ? i : i - i % (int)group;
        const int last = device->profile == TN__DEEP ? i : first + (int)group - 1;
        for (int k = first; k <= last; k++) expected += b_of(k);
        if (c[i] != expected) return false;
    }
    return true;
}

static tn_status run(tn__device *device, tn__kernel *kernel, tn__buffer buffers[3], float *c, size_t group)
{
    float a[COUNT], b[COUNT];
    tn__argument arguments[4] = {{.buffer = &buffers[0]},
                                 {.buffer = &buffers[1]},
                                 {.buffer = &buffers[2]},
                                 {.size = (uint32_t)(group * sizeof(float)), .local = true}};
    for (int i = 0; i < COUNT; i++) {
        a[i] = a_of(i);
        b[i] = b_of(i);
    }
    for (int i = 0; i < 3; i++) {
        if (tn__cl_allocate(device, sizeof a, &buffers[i].memory) != TN_OK)
            return tn__fail(TN_MEMORY, "%s: no memory for the probe", device->name);
        TN__TRY(tn__cl_write(device, buffers[i].memory, 0, i == 1 ? b : a, sizeof a));
    }
    const bool deep = device->profile == TN__DEEP;
    TN__TRY(tn__cl_launch(kernel, arguments, deep ? 3 : 4, deep ? (uint64_t)(COUNT / device->vector_width) : COUNT,
                          deep ? 1 : group));
    return tn__cl_read(device, buffers[2].memory, 0, c, COUNT * sizeof(float));
}

tn_status tn__cl_probe(tn__device *device)
{
    char text[1024];
    float c[COUNT] = {0};
    tn__buffer buffers[3];
    const int w = device->vector_width;
    memset(buffers, 0, sizeof buffers);
    snprintf(text, sizeof text, device->profile == TN__DEEP ? deep_text : wide_text, w, w, w);
    tn__kernel *kernel = tn__cl_kernel_get(device, text, strlen(text), "tn_probe");
    if (!kernel) return tn_last_status();
    size_t group = 1;
    while (group * 2 <= tn__cl_kernel_max_group(kernel) && group < 16) group *= 2;
    const tn_status status = run(device, kernel, buffers, c, group);
    for (int i = 0; i < 3; i++)
        if (buffers[i].memory) tn__cl_release(device, buffers[i].memory);
    if (status != TN_OK) return status;
    if (right(device, c, group)) return TN_OK;
    return tn__fail(TN_DEVICE, "%s (%s, %s) cannot be used: the probe kernel computes wrong values", device->name,
                    device->info.description, device->info.platform);
}
