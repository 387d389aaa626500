/* More views and movement, creation and random numbers. The simple ones are in tensor.h.
 *
 * A view shares the storage and runs nothing. A count of tensors goes in as an array and its length, and comes out into an
 * array of the caller's with its capacity. */
#ifndef TENON_MOVEMENT_H
#define TENON_MOVEMENT_H

#include <tenon/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- views ---- */

/** Axis from[i] of x becomes axis to[i] of the result; the others keep their order.
 *  error  AXIS (out of range, given twice, lists of different lengths) */
TN_API tn_tensor *tn_movedim(tn_tensor *x, tn_axes from, tn_axes to) TN_MUST_USE;
/** NumPy's name of tn_expand. error  SHAPE */
TN_API tn_tensor *tn_broadcast_to(tn_tensor *x, tn_shape shape) TN_MUST_USE;
/** The elements with index along axis2 = index along axis1 + offset, as a new last axis; both axes go.
 *  shape  [..., m, n] -> [..., min(m, n - offset)], by offset below 0 min(m + offset, n), and 0 beyond a corner
 *  error  AXIS (out of range, twice the same) */
TN_API tn_tensor *tn_diagonal(tn_tensor *x, int64_t offset, int axis1, int axis2) TN_MUST_USE;
/** Windows of size elements along an axis, one every step: they overlap where step < size.
 *  shape  extent n of the axis becomes (n - size) / step + 1, a new last axis has size
 *  error  AXIS, ARGUMENT (size below 0 or above n, step below 1), SHAPE (17 axes) */
TN_API tn_tensor *tn_unfold(tn_tensor *x, int axis, int64_t size, int64_t step) TN_MUST_USE;
/** Any window on x's storage: element [i, j, …] is the storage's element offset + i·strides[0] + j·strides[1] + …; strides
 *  may be 0, negative, overlapping. x's own window does not count.
 *  error  SHAPE (lists of different lengths), ARGUMENT (an element outside the storage) */
TN_API tn_tensor *tn_as_strided(tn_tensor *x, tn_shape shape, tn_shape strides, int64_t offset) TN_MUST_USE;
/** Pieces of size along an axis, the last one smaller where it does not divide; an empty axis is one empty piece.
 *  *count is the number of pieces. They are written to out, each a reference of the caller's; with out NULL they are only
 *  counted. After an error nothing is left in out.
 *  error  AXIS, ARGUMENT (size below 1 – or below 0 for an empty axis; capacity below the number of pieces), MEMORY */
TN_API tn_status tn_split(tn_tensor *x, int axis, int64_t size, tn_tensor **out, int capacity, int *count);
/** At most chunks pieces of one size (rounded up), the last one smaller; an empty axis is chunks empty pieces. out as above.
 *  error  AXIS, ARGUMENT (chunks below 1; capacity), MEMORY */
TN_API tn_status tn_chunk(tn_tensor *x, int axis, int chunks, tn_tensor **out, int capacity, int *count);
/** Axes first to last become one. A view where strides allow, else a copy. No axes give [1].
 *  error  AXIS (out of range, last before first) */
TN_API tn_tensor *tn_flatten(tn_tensor *x, int first, int last) TN_MUST_USE;
/** NumPy's name of tn_flatten(x, 0, -1). */
TN_API tn_tensor *tn_ravel(tn_tensor *x) TN_MUST_USE;
/** One axis becomes several; one of the sizes may be -1. A view.
 *  error  AXIS, SHAPE (sizes do not multiply to the extent, above 16 axes) */
TN_API tn_tensor *tn_unflatten(tn_tensor *x, int axis, tn_shape sizes) TN_MUST_USE;

/** Axes of extent 1 added where there are fewer than 1, 2 or 3: [] -> [1], [1, 1], [1, 1, 1]; [n] -> [1, n], [1, n, 1];
 *  [m, n] -> [m, n, 1]. A view; of enough axes one more reference. */
