/* Gradients as a user has them: what requires one, backward, tn_grad, hooks, assignments, checks. Case numbers are those of the shared
 * list. What it costs is in test_autograd_costs.c. */
#include "bones.h"
#include "core/derive.h"
#include "graph/gradients.h"

#include <math.h>
#include <pthread.h>

#define leaf(shape, ...) required(test_f32(shape, __VA_ARGS__))

static tn_tensor *required(tn_tensor *x)
{
    ck_ok(tn_set_requires_grad(x, true));
    return x;
}

static tn_tensor *summed(tn_tensor *x)
{
    return ck_made(tn_sum(x, TN_ALL_AXES, false));
}

static tn_tensor *square_sum(tn_tensor *x)
{
    return summed(tn_mul(x, x));
}

/* The gradient that x has by now. */
#define ck_gradient(x, ...) ck_values(tn_grad_of(x), __VA_ARGS__)
#define ck_no_gradient(x) ck_assert_ptr_eq(tn_grad_of(x), TN_NONE)

/* ---- what requires a gradient ---- */

START_TEST(only_floats_can_require_a_gradient)
{
    tn_tensor *x = test_f32(TN_SHAPE(2), {1, 2});
    ck_assert(!tn_requires_grad(x) && tn_is_leaf(x));
    ck_ok(tn_set_requires_grad(x, false));
    ck_assert(tn_requires_grad(required(x)) && tn_is_leaf(x));
    ck_ok(tn_set_requires_grad(x, false));
    ck_assert(!tn_requires_grad(x));
    (void)required(tn_cast(x, TN_F16));
    (void)required(tn_cast(x, TN_BF16));
    ck_fails(tn_set_requires_grad(test_i32(TN_SHAPE(2), {1, 2}), true), TN_DTYPE,
             "set_requires_grad: x [2] of i32; only floats have gradients");
    ck_fails(tn_set_requires_grad(test_bool(TN_SHAPE(1), {1}), true), TN_DTYPE, "bool");
    ck_fails(tn_set_requires_grad(NULL, true), TN_ARGUMENT, "set_requires_grad");
    ck_fails(tn_set_requires_grad(TN_NONE, true), TN_ARGUMENT, "TN_NONE");
    ck_fails(tn_requires_grad(NULL), TN_ARGUMENT, "requires_grad");
    ck_fails(tn_is_leaf(NULL), TN_ARGUMENT, "is_leaf");
}
END_TEST

START_TEST(what_is_computed_from_a_leaf_requires_a_gradient_where_it_is_a_float)
{
    tn_tensor *x = leaf(TN_SHAPE(2), {1, 2}), *y = tn_add(x, tn_int(1)), *v = tn_slice(x, 0, 0, 1, 1), *n = tn_cast(x, TN_I32);
    ck_assert(tn_requires_grad(y) && !tn_is_leaf(y));
    ck_assert(tn_requires_grad(v) && !tn_is_leaf(v));
    ck_assert(!tn_requires_grad(n) && tn_is_leaf(n));
    ck_assert(!tn_requires_grad(tn_gt(x, tn_int(0))));
    ck_assert(!tn_requires_grad(tn_cast(n, TN_F32)));
    ck_assert(!tn_requires_grad(tn_add(n, tn_int(1))));
    ck_ok(tn_set_requires_grad(y, true));
    ck_fails(tn_set_requires_grad(y, false), TN_ARGUMENT, "x [2] was computed from something", "tn_detach");
}
END_TEST

START_TEST(detach_shows_the_same_memory_beyond_differentiation)
{
    tn_tensor *x = leaf(TN_SHAPE(2), {1, 2}), *y = tn_mul(x, tn_int(3)), *d = tn_detach(y), *z = tn_detach(x); /* x is not saved */
    ck_assert(!tn_requires_grad(d) && tn_is_leaf(d) && !tn_requires_grad(z));
    ck_ok(tn_assign(z, tn_int(5)));
    ck_values(x, {5, 5});
    ck_ok(tn_backward(summed(tn_add(tn_mul(d, x), y))));
    ck_gradient(x, {3 + 3, 6 + 3});
    ck_fails(tn_detach(NULL), TN_ARGUMENT, "detach");
}
END_TEST

START_TEST(nothing_is_remembered_in_a_no_grad_scope)
{
    tn_tensor *x = leaf(TN_SHAPE(2), {1, 2});
    ck_assert(tn_grad_enabled());
    const tn_scope outer = tn_scope_push_no_grad(), inner = tn_scope_push_no_grad();
    ck_assert(!tn_grad_enabled() && !tn_requires_grad(tn_neg(x)) && tn_requires_grad(x));
    ck_ok(tn_scope_pop(inner));
    ck_assert(!tn_grad_enabled());
    ck_assert(!tn_set_grad_enabled(true)); /* only until the scope ends */
    ck_assert(tn_requires_grad(tn_neg(x)));
    ck_ok(tn_scope_pop(outer));
    ck_assert(tn_grad_enabled() && tn_requires_grad(tn_neg(x)));
}
END_TEST

START_TEST(a_no_grad_scope_ends_with_the_scope_around_it_and_after_errors)
{
    const tn_scope plain = tn_scope_push();
    (void)tn_scope_push_no_grad();
    (void)tn_scope_push();
    (void)tn_scope_push_no_grad();
    ck_assert_ptr_null(tn_reshape(tn_int(1), TN_SHAPE(2)));
    ck_assert(!tn_grad_enabled());
    ck_fails(tn_scope_pop(plain), TN_SHAPE, "reshape");
    ck_assert(tn_grad_enabled());
    ck_assert(tn_set_grad_enabled(false));
    const tn_scope off = tn_scope_push_no_grad();
    ck_ok(tn_scope_pop(off));
    ck_assert(!tn_grad_enabled());
    ck_assert(!tn_set_grad_enabled(true));
}
END_TEST

static void *is_enabled(void *result)
{
    *(bool *)result = tn_grad_enabled();
    return NULL;
}

START_TEST(the_switch_is_the_threads_own)
{
    const tn_scope scope = tn_scope_push_no_grad();
    pthread_t thread;
    bool there = false;
    ck_assert_int_eq(pthread_create(&thread, NULL, is_enabled, &there), 0);
    pthread_join(thread, NULL);
    ck_assert(there && !tn_grad_enabled());
    ck_ok(tn_scope_pop(scope));
}
END_TEST

/* ---- gradients of leaves ---- */

START_TEST(gradients_add_up_until_they_are_taken_away)
{
    tn_tensor *x = leaf(TN_SHAPE(2), {1, 2});
    ck_no_gradient(x);
    ck_ok(tn_backward(square_sum(x)));
    tn_tensor *seen_before = tn_grad_of(x);
    ck_values(seen_before, {2, 4});
    ck_ok(tn_backward(square_sum(x)));
    ck_values(seen_before, {4, 8}); /* in place */
    ck_ok(tn_zero_grad(&x, 1));
    ck_no_gradient(x);
    ck_values(seen_before, {4, 8});
    ck_ok(tn_backward(square_sum(x)));
    ck_gradient(x, {2, 4});
    ck_values(seen_before, {4, 8});
}
END_TEST

/* The gradient of a sum is one element, expanded; what is kept has memory of its own. */
START_TEST(the_gradient_of_a_sum_adds_up_too)
{
    test_at_once(true);
    tn_tensor *x = leaf(TN_SHAPE(2, 3), {1, 2, 3, 4, 5, 6});
    for (int i = 0; i < 2; i++) ck_ok(tn_backward(summed(x)));
    ck_gradient(x, {2, 2, 2, 2, 2, 2});
    ck_ok(tn_assign(tn_select(tn_grad_of(x), 0, 0), tn_int(7)));
    ck_gradient(x, {7, 7, 7, 2, 2, 2});
}
END_TEST

