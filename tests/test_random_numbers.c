/* Random numbers: Philox4x32-10 as Random123 has it, the same on every device, layout and launch shape. Case C50, and the
 * contract's line on random numbers. */
#include <math.h>
#include <pthread.h>

#include "bones.h"

/* ---- Philox4x32-10, written from the paper (Salmon et al., SC 2011) ---- */

static void philox(const uint32_t counter[4], const uint32_t key_in[2], uint32_t out[4])
{
    uint32_t c[4] = {counter[0], counter[1], counter[2], counter[3]}, key[2] = {key_in[0], key_in[1]};
    for (int round = 0; round < 10; round++) {
        if (round > 0) {
            key[0] += 0x9E3779B9u; /* golden ratio */
            key[1] += 0xBB67AE85u; /* sqrt(3) - 1 */
        }
        const uint64_t p0 = (uint64_t)0xD2511F53u * c[0], p1 = (uint64_t)0xCD9E8D57u * c[2];
        const uint32_t next[4] = {(uint32_t)(p1 >> 32) ^ c[1] ^ key[0], (uint32_t)p1, (uint32_t)(p0 >> 32) ^ c[3] ^ key[1],
                                  (uint32_t)p0};
        memcpy(c, next, sizeof c);
    }
    memcpy(out, c, 16);
}

static void words_of(uint64_t seed, uint64_t place, uint32_t out[4])
{
    const uint32_t counter[4] = {(uint32_t)place, (uint32_t)(place >> 32), 0, 0}, key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    philox(counter, key, out);
}

