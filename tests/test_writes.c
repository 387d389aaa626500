/* Writes into tensors and through views (bone 3): what they replace, what sees them, what does not. */
#include "bones.h"
#include "core/tensor.h"

#include <math.h>

/* 0, 1, 2, … on the device under test. */
#define COUNT(dtype, ...) bones_count(dtype, TN_SHAPE(__VA_ARGS__), test_device())

START_TEST(bone_03_a_write_that_covers_the_storage_replaces_its_value)
{
    tn_tensor *x = COUNT(TN_F32, 2, 3), *view = tn_select(x, 0, 1), *doubled = tn_mul(x, tn_int(2));
    const tn__value *old = x->storage->value;
    ck_launches(0, ck_ok(tn_assign(x, tn_int(5))));
    ck_assert(x->storage->value != old);
    ck_tensor_f32(view, {5, 5, 5});
    ck_tensor_f32(doubled, {0, 2, 4, 6, 8, 10});
    ck_launches(0, ck_ok(tn_write(x, (const float[]){1, 2, 3, 4, 5, 6}, 24)));
    ck_tensor_f32(view, {4, 5, 6});
    ck_tensor_f32(doubled, {0, 2, 4, 6, 8, 10});
}
END_TEST

START_TEST(bone_03_the_whole_of_a_storage_may_be_seen_in_any_order)
{
    tn_tensor *x = COUNT(TN_I32, 2, 3);
    ck_ok(tn_assign(tn_transpose(x, 0, 1), test_i32(TN_SHAPE(3, 2), {1, 2, 3, 4, 5, 6})));
    ck_tensor_i32(x, {1, 3, 5, 2, 4, 6});
    ck_ok(tn_assign(tn_flip(x, TN_ALL_AXES), test_i32(TN_SHAPE(2, 3), {1, 2, 3, 4, 5, 6})));
    ck_tensor_i32(x, {6, 5, 4, 3, 2, 1});
    ck_ok(tn_assign(tn_flip(tn_transpose(x, 0, 1), TN_AXES(0)), test_i32(TN_SHAPE(3, 1), {1, 2, 3})));
    ck_tensor_i32(x, {3, 2, 1, 3, 2, 1});
    ck_ok(tn_write(tn_transpose(x, 0, 1), (const int32_t[]){1, 2, 3, 4, 5, 6}, 24));
    ck_tensor_i32(x, {1, 3, 5, 2, 4, 6});
    ck_ok(tn_write(tn_reshape(x, TN_SHAPE(6)), (const int32_t[]){6, 5, 4, 3, 2, 1}, 24));
    ck_tensor_i32(x, {6, 5, 4, 3, 2, 1});
}
END_TEST

START_TEST(bone_03_a_reversed_whole_view_reverses_in_place)
{
    tn_tensor *x = COUNT(TN_I32, 5);
    ck_ok(tn_assign(tn_flip(x, TN_ALL_AXES), x));
    ck_tensor_i32(x, {4, 3, 2, 1, 0});
    ck_ok(tn_assign(x, tn_flip(x, TN_ALL_AXES)));
    ck_tensor_i32(x, {0, 1, 2, 3, 4});
    tn_tensor *y = COUNT(TN_I32, 3, 3);
    ck_ok(tn_assign(y, tn_transpose(y, 0, 1)));
    ck_tensor_i32(y, {0, 3, 6, 1, 4, 7, 2, 5, 8});
}
END_TEST

START_TEST(bone_03_overlapping_assignments_act_as_if_the_source_were_copied)
{
    tn_tensor *x = COUNT(TN_I32, 6);
    ck_ok(tn_assign(tn_slice(x, 0, 1, TN_END, 1), tn_slice(x, 0, 0, -1, 1)));
    ck_tensor_i32(x, {0, 0, 1, 2, 3, 4});
    ck_ok(tn_assign(tn_slice(x, 0, 0, -1, 1), tn_slice(x, 0, 1, TN_END, 1)));
    ck_tensor_i32(x, {0, 1, 2, 3, 4, 4});
    ck_ok(tn_assign(tn_slice(x, 0, 1, 5, 1), tn_slice(x, 0, 4, 0, -1)));
    ck_tensor_i32(x, {0, 4, 3, 2, 1, 4});
    ck_ok(tn_assign(tn_slice(x, 0, 0, TN_END, 2), tn_slice(x, 0, 1, 4, 1)));
    ck_tensor_i32(x, {4, 4, 3, 2, 2, 4});
}
END_TEST