START_TEST(leaves_never_share_the_memory_of_their_gradients)
{
    tn_tensor *a = leaf(TN_SHAPE(2), {1, 2}), *b = leaf(TN_SHAPE(2), {3, 4}), *up = test_f32(TN_SHAPE(2), {5, 6}),
              *y = tn_add(a, b);
    ck_ok(tn_backward_all(&y, &up, 1, NULL));
    ck_ok(tn_assign(tn_grad_of(a), tn_int(0)));
    ck_gradient(b, {5, 6});
    ck_values(up, {5, 6});
    ck_ok(tn_backward_all(&b, &up, 1, NULL));
    ck_gradient(b, {10, 12});
    ck_gradient(a, {0, 0});
    ck_values(up, {5, 6});
}
END_TEST

START_TEST(a_gradient_is_set_as_a_copy_of_what_fits)
{
    tn_tensor *x = leaf(TN_SHAPE(2), {1, 2}), *g = test_f32(TN_SHAPE(2), {3, 4});
    ck_ok(tn_set_grad(x, g));
    ck_ok(tn_assign(g, tn_int(0)));
    ck_gradient(x, {3, 4});
    ck_ok(tn_backward(square_sum(x)));
    ck_gradient(x, {5, 8});
    ck_fails(tn_set_grad(x, test_f32(TN_SHAPE(1, 2), {3, 4})), TN_SHAPE, "set_grad: a gradient [1,2] for x [2]");
    ck_fails(tn_set_grad(x, test_i32(TN_SHAPE(2), {3, 4})), TN_DTYPE, "a gradient of i32 for x of f32");
    ck_fails(tn_set_grad(test_i32(TN_SHAPE(1), {3}), test_i32(TN_SHAPE(1), {3})), TN_DTYPE, "only floats");
    ck_fails(tn_set_grad(x, NULL), TN_ARGUMENT, "set_grad");
    ck_gradient(x, {5, 8});
    ck_ok(tn_set_grad(x, TN_NONE));
    ck_no_gradient(x);
    if (!test_is("host")) ck_fails(tn_set_grad(x, tn_host(g)), TN_DEVICE, "set_grad: a gradient on host for x on", test_device());
}
END_TEST

START_TEST(gradients_are_taken_away_from_a_list)
{
    tn_tensor *list[3] = {leaf(TN_SHAPE(1), {1}), test_f32(TN_SHAPE(1), {1}), leaf(TN_SHAPE(1), {2})};
    ck_ok(tn_backward(tn_mul(list[0], list[2])));
    ck_ok(tn_zero_grad(list, 3));
    ck_no_gradient(list[0]);
    ck_no_gradient(list[2]);
    ck_ok(tn_zero_grad(NULL, 0));
    ck_fails(tn_zero_grad(NULL, 1), TN_ARGUMENT, "zero_grad: list");
    list[1] = NULL;
    ck_fails(tn_zero_grad(list, 3), TN_ARGUMENT, "zero_grad");
}
END_TEST

START_TEST(a_frozen_leaf_keeps_its_gradient_and_gets_no_more)
{
    tn_tensor *x = leaf(TN_SHAPE(1), {3});
    ck_ok(tn_backward(square_sum(x)));
    tn_tensor *y = square_sum(x);
    ck_ok(tn_set_requires_grad(x, false));
    ck_ok(tn_backward(y));
    ck_gradient(x, {6});
    ck_fails(tn_backward(square_sum(x)), TN_ARGUMENT, "requires no gradient");
    ck_ok(tn_assign(x, tn_int(1)));
    ck_gradient(x, {6});
}
END_TEST

/* ---- shapes and dtypes ---- */

static void check_c45(tn_tensor *a, tn_tensor *b, tn_tensor *(*f)(tn_tensor *, tn_tensor *))
{
    required(a), required(b);
    ck_ok(tn_backward(summed(f(a, b))));
    ck_shape(tn_grad_of(a), tn_shape_of(a));
    ck_shape(tn_grad_of(b), tn_shape_of(b));
}

START_TEST(c45_gradients_of_broadcast_operands_have_their_shapes)
{
    tn_tensor *a = test_f32(TN_SHAPE(1), {2}), *b = tn_ones(TN_F32, TN_SHAPE(5, 4), test_device());
    check_c45(a, b, tn_mul);
    ck_gradient(a, {20});
    a = test_f32(TN_SHAPE(4, 1), {1, 2, 3, 4});
    b = test_f32(TN_SHAPE(1, 3), {1, 2, 3});
    check_c45(a, b, tn_mul);
    ck_gradient(a, {6, 6, 6, 6});
    ck_gradient(b, {10, 10, 10});
    a = test_f32(TN_SHAPE(1), {3});
    b = test_f32(TN_SHAPE(1, 2), {1, 2});
    check_c45(a, b, tn_mul);
    ck_gradient(a, {3});
    ck_gradient(b, {3, 3});
    a = test_f32(TN_SHAPE(), {3});
    b = test_f32(TN_SHAPE(2), {1, 2});
    check_c45(a, b, tn_mul);
    ck_gradient(a, {3});
    a = test_f32(TN_SHAPE(3), {1, 2, 3});
    b = test_f32(TN_SHAPE(2, 3), {1, 2, 3, 4, 5, 6});
    check_c45(a, b, tn_add);
    ck_gradient(a, {2, 2, 2});
    ck_gradient(b, {1, 1, 1, 1, 1, 1});
}
END_TEST

START_TEST(a_gradient_has_the_dtype_of_its_operand)
{
    static const tn_dtype half[2] = {TN_F16, TN_BF16};
    for (int i = 0; i < 2; i++) {
        tn_tensor *h = required(test_values(half[i], TN_SHAPE(2), {1, 2})), *x = leaf(TN_SHAPE(2), {3, 0.5});
        ck_ok(tn_backward(summed(tn_mul(h, x))));
        ck_assert_int_eq(tn_dtype_of(tn_grad_of(h)), half[i]);
        ck_assert_int_eq(tn_dtype_of(tn_grad_of(x)), TN_F32);
        ck_gradient(h, {3, 0.5});
        ck_gradient(x, {1, 2});
    }
}
END_TEST

START_TEST(integers_take_part_without_a_gradient)
{
    tn_tensor *x = leaf(TN_SHAPE(3), {1, 2, 3}), *n = test_i32(TN_SHAPE(3), {4, 5, 6}), *c = test_bool(TN_SHAPE(3), {1, 0, 1});
    ck_ok(tn_backward(summed(tn_where(c, tn_mul(x, n), x))));
    ck_gradient(x, {4, 1, 6});
    ck_no_gradient(n);
    ck_fails(tn_backward(tn_sum(n, TN_ALL_AXES, false)), TN_ARGUMENT, "backward: y [] requires no gradient");
}
END_TEST

START_TEST(no_axes_and_no_elements_have_gradients)
{
    tn_tensor *x = leaf(TN_SHAPE(), {3}), *e = required(tn_zeros(TN_F32, TN_SHAPE(0, 3), test_device())),
              *row = leaf(TN_SHAPE(3), {1, 2, 3});
    ck_ok(tn_backward(tn_mul(x, x)));
    ck_gradient(x, {6});
    ck_shape(tn_grad_of(x), TN_SHAPE());
    ck_ok(tn_backward(summed(tn_mul(e, row))));
    ck_shape(tn_grad_of(e), TN_SHAPE(0, 3));
    ck_gradient(row, {0, 0, 0});
    for (int i = 0; i < 2; i++) ck_ok(tn_backward_all(&e, &e, 1, NULL));
    ck_fails(tn_backward(e), TN_SHAPE, "backward: y [0,3] has 0 elements");
    ck_ok(tn_zero_grad(&x, 1));
    ck_ok(tn_backward(x)); /* a leaf may be where it begins */
    ck_gradient(x, {1});
}
END_TEST

