/* Random programs of tensor operations, with what they are to give.
 *
 * A program is a list of terms; each is a leaf, a scalar, or an operation on earlier terms. While it is made, every term gets
 * its reference values, and for each of them how far a right result may be away: 0 as long as all operations up to it are exact.
 * Operations that jump are made of exact terms only. */
#ifndef EXPRESSIONS_H
#define EXPRESSIONS_H

#include "support/reference.h"
#include "support/test.h"

enum { TERMS = 96, OUTPUTS = 4, TERM_ELEMENTS = 4096 };

typedef enum term_kind {
    TERM_LEAF,
    TERM_SCALAR,
    TERM_ROW,
    TERM_CAST,
    TERM_TRANSPOSE,
    TERM_PERMUTE,
    TERM_SLICE,
    TERM_SELECT,
    TERM_FLIP,
    TERM_EXPAND,
    TERM_RESHAPE,
    TERM_UNSQUEEZE,
    TERM_SUM,
    TERM_MEAN,
    TERM_MAX,
    TERM_ARGMAX,
    TERM_SOFTMAX,
    TERM_LOG_SOFTMAX,
    TERM_MATMUL,
    TERM_KINDS
} term_kind;

typedef struct term {
    term_kind kind;
    int operand[3];
    int row; /* TERM_ROW: of the table */
    tn_dtype dtype;
    tn_shape shape;
    bool weak; /* a scalar */
    bool exact;
    double scalar;
    int axis, other; /* of views and reductions */
    int64_t start, stop, step;
    tn_axes axes;
    bool keepdim;
    int64_t count;
    reference_number *value;
    double *error; /* absolute; infinite: anything goes */
} term;

typedef struct program {
    uint64_t seed;
    int count, operations;
    term terms[TERMS];
    int outputs[OUTPUTS], outputs_count;
} program;

/* What programs may use, and how often each thing occurred so far. A program depends on its seed and on without_f64 alone. */
typedef struct usage {
    bool without_f64;
    int rows[256], dtypes[TN_DTYPE_COUNT], kinds[TERM_KINDS];
} usage;

void program_make(program *p, uint64_t seed, usage *used);
void program_free(program *p);
/* Records the program on a device: tensors[i] is term i. False, with an error, when a call fails. */
bool program_record(const program *p, const char *device, tn_tensor **tensors);
/* How many elements of term i in `bytes` are wrong; *first is the first of them. *checked counts those that are bounded. */
int program_check(const program *p, int i, const char *bytes, int64_t *first, int64_t *checked);
/* Writes the program, a line for each term. */
void program_print(const program *p);
const char *term_name(term_kind kind);

#endif