START_TEST(bone_03_overlapping_assignments_may_cast_and_be_large)
{
    enum { N = 100000 };
    tn_tensor *x = COUNT(TN_I32, N), *want = tn_slice(COUNT(TN_I32, N), 0, 0, -1, 1);
    ck_ok(tn_assign(tn_slice(x, 0, 1, TN_END, 1), tn_slice(x, 0, 0, -1, 1)));
    ck_same(tn_slice(x, 0, 1, TN_END, 1), want);
    ck_ok(tn_assign(tn_slice(x, 0, 1, TN_END, 1), tn_cast(tn_slice(x, 0, 0, -1, 1), TN_F32)));
    ck_same(tn_slice(x, 0, 2, TN_END, 1), tn_slice(want, 0, 0, -1, 1));
}
END_TEST

START_TEST(bone_03_an_assignment_may_read_what_it_writes_through_an_expression)
{
    tn_tensor *x = COUNT(TN_I32, 5);
    ck_ok(tn_assign(x, tn_add(tn_mul(x, tn_int(2)), tn_int(1))));
    ck_tensor_i32(x, {1, 3, 5, 7, 9});
    ck_ok(tn_assign(tn_slice(x, 0, 1, TN_END, 1), tn_add(tn_slice(x, 0, 0, -1, 1), tn_slice(x, 0, 1, TN_END, 1))));
    ck_tensor_i32(x, {1, 4, 8, 12, 16});
    ck_ok(tn_assign(tn_slice(x, 0, 0, 2, 1), tn_flip(tn_add(tn_slice(x, 0, 0, 2, 1), tn_int(1)), TN_AXES(0))));
    ck_tensor_i32(x, {5, 2, 8, 12, 16});
    for (int i = 0; i < 10; i++) ck_ok(tn_assign(x, tn_add(x, tn_int(1))));
    ck_tensor_i32(x, {15, 12, 18, 22, 26});
}
END_TEST

START_TEST(bone_03_a_partial_write_runs_earlier_readers_and_is_enqueued_at_once)
{
    tn_tensor *x = bones_pending(TN_SHAPE(5)), *before = tn_mul(x, tn_int(10)), *view = tn_slice(x, 0, 1, 3, 1);
    tn_tensor *deeper = tn_add(tn_slice(before, 0, 2, TN_END, 1), tn_int(1));
    const uint64_t launches = bones_launches();
    ck_ok(tn_assign(view, tn_int(-1)));
    if (!test_is("host")) {
        ck_assert(!tn_is_pending(x));
        ck_assert_uint_gt(bones_launches(), launches);
    }
    tn_tensor *after = tn_mul(x, tn_int(10));
    ck_tensor_i32(x, {0, -1, -1, 3, 4});
    ck_tensor_i32(view, {-1, -1});
    ck_tensor_i32(before, {0, 10, 20, 30, 40});
    ck_tensor_i32(deeper, {21, 31, 41});
    ck_tensor_i32(after, {0, -10, -10, 30, 40});
}
END_TEST

START_TEST(bone_03_a_partial_write_of_a_stored_value_keeps_what_pending_readers_see)
{
    tn_tensor *x = COUNT(TN_I32, 6), *list[40];
    for (int i = 0; i < 40; i++) list[i] = tn_add(tn_slice(x, 0, i % 3, i % 3 + 2, 1), tn_int(i));
    ck_ok(tn_write(tn_slice(x, 0, 0, TN_END, 2), (const int32_t[]){7, 8, 9}, 12));
    ck_tensor_i32(x, {7, 1, 8, 3, 9, 5});
    for (int i = 0; i < 40; i++) {
        int32_t two[2];
        ck_ok(tn_read(list[i], two, sizeof two));
        ck_assert_int_eq(two[0], i % 3 + i);
        ck_assert_int_eq(two[1], i % 3 + 1 + i);
    }
}
END_TEST

