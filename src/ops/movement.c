/* Movement that is a composition of views, copies and comparisons: it stays recorded and fuses. */
#include "ops/create.h"
#include "ops/compose.h"
#include "ops/gradient.h"
#include "core/view.h"
#include "device/device.h"
#include <inttypes.h>

/* ---- repeating ---- */

/* x over its axis a, count times: whole (a b a b) or element by element (a a b b). Through four axes: those before, the axis
 * and its repetition, those after; so 16 axes are no matter. */
static tn_tensor *repeat_axis(const char *function, tn_tensor *x, int a, int64_t count, bool whole)
{
    int64_t outer = 1, inner = 1, n;
    tn_shape shape = tn__tensor_shape(x);
    if (count > 0 && shape.dim[a] > INT64_MAX / count)
        return TN__NULL(TN_OVERFLOW, "%s: axis %d of %s times %" PRId64, function, a, tn__shape_text(x->ndim, x->dim), count);
    const int64_t d = shape.dim[a];
    shape.dim[a] *= count;
    if (tn__shape_numel(&shape, tn_dtype_size(x->dtype), &n, function) != TN_OK) return NULL;
    for (int i = 0; i < a; i++) outer *= shape.dim[i];
    for (int i = a + 1; i < x->ndim; i++) inner *= shape.dim[i];
    tn_tensor *y = tn_reshape(x, whole ? TN_SHAPE(outer, 1, d, inner) : TN_SHAPE(outer, d, 1, inner));
    y = tn__next(y, tn_expand(y, whole ? TN_SHAPE(outer, count, d, inner) : TN_SHAPE(outer, d, count, inner)));
    return tn__next(y, tn_reshape(y, shape));
}

/* y as memory of its own, not x's and without repetition by stride 0. */
static tn_tensor *own(tn_tensor *y, const tn_tensor *x)
{
    y = tn__next(y, tn_contiguous(y));
    return y && y->storage == x->storage ? tn__next(y, tn_clone(y)) : y;
}

static tn_tensor *tile(const char *function, tn_tensor *x, const tn_shape *counts)
{
    const int ndim = counts->ndim > x->ndim ? counts->ndim : x->ndim;
    tn_shape shape = {.ndim = ndim};
    if (counts->ndim < 0 || counts->ndim > TN_MAX_AXES)
        return TN__NULL(TN_SHAPE, "%s: %d counts; 0 to %d are possible", function, counts->ndim, TN_MAX_AXES);
    for (int i = 0; i < counts->ndim; i++)
        if (counts->dim[i] < 0)
            return TN__NULL(TN_SHAPE, "%s: the counts %s; none may be negative", function,
                            tn__shape_text(counts->ndim, counts->dim));
    for (int i = 0; i < ndim; i++) shape.dim[i] = i < ndim - x->ndim ? 1 : x->dim[i - (ndim - x->ndim)];
    tn_tensor *y = tn_reshape(x, shape);
    for (int i = ndim - counts->ndim; y && i < ndim; i++) {
        const int64_t count = counts->dim[i - (ndim - counts->ndim)];
        if (count != 1) y = tn__next(y, repeat_axis(function, y, i, count, true));
    }
    return own(y, x);
}

tn_tensor *tn_tile(tn_tensor *x, tn_shape counts)
{
    return tn__tensor_check(x, "tile", "x") == TN_OK ? tile("tile", x, &counts) : NULL;
}

tn_tensor *tn_repeat(tn_tensor *x, tn_shape counts)
{
    if (tn__tensor_check(x, "repeat", "x") != TN_OK) return NULL;
    if (counts.ndim < x->ndim)
        return TN__NULL(TN_SHAPE, "repeat: %d counts for x %s; tn_tile takes fewer", counts.ndim, tn__shape_text(x->ndim, x->dim));
    return tile("repeat", x, &counts);
}

tn_tensor *tn_repeat_interleave(tn_tensor *x, int64_t count, int axis)
{
    if (tn__tensor_check(x, "repeat_interleave", "x") != TN_OK) return NULL;
    const int a = tn__axis(axis, x->ndim, "repeat_interleave");
    if (a < 0) return NULL;
    if (count < 0) return TN__NULL(TN_ARGUMENT, "repeat_interleave: count %" PRId64, count);
    return own(repeat_axis("repeat_interleave", x, a, count, false), x);
}

/* ---- matrices ---- */

tn_tensor *tn_rot90(tn_tensor *x, int k, int a, int b)
{
    if (tn__tensor_check(x, "rot90", "x") != TN_OK) return NULL;
    const int i = tn__axis(a, x->ndim, "rot90"), j = i < 0 ? -1 : tn__axis(b, x->ndim, "rot90");
    if (j < 0) return NULL;
    if (i == j) return TN__NULL(TN_AXIS, "rot90: a %d and b %d are the same axis", a, b);
    const int turns = (k % 4 + 4) % 4;
    const tn_axes both = TN_AXES(i, j), last = TN_AXES(j), first = TN_AXES(i);
    if (turns == 0) return tn_cast(x, x->dtype);
    if (turns == 2) return tn_flip(x, both);
    tn_tensor *y = tn_transpose(x, i, j); /* one axis reversed, the other not: which one says the sense */
    return tn__next(y, tn_flip(y, turns == 1 ? first : last));
}

