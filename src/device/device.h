/* Devices as the layers above see them: buffers, transfers, kernels, one in-order queue. */
#ifndef TN__DEVICE_H
#define TN__DEVICE_H

#include <stdatomic.h>
#include <tenon/device.h>

#include "base/error.h"
#include "base/name.h"
#include "base/platform.h"

typedef struct tn__device tn__device;
typedef struct tn__buffer tn__buffer;
typedef struct tn__kernel tn__kernel;

typedef enum tn__profile { TN__DEEP, TN__WIDE } tn__profile;

/* ---- buffers: counted references; the memory returns to the device's cache with the last one ---- */

struct tn__buffer {
    atomic_int references;
    tn__device *device;
    uint64_t bytes;    /* asked for */
    uint64_t capacity; /* size class */
    void *memory;      /* host: the address; OpenCL: cl_mem */
    bool wrapped;      /* the user's memory: never pooled, dropped with the last reference */
    void (*dropped)(void *memory, void *user); /* of wrapped memory; may be NULL */
    void *user;
    uint32_t generation;         /* the device's when made; another one now: the device was closed, memory is gone */
    tn__buffer *next, *previous; /* in the cache's class */
    tn__buffer *older, *newer;   /* in the cache: by time of release; else in the list of live buffers */
};

/* A fresh or cached buffer, contents undefined, one reference. bytes > 0.
 * error  MEMORY with requested, one allocation's limit, in use, cached, total; LOST; DEVICE (after fork) */
tn__buffer *tn__buffer_new(tn__device *device, uint64_t bytes);
/* The user's memory as a buffer, one reference; dropped is called when the last one goes (OpenCL: at tn_shutdown at the
 * latest). Not counted. */
tn__buffer *tn__buffer_wrap(tn__device *device, void *memory, uint64_t bytes, void (*dropped)(void *memory, void *user),
                            void *user);
tn__buffer *tn__buffer_retain(tn__buffer *buffer);
void tn__buffer_release(tn__buffer *buffer); /* NULL allowed */

/* OK, or the device's error, or LOST when the device was closed since the buffer was made. */
tn_status tn__buffer_check(const tn__buffer *buffer);
/* Blocking as far as the user's memory goes; behind what is queued. */
tn_status tn__buffer_write(tn__buffer *to, uint64_t offset, const void *from, uint64_t bytes);
tn_status tn__buffer_read(tn__buffer *from, uint64_t offset, void *to, uint64_t bytes);

/* ---- kernels ---- */

typedef struct tn__argument {
    tn__buffer *buffer; /* a global pointer; NULL: the bytes below by value */
    uint32_t size;      /* 4 or 8; with local set: bytes of local memory */
    bool local;
    union {
        int32_t i32;
        uint32_t u32;
        int64_t i64;
        uint64_t u64;
        float f32;
        double f64;
        uint8_t bytes[8];
    } value;
} tn__argument;

/* Text of a file of kernels/ (or of src/tables/): embedded, or read once from the folder of the setting kernel_dir. Lives until
 * tn_shutdown. error  FILE with the absolute path tried */
const char *tn__kernel_source(const char *file, size_t *length);
/* The kernel `name` of a program text: found in memory (by the text's hash), in the disk cache, else built. Belongs to the
 * device; valid until tn_shutdown. Thread-safe; two threads asking for the same text build it once.
 * error  COMPILE with log, device, driver, options, name and source line; LOST; DEVICE (after fork) */
tn__kernel *tn__kernel_get(tn__device *device, const char *text, size_t length, const char *name);
/* A text that tn__kernel_get will be asked for, and the name of a kernel in it. */
typedef struct tn__program_text {
    const char *text;
    size_t length;
    const char *name;
} tn__program_text;
/* Makes the programs of texts wanted soon, the missing ones together, which costs some drivers much less. What fails is left to
 * tn__kernel_get. */
void tn__kernels_prepare(tn__device *device, const tn__program_text *texts, int count);
/* The kernel will not be launched: the cache of programs need not wait for it. */
void tn__kernel_spare(tn__kernel *kernel);
/* Most items of a work-group this kernel can have here. */
size_t tn__kernel_max_group(tn__kernel *kernel);
/* Enqueues. local 0: the driver's choice. Set-argument and enqueue are one critical section.
 * error  MEMORY (CL -4, -5, -6; queue was finished first), LOST (any other: the device is lost from now on) */
tn_status tn__launch(tn__kernel *kernel, const tn__argument *arguments, int count, uint64_t global, uint64_t local);