START_TEST(the_reference_gives_Random123s_known_answers)
{
    /* kat_vectors of Random123 1.14: counter, key, answer */
    static const uint32_t known[][10] = {
        {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};
    for (int i = 0; i < 3; i++) {
        uint32_t got[4];
        philox(known[i], known[i] + 4, got);
        ck_assert_mem_eq(got, known[i] + 6, 16);
    }
}
END_TEST

/* ---- the library against it ---- */

/* randint over all of i64 but one: low + the first two words. */
static tn_tensor *raw_words(tn_shape shape, const char *device)
{
    return tn_randint(TN_I64, shape, INT64_MIN, INT64_MAX, device);
}

static void ck_raw(uint64_t seed, uint64_t position, int count)
{
    int64_t got[64];
    tn_set_random_state(seed, position);
    ck_ok(tn_read(raw_words(TN_SHAPE(count), test_device()), got, (size_t)count * 8));
    for (int i = 0; i < count; i++) {
        uint32_t w[4];
        words_of(seed, position + (uint64_t)i, w);
        const uint64_t wide = ((uint64_t)w[0] << 32 | w[1]) % UINT64_MAX, want = (uint64_t)INT64_MIN + wide;
        ck_assert_msg((uint64_t)got[i] == want, "seed %llx, place %llx: %llx instead of %llx", (unsigned long long)seed,
                      (unsigned long long)(position + (uint64_t)i), (unsigned long long)got[i], (unsigned long long)want);
    }
}

START_TEST(the_first_element_of_seed_0_is_the_known_answer)
{
    int64_t got = 0;
    tn_seed(0);
    ck_ok(tn_item_int(raw_words(TN_SHAPE(), test_device()), &got));
    ck_assert_uint_eq((uint64_t)got - (uint64_t)INT64_MIN, 0x6627e8d5e169c58d);
}
END_TEST

START_TEST(key_and_counter_take_64_bits_each)
{
    static const uint64_t seeds[] = {0, 1, 0xffffffff, 0x100000000, 0x299f31d0a4093822, UINT64_MAX};
    static const uint64_t positions[] = {0, 1, 0xfffffff0, 0xffffffff, 0x100000000, 0x85a308d3243f6a88, UINT64_MAX - 20};
    for (int s = 0; s < 6; s++)
        for (int p = 0; p < 7; p++) ck_raw(seeds[s], positions[p], 40); /* the last position wraps */
}
END_TEST

static double uniform(tn_dtype dtype, const uint32_t w[4])
{
    switch (dtype) {
    case TN_F64: return (double)(((uint64_t)w[0] << 32 | w[1]) >> 11) * 0x1p-53;
    case TN_F32: return (double)(w[0] >> 8) * 0x1p-24;
    case TN_F16: return (double)(w[0] >> 21) * 0x1p-11;
    default: return (double)(w[0] >> 24) * 0x1p-8;
    }
}

static const tn_dtype floats[] = {TN_F16, TN_BF16, TN_F32, TN_F64};
enum { FLOATS = 4, COUNT = 1009 };

static bool has(tn_dtype dtype)
{
    return dtype != TN_F64 || test_is("host") || test_has_f64();
}

START_TEST(uniform_numbers_are_the_upper_bits)
{
    for (int f = 0; f < FLOATS; f++) {
        if (!has(floats[f])) continue;
        unsigned char got[COUNT * 8];
        const size_t size = tn_dtype_size(floats[f]);
        tn_set_random_state(77, 1000);
        ck_ok(tn_read(tn_rand(floats[f], TN_SHAPE(COUNT), test_device()), got, COUNT * size));
        for (int i = 0; i < COUNT; i++) {
            uint32_t w[4];
            words_of(77, 1000 + (uint64_t)i, w);
            const double value = test_number(floats[f], got + (size_t)i * size), want = uniform(floats[f], w);
            ck_assert_msg(value == want, "%s element %d: %.17g instead of %.17g", tn_dtype_name(floats[f]), i, value, want);
        }
    }
}
END_TEST

START_TEST(normal_numbers_are_Box_and_Mullers)
{
    for (int f = 0; f < FLOATS; f++) {
        const tn_dtype dtype = floats[f];
        if (!has(dtype)) continue;
        unsigned char got[COUNT * 8];
        const size_t size = tn_dtype_size(dtype);
        double worst = 0;
        tn_set_random_state(5, 0);
        ck_ok(tn_read(tn_randn(dtype, TN_SHAPE(COUNT), test_device()), got, COUNT * size));
        for (int i = 0; i < COUNT; i++) {
            uint32_t w[4];
            words_of(5, (uint64_t)i, w);
            const long double u = dtype == TN_F64 ? ((long double)(((uint64_t)w[0] << 32 | w[1]) >> 11) + 1) * 0x1p-53L
                                                  : ((long double)(w[0] >> 8) + 1) * 0x1p-24L;
            const long double v = dtype == TN_F64 ? (long double)(((uint64_t)w[2] << 32 | w[3]) >> 11) * 0x1p-53L
                                                  : (long double)(w[2] >> 8) * 0x1p-24L;
            const long double want = sqrtl(-2 * logl(u)) * cosl(6.283185307179586476925286766559L * v);
            const double off = test_ulps(dtype, test_number(dtype, got + (size_t)i * size), want);
            if (off > worst) worst = off;
        }
        ck_assert_msg(worst <= 4, "%s: %.3g ulp", tn_dtype_name(dtype), worst);
    }
}
END_TEST

/* ---- the same on every device ---- */

START_TEST(C50_uniform_numbers_have_the_bits_of_host)
{
    for (int f = 0; f < FLOATS; f++) {
        if (!has(floats[f])) continue;
        tn_set_random_state(10, 3);
        tn_tensor *here = ck_made(tn_rand(floats[f], TN_SHAPE(31, 65), test_device()));
        tn_set_random_state(10, 3);
        ck_same(here, tn_rand(floats[f], TN_SHAPE(31, 65), "host"));
    }
}
END_TEST

START_TEST(C50_integers_have_the_bits_of_host)
{
    static const struct {
        tn_dtype dtype;
        int64_t low, high;
    } ranges[] = {{TN_I8, -128, 128},
                  {TN_I8, -3, 4},
                  {TN_U8, 0, 256},
                  {TN_U8, 250, 251},
                  {TN_I16, -32768, 32768},
                  {TN_U16, 0, 65536},
                  {TN_I32, INT32_MIN, (int64_t)INT32_MAX + 1},
                  {TN_I32, -5, 1000000},
                  {TN_U32, 0, 1LL << 32},
                  {TN_U32, 7, 4000000000},
                  {TN_I64, INT64_MIN, INT64_MAX},
                  {TN_I64, -10, 10},
                  {TN_U64, 0, INT64_MAX},
                  {TN_U64, 5, 6}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const tn_dtype dtype = ranges[i].dtype;
        tn_set_random_state(1234567890123, 99);
        tn_tensor *here = ck_made(tn_randint(dtype, TN_SHAPE(513), ranges[i].low, ranges[i].high, test_device()));
        tn_set_random_state(1234567890123, 99);
        ck_same(here, tn_randint(dtype, TN_SHAPE(513), ranges[i].low, ranges[i].high, "host"));
        unsigned char got[513 * 8];
        ck_ok(tn_read(here, got, tn_nbytes(here)));
        for (int k = 0; k < 513; k++) {
            uint32_t w[4];
            words_of(1234567890123, 99 + (uint64_t)k, w);
            const uint64_t span = (uint64_t)ranges[i].high - (uint64_t)ranges[i].low;
            const uint64_t want = (uint64_t)ranges[i].low + ((uint64_t)w[0] << 32 | w[1]) % span;
            ck_assert_msg(memcmp(got + (size_t)k * tn_dtype_size(dtype), &want, tn_dtype_size(dtype)) == 0,
                          "%s %lld…%lld: element %d", tn_dtype_name(dtype), (long long)ranges[i].low, (long long)ranges[i].high, k);
        }
    }
}
END_TEST

START_TEST(C50_normal_numbers_are_within_4_ulp_of_host)
{
    for (int f = 0; f < FLOATS; f++) {
        if (!has(floats[f])) continue;
        unsigned char here[COUNT * 8], host[COUNT * 8];
        const size_t size = tn_dtype_size(floats[f]);
        tn_seed(10);
        ck_ok(tn_read(tn_randn(floats[f], TN_SHAPE(COUNT), test_device()), here, COUNT * size));
        tn_seed(10);
        ck_ok(tn_read(tn_randn(floats[f], TN_SHAPE(COUNT), "host"), host, COUNT * size));
        for (int i = 0; i < COUNT; i++) {
            const double a = test_number(floats[f], here + (size_t)i * size), b = test_number(floats[f], host + (size_t)i * size);
            ck_assert_msg(test_ulps(floats[f], a, (long double)b) <= 4, "%s element %d: %.17g, host has %.17g",
                          tn_dtype_name(floats[f]), i, a, b);
        }
    }
}
END_TEST

/* ---- independent of how it is looked at and launched ---- */

START_TEST(C50_a_number_depends_on_its_row_major_index_alone)
{
    float all[240], got[240];
    tn_seed(42);
    ck_ok(tn_read(tn_rand(TN_F32, TN_SHAPE(240), test_device()), all, sizeof all));
    tn_seed(42);
    tn_tensor *x = ck_made(tn_rand(TN_F32, TN_SHAPE(4, 6, 10), test_device()));
    ck_ok(tn_read(tn_slice(tn_select(x, 1, 3), 1, 9, 2, -3), got, 4 * 3 * 4)); /* pending parts */
    for (int i = 0; i < 12; i++) ck_assert_float_eq(got[i], all[i / 3 * 60 + 30 + 9 - 3 * (i % 3)]);
    ck_ok(tn_read(tn_permute(x, TN_AXES(2, 0, 1)), got, sizeof got));
    for (int i = 0; i < 240; i++) ck_assert_float_eq(got[i], all[i / 6 % 4 * 60 + i % 6 * 10 + i / 24]);
    ck_ok(tn_read(tn_flip(tn_reshape(x, TN_SHAPE(240)), TN_AXES(0)), got, sizeof got));
    for (int i = 0; i < 240; i++) ck_assert_float_eq(got[i], all[239 - i]);
    ck_ok(tn_read(tn_reshape(tn_transpose(x, 1, 2), TN_SHAPE(240)), got, sizeof got));
    for (int i = 0; i < 240; i++) ck_assert_float_eq(got[i], all[i / 60 * 60 + i % 6 * 10 + i / 6 % 10]);
    ck_ok(tn_read(x, got, sizeof got));
    ck_assert_mem_eq(got, all, sizeof all);
}
END_TEST

START_TEST(C50_the_layout_it_is_combined_with_changes_nothing)
{
    float all[240], got[240];
    tn_seed(43);
    ck_ok(tn_read(tn_rand(TN_F32, TN_SHAPE(240), test_device()), all, sizeof all));
    tn_tensor *last = tn_permute(tn_zeros(TN_F32, TN_SHAPE(2, 4, 6, 5), test_device()), TN_AXES(0, 3, 1, 2)); /* channels-last */
    tn_tensor *column = tn_zeros(TN_F32, TN_SHAPE(5, 1, 6), test_device());
    tn_tensor *const others[] = {last, tn_contiguous(last), column, tn_flip(last, TN_AXES(1, 3))};
    for (int i = 0; i < 4; i++) {
        tn_seed(43);
        tn_tensor *x = tn_rand(TN_F32, TN_SHAPE(2, 5, 4, 6), test_device());
        tn_tensor *const sums[] = {tn_add(others[i], x), tn_add(x, others[i])};
        ck_ok(tn_read(sums[i % 2], got, sizeof got));
        ck_assert_mem_eq(got, all, sizeof all);
    }
}
END_TEST

/* 240 numbers as a pending tensor of this shape, and as a stored one. */
static void pending_and_stored(tn_shape shape, tn_tensor *out[2])
{
    float all[240];
    tn_seed(43);
    ck_ok(tn_read(tn_rand(TN_F32, TN_SHAPE(240), test_device()), all, sizeof all));
    tn_seed(43);
    out[0] = ck_made(tn_rand(TN_F32, shape, test_device()));
    out[1] = ck_made(tn_from(TN_F32, shape, all, test_device()));
}

START_TEST(structured_operations_draw_the_same)
{
    tn_tensor *x[2];
    pending_and_stored(TN_SHAPE(12, 20), x);
    ck_same(tn_max(x[0], TN_AXES(1), false), tn_max(x[1], TN_AXES(1), false));
    ck_same(tn_matmul(x[0], tn_transpose(x[1], 0, 1)), tn_matmul(x[1], tn_transpose(x[1], 0, 1)));
}
END_TEST

/* Bone 16: reduction trees depend on n and the profile, not on what is fused. */
START_TEST(sums_of_pending_random_numbers_are_those_of_stored_ones)
{
    tn_tensor *x[2];
    pending_and_stored(TN_SHAPE(4, 60), x);
    ck_same(tn_sum(x[0], TN_AXES(1), false), tn_sum(x[1], TN_AXES(1), false));
    ck_same(tn_softmax(x[0], 1), tn_softmax(x[1], 1));
}
END_TEST

START_TEST(C50_the_size_of_the_launch_changes_nothing)
{
    enum { LARGE = 300007 };
    float *all = malloc(LARGE * sizeof *all), *got = malloc(LARGE * sizeof *got);
    tn_seed(3);
    ck_ok(tn_read(tn_rand(TN_F32, TN_SHAPE(LARGE), test_device()), all, LARGE * sizeof *all));
    static const int64_t sizes[] = {1, 2, 3, 5, 17, 64, 1000, 4099, 65536};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        tn_seed(3);
        ck_ok(tn_read(tn_rand(TN_F32, TN_SHAPE(sizes[i]), test_device()), got, (size_t)sizes[i] * sizeof *got));
        ck_assert_int_eq(memcmp(got, all, (size_t)sizes[i] * sizeof *got), 0);
    }
    tn_set_random_state(3, LARGE - 7);
    ck_ok(tn_read(tn_rand(TN_F32, TN_SHAPE(7), test_device()), got, 7 * sizeof *got));
    ck_assert_int_eq(memcmp(got, all + LARGE - 7, 7 * sizeof *got), 0);
    free(all);
    free(got);
}
END_TEST

