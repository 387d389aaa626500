/* Recording, bounds, what a run stores: bones 7, 8, 10, 11 and 12, and the cases on graphs. On host all values are the same, and
 * nothing is ever pending. */
#include "bones.h"
#include "graph/graph.h"
#include "support/derive.h"

#include <math.h>
#include <pthread.h>

static tn_tensor *counted(int64_t n)
{
    return ck_made(tn_arange(TN_F32, 0, (double)n, 1, test_device()));
}

static void is_pending(tn_tensor *x, bool want)
{
    if (!test_is("host")) ck_assert_msg(tn_is_pending(ck_made(x)) == want, "pending: %d instead of %d", !want, want);
}

#define ck_pending(x) is_pending(x, true)
#define ck_stored(x) is_pending(x, false)

static double number(tn_tensor *x)
{
    double value = NAN;
    ck_ok(tn_item(x, &value));
    return value;
}

/* ---- bone 7 ---- */

START_TEST(bone_07_operations_are_recorded_and_run_when_their_result_is_needed)
{
    tn_tensor *x = counted(4), *y = NULL;
    ck_launches(0, y = tn_mul(tn_add(x, tn_int(1)), tn_int(2)));
    ck_pending(y);
    ck_launches(1, ck_tensor_f32(y, {2, 4, 6, 8}));
    ck_stored(y);
    ck_launches(0, ck_tensor_f32(y, {2, 4, 6, 8}));
}
END_TEST

START_TEST(bone_07_shape_dtype_and_device_are_checked_and_known_at_once)
{
    tn_tensor *x = counted(6), *y = tn_div(tn_reshape(x, TN_SHAPE(2, 3)), test_i32(TN_SHAPE(3), {1, 2, 4}));
    ck_pending(y);
    ck_shape(y, TN_SHAPE(2, 3));
    ck_assert_int_eq(tn_dtype_of(y), TN_F32);
    ck_assert_str_eq(tn_device_of(y), test_device());
    ck_fails(tn_add(y, x), TN_SHAPE, "add");
    ck_fails(tn_bitwise_and(y, y), TN_DTYPE, "bitwise_and");
    ck_pending(y);
}
END_TEST

START_TEST(bone_07_moving_realizes)
{
    tn_tensor *x = tn_add(counted(3), tn_int(1)), *h = tn_host(x);
    ck_assert_str_eq(tn_device_of(h), "host");
    ck_stored(x);
    ck_tensor_f32(h, {1, 2, 3});
}
END_TEST

START_TEST(bone_07_realize_takes_a_list_of_any_devices)
{
    tn_tensor *x = counted(3), *list[4] = {tn_add(x, tn_int(1)), tn_ones(TN_F32, TN_SHAPE(2), "host"), x, tn_neg(x)};
    ck_ok(tn_realize(list, 4));
    for (int i = 0; i < 4; i++) ck_stored(list[i]);
    ck_launches(0, ck_ok(tn_realize(list, 4)));
    ck_launches(0, ck_ok(tn_realize(NULL, 0)));
    ck_tensor_f32(list[3], {0, -1, -2});
}
END_TEST

START_TEST(bone_07_finish_runs_what_nobody_reads_and_waits)
{
    tn_tensor *x = counted(3), *y = tn_add(x, tn_int(1)), *z = tn_mul(y, tn_int(2)), *w = tn_sum(x, TN_ALL_AXES, false);
    ck_ok(tn_finish(test_device()));
    ck_stored(z);
    ck_stored(w);
    ck_launches(0, ck_tensor_f32(z, {2, 4, 6}));
    ck_launches(0, ck_tensor_f32(w, {3}));
    ck_launches(0, ck_ok(tn_finish(test_device())));
    ck_tensor_f32(y, {1, 2, 3});
}
END_TEST

