/* One kernel before it runs: its domain, inputs, expressions and results.
 *
 * Expressions are lists of steps over the plan's domain, in sections: section s < node->inputs is what operand s of the
 * structured operation reads (its producer); SECTION_END is what becomes of the result (elementwise kernels have only that
 * one). Inputs, numbers and steps are found by linear search: there are at most a few dozen. */
#ifndef TN__PLAN_H
#define TN__PLAN_H

#include "base/text.h"
#include "graph/forms.h"
#include "graph/node.h"

#define TN__PLAN_INPUTS 96
#define TN__PLAN_OUTPUTS 16
#define TN__SECTION_END 3
#define TN__SECTIONS 4
#define TN__RANK (TN_MAX_AXES + 1)

/* Place of an element at each point of the domain. */
typedef struct tn__window {
    int64_t offset;
    int64_t stride[TN__RANK];
} tn__window;

typedef enum tn__step_kind { TN__LOAD, TN__NUMBER, TN__APPLY, TN__CONVERT, TN__DRAW, TN__LOOKUP, TN__RESULT } tn__step_kind;

typedef struct tn__step {
    tn__step_kind kind;
    int section;
    int a[5];             /* steps it reads; LOAD, DRAW: a[0] is an input; NUMBER: a number; RESULT: the anchor's result;
                           * LOOKUP: key, an input, count, step, fault or end */
    tn_dtype from, dtype; /* APPLY: computed in from, rounded to dtype; CONVERT: from -> dtype; else dtype */
    const tn__row *row;
    const tn__node *node; /* DRAW: the generator; LOOKUP: what is looked up */
    tn__value *value;     /* what this step computes (memo), with its window */
    tn__window window;
} tn__step;

/* Layout classes of an input along the domain. */
typedef enum tn__class { TN__CONTIGUOUS, TN__SPLAT, TN__STRIDED } tn__class;

typedef struct tn__plan_input {
    tn__value *value; /* NULL: only an index (a random generator's) */
    tn_dtype dtype;
    int pointer; /* which of the kernel's input pointers */
    int64_t reach; /* of a table: elements beyond the window */
    bool table;  /* of a LOOKUP: not loaded at its place, but from there on */
    int section;
    tn__window window;
} tn__plan_input;

typedef struct tn__plan_output {
    tn__value *value; /* retained */
    int step;
    tn_dtype dtype;
    int pointer;
    tn__window window; /* where in the bytes */
    tn__buffer *bytes; /* allocated before the first launch, or written into */
    int64_t base;      /* element of bytes where the value begins */
} tn__plan_output;

enum { TN__UNIT_KERNELS = 4 };

/* What is generated of one program, and which of its kernels will be launched. */
typedef struct tn__unit {
    const char *file, *names[TN__UNIT_KERNELS];
    int count;
    tn__text head, text;          /* before and behind the macro files */
    bool draws, reports, looks;   /* random numbers; the device's error word; lookups */
    tn__kernel *kernel[TN__UNIT_KERNELS]; /* made by tn__plans_build */
} tn__unit;

/* A kernel that a structured operation launches before its main one (packing), with the parameters of its text. */
typedef struct tn__stage {
    tn__unit unit;
    int64_t *parameters;
    int parameters_count;
    tn__buffer *meta;
} tn__stage;

typedef struct tn__recipe tn__recipe;
typedef struct tn__plan tn__plan;
struct tn__plan {
    tn__device *device;
    tn__node *anchor; /* structured node, NULL for an elementwise kernel */
    int level;        /* 1 + the largest of what it depends on */
    int rank;
    int64_t dim[TN__RANK];
    int group[TN__RANK];   /* axes of one group may collapse: 0 rows, 1 inner; matmul 0 batch, 1 m, 2 n, 3 k */
    tn__window operand[3]; /* windows of the structured node's operands over the domain */
    tn__window result;     /* of the node's results, dense */
    tn__window place;      /* where the target goes: the same, or part of a buffer */
    unsigned splits;       /* groups whose axes may be split, a bit each */
    int sources[3];        /* step that gives operand s */
    int steps_count, steps_capacity;
    tn__step *steps;
    int inputs_count;
    int numbers_count;
    int outputs_count;
    tn__buffer *written; /* a partial write: the target's bytes that outputs[0] goes to */
    /* generated */
    int width; /* lanes */
    int inner, tiled; /* of elementwise plans: the axis along which they run, and the one that tiles turn; -1: none */
    bool deep;
    bool wide_index;     /* 64-bit */
    bool looks;          /* lookups */
    bool reports;        /* to the device's error word */
    int64_t *parameters; /* places, strides, extents in the order of the text */
    int parameters_count, parameters_capacity;
    bool parameters_lost;      /* there was no memory for them */
    bool parameters_in_buffer; /* too many for arguments */
    int16_t input_place[TN__PLAN_INPUTS], output_place[TN__PLAN_OUTPUTS]; /* 1 + the parameter that says where it begins; 0: none */
    bool exact_places;         /* some place is not in one parameter alone */
    const tn__recipe *recipe;  /* how it was made, when not by generating (recipe.h) */
    tn__text structure;        /* else what a recipe of it is found by */
    tn__unit unit;
    int local;        /* items of a work-group the program was made for */
    uint64_t global;  /* items of the launch, where generate chose them */
    tn__buffer *meta; /* the parameters, when in a buffer */
    tn__stage stages[2];
    tn__buffer *scratch[2]; /* of the structured operation, allocated by its generate */
    tn__form *form;         /* what scratch[1] holds, or will after the launch, for the next ones too; NULL: for this one only */
    bool form_ready;
    struct tn__pointers *pointers; /* with segments: what the inputs of all point to (segments.c) */
    tn__plan *next_segment; /* the same expression over other values, in the same launch (segments.c) */
    tn__plan *next;         /* in launch order */
    tn__plan_input *inputs;
    int inputs_capacity;
    /* not zeroed: filled in as far as they are counted */
    tn__plan_output outputs[TN__PLAN_OUTPUTS];
    tn__number numbers[TN__PLAN_INPUTS];
};

/* ---- building (expression.c) ---- */

/* How the builder asks whether a pending value goes into this kernel. */
typedef enum tn__choice { TN__INLINE, TN__STORED, TN__INLINE_AND_STORE } tn__choice;
typedef tn__choice (*tn__chooser)(tn__plan *plan, tn__value *value, void *user);

/* What a plan is asked for: values of one shape (several only when elementwise), or one value written into part of a
 * buffer, at `place` over its node's domain. */
typedef struct tn__request {
    tn__device *device;
    tn__value *const *values;
    int count;
    tn__chooser choose;
    void *user;
    const tn__window *place; /* NULL: into fresh bytes */
    tn__buffer *to;
} tn__request;

/* A plan for it, with what it fuses. NULL with an error. Under the graph lock. */
tn__plan *tn__plan_new(const tn__request *request);
void tn__plan_free(tn__plan *plan);
void tn__unit_free(tn__unit *unit);
void tn__stage_free(tn__stage *stage);

#endif
