/* Differentiation, seen from below. An operation tells what it made of what (tn__recorded); who listens (autograd) keeps what the
 * way back needs. The way back is a function over public operations, which fuse and can be differentiated again. */
#ifndef TN__DERIVE_H
#define TN__DERIVE_H

#include "core/tensor.h"

/* What is known of an operand whose values were not saved. */
typedef struct tn__signature {
    tn_shape shape;
    tn_dtype dtype;
    struct tn__device *device;
    bool wanted; /* its gradient */
    bool turned; /* a matrix whose columns are further apart than its rows */
} tn__signature;

/* A step back: from the gradients of an operation's results to those of its operands. */
typedef struct tn__backward {
    const char *name; /* of the operation */
    int count, results;
    const tn__signature *operand;
    tn_tensor *const *in;   /* operands; NULL where the derivative does not save them */
    tn_tensor *const *out;  /* results, likewise */
    tn_tensor *const *up;   /* gradients of the results; NULL: nothing flows into this one */
    const void *attributes; /* those given to tn__recorded */
    tn_tensor **g;          /* to be set: gradients of the operands, of their shapes or broadcast ones; NULL: none flows */
    bool adds_up;           /* leaves take their gradients; else only those that were asked for are computed */
} tn__backward;

/* How an operation is differentiated. */
typedef struct tn__derivative {
    const char *name;                           /* of the operation */
    void (*gradient)(const tn__backward *back); /* in a scope of its own; a failure is the thread's pending error */
    int saves;                                  /* TN__SAVES_… */
    size_t attributes;                          /* bytes of them */
} tn__derivative;
/* Operand i is bit i. OTHERS: the gradient of an operand reads the other operands only, of which each is saved when some other
 * one's is wanted. */
enum {
    TN__SAVES_NONE = 0,
    TN__SAVES_FIRST = 1,
    TN__SAVES_SECOND = 2,
    TN__SAVES_IN = 0xff,
    TN__SAVES_OUT = 0x100,
    TN__SAVES_BOTH = 0x1ff,
    TN__SAVES_OTHERS = 0x2ff
};

/* Operands and results as the caller sees them; results that are NULL count for nothing. A later call for the same results replaces
 * what an earlier one told. On failure the results are not to be handed out: their gradients would be lost. */
tn_status tn__recorded_results(const tn__derivative *d, const void *attributes, tn_tensor *const *operands, int count,
                               tn_tensor *const *out, int results);
/* The same for one result, which it returns; on failure it releases it and gives NULL. */
tn_tensor *tn__recorded(const tn__derivative *d, const void *attributes, tn_tensor *const *operands, int count,
                        tn_tensor *out) TN_MUST_USE;

/* Before and after src is assigned to x: the first may refuse. */
tn_status tn__derive_assign(tn_tensor *x, tn_tensor *src);
tn_status tn__derive_assigned(tn_tensor *x, tn_tensor *src);
/* A dying handle's gradient slot. */
void tn__derive_free(void *slot);

/* While paused, this thread tells nothing: around what an operation is made of, when it has a derivative of its own. Nests. */
void tn__derive_pause(void);
void tn__derive_resume(void);
/* The user's switch, beside the pauses; tells what was. */
bool tn__derive_enable(bool enabled);
bool tn__derives(void);
/* May a gradient be asked of x? Then an operation keeps what its way back needs, though nobody asked for it. */
static inline bool tn__derives_from(const tn_tensor *x)
{
    return x->gradient && tn__derives();
}

typedef struct tn__listener {
    tn_status (*recorded)(const tn__derivative *d, const void *attributes, tn_tensor *const *operands, int count,
                          tn_tensor *const *out, int results);
    tn_status (*assign)(tn_tensor *x, tn_tensor *src);
    tn_status (*assigned)(tn_tensor *x, tn_tensor *src);
    void (*free_slot)(void *slot);
} tn__listener;
void tn__derive_listen(const tn__listener *listener);

/* ---- views (ops/gradients_views.c); identity: also copies, and what is expanded, summed by the runner ---- */

extern const tn__derivative tn__derive_identity, tn__derive_reshape, tn__derive_permute, tn__derive_slice, tn__derive_select,
    tn__derive_flip, tn__derive_diagonal, tn__derive_unfold, tn__derive_as_strided;

typedef struct tn__permute_attributes {
    int axis[TN_MAX_AXES]; /* axis i of the result is this one of x */
} tn__permute_attributes;
typedef struct tn__slice_attributes {
    int axis;
    int64_t first, count, step;
} tn__slice_attributes;
typedef struct tn__flip_attributes {
    uint32_t mask;
} tn__flip_attributes;
typedef struct tn__diagonal_attributes {
    int64_t offset;
    int axis1, axis2;
} tn__diagonal_attributes;
typedef struct tn__unfold_attributes {
    int axis;
    int64_t size, step;
} tn__unfold_attributes;
typedef struct tn__strided_attributes {
    tn_shape shape;
    int64_t stride[TN_MAX_AXES], offset;            /* over x's storage … */
    int64_t x_stride[TN_MAX_AXES], x_offset, count; /* … on which x lies like this; count: its elements */
} tn__strided_attributes;

/* A view of x: y, or NULL passed on. */
static inline tn_tensor *tn__viewed(const tn__derivative *d, const void *attributes, tn_tensor *x, tn_tensor *y)
{
    return tn__recorded(d, attributes, &x, 1, y);
}

#endif