/* x + 1 + 1 + … so often. */
static tn_tensor *chain_of(tn_tensor *x, int length)
{
    tn_tensor *one = tn_int(1);
    for (int i = 0; i < length; i++) {
        tn_tensor *next = ck_made(tn_add(x, one));
        if (i > 0) tn_release(x);
        x = next;
    }
    return x;
}

START_TEST(C72_a_thousand_chained_operations_are_a_few_kernels_and_right)
{
    tn_tensor *x = counted(5);
    const uint64_t launches = bones_launches();
    ck_tensor_f32(chain_of(x, 1000), {1000, 1001, 1002, 1003, 1004});
    if (test_is("host")) return;
    ck_assert_uint_ge(bones_launches() - launches, 1000 / TN__NODE_OPERATIONS);
    ck_assert_uint_le(bones_launches() - launches, 1000 / TN__NODE_OPERATIONS + 2);
}
END_TEST

START_TEST(bone_07_64_operations_are_one_kernel_and_65_are_two)
{
    tn_tensor *x = counted(3);
    ck_launches(1, ck_tensor_f32(chain_of(x, TN__NODE_OPERATIONS), {64, 65, 66}));
    ck_launches(2, ck_tensor_f32(chain_of(x, TN__NODE_OPERATIONS + 1), {65, 66, 67}));
}
END_TEST

START_TEST(bone_07_at_most_4096_nodes_are_pending)
{
    enum { COUNT = 5000 };
    static tn_tensor *list[COUNT];
    tn_tensor *x = counted(3), *minus = tn_int(-1);
    int pending = 0;
    for (int i = 0; i < COUNT; i++) {
        list[i] = ck_made(tn_add(x, minus));
        if (i == TN__NODES_PENDING / 2) x = ck_made(tn_add(x, tn_int(5)));
    }
    for (int i = 0; i < COUNT; i++) pending += tn_is_pending(list[i]);
    ck_assert_int_le(pending, TN__NODES_PENDING);
    if (!test_is("host")) {
        tn__device *device = tn__device_use(test_device());
        ck_assert_int_le(((tn__graph *)device->graph)->pending, TN__NODES_PENDING);
        ck_assert_int_gt(pending, 0); /* the rest is still lazy */
    }
    for (int i = 0; i < COUNT; i += 311) {
        float values[3];
        ck_ok(tn_read(list[i], values, sizeof values));
        ck_assert(values[2] == (i <= TN__NODES_PENDING / 2 ? 1 : 6));
    }
    for (int i = 0; i < COUNT; i++) tn_release(list[i]);
}
END_TEST

/* Values on the way that handles keep stay pending when the last of each chain is run for the bound; once they are many, they run too,
 * together, and not one with each new operation. */
START_TEST(bone_07_values_that_are_kept_do_not_make_every_operation_run)
{
    enum { CHAINS = 2500, LENGTH = 4 };
    NEEDS_OPENCL();
    tn_tensor *x = test_i32(TN_SHAPE(2), {1, 2}), *y = NULL;
    const uint64_t before = bones_launches();
    for (int i = 0; i < CHAINS; i++) {
        y = x;
        for (int k = 0; k < LENGTH; k++) y = ck_made(tn_add(y, tn_int(i + k)));
    }
    ck_assert_uint_le(bones_launches() - before, CHAINS);
    ck_tensor_i32(y, {1 + 4 * (CHAINS - 1) + 6, 2 + 4 * (CHAINS - 1) + 6});
}
END_TEST

START_TEST(bone_07_host_runs_each_operation_when_it_is_recorded)
{
    tn_tensor *x = ck_made(tn_ones(TN_F32, TN_SHAPE(3), "host")), *y = tn_add(x, x);
    ck_assert(!tn_is_pending(x) && !tn_is_pending(y));
    ck_assert(y->storage->value->node == NULL && y->storage->value->buffer != NULL);
}
END_TEST

