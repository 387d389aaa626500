#include "ops/along.h"
#include "base/alloc.h"
#include "graph/host.h"
#include <string.h>

/* ---- plans ---- */

void tn__along_reordered(tn__node *node, const int *order)
{
    int at = 0;
    while (order[at] != node->a.along.axis) at++;
    node->a.along.axis = at;
}

static void move_axis_last(const tn__plan *p, int64_t *of_axis, int axis)
{
    const int64_t moved = of_axis[axis];
    memmove(of_axis + axis, of_axis + axis + 1, (size_t)(p->rank - 1 - axis) * sizeof of_axis[0]);
    of_axis[p->rank - 1] = moved;
}

void tn__along_arrange(tn__plan *p)
{
    const int axis = p->anchor->a.along.axis;
    move_axis_last(p, p->dim, axis);
    move_axis_last(p, p->operand[0].stride, axis);
    move_axis_last(p, p->result.stride, axis);
    p->group[p->rank - 1] = 1;
    p->splits = 1;
}

/* ---- host ---- */

tn_status tn__along_host(const tn__node *node, void *out, tn__along_body *body, bool work)
{
    const int axis = node->a.along.axis;
    const int64_t n = node->dim[axis], step = node->in[0].stride[axis];
    const tn__compute compute = tn__dtypes[node->dtype].compute;
    const size_t size = compute == TN__CD || compute >= TN__CL ? 8 : 4;
    int64_t dense[TN_MAX_AXES], index[TN_MAX_AXES] = {0}, from = node->in[0].offset, to = 0;
    char *line = tn__alloc((work ? 2 : 1) * (size_t)n * size);
    if (!line) return TN_MEMORY;
    tn__shape_strides(node->kept, node->dim, dense);
    for (;;) {
        for (int64_t i = 0; i < n; i += TN__BLOCK) {
            const int count = n - i < TN__BLOCK ? (int)(n - i) : TN__BLOCK;
            tn__host_operand(&node->in[0], from + i * step, step, count, line + (size_t)i * size);
        }
        body(node, n, line, line + (size_t)n * size);
        for (int64_t i = 0; i < n; i++) tn__host_store(node->dtype, out, to + i * dense[axis], 1, line + (size_t)i * size);
        int a = node->kept - 1;
        for (; a >= 0; a--) { /* the next line */
            if (a == axis) continue;
            from += node->in[0].stride[a];
            to += dense[a];
            if (++index[a] < node->dim[a]) break;
            index[a] = 0;
            from -= node->in[0].stride[a] * node->dim[a];
            to -= dense[a] * node->dim[a];
        }
        if (a < 0) break;
    }
    tn__free(line);
    return TN_OK;
}

/* ---- recording ---- */

tn_tensor *tn__along_record(tn__node *node, tn_tensor *x, int axis)
{
    node->a.along.axis = axis;
    node->dtype = x->dtype;
    node->rank = node->kept = x->ndim;
    memcpy(node->dim, x->dim, sizeof x->dim);
    tn__node_operand(node, 0, x, x->stride);
    return tn__record(node, tn__tensor_device(x), x->dtype, false);
}

bool tn__along_single(tn__along_function *function, const void *row, tn_tensor *x, int axis, tn_tensor **y)
{
    if (x->ndim != 0 || (axis != 0 && axis != -1)) return false;
    tn_tensor *line = tn_unsqueeze(x, 0), *z = line ? function(row, line, 0) : NULL;
    *y = z ? tn_squeeze(z, TN_ALL_AXES) : NULL;
    tn_release(line);
    tn_release(z);
    return true;
}