START_TEST(a_generator_fused_into_two_kernels_gives_the_same_twice)
{
    float a[100], b[100], c[100];
    tn_seed(8);
    tn_tensor *x = tn_rand(TN_F32, TN_SHAPE(100), test_device());
    ck_ok(tn_read(tn_mul(x, tn_int(2)), a, sizeof a));
    ck_ok(tn_read(tn_add(x, x), b, sizeof b));
    ck_ok(tn_read(x, c, sizeof c));
    for (int i = 0; i < 100; i++) {
        ck_assert_float_eq(a[i], 2 * c[i]);
        ck_assert_float_eq(b[i], 2 * c[i]);
    }
}
END_TEST

START_TEST(eager_draws_the_same)
{
    tn_seed(21);
    tn_tensor *x = ck_made(tn_add(tn_rand(TN_F32, TN_SHAPE(50), test_device()), tn_rand(TN_F32, TN_SHAPE(50), test_device())));
    ck_ok(tn_set("eager", "1"));
    tn_seed(21);
    tn_tensor *y = ck_made(tn_add(tn_rand(TN_F32, TN_SHAPE(50), test_device()), tn_rand(TN_F32, TN_SHAPE(50), test_device())));
    ck_ok(tn_set("eager", NULL));
    ck_same(x, y);
}
END_TEST