START_TEST(bone_07_eager_runs_each_operation_and_waits)
{
    NEEDS_OPENCL();
    tn_tensor *x = counted(4), *lazy = tn_exp(tn_mul(tn_add(x, tn_int(1)), tn_float(0.1))), *eager[3];
    bones_run(lazy);
    ck_ok(tn_set("eager", "1"));
    ck_launches(1, eager[0] = tn_add(x, tn_int(1)));
    ck_launches(1, eager[1] = tn_mul(eager[0], tn_float(0.1)));
    ck_launches(1, eager[2] = tn_exp(eager[1]));
    ck_ok(tn_set("eager", NULL));
    for (int i = 0; i < 3; i++) ck_stored(eager[i]);
    ck_same(eager[2], lazy);
    ck_pending(tn_add(x, tn_int(1)));
}
END_TEST

START_TEST(bone_07_eager_assignments_are_right_too)
{
    tn_tensor *x = counted(4);
    ck_ok(tn_set("eager", "1"));
    tn_tensor *before = tn_add(x, tn_int(0));
    ck_ok(tn_assign(tn_slice(x, 0, 1, TN_END, 1), tn_slice(x, 0, 0, -1, 1)));
    ck_ok(tn_assign(x, tn_add(x, tn_int(1))));
    ck_ok(tn_set("eager", NULL));
    ck_tensor_f32(x, {1, 1, 2, 3});
    ck_tensor_f32(before, {0, 1, 2, 3});
}
END_TEST

/* ---- bone 8 ---- */

START_TEST(bone_08_a_run_stores_the_tensors_asked_for_and_no_others)
{
    tn_tensor *x = counted(4), *y = tn_add(x, tn_int(1)), *z = tn_mul(y, tn_int(2));
    ck_launches(1, ck_tensor_f32(z, {2, 4, 6, 8}));
    ck_stored(z);
    ck_pending(y); /* a live handle alone is no reason */
}
END_TEST

START_TEST(bone_08_the_second_run_that_needs_a_value_stores_it)
{
    tn_tensor *x = counted(4), *y = tn_add(tn_mul(x, x), tn_int(1)), *a = tn_mul(y, tn_int(2)), *b = tn_mul(y, tn_int(3)),
              *c = tn_mul(y, tn_int(4));
    ck_tensor_f32(a, {2, 4, 10, 20});
    ck_pending(y);
    ck_launches(1, ck_tensor_f32(b, {3, 6, 15, 30})); /* one kernel with two outputs */
    ck_stored(y);
    ck_launches(1, ck_tensor_f32(c, {4, 8, 20, 40}));
    ck_launches(0, ck_tensor_f32(y, {1, 2, 5, 10}));
}
END_TEST

START_TEST(bone_08_finish_leaves_out_what_a_run_has_computed_on_its_way)
{
    tn_tensor *x = counted(4), *y = tn_add(x, tn_int(1)), *z = tn_mul(y, tn_int(2));
    bones_run(z);
    tn_release(z);
    ck_launches(0, ck_ok(tn_finish(test_device())));
    ck_tensor_f32(y, {1, 2, 3, 4});
}
END_TEST

START_TEST(bone_08_an_assigned_value_is_stored_by_the_first_run_that_computes_it)
{
    tn_tensor *p = counted(4), *moment = ck_made(tn_zeros(TN_F32, TN_SHAPE(4), test_device()));
    ck_ok(tn_assign(moment, tn_add(tn_mul(moment, tn_float(0.9)), tn_int(1))));
    ck_ok(tn_assign(p, tn_sub(p, tn_mul(moment, tn_float(0.5)))));
    ck_pending(p);
    ck_launches(1, ck_tensor_f32(tn_mul(p, tn_int(2)), {-1, 1, 3, 5}));
    ck_stored(p);
    ck_stored(moment);
    ck_launches(0, ck_tensor_f32(p, {-0.5f, 0.5f, 1.5f, 2.5f}));
    ck_launches(0, ck_tensor_f32(moment, {1, 1, 1, 1}));
}
END_TEST

