/* What is recorded: nodes that make values.
 *
 * A node iterates over a domain: first `kept` axes, the result's in memory order (outermost first), then `rank - kept` more
 * that the operation consumes (reduced axes, the k of a matmul). Each operand is a window over that domain: the place of
 * the element it contributes at each point. Elementwise nodes have rank == kept. */
#ifndef TN__NODE_H
#define TN__NODE_H

#include "core/derive.h"
#include "device/device.h"

#define TN__MAX_RESULTS 2
#define TN__NODE_OPERATIONS 64 /* most operations of a kernel */
#define TN__NODES_PENDING 4096 /* of a device */

typedef struct tn__node tn__node;

typedef struct tn__operand {
    tn__value *value;  /* NULL: number, the same everywhere */
    tn__number number; /* in the compute type */
    tn_dtype dtype;    /* of value */
    int64_t offset;
    int64_t stride[TN_MAX_AXES + 1];
} tn__operand;

/* One elementwise row (tables/elementwise.def). */
typedef struct tn__row {
    const char *name;
    int arity;
    int inputs;                         /* TN__PROMOTE … */
    int result;                         /* TN__SAME, TN__TO_BOOL */
    const char *text[3];                /* float, integer, bool; NULL where not allowed */
    tn__derivative derivative;
    double low, high;                   /* test range */
    double ulp;                         /* 0: exact */
    bool step;                          /* not continuous */
} tn__row;
enum { TN__PROMOTE, TN__REAL, TN__CHOOSE };
enum { TN__SAME, TN__TO_BOOL };
enum { TN__ROW_NONE = -1,
#define EW(name, ...) TN__ROW_##name,
#include "tables/elementwise.def"
#undef EW
       TN__ROWS };
extern const tn__row tn__rows[TN__ROWS];

/* What is found in a table by a key, operand 0. Operand 1 is the table's window without the axis that is looked along.
 *   GATHER        the element at an index; negative ones count from the end
 *   PLACE         that index itself, counted from the front; no table
 *   SEARCH_LEFT   i64: where the key would go in a sorted table, before equal elements; NaN sorts last
 *   SEARCH_RIGHT  behind equal ones
 *   FOLD          elements key to operand 2 (not included) combined by a row; 0 when there are none. Behind its `count` elements
 *                 the table has those of the levels: FOLD_BASE elements of the level before combined, as long as there are so many */
typedef enum tn__lookup_form { TN__GATHER, TN__PLACE, TN__SEARCH_LEFT, TN__SEARCH_RIGHT, TN__FOLD } tn__lookup_form;
enum { TN__FOLD_BASE = 32 };
typedef struct tn__lookup {
    tn__lookup_form form;
    int64_t count, step; /* elements along that axis, and from one to the next */
    int fault;           /* GATHER, PLACE: the report of an index out of range (device/fault.h); below 0: one below 0 is, too */
    int row;             /* FOLD */
} tn__lookup;

typedef struct tn__phase_list tn__phase_list;
struct tn__plan;

/* A kind of operation: what the graph and the layers above must know of it. */
typedef struct tn__op {
    const char *name;
    bool fusable;    /* elementwise: any number of these share a kernel */
    /* The reference: computes the results of a node on host operands. out[i] is result i's memory, NULL where unwanted. */
    tn_status (*host)(const tn__node *node, void *const *out);
    /* Structured operations. arrange refines the plan's domain (groups, order of axes); generate writes the program and
     * chooses its shape; launch enqueues. NULL for fusable ones. */
    void (*reordered)(tn__node *node, const int *order); /* kept axis k is now what axis order[k] was */
    void (*arrange)(struct tn__plan *plan);
    void (*take_forms)(struct tn__plan *plan); /* looks for operands' forms (forms.h) that it can use; NULL: uses none */
    tn_status (*generate)(struct tn__plan *plan);
    tn_status (*launch)(struct tn__plan *plan);
    /* The compiler refuses the plan's kernel: true when generate would now make another one (it had parameters of a tuning file).
     * NULL: there is only one. */
    bool (*concede)(const struct tn__plan *plan);
    /* May operand i be a whole pending expression (true), or only casts and a scalar scale (false)? NULL: any may. */
    bool (*open)(const tn__node *node, int operand);
    /* May the result take a pending expression of its shape? */
    bool stores_expression;
    tn__derivative derivative;
    double (*cost)(const tn__node *node); /* floating-point operations */
} tn__op;