START_TEST(c47_gradients_at_nothing)
{
    tn_tensor *x = leaf(TN_SHAPE(2), {0, 1}), *n = test_f32(TN_SHAPE(2), {0, 2}), *r = leaf(TN_SHAPE(2), {0, 4});
    ck_ok(tn_backward(summed(tn_where(tn_eq(n, tn_int(0)), tn_int(0), tn_div(x, n)))));
    ck_gradient(x, {NAN, 0.5});
    ck_ok(tn_backward(summed(tn_sqrt(r))));
    ck_gradient(r, {INFINITY, 0.25});
}
END_TEST

/* ---- backward ---- */

START_TEST(a_value_used_often_sums_what_flows_into_it)
{
    tn_tensor *x = leaf(TN_SHAPE(2), {1, 2}), *y = tn_mul(x, x), *z = tn_add(tn_mul(y, x), tn_add(y, x));
    ck_ok(tn_backward(summed(tn_add(z, y)))); /* x³ + 2x² + x */
    ck_gradient(x, {3 + 4 + 1, 12 + 8 + 1});
}
END_TEST

START_TEST(a_second_backward_needs_retain_and_names_what_is_gone)
{
    tn_tensor *x = leaf(TN_SHAPE(2), {1, 2}), *y = square_sum(x);
    const tn_backward_options retain = {.retain = true};
    ck_ok(tn_backward_all(&y, NULL, 1, &retain));
    ck_ok(tn_backward(y));
    ck_gradient(x, {4, 8});
    ck_fails(tn_backward(y), TN_ARGUMENT, "backward: sum was gone through before", "retain");
    ck_gradient(x, {4, 8});
    tn_tensor *m = tn_mul(x, x), *first = summed(m), *second = summed(tn_neg(m));
    ck_ok(tn_backward(first));
    ck_fails(tn_backward(second), TN_ARGUMENT, "mul was gone through before");
    ck_gradient(x, {6, 12});
}
END_TEST

START_TEST(a_backward_that_cannot_pass_changes_nothing)
{
    tn_tensor *x = leaf(TN_SHAPE(2), {1, 2}), *gone = tn_exp(x), *fresh = square_sum(x), *list[2] = {fresh, tn_neg(summed(gone))};
    ck_ok(tn_backward(summed(gone)));
    ck_ok(tn_zero_grad(&x, 1));
    ck_fails(tn_backward_all(list, NULL, 2, NULL), TN_ARGUMENT, "exp was gone through before");
    ck_no_gradient(x);
    ck_ok(tn_backward(fresh));
    ck_gradient(x, {2, 4});
}
END_TEST

START_TEST(several_roots_with_gradients_of_their_own)
{
    tn_tensor *x = leaf(TN_SHAPE(2), {1, 2}), *y = tn_mul(x, x), *s = summed(x), *up = test_f32(TN_SHAPE(2), {1, 10});
    tn_tensor *list[4] = {y, s, y, x}, *gradients[4] = {up, TN_NONE, up, up};
    ck_ok(tn_backward_all(list, gradients, 4, NULL));
    ck_gradient(x, {2 + 1 + 2 + 1, 40 + 1 + 40 + 10});
    ck_values(up, {1, 10});
}
END_TEST

START_TEST(a_backward_says_what_it_misses)
{
    tn_tensor *x = leaf(TN_SHAPE(2), {1, 2}), *y = tn_neg(x), *c = test_f32(TN_SHAPE(2), {1, 2}), *none = NULL;
    ck_fails(tn_backward(y), TN_SHAPE, "backward: y [2] has 2 elements; give the gradient to begin with");
    ck_fails(tn_backward(c), TN_ARGUMENT, "backward: y [2] requires no gradient, nor does anything it was computed from");
    ck_fails(tn_backward(NULL), TN_ARGUMENT, "backward");
    ck_fails(tn_backward(TN_NONE), TN_ARGUMENT, "TN_NONE");
    ck_fails(tn_backward_all(NULL, NULL, 1, NULL), TN_ARGUMENT, "backward: list");
    ck_fails(tn_backward_all(&y, NULL, 0, NULL), TN_ARGUMENT, "a list of 0 tensors");
    ck_fails(tn_backward_all(&y, &none, 1, NULL), TN_ARGUMENT, "gradient");
    c = test_f32(TN_SHAPE(1), {1});
    ck_fails(tn_backward_all(&y, &c, 1, NULL), TN_SHAPE, "a gradient [1] for y [2]");
    c = tn_cast(y, TN_F16);
    ck_fails(tn_backward_all(&y, &c, 1, NULL), TN_DTYPE, "a gradient of f16 for y of f32");
    c = tn_host(x);
    if (!test_is("host")) ck_fails(tn_backward_all(&y, &c, 1, NULL), TN_DEVICE, "a gradient on host for y on");
    ck_no_gradient(x);
}
END_TEST

START_TEST(a_gradient_on_the_way_is_kept_when_asked_for)
{
    tn_tensor *x = leaf(TN_SHAPE(2), {1, 2}), *y = tn_mul(x, tn_int(3)), *z = tn_mul(y, y);
    ck_ok(tn_retain_grad(y));
    ck_ok(tn_retain_grad(x));
    ck_ok(tn_backward(summed(z)));
    ck_gradient(y, {6, 12});
    ck_gradient(x, {18, 36});
    ck_no_gradient(z);
    ck_fails(tn_retain_grad(test_f32(TN_SHAPE(1), {1})), TN_ARGUMENT, "retain_grad: x [1] requires no gradient");
    y = tn_add(x, tn_int(0));
    ck_ok(tn_retain_grad(y));
    ck_ok(tn_backward(summed(y)));
    ck_ok(tn_assign(tn_grad_of(y), tn_int(0))); /* not x's memory */
    ck_gradient(x, {19, 37});
}
END_TEST

/* ---- gradients as values ---- */

START_TEST(gradients_as_values_leave_the_leaves_alone)
{
    tn_tensor *x = leaf(TN_SHAPE(2), {1, 2}), *y = tn_mul(x, x), *s = summed(tn_mul(y, x)), *in[4] = {x, y, s, x}, *g[4];
    ck_ok(tn_grad(&s, NULL, 1, in, 4, g, NULL));
    ck_values(g[0], {3, 12});
    ck_values(g[1], {1, 2});
    ck_values(g[2], {1});
    ck_no_gradient(x);
    ck_assert(!tn_requires_grad(g[0]));
    ck_ok(tn_assign(g[3], tn_int(0)));
    ck_values(g[0], {3, 12});
    ck_fails(tn_grad(&s, NULL, 1, in, 1, g, NULL), TN_ARGUMENT, "sum was gone through before");
    ck_assert_ptr_null(g[0]);
}
END_TEST

START_TEST(gradients_as_values_share_no_memory)
{
    tn_tensor *a = leaf(TN_SHAPE(2), {1, 2}), *b = leaf(TN_SHAPE(2), {3, 4}), *y = tn_add(a, b),
              *up = test_f32(TN_SHAPE(2), {5, 6});
    tn_tensor *in[3] = {a, b, y}, *g[3];
    ck_ok(tn_grad(&y, &up, 1, in, 3, g, NULL));
    for (int i = 0; i < 3; i++) ck_ok(tn_assign(g[i], tn_int(i)));
    ck_values(g[0], {0, 0});
    ck_values(g[1], {1, 1});
    ck_values(up, {5, 6});
    y = summed(a);
    ck_ok(tn_grad(&y, NULL, 1, &a, 1, g, NULL));
    ck_ok(tn_assign(tn_select(g[0], 0, 0), tn_int(9)));
    ck_values(g[0], {9, 1});
}
END_TEST