/* Zeros with the last axis of x on a diagonal of the result's axes a and b. */
static tn_tensor *on_diagonal(const char *function, tn_tensor *x, int64_t offset, int a, int b)
{
    if (offset <= INT64_MIN / 4 || offset >= INT64_MAX / 4) return TN__NULL(TN_OVERFLOW, "%s: offset %" PRId64, function, offset);
    const int64_t n = x->dim[x->ndim - 1] + (offset < 0 ? -offset : offset);
    tn_shape shape = {.ndim = x->ndim + 1};
    for (int i = 0, k = 0; i < shape.ndim; i++) shape.dim[i] = i == a || i == b ? n : x->dim[k++];
    return tn__on_diagonal(x, &shape, &(tn__diagonal_attributes){offset, a, b});
}

tn_tensor *tn_diag_embed(tn_tensor *x, int64_t offset, int axis1, int axis2)
{
    if (tn__tensor_check(x, "diag_embed", "x") != TN_OK) return NULL;
    if (x->ndim == 0 || x->ndim == TN_MAX_AXES)
        return TN__NULL(TN_SHAPE, "diag_embed: x %s; 1 to %d axes are possible", tn__shape_text(x->ndim, x->dim), TN_MAX_AXES - 1);
    const int a = tn__axis(axis1, x->ndim + 1, "diag_embed"), b = a < 0 ? -1 : tn__axis(axis2, x->ndim + 1, "diag_embed");
    if (b < 0) return NULL;
    if (a == b) return TN__NULL(TN_AXIS, "diag_embed: axis1 %d and axis2 %d are the same axis", axis1, axis2);
    return on_diagonal("diag_embed", x, offset, a, b);
}

tn_tensor *tn_diag(tn_tensor *x, int64_t offset)
{
    if (tn__tensor_check(x, "diag", "x") != TN_OK) return NULL;
    if (x->ndim == 1) return on_diagonal("diag", x, offset, 0, 1);
    if (x->ndim != 2) return TN__NULL(TN_SHAPE, "diag: x %s is no vector and no matrix", tn__shape_text(x->ndim, x->dim));
    tn_tensor *y = tn_diagonal(x, offset, 0, 1);
    return tn__next(y, tn_clone(y));
}

/* x where the mask holds, else 0: false is weaker than any dtype. */
static tn_tensor *triangle(const char *function, tn_tensor *x, tn__comparison *keep, int64_t offset)
{
    if (tn__tensor_check(x, function, "x") != TN_OK) return NULL;
    if (x->ndim < 2) return TN__NULL(TN_SHAPE, "%s: x %s is no matrix", function, tn__shape_text(x->ndim, x->dim));
    const char *name = tn__tensor_device(x)->name;
    tn_tensor *mask = tn__diagonal_mask(keep, x->dim[x->ndim - 2], x->dim[x->ndim - 1], offset, name);
    tn_tensor *zero = mask ? tn_bool(false) : NULL;
    tn_tensor *y = zero ? tn_where(mask, x, zero) : NULL;
    tn_release(mask);
    tn_release(zero);
    return y;
}

tn_tensor *tn_triu(tn_tensor *x, int64_t offset)
{
    return triangle("triu", x, tn_ge, offset);
}

tn_tensor *tn_tril(tn_tensor *x, int64_t offset)
{
    return triangle("tril", x, tn_le, offset);
}

/* ---- grids ---- */

tn_status tn_meshgrid(tn_tensor *const *list, int count, bool xy, tn_tensor **out)
{
    if (!list) return tn__fail_null("meshgrid", "list");
    if (!out) return tn__fail_null("meshgrid", "out");
    if (count < 1 || count > TN_MAX_AXES)
        return tn__fail(TN_ARGUMENT, "meshgrid: %d vectors; 1 to %d are possible", count, TN_MAX_AXES);
    tn_shape full = {.ndim = count};
    for (int i = 0; i < count; i++) {
        TN__TRY(tn__tensor_check(list[i], "meshgrid", "an entry of the list"));
        if (list[i]->ndim > 1)
            return tn__fail(TN_SHAPE, "meshgrid: entry %d %s is no vector", i, tn__shape_text(list[i]->ndim, list[i]->dim));
        full.dim[xy && count > 1 && i < 2 ? 1 - i : i] = list[i]->numel;
    }
    for (int i = 0; i < count; i++) {
        const int a = xy && count > 1 && i < 2 ? 1 - i : i;
        tn_shape line = {.ndim = count};
        for (int k = 0; k < count; k++) line.dim[k] = k == a ? full.dim[k] : 1;
        tn_tensor *y = tn_reshape(list[i], line);
        out[i] = tn__next(y, tn_expand(y, full));
        if (out[i]) continue;
        while (i > 0) {
            tn_release(out[--i]);
            out[i] = NULL;
        }
        return tn_last_status();
    }
    return TN_OK;
}

tn_tensor *tn_one_hot(tn_tensor *x, int64_t classes)
{
    if (tn__tensor_check(x, "one_hot", "x") != TN_OK) return NULL;
    if (tn_dtype_is_float(x->dtype) || x->dtype == TN_BOOL)
        return TN__NULL(TN_DTYPE, "one_hot: not for %s; integers only", tn_dtype_name(x->dtype));
    if (classes < 1) return TN__NULL(TN_ARGUMENT, "one_hot: %" PRId64 " classes", classes);
    if (x->ndim == TN_MAX_AXES) return TN__NULL(TN_SHAPE, "one_hot: %d axes are the most", TN_MAX_AXES);
    tn_tensor *line = tn_unsqueeze(x, -1);
    tn_tensor *index = tn_arange(x->dtype == TN_U64 ? TN_U64 : TN_I64, 0, (double)classes, 1, tn__tensor_device(x)->name);
    tn_tensor *y = line && index ? tn_eq(line, index) : NULL;
    tn_release(line);
    tn_release(index);
    return tn__next(y, tn_cast(y, TN_I64));
}