START_TEST(bone_08_results_of_structured_operations_are_stored)
{
    tn_tensor *x = tn_reshape(counted(6), TN_SHAPE(2, 3)), *rows = tn_sum(x, TN_AXES(1), true), *a = tn_sub(x, rows),
              *b = tn_mul(x, rows);
    ck_tensor_f32(a, {-3, -2, -1, -9, -8, -7});
    ck_stored(rows);
    ck_launches(1, ck_tensor_f32(b, {0, 3, 6, 36, 48, 60}));
}
END_TEST

START_TEST(bone_08_a_structured_result_read_by_one_expression_of_its_shape_is_not_stored)
{
    tn_tensor *x = tn_reshape(counted(6), TN_SHAPE(2, 3)), *rows = tn_sum(x, TN_AXES(1), false),
              *y = tn_add(tn_mul(rows, tn_int(2)), tn_int(1));
    ck_launches(1, ck_tensor_f32(y, {7, 25}));
    ck_pending(rows);
    ck_tensor_f32(rows, {3, 12});
}
END_TEST

START_TEST(bone_08_a_structured_result_that_one_expression_reads_at_other_places_too_is_stored)
{
    tn_tensor *x = tn_reshape(counted(6), TN_SHAPE(2, 3)), *y = tn_mul(tn_sum(x, TN_AXES(1), false), tn_int(2)),
              *z = tn_sub(y, tn_flip(y, TN_AXES(0)));
    tn_release(x);
    tn_release(y);
    ck_launches(2, ck_tensor_f32(z, {-18, 18}));
}
END_TEST

START_TEST(bone_08_a_shared_value_is_stored_where_that_moves_fewer_bytes)
{
    tn_tensor *in[6], *sum = NULL;
    for (int i = 0; i < 6; i++) {
        in[i] = tn_add(counted(64), tn_int(i));
        bones_run(in[i]);
        sum = i ? tn_add(sum, in[i]) : in[0];
    }
    tn_tensor *rows = tn_sum(tn_reshape(sum, TN_SHAPE(8, 8)), TN_AXES(1), false),
              *columns = tn_sum(tn_reshape(sum, TN_SHAPE(8, 8)), TN_AXES(0), false);
    ck_ok(tn_realize((tn_tensor *const[]){rows, columns}, 2));
    ck_stored(sum); /* two kernels read it: six inputs again, or one */
    tn_tensor *x = counted(64), *cheap = tn_add(x, tn_int(1));
    tn_tensor *r = tn_sum(tn_reshape(cheap, TN_SHAPE(8, 8)), TN_AXES(1), false),
              *c = tn_sum(tn_reshape(cheap, TN_SHAPE(8, 8)), TN_AXES(0), false);
    ck_launches(2, ck_ok(tn_realize((tn_tensor *const[]){r, c}, 2)));
    ck_pending(cheap);
    ck_assert(number(tn_select(r, 0, 0)) == 36 && number(tn_select(rows, 0, 0)) == 6 * 28 + 8 * 15);
}
END_TEST

START_TEST(bone_08_fills_cost_nothing_and_are_not_stored)
{
    tn_tensor *zero = ck_made(tn_zeros(TN_F32, TN_SHAPE(4), test_device())), *x = counted(4);
    for (int i = 0; i < 3; i++) ck_launches(1, ck_tensor_f32(tn_add(x, zero), {0, 1, 2, 3}));
    ck_pending(zero);
}
END_TEST

/* ---- bone 10 ---- */

START_TEST(bone_10_several_results_come_from_one_kernel)
{
    tn_tensor *x = counted(4), *y = tn_mul(x, x), *list[4] = {tn_add(y, tn_int(1)), tn_sub(y, x), tn_gt(y, x), tn_cast(y, TN_I32)};
    ck_launches(1, ck_ok(tn_realize(list, 4)));
    ck_launches(0, ck_tensor_f32(list[0], {1, 2, 5, 10}));
    ck_tensor_f32(list[1], {0, 0, 2, 6});
    ck_tensor_bool(list[2], {0, 0, 1, 1});
    ck_tensor_i32(list[3], {0, 1, 4, 9});
    ck_pending(y);
}
END_TEST