START_TEST(an_input_that_was_not_used_is_an_error_or_nothing)
{
    tn_tensor *x = leaf(TN_SHAPE(2), {1, 2}), *other = leaf(TN_SHAPE(3), {1, 2, 3}), *in[2] = {x, other}, *y = square_sum(x), *g[2];
    const tn_backward_options retain = {.retain = true}, unused = {.unused = true};
    ck_fails(tn_grad(&y, NULL, 1, in, 2, g, &retain), TN_ARGUMENT, "grad: input 1 [3] was not used to compute the outputs");
    ck_assert(!g[0] && !g[1]);
    ck_ok(tn_grad(&y, NULL, 1, in, 2, g, &unused));
    ck_values(g[0], {2, 4});
    ck_assert_ptr_eq(g[1], TN_NONE);
}
END_TEST

START_TEST(gradients_as_values_say_what_they_miss)
{
    tn_tensor *x = leaf(TN_SHAPE(2), {1, 2}), *c = test_f32(TN_SHAPE(1), {1}), *y = square_sum(x), *in[2] = {x, c}, *g[2];
    ck_fails(tn_grad(&y, NULL, 1, in, 2, g, NULL), TN_ARGUMENT, "grad: input 1 [1] requires no gradient");
    in[1] = NULL;
    ck_fails(tn_grad(&y, NULL, 1, in, 2, g, NULL), TN_ARGUMENT, "grad");
    ck_fails(tn_grad(&y, NULL, 1, NULL, 1, g, NULL), TN_ARGUMENT, "inputs");
    ck_fails(tn_grad(&y, NULL, 1, in, 1, NULL, NULL), TN_ARGUMENT, "out");
    ck_fails(tn_grad(&y, NULL, 1, in, 0, g, NULL), TN_ARGUMENT, "a list of 0 inputs");
    ck_fails(tn_grad(&x, NULL, 1, in, 1, g, NULL), TN_SHAPE, "2 elements");
    ck_assert(!g[0] && !g[1]);
}
END_TEST

START_TEST(gradients_have_gradients)
{
    tn_tensor *x = leaf(TN_SHAPE(2), {1, 2}), *y = summed(tn_mul(tn_mul(x, x), x)), *g = NULL;
    const tn_backward_options create = {.create = true};
    ck_ok(tn_grad(&y, NULL, 1, &x, 1, &g, &create)); /* x³ */
    ck_values(g, {3, 12});
    ck_assert(tn_requires_grad(g));
    y = summed(g);
    ck_ok(tn_grad(&y, NULL, 1, &x, 1, &g, &create));
    ck_values(g, {6, 12});
    ck_ok(tn_backward(summed(g)));
    ck_gradient(x, {6, 6});
}
END_TEST

/* exp saves its result: the second time it is part of the graph. */
START_TEST(saved_results_are_part_of_the_graph_of_gradients)
{
    tn_tensor *x = leaf(TN_SHAPE(2), {0, 0}), *y = tn_exp(x), *s = summed(y), *g = NULL, *h = NULL;
    const tn_backward_options create = {.create = true}, retain = {.retain = true};
    ck_ok(tn_grad(&s, NULL, 1, &x, 1, &g, &create));
    s = summed(g);
    ck_ok(tn_grad(&s, NULL, 1, &y, 1, &h, &retain)); /* g = y */
    ck_values(h, {1, 1});
    ck_ok(tn_backward(s));
    ck_gradient(x, {1, 1});
}
END_TEST

START_TEST(backward_can_remember_gradients_which_end_with_zero_grad)
{
    tn_tensor *x = leaf(TN_SHAPE(2), {1, 2}), *y = square_sum(x), *g;
    ck_ok(tn_backward_all(&y, NULL, 1, &(tn_backward_options){.create = true}));
    g = tn_grad_of(x);
    ck_values(g, {2, 4});
    ck_assert(tn_requires_grad(g));
    y = summed(tn_mul(g, g)); /* 4x², added to 2x: a new tensor, since g is saved */
    ck_ok(tn_backward(y));
    ck_gradient(x, {2 + 8, 4 + 16});
    ck_values(g, {2, 4});
    ck_ok(tn_zero_grad(&x, 1));
}
END_TEST

/* ---- hooks ---- */

typedef struct hook_log {
    int calls, number;
    char order[16];
    tn_tensor *x;
} hook_log;

static tn_tensor *times_two(tn_tensor *g, void *user)
{
    hook_log *log = user;
    log->order[log->calls++] = '2';
    return tn_mul(g, tn_int(2));
}
static tn_tensor *plus_one(tn_tensor *g, void *user)
{
    hook_log *log = user;
    log->order[log->calls++] = '1';
    return tn_add(g, tn_int(1));
}
static tn_tensor *only_looks(tn_tensor *g, void *user)
{
    hook_log *log = user;
    (void)g;
    log->order[log->calls++] = '0';
    return TN_NONE;
}
static tn_tensor *the_same(tn_tensor *g, void *user)
{
    (void)user;
    return g;
}

START_TEST(hooks_follow_one_another_and_change_what_flows_on)
{
    hook_log log = {0};
    tn_tensor *x = leaf(TN_SHAPE(2), {1, 2}), *y = tn_mul(x, tn_int(3));
    ck_assert_int_eq(tn_add_grad_hook(y, times_two, &log), 1);
    ck_assert_int_eq(tn_add_grad_hook(y, only_looks, &log), 2);
    ck_assert_int_eq(tn_add_grad_hook(y, the_same, &log), 3);
    ck_assert_int_eq(tn_add_grad_hook(y, plus_one, &log), 4);
    ck_ok(tn_backward(summed(tn_add(tn_add(y, y), y)))); /* once, when it is complete */
    ck_assert_str_eq(log.order, "201");
    ck_gradient(x, {3 * 7, 3 * 7});
}
END_TEST

START_TEST(hooks_of_a_leaf_see_each_backwards_gradient_before_it_is_added)
{
    hook_log log = {0};
    tn_tensor *x = leaf(TN_SHAPE(1), {3});
    const int number = tn_add_grad_hook(x, times_two, &log);
    for (int i = 0; i < 2; i++) ck_ok(tn_backward(square_sum(x)));
    ck_gradient(x, {12 + 12});
    ck_ok(tn_remove_grad_hook(x, number));
    ck_ok(tn_backward(square_sum(x)));
    ck_gradient(x, {24 + 6});
    ck_assert_int_eq(log.calls, 2);
    ck_fails(tn_remove_grad_hook(x, number), TN_ARGUMENT, "remove_grad_hook: x [1] has no hook 1");
    ck_assert_int_eq(tn_add_grad_hook(x, only_looks, &log), 2); /* a number is given once */
    ck_fails(tn_remove_grad_hook(test_f32(TN_SHAPE(1), {1}), 1), TN_ARGUMENT, "no hook 1");
    ck_assert_int_eq(tn_add_grad_hook(test_f32(TN_SHAPE(1), {1}), only_looks, &log), 0);
    ck_assert_int_eq(tn_last_status(), TN_ARGUMENT);
    ck_assert_int_eq(tn_add_grad_hook(x, NULL, &log), 0);
}
END_TEST

