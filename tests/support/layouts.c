#include "support/layouts.h"

#include "support/test.h"

static const struct {
    const char *name;
    tn_shape shape;
} layouts[LAYOUTS] = {
    [LAYOUT_CONTIGUOUS] = {"contiguous", {2, {16, 24}}},
    [LAYOUT_TRANSPOSED] = {"transposed", {2, {17, 23}}},
    [LAYOUT_OFFSET] = {"offset", {2, {15, 27}}},
    [LAYOUT_BROADCAST] = {"broadcast", {2, {19, 21}}},
    [LAYOUT_NEGATIVE] = {"negative", {2, {18, 22}}},
    [LAYOUT_CHANNELS_LAST] = {"channels-last", {4, {2, 5, 6, 7}}},
    [LAYOUT_EMPTY] = {"empty", {3, {3, 0, 2}}},
    [LAYOUT_ZERO_D] = {"0-d", {0, {0}}},
    [LAYOUT_ODD] = {"odd", {2, {19, 21}}},
};

const char *layout_name(test_layout layout)
{
    return layouts[layout].name;
}

tn_shape layout_shape(test_layout layout)
{
    return layouts[layout].shape;
}

int64_t layout_count(test_layout layout)
{
    int64_t n = 1;
    for (int a = 0; a < layouts[layout].shape.ndim; a++) n *= layouts[layout].shape.dim[a];
    return n;
}

/* ---- base tensors, and the windows on them ---- */

static tn_shape base_shape(test_layout layout, int which, int arity)
{
    const tn_shape s = layouts[layout].shape;
    switch (layout) {
    case LAYOUT_TRANSPOSED: return which == 1 ? s : TN_SHAPE(s.dim[1], s.dim[0]);
    case LAYOUT_OFFSET: return TN_SHAPE(s.dim[0] * s.dim[1] + 11);
    case LAYOUT_BROADCAST:
        return arity == 1 || which == 0 ? TN_SHAPE(1, s.dim[1]) : which == 1 ? TN_SHAPE(s.dim[0], 1) : TN_SHAPE(s.dim[1]);
    case LAYOUT_NEGATIVE: return which == 0 ? s : which == 1 ? TN_SHAPE(2 * s.dim[0], s.dim[1]) : TN_SHAPE(s.dim[0], 2 * s.dim[1]);
    case LAYOUT_CHANNELS_LAST: return TN_SHAPE(s.dim[0], s.dim[2], s.dim[3], s.dim[1]);
    case LAYOUT_ZERO_D: return TN_SHAPE(5);
    default: return s;
    }
}

static tn_tensor *window(test_layout layout, int which, int arity, tn_tensor *base)
{
    const tn_shape s = layouts[layout].shape;
    switch (layout) {
    case LAYOUT_TRANSPOSED:
        if (which != 1) return tn_transpose(base, 0, 1);
        break;
    case LAYOUT_OFFSET: {
        const int64_t first = 3 + 2 * which;
        tn_tensor *part = tn_slice(base, 0, first, first + s.dim[0] * s.dim[1], 1), *x = tn_view(part, s);
        tn_release(part);
        return x;
    }
    case LAYOUT_BROADCAST:
        if (arity == 1) return tn_expand(base, s);
        break;
    case LAYOUT_NEGATIVE:
        if (which == 0) return tn_flip(base, TN_AXES(1));
        if (which == 1) return tn_slice(base, 0, TN_END, TN_END, -2);
        return tn_slice(base, 1, 1, TN_END, 2);
    case LAYOUT_CHANNELS_LAST: return tn_permute(base, TN_AXES(0, 3, 1, 2));
    case LAYOUT_ZERO_D: return tn_select(base, 0, 2);
    default: break;
    }
    return base;
}

/* Places of the operand's elements in the base's memory, row-major over the result's shape. */
static void places(tn_tensor *x, tn_shape shape, int64_t *place)
{
    int64_t index[TN_MAX_AXES] = {0}, n = 1;
    const int lead = shape.ndim - tn_ndim(x);
    for (int a = 0; a < shape.ndim; a++) n *= shape.dim[a];
    for (int64_t i = 0; i < n; i++) {
        place[i] = tn_offset(x);
        for (int a = lead; a < shape.ndim; a++)
            if (tn_dim(x, a - lead) > 1) place[i] += index[a] * tn_stride(x, a - lead);
        for (int a = shape.ndim - 1; a >= 0 && ++index[a] == shape.dim[a]; a--) index[a] = 0;
    }
}

tn_tensor *layout_tensor(test_layout layout, int which, int arity, tn_dtype dtype, void *values, const char *device)
{
    const size_t size = tn_dtype_size(dtype);
    const int64_t n = layout_count(layout);
    const tn_shape shape = base_shape(layout, which, arity);
    int64_t place[1024];
    ck_assert_int_lt(n, 1024);
    tn_tensor *base = ck_made(tn_zeros(dtype, shape, "host")), *x = ck_made(window(layout, which, arity, base));
    places(x, layout_shape(layout), place);
    const int64_t elements = tn_numel(base);
    if (x != base) tn_release(x);
    tn_release(base);

    char *bytes = malloc((size_t)elements * size + 8);
    for (size_t i = 0; i < (size_t)elements * size; i++) bytes[i] = (char)(0x5b + 37 * i); /* what must not be read */
    for (int64_t i = 0; i < n; i++) memcpy(bytes + (size_t)place[i] * size, (char *)values + (size_t)i * size, size);
    for (int64_t i = 0; i < n; i++) memcpy((char *)values + (size_t)i * size, bytes + (size_t)place[i] * size, size);
    base = ck_made(tn_from(dtype, shape, bytes, device));
    free(bytes);
    x = ck_made(window(layout, which, arity, base));
    if (x != base) tn_release(base);
    return x;
}

/* ---- results ---- */

static bool sets_order(tn_tensor *x, tn_shape shape)
{
    if (tn_ndim(x) != shape.ndim) return false;
    for (int a = 0; a < shape.ndim; a++)
        if (tn_dim(x, a) != shape.dim[a] || (shape.dim[a] > 1 && tn_stride(x, a) == 0)) return false;
    return true;
}

void layout_of_result(tn_shape shape, tn_tensor *const *operands, int count, int64_t *stride)
{
    int order[TN_MAX_AXES];
    tn_tensor *first = NULL;
    for (int i = count - 1; i >= 0; i--)
        if (sets_order(operands[i], shape)) first = operands[i];
    for (int a = 0; a < shape.ndim; a++) { /* insertion: slowest first, equal ones as they stand */
        int at = a;
        for (; first && at > 0 && llabs(tn_stride(first, order[at - 1])) < llabs(tn_stride(first, a)); at--)
            order[at] = order[at - 1];
        order[at] = a;
    }
    int64_t dense = 1;
    for (int k = shape.ndim - 1; k >= 0; k--) {
        stride[order[k]] = dense;
        dense *= shape.dim[order[k]] ? shape.dim[order[k]] : 1;
    }
}
