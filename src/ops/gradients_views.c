/* Gradients of views: the inverse view, or zeros with the gradient put where the view looked. */
#include "core/view.h"
#include "device/device.h"
#include "ops/compose.h"
#include "ops/gradient.h"
#include <string.h>

static void identity(const tn__backward *back)
{
    back->g[0] = back->up[0];
}
const tn__derivative tn__derive_identity = {"copy", identity, TN__SAVES_NONE, 0};

static void reshape(const tn__backward *back)
{
    back->g[0] = tn_reshape(back->up[0], back->operand[0].shape);
}
const tn__derivative tn__derive_reshape = {"reshape", reshape, TN__SAVES_NONE, 0};

static void permute(const tn__backward *back)
{
    const tn__permute_attributes *of = back->attributes;
    tn__permute_attributes inverse;
    for (int i = 0; i < back->up[0]->ndim; i++) inverse.axis[of->axis[i]] = i;
    back->g[0] = tn__permuted(back->up[0], &inverse);
}
const tn__derivative tn__derive_permute = {"permute", permute, TN__SAVES_NONE, sizeof(tn__permute_attributes)};

static void flip(const tn__backward *back)
{
    const tn__flip_attributes *of = back->attributes;
    tn_axes axes = {.count = 0};
    for (int a = 0; a < back->up[0]->ndim; a++)
        if (of->mask & (1u << a)) axes.axis[axes.count++] = a;
    back->g[0] = tn_flip(back->up[0], axes);
}
const tn__derivative tn__derive_flip = {"flip", flip, TN__SAVES_NONE, sizeof(tn__flip_attributes)};

/* ---- zeros with something in them ---- */

/* A window of a tensor of this shape: one slice, or a diagonal. */
typedef struct place {
    tn_shape shape;
    bool is_diagonal;
    tn__slice_attributes slice;
    tn__diagonal_attributes diagonal;
} place;

static tn_tensor *window(tn_tensor *x, const place *p)
{
    if (p->is_diagonal) return tn_diagonal(x, p->diagonal.offset, p->diagonal.axis1, p->diagonal.axis2);
    const tn__slice_attributes *s = &p->slice;
    const int64_t stop = s->first + s->step * s->count;
    return tn_slice(x, s->axis, s->first, stop < 0 ? TN_END : stop, s->step);
}

static void placed(const tn__backward *back)
{
    back->g[0] = window(back->up[0], back->attributes);
}
static const tn__derivative derive_placed = {"backward of a view", placed, TN__SAVES_NONE, sizeof(place)};

static tn_tensor *put_into_zeros(tn_tensor *x, const place *p)
{
    tn__derive_pause();
    tn_tensor *y = tn_zeros(x->dtype, p->shape, tn__tensor_device(x)->name), *at = y && x->numel > 0 ? window(y, p) : NULL;
    if (y && x->numel > 0 && (!at || tn_assign(at, x) != TN_OK)) y = tn__next(y, NULL);
    tn_release(at);
    tn__derive_resume();
    return tn__recorded(&derive_placed, p, &x, 1, y);
}

tn_tensor *tn__on_diagonal(tn_tensor *x, const tn_shape *shape, const tn__diagonal_attributes *diagonal)
{
    return put_into_zeros(x, &(place){.shape = *shape, .is_diagonal = true, .diagonal = *diagonal});
}

static void slice(const tn__backward *back)
{
    const place p = {.shape = back->operand[0].shape, .slice = *(const tn__slice_attributes *)back->attributes};
    back->g[0] = put_into_zeros(back->up[0], &p);
}
const tn__derivative tn__derive_slice = {"slice", slice, TN__SAVES_NONE, sizeof(tn__slice_attributes)};

static void select_(const tn__backward *back)
{
    const place p = {.shape = back->operand[0].shape, .slice = *(const tn__slice_attributes *)back->attributes};
    tn_tensor *up = tn_unsqueeze(back->up[0], p.slice.axis);
    back->g[0] = up ? put_into_zeros(up, &p) : NULL;
}
const tn__derivative tn__derive_select = {"select", select_, TN__SAVES_NONE, sizeof(tn__slice_attributes)};

static void diagonal(const tn__backward *back)
{
    back->g[0] = tn__on_diagonal(back->up[0], &back->operand[0].shape, back->attributes);
}
const tn__derivative tn__derive_diagonal = {"diagonal", diagonal, TN__SAVES_NONE, sizeof(tn__diagonal_attributes)};

/* ---- windows that overlap ---- */

/* Windows of `size` elements, one after the other along the axis, each added to where it came from. */
static void unfold(const tn__backward *back)
{
    const tn__unfold_attributes *of = back->attributes;
    const tn_shape shape = back->operand[0].shape;
    tn_tensor *up = back->up[0];
    const char *name = tn__tensor_device(up)->name;
    const int64_t count = up->dim[of->axis];
    tn_tensor *first = tn_arange(TN_I64, 0, (double)(count * of->step), (double)of->step, name);
    tn_tensor *within = tn_arange(TN_I64, 0, (double)of->size, 1, name);
    tn_tensor *index = first && within ? tn_reshape(tn_add(tn_unsqueeze(first, 1), within), TN_SHAPE(-1)) : NULL;
    tn_tensor *lines = tn_movedim(up, TN_AXES(-1), (tn_axes){.count = 1, .axis = {of->axis + 1}});
    tn_shape flat = shape;
    flat.dim[of->axis] = count * of->size;
    tn_tensor *zeros = tn_zeros(up->dtype, shape, name);
    if (index && lines && zeros) back->g[0] = tn_index_add(zeros, of->axis, index, tn_reshape(lines, flat));
}
const tn__derivative tn__derive_unfold = {"unfold", unfold, TN__SAVES_NONE, sizeof(tn__unfold_attributes)};

/* The place of each element of the window in its storage. */
static tn_tensor *places(const tn__strided_attributes *of, const char *device)
{
    tn_tensor *at = tn_full(TN_I64, of->shape, tn_int(of->offset), device);
    for (int a = 0; at && a < of->shape.ndim; a++) {
        tn_shape line = {.ndim = of->shape.ndim};
        for (int k = 0; k < line.ndim; k++) line.dim[k] = k == a ? of->shape.dim[a] : 1;
        tn_tensor *step = tn_mul(tn_arange(TN_I64, 0, (double)of->shape.dim[a], 1, device), tn_int(of->stride[a]));
        at = step ? tn_add(at, tn_reshape(step, line)) : NULL;
    }
    return at;
}

static void as_strided(const tn__backward *back)
{
    const tn__strided_attributes *of = back->attributes;
    tn_tensor *up = back->up[0];
    const char *name = tn__tensor_device(up)->name;
    tn_shape strides = {.ndim = back->operand[0].shape.ndim};
    memcpy(strides.dim, of->x_stride, sizeof strides.dim);
    tn_tensor *at = places(of, name), *zeros = tn_zeros(up->dtype, TN_SHAPE(of->count), name);
    if (!at || !zeros) return;
    tn_tensor *all = tn_index_add(zeros, 0, tn_reshape(at, TN_SHAPE(-1)), tn_reshape(up, TN_SHAPE(-1)));
    back->g[0] = all ? tn_as_strided(all, back->operand[0].shape, strides, of->x_offset) : NULL;
}
const tn__derivative tn__derive_as_strided = {"as_strided", as_strided, TN__SAVES_NONE, sizeof(tn__strided_attributes)};