static tn_tensor *removes_all(tn_tensor *g, void *user)
{
    hook_log *log = user;
    (void)g;
    log->calls++;
    for (int i = 1; i <= log->number; i++) ck_ok(tn_remove_grad_hook(log->x, i));
    return TN_NONE;
}
static tn_tensor *adds_another(tn_tensor *g, void *user)
{
    hook_log *log = user;
    (void)g;
    log->calls++;
    ck_assert_int_gt(tn_add_grad_hook(log->x, adds_another, user), 0);
    return TN_NONE;
}

START_TEST(hooks_may_be_removed_and_added_inside_a_hook)
{
    tn_tensor *x = leaf(TN_SHAPE(1), {3}), *y = leaf(TN_SHAPE(1), {3});
    hook_log log = {.x = x, .number = 3}, other = {.x = y};
    for (int i = 0; i < 3; i++) (void)tn_add_grad_hook(x, removes_all, &log);
    ck_ok(tn_backward(square_sum(x)));
    ck_assert_int_eq(log.calls, 1);
    (void)tn_add_grad_hook(y, adds_another, &other);
    for (int i = 0; i < 3; i++) ck_ok(tn_backward(square_sum(y)));
    ck_assert_int_eq(other.calls, 1 + 2 + 4);
}
END_TEST

static tn_tensor *fails_quietly(tn_tensor *g, void *user)
{
    (void)g, (void)user;
    return NULL;
}
static tn_tensor *fails(tn_tensor *g, void *user)
{
    (void)user;
    return tn_reshape(g, TN_SHAPE(7));
}
static tn_tensor *of_another_shape(tn_tensor *g, void *user)
{
    (void)user;
    return tn_unsqueeze(g, 0);
}
static tn_tensor *of_another_dtype(tn_tensor *g, void *user)
{
    (void)user;
    return tn_cast(g, TN_F16);
}
static tn_tensor *of_another_device(tn_tensor *g, void *user)
{
    (void)user;
    return tn_host(g);
}

START_TEST(a_hook_that_fails_fails_the_backward)
{
    tn_tensor *x = leaf(TN_SHAPE(2), {1, 2}), *y = tn_mul(x, x);
    int number = tn_add_grad_hook(y, fails_quietly, NULL);
    tn_tensor *s = summed(y);
    const tn_backward_options retain = {.retain = true};
    ck_fails(tn_backward_all(&s, NULL, 1, &retain), TN_ARGUMENT, "backward: a hook gave NULL");
    tn_grad_hook *const wrong[] = {fails, of_another_shape, of_another_dtype, of_another_device};
    const tn_status code[] = {TN_SHAPE, TN_SHAPE, TN_DTYPE, TN_DEVICE};
    static const char *const words[] = {"reshape", "a hook gave [1,2] for a gradient of [2]",
                                        "a hook gave f16 for a gradient of f32", "a hook gave a tensor on host"};
    for (int i = 0; i < (test_is("host") ? 3 : 4); i++) {
        ck_ok(tn_remove_grad_hook(y, number));
        number = tn_add_grad_hook(y, wrong[i], NULL);
        ck_fails(tn_backward_all(&s, NULL, 1, &retain), code[i], words[i]);
    }
    ck_no_gradient(x);
    ck_ok(tn_remove_grad_hook(y, number));
    ck_ok(tn_backward(s)); /* nothing is lost */
    ck_gradient(x, {2, 4});
}
END_TEST

static tn_tensor *leaves_scopes_open(tn_tensor *g, void *user)
{
    (void)g, (void)user;
    (void)tn_scope_push_no_grad();
    (void)tn_set_grad_enabled(false);
    return TN_NONE;
}

START_TEST(a_hook_that_leaves_scopes_open_leaves_the_switch_as_it_was)
{
    tn_tensor *x = leaf(TN_SHAPE(1), {3});
    (void)tn_add_grad_hook(x, leaves_scopes_open, NULL);
    ck_ok(tn_backward(square_sum(x)));
    ck_assert(tn_grad_enabled());
    ck_gradient(x, {6});
}
END_TEST

static tn_tensor *lets_go(tn_tensor *g, void *user)
{
    tn_tensor **y = user;
    (void)g;
    tn_release(*y);
    *y = NULL;
    return TN_NONE;
}

START_TEST(a_hook_may_let_go_of_what_the_backward_began_with)
{
    tn_tensor *x = leaf(TN_SHAPE(1), {3}), *m = tn_mul(x, x), *y = summed(m);
    (void)tn_add_grad_hook(m, lets_go, &m);
    (void)tn_add_grad_hook(y, lets_go, &y);
    ck_ok(tn_backward(y));
    ck_assert(!m && !y);
    ck_gradient(x, {6});
}
END_TEST

static tn_tensor *keeps(tn_tensor *g, void *user)
{
    *(tn_tensor **)user = tn_retain(g);
    return TN_NONE;
}

START_TEST(a_gradient_that_a_hook_keeps_does_not_change)
{
    tn_tensor *x = leaf(TN_SHAPE(1), {3}), *kept = NULL;
    const int number = tn_add_grad_hook(x, keeps, &kept);
    ck_ok(tn_backward(square_sum(x)));
    ck_ok(tn_remove_grad_hook(x, number));
    ck_ok(tn_backward(square_sum(x)));
    ck_values(kept, {6});
    ck_gradient(x, {12});
    tn_release(kept);
}
END_TEST

/* ---- C48: what changes after it was saved ---- */

static void write_quietly(tn_tensor *x, tn_tensor *value)
{
    const tn_scope scope = tn_scope_push_no_grad();
    ck_ok(tn_assign(x, value));
    ck_ok(tn_scope_pop(scope));
}

START_TEST(c48_a_changed_saved_value_is_named_with_its_versions)
{
    tn_tensor *x = leaf(TN_SHAPE(2), {1, 2}), *y = summed(tn_mul(x, x));
    write_quietly(x, tn_add(x, tn_int(1)));
    ck_fails(tn_backward(y), TN_ARGUMENT,
             "backward: operand 0 of mul, [2], was written to after it was saved (version 1, saved at 0)");
    ck_no_gradient(x);
    ck_ok(tn_backward(square_sum(x)));
    ck_gradient(x, {4, 6});
}
END_TEST

START_TEST(c48_a_change_through_a_view_or_another_handle_is_seen)
{
    tn_tensor *w = leaf(TN_SHAPE(3), {1, 2, 3}), *c = test_f32(TN_SHAPE(3), {4, 5, 6}), *y = summed(tn_mul(w, c));
    ck_ok(tn_assign(tn_slice(c, 0, 1, 2, 1), tn_int(0)));
    ck_fails(tn_backward(y), TN_ARGUMENT, "operand 1 of mul, [3]", "version 1, saved at 0");
    y = summed(tn_mul(w, c));
    ck_ok(tn_write(c, (const float[]){1, 1, 1}, 3 * sizeof(float)));
    ck_fails(tn_backward(y), TN_ARGUMENT, "operand 1 of mul", "version 2, saved at 1");
    y = summed(tn_mul(w, tn_slice(c, 0, 0, 3, 1)));
    ck_ok(tn_assign(c, tn_int(2)));
    ck_fails(tn_backward(y), TN_ARGUMENT, "operand 1 of mul");
    y = tn_exp(w);
    tn_tensor *s = summed(y);
    write_quietly(tn_detach(y), tn_int(0));
    ck_fails(tn_backward(s), TN_ARGUMENT, "result 0 of exp, [3], was written to");
    y = summed(tn_mul(w, tn_clone(c)));
    ck_ok(tn_assign(c, tn_int(7)));
    ck_ok(tn_backward(y)); /* the clone has not changed */
    ck_gradient(w, {2, 2, 2});
}
END_TEST

