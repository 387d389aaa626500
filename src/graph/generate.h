/* From a plan to OpenCL C: the macros a kernel file is written in.
 *
 * Axes of the domain get roles. For section X (P0, P1, P2 the operands' producers; E the end) the generator defines
 *   X_OUTER(o)    the places in every input at point o of the OUTER axes (row-major)
 *   X_MIDDLE(m)   the same at point m of the MIDDLE axes
 *   X_EVAL(i)     the steps for elements i … i + W - 1 of the INNER axis; results are X_VALUE; E's read RESULT (and RESULT1 of a
 *                 second result), which the operation defines
 *   E_STORE(i)    stores the outputs
 * and PARAMS, the first part of the kernel's parameters, ending in a comma. */
#ifndef TN__GENERATE_H
#define TN__GENERATE_H

#include "graph/plan.h"

typedef enum tn__role { TN__OUTER, TN__MIDDLE, TN__INNER, TN__APART } tn__role;

/* What a program needs of scalar.cl and convert.cl. */
enum {
    TN__USES_F16 = 1,
    TN__USES_BF16 = 2,
    TN__USES_DOUBLE = 4,
    TN__USES_ODD_M = 8,
    TN__USES_ODD_D = 16,
    TN__USES_FMOD_F = 32,
    TN__USES_FMOD_D = 64,
    TN__USES_ERF_F = 128,
    TN__USES_ERFC_F = 256,
    TN__USES_RANDOM = 512
};

#define TN__FUNCTIONS 64 /* at most in tables/functions.def */

typedef struct tn__generator {
    tn__plan *plan;
    tn__role role[TN__RANK];
    int order[TN__RANK];           /* the axes, those that are gone through slowest first */
    tn__text macros;               /* in the order generated */
    tn__text functions;            /* scalar functions that rows call */
    tn__text parameters;           /* PARAMS, when the operation writes it itself */
    tn__text defines;              /* "#define NAME value" of the operation, before everything */
    unsigned uses;                 /* what convert.cl and scalar.cl must define */
    bool single;                   /* while the S macros are made */
    bool places_only;              /* nothing is loaded at the OUTER level */
    bool tiled;                    /* inputs contiguous along the MIDDLE axis are read from tiles */
    uint8_t called[TN__FUNCTIONS]; /* functions emitted, a bit for each letter */
} tn__generator;

/* Lanes that a vector of the plan's widest values has: 1 when the inner axis has fewer elements. */
int tn__plan_lanes(const tn__plan *plan, const tn__role *role);
/* The same, but 1 where vectors do not help. */
int tn__plan_width(const tn__plan *plan, const tn__role *role);
/* Lanes of a reduction along the inner axis: from its extent and the accumulator's dtype alone, so that the order in which it
 * adds does not depend on what is fused or how operands lie. */
int tn__fixed_width(const tn__plan *plan, const tn__role *role, tn_dtype dtype);
/* Starts: decides the index width from the windows, plus `extra`, the largest other index of the kernel. */
void tn__generator_start(tn__generator *g, tn__plan *plan, const tn__role *role, int width, int64_t extra);
/* Defines the macros of a section; E_STORE with SECTION_END. */
void tn__generate_section(tn__generator *g, int section);
/* For inputs that are contiguous along the MIDDLE axis only: DECLARE_TILES, and E_TILES(m, i, n), which loads tile n of each: W x W
 * elements, points m … of that axis and i … of the INNER one; E_EVAL then takes row r of tile n. Before the section. */
void tn__generate_tiles(tn__generator *g);
/* Tells stores that no cache holds what they write, where that is so. */
void tn__generate_stream(tn__generator *g);
/* X_OUTER alone, for operands read at places of the kernel's own choice. */
void tn__generate_places(tn__generator *g, int section);
/* S_EVAL and S_STORE: the end section for one element, in the first lane, for kernels that store both ways. */
void tn__generate_single(tn__generator *g);
/* For an operand that is loaded at places of the kernel's own choice (casts and a scale only): a function `form` of what is
 * loaded, and the macros name(place), of one element, and nameW(place), of W neighbours. Returns the input's number. */