START_TEST(bone_10_results_that_read_each_other_come_from_one_kernel)
{
    tn_tensor *x = counted(4), *y = tn_add(x, tn_int(1)), *z = tn_mul(y, y), *w = tn_sub(z, y);
    ck_launches(1, ck_ok(tn_realize((tn_tensor *const[]){y, z, w}, 3)));
    ck_launches(0, ck_tensor_f32(y, {1, 2, 3, 4}));
    ck_launches(0, ck_tensor_f32(z, {1, 4, 9, 16}));
    ck_launches(0, ck_tensor_f32(w, {0, 2, 6, 12}));
}
END_TEST

START_TEST(bone_10_each_node_of_an_expression_is_emitted_once)
{
    tn_tensor *x = tn_cast(counted(3), TN_I64);
    bones_run(x);
    for (int i = 0; i < 40; i++) x = ck_made(tn_add(x, x)); /* as a tree: 2^40 operations */
    ck_launches(1, ck_tensor_i64(x, {0, INT64_C(1) << 40, INT64_C(1) << 41}));
}
END_TEST

START_TEST(C72_an_expression_with_sixty_inputs_fits_the_arguments)
{
    tn_tensor *list[60], *sum = NULL;
    for (int i = 0; i < 60; i++) {
        list[i] = test_f32(TN_SHAPE(3), {(float)i, 1, (float)(i * i)});
        sum = i ? ck_made(tn_add(sum, list[i])) : list[0];
    }
    const uint64_t launches = bones_launches();
    ck_tensor_f32(sum, {1770, 60, 70210});
    ck_assert_uint_le(bones_launches() - launches, 3);
    sum = NULL;
    for (int i = 0; i < 60; i++) /* with windows that are all different */
        sum = i ? ck_made(tn_add(sum, tn_slice(list[i], 0, i % 2, i % 2 + 2, 1))) : tn_slice(list[0], 0, 0, 2, 1);
    ck_tensor_f32(sum, {30 * 29 + 30, 30 + 35990});
    sum = NULL;
    for (int i = 0; i < 60; i++) sum = i ? ck_made(tn_add(sum, tn_mul(list[i], tn_float(1 + 0.5 * i)))) : list[0]; /* and numbers */
    ck_assert(number(tn_select(sum, 0, 1)) == 60 + 0.5 * 1770);
}
END_TEST

START_TEST(C72_many_inputs_of_several_results_fit_too)
{
    tn_tensor *in[40], *out[12];
    for (int i = 0; i < 40; i++) in[i] = test_f32(TN_SHAPE(2), {(float)i, (float)-i});
    for (int o = 0; o < 12; o++) {
        out[o] = in[o];
        for (int i = 1; i < 40; i += 2) out[o] = ck_made(tn_add(out[o], in[(i * (o + 1)) % 40]));
    }
    ck_ok(tn_realize(out, 12));
    for (int o = 0; o < 12; o++) {
        int want = o;
        for (int i = 1; i < 40; i += 2) want += (i * (o + 1)) % 40;
        ck_tensor_f32(out[o], {(float)want, (float)-want});
    }
}
END_TEST