START_TEST(c48_a_leaf_is_assigned_to_only_without_gradients)
{
    tn_tensor *x = leaf(TN_SHAPE(2), {1, 2}), *v = tn_slice(x, 0, 0, 1, 1), *t = leaf(TN_SHAPE(1, 2), {1, 2});
    ck_fails(tn_assign(x, tn_int(1)), TN_ARGUMENT, "assign: x [2] is a leaf that requires a gradient", "tn_scope_push_no_grad");
    ck_fails(tn_write(x, (const float[]){5, 5}, 8), TN_ARGUMENT, "leaf that requires a gradient");
    ck_fails(tn_write(tn_transpose(t, 0, 1), (const float[]){5, 5}, 8), TN_ARGUMENT, "gradient");
    ck_fails(tn_assign(v, tn_int(1)), TN_ARGUMENT, "the memory of x [1]");
    ck_values(x, {1, 2});
    const tn_scope scope = tn_scope_push_no_grad();
    ck_ok(tn_assign(x, tn_int(3)));
    ck_ok(tn_assign(v, tn_int(4)));
    ck_ok(tn_write(t, (const float[]){7, 8}, 8));
    ck_ok(tn_scope_pop(scope));
    ck_values(x, {4, 3});
    ck_values(t, {7, 8});
    ck_assert(tn_requires_grad(x) && tn_is_leaf(x));
    ck_ok(tn_backward(square_sum(x)));
    ck_gradient(x, {8, 6});
}
END_TEST

/* base[0:2] *= 2, then base.sum().backward() */
START_TEST(c48_a_part_of_what_has_a_gradient_is_not_assigned_to)
{
    tn_tensor *x = leaf(TN_SHAPE(3), {1, 2, 3}), *base = tn_mul(x, tn_int(3)), *part = tn_slice(base, 0, 0, 2, 1);
    ck_fails(tn_assign(part, tn_mul(part, tn_int(2))), TN_ARGUMENT, "assign: views", "[2]", "tn_where");
    ck_fails(tn_assign(base, tn_int(2)), TN_ARGUMENT, "assign: views"); /* part would not see it */
    tn_tensor *plain = test_f32(TN_SHAPE(3), {0, 0, 0});
    ck_fails(tn_assign(tn_slice(plain, 0, 0, 2, 1), part), TN_ARGUMENT, "assign: views");
    ck_fails(tn_assign(tn_expand(test_f32(TN_SHAPE(1), {1}), TN_SHAPE(3)), x), TN_ARGUMENT, "expanded view");
    ck_ok(tn_backward(summed(base)));
    ck_gradient(x, {3, 3, 3});
}
END_TEST

START_TEST(an_assignment_to_a_whole_tensor_is_differentiated)
{
    tn_tensor *x = leaf(TN_SHAPE(2), {1, 2}), *row = leaf(TN_SHAPE(1), {5}), *y = tn_add(x, tn_int(1)),
              *c = test_f32(TN_SHAPE(2), {0, 0});
    ck_ok(tn_assign(y, row)); /* what y was is forgotten */
    ck_ok(tn_assign(c, tn_mul(x, x)));
    ck_assert(tn_requires_grad(c) && !tn_is_leaf(c));
    ck_ok(tn_backward(summed(tn_mul(c, y))));
    ck_gradient(row, {5});
    ck_gradient(x, {2 * 5, 4 * 5});
    y = tn_neg(x);
    ck_ok(tn_write(y, (const float[]){7, 7}, 8)); /* a constant now */
    ck_assert(!tn_requires_grad(y));
    y = tn_neg(x);
    ck_ok(tn_assign(y, tn_int(7)));
    ck_assert(!tn_requires_grad(y));
}
END_TEST

START_TEST(an_assignment_to_wrapped_memory_is_seen)
{
    tn_tensor *w = leaf(TN_SHAPE(2), {1, 2}), *c = test_f32(TN_SHAPE(2), {3, 4}), *y;
    c->storage->wrapped = true;
    y = summed(tn_mul(w, c));
    ck_ok(tn_write(c, (const float[]){5, 6}, 8));
    ck_fails(tn_backward(y), TN_ARGUMENT, "operand 1 of mul");
    ck_ok(tn_backward(summed(tn_mul(w, c))));
    ck_gradient(w, {5, 6});
}
END_TEST

/* ---- other devices ---- */

START_TEST(gradients_come_back_over_a_move)
{
    NEEDS_OPENCL();
    tn_tensor *x = required(tn_from(TN_F32, TN_SHAPE(2), (const float[]){1, 2}, "host")), *y = tn_to(x, test_device());
    tn_tensor *z = tn_to(tn_mul(y, y), "host"), *w = leaf(TN_SHAPE(2), {3, 4});
    ck_ok(tn_backward(summed(tn_mul(z, z))));
    ck_assert_str_eq(tn_device_of(tn_grad_of(x)), "host");
    ck_gradient(x, {4, 32});
    const bool before = tn_auto_move(true);
    ck_ok(tn_backward(summed(tn_mul(x, w))));
    (void)tn_auto_move(before);
    ck_gradient(x, {4 + 3, 32 + 4});
    ck_assert_str_eq(tn_device_of(tn_grad_of(w)), test_device());
    ck_gradient(w, {1, 2});
    tn_tensor *number = required(tn_from(TN_F32, TN_SHAPE(), (const float[]){2}, "host"));
    ck_ok(tn_backward(summed(tn_mul(w, number))));
    ck_assert_str_eq(tn_device_of(tn_grad_of(number)), "host");
    ck_gradient(number, {7});
}
END_TEST

/* ---- operations that are wrong ---- */

static const tn__derivative has_none = {"novelty", tn__grad_missing, TN__SAVES_NONE, 0};

static void fails_in_the_middle(const tn__backward *back)
{
    back->g[0] = tn_reshape(back->up[0], TN_SHAPE(77));
}
static const tn__derivative failing = {"failing", fails_in_the_middle, TN__SAVES_NONE, 0};

static void gives_too_little(const tn__backward *back)
{
    back->g[0] = tn_mul(back->up[0], tn_float(0.5));
}
static const tn__derivative too_little = {"too_little", gives_too_little, TN__SAVES_NONE, 0};

static void gives_nan(const tn__backward *back)
{
    back->g[0] = tn_sqrt(tn_neg(back->up[0]));
}
static const tn__derivative nan_back = {"rootless", gives_nan, TN__SAVES_NONE, 0};

static void gives_a_part(const tn__backward *back)
{
    back->g[0] = tn_slice(back->up[0], 0, 2, 4, 1);
}
static const tn__derivative part = {"part", gives_a_part, TN__SAVES_NONE, 0};

/* A copy of x that claims to have this derivative. */
static tn_tensor *claims(const tn__derivative *d, tn_tensor *x)
{
    tn__derive_pause();
    tn_tensor *y = tn_clone(x);
    tn__derive_resume();
    return tn__recorded(d, NULL, &x, 1, y);
}

START_TEST(a_part_of_a_gradient_does_not_hold_the_whole)
{
    tn_tensor *a = leaf(TN_SHAPE(2), {1, 2}), *up = test_f32(TN_SHAPE(4), {1, 2, 3, 4}), *y = tn_clone(up);
    y = ck_made(tn__recorded(&part, NULL, &a, 1, y));
    ck_ok(tn_backward_all(&y, &up, 1, NULL));
    ck_gradient(a, {3, 4});
    ck_assert_int_eq(tn_offset(tn_grad_of(a)), 0);
}
END_TEST