START_TEST(bone_03_views_of_one_storage_see_each_others_writes)
{
    tn_tensor *x = COUNT(TN_I32, 3, 4), *column = tn_select(x, 1, 2), *row = tn_select(x, 0, 1), *flat = tn_view(x, TN_SHAPE(12));
    ck_ok(tn_assign(column, test_i32(TN_SHAPE(3), {20, 21, 22})));
    ck_ok(tn_assign(tn_flip(row, TN_AXES(0)), test_i32(TN_SHAPE(4), {33, 32, 31, 30})));
    ck_tensor_i32(flat, {0, 1, 20, 3, 30, 31, 32, 33, 8, 9, 22, 11});
    ck_ok(tn_assign(tn_select(tn_select(x, 0, 2), 0, 3), tn_int(-5)));
    ck_tensor_i32(tn_select(x, 0, 2), {8, 9, 22, -5});
}
END_TEST

START_TEST(bone_03_a_write_touches_its_elements_only)
{
    tn_tensor *x = COUNT(TN_U8, 7, 9), *part = tn_slice(tn_slice(x, 0, 1, 6, 2), 1, 7, 1, -2);
    uint8_t bytes[63], want[63];
    for (int i = 0; i < 63; i++) want[i] = (uint8_t)i;
    for (int i = 1; i < 6; i += 2)
        for (int j = 7; j > 1; j -= 2) want[i * 9 + j] = 200;
    ck_ok(tn_assign(part, tn_int(200)));
    ck_ok(tn_read(x, bytes, sizeof bytes));
    ck_assert_mem_eq(bytes, want, sizeof bytes);
}
END_TEST

START_TEST(bone_03_the_source_is_broadcast_and_cast)
{
    tn_tensor *x = COUNT(TN_I32, 2, 3);
    ck_ok(tn_assign(tn_slice(x, 1, 1, TN_END, 1), test_f32(TN_SHAPE(2, 1), {7.9f, -1.5f})));
    ck_tensor_i32(x, {0, 7, 7, 3, -1, -1});
    ck_ok(tn_assign(x, test_f32(TN_SHAPE(3), {NAN, 3e9f, 2})));
    ck_tensor_i32(x, {0, 2147483647, 2, 0, 2147483647, 2});
    ck_ok(tn_assign(tn_select(x, 0, 0), tn_bool(true)));
    ck_tensor_i32(tn_select(x, 0, 0), {1, 1, 1});
    ck_fails(tn_assign(x, test_i32(TN_SHAPE(2), {1, 2})), TN_SHAPE, "assign", "[2]", "[2,3]");
    ck_fails(tn_assign(x, test_i32(TN_SHAPE(1, 2, 3), {1, 2, 3, 4, 5, 6})), TN_SHAPE, "assign", "[1,2,3]");
    ck_tensor_i32(tn_select(x, 0, 1), {0, 2147483647, 2});
}
END_TEST

START_TEST(bone_03_an_expanded_view_is_not_written)
{
    tn_tensor *x = COUNT(TN_I32, 3, 1), *wide = tn_expand(x, TN_SHAPE(3, 4));
    ck_fails(tn_assign(wide, tn_int(1)), TN_ARGUMENT, "assign", "[3,4]", "expanded");
    ck_fails(tn_write(wide, (const int32_t[12]){0}, 48), TN_ARGUMENT, "expanded");
    ck_ok(tn_assign(tn_slice(wide, 1, 0, 1, 1), tn_int(4))); /* one column is whole again */
    ck_tensor_i32(wide, {4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4});
}
END_TEST

START_TEST(bone_03_memory_that_was_handed_out_never_gets_fresh_bytes)
{
    tn_tensor *x = COUNT(TN_I32, 4), *twice = tn_mul(x, tn_int(2));
    const tn__value *value = x->storage->value;
    const struct tn__buffer *bytes = value->buffer;
    x->storage->wrapped = true;
    ck_ok(tn_assign(x, tn_int(3)));
    ck_ok(tn_assign(tn_flip(x, TN_AXES(0)), tn_add(tn_flip(x, TN_AXES(0)), test_i32(TN_SHAPE(4), {1, 2, 3, 4}))));
    ck_ok(tn_write(tn_slice(x, 0, 0, 1, 1), (const int32_t[]){9}, 4));
    ck_assert(x->storage->value == value && value->buffer == bytes);
    ck_tensor_i32(x, {9, 6, 5, 4});
    ck_tensor_i32(twice, {0, 2, 4, 6});
    ck_ok(tn_write(x, (const int32_t[]){1, 2, 3, 4}, 16));
    ck_assert(x->storage->value == value && value->buffer == bytes);
    ck_tensor_i32(x, {1, 2, 3, 4});
}
END_TEST