static int print_hash(void)
{
    uint32_t bits[5000];
    uint64_t hash = 14695981039346656037u;
    tn_seed(10);
    tn_tensor *const drawn[] = {tn_rand(TN_F32, TN_SHAPE(50, 100), test_device()),
                                tn_randint(TN_I32, TN_SHAPE(5000), 0, 1000000, test_device()),
                                tn_sum(tn_randint(TN_I32, TN_SHAPE(40, 125), 0, 1000, test_device()), TN_AXES(1), false)};
    for (int d = 0; d < 3; d++) {
        const size_t size = d == 2 ? 40 * 8 : sizeof bits;
        EXPECT(tn_read(drawn[d], bits, size) == TN_OK);
        for (size_t i = 0; i < size / 4; i++) hash = (hash ^ bits[i]) * 1099511628211u;
    }
    printf("%016llx", (unsigned long long)hash);
    fflush(stdout);
    return 0;
}

static int role_print_hash(void)
{
    const tn_scope scope = tn_scope_push();
    const int result = print_hash();
    (void)tn_scope_pop(scope);
    (void)tn_shutdown();
    return result;
}

START_TEST(C50_neither_groups_nor_cores_nor_profile_change_anything)
{
    TN_SHARED(1, 1);
    static const char *const one_item[] = {"POCL_MAX_WORK_GROUP_SIZE=1", NULL}, *const few_items[] = {"POCL_MAX_WORK_GROUP_SIZE=17",
                                                                                                      NULL};
    static const char *const one_core[] = {"POCL_MAX_PTHREAD_COUNT=1", NULL}, *const wide[] = {"TENON_PROFILE=wide", NULL};
    static const char *const deep[] = {"TENON_PROFILE=deep", NULL}, *const host[] = {"TENON_TEST_DEVICE=host", NULL};
    static const char *const *const settings[] = {NULL, host, wide, deep, one_item, few_items, one_core};
    const int count = test_is("host") ? 1 : strncmp(test_config(), "pocl", 4) == 0 ? 7 : 4;
    char first[64], text[64];
    for (int i = 0; i < count; i++) {
        ck_assert_int_eq(bones_child("print_hash", settings[i], i ? text : first, 64), 0);
        if (i) ck_assert_msg(strcmp(text, first) == 0, "%s: %s instead of %s", settings[i][0], text, first);
    }
    ck_assert_uint_eq(strlen(first), 16);
}
END_TEST