START_TEST(an_operation_without_a_gradient_is_named_by_backward)
{
    tn_tensor *x = leaf(TN_SHAPE(1), {1}), *y = ck_made(claims(&has_none, x));
    ck_fails(tn_backward(y), TN_ARGUMENT, "backward: novelty has no gradient");
    ck_no_gradient(x);
}
END_TEST

START_TEST(an_error_in_the_middle_leaves_the_leaves_and_a_clear_error)
{
    tn_tensor *x = leaf(TN_SHAPE(2), {1, 2}), *s = summed(tn_mul(claims(&failing, tn_mul(x, x)), x));
    ck_fails(tn_backward(s), TN_SHAPE, "reshape", "[77]");
    ck_no_gradient(x);
    ck_fails(tn_backward(s), TN_ARGUMENT, "sum was gone through before");
    s = summed(claims(&failing, x));
    const tn_backward_options retain = {.retain = true};
    for (int i = 0; i < 2; i++) ck_fails(tn_backward_all(&s, NULL, 1, &retain), TN_SHAPE, "reshape");
    ck_ok(tn_backward(square_sum(x)));
    ck_gradient(x, {2, 4});
    ck_assert(tn_grad_enabled());
}
END_TEST

/* ---- NaN ---- */

START_TEST(the_operation_that_makes_nan_is_named)
{
    tn_tensor *x = leaf(TN_SHAPE(2), {-1, 4}), *y;
    ck_assert(!tn_set_detect_nan(true));
    ck_fails(tn_sqrt(x), TN_ARGUMENT, "sqrt: 1 of 2 elements of the result [2] are NaN, and none of the operands'");
    y = tn_mul(x, test_f32(TN_SHAPE(2), {NAN, 1})); /* was there before */
    ck_values(y, {NAN, 4});
    y = ck_made(claims(&nan_back, x));
    ck_fails(tn_backward(summed(y)), TN_ARGUMENT, "backward of rootless: 2 of 2 elements");
    ck_no_gradient(x);
    ck_assert(tn_set_detect_nan(false));
    ck_values(tn_sqrt(x), {NAN, 2});
    ck_ok(tn_backward(summed(claims(&nan_back, x))));
    ck_gradient(x, {NAN, NAN});
}
END_TEST

/* ---- recomputation ---- */

typedef struct layer {
    tn_tensor *weight; /* from elsewhere; may be NULL */
    int calls;
} layer;

static tn_tensor *dropped_square(tn_tensor *const *in, int count, void *user)
{
    layer *l = user;
    (void)count;
    l->calls++;
    tn_tensor *kept = tn_ge(tn_rand(TN_F32, tn_shape_of(in[0]), test_device()), tn_float(0.5));
    tn_tensor *y = tn_where(kept, tn_mul(in[0], in[0]), tn_int(0));
    return l->weight ? tn_mul(y, l->weight) : tn_mul(y, in[1]);
}

START_TEST(a_checkpoint_has_the_values_gradients_and_random_numbers_of_the_function)
{
    float want[2][8], got[2][8];
    uint64_t seed, position[2];
    for (int i = 0; i < 2; i++) {
        layer l = {0};
        tn_tensor *x = leaf(TN_SHAPE(8), {1, 2, 3, 4, 5, 6, 7, 8}), *w = leaf(TN_SHAPE(8), {1, 1, 1, 1, 2, 2, 2, 2}),
                  *in[2] = {x, w};
        tn_seed(5);
        tn_tensor *y = ck_made(i ? tn_checkpoint(dropped_square, in, 2, &l) : dropped_square(in, 2, &l));
        ck_ok(tn_backward(summed(y)));
        tn_random_state(&seed, &position[i]);
        ck_assert_int_eq(l.calls, 1 + i);
        ck_ok(tn_read(tn_grad_of(x), i ? got[0] : want[0], 32));
        ck_ok(tn_read(tn_grad_of(w), i ? got[1] : want[1], 32));
    }
    ck_assert_mem_eq(want, got, sizeof want);
    ck_assert_uint_eq(position[0], position[1]);
    int kept = 0;
    for (int i = 0; i < 8; i++) kept += want[0][i] > 0;
    ck_assert(kept > 0 && kept < 8);
}
END_TEST

START_TEST(what_a_checkpoint_takes_from_elsewhere_gets_its_gradient_from_backward_alone)
{
    layer l = {.weight = leaf(TN_SHAPE(2), {3, 4})};
    tn_tensor *x = leaf(TN_SHAPE(2), {1, 2}), *g = NULL, *y = ck_made(tn_checkpoint(dropped_square, &x, 1, &l));
    ck_assert(tn_requires_grad(y) && !tn_is_leaf(y));
    tn_tensor *s = summed(y);
    ck_ok(tn_grad(&s, NULL, 1, &x, 1, &g, &(tn_backward_options){.retain = true}));
    ck_no_gradient(l.weight);
    ck_ok(tn_backward(s));
    ck_same(tn_grad_of(x), g);
    ck_same(tn_mul(tn_grad_of(l.weight), l.weight), tn_detach(y));
    ck_fails(tn_backward(s), TN_ARGUMENT, "sum was gone through before");
}
END_TEST

/* A part of a graph of its own, whatever the inputs. */
static tn_tensor *hands_out(tn_tensor *const *in, int count, void *user)
{
    (void)in, (void)count;
    if (!user) return NULL;
    const bool before = tn_set_grad_enabled(true);
    tn_tensor *y = tn_neg(user);
    (void)tn_set_grad_enabled(before);
    return y;
}

START_TEST(a_checkpoint_says_what_it_cannot_do)
{
    layer l = {.weight = leaf(TN_SHAPE(2), {3, 4})};
    tn_tensor *x = leaf(TN_SHAPE(2), {1, 2}), *other = tn_neg(x), *g = NULL, *y;
    ck_fails(tn_checkpoint(NULL, &x, 1, &l), TN_ARGUMENT, "checkpoint: function");
    ck_fails(tn_checkpoint(dropped_square, NULL, 1, &l), TN_ARGUMENT, "checkpoint: inputs");
    ck_fails(tn_checkpoint(hands_out, &x, 1, NULL), TN_ARGUMENT, "checkpoint");
    tn_tensor *s = summed(tn_checkpoint(dropped_square, &x, 1, &l));
    ck_fails(tn_grad(&s, NULL, 1, &x, 1, &g, &(tn_backward_options){.create = true}), TN_ARGUMENT, "tn_checkpoint", "again");
    y = ck_made(tn_checkpoint(hands_out, &x, 1, other));
    ck_ok(tn_backward(summed(y))); /* what it is computed from elsewhere */
    ck_gradient(x, {1, 1});
    write_quietly(x, tn_int(0));
    ck_fails(tn_backward(s), TN_ARGUMENT, "operand 0 of checkpoint");
    const tn_scope scope = tn_scope_push_no_grad();
    ck_assert(!tn_requires_grad(tn_checkpoint(dropped_square, &x, 1, &l)));
    ck_ok(tn_scope_pop(scope));
    ck_assert(tn_grad_enabled());
}
END_TEST

/* ---- the checker ---- */

static tn_tensor *tanh_of_product(tn_tensor *const *in, int count, void *user)
{
    (void)count, (void)user;
    return tn_tanh(tn_mul(in[0], in[1]));
}
static tn_tensor *wrongly_differentiated(tn_tensor *const *in, int count, void *user)
{
    (void)count, (void)user;
    return tn_mul(in[0], claims(&too_little, in[1]));
}
static tn_tensor *dropped(tn_tensor *const *in, int count, void *user)
{
    (void)count, (void)user;
    return tn_where(tn_ge(tn_rand(TN_F32, TN_SHAPE(6), test_device()), tn_float(0.5)), tn_reshape(in[0], TN_SHAPE(6)), tn_int(0));
}
static tn_tensor *of_the_first_alone(tn_tensor *const *in, int count, void *user)
{
    (void)count, (void)user;
    return tn_neg(in[0]);
}

