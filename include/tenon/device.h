/* Devices: which exist, what they can do, their memory.
 *
 * A name is "host" (plain memory, C loops), "gpu:N", "cpu:N" or "accel:N" (OpenCL devices of that type), or "auto": a real
 * GPU, else an OpenCL CPU, else "host". "gpu" means "gpu:0", likewise "cpu" and "accel". An explicit name never falls back. */
#ifndef TENON_DEVICE_H
#define TENON_DEVICE_H

#include <stdio.h>
#include <tenon/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tn_device_info {
    const char *name;           /* "gpu:0"; valid until tn_shutdown, like all texts here */
    const char *type;           /* "gpu", "cpu", "accel", "host" */
    const char *description;    /* the product: "NVIDIA H200" */
    const char *vendor;
    const char *platform;
    const char *driver;         /* driver version */
    const char *version;        /* OpenCL version of the device: "OpenCL 3.0 …" */
    const char *c_version;      /* OpenCL C version */
    const char *error;          /* why it cannot be used; NULL while it can, or was not tried yet */
    bool software;              /* a GPU-type device that is a software renderer */
    bool usable;                /* not known to be broken */
    bool fp16, fp64;            /* arithmetic in hardware; storage of f16 works everywhere */
    const char *profile;        /* "deep" or "wide" kernels; "" for host */
    int compute_units;
    size_t max_work_group;
    int vector_width;           /* native f32 lanes */
    uint64_t local_memory;      /* bytes of a work-group */
    uint64_t memory_total;      /* bytes */
    uint64_t memory_allocation; /* largest single allocation, bytes */
    uint64_t memory_limit;      /* what the library may hold; 0 = memory_total */
    uint64_t memory_in_use;     /* by tensors, bytes */
    uint64_t memory_cached;     /* held for reuse, bytes */
    uint64_t memory_peak;       /* highest in use so far, bytes */
    uint64_t launches;          /* kernels started so far */
    uint64_t programs_built;    /* compiled from source */
    uint64_t programs_loaded;   /* found in the disk cache */
    uint64_t bytes_written;     /* host to device */
    uint64_t bytes_read;        /* device to host */
} tn_device_info;

/** Number of devices of a type ("gpu", "cpu", "accel", "host"), or of all with NULL. Enumerates only. */
TN_API int tn_device_count(const char *type);
/** Canonical name of the index-th of all devices, "host" last; NULL beyond. Valid until tn_shutdown. */
TN_API const char *tn_device_name(int index);
/** Fills info for a device name.
 *  error  ARGUMENT (malformed name), DEVICE (absent) */
TN_API tn_status tn_device_query(const char *name, tn_device_info *info);
/** Runs a small kernel there and checks its result; what fails is also in tn_device_info.error from then on.
 *  error  ARGUMENT, DEVICE, COMPILE, LOST */
TN_API tn_status tn_device_probe(const char *name);
/** The canonical form: "gpu" -> "gpu:0", "auto" -> what it stands for. NULL with an error when malformed or absent. */
TN_API const char *tn_device_resolve(const char *name);
/** True when a GPU exists that is no software renderer. */
TN_API bool tn_gpu_is_available(void);
/** Why there are no OpenCL devices at all, in one sentence; "" when there are some. */
TN_API const char *tn_device_trouble(void);

/** Runs every pending operation of the device whose result is not an input of another, and waits.
 *  error  what a run can meet: MEMORY, COMPILE, LOST, AXIS (an index out of range on the device) */
TN_API tn_status tn_finish(const char *device);

/** Limits what the library holds on a device, in bytes; 0 removes the limit. */
TN_API tn_status tn_memory_set_limit(const char *device, uint64_t bytes);
/** Bounds the cache of freed memory; 0 turns the cache off. Default: an eighth of the memory. */
TN_API tn_status tn_memory_set_cache(const char *device, uint64_t bytes);
/** Gives cached memory back to the driver. */
TN_API tn_status tn_memory_empty_cache(const char *device);
/** memory_peak is counted anew, from what is in use now. */
TN_API tn_status tn_memory_reset_peak(const char *device);
/** Writes what holds memory there, the largest first: bytes, dtype, shape, and the operation that made it, a line each; then what
 *  the allocator holds. What is recorded and not computed has no bytes, and is only counted. device NULL: every device in use.
 *  error  ARGUMENT, DEVICE, FILE (cannot be written), MEMORY */
TN_API tn_status tn_memory_report(FILE *file, const char *device);

/** The thread's creation scope: until the matching pop, creation without a device (NULL) means this one.
 *  error  as tn_device_query; nothing is pushed then */
TN_API tn_status tn_device_push(const char *name);
/** error  ARGUMENT (nothing pushed) */
TN_API tn_status tn_device_pop(void);
/** What creation with NULL means in this thread now. */
TN_API const char *tn_device_current(void);

/** Allows the thread's operations to copy a "host" operand to the other operand's device by themselves (off by default).
 *  Returns the previous setting. */
TN_API bool tn_auto_move(bool on);
/** How many operands tn_auto_move has copied in this thread. */
TN_API uint64_t tn_auto_move_count(void);

#ifdef __cplusplus
}
#endif
#endif