/* ---- the state ---- */

START_TEST(the_position_moves_by_the_number_of_elements)
{
    uint64_t seed = 0, position = 1;
    tn_seed(0x123456789abcdef0);
    tn_random_state(&seed, &position);
    ck_assert_uint_eq(seed, 0x123456789abcdef0);
    ck_assert_uint_eq(position, 0);
    (void)ck_made(tn_rand(TN_F32, TN_SHAPE(2, 3), test_device()));
    tn_random_state(NULL, &position);
    ck_assert_uint_eq(position, 6);
    (void)ck_made(tn_randn(TN_F16, TN_SHAPE(), test_device()));
    (void)ck_made(tn_randint(TN_U8, TN_SHAPE(10), 0, 5, "host"));
    tn_random_state(&seed, &position);
    ck_assert_uint_eq(position, 17);
    ck_assert_uint_eq(seed, 0x123456789abcdef0);
    (void)ck_made(tn_rand(TN_F32, TN_SHAPE(0), test_device())); /* nothing is drawn */
    (void)ck_made(tn_randint(TN_I32, TN_SHAPE(4, 0), 0, 5, "host"));
    ck_fails(tn_rand(TN_I32, TN_SHAPE(4), test_device()), TN_DTYPE, "rand", "i32");
    ck_fails(tn_randint(TN_I32, TN_SHAPE(4), 5, 5, test_device()), TN_ARGUMENT, "randint", "5");
    ck_fails(tn_randint(TN_U8, TN_SHAPE(4), 0, 257, test_device()), TN_OVERFLOW, "randint", "256", "u8");
    ck_fails(tn_randint(TN_U8, TN_SHAPE(4), -1, 5, test_device()), TN_OVERFLOW, "randint", "-1", "u8");
    ck_fails(tn_randint(TN_F32, TN_SHAPE(4), 0, 5, test_device()), TN_DTYPE, "randint", "f32");
    ck_fails(tn_randint(TN_BOOL, TN_SHAPE(4), 0, 1, test_device()), TN_DTYPE, "randint", "bool");
    tn_random_state(NULL, &position);
    ck_assert_uint_eq(position, 17);
}
END_TEST

