/* Joining: concat, stack and relatives, roll, pad. The result is fresh memory whose slices are set in one run: by copies that compute the
 * entries' pending expressions on their way, as one kernel where they are alike, and no kernel of their own is needed. */
#include "ops/compose.h"
#include "base/alloc.h"
#include "core/derive.h"
#include "graph/move.h"
#include <inttypes.h>
#include <string.h>
#include <tenon/ops.h>

/* ---- an operand list: checked, on one device, of one dtype ---- */

typedef struct operands {
    tn_tensor **use, **moved;
    int count;
    tn__device *device;
    tn_dtype dtype;
} operands;

static void drop(operands *o)
{
    for (int i = 0; o->moved && i < o->count; i++) tn_release(o->moved[i]);
    tn__free(o->moved);
    tn__free(o->use);
}

static tn_status gather(const char *function, tn_tensor *const *list, int count, operands *o)
{
    *o = (operands){.count = 0};
    tn__graph_start();
    if (!list) return tn__fail_null(function, "list");
    if (count < 1) return tn__fail(TN_ARGUMENT, "%s: a list of %d tensors", function, count);
    for (int i = 0; i < count; i++) TN__TRY(tn__tensor_check(list[i], function, "an entry of the list"));
    o->use = tn__alloc((size_t)count * sizeof *o->use);
    o->moved = tn__zalloc((size_t)count * sizeof *o->moved);
    if (!o->use || !o->moved) return TN_MEMORY;
    o->count = count;
    o->device = tn__common_device(function, list, count, o->moved);
    if (!o->device || !tn__promote_list(list, count, &o->dtype)) return tn_last_status();
    for (int i = 0; i < count; i++) o->use[i] = o->moved[i] ? o->moved[i] : list[i];
    return TN_OK;
}

/* ---- gradients ---- */

/* Entries one after the other along an axis, or, stacked, at one place of it each. */
typedef struct joined {
    int axis;
    bool stacked;
} joined;

static void join_back(const tn__backward *back)
{
    const joined *of = back->attributes;
    int64_t at = 0;
    for (int i = 0; i < back->count; i++) {
        const tn_shape *shape = &back->operand[i].shape;
        const int64_t n = of->stacked ? 1 : shape->ndim == back->up[0]->ndim ? shape->dim[of->axis] : 0;
        if (back->operand[i].wanted) back->g[i] = tn_reshape(tn_slice(back->up[0], of->axis, at, at + n, 1), *shape);
        at += n;
    }
}

static const tn__derivative derive_concat = {"concat", join_back, TN__SAVES_NONE, sizeof(joined)},
                            derive_stack = {"stack", join_back, TN__SAVES_NONE, sizeof(joined)};

/* ---- memory to be filled ---- */

/* Fresh memory of this shape. */
static tn_tensor *room(const char *function, tn_dtype dtype, const tn_shape *shape, tn__device *device)
{
    int64_t n;
    if (tn__shape_numel(shape, tn_dtype_size(dtype), &n, function) != TN_OK) return NULL;
    return tn__from_bytes(dtype, shape, NULL, device);
}

/* Sets part, and lets it go. */
static tn_status fill(tn_tensor *part, tn_tensor *from)
{
    const tn_status s = part ? tn_assign(part, from) : tn_last_status();
    tn_release(part);
    return s;
}

/* Sets the slices of out along an axis to the entries, all of one device. Lets out go on failure. */
static tn_tensor *fill_slices(tn_tensor *out, tn_tensor *const *list, int count, const joined *how)
{
    tn_tensor **part = tn__zalloc((size_t)count * sizeof *part), **from = tn__alloc((size_t)count * sizeof *from);
    tn_status status = part && from ? TN_OK : TN_MEMORY;
    int64_t at = 0;
    int parts = 0;
    for (int i = 0; i < count && status == TN_OK; i++) {
        if (list[i]->numel == 0) continue;
        const int64_t n = how->stacked ? 1 : list[i]->dim[how->axis];
        part[parts] = how->stacked ? tn_select(out, how->axis, at) : tn_slice(out, how->axis, at, at + n, 1);
        from[parts] = list[i];
        if (!part[parts++]) status = tn_last_status();
        at += n;
    }
    if (status == TN_OK && parts > 0) status = tn__fill_parts(part, from, parts);
    for (int i = 0; i < parts; i++) tn_release(part[i]);
    tn__free(part);
    tn__free(from);
    return status == TN_OK ? out : tn__next(out, NULL);
}

