/* Creation: constants, ranges, scalars. */
#include "ops/create.h"
#include "ops/compose.h"
#include "base/alloc.h"
#include "graph/move.h"
#include "graph/rows.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <tenon/ops.h>

/* A tensor of one number, recorded: whoever reads it takes the number. */
static tn_tensor *fill(const char *function, tn_dtype dtype, const tn_shape *shape, tn__number n, const char *name)
{
    int64_t count;
    tn__graph_start();
    if (!tn__dtype_valid(dtype)) return TN__NULL(TN_DTYPE, "%s: %d is no dtype", function, (int)dtype);
    if (tn__shape_numel(shape, tn_dtype_size(dtype), &count, function) != TN_OK) return NULL;
    tn__device *device = tn__device_for_creation(name);
    if (!device || tn__device_takes(device, dtype, function) != TN_OK) return NULL;
    tn__node *node = tn__node_new(&tn__op_cast, 1);
    if (!node) return NULL;
    node->dtype = dtype;
    node->rank = node->kept = shape->ndim;
    memcpy(node->dim, shape->dim, sizeof shape->dim);
    node->in[0].number = tn__number_to(n, dtype);
    node->in[0].dtype = tn__compute_dtype[node->in[0].number.compute];
    return tn__record(node, device, dtype, true);
}

tn_tensor *tn_zeros(tn_dtype dtype, tn_shape shape, const char *device)
{
    return fill("zeros", dtype, &shape, (tn__number){.compute = TN__CI, .i = 0}, device);
}

tn_tensor *tn_ones(tn_dtype dtype, tn_shape shape, const char *device)
{
    return fill("ones", dtype, &shape, (tn__number){.compute = TN__CI, .i = 1}, device);
}

tn_tensor *tn_full(tn_dtype dtype, tn_shape shape, tn_tensor *value, const char *device)
{
    uint64_t raw[2];
    if (tn__tensor_check(value, "full", "value") != TN_OK) return NULL;
    if (value->ndim != 0)
        return TN__NULL(TN_SHAPE, "full: value has shape %s; a scalar is needed", tn__shape_text(value->ndim, value->dim));
    if (tn__read_bytes(value, raw) != TN_OK) return NULL;
    const tn__number n = tn__number_load(value->dtype, raw);
    if (tn__dtype_valid(dtype) && !tn__number_fits(n, dtype))
        return TN__NULL(TN_OVERFLOW, "full: the value %.0f does not fit %s", tn__number_double(n), tn_dtype_name(dtype));
    return fill("full", dtype, &shape, n, device);
}

/* Element i of a vector that is computed here. */
typedef struct series {
    double start, step, stop, base; /* stop: the last element's own; base 0: no power is taken */
    int64_t count;
    bool ends;
} series;

static double series_at(const series *s, int64_t i)
{
    double v = s->start + (double)i * s->step;
    if (s->ends && i > 0) {
        const double last = (double)(s->count - 1);
        if (i == s->count - 1)
            v = s->stop;
        else if (s->step == 0) /* stop - start is so small that a step of it is nothing: NumPy's other order */
            v = s->start + (double)i / last * (s->stop - s->start);
    }
    return s->base != 0 ? pow(s->base, v) : v;
}

static tn_tensor *vector(const char *function, tn_dtype dtype, const series *s, const char *name)
{
    const tn_shape shape = {.ndim = 1, .dim = {s->count}};
    int64_t count;
    if (tn__shape_numel(&shape, tn_dtype_size(dtype), &count, function) != TN_OK) return NULL;
    tn__device *device = tn__device_for_creation(name);
    if (!device || tn__device_takes(device, dtype, function) != TN_OK) return NULL;
    const size_t size = tn_dtype_size(dtype);
    char *bytes = tn__alloc((size_t)count * size);
    if (!bytes) return NULL;
    for (int64_t i = 0; i < count; i++) {
        const tn__number v = {.compute = TN__CD, .d = series_at(s, i)};
        tn__number_store(dtype, bytes + (size_t)i * size, tn__number_to(v, dtype));
    }
    tn_tensor *x = tn__from_bytes(dtype, &shape, bytes, device);
    tn__free(bytes);
    return x;
}

tn_tensor *tn_arange(tn_dtype dtype, double start, double stop, double step, const char *name)
{
    tn__graph_start();
    if (!tn__dtype_valid(dtype)) return TN__NULL(TN_DTYPE, "arange: %d is no dtype", (int)dtype);
    if (step == 0 || !isfinite(step) || !isfinite(start) || !isfinite(stop))
        return TN__NULL(TN_ARGUMENT, "arange: start %g, stop %g, step %g", start, stop, step);
    const double length = ceil((stop - start) / step);
    if (length > 0x1p56) return TN__NULL(TN_OVERFLOW, "arange: %g elements", length);
    const series s = {.start = start, .step = step, .count = length > 0 ? (int64_t)length : 0};
    return vector("arange", dtype, &s, name);
}

static tn_tensor *spaced(const char *function, tn_dtype dtype, double start, double stop, int64_t count, double base,
                         const char *name)
{
    tn__graph_start();
    if (!tn__dtype_valid(dtype)) return TN__NULL(TN_DTYPE, "%s: %d is no dtype", function, (int)dtype);
    if (count < 0 || !isfinite(start) || !isfinite(stop) || !isfinite(stop - start))
        return TN__NULL(TN_ARGUMENT, "%s: %" PRId64 " numbers from %g to %g", function, count, start, stop);
    const series s = {.start = start,
                      .stop = stop,
                      .step = count > 1 ? (stop - start) / (double)(count - 1) : 0,
                      .base = base,
                      .count = count,
                      .ends = count > 1};
    return vector(function, dtype, &s, name);
}