START_TEST(bone_10_one_kernel_runs_an_expression_over_segments_of_different_shapes)
{
    NEEDS_OPENCL();
    tn_tensor *p[5], *list[5];
    const int64_t sizes[5] = {3, 1000, 17, 1, 4096};
    for (int i = 0; i < 5; i++) {
        p[i] = ck_made(i % 2 ? tn_reshape(counted(sizes[i]), TN_SHAPE(-1, 1)) : counted(sizes[i]));
        list[i] = tn_sub(p[i], tn_mul(tn_float(0.5), p[i]));
    }
    ck_launches(1, ck_ok(tn_realize(list, 5)));
    for (int i = 0; i < 5; i++)
        ck_assert(number(tn_select(tn_reshape(list[i], TN_SHAPE(-1)), 0, -1)) == 0.5 * (double)(sizes[i] - 1));
    ck_same(list[1], tn_to(tn_mul(tn_host(p[1]), tn_float(0.5)), test_device()));
    ck_same(list[4], tn_to(tn_mul(tn_host(p[4]), tn_float(0.5)), test_device()));
}
END_TEST

START_TEST(bone_10_segments_read_what_segments_and_structured_operations_of_the_same_run_made)
{
    tn_tensor *v[2], *w[2];
    for (int i = 0; i < 2; i++) {
        v[i] = tn_mul(counted(4 + 4 * i), tn_int(2));
        w[i] = tn_sub(v[i], tn_sum(v[i], TN_ALL_AXES, true));
    }
    ck_launches(4, ck_ok(tn_realize((tn_tensor *const[]){v[0], v[1], w[0], w[1]}, 4)));
    ck_tensor_f32(w[0], {-12, -10, -8, -6});
    ck_tensor_f32(w[1], {-56, -54, -52, -50, -48, -46, -44, -42});
}
END_TEST

START_TEST(bone_10_a_single_element_goes_along_where_the_others_read_a_number_of_the_device)
{
    NEEDS_OPENCL();
    tn_tensor *one = counted(1), *many = counted(70), *factor = tn_add(tn_select(counted(3), 0, 2), tn_int(0));
    ck_ok(tn_realize(&factor, 1));
    tn_tensor *const list[] = {tn_mul(tn_add(one, tn_int(3)), factor), tn_mul(tn_add(many, tn_int(3)), factor)};
    ck_launches(1, ck_ok(tn_realize(list, 2)));
    ck_tensor_f32(list[0], {6});
    ck_tensor_f32(tn_slice(list[1], 0, 67, TN_END, 1), {140, 142, 144});
}
END_TEST

START_TEST(bone_10_recording_calls_one_hook_with_the_operation_and_its_operands)
{
    tn_tensor *x = counted(4);
    derive_watch();
    tn_tensor *y = tn_add(x, x);
    ck_assert_str_eq(seen.derivative->name, "add");
    tn_tensor *z = tn_softmax(y, 0);
    ck_assert_str_eq(seen.derivative->name, "softmax");
    ck_assert_ptr_eq(seen.operand[0], y);
    tn_tensor *w = tn_sum(z, TN_ALL_AXES, false);
    derive_watch_end();
    ck_assert_str_eq(seen.derivative->name, "sum");
    ck_assert_int_eq(seen.count, 3);
    ck_assert_ptr_eq(seen.out, w);
    ck_assert_ptr_null(x->gradient); /* the slot is there from the start */
    ck_assert_ptr_null(w->gradient);
}
END_TEST

/* ---- bone 11 ---- */

START_TEST(bone_11_a_reduction_takes_its_producer_and_the_expression_of_its_result)
{
    tn_tensor *x = tn_reshape(counted(12), TN_SHAPE(3, 4)),
              *y = tn_sqrt(tn_add(tn_sum(tn_mul(x, x), TN_AXES(1), false), tn_int(11)));
    ck_launches(1, ck_close(y, 4, {5, 11.704699910719626, 19.416487838947599}));
}
END_TEST

START_TEST(bone_11_softmax_takes_its_producer_and_its_consumer)
{
    tn_tensor *x = tn_reshape(counted(8), TN_SHAPE(2, 4)), *y = tn_mul(tn_softmax(tn_mul(x, tn_int(0)), 1), tn_int(8));
    ck_launches(1, ck_tensor_f32(y, {2, 2, 2, 2, 2, 2, 2, 2}));
}
END_TEST