/* The entries one after the other along an axis, or stacked at it. */
static tn_tensor *join(const char *function, tn_tensor *const *list, int count, const joined *how, const tn_shape *shape,
                       tn_dtype dtype, tn__device *device)
{
    tn__derive_pause();
    tn_tensor *out = room(function, dtype, shape, device);
    if (out) out = fill_slices(out, list, count, how);
    tn__derive_resume();
    return tn__recorded(how->stacked ? &derive_stack : &derive_concat, how, list, count, out);
}

/* ---- concat and stack ---- */

static bool goes_with_any(const tn_tensor *x)
{
    return x->ndim == 1 && x->dim[0] == 0;
}

static tn_status concat_shape(const operands *o, int axis, int *a, tn_shape *shape)
{
    int model = 0; /* the first entry whose axes count */
    while (model < o->count - 1 && goes_with_any(o->use[model])) model++;
    const tn_tensor *first = o->use[model];
    if (first->ndim == 0) return tn__fail(TN_SHAPE, "concat: entry %d has no axes; tn_stack joins those", model);
    *a = tn__axis(axis, first->ndim, "concat");
    if (*a < 0) return TN_AXIS;
    *shape = tn__tensor_shape(first);
    shape->dim[*a] = 0;
    for (int i = 0; i < o->count; i++) {
        const tn_tensor *x = o->use[i];
        if (x->ndim != first->ndim && goes_with_any(x)) continue;
        bool fits = x->ndim == first->ndim;
        for (int k = 0; fits && k < x->ndim; k++) fits = k == *a || x->dim[k] == first->dim[k];
        if (!fits)
            return tn__fail(TN_SHAPE, "concat: entry %d %s and entry %d %s differ beside axis %d", model,
                            tn__shape_text(first->ndim, first->dim), i, tn__shape_text(x->ndim, x->dim), axis);
        if (shape->dim[*a] > INT64_MAX - x->dim[*a]) return tn__fail(TN_OVERFLOW, "concat: more than 63 bits of elements");
        shape->dim[*a] += x->dim[*a];
    }
    return TN_OK;
}

tn_tensor *tn_concat(tn_tensor *const *list, int count, int axis)
{
    operands o;
    tn_shape shape;
    int a = 0;
    tn_tensor *out = NULL;
    if (gather("concat", list, count, &o) == TN_OK && concat_shape(&o, axis, &a, &shape) == TN_OK)
        out = join("concat", o.use, count, &(joined){a, false}, &shape, o.dtype, o.device);
    drop(&o);
    return out;
}

static tn_status stack_shape(const operands *o, int axis, int *a, tn_shape *shape)
{
    const tn_shape first = tn__tensor_shape(o->use[0]);
    if (first.ndim == TN_MAX_AXES) return tn__fail(TN_SHAPE, "stack: %d axes are the most", TN_MAX_AXES);
    *a = tn__axis(axis, first.ndim + 1, "stack");
    if (*a < 0) return TN_AXIS;
    for (int i = 1; i < o->count; i++) {
        const tn_shape own = tn__tensor_shape(o->use[i]);
        if (!tn__shape_equal(&own, &first))
            return tn__fail(TN_SHAPE, "stack: entry 0 %s and entry %d %s differ", tn__shape_text(first.ndim, first.dim), i,
                            tn__shape_text(own.ndim, own.dim));
    }
    *shape = first;
    memmove(shape->dim + *a + 1, shape->dim + *a, (size_t)(first.ndim - *a) * sizeof shape->dim[0]);
    shape->dim[*a] = o->count;
    shape->ndim++;
    return TN_OK;
}

tn_tensor *tn_stack(tn_tensor *const *list, int count, int axis)
{
    operands o;
    tn_shape shape;
    int a = 0;
    tn_tensor *out = NULL;
    if (gather("stack", list, count, &o) == TN_OK && stack_shape(&o, axis, &a, &shape) == TN_OK)
        out = join("stack", o.use, count, &(joined){a, true}, &shape, o.dtype, o.device);
    drop(&o);
    return out;
}

/* ---- with axes added first ---- */

/* The entries, padded with axes, along an axis; -1: axis 1, or 0 where they are vectors. */
static tn_tensor *join_padded(const char *function, tn_tensor *const *list, int count, tn_tensor *(*padded)(tn_tensor *), int axis)
{
    operands o;
    tn_tensor *y = NULL;
    const tn_scope scope = tn_scope_push();
    const bool fit = gather(function, list, count, &o) == TN_OK;
    for (int i = 0; fit && i < count; i++) {
        tn_tensor *x = o.use[i];
        if (x->ndim == 0) x = tn_to(tn_cast(x, o.dtype), o.device->name); /* goes with any, while it has no axes */
        o.use[i] = x ? padded(x) : NULL;
    }
    if (fit && axis < 0) axis = o.use[0] && o.use[0]->ndim > 1 ? 1 : 0;
    if (fit) y = tn_concat(o.use, count, axis);
    drop(&o);
    y = tn__leave(scope, y);
    if (!y && fit) tn__error_prefix(function);
    return y;
}

