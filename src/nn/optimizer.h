/* What the parts of the optimizers share. */
#ifndef TN__OPTIMIZER_H
#define TN__OPTIMIZER_H

#include "core/tensor.h"
#include "nn/problems.h"
#include <tenon/optim.h>

typedef enum tn__optimizer_kind {
#define OPTIMIZER(id, name) TN__##id,
#include "tables/optimizers.def"
    TN__OPTIMIZERS
} tn__optimizer_kind;

enum {
#define OPTION(name, ...) TN__OPTION_##name,
#include "tables/optimizers.def"
    TN__OPTIONS
};

enum {
    TN__STATE_master, /* the f32 copy of a 16-bit parameter */
#define STATE(name, ...) TN__STATE_##name,
#include "tables/optimizers.def"
    TN__STATES
};

typedef struct tn__group {
    double lr, base; /* base: lr when the first schedule came; NaN before */
    tn_optimizer_options options;
} tn__group;

/* A parameter and what is kept for it. */
typedef struct tn__trained {
    tn_tensor *tensor;
    int group;
    int64_t steps;
    tn_tensor *state[TN__STATES]; /* NULL: not yet, or never */
} tn__trained;

struct tn_optimizer {
    int references;
    tn__optimizer_kind kind;
    tn__group *groups;
    int groups_count;
    tn__trained *list;
    int count;
    char name[64]; /* that tn_optimizer_state gave out */
};

/* ---- optimizer.c ---- */

extern const char *const tn__optimizer_names[TN__OPTIMIZERS];
tn_optimizer *tn__optimizer_retain(tn_optimizer *optimizer);
/* tn_optimizer_step with the gradients times a factor. */
tn_status tn__optimizer_step(tn_optimizer *optimizer, double factor);
tn_status tn__optimizer_without_gradient(const tn_optimizer *optimizer, const char *function);

/* ---- optimizer_options.c ---- */

bool tn__option_of(int option, tn__optimizer_kind kind);
double tn__option_get(const tn_optimizer_options *o, int option);
void tn__option_set(tn_optimizer_options *o, int option, double value);
const char *tn__option_name(int option);
/* Puts what stands for 0 into its place, and checks. */
tn_status tn__options_resolve(tn__optimizer_kind kind, double lr, tn_optimizer_options *o);
const char *tn__state_name(int state);
/* Does a step of a parameter of this dtype leave this state? */
bool tn__state_kept(tn__optimizer_kind kind, const tn_optimizer_options *o, tn_dtype dtype, int state);

/* ---- optimizer_update.c: a step of one parameter, recorded ---- */

typedef struct tn__update {
    tn__trained *of;
    tn_tensor *gradient, *result;
    tn_tensor *next[TN__STATES]; /* NULL: stays as it is */
} tn__update;

/* Sets result and next from gradient; handles of the innermost scope. */
tn_status tn__update_record(tn__update *u, const tn_optimizer *optimizer, double factor);
/* The dtype in which the state of a parameter is kept. */
tn_dtype tn__state_dtype(tn_dtype parameter);

/* ---- optimizer_state.c ---- */

/* State as it was loaded, to be put in place when nothing can fail any more. */
typedef struct tn__loaded {
    tn__group *groups;
    tn__trained *list;
} tn__loaded;
/* tn__loaded_free frees what it makes, also on failure. */
tn_status tn__optimizer_prepare(const tn_optimizer *optimizer, const char *const *names, tn_tensor *const *values, int count,
                                tn__loaded *loaded, tn__problems *problems);
/* loaded then holds what was there before. */
void tn__optimizer_commit(tn_optimizer *optimizer, tn__loaded *loaded);
void tn__loaded_free(const tn_optimizer *optimizer, tn__loaded *loaded);

/* ---- exchange.c ---- */

/* Gives each of x the values of src, of its shape, dtype and device, and with bytes: whole or not at all, as long as no x is a view
 * or wrapped memory. */
tn_status tn__exchange(tn_tensor *const *x, tn_tensor *const *src, int count);

#endif