START_TEST(two_draws_are_one_longer_one)
{
    float all[10], parts[10];
    tn_seed(2);
    ck_ok(tn_read(tn_rand(TN_F32, TN_SHAPE(10), test_device()), all, sizeof all));
    tn_seed(2);
    tn_tensor *a = tn_rand(TN_F32, TN_SHAPE(3), test_device()), *b = tn_rand(TN_F32, TN_SHAPE(7), test_device());
    ck_ok(tn_read(b, parts + 3, 28)); /* the position was taken when it was recorded */
    ck_ok(tn_read(a, parts, 12));
    ck_assert_mem_eq(parts, all, sizeof all);
}
END_TEST

START_TEST(a_state_is_saved_and_restored)
{
    uint64_t seed, position;
    tn_seed(9);
    (void)ck_made(tn_rand(TN_F32, TN_SHAPE(11), test_device()));
    tn_random_state(&seed, &position);
    tn_tensor *a = tn_randn(TN_F32, TN_SHAPE(30), test_device());
    tn_seed(1000);
    (void)ck_made(tn_rand(TN_F32, TN_SHAPE(5), test_device()));
    tn_set_random_state(seed, position);
    ck_same(tn_randn(TN_F32, TN_SHAPE(30), test_device()), a);
    tn_seed(9);
    (void)ck_made(tn_randint(TN_I8, TN_SHAPE(11), 0, 3, "host")); /* on another device, of another kind */
    ck_same(tn_randn(TN_F32, TN_SHAPE(30), test_device()), a);
}
END_TEST

static void *draw_in_a_thread(void *seed_)
{
    uint64_t seed, position;
    int64_t *const in_out = seed_;
    tn_random_state(&seed, &position);
    if (seed != 0 || position != 0) return "a new thread does not begin with seed 0";
    tn_seed((uint64_t)*in_out);
    tn_tensor *x = raw_words(TN_SHAPE(), test_device());
    const tn_status status = tn_item_int(x, in_out);
    tn_release(x);
    return status == TN_OK ? NULL : "reading failed";
}