tn_tensor *tn_hstack(tn_tensor *const *list, int count)
{
    return join_padded("hstack", list, count, tn_atleast_1d, -1);
}

tn_tensor *tn_vstack(tn_tensor *const *list, int count)
{
    return join_padded("vstack", list, count, tn_atleast_2d, 0);
}

tn_tensor *tn_dstack(tn_tensor *const *list, int count)
{
    return join_padded("dstack", list, count, tn_atleast_3d, 2);
}

static tn_status block_shape(const operands *o, tn_shape *shape)
{
    *shape = TN_SHAPE(0, 0);
    for (int i = 0; i < o->count; i++) {
        const tn_tensor *x = o->use[i];
        if (x->ndim > 2)
            return tn__fail(TN_SHAPE, "block_diag: entry %d %s has more than 2 axes", i, tn__shape_text(x->ndim, x->dim));
        shape->dim[0] += x->ndim == 2 ? x->dim[0] : 1;
        shape->dim[1] += x->ndim ? x->dim[x->ndim - 1] : 1;
    }
    return TN_OK;
}

/* The next block of x, of an entry of this shape; at: its first row and column, which go on. */
static tn_tensor *block(tn_tensor *x, const tn_shape *entry, int64_t at[2])
{
    const int64_t rows = entry->ndim == 2 ? entry->dim[0] : 1, columns = entry->ndim ? entry->dim[entry->ndim - 1] : 1;
    tn_tensor *part = tn_slice(x, 0, at[0], at[0] + rows, 1);
    part = tn__next(part, tn_slice(part, 1, at[1], at[1] + columns, 1));
    at[0] += rows;
    at[1] += columns;
    return part;
}

static void block_diag_back(const tn__backward *back)
{
    int64_t at[2] = {0, 0};
    for (int i = 0; i < back->count; i++) {
        const tn_shape *shape = &back->operand[i].shape;
        back->g[i] = tn_reshape(block(back->up[0], shape, at), *shape);
    }
}

static const tn__derivative derive_block_diag = {"block_diag", block_diag_back, TN__SAVES_NONE, 0};

tn_tensor *tn_block_diag(tn_tensor *const *list, int count)
{
    operands o;
    tn_shape shape;
    tn_tensor *out = NULL;
    int64_t at[2] = {0, 0};
    const bool fit = gather("block_diag", list, count, &o) == TN_OK && block_shape(&o, &shape) == TN_OK;
    tn__derive_pause();
    if (fit) out = tn_zeros(o.dtype, shape, o.device->name);
    for (int i = 0; out && i < count; i++) {
        const tn_shape entry = tn__tensor_shape(o.use[i]);
        if (fill(block(out, &entry, at), o.use[i]) != TN_OK) out = tn__next(out, NULL);
    }
    tn__derive_resume();
    out = tn__recorded(&derive_block_diag, NULL, o.use, count, out);
    drop(&o);
    return out;
}

/* ---- pieces of one tensor ---- */

/* Pieces (each let go) along axis a; any missing one fails. */
static tn_tensor *rejoin(const char *function, tn_tensor *const *piece, int count, int a)
{
    tn_shape shape;
    tn_tensor *out = NULL;
    bool all = true;
    for (int i = 0; i < count; i++) all = all && piece[i];
    if (all) {
        shape = tn__tensor_shape(piece[0]);
        for (int i = 1; i < count; i++) shape.dim[a] += piece[i]->dim[a];
        out = join(function, piece, count, &(joined){a, false}, &shape, piece[0]->dtype, tn__tensor_device(piece[0]));
    }
    for (int i = 0; i < count; i++) tn_release(piece[i]);
    return out;
}

/* axes.count -1: over x as a vector. */
typedef struct rolled {
    tn_shape shifts;
    tn_axes axes;
} rolled;

static void roll_back(const tn__backward *back)
{
    rolled of = *(const rolled *)back->attributes;
    for (int i = 0; i < of.shifts.ndim; i++) of.shifts.dim[i] = of.shifts.dim[i] == INT64_MIN ? 0 : -of.shifts.dim[i];
    back->g[0] = tn_roll(back->up[0], of.shifts, of.axes);
}