TN_API tn_tensor *tn_atleast_1d(tn_tensor *x) TN_MUST_USE;
TN_API tn_tensor *tn_atleast_2d(tn_tensor *x) TN_MUST_USE;
TN_API tn_tensor *tn_atleast_3d(tn_tensor *x) TN_MUST_USE;

/* ---- joining. All entries on one device; a 0-d "host" tensor goes with any. The result is a copy, row-major: a fresh tensor
 * whose slices are written, so it runs what is pending of the entries. ---- */

/** The entries one after the other along an axis.
 *  shape  alike but along axis; an entry of shape [0] goes with any, as in PyTorch
 *  dtype  any, promoted
 *  error  ARGUMENT (no entries), SHAPE (also an entry of no axes), AXIS, DTYPE, DEVICE, OVERFLOW, MEMORY */
TN_API tn_tensor *tn_concat(tn_tensor *const *list, int count, int axis) TN_MUST_USE;
/** The entries along a new axis (negative: counted in the result).
 *  shape  all the same; 16 axes in the result are the most
 *  dtype, error  as tn_concat */
TN_API tn_tensor *tn_stack(tn_tensor *const *list, int count, int axis) TN_MUST_USE;
/** Side by side: tn_concat along axis 1, of vectors and numbers along axis 0. error  as tn_concat */
TN_API tn_tensor *tn_hstack(tn_tensor *const *list, int count) TN_MUST_USE;
/** One below the other: tn_concat along axis 0; vectors are rows. error  as tn_concat */
TN_API tn_tensor *tn_vstack(tn_tensor *const *list, int count) TN_MUST_USE;
/** One behind the other: tn_concat along axis 2; matrices [m, n] are [m, n, 1], vectors [1, n, 1]. error  as tn_concat */
TN_API tn_tensor *tn_dstack(tn_tensor *const *list, int count) TN_MUST_USE;
/** Zeros with the entries as blocks along the diagonal; a vector is a row, a number [1, 1].
 *  dtype  any, promoted; error  SHAPE (an entry of more than 2 axes), and as tn_concat */
TN_API tn_tensor *tn_block_diag(tn_tensor *const *list, int count) TN_MUST_USE;
/** Turned over: what leaves an axis at its end comes back at its start. shifts.dim[i] places along axes.axis[i], negative
 *  towards the start; an axis may come twice. TN_ALL_AXES with one shift: along the flattened x. A copy.
 *  error  SHAPE (lists of different lengths), AXIS, MEMORY */
TN_API tn_tensor *tn_roll(tn_tensor *x, tn_shape shifts, tn_axes axes) TN_MUST_USE;

typedef enum tn_pad_mode {
    TN_PAD_CONSTANT,
    TN_PAD_REFLECT,   /* c b [a b c] b a: at most n - 1 on a side */
    TN_PAD_REPLICATE, /* a a [a b c] c c: not of an empty axis */
    TN_PAD_CIRCULAR   /* b c [a b c] a b: at most n on a side */
} tn_pad_mode;

/** More elements before and after each axis, a number for every axis of x. TN_PAD_CONSTANT sets them to value (TN_NONE: 0),
 *  and takes elements off where the number is negative; the other modes take them from x. A copy.
 *  error  SHAPE (a number of numbers that is not x's axes; a negative extent), ARGUMENT (the mode's limits), OVERFLOW (value
 *         does not fit the dtype), MEMORY */
TN_API tn_tensor *tn_pad(tn_tensor *x, tn_shape before, tn_shape after, tn_pad_mode mode, tn_tensor *value) TN_MUST_USE;

/* ---- repeating: copies ---- */

/** x beside itself, counts.dim[i] times along axis i; with fewer counts than axes the last axes, with more new axes in front.
 *  error  SHAPE (a negative count, above 16 axes), OVERFLOW */