START_TEST(bone_03_every_write_counts_the_version)
{
    tn_tensor *x = COUNT(TN_I32, 4);
    const uint64_t version = x->storage->version;
    ck_ok(tn_assign(x, tn_int(3)));
    ck_assert_uint_gt(x->storage->version, version);
    const uint64_t second = x->storage->version;
    ck_ok(tn_assign(tn_slice(x, 0, 0, 2, 1), tn_int(4)));
    ck_assert_uint_gt(x->storage->version, second);
    const uint64_t third = x->storage->version;
    ck_ok(tn_write(x, (const int32_t[]){1, 2, 3, 4}, 16));
    ck_assert_uint_gt(x->storage->version, third);
    ck_tensor_i32(x, {1, 2, 3, 4});
    ck_assert(tn_is_contiguous(x));
}
END_TEST

/* ---- writes at random, against a plain array ---- */

enum { MODEL = 60, READERS = 24 };

/* The elements that a view shows, in row-major order: their places in the array. Returns how many. */
static int places(const tn_tensor *v, int *place)
{
    int n = 0;
    const int64_t count = tn_numel(v);
    for (int64_t i = 0; i < count; i++) {
        int64_t left = i, at = tn_offset(v);
        for (int a = tn_ndim(v) - 1; a >= 0; a--) {
            at += left % tn_dim(v, a) * tn_stride(v, a);
            left /= tn_dim(v, a);
        }
        place[n++] = (int)at;
    }
    return n;
}

static tn_tensor *random_window(test_random *r, tn_tensor *x)
{
    tn_tensor *v = x;
    for (int64_t k = test_below(r, 4); k >= 0; k--) {
        const int n = tn_ndim(v), a = n ? (int)test_below(r, n) : 0, b = n ? (int)test_below(r, n) : 0;
        const int64_t d = n ? tn_dim(v, a) : 0, i = d ? test_below(r, d) : 0;
        switch (n ? test_below(r, 5) : 5) {
        case 0: v = tn_transpose(v, a, b); break;
        case 1: v = tn_slice(v, a, i, i + 1 + test_below(r, d), 1 + test_below(r, 2)); break;
        case 2: v = tn_flip(v, TN_AXES(a)); break;
        case 3:
            if (n > 1) v = tn_select(v, a, i);
            break;
        case 4: v = tn_slice(v, a, TN_END, TN_END, -1 - test_below(r, 2)); break;
        default: break;
        }
    }
    return ck_made(v);
}

static void same_as(tn_tensor *x, const int32_t *want, int n, const char *what, int round)
{
    int32_t got[MODEL];
    ck_assert_int_eq(tn_numel(x), n);
    ck_ok(tn_read(x, got, tn_nbytes(x)));
    for (int i = 0; i < n; i++)
        ck_assert_msg(got[i] == want[i], "round %d, %s: element %d is %d instead of %d", round, what, i, got[i], want[i]);
}

typedef struct model {
    test_random random;
    int32_t store[MODEL];
    tn_tensor *x, *reader[READERS];
    int32_t seen[READERS][MODEL];
    int count[READERS], readers;
} model;