int tn__generate_form(tn__generator *g, int section, const char *form, const char *name);
/* The text of a row, phase or reduction in letters of a compute type; names[0..] replace A B C (or the given words). */
void tn__generate_text(tn__generator *g, tn__text *out, const char *text, tn__compute compute, const char *const *words,
                       const char *const *names, int count);
/* lookup_text.c: a LOOKUP step's value. */
void tn__generate_lookup(tn__generator *g, int step);
/* What a window moves from one element of the INNER axis to the next. */
int64_t tn__inner_stride(const tn__generator *g, const tn__window *w);
/* Contiguous along this axis, and neither that nor the same along the inner one. */
bool tn__is_turned(const tn__window *w, int axis, int inner);
/* The program uses values of this dtype. */
void tn__note_dtype(tn__generator *g, tn_dtype dtype);
/* An element's place in input or output: name of a parameter that holds v. */
int tn__parameter(tn__plan *plan, int64_t v);
/* The furthest place that the plan's inputs and outputs reach, and how far 32-bit indices do. */
int64_t tn__plan_reach(const tn__plan *plan);
enum { TN__LARGEST_INDEX = INT32_MAX - (1 << 20) };
/* Makes the plan's unit: the texts around a kernel file, and its kernel, plan->unit.kernel[0] when it is launched. Frees the generator's
 * texts. */
tn_status tn__generator_finish(tn__generator *g, const char *file, const char *kernel);
void tn__generator_free(tn__generator *g);
/* Another kernel of the file that the launch will use: the next of plan->unit.kernel. */
void tn__plan_launches(tn__plan *plan, const char *kernel);

/* Arguments for PARAMS; returns how many. */
#define TN__ARGUMENTS 160
int tn__plan_arguments(const tn__plan *plan, tn__argument *arguments);
/* Puts the program just finished aside as stage i; the plan is free for the next. */
void tn__plan_save_stage(tn__plan *plan, int i);
int tn__stage_arguments(const tn__plan *plan, int i, tn__argument *arguments);
/* Appends an index argument (32 or 64 bits as the plan's). */
void tn__argument_index(const tn__plan *plan, tn__argument *arguments, int *count, int64_t v);
tn__argument tn__number_argument(const tn__number *n);
void tn__argument_int(tn__argument *arguments, int *count, int32_t v);

/* Enqueues a kernel whose items work by themselves, over so many or a few more: groups of one in the deep profile, else of 64 where
 * the kernel may have them. A NULL kernel passes its error on. */
tn_status tn__launch_items(const tn__plan *plan, tn__kernel *kernel, const tn__argument *arguments, int count, int64_t items);
/* Items of a work-group for a tree: a power of two up to `most` that the device's kernels were seen to allow. */
int tn__group_size(const tn__device *device, int most);

static inline int64_t tn__ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}
static inline int64_t tn__least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
/* Points of all axes with a role. */
int64_t tn__role_extent(const tn__plan *plan, const tn__role *role, tn__role which);
extern const char tn__letters[]; /* "fdiulm" */
extern const char *const tn__scalar_names[]; /* OpenCL C's, in the order of the letters */

/* segments.c: joins plans that are the same but for sizes and places into one launch, and runs such a plan. */
void tn__join_segments(tn__plan **first);
tn_status tn__segments_generate(tn__plan *plan);
tn_status tn__segments_launch(tn__plan *plan);
/* Before both: finds what the inputs of all segments point to; key gets which of them share memory, as the text does. */
tn_status tn__segments_pointers(tn__plan *plan, tn__text *key);

/* elementwise.c of this folder: the kernel of plans without an anchor */
tn_status tn__elementwise_generate(tn__plan *plan);
tn_status tn__elementwise_launch(tn__plan *plan);

#endif