tn_tensor *tn_linspace(tn_dtype dtype, double start, double stop, int64_t count, const char *device)
{
    return spaced("linspace", dtype, start, stop, count, 0, device);
}

tn_tensor *tn_logspace(tn_dtype dtype, double start, double stop, int64_t count, double base, const char *device)
{
    if (!(base > 0) || !isfinite(base)) return TN__NULL(TN_ARGUMENT, "logspace: base %g", base);
    return spaced("logspace", dtype, start, stop, count, base, device);
}

static tn_tensor *scalar(tn_dtype dtype, const void *bytes)
{
    const tn_shape shape = {.ndim = 0};
    tn__graph_start();
    tn_tensor *x = tn__from_bytes(dtype, &shape, bytes, tn__host());
    if (x) x->weak = true;
    return x;
}

tn_tensor *tn_int(int64_t value)
{
    return scalar(TN_I64, &value);
}

tn_tensor *tn_float(double value)
{
    return scalar(TN_F64, &value);
}

tn_tensor *tn_bool(bool value)
{
    const uint8_t byte = value;
    return scalar(TN_BOOL, &byte);
}

/* ---- matrices ---- */

tn_tensor *tn__steps_along(int64_t count, int64_t step, int axis, int ndim, const char *device)
{
    tn_shape shape = {.ndim = ndim};
    for (int a = 0; a < ndim; a++) shape.dim[a] = a == axis ? count : 1;
    tn_tensor *line = tn_arange(TN_I64, 0, (double)(count * step), (double)step, device);
    return tn__next(line, line ? tn_reshape(line, shape) : NULL);
}

tn_tensor *tn__diagonal_mask(tn__comparison *compare, int64_t rows, int64_t columns, int64_t offset, const char *device)
{
    const int64_t k = offset < -rows ? -rows : offset > columns ? columns : offset; /* beyond the corners all are alike */
    tn_tensor *row = tn_arange(TN_I64, (double)k, (double)(k + rows), 1, device);
    row = tn__next(row, tn_unsqueeze(row, 1));
    tn_tensor *column = row ? tn_arange(TN_I64, 0, (double)columns, 1, device) : NULL;
    tn_tensor *mask = column ? compare(column, row) : NULL;
    tn_release(row);
    tn_release(column);
    return mask;
}

static tn_tensor *from_mask(const char *function, tn_dtype dtype, tn__comparison *compare, int64_t rows, int64_t columns,
                            int64_t offset, const char *name)
{
    const tn_shape shape = {.ndim = 2, .dim = {rows, columns}};
    int64_t n;
    tn__graph_start();
    if (!tn__dtype_valid(dtype)) return TN__NULL(TN_DTYPE, "%s: %d is no dtype", function, (int)dtype);
    if (tn__shape_numel(&shape, tn_dtype_size(dtype), &n, function) != TN_OK) return NULL;
    tn__device *device = tn__device_for_creation(name);
    if (!device || tn__device_takes(device, dtype, function) != TN_OK) return NULL;
    if (n == 0) return tn_zeros(dtype, shape, device->name);
    tn_tensor *mask = tn__diagonal_mask(compare, rows, columns, offset, device->name);
    return tn__next(mask, tn_cast(mask, dtype));
}

tn_tensor *tn_eye(tn_dtype dtype, int64_t rows, int64_t columns, int64_t offset, const char *device)
{
    return from_mask("eye", dtype, tn_eq, rows, columns, offset, device);
}

tn_tensor *tn_tri(tn_dtype dtype, int64_t rows, int64_t columns, int64_t offset, const char *device)
{
    return from_mask("tri", dtype, tn_le, rows, columns, offset, device);
}

/* ---- as another tensor ---- */

tn_tensor *tn_empty(tn_dtype dtype, tn_shape shape, const char *name)
{
    int64_t n;
    tn__graph_start();
    if (!tn__dtype_valid(dtype)) return TN__NULL(TN_DTYPE, "empty: %d is no dtype", (int)dtype);
    if (dtype == TN_BOOL) return tn_zeros(dtype, shape, name); /* any byte but 0 and 1 would be no bool */
    if (tn__shape_numel(&shape, tn_dtype_size(dtype), &n, "empty") != TN_OK) return NULL;
    tn__device *device = tn__device_for_creation(name);
    if (!device || tn__device_takes(device, dtype, "empty") != TN_OK) return NULL;
    return tn__from_bytes(dtype, &shape, NULL, device);
}

tn_tensor *tn_zeros_like(tn_tensor *x)
{
    if (tn__tensor_check(x, "zeros_like", "x") != TN_OK) return NULL;
    return tn_zeros(x->dtype, tn__tensor_shape(x), tn__tensor_device(x)->name);
}

tn_tensor *tn_ones_like(tn_tensor *x)
{
    if (tn__tensor_check(x, "ones_like", "x") != TN_OK) return NULL;
    return tn_ones(x->dtype, tn__tensor_shape(x), tn__tensor_device(x)->name);
}

tn_tensor *tn_full_like(tn_tensor *x, tn_tensor *value)
{
    if (tn__tensor_check(x, "full_like", "x") != TN_OK) return NULL;
    return tn_full(x->dtype, tn__tensor_shape(x), value, tn__tensor_device(x)->name);
}

tn_tensor *tn_empty_like(tn_tensor *x)
{
    if (tn__tensor_check(x, "empty_like", "x") != TN_OK) return NULL;
    return tn_empty(x->dtype, tn__tensor_shape(x), tn__tensor_device(x)->name);
}