/* ---- the device ---- */

typedef struct tn__backend tn__backend; /* backend.h */

/* A row of the CLASS table: what suits a vendor's devices. */
typedef struct tn__device_class {
    const char *name;
    uint32_t group; /* work-items of a group in elementwise kernels and reductions of the wide profile */
} tn__device_class;

enum { TN__SIZE_CLASSES = 320 };

/* Never freed: buffers and handles may outlive tn_shutdown. A later enumeration takes the struct again. */
struct tn__device {
    char name[24];
    tn__device_type type;
    int index;              /* place in the registry's order; host: 0 until devices were enumerated, then last */
    const tn__backend *backend;
    void *state;            /* the backend's */
    tn_device_info info;    /* texts owned by the registry; counters updated on query */
    bool is_host;
    tn__profile profile;    /* after open, TENON_PROFILE counted in */
    int vector_width;       /* f32 lanes per step of the deep profile: 4, 8 or 16 */
    int compute_units;
    uint64_t parameter_bytes; /* CL_DEVICE_MAX_PARAMETER_SIZE */
    uint64_t cache_bytes;   /* of the last cache before memory; 0: unknown */
    bool correct_divide;    /* division and sqrt are correctly rounded (build option used) */
    bool fast_fma;          /* fma in hardware; elsewhere a dot product multiplies and adds */
    const tn__device_class *class;
    atomic_int opened;      /* 0 not yet, 1 open, 2 failed (info.error) */
    tn_status open_code;    /* of the failure */
    tn__mutex open_lock;
    void *texts;            /* what info points to */
    tn__device *retired;    /* the registry's list of structs of closed devices */
    atomic_int lost;        /* set once by the first device error */
    tn_status lost_code;
    char lost_sentence[512];
    long process;           /* that enumerated it; another one (after fork) gets an error */
    uint32_t generation;    /* counts closes */
    /* memory.c */
    tn__mutex memory_lock;
    uint64_t in_use, cached, peak, limit, cache_bound;
    bool limit_given, bound_given; /* by a call: settings and defaults no longer count */
    tn__buffer *cache[TN__SIZE_CLASSES];
    tn__buffer *oldest, *newest; /* of the cache, by time of release */
    tn__buffer *live;            /* those in use */
    atomic_ullong launches, built, loaded, written, read;
    tn__mutex fault_lock;
    tn__buffer *faults;     /* the error word (fault.h), made at first use */
    atomic_bool fault_due;  /* a kernel that may have reported was enqueued since it was last looked at */
    atomic_int group_bound; /* smallest work-group limit a kernel was given so far; 0: none */
    /* graph */
    tn__mutex graph_lock;   /* recording, claims; never held while building or waiting */
    tn__mutex run_lock;     /* one run at a time */
    void *graph;            /* the graph layer's pending nodes */
};

/* Parses and finds a device; opens nothing. NULL name is not allowed.
 * error  ARGUMENT quoting a malformed name; DEVICE listing what exists and what to install */
tn__device *tn__device_find(const char *name);
/* The same, opened: fails with the device's trouble. "auto" falls to the next that opens. */
tn__device *tn__device_use(const char *name);
tn__device *tn__host(void);
/* The device that creation with this name means: NULL is the thread's creation scope, else host. Opened. */
tn__device *tn__device_for_creation(const char *name);
/* Whether the thread lets operations copy host operands, and one more such copy. */
bool tn__auto_move_allowed(void);
void tn__auto_move_counted(void);
/* All devices, host last. */
int tn__device_total(void);
tn__device *tn__device_at(int index);
/* OK, or the LOST / DEVICE error that every use of the device must give. */
tn_status tn__device_check(tn__device *device);
/* An OpenCL device in the child of the process that enumerated it. Asked before any of its locks is taken: a thread that the child
 * does not have may hold them. */
bool tn__device_foreign(const tn__device *device);
tn_status tn__device_finish(tn__device *device); /* waits for the queue only */

/* What the memory allocator may call under pressure: run what is pending (graph layer), set once; returns true when it freed
 * something. Not called inside a run, that is while the thread has paused it. */
void tn__set_pressure_hook(bool (*hook)(tn__device *device));
bool tn__pressure_pause(bool pause); /* the previous setting */
/* What it calls before anything else: give up what can be made again (graph layer), set once; true when there was something. */
void tn__set_spare_hook(bool (*hook)(tn__device *device));
/* Called by tn_shutdown for each device before it is closed (graph layer). */
void tn__set_close_hook(void (*hook)(tn__device *device));

#endif
