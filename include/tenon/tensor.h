/* Tensors: creation, views, movement, reading and writing, ownership.
 *
 * A handle is a window (shape, strides, offset) on a storage of one device. Functions that return a handle give the
 * caller one reference, registered in the thread's innermost scope; NULL means failure and nothing else. NULL as an
 * argument gives NULL and keeps the error that made it, so a chain of calls is checked once. Up to 16 axes; a negative axis
 * counts from the end; strides and offsets are in elements. Operations are recorded and run when their result is needed. */
#ifndef TENON_TENSOR_H
#define TENON_TENSOR_H

#include <stdint.h>
#include <stdio.h>
#include <tenon/base.h>
#include <tenon/dtype.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TN_MAX_AXES 16

typedef struct tn_tensor tn_tensor;

/** A shape by value; ndim 0 is one element. */
typedef struct tn_shape {
    int ndim;
    int64_t dim[TN_MAX_AXES];
} tn_shape;

/** A list of axes by value. */
typedef struct tn_axes {
    int count; /* -1: all axes */
    int axis[TN_MAX_AXES];
} tn_axes;

#ifdef __cplusplus
} /* extern "C" */
/* TN_SHAPE(2, 3), TN_SHAPE(); more than 16 dimensions give a shape that every function refuses. */
template <typename... Dims> inline tn_shape tn_shape_of_list(Dims... dims)
{
    const int64_t list[sizeof...(dims) + 1] = {static_cast<int64_t>(dims)..., 0};
    tn_shape s = {static_cast<int>(sizeof...(dims)), {0}};
    for (size_t i = 0; i < sizeof...(dims) && i < TN_MAX_AXES; i++) s.dim[i] = list[i];
    return s;
}
template <typename... Axes> inline tn_axes tn_axes_of_list(Axes... axes)
{
    const int list[sizeof...(axes) + 1] = {static_cast<int>(axes)..., 0};
    tn_axes a = {static_cast<int>(sizeof...(axes)), {0}};
    for (size_t i = 0; i < sizeof...(axes) && i < TN_MAX_AXES; i++) a.axis[i] = list[i];
    return a;
}
#define TN_SHAPE(...) tn_shape_of_list(__VA_ARGS__)
#define TN_AXES(...) tn_axes_of_list(__VA_ARGS__)
#define TN_ALL_AXES tn_axes{-1, {0}}
extern "C" {
#else
/* The leading element only gives an empty list something to hold; it is taken off again. */
#define TN_SHAPE(...)                                                                       \
    tn_shape_make((int)(sizeof((const int64_t[]){0, __VA_ARGS__}) / sizeof(int64_t)) - 1,   \
                  (const int64_t[]){0, __VA_ARGS__} + 1)
#define TN_AXES(...) \
    tn_axes_make((int)(sizeof((const int[]){0, __VA_ARGS__}) / sizeof(int)) - 1, (const int[]){0, __VA_ARGS__} + 1)
#define TN_ALL_AXES ((tn_axes){.count = -1})
#endif

/** A shape from a list; ndim beyond 16 gives one that every function refuses. */
TN_API tn_shape tn_shape_make(int ndim, const int64_t *dims);
TN_API tn_axes tn_axes_make(int count, const int *axes);

/** Stands for an absent optional operand. */
TN_API extern tn_tensor tn_none;
#define TN_NONE (&tn_none)

/* ---- creation: dtype, shape, device ("gpu:0", "host", "auto"; NULL: the creation scope, else "host") ---- */

/** Copies data (row-major, no padding) into a new tensor. bool bytes are normalised to 0 and 1.
 *  error  ARGUMENT (data NULL with elements to copy), SHAPE, DTYPE, DEVICE, CAPABILITY, MEMORY */
TN_API tn_tensor *tn_from(tn_dtype dtype, tn_shape shape, const void *data, const char *device) TN_MUST_USE;
TN_API tn_tensor *tn_zeros(tn_dtype dtype, tn_shape shape, const char *device) TN_MUST_USE;
TN_API tn_tensor *tn_ones(tn_dtype dtype, tn_shape shape, const char *device) TN_MUST_USE;
/** Every element is value, a scalar such as tn_float(0.5).
 *  error  OVERFLOW (an integer that does not fit the dtype) and those of tn_from */
TN_API tn_tensor *tn_full(tn_dtype dtype, tn_shape shape, tn_tensor *value, const char *device) TN_MUST_USE;
/** start, start + step, … below stop (above it for a negative step).
 *  error  ARGUMENT (step 0 or not finite) and those of tn_from */
TN_API tn_tensor *tn_arange(tn_dtype dtype, double start, double stop, double step, const char *device) TN_MUST_USE;
/** Uniform in [0, 1) for floats. Element i depends on the generator's seed and position + i only, on every device.
 *  dtype  f16 bf16 f32 f64 */
TN_API tn_tensor *tn_rand(tn_dtype dtype, tn_shape shape, const char *device) TN_MUST_USE;
/** Normal, mean 0, standard deviation 1 (Box and Muller over Philox4x32-10, Salmon et al. 2011).
 *  dtype  f16 bf16 f32 f64 */
TN_API tn_tensor *tn_randn(tn_dtype dtype, tn_shape shape, const char *device) TN_MUST_USE;
/** Uniform integers low … high - 1. dtype  any integer
 *  error  ARGUMENT (low >= high), OVERFLOW */
TN_API tn_tensor *tn_randint(tn_dtype dtype, tn_shape shape, int64_t low, int64_t high, const char *device) TN_MUST_USE;
/** Restarts the calling thread's generator. */
TN_API void tn_seed(uint64_t seed);
/** The calling thread's generator: seed and position, to save and restore. */
TN_API void tn_random_state(uint64_t *seed, uint64_t *position);
TN_API void tn_set_random_state(uint64_t seed, uint64_t position);

/** Weak scalars: 0-d, of any device, they take the other operand's dtype where their kind allows. */
TN_API tn_tensor *tn_int(int64_t value) TN_MUST_USE;
TN_API tn_tensor *tn_float(double value) TN_MUST_USE;
TN_API tn_tensor *tn_bool(bool value) TN_MUST_USE;

/* ---- questions ---- */

TN_API tn_dtype tn_dtype_of(const tn_tensor *x);
/** The canonical device name, "host" or "gpu:0"; "" for NULL. */
TN_API const char *tn_device_of(const tn_tensor *x);
TN_API int tn_ndim(const tn_tensor *x);
/** Extent of an axis. error  AXIS: -1 */
TN_API int64_t tn_dim(const tn_tensor *x, int axis);
TN_API tn_shape tn_shape_of(const tn_tensor *x);
/** Elements between neighbours along an axis. error  AXIS: 0 */
TN_API int64_t tn_stride(const tn_tensor *x, int axis);
/** First element's place in the storage, in elements. */
TN_API int64_t tn_offset(const tn_tensor *x);
TN_API int64_t tn_numel(const tn_tensor *x);
/** numel times the element's size. */
TN_API size_t tn_nbytes(const tn_tensor *x);
/** Row-major without gaps. */
TN_API bool tn_is_contiguous(const tn_tensor *x);
/** True while the tensor's values are recorded but not computed. */
TN_API bool tn_is_pending(const tn_tensor *x);

/* ---- views: share the storage, run nothing ---- */

/** One dimension may be -1. A view where strides allow, else a copy.
 *  error  SHAPE */
TN_API tn_tensor *tn_reshape(tn_tensor *x, tn_shape shape) TN_MUST_USE;
/** As tn_reshape, never a copy. error  SHAPE (also where strides do not allow it) */
TN_API tn_tensor *tn_view(tn_tensor *x, tn_shape shape) TN_MUST_USE;
/** Drops axes of extent 1: the listed ones, or all with TN_ALL_AXES. A listed axis of another extent stays. */
TN_API tn_tensor *tn_squeeze(tn_tensor *x, tn_axes axes) TN_MUST_USE;
/** Inserts an axis of extent 1 before axis (negative: counted in the result). */
TN_API tn_tensor *tn_unsqueeze(tn_tensor *x, int axis) TN_MUST_USE;
/** Swaps two axes. */
TN_API tn_tensor *tn_transpose(tn_tensor *x, int a, int b) TN_MUST_USE;
/** Axis i of the result is axis axes[i] of x; every axis once. */
TN_API tn_tensor *tn_permute(tn_tensor *x, tn_axes axes) TN_MUST_USE;
#define TN_END INT64_MAX /* "to the end" in tn_slice, for either sign of step */
/** Python's x[start:stop:step] along one axis: negative bounds count from the end, bounds are clamped.
 *  A negative step reverses: start TN_END means the last element, stop TN_END means through the first.
 *  error  AXIS, ARGUMENT (step 0) */
TN_API tn_tensor *tn_slice(tn_tensor *x, int axis, int64_t start, int64_t stop, int64_t step) TN_MUST_USE;
/** One index of an axis, which goes. error  AXIS (also an index out of range) */
TN_API tn_tensor *tn_select(tn_tensor *x, int axis, int64_t index) TN_MUST_USE;
/** Repeats axes of extent 1 by stride 0; new axes in front; -1 keeps an extent. error  SHAPE */
TN_API tn_tensor *tn_expand(tn_tensor *x, tn_shape shape) TN_MUST_USE;
/** Reverses axes. */
TN_API tn_tensor *tn_flip(tn_tensor *x, tn_axes axes) TN_MUST_USE;

/* ---- copies and movement ---- */

/** x itself (one more reference) when row-major without gaps, else a copy. */
TN_API tn_tensor *tn_contiguous(tn_tensor *x) TN_MUST_USE;
/** A copy with its own storage, in x's axis order. */
TN_API tn_tensor *tn_clone(tn_tensor *x) TN_MUST_USE;
/** On another device; x stays. The same device: one more reference, nothing runs.
 *  error  ARGUMENT, DEVICE, CAPABILITY (f64), MEMORY */
TN_API tn_tensor *tn_to(tn_tensor *x, const char *device) TN_MUST_USE;
/** tn_to(x, "host"): runs what is pending for x, copies, waits. */
TN_API tn_tensor *tn_host(tn_tensor *x) TN_MUST_USE;
/** Another dtype: float to integer truncates and saturates, NaN is 0; integers wrap; to bool is != 0. */
TN_API tn_tensor *tn_cast(tn_tensor *x, tn_dtype dtype) TN_MUST_USE;

/** Copies all elements, row-major, into out; runs what is pending, waits.
 *  error  ARGUMENT (bytes is not tn_nbytes(x)), MEMORY, COMPILE, LOST */
TN_API tn_status tn_read(tn_tensor *x, void *out, size_t bytes);
/** Replaces all elements by data, row-major; data may be reused on return.
 *  error  ARGUMENT (bytes; or x is an expanded view), MEMORY, LOST */
TN_API tn_status tn_write(tn_tensor *x, const void *data, size_t bytes);
/** The one element of x. error  SHAPE (more than one) */
TN_API tn_status tn_item(tn_tensor *x, double *value);
TN_API tn_status tn_item_int(tn_tensor *x, int64_t *value);
/** Sets the elements of x (whole, or a view of something) to src, broadcast to x's shape and cast to its dtype. Acts as
 *  if src were copied first. error  SHAPE, DEVICE, ARGUMENT (x is an expanded view), MEMORY */
TN_API tn_status tn_assign(tn_tensor *x, tn_tensor *src);
/** Runs what is pending for these tensors, without waiting. NULL entries fail. */
TN_API tn_status tn_realize(tn_tensor *const *list, int count);
/** Prints as NumPy does, with dtype and device: "tensor([1., 2.], dtype=f32, device=gpu:0)" and a newline. */
TN_API tn_status tn_print(FILE *file, tn_tensor *x);

/* ---- ownership ---- */

/** A mark in the thread's stack of scopes. */
typedef struct tn_scope {
    int depth;
} tn_scope;

/** Opens a scope: new handles of this thread belong to it. */
TN_API tn_scope tn_scope_push(void);
/** Releases the handles of the scope, and closes scopes left open inside. Returns the code of the first failure since
 *  the push, and makes it the last error. */
TN_API tn_status tn_scope_pop(tn_scope scope);
/** Moves x to the parent scope; without a parent it becomes the caller's. Returns x. */
TN_API tn_tensor *tn_keep(tn_tensor *x);
/** One more reference, beyond all scopes. Returns x. */
TN_API tn_tensor *tn_retain(tn_tensor *x);
/** Takes x out of its scope and drops one reference. NULL and TN_NONE are allowed. */
TN_API void tn_release(tn_tensor *x);
/** Handles alive in the process. */
TN_API int64_t tn_live_count(void);

#ifdef __cplusplus
}
#endif
#endif
