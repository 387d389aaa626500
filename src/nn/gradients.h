/* The gradients of a list of tensors, those that there are. */
#ifndef TN__NN_GRADIENTS_H
#define TN__NN_GRADIENTS_H

#include "core/tensor.h"

typedef struct tn__gradients {
    tn_tensor **of, **list; /* of[i] has the gradient list[i], a handle of the innermost scope */
    int count;
} tn__gradients;

/* tn__gradients_free frees it, also on failure. */
tn_status tn__gradients_of(const char *function, tn_tensor *const *list, int count, tn__gradients *g);
void tn__gradients_free(tn__gradients *g);
/* x, a number, where it can be read with y: on y's device, or on host. */
tn_tensor *tn__beside(tn_tensor *x, tn_tensor *y);
/* Every gradient times factor, a number of any device (NULL fails). */
tn_status tn__gradients_scale(const tn__gradients *g, tn_tensor *factor);

#endif