static const tn__derivative derive_roll = {"roll", roll_back, TN__SAVES_NONE, sizeof(rolled)};

static tn_tensor *roll(tn_tensor *x, const rolled *by)
{
    const tn_shape shape = tn__tensor_shape(x);
    const bool flat = by->axes.count == -1;
    tn_tensor *y = flat ? tn_reshape(x, TN_SHAPE(-1)) : tn__tensor_alias(x);
    for (int i = 0; y && i < by->shifts.ndim; i++) {
        const int a = tn__axis(flat ? 0 : by->axes.axis[i], y->ndim, "roll");
        if (a < 0) return tn__next(y, NULL);
        const int64_t n = y->dim[a], s = n == 0 ? 0 : (by->shifts.dim[i] % n + n) % n;
        if (s == 0) continue;
        tn_tensor *const piece[] = {tn_slice(y, a, n - s, TN_END, 1), tn_slice(y, a, 0, n - s, 1)};
        y = tn__next(y, rejoin("roll", piece, 2, a));
    }
    if (y && flat) y = tn__next(y, tn_reshape(y, shape));
    return y && y->storage == x->storage ? tn__next(y, tn_clone(y)) : y;
}

tn_tensor *tn_roll(tn_tensor *x, tn_shape shifts, tn_axes axes)
{
    const rolled by = {shifts, axes};
    if (tn__tensor_check(x, "roll", "x") != TN_OK) return NULL;
    if (shifts.ndim != (axes.count == -1 ? 1 : axes.count) || axes.count < -1 || axes.count > TN_MAX_AXES)
        return TN__NULL(TN_SHAPE, "roll: %d shifts for %d axes", shifts.ndim, axes.count == -1 ? 1 : axes.count);
    tn__derive_pause();
    tn_tensor *y = roll(x, &by);
    tn__derive_resume();
    return tn__recorded(&derive_roll, &by, &x, 1, y);
}

/* ---- pad ---- */

/* The extents with the padding. */
static tn_status pad_shape(const tn_tensor *x, const tn_shape *before, const tn_shape *after, tn_shape *shape)
{
    if (before->ndim != x->ndim || after->ndim != x->ndim)
        return tn__fail(TN_SHAPE, "pad: %d numbers before and %d after for x %s", before->ndim, after->ndim,
                        tn__shape_text(x->ndim, x->dim));
    *shape = tn__tensor_shape(x);
    for (int i = 0; i < x->ndim; i++) {
        const int64_t most = INT64_MAX / 4, b = before->dim[i], e = after->dim[i];
        if (b > most || e > most || b < -most || e < -most || x->dim[i] > most)
            return tn__fail(TN_OVERFLOW, "pad: %" PRId64 " before and %" PRId64 " after axis %d", b, e, i);
        shape->dim[i] += b + e;
        const int64_t kept = x->dim[i] + (b < 0 ? b : 0) + (e < 0 ? e : 0);
        if (shape->dim[i] < 0 || kept < 0)
            return tn__fail(TN_SHAPE, "pad: %" PRId64 " before and %" PRId64 " after take more from axis %d of %s than it has", b,
                            e, i, tn__shape_text(x->ndim, x->dim));
    }
    return TN_OK;
}

/* Elements before and after each axis; below 0: taken off. */
typedef struct padding {
    tn_shape before, after;
} padding;

/* What was added is taken off, what was taken off is 0. */
static void pad_back(const tn__backward *back)
{
    padding of = *(const padding *)back->attributes;
    for (int a = 0; a < of.before.ndim; a++) of.before.dim[a] = -of.before.dim[a], of.after.dim[a] = -of.after.dim[a];
    back->g[0] = tn_pad(back->up[0], of.before, of.after, TN_PAD_CONSTANT, TN_NONE);
}

static const tn__derivative derive_pad = {"pad", pad_back, TN__SAVES_NONE, sizeof(padding)};

