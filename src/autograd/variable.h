/* What autograd keeps: variables and histories.
 *
 * A tensor handle that requires a gradient has a variable. The variable of something computed points to a history: the operation, its
 * saved operands and results, and the variables of its operands. Handles hold variables, variables histories, histories variables:
 * always from what is younger to what is older, so nothing is held in a circle; they are freed without recursion. */
#ifndef TN__VARIABLE_H
#define TN__VARIABLE_H

#include "core/derive.h"
#include "device/device.h"
#include <tenon/autograd.h>

typedef struct tn__history tn__history;
typedef struct tn__grad_watcher tn__grad_watcher;

typedef struct tn__variable {
    atomic_int references;
    bool required;        /* a leaf whose gradient is wanted */
    bool retains;         /* no leaf, but its gradient is kept */
    bool left;            /* a leaf whose handle is somewhere else, or of another dtype, since */
    tn__history *history; /* NULL: a leaf */
    int result;           /* of history, which one */
    tn_tensor *gradient;  /* added up; in no scope */
    tn__grad_watcher *watchers;
    int numbered;              /* of watchers, the last */
    struct tn__variable *next; /* worklist of the release */
} tn__variable;

struct tn__grad_watcher {
    int number;
    tn_grad_hook *hook;
    void *user;
    tn__grad_watcher *next;
};

/* A saved tensor, and what tells that it was written to since. */
typedef struct tn__saved {
    tn_tensor *tensor; /* NULL: not saved */
    uint64_t version;
} tn__saved;

struct tn__history {
    atomic_int references;
    uint64_t number; /* counts up: younger than the histories of its operands */
    const tn__derivative *derivative;
    int count, results;
    bool spent;             /* a backward without retain went through */
    tn__signature *operand; /* count each */
    tn__variable **from;    /* NULL: requires no gradient */
    tn__saved *in, *out;    /* out: results each */
    tn__variable **made;    /* variables of the results, not counted; NULL: gone */
    void *attributes;
    tn__history *next; /* worklist of the release */
};

static inline tn__variable *tn__variable_of(const tn_tensor *x)
{
    return x->gradient;
}

/* x, a leaf, has other memory from now on (tn_module_to): what was computed from the old is not gone back through. x as it is: no
 * memory for it. */
tn_status tn__variable_renew(tn_tensor *x);
tn__variable *tn__variable_retain(tn__variable *v); /* NULL passed on */
void tn__variable_release(tn__variable *v);
/* A handle's variable, made for it if need be; NULL with an error. */
tn__variable *tn__variable_make(tn_tensor *x);

/* Gives the results histories where an operand requires a gradient: the listener of core/derive.h. */
tn_status tn__remember(const tn__derivative *d, const void *attributes, tn_tensor *const *operands, int count,
                       tn_tensor *const *out, int results);
/* The variable of a result, retained; NULL when nobody has it any more. */
tn__variable *tn__history_result(tn__history *h, int result);
/* Lets go of what a history saved. */
void tn__history_spend(tn__history *h);

/* Starts listening, once. */
void tn__autograd_start(void);

/* Has the thread asked for a check of every result (check.c)? */
extern _Thread_local bool tn__detects_nan;
/* Fails when out, of the operation called name, has a NaN that no operand has. operands may hold NULL. */
tn_status tn__check_nan(const char *name, tn_tensor *const *operands, int count, tn_tensor *out);

#endif
