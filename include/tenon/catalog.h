/* The catalogue: what operations there are. `tenon ops` prints it. */
#ifndef TENON_CATALOG_H
#define TENON_CATALOG_H

#include <stdbool.h>
#include <tenon/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tn_operation {
    const char *name;      /* without "tn_" */
    const char *group;     /* "elementwise", "reductions", … */
    const char *arguments; /* "a, b" */
    const char *dtypes;    /* of the operands, and of the result behind "->" where it is another */
    bool gradient;         /* it can be differentiated */
    const char *launches;  /* of kernels; "fused" where it joins others in one */
    const char *torch;     /* what PyTorch calls it: "amax", "nn.functional.gelu" */
} tn_operation;

/** Operation i of the list, from 0 on; false behind its end. */
TN_API bool tn_operation_at(int i, tn_operation *operation);
/** The operation of that name; false when there is none. */
TN_API bool tn_operation_find(const char *name, tn_operation *operation);

#ifdef __cplusplus
}
#endif
#endif