START_TEST(bone_11_a_shared_structured_operation_is_computed_once)
{
    tn_tensor *x = tn_reshape(counted(8), TN_SHAPE(2, 4)), *s = tn_sum(x, TN_AXES(1), true), *a = tn_div(x, s), *b = tn_sub(x, s);
    ck_launches(3, ck_ok(tn_realize((tn_tensor *const[]){a, tn_sum(b, TN_ALL_AXES, false)}, 2)));
    ck_tensor_f32(b, {-6, -5, -4, -3, -18, -17, -16, -15});
}
END_TEST

/* ---- bone 12 ---- */

START_TEST(bone_12_every_row_of_the_table_is_complete)
{
    for (int i = 0; i < TN__ROWS; i++) {
        const tn__row *r = &tn__rows[i];
        ck_assert_msg(r->name && *r->name && r->arity >= 1 && r->arity <= 3, "row %d", i);
        ck_assert_msg(r->text[0] || r->text[1] || r->text[2], "%s: no text", r->name);
        ck_assert_msg(r->low < r->high && r->ulp >= 0, "%s: no test range", r->name);
        ck_assert_msg(!r->derivative.gradient || r->text[0], "%s: a gradient without floats", r->name);
        for (int k = 0; k < i; k++) ck_assert_msg(strcmp(tn__rows[k].name, r->name) != 0, "%s: twice", r->name);
        for (int k = 0; k < 3; k++) /* macros only: no C operator, no call of a library function */
            ck_assert_msg(!r->text[k] || !strpbrk(r->text[k], "+*/%<>=&|^?:;{}"), "%s: \"%s\"", r->name, r->text[k]);
    }
}
END_TEST

/* ---- deep graphs ---- */

/* A chain of so many pending nodes, made by hand, for no bound lets one become so long. */
static tn__value *deep_chain(tn__device *device, int length)
{
    const tn_shape shape = TN_SHAPE(2);
    tn_tensor *x = counted(2);
    tn__value *value = tn__value_retain(x->storage->value);
    tn__lock(&device->graph_lock);
    tn__graph *graph = tn__graph_of(device);
    tn__unlock(&device->graph_lock);
    tn_tensor *model = ck_made(tn_neg(x)); /* whose node is copied */
    const tn__node *pattern = model->storage->value->node;
    for (int i = 0; i < length; i++) {
        tn__node *node = tn__node_new(pattern->op, 1);
        tn__value *next = tn__value_new(device, TN_F32, &shape, "test");
        node->row = pattern->row;
        node->dtype = TN_F32;
        node->rank = node->kept = 1;
        node->dim[0] = 2;
        node->in[0] = pattern->in[0];
        node->in[0].value = value; /* the chain's reference */
        tn__lock(&device->graph_lock);
        value->readers++;
        node->out[0] = next;
        next->node = node;
        node->older = graph->newest;
        if (graph->newest)
            graph->newest->newer = node;
        else
            graph->oldest = node;
        graph->newest = node;
        graph->pending++;
        tn__unlock(&device->graph_lock);
        value = next;
    }
    return value;
}

static void *release_value(void *value)
{
    tn__value_release(value);
    return NULL;
}

START_TEST(C54_a_graph_of_100000_nodes_is_freed_without_deep_recursion)
{
    NEEDS_OPENCL();
    tn__device *device = tn__device_use(test_device());
    tn__value *last = deep_chain(device, 100000);
    const int pending = ((tn__graph *)device->graph)->pending;
    ck_assert_int_ge(pending, 100000);
    pthread_attr_t small;
    pthread_t thread;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    ck_assert_int_eq(pthread_create(&thread, &small, release_value, last), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&small);
    ck_assert_int_eq(((tn__graph *)device->graph)->pending, pending - 100000);
}
END_TEST