/* One assignment, write, reading or recording, on the tensor and on the array. */
static void random_step(model *m, int round)
{
    test_random *r = &m->random;
    tn_tensor *v = random_window(r, m->x), *w = v;
    int place[MODEL], from[MODEL];
    int32_t values[MODEL];
    const int n = places(v, place);
    const int32_t number = (int32_t)test_below(r, 1000);
    switch (test_below(r, 7)) {
    case 0:
        if (m->readers == READERS) break;
        m->reader[m->readers] = ck_made(tn_add(tn_mul(v, tn_int(2)), tn_int(number)));
        for (int i = 0; i < n; i++) m->seen[m->readers][i] = m->store[place[i]] * 2 + number;
        m->count[m->readers++] = n;
        break;
    case 1:
        ck_ok(tn_assign(v, tn_int(number)));
        for (int i = 0; i < n; i++) m->store[place[i]] = number;
        break;
    case 2: /* what is read overlaps what is written */
    case 3:
        if (tn_ndim(v) > 0 && test_below(r, 2) && tn_dim(v, 0) > 1) {
            w = tn_slice(v, 0, 0, -1, 1);
            v = tn_slice(v, 0, 1, TN_END, 1);
        } else
            w = tn_flip(v, TN_ALL_AXES);
        (void)places(w, from);
        for (int i = 0; i < tn_numel(v); i++) values[i] = m->store[from[i]] + number;
        ck_ok(tn_assign(v, test_below(r, 2) || number ? tn_add(w, tn_int(number)) : w));
        for (int i = places(v, place) - 1; i >= 0; i--) m->store[place[i]] = values[i];
        break;
    case 4:
        for (int i = 0; i < n; i++) m->store[place[i]] = values[i] = number + i;
        ck_ok(tn_write(v, values, tn_nbytes(v)));
        break;
    case 5:
        for (int i = 0; i < n; i++) values[i] = m->store[place[i]];
        same_as(v, values, n, "a view", round);
        break;
    default:
        ck_ok(tn_assign(m->x, tn_sub(m->x, tn_int(number))));
        for (int i = 0; i < MODEL; i++) m->store[i] -= number;
    }
}

START_TEST(bone_03_any_writes_through_any_views_are_those_of_a_plain_array)
{
    const int rounds = test_is("host") ? 1000 : test_long() ? 32 : test_is("rusticl") ? 16 : 4; /* ten kernels each and more */
    for (int round = 0; round < rounds; round++) {
        model m = {.random = {test_seed(5) + (uint64_t)round}};
        const tn_scope scope = tn_scope_push();
        m.x = round % 2 ? bones_pending(TN_SHAPE(3, 4, 5)) : COUNT(TN_I32, 3, 4, 5);
        for (int i = 0; i < MODEL; i++) m.store[i] = i;
        for (int i = 0; i < 15; i++) random_step(&m, round);
        same_as(m.x, m.store, MODEL, "the whole", round);
        for (int i = 0; i < m.readers; i++) same_as(m.reader[i], m.seen[i], m.count[i], "a reader", round);
        ck_ok(tn_scope_pop(scope));
    }
}
END_TEST

START_TEST(bone_03_a_part_of_a_pending_structured_result_may_be_written)
{
    tn_tensor *y = tn_softmax(test_f32(TN_SHAPE(2, 2), {0, 0, 1, 1}), 1), *before = tn_add(y, tn_int(1)),
              *rows = tn_sum(y, TN_AXES(1), false);
    ck_ok(tn_assign(tn_select(y, 0, 0), tn_select(y, 0, 1)));
    ck_ok(tn_assign(tn_slice(y, 1, 1, 2, 1), tn_int(7)));
    ck_tensor_f32(y, {0.5f, 7, 0.5f, 7});
    ck_tensor_f32(before, {1.5f, 1.5f, 1.5f, 1.5f});
    ck_tensor_f32(rows, {1, 1});
}
END_TEST

BONES_MAIN_AT_ONCE("writes", bone_03_a_write_that_covers_the_storage_replaces_its_value,
           bone_03_the_whole_of_a_storage_may_be_seen_in_any_order, bone_03_a_reversed_whole_view_reverses_in_place,
           bone_03_overlapping_assignments_act_as_if_the_source_were_copied, bone_03_overlapping_assignments_may_cast_and_be_large,
           bone_03_an_assignment_may_read_what_it_writes_through_an_expression,
           bone_03_a_partial_write_runs_earlier_readers_and_is_enqueued_at_once,
           bone_03_a_partial_write_of_a_stored_value_keeps_what_pending_readers_see,
           bone_03_views_of_one_storage_see_each_others_writes, bone_03_a_write_touches_its_elements_only,
           bone_03_the_source_is_broadcast_and_cast, bone_03_an_expanded_view_is_not_written,
           bone_03_memory_that_was_handed_out_never_gets_fresh_bytes, bone_03_every_write_counts_the_version,
           bone_03_any_writes_through_any_views_are_those_of_a_plain_array,
           bone_03_a_part_of_a_pending_structured_result_may_be_written)