TN_API tn_tensor *tn_tile(tn_tensor *x, tn_shape counts) TN_MUST_USE;
/** PyTorch's repeat: tn_tile with a count for every axis at least. error  SHAPE (fewer), and as tn_tile */
TN_API tn_tensor *tn_repeat(tn_tensor *x, tn_shape counts) TN_MUST_USE;
/** Every element count times in a row along an axis: a a b b c c. (NumPy's repeat.)
 *  error  AXIS, ARGUMENT (a negative count), OVERFLOW */
TN_API tn_tensor *tn_repeat_interleave(tn_tensor *x, int64_t count, int axis) TN_MUST_USE;

/* ---- matrices and grids ---- */

/** Turned k times by a right angle from axis a towards axis b. A view. error  AXIS (out of range, twice the same) */
TN_API tn_tensor *tn_rot90(tn_tensor *x, int k, int a, int b) TN_MUST_USE;
/** A matrix of zeros with the vector x on a diagonal, or a copy of a matrix' diagonal; offset as in tn_diagonal.
 *  shape  [n] -> [n + |offset|, n + |offset|]; [m, n] -> as tn_diagonal
 *  error  SHAPE (neither 1 nor 2 axes), OVERFLOW, MEMORY */
TN_API tn_tensor *tn_diag(tn_tensor *x, int64_t offset) TN_MUST_USE;
/** Zeros with x's last axis on the diagonal offset of two axes of the result, the inverse of tn_diagonal.
 *  shape  [..., n] -> [..., n + |offset|, n + |offset|] for the axes -2 and -1
 *  error  AXIS (out of range in the result, twice the same), SHAPE (no axes, 16 axes), OVERFLOW, MEMORY */
TN_API tn_tensor *tn_diag_embed(tn_tensor *x, int64_t offset, int axis1, int axis2) TN_MUST_USE;
/** The last two axes with 0 below (triu) or above (tril) the diagonal offset. error  SHAPE (fewer than 2 axes), MEMORY */
TN_API tn_tensor *tn_triu(tn_tensor *x, int64_t offset) TN_MUST_USE;
TN_API tn_tensor *tn_tril(tn_tensor *x, int64_t offset) TN_MUST_USE;
/** Coordinates of a grid: out[i] is the vector list[i] repeated (stride 0) along the axes of the others; views, each of its
 *  own dtype and device. No axes count as one element. out has count places.
 *  shape  "ij" (xy false): [n0, n1, n2, …]; "xy": the first two change places, [n1, n0, n2, …]
 *  error  ARGUMENT (count outside 1 to 16, out NULL), SHAPE (an entry of 2 axes or more), MEMORY: nothing is left in out */
TN_API tn_status tn_meshgrid(tn_tensor *const *list, int count, bool xy, tn_tensor **out);
/** 1 where the new last axis' index is x's value, else 0; a value outside 0 … classes - 1 gives zeros only.
 *  dtype  integers -> i64
 *  error  DTYPE, ARGUMENT (classes below 1), SHAPE (17 axes) */
TN_API tn_tensor *tn_one_hot(tn_tensor *x, int64_t classes) TN_MUST_USE;

/* ---- creation: dtype, then shape or numbers, then device, as in tensor.h ---- */

/** Memory of undefined contents (bool: false). error  those of tn_from */
TN_API tn_tensor *tn_empty(tn_dtype dtype, tn_shape shape, const char *device) TN_MUST_USE;
/** Of x's dtype, shape and device; row-major. error  MEMORY; full_like also SHAPE and OVERFLOW as tn_full */
TN_API tn_tensor *tn_zeros_like(tn_tensor *x) TN_MUST_USE;
TN_API tn_tensor *tn_ones_like(tn_tensor *x) TN_MUST_USE;
TN_API tn_tensor *tn_full_like(tn_tensor *x, tn_tensor *value) TN_MUST_USE;
TN_API tn_tensor *tn_empty_like(tn_tensor *x) TN_MUST_USE;
/** count numbers from start to stop, both included exactly, evenly spaced: start + i·((stop - start) / (count - 1)), computed
 *  in f64 and cast; a single one is start.
 *  error  ARGUMENT (count below 0; start or stop not finite) and those of tn_from */
