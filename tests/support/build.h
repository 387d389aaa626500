/* How expressions.c makes a program: a term at a time, with its reference values. Functions that add a term return false
 * when it does not go, and leave no more than leaves behind. */
#ifndef BUILD_H
#define BUILD_H

#include "support/expressions.h"

typedef struct builder {
    program *p;
    usage *used;
    test_random r;
    uint64_t turn;
} builder;

/* A number below n; one of n things, every other time the next in turn, so that few programs see all of them. */
int64_t build_below(builder *b, int64_t n);
int build_in_turn(builder *b, int n);
tn_dtype build_any_dtype(builder *b);
int64_t build_elements(const tn_shape *s);
/* What values of the dtype are computed in. */
tn_dtype build_compute_dtype(tn_dtype d);

/* A new term, its values to be filled in; NULL when it is too large, or not for the device. */
term *build_term(builder *b, term_kind kind, tn_dtype dtype, tn_shape shape);
/* Takes the last term back: false. */
bool build_undo(builder *b);
/* Rounds element i to the term's dtype; error: of the value as it was computed, before this rounding. */
void term_settle(term *t, int64_t i, reference_number want, double error);
/* An exact result that a device may take for 0 would not be exact. */
bool term_has_subnormals(const term *t);
bool term_is_float(const term *t);

/* A term to compute with: often the last one. */
int build_any_term(builder *b);
term *build_scalar(builder *b);
/* A leaf of that shape that lies in memory in one of many ways: its index, or -1. */
int build_leaf(builder *b, tn_dtype dtype, tn_shape shape);
bool build_view(builder *b, int from, term_kind kind);
bool build_row(builder *b);
bool build_cast(builder *b);
bool build_reduction(builder *b);
bool build_softmax(builder *b);
bool build_matmul(builder *b);

#endif
