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

tn_status tn__along_host(const tn__node *node, void *const *out, tn__along_body *body, size_t work)
{
    const int axis = node->a.along.axis;
    const int64_t n = node->dim[axis], step = node->in[0].stride[axis];
    const tn__compute compute = tn__dtypes[node->dtype].compute;
    const size_t size = compute == TN__CD || compute >= TN__CL ? 8 : 4;
    int64_t dense[TN_MAX_AXES], index[TN_MAX_AXES] = {0}, from = node->in[0].offset, to = 0;
    const size_t behind = ((size_t)n * size + 7) / 8 * 8;
    char *line = tn__alloc(behind + (size_t)n * work);
    if (!line) return TN_MEMORY;
    tn__shape_strides(node->kept, node->dim, dense);
    for (;;) {
        for (int64_t i = 0; i < n; i += TN__BLOCK) {
            const int count = n - i < TN__BLOCK ? (int)(n - i) : TN__BLOCK;
            tn__host_operand(&node->in[0], from + i * step, step, count, line + (size_t)i * size);
        }
        body(node, n, line, line + behind);
        for (int64_t i = 0; out[0] && i < n; i++)
            tn__host_store(node->dtype, out[0], to + i * dense[axis], 1, line + (size_t)i * size);
        for (int64_t i = 0; node->results > 1 && out[1] && i < n; i++)
            ((int64_t *)out[1])[to + i * dense[axis]] = ((const int64_t *)(const void *)(line + behind))[i];
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

tn_status tn__along_record_results(tn__node *node, tn_tensor *x, int axis, tn_tensor **const *out)
{
    const tn_dtype dtypes[TN__MAX_RESULTS] = {x->dtype, TN_I64};
    node->a.along.axis = axis;
    node->dtype = x->dtype;
    node->rank = node->kept = x->ndim;
    memcpy(node->dim, x->dim, sizeof x->dim);
    tn__node_operand(node, 0, x, x->stride);
    return tn__record_results(node, tn__tensor_device(x), dtypes, false, out);
}

tn_tensor *tn__along_record(tn__node *node, tn_tensor *x, int axis)
{
    tn_tensor *y, **const out[] = {&y};
    (void)tn__along_record_results(node, x, axis, out);
    return y;
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