static tn_tensor *pad_constant(tn_tensor *x, const tn_shape *before, const tn_shape *after, const tn_shape *shape, tn_tensor *value)
{
    const char *name = tn__tensor_device(x)->name;
    tn_tensor *out = value == TN_NONE ? tn_zeros(x->dtype, *shape, name) : tn_full(x->dtype, *shape, value, name);
    if (!out) return tn__error_prefix("pad"), NULL;
    tn_tensor *inner = tn__tensor_alias(out), *kept = tn__tensor_alias(x);
    for (int a = 0; inner && kept && a < x->ndim; a++) {
        const int64_t b = before->dim[a], e = after->dim[a], n = x->dim[a], m = shape->dim[a];
        inner = tn__next(inner, tn_slice(inner, a, b > 0 ? b : 0, e > 0 ? m - e : m, 1));
        kept = tn__next(kept, tn_slice(kept, a, b < 0 ? -b : 0, e < 0 ? n + e : n, 1));
    }
    if (!kept || fill(inner, kept) != TN_OK) out = tn__next(out, NULL);
    tn_release(kept);
    return out;
}

static tn_status check_limits(const tn_tensor *x, int a, int64_t b, int64_t e, tn_pad_mode mode)
{
    const int64_t n = x->dim[a], most = mode == TN_PAD_REFLECT ? n - 1 : mode == TN_PAD_CIRCULAR ? n : n > 0 ? INT64_MAX : 0;
    static const char *const names[] = {"constant", "reflect", "replicate", "circular"};
    if (b < 0 || e < 0)
        return tn__fail(TN_ARGUMENT,
                        "pad: %" PRId64 " before and %" PRId64 " after axis %d; only the mode constant takes elements off", b, e,
                        a);
    if ((b > most || e > most) && (b > 0 || e > 0))
        return tn__fail(TN_ARGUMENT,
                        "pad: %" PRId64 " before and %" PRId64 " after axis %d of %s; the mode %s allows at most %" PRId64, b, e, a,
                        tn__shape_text(x->ndim, x->dim), names[mode], most < 0 ? 0 : most);
    return TN_OK;
}

/* One side of an axis, taken from y. */
static tn_tensor *border(tn_tensor *y, int a, int64_t n, bool after, tn_pad_mode mode)
{
    const int64_t last = y->dim[a] - 1;
    if (mode == TN_PAD_CIRCULAR) return after ? tn_slice(y, a, 0, n, 1) : tn_slice(y, a, last + 1 - n, TN_END, 1);
    if (mode == TN_PAD_REFLECT) {
        if (n == 0) return tn_slice(y, a, 0, 0, 1);
        tn_tensor *side = after ? tn_slice(y, a, last - n, last, 1) : tn_slice(y, a, 1, n + 1, 1);
        return tn__next(side, tn_flip(side, TN_AXES(a)));
    }
    tn_shape shape = tn__tensor_shape(y);
    shape.dim[a] = n;
    tn_tensor *edge = after ? tn_slice(y, a, last, TN_END, 1) : tn_slice(y, a, 0, 1, 1);
    return tn__next(edge, tn_expand(edge, shape));
}

/* Axis by axis, so corners come from borders. */
static tn_tensor *pad_borders(tn_tensor *x, const tn_shape *before, const tn_shape *after, tn_pad_mode mode)
{
    tn_tensor *y = tn_cast(x, x->dtype);
    for (int a = 0; y && a < x->ndim; a++) {
        const int64_t b = before->dim[a], e = after->dim[a];
        if (b == 0 && e == 0) continue;
        tn_tensor *const piece[] = {border(y, a, b, false, mode), tn_cast(y, y->dtype), border(y, a, e, true, mode)};
        y = tn__next(y, rejoin("pad", piece, 3, a));
    }
    return y && y->storage == x->storage ? tn__next(y, tn_clone(y)) : y;
}

tn_tensor *tn_pad(tn_tensor *x, tn_shape before, tn_shape after, tn_pad_mode mode, tn_tensor *value)
{
    tn_shape shape;
    int64_t count;
    if (tn__tensor_check(x, "pad", "x") != TN_OK) return NULL;
    if (!value) return (void)tn__fail_null("pad", "value"), NULL;
    if ((unsigned)mode > TN_PAD_CIRCULAR) return TN__NULL(TN_ARGUMENT, "pad: mode %d is none", (int)mode);
    if (pad_shape(x, &before, &after, &shape) != TN_OK) return NULL;
    if (tn__shape_numel(&shape, tn_dtype_size(x->dtype), &count, "pad") != TN_OK) return NULL;
    if (mode == TN_PAD_CONSTANT) {
        tn__derive_pause();
        tn_tensor *y = pad_constant(x, &before, &after, &shape, value);
        tn__derive_resume();
        return tn__recorded(&derive_pad, &(padding){before, after}, &x, 1, y);
    }
    for (int a = 0; a < x->ndim; a++)
        if (check_limits(x, a, before.dim[a], after.dim[a], mode) != TN_OK) return NULL;
    return pad_borders(x, &before, &after, mode);
}