START_TEST(C54_a_deep_graph_runs_without_deep_recursion)
{
    tn_tensor *x = ck_made(tn_ones(TN_F32, TN_SHAPE(1, 2), test_device()));
    for (int i = 0; i < 4000; i++) { /* none of them fuses with the next */
        tn_tensor *next = ck_made(tn_softmax(x, 1));
        tn_release(x);
        x = next;
    }
    if (!test_is("host")) ck_assert(tn_is_pending(x));
    ck_tensor_f32(x, {0.5f, 0.5f});
}
END_TEST

START_TEST(C54_a_hundred_thousand_steps_of_a_loop_hold_little)
{
    tn_tensor *x = counted(2);
    const int64_t handles = tn_live_count();
    x = chain_of(x, test_long() ? 100000 : 20000);
    ck_assert_int_le(tn_live_count(), handles + 2);
    ck_tensor_f32(x, {test_long() ? 100000 : 20000, test_long() ? 100001 : 20001});
}
END_TEST

START_TEST(handles_of_pending_values_may_go_in_any_order)
{
    tn_tensor *x = counted(3), *y = tn_add(x, tn_int(1)), *z = tn_mul(y, y), *w = tn_sub(z, y), *v = tn_slice(w, 0, 1, 3, 1);
    tn_release(y);
    tn_release(w);
    tn_release(x);
    tn_release(z);
    ck_tensor_f32(v, {2, 6});
}
END_TEST

BONES_MAIN_AT_ONCE("graph", bone_07_operations_are_recorded_and_run_when_their_result_is_needed,
           bone_07_shape_dtype_and_device_are_checked_and_known_at_once, bone_07_moving_realizes,
           bone_07_realize_takes_a_list_of_any_devices, bone_07_finish_runs_what_nobody_reads_and_waits,
           C72_a_thousand_chained_operations_are_a_few_kernels_and_right, bone_07_64_operations_are_one_kernel_and_65_are_two,
           bone_07_at_most_4096_nodes_are_pending, bone_07_values_that_are_kept_do_not_make_every_operation_run, bone_07_host_runs_each_operation_when_it_is_recorded,
           bone_07_eager_runs_each_operation_and_waits, bone_07_eager_assignments_are_right_too,
           bone_08_a_run_stores_the_tensors_asked_for_and_no_others, bone_08_the_second_run_that_needs_a_value_stores_it,
           bone_08_finish_leaves_out_what_a_run_has_computed_on_its_way,
           bone_08_an_assigned_value_is_stored_by_the_first_run_that_computes_it,
           bone_08_results_of_structured_operations_are_stored,
           bone_08_a_structured_result_read_by_one_expression_of_its_shape_is_not_stored,
           bone_08_a_structured_result_that_one_expression_reads_at_other_places_too_is_stored,
           bone_08_a_shared_value_is_stored_where_that_moves_fewer_bytes, bone_08_fills_cost_nothing_and_are_not_stored,
           bone_10_several_results_come_from_one_kernel, bone_10_results_that_read_each_other_come_from_one_kernel,
           bone_10_each_node_of_an_expression_is_emitted_once, C72_an_expression_with_sixty_inputs_fits_the_arguments,
           C72_many_inputs_of_several_results_fit_too, bone_10_one_kernel_runs_an_expression_over_segments_of_different_shapes,
           bone_10_segments_read_what_segments_and_structured_operations_of_the_same_run_made,
           bone_10_a_single_element_goes_along_where_the_others_read_a_number_of_the_device,
           bone_10_recording_calls_one_hook_with_the_operation_and_its_operands,
           bone_11_a_reduction_takes_its_producer_and_the_expression_of_its_result,
           bone_11_softmax_takes_its_producer_and_its_consumer, bone_11_a_shared_structured_operation_is_computed_once,
           bone_12_every_row_of_the_table_is_complete, C54_a_graph_of_100000_nodes_is_freed_without_deep_recursion,
           C54_a_deep_graph_runs_without_deep_recursion, C54_a_hundred_thousand_steps_of_a_loop_hold_little,
           handles_of_pending_values_may_go_in_any_order)
