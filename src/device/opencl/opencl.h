/* What the files of this folder share. */
#ifndef TN__OPENCL_H
#define TN__OPENCL_H

#include "base/hash.h"
#include "base/map.h"
#include "base/text.h"
#include "device/backend.h"
#include "device/opencl/cl.h"

/* The loader's entry points; NULL where it has none. */
typedef struct tn__cl {
#define FUNCTION(result, name, parameters) result(CL_API_CALL *name) parameters;
#include "device/opencl/functions.def"
#undef FUNCTION
    const char *missing; /* the first one that is not there; NULL when all are */
} tn__cl;

typedef struct tn__cl_program tn__cl_program;

/* device->state. */
typedef struct tn__cl_device {
    const tn__cl *cl;
    cl_platform_id platform;
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
    tn__profile own_profile;
    size_t max_items;  /* of a work-group's first dimension */
    const char *unfit; /* why it cannot be opened at all, found while enumerating; NULL */
    const char *platform_version;
    const char *options; /* of every build */
    /* kernels/declarations.cl replaces the compiler's own header where this macro says that it was read already; NULL: nowhere */
    const char *own_header;
    atomic_uint undeclared; /* programs that needed that header all the same */
    atomic_uint unflushed;  /* launches */
    _Atomic(const char *) last_kernel;
    tn__mutex programs_lock;
    tn__map *units; /* by hash of the text */
    tn__cl_program *programs;
} tn__cl_device;

/* Tells texts apart. */
typedef struct tn__cl_id {
    tn__hash128 hash;
    size_t length;
} tn__cl_id;

/* Of one text, or of several joined. */
struct tn__cl_program {
    cl_program program;
    tn__cl_id id;
    bool joined, in_use;
    struct tn__cl_unit *units; /* when it was built here */
    atomic_int awaited;        /* kernels, or units without any, that were not launched yet */
    atomic_bool save;          /* its binary goes to the disk cache after that */
    tn__file_lock *claim;      /* until then other processes wait for it rather than build it, too */
    tn__cl_program *next;
};

/* A text, and the program that holds it. */
typedef struct tn__cl_unit {
    tn__cl_id id;
    tn__cl_program *program;
    struct tn__cl_kernel *kernels;
    struct tn__cl_unit *sibling; /* in the same program */
} tn__cl_unit;

enum { TN__CL_SUFFIX = 18 }; /* bytes of what tells the names of joined texts apart */

typedef struct tn__cl_kernel {
    tn__kernel base;
    tn__cl_program *program;
    cl_kernel kernel;
    size_t max_group;
    atomic_bool launched;
    tn__mutex lock; /* from the first set argument to the enqueue */
    struct tn__cl_kernel *next;
    char name[];
} tn__cl_kernel;

/* loader.c: the entry points, or NULL and why; *off when that is by wish, or for good. What was opened stays open. */
const tn__cl *tn__cl_load(tn__text *trouble, bool *off);
/* True when this process was forked from one that had already called OpenCL. */
bool tn__cl_forked(void);

/* errors.c */
const char *tn__cl_error_name(cl_int code);
bool tn__cl_is_memory(cl_int code);
/* The status for what a call on the queue gave: lack of memory finishes the queue first, anything else loses the device. */
tn_status tn__cl_queue_error(tn__device *device, const char *call, cl_int code);

/* memory.c */
tn_status tn__cl_allocate(tn__device *device, uint64_t bytes, void **memory);
void tn__cl_release(tn__device *device, void *memory);
tn_status tn__cl_write(tn__device *device, void *to, uint64_t offset, const void *from, uint64_t bytes);
tn_status tn__cl_read(tn__device *device, void *from, uint64_t offset, void *to, uint64_t bytes);
tn_status tn__cl_finish(tn__device *device);

/* program.c */
tn__kernel *tn__cl_kernel_get(tn__device *device, const char *text, size_t length, const char *name);
void tn__cl_kernels_prepare(tn__device *device, const tn__program_text *texts, int count);
void tn__cl_programs_free(tn__device *device, bool usable);
/* join.c: appends a text whose file-scope names end in suffix, and whose macros end with it. False when it cannot be done. */
bool tn__cl_join(tn__text *program, const char *text, size_t length, const char *suffix);
/* build.c: from source; NULL with a COMPILE error. */
cl_program tn__cl_build(tn__device *device, const char *text, size_t length, const char *name);
/* binary.c: the disk cache. NULL when it has none that fits; then *joined is the program that holds the text, if one does. */
cl_program tn__cl_binary_load(tn__device *device, tn__cl_id id, tn__cl_id *joined);
void tn__cl_binary_save(tn__device *device, const tn__cl_program *program);
/* The claim to build a program, as tn__file_lock_take; NULL as well where there is no disk cache. */
tn__file_lock *tn__cl_binary_claim(tn__device *device, tn__cl_id id, bool *waited, bool *busy);

/* launch.c */
size_t tn__cl_kernel_max_group(tn__kernel *kernel);
void tn__cl_kernel_spare(tn__kernel *kernel);
tn_status tn__cl_launch(tn__kernel *kernel, const tn__argument *arguments, int count, uint64_t global, uint64_t local);

/* probe.c */
tn_status tn__cl_probe(tn__device *device);

#endif