START_TEST(every_thread_has_a_generator_of_its_own)
{
    pthread_t threads[4];
    int64_t got[4];
    tn_seed(100);
    for (int i = 0; i < 4; i++) {
        got[i] = i % 3;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, draw_in_a_thread, &got[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        void *wrong = NULL;
        uint32_t w[4];
        pthread_join(threads[i], &wrong);
        ck_assert_msg(!wrong, "%s", (const char *)wrong);
        words_of((uint64_t)(i % 3), 0, w);
        ck_assert_uint_eq((uint64_t)got[i], (uint64_t)INT64_MIN + ((uint64_t)w[0] << 32 | w[1]));
    }
    uint64_t seed, position;
    tn_random_state(&seed, &position);
    ck_assert_uint_eq(seed, 100);
    ck_assert_uint_eq(position, 0);
}
END_TEST

/* ---- what the numbers are like ---- */

START_TEST(uniform_numbers_never_reach_1)
{
    enum { MANY = 1 << 20 };
    unsigned char *got = malloc(MANY * 8);
    for (int f = 0; f < FLOATS; f++) {
        if (!has(floats[f])) continue;
        const size_t size = tn_dtype_size(floats[f]);
        double most = -1, least = 2;
        tn_seed(17);
        ck_ok(tn_read(tn_rand(floats[f], TN_SHAPE(MANY), test_device()), got, MANY * size));
        for (int i = 0; i < MANY; i++) {
            const double value = test_number(floats[f], got + (size_t)i * size);
            if (value > most) most = value;
            if (value < least) least = value;
        }
        ck_assert_msg(most < 1 && most > 0.99 && least >= 0 && least < 0.01, "%s: %.9g … %g", tn_dtype_name(floats[f]), most,
                      least);
    }
    free(got);
}
END_TEST

/* Mean, variance, third and fourth moment of 1e5 numbers, by plain C. */
static void moments(tn_tensor *x, double out[4])
{
    enum { MANY = 100000 };
    const tn_dtype dtype = tn_dtype_of(ck_made(x));
    const size_t size = tn_dtype_size(dtype);
    unsigned char *bytes = malloc(MANY * size);
    double sum[4] = {0};
    ck_ok(tn_read(x, bytes, MANY * size));
    for (int i = 0; i < MANY; i++) sum[0] += test_number(dtype, bytes + (size_t)i * size);
    const double mean = sum[0] / MANY;
    for (int i = 0; i < MANY; i++) {
        const double d = test_number(dtype, bytes + (size_t)i * size) - mean;
        sum[1] += d * d;
        sum[2] += d * d * d;
        sum[3] += d * d * d * d;
    }
    free(bytes);
    out[0] = mean;
    for (int k = 1; k < 4; k++) out[k] = sum[k] / MANY;
}

/* Five standard deviations of each estimate. */
START_TEST(mean_and_variance_are_as_they_should_be)
{
    const double root = sqrt(100000);
    double m[4];
    for (int f = 0; f < FLOATS; f++) {
        if (!has(floats[f])) continue;
        const double step = floats[f] == TN_BF16 ? 0x1p-9 : floats[f] == TN_F16 ? 0x1p-12 : 0; /* half of what is cut off */
        tn_seed(2024);
        moments(tn_rand(floats[f], TN_SHAPE(100000), test_device()), m);
        ck_assert_msg(fabs(m[0] - (0.5 - step)) < 5 * sqrt(1.0 / 12) / root, "%s: mean %g", tn_dtype_name(floats[f]), m[0]);
        ck_assert_msg(fabs(m[1] - 1.0 / 12) < 5 * sqrt(1.0 / 180) / root, "%s: variance %g", tn_dtype_name(floats[f]), m[1]);
        tn_seed(2024);
        moments(tn_randn(floats[f], TN_SHAPE(100000), test_device()), m);
        ck_assert_msg(fabs(m[0]) < 5 / root, "%s: mean %g", tn_dtype_name(floats[f]), m[0]);
        ck_assert_msg(fabs(m[1] - 1) < 5 * sqrt(2) / root, "%s: variance %g", tn_dtype_name(floats[f]), m[1]);
        ck_assert_msg(fabs(m[2]) < 5 * sqrt(15) / root, "%s: third moment %g", tn_dtype_name(floats[f]), m[2]);
        ck_assert_msg(fabs(m[3] - 3) < 5 * sqrt(96) / root, "%s: fourth moment %g", tn_dtype_name(floats[f]), m[3]);
    }
    tn_seed(2024);
    moments(tn_randint(TN_I32, TN_SHAPE(100000), -6, 7, test_device()), m);
    ck_assert_msg(fabs(m[0]) < 5 * sqrt(14) / root, "integers: mean %g", m[0]);
    ck_assert_msg(fabs(m[1] - 14) < 5 * sqrt(449.0 - 196) / root, "integers: variance %g", m[1]);
}
END_TEST

START_TEST(every_integer_of_a_small_range_comes_up_equally_often)
{
    enum { MANY = 100000 };
    uint8_t *got = malloc(MANY);
    int counts[10] = {0};
    tn_seed(6);
    ck_ok(tn_read(tn_randint(TN_U8, TN_SHAPE(MANY), 3, 13, test_device()), got, MANY));
    for (int i = 0; i < MANY; i++) {
        ck_assert(got[i] >= 3 && got[i] < 13);
        counts[got[i] - 3]++;
    }
    double chi = 0;
    for (int i = 0; i < 10; i++) chi += (counts[i] - MANY / 10.0) * (counts[i] - MANY / 10.0) / (MANY / 10.0);
    ck_assert_msg(chi < 33.7, "chi squared %g with 9 degrees of freedom", chi); /* p = 1e-4 */
    free(got);
}
END_TEST

START_TEST(neighbours_and_seeds_are_not_correlated)
{
    enum { MANY = 100000 };
    float *a = malloc((MANY + 1) * sizeof *a), *b = malloc(MANY * sizeof *b);
    double lag = 0, seeds = 0;
    tn_seed(1);
    ck_ok(tn_read(tn_randn(TN_F32, TN_SHAPE(MANY + 1), test_device()), a, (MANY + 1) * sizeof *a));
    tn_seed(2);
    ck_ok(tn_read(tn_randn(TN_F32, TN_SHAPE(MANY), test_device()), b, MANY * sizeof *b));
    for (int i = 0; i < MANY; i++) {
        lag += (double)a[i] * (double)a[i + 1];
        seeds += (double)a[i] * (double)b[i];
    }
    ck_assert_msg(fabs(lag) < 5 * sqrt(MANY) && fabs(seeds) < 5 * sqrt(MANY), "%g %g", lag / MANY, seeds / MANY);
    free(a);
    free(b);
}
END_TEST

static const bones_role roles[] = {{"print_hash", role_print_hash}, {NULL, NULL}};

BONES_MAIN_WITH_ROLES("random_numbers", roles, bones_push, the_reference_gives_Random123s_known_answers,
                      the_first_element_of_seed_0_is_the_known_answer, key_and_counter_take_64_bits_each,
                      uniform_numbers_are_the_upper_bits, normal_numbers_are_Box_and_Mullers,
                      C50_uniform_numbers_have_the_bits_of_host, C50_integers_have_the_bits_of_host,
                      C50_normal_numbers_are_within_4_ulp_of_host, C50_a_number_depends_on_its_row_major_index_alone,
                      C50_the_layout_it_is_combined_with_changes_nothing, structured_operations_draw_the_same,
                      sums_of_pending_random_numbers_are_those_of_stored_ones, C50_the_size_of_the_launch_changes_nothing,
                      a_generator_fused_into_two_kernels_gives_the_same_twice, eager_draws_the_same,
                      C50_neither_groups_nor_cores_nor_profile_change_anything, the_position_moves_by_the_number_of_elements,
                      two_draws_are_one_longer_one, a_state_is_saved_and_restored, every_thread_has_a_generator_of_its_own,
                      uniform_numbers_never_reach_1, mean_and_variance_are_as_they_should_be,
                      every_integer_of_a_small_range_comes_up_equally_often, neighbours_and_seeds_are_not_correlated)
