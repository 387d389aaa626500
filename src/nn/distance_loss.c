/* Losses of distances and angles between vectors. */
#include "nn/loss.h"

tn_tensor *tn_hinge_embedding_loss(tn_tensor *x, tn_tensor *target, double margin, tn_reduction reduction)
{
    static const tn__loss_form form = {"hinge_embedding_loss", {"x", "target"}, 2, 2, 1};
    tn_tensor *const operands[] = {x, target};
    tn__loss l;
    if (tn__loss_start(&l, &form, operands, reduction) != TN_OK || tn__loss_shapes(&l, true) != TN_OK)
        return tn__loss_end(&l, NULL);
    tn_tensor *apart = tn_relu(tn_sub(tn_float(margin), l.x[0]));
    tn_tensor *y = tn_add(tn_where(tn_ne(l.x[1], tn_int(1)), apart, tn_int(0)),
                          tn_where(tn_ne(l.x[1], tn_int(-1)), l.x[0], tn_int(0)));
    return tn__loss_reduce(&l, y);
}

/* a·b / sqrt((|a|^2 + e)(|b|^2 + e)) over the last axis, as PyTorch's loss has it. */
static tn_tensor *cosine(tn_tensor *a, tn_tensor *b)
{
    tn_tensor *const e = tn_float(1e-12);
    tn_tensor *product = tn_sum(tn_mul(a, b), TN_AXES(-1), false);
    tn_tensor *square_a = tn_add(tn_sum(tn_square(a), TN_AXES(-1), false), e);
    tn_tensor *square_b = tn_add(tn_sum(tn_square(b), TN_AXES(-1), false), e);
    return tn_div(product, tn_sqrt(tn_mul(square_a, square_b)));
}

tn_tensor *tn_cosine_embedding_loss(tn_tensor *a, tn_tensor *b, tn_tensor *target, double margin, tn_reduction reduction)
{
    static const tn__loss_form form = {"cosine_embedding_loss", {"a", "b", "target"}, 3, 3, 2};
    tn_tensor *const operands[] = {a, b, target};
    tn__loss l;
    if (tn__loss_start(&l, &form, operands, reduction) != TN_OK) return tn__loss_end(&l, NULL);
    const tn_shape of_a = tn__tensor_shape(a), of_b = tn__tensor_shape(b);
    const bool fits = a->ndim >= 1 && a->ndim <= 2 && tn__shape_equal(&of_a, &of_b) && target->ndim == a->ndim - 1 &&
                      (a->ndim == 1 || target->dim[0] == a->dim[0]);
    if (!fits) {
        (void)tn__fail(
            TN_SHAPE, "cosine_embedding_loss: a %s, b %s and target %s; they are [n, d], [n, d] and [n], or [d], [d] and []",
            tn__shape_text(of_a.ndim, of_a.dim), tn__shape_text(of_b.ndim, of_b.dim), tn__shape_text(target->ndim, target->dim));
        return tn__loss_end(&l, NULL);
    }
    tn_tensor *c = cosine(l.x[0], l.x[1]);
    tn_tensor *near = tn_where(tn_eq(l.x[2], tn_int(1)), tn_sub(tn_int(1), c), tn_int(0));
    tn_tensor *apart = tn_where(tn_eq(l.x[2], tn_int(-1)), tn_relu(tn_sub(c, tn_float(margin))), tn_int(0));
    return tn__loss_reduce(&l, tn_add(near, apart));
}

static tn_tensor *distance(tn_tensor *a, tn_tensor *b, const tn_triplet_options *options)
{
    const double p = options && options->p != 0 ? options->p : 2,
                 epsilon = options && options->epsilon != 0 ? options->epsilon : 1e-6;
    return tn_norm(tn_add(tn_sub(a, b), tn_float(epsilon)), p, TN_AXES(-1), false);
}

tn_tensor *tn_triplet_margin_loss(tn_tensor *anchor, tn_tensor *positive, tn_tensor *negative, double margin,
                                  tn_reduction reduction, const tn_triplet_options *options)
{
    static const tn__loss_form form = {"triplet_margin_loss", {"anchor", "positive", "negative"}, 3, 3, 3};
    tn_tensor *const operands[] = {anchor, positive, negative};
    tn__loss l;
    if (tn__loss_start(&l, &form, operands, reduction) != TN_OK) return tn__loss_end(&l, NULL);
    tn_tensor *near = distance(l.x[0], l.x[1], options), *far = distance(l.x[0], l.x[2], options);
    if (options && options->swap) far = tn_minimum(far, distance(l.x[1], l.x[2], options));
    return tn__loss_reduce(&l, tn_relu(tn_add(tn_sub(near, far), tn_float(margin))));
}