TN_API tn_tensor *tn_linspace(tn_dtype dtype, double start, double stop, int64_t count, const char *device) TN_MUST_USE;
/** base to the powers of tn_linspace. error  ARGUMENT (also a base not above 0) and those of tn_from */
TN_API tn_tensor *tn_logspace(tn_dtype dtype, double start, double stop, int64_t count, double base,
                              const char *device) TN_MUST_USE;
/** Ones on the diagonal offset, else zeros. error  SHAPE, DTYPE, DEVICE, CAPABILITY, MEMORY */
TN_API tn_tensor *tn_eye(tn_dtype dtype, int64_t rows, int64_t columns, int64_t offset, const char *device) TN_MUST_USE;
/** Ones on and below the diagonal offset, else zeros. error  as tn_eye */
TN_API tn_tensor *tn_tri(tn_dtype dtype, int64_t rows, int64_t columns, int64_t offset, const char *device) TN_MUST_USE;

/* ---- random numbers, of the calling thread's generator (tn_seed): an element has its place in the stream ---- */

/** low + (high - low)·u with u as tn_rand; rounding to the dtype may give high itself. dtype  floats
 *  error  ARGUMENT (low above high, not finite) and those of tn_rand */
TN_API tn_tensor *tn_uniform(tn_dtype dtype, tn_shape shape, double low, double high, const char *device) TN_MUST_USE;
/** mean + deviation·z with z as tn_randn. dtype  floats
 *  error  ARGUMENT (deviation below 0, not finite) and those of tn_randn */
TN_API tn_tensor *tn_normal(tn_dtype dtype, tn_shape shape, double mean, double deviation, const char *device) TN_MUST_USE;
/** As tn_normal, but only from low to high, which may be infinite. dtype  floats
 *  error  ARGUMENT (deviation not above 0, not finite; low not below high, or both so far out that f32 cannot tell them apart) and
 *  those of tn_rand */
TN_API tn_tensor *tn_truncated_normal(tn_dtype dtype, tn_shape shape, double mean, double deviation, double low, double high,
                                      const char *device) TN_MUST_USE;
/** -log(1 - u) / rate with u as tn_rand: of mean 1 / rate, never negative. dtype  floats
 *  error  ARGUMENT (rate not above 0, not finite) and those of tn_rand */
TN_API tn_tensor *tn_exponential(tn_dtype dtype, tn_shape shape, double rate, const char *device) TN_MUST_USE;
/** 1 with the probability in p, else 0; p of 1 and more is always 1, p of 0 and less, or NaN, always 0.
 *  shape, dtype, device  p's; floats. Compares p with tn_rand in f32 (f64 for an f64 p).
 *  error  DTYPE, and those of tn_rand */
TN_API tn_tensor *tn_bernoulli(tn_tensor *p) TN_MUST_USE;
/** Indices drawn with probabilities in the ratio of the weights along the last axis, without replacement each at most once.
 *  Checks the weights at once. shape  count along the last axis; dtype  floats -> i64
 *  error  ARGUMENT (a weight below 0 or NaN, weights that sum to 0 or to infinity, count below 1, or without replacement above the
 *  weights that are not 0), SHAPE (no axes, no weights), DTYPE, and those of tn_rand */
TN_API tn_tensor *tn_multinomial(tn_tensor *p, int64_t count, bool replacement) TN_MUST_USE;
/** 0 … n - 1 in random order, each order equally likely (Fisher and Yates, with rejection instead of a remainder). Takes n
 *  places of the stream, the same on every device: it is made on the host and copied. dtype  i64
 *  error  ARGUMENT (n below 0), DEVICE, MEMORY */
TN_API tn_tensor *tn_permutation(int64_t n, const char *device) TN_MUST_USE;

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif
