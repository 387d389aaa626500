/* Losses: how far x is from what it should be, as one number to be differentiated, or one for each element.
 *
 *     tn_tensor *loss = tn_cross_entropy(tn_module_forward(net, images), labels, TN_REDUCE_MEAN, NULL);
 *
 * f16 and bf16 are computed in f32 and rounded once. The mean over nothing is NaN. dtype, if nothing else is said: floats,
 * promoted. Errors of all: ARGUMENT (no such reduction), SHAPE, DTYPE, DEVICE, MEMORY. */
#ifndef TENON_LOSS_H
#define TENON_LOSS_H

#include <tenon/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tn_reduction {
    TN_REDUCE_NONE, /* each element's */
    TN_REDUCE_MEAN,
    TN_REDUCE_SUM
} tn_reduction;

/* ---- classes ---- */

typedef struct tn_cross_entropy_options {
    tn_tensor *weight;    /* [c], of each class; NULL: 1. The mean is a weighted one. It gets no gradient */
    double smoothing;     /* 0 … 1 of the target goes evenly to all classes; not in tn_nll_loss */
    bool ignores;         /* ignore_index below counts; else it is -100 */
    int64_t ignore_index; /* a label that is not looked at and not counted */
} tn_cross_entropy_options;

/** -log softmax(x) of the target's class. options may be NULL. The mean with nothing counted is NaN.
 *  shape  x [n, c, ...] or [c]; target is x's without c, or, for probabilities, x's; the result is target's without c
 *  dtype  target: integers but u64 are labels, floats probabilities of the classes
 *  error  AXIS (a label beyond 0 … c - 1, reported like an index out of range, tenon/index.h), ARGUMENT (smoothing) */
TN_API tn_tensor *tn_cross_entropy(tn_tensor *x, tn_tensor *target, tn_reduction reduction,
                                   const tn_cross_entropy_options *options) TN_MUST_USE;
/** -x of the target's class, of x that are logarithms of probabilities (tn_log_softmax). As tn_cross_entropy with labels. */
TN_API tn_tensor *tn_nll_loss(tn_tensor *x, tn_tensor *target, tn_reduction reduction,
                              const tn_cross_entropy_options *options) TN_MUST_USE;

/* ---- numbers; x and target broadcast, which the log (tn_set_log) tells ---- */

/** (x - target)^2. */
TN_API tn_tensor *tn_mse_loss(tn_tensor *x, tn_tensor *target, tn_reduction reduction) TN_MUST_USE;
/** |x - target|. */
TN_API tn_tensor *tn_l1_loss(tn_tensor *x, tn_tensor *target, tn_reduction reduction) TN_MUST_USE;
/** d^2 / 2 for |d| = |x - target| up to delta, beyond delta (|d| - delta / 2). error  ARGUMENT (delta is not above 0) */
TN_API tn_tensor *tn_huber_loss(tn_tensor *x, tn_tensor *target, double delta, tn_reduction reduction) TN_MUST_USE;
/** d^2 / (2 beta) up to beta, beyond |d| - beta / 2; tn_l1_loss for beta 0. error  ARGUMENT (beta below 0) */
TN_API tn_tensor *tn_smooth_l1_loss(tn_tensor *x, tn_tensor *target, double beta, tn_reduction reduction) TN_MUST_USE;

/* ---- probabilities; x and target have one shape ---- */

/** -target log(x) - (1 - target) log(1 - x), a logarithm being -100 at least; NaN for x beyond 0 … 1. weight, of each element,
 *  broadcasts to x and may be NULL. Where a logarithm is cut off its gradient is 0. */
TN_API tn_tensor *tn_bce_loss(tn_tensor *x, tn_tensor *target, tn_tensor *weight, tn_reduction reduction) TN_MUST_USE;

typedef struct tn_bce_options {
    tn_tensor *weight;          /* of each element; broadcasts to x; NULL: 1 */
    tn_tensor *positive_weight; /* of the target's part; broadcasts to x; NULL: 1 */
} tn_bce_options;
/** tn_bce_loss of sigmoid(x), without overflow on the way. options may be NULL. */
TN_API tn_tensor *tn_bce_with_logits(tn_tensor *x, tn_tensor *target, tn_reduction reduction,
                                     const tn_bce_options *options) TN_MUST_USE;
/** target (log(target) - x), of x that are logarithms of probabilities; with log_target those of target are given, too. 0 where
 *  target is 0. x and target broadcast. Divide the sum by the batch's size for PyTorch's "batchmean". */
TN_API tn_tensor *tn_kl_div(tn_tensor *x, tn_tensor *target, bool log_target, tn_reduction reduction) TN_MUST_USE;

/* ---- distances ---- */

/** 1 - cos(a, b) where target is 1, max(0, cos(a, b) - margin) where it is -1.
 *  shape  a and b [n, d], target [n]; or [d] and []
 *  dtype  target: any */
TN_API tn_tensor *tn_cosine_embedding_loss(tn_tensor *a, tn_tensor *b, tn_tensor *target, double margin,
                                           tn_reduction reduction) TN_MUST_USE;
/** x where target is 1, max(0, margin - x) where it is -1. x and target broadcast. dtype  target: any */
TN_API tn_tensor *tn_hinge_embedding_loss(tn_tensor *x, tn_tensor *target, double margin, tn_reduction reduction) TN_MUST_USE;

typedef struct tn_triplet_options {
    double p;       /* of the norm; 0: 2 */
    double epsilon; /* added to each difference; 0: 1e-6 */
    bool swap;      /* the nearer of anchor and positive is held against negative */
} tn_triplet_options;
/** max(0, |anchor - positive| - |anchor - negative| + margin), norms over the last axis. options may be NULL.
 *  shape  one shape, or broadcasting: [..., d] -> [...] */
TN_API tn_tensor *tn_triplet_margin_loss(tn_tensor *anchor, tn_tensor *positive, tn_tensor *negative, double margin,
                                         tn_reduction reduction, const tn_triplet_options *options) TN_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