struct tn__node {
    const tn__op *op;
    const tn__row *row;        /* of elementwise nodes */
    tn_dtype dtype;            /* computed in, rounded to */
    int rank, kept;
    int64_t dim[TN_MAX_AXES + 1];
    int inputs, results;
    tn__value *out[TN__MAX_RESULTS]; /* not counted: a value detaches itself when it dies; NULL: gone, or never wanted */
    union {
        struct { const struct tn__reduction *row; } reduce;
        struct { /* axis: place in the domain */
            int axis;
            const tn__phase_list *list;
            const struct tn__scan *scan;
            bool descending;
        } along;
        struct { int form, fault; } blocked; /* fault: the report of a pivot that fails */
        tn__lookup lookup;
        struct { uint32_t seed[2]; uint64_t position; int form; int64_t low; uint64_t span; } random;
    } a;
    /* graph bookkeeping, under the device's graph lock */
    tn__node *older, *newer;   /* pending nodes of the device */
    uint64_t visit;            /* of the last walk that saw it */
    int uses;                  /* in this walk: nodes of the run that read a result */
    struct tn__node *home;     /* in this walk: the node whose kernel it goes into … */
    bool shared;               /* … or several */
    int64_t reads;             /* in this walk: bytes its expression reads, */
    bool dear;                 /* and whether a pending structured result is computed on the way */
    bool newly_read;           /* in this walk: by something that no run has computed yet */
    bool store;                /* in this walk: its result is to be stored */
    bool planned;              /* in this walk: a kernel that stores it is planned, */
    bool awaited;              /* in this walk: another kernel reads what its kernel stores */
    int level;                 /* after this many others */
    int64_t weight;            /* operations of the expression it ends, itself counted */
    uint64_t bytes;            /* of the operands it keeps from being freed */
    tn__operand in[];
};

/* Extents of a node's results, and their number of elements. */
int64_t tn__node_count(const tn__node *node);

/* ---- recording (record.c) ---- */

/* A node with room for inputs; kept axes are the result's logical shape for now. NULL with an error. */
tn__node *tn__node_new(const tn__op *op, int inputs);
/* Sets operand i to x with these strides over the node's domain. */
void tn__node_operand(tn__node *node, int i, tn_tensor *x, const int64_t *stride);
void tn__node_free(tn__node *node);
/* Chooses the result layout (the axis order of the first operand of full shape without zero strides; row-major when
 * `fixed`), turns the node's axes into memory order, records the node or runs it (host), and gives handles on its results,
 * which share the layout: *out[r] on result r, of dtype[r]; out[r] is NULL where it is not wanted, one is wanted at least.
 * The node's kept axes are the results' logical shape. On failure frees the node, and all wanted handles are NULL. */
tn_status tn__record_results(tn__node *node, tn__device *device, const tn_dtype *dtype, bool fixed, tn_tensor **const *out);
/* The same for a node's only result. */
tn_tensor *tn__record(tn__node *node, tn__device *device, tn_dtype dtype, bool fixed);
/* While paused, TENON_EAGER does not run what this thread records. Calls nest. */
void tn__eager_pause(void);
void tn__eager_resume(void);

/* Connects core with the device and graph layers; every entry to the library calls it. */
void tn__graph_start(void);

/* ---- elementwise (elementwise.c) ---- */

/* A row over operands of any dtype and shape: checks, promotes, casts, broadcasts, records. */
tn_tensor *tn__elementwise(const tn__row *row, tn_tensor *const *operands);
/* Another dtype (or a plain copy) as a node of its own; result row-major when fixed. */
tn_tensor *tn__cast(tn_tensor *x, tn_dtype dtype, bool fixed);
/* Sets operand i of a node to x in dtype d, broadcast to shape; a 0-d host tensor becomes a number, one without axes keeps the
 * compute type's precision. */
tn_status tn__node_take(tn__node *node, int i, const char *function, tn_tensor *x, tn_dtype d, const tn_shape *shape);
/* The device operands share; 0-d host tensors go along. NULL with an error naming all. *moved: copies made by auto-move. */
tn__device *tn__common_device(const char *function, tn_tensor *const *operands, int count, tn_tensor **moved);
/* The dtype operands share, by PyTorch's three ranks. False with an error. */
bool tn__promote_list(tn_tensor *const *operands, int count, tn_dtype *result);

/* ---- lookups (lookup.c) ---- */

/* A tensor of this shape, row-major. key and end (FOLD; else NULL) broadcast to shape; table_stride is the table's over shape
 * (PLACE: table is any tensor of the device). Fusable like an elementwise operation; the table itself is stored. */
tn_tensor *tn__record_lookup(const char *function, const tn__lookup *lookup, tn_tensor *key, tn_tensor *end, tn_tensor *table,
                             const tn_shape *shape, const int64_t *table_stride);

/* ---- running (run.c) ---- */

/* Gives these values bytes. Does not wait. */
tn_status tn__realize_values(tn__device *device, tn__value *const *values, int count);
/* x's elements as bytes: a value with them, and x's window on it. A part of something pending is computed alone. */
tn_status tn__realize_tensor(tn_tensor *x);

#endif
