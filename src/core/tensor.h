/* Handle -> storage -> value.
 *
 * A handle (tn_tensor) is a window on a storage; a storage points to its current value; a value is bytes, or the node that
 * will make them. Handles and views hold storages, storages and nodes hold values. What a node is, and what a device is, the
 * layers above know: core sees the few functions of tn__value_owner. */
#ifndef TN__TENSOR_H
#define TN__TENSOR_H

#include "core/dtype.h"
#include "core/shape.h"
#include <stdatomic.h>

typedef struct tn__value tn__value;
typedef struct tn__storage tn__storage;

struct tn__value {
    atomic_int references;
    struct tn__device *device;
    tn_dtype dtype;
    int64_t count;       /* dense elements */
    tn_shape shape;      /* and what they were made as, */
    const char *made_by; /* by what: a lasting text */
    /* Either bytes, at element `base` of buffer … */
    struct tn__buffer *buffer; /* NULL while pending, and for no elements */
    int64_t base;
    /* … or the node that will make them, as its result number `result`. Guarded by the device's graph lock. */
    struct tn__node *node;
    int result;
    int readers;      /* pending nodes that read it */
    int runs;         /* times a run computed it without storing it */
    bool assigned;    /* a parameter's or moment's new value: stored by the first run that computes it */
    tn_status failed; /* it can never be computed: the device was lost; see the device */
    void *derived;    /* other forms of the same bytes (packed weights), owned by the graph layer */
    tn__value *next;  /* worklist of the release */
    tn__value *older, *newer; /* all that are alive */
};

struct tn__storage {
    atomic_int references;
    tn__value *value;
    uint64_t version; /* counts writes */
    bool wrapped;     /* user's memory, or handed out: never gets fresh bytes */
};

struct tn_tensor {
    atomic_int references;
    tn__storage *storage;
    tn_dtype dtype;
    bool weak; /* tn_int, tn_float, tn_bool */
    int ndim;
    int64_t offset;
    int64_t numel;
    int64_t dim[TN_MAX_AXES], stride[TN_MAX_AXES];
    void *gradient; /* the autograd layer's */
    /* the scope it belongs to: a list of the thread's stack */
    struct tn__frame *frame;
    tn_tensor *older, *newer;
};

/* What core calls upwards; the device and graph layers fill it in before the first value exists. */
typedef struct tn__value_owner {
    void (*free_bytes)(tn__value *value); /* release value->buffer */
    /* Detaches the node of a dying pending value; pushes values the node held and that die with it onto *work. */
    void (*free_node)(tn__value *value, tn__value **work);
    void (*free_derived)(tn__value *value);
    const char *(*device_name)(const struct tn__device *device);
} tn__value_owner;
extern tn__value_owner tn__owner;

/* A value without bytes or node, one reference. made_by: a text that lasts, such as the operation's name. */
tn__value *tn__value_new(struct tn__device *device, tn_dtype dtype, const tn_shape *shape, const char *made_by);
tn__value *tn__value_retain(tn__value *value);
/* False when another thread has just given up the last reference: the value is not to be touched any more. */
bool tn__value_retain_living(tn__value *value);
void tn__value_release(tn__value *value);
/* Drops one reference; when it was the last, pushes the value onto *work instead of freeing it. */
void tn__value_drop(tn__value *value, tn__value **work);
/* Calls visit for all values that are alive, the newest first; it may not make or release any. */
void tn__values_each(void (*visit)(const tn__value *value, void *user), void *user);
/* A forked child goes on using values (once, at the library's start). */
void tn__values_over_fork(void);

/* A storage on value (takes over the reference), one reference. Frees the value on failure. */
tn__storage *tn__storage_new(tn__value *value);
void tn__storage_release(tn__storage *storage);
/* Replaces the current value (takes over the reference); counts the version. */
void tn__storage_set(tn__storage *storage, tn__value *value);

/* A handle on storage (retains it), in the thread's innermost scope. offset 0, row-major. */
tn_tensor *tn__tensor_new(tn__storage *storage, tn_dtype dtype, const tn_shape *shape);
/* A second handle with the same window, to be changed by the caller before anyone sees it. */
tn_tensor *tn__tensor_alias(tn_tensor *x);
/* Makes x a window on what y is one on; who holds x sees y's values from now on. */
void tn__tensor_replace(tn_tensor *x, tn_tensor *y);
/* Recomputes numel after dims changed. */
void tn__tensor_renumber(tn_tensor *x);
bool tn__tensor_contiguous(const tn_tensor *x);
/* The window covers every element of its storage exactly once. */
bool tn__tensor_covers(const tn_tensor *x);
/* Some element is seen twice through zero or overlapping strides. */
bool tn__tensor_overlaps(const tn_tensor *x);
static inline struct tn__device *tn__tensor_device(const tn_tensor *x)
{
    return x->storage->value->device;
}
static inline tn_shape tn__tensor_shape(const tn_tensor *x)
{
    return tn_shape_make(x->ndim, x->dim);
}
/* NULL or TN_NONE where a tensor belongs: the error, else OK. */
tn_status tn__tensor_check(const tn_tensor *x, const char *function, const char *argument);

#endif