START_TEST(the_checker_compares_with_differences)
{
    tn_tensor *in[2] = {required(test_values(test_has_f64() ? TN_F64 : TN_F32, TN_SHAPE(2, 3), {0.1, 0.2, -0.3, 0.4, -0.5, 0.6})),
                        required(test_values(test_has_f64() ? TN_F64 : TN_F32, TN_SHAPE(3), {1, -2, 0.5}))};
    tn_tensor *outside = summed(tn_mul(in[0], in[0]));
    ck_ok(tn_gradcheck(tanh_of_product, in, 2, NULL, NULL));
    ck_ok(tn_backward(outside)); /* the inputs were not touched */
    if (!test_takes(1, 4)) return; /* host has the rest */
    in[0] = required(tn_expand(test_f32(TN_SHAPE(1, 3), {1, 2, 3}), TN_SHAPE(2, 3)));
    ck_ok(tn_gradcheck(tanh_of_product, in, 2, NULL, &(tn_gradcheck_options){.step = 1e-3, .absolute = 1e-2}));
    ck_ok(tn_gradcheck(of_the_first_alone, in, 2, NULL, &(tn_gradcheck_options){.step = 1e-2, .absolute = 1e-2}));
}
END_TEST

START_TEST(the_checker_finds_a_wrong_gradient)
{
    tn_tensor *in[2] = {test_f32(TN_SHAPE(2), {2, 3}), leaf(TN_SHAPE(2), {1, 5})};
    uint64_t seed, before, after;
    tn_random_state(&seed, &before);
    ck_fails(tn_gradcheck(wrongly_differentiated, in, 2, NULL, NULL), TN_ARGUMENT, "gradcheck: input 1 [2], element 0 at 1",
             "the gradient is", "differences give");
    tn_random_state(&seed, &after);
    ck_assert_uint_eq(before, after);
    ck_values(in[1], {1, 5});
    ck_assert(tn_grad_enabled());
    ck_fails(tn_gradcheck(NULL, in, 2, NULL, NULL), TN_ARGUMENT, "function");
    ck_fails(tn_gradcheck(hands_out, NULL, 2, NULL, NULL), TN_ARGUMENT, "inputs");
    ck_fails(tn_gradcheck(hands_out, in, 1, NULL, NULL), TN_ARGUMENT, "none of 1 inputs requires a gradient");
    ck_fails(tn_gradcheck(hands_out, in, 2, NULL, NULL), TN_ARGUMENT, "gradcheck");
    ck_fails(tn_gradcheck(hands_out, in, 2, in[0], NULL), TN_ARGUMENT, "requires no gradient");
}
END_TEST

START_TEST(the_checker_draws_the_same_random_numbers_each_time)
{
    tn_tensor *x = leaf(TN_SHAPE(2, 3), {1, 2, 3, 4, 5, 6});
    ck_ok(tn_gradcheck(dropped, &x, 1, NULL, &(tn_gradcheck_options){.step = 1e-2, .absolute = 1e-2}));
}
END_TEST

/* ---- scopes, eager ---- */

START_TEST(gradients_belong_to_no_scope_and_handles_on_them_to_the_callers)
{
    tn_tensor *x = leaf(TN_SHAPE(2), {1, 2}), *y = NULL;
    const tn_scope inner = tn_scope_push();
    tn_tensor *w = leaf(TN_SHAPE(2), {3, 4});
    y = tn_keep(summed(tn_mul(tn_mul(x, w), x)));
    ck_ok(tn_scope_pop(inner)); /* w's handle is gone, not what was saved of it */
    const tn_scope second = tn_scope_push();
    ck_ok(tn_backward(y));
    ck_gradient(x, {6, 16});
    ck_ok(tn_scope_pop(second));
    ck_gradient(x, {6, 16});
}
END_TEST

START_TEST(eager_gradients_are_the_same)
{
    tn_tensor *x = leaf(TN_SHAPE(2), {1, 2});
    ck_ok(tn_set("eager", "1"));
    for (int i = 0; i < 2; i++) ck_ok(tn_backward(square_sum(x)));
    ck_assert(!tn_is_pending(tn_grad_of(x)));
    ck_ok(tn_set("eager", NULL));
    ck_gradient(x, {4, 8});
}
END_TEST

BONES_MAIN("autograd", only_floats_can_require_a_gradient, what_is_computed_from_a_leaf_requires_a_gradient_where_it_is_a_float,
           detach_shows_the_same_memory_beyond_differentiation, nothing_is_remembered_in_a_no_grad_scope,
           a_no_grad_scope_ends_with_the_scope_around_it_and_after_errors, the_switch_is_the_threads_own,
           gradients_add_up_until_they_are_taken_away, the_gradient_of_a_sum_adds_up_too,
           leaves_never_share_the_memory_of_their_gradients, a_part_of_a_gradient_does_not_hold_the_whole,
           a_gradient_is_set_as_a_copy_of_what_fits, gradients_are_taken_away_from_a_list,
           a_frozen_leaf_keeps_its_gradient_and_gets_no_more, c45_gradients_of_broadcast_operands_have_their_shapes,
           a_gradient_has_the_dtype_of_its_operand, integers_take_part_without_a_gradient, no_axes_and_no_elements_have_gradients,
           c47_gradients_at_nothing, a_value_used_often_sums_what_flows_into_it,
           a_second_backward_needs_retain_and_names_what_is_gone, a_backward_that_cannot_pass_changes_nothing,
           several_roots_with_gradients_of_their_own, a_backward_says_what_it_misses, a_gradient_on_the_way_is_kept_when_asked_for,
           gradients_as_values_leave_the_leaves_alone, gradients_as_values_share_no_memory,
           an_input_that_was_not_used_is_an_error_or_nothing, gradients_as_values_say_what_they_miss, gradients_have_gradients,
           saved_results_are_part_of_the_graph_of_gradients, backward_can_remember_gradients_which_end_with_zero_grad,
           hooks_follow_one_another_and_change_what_flows_on, hooks_of_a_leaf_see_each_backwards_gradient_before_it_is_added,
           hooks_may_be_removed_and_added_inside_a_hook, a_hook_that_fails_fails_the_backward,
           a_hook_that_leaves_scopes_open_leaves_the_switch_as_it_was, a_hook_may_let_go_of_what_the_backward_began_with,
           a_gradient_that_a_hook_keeps_does_not_change, c48_a_changed_saved_value_is_named_with_its_versions,
           c48_a_change_through_a_view_or_another_handle_is_seen, c48_a_leaf_is_assigned_to_only_without_gradients,
           c48_a_part_of_what_has_a_gradient_is_not_assigned_to, an_assignment_to_a_whole_tensor_is_differentiated,
           an_assignment_to_wrapped_memory_is_seen, gradients_come_back_over_a_move,
           an_operation_without_a_gradient_is_named_by_backward, an_error_in_the_middle_leaves_the_leaves_and_a_clear_error,
           the_operation_that_makes_nan_is_named, a_checkpoint_has_the_values_gradients_and_random_numbers_of_the_function,
           what_a_checkpoint_takes_from_elsewhere_gets_its_gradient_from_backward_alone, a_checkpoint_says_what_it_cannot_do,
           the_checker_compares_with_differences, the_checker_finds_a_wrong_gradient,
           the_checker_draws_the_same_random_numbers_each_time, gradients_belong_to_no_scope_and_handles_on_them_to_the_callers,
           eager_gradients_are_the_same)
