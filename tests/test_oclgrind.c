/* What runs under Oclgrind (tests/oclgrind.sh: memory errors, data races and uninitialised values fail the suite): each row, cast,
 * reduction, row kernel, product and generator at least once, in both profiles, on small operands. Oclgrind's own values are looked
 * at where it has none of its known faults. */
#include "bones.h"
#include "support/row_cases.h"

#include <math.h>

/* The profile that this test runs in: settings of devices count from their next first use. */
static void use_profile(const char *profile)
{
    tn_shutdown();
    ck_ok(tn_set("profile", profile));
    if (test_is("oclgrind")) bones_never_use_memory_twice();
}

/* ---- elementwise ---- */

/* A dtype for each row, another one for each turn. */
static tn_dtype some_dtype(int r, int turn)
{
    int d = (r * 5 + turn * 4) % TN_DTYPE_COUNT;
    while (!row_allowed(r, (tn_dtype)d)) d = (d + 1) % TN_DTYPE_COUNT;
    return (tn_dtype)d;
}

/* Each row in one dtype a profile, on one of the layouts whose kernels differ; every third is also written into a larger tensor. */
static void each_row(int turn)
{
    static const test_layout layouts[] = {LAYOUT_OFFSET,    LAYOUT_ODD,      LAYOUT_TRANSPOSED,
                                          LAYOUT_BROADCAST, LAYOUT_NEGATIVE, LAYOUT_CHANNELS_LAST};
    int faults = 0;
    for (int r = 0; r < TN__ROWS; r++)
        for (int k = 0; k < (test_long() ? 2 : 1); k++) {
            const tn_dtype dtype = some_dtype(r, 2 * turn + k);
            /* its vector comparisons give 255 for true, and C's special values of pow are not its own */
            const bool loose = tn__rows[r].result == TN__TO_BOOL || dtype == TN_BOOL || strcmp(tn__rows[r].name, "pow") == 0;
            faults += row_cases_run(&(row_case){
                .row = r, .dtype = dtype, .layout = layouts[(r + turn + 3 * k) % 6], .guards = (r + k) % 3 == 0, .loose = loose}, 1);
            test_case_passed();
        }
    ck_assert_msg(faults == 0, "%d faults", faults);
}

START_TEST(each_row_deep)
{
    use_profile("deep");
    each_row(0);
}
END_TEST

START_TEST(each_row_wide)
{
    use_profile("wide");
    each_row(1);
}
END_TEST

/* From every dtype to every dtype, four results a kernel. */
static void each_cast(test_layout layout)
{
    char values[CASE_ELEMENTS * 8], bytes[CASE_ELEMENTS * 8];
    for (int from = 0; from < TN_DTYPE_COUNT; from++) {
        (void)cast_values((tn_dtype)from, layout, values);
        tn_tensor *x = layout_tensor(layout, 0, 1, (tn_dtype)from, values, test_device());
        for (int to = 0; to < TN_DTYPE_COUNT; to += 4) {
            tn_tensor *y[4];
            int count = 0;
            for (; count < 4 && to + count < TN_DTYPE_COUNT; count++) y[count] = ck_made(tn_cast(x, (tn_dtype)(to + count)));
            ck_ok(tn_realize(y, count));
            for (int i = 0; i < count; i++) {
                ck_ok(tn_read(y[i], bytes, tn_nbytes(y[i])));
                tn_release(y[i]);
            }
            test_case_passed();
        }
    }
}

START_TEST(each_cast_deep)
{
    use_profile("deep");
    each_cast(LAYOUT_ODD);
}
END_TEST

START_TEST(each_cast_wide)
{
    use_profile("wide");
    each_cast(LAYOUT_NEGATIVE);
}
END_TEST

/* ---- reductions and row kernels ---- */

/* 0, 1, … as f32 would count, in this dtype and shape. */
static tn_tensor *counted(tn_dtype dtype, tn_shape shape)
{
    tn_tensor *x = bones_count(dtype == TN_BOOL ? TN_U8 : dtype, shape, test_device());
    return dtype == TN_BOOL ? ck_made(tn_cast(x, dtype)) : x;
}

static void run(tn_tensor *y)
{
    char *bytes = malloc(tn_nbytes(ck_made(y)) + 1);
    ck_ok(tn_read(y, bytes, tn_nbytes(y)));
    free(bytes);
    test_case_passed();
}

/* Over the first, the middle, the last axis, and all; of rows that fill no vector, and of 300 in one row. */
static void each_reduction(void)
{
    static const tn_dtype dtypes[] = {TN_F32, TN_I64, TN_F16, TN_U8, TN_BF16, TN_I32, TN_F64, TN_BOOL};
    for (int d = 0; d < 8; d++) {
        tn_tensor *x = counted(dtypes[d], TN_SHAPE(3, 5, 7)),
                  *row = counted(dtypes[d], d % 2 ? TN_SHAPE(2, 300) : TN_SHAPE(300, 2));
        tn_tensor *(*const reductions[])(tn_tensor *, tn_axes, bool) = {tn_sum, tn_max, tn_argmax};
        for (int k = 0; k < 3; k++) {
            const tn_axes some[] = {TN_AXES(0), TN_AXES(1), TN_AXES(2), TN_ALL_AXES};
            if ((d + k) % 2 && !test_long()) continue;
            run(reductions[k](x, some[(d + k) % 4], k == 0));
            run(reductions[k](row, TN_AXES(d % 2), false));
        }
    }
}

/* A sum of 70,000 elements in two stages. */
static void long_sums(void)
{
    tn_tensor *x = ck_made(tn_ones(TN_F32, TN_SHAPE(70000), test_device())), *y = ck_made(tn_sum(x, TN_ALL_AXES, false));
    ck_tensor_f32(y, {70000});
    test_case_passed();
}

/* Producers and consumers in a reduction, a row kernel, and both after another. */
static void fused_ends(void)
{
    tn_tensor *x = counted(TN_F32, TN_SHAPE(4, 37)), *scale = ck_made(tn_float(0.125)), *small = ck_made(tn_mul(x, scale));
    tn_tensor *sum = ck_made(tn_sum(small, TN_AXES(1), true)), *ratio = ck_made(tn_div(small, sum)),
              *soft = ck_made(tn_softmax(ratio, 1));
    tn_tensor *best = ck_made(tn_max(soft, TN_AXES(0), false)), *root = ck_made(tn_sqrt(best));
    run(root);
}

static void row_kernels(void)
{
    static const tn_dtype dtypes[] = {TN_F32, TN_F16, TN_F64, TN_I32};
    for (int d = 0; d < 4; d++) {
        tn_tensor *x = counted(dtypes[d], TN_SHAPE(3, 5, 19)), *wide = counted(dtypes[d], TN_SHAPE(2, 150));
        run(tn_softmax(x, d % 3));
        run(tn_log_softmax(x, 2 - d % 3));
        run(tn_softmax(wide, 1));
    }
    fused_ends();
}

START_TEST(reductions_and_rows_deep)
{
    use_profile("deep");
    each_reduction();
    row_kernels();
    long_sums();
}
END_TEST

START_TEST(reductions_and_rows_wide)
{
    use_profile("wide");
    each_reduction();
    row_kernels();
    long_sums();
}
END_TEST

/* ---- sorting ---- */

/* Places from lines of no order, in one kernel and in several; the deep profile's first one takes 1,024 elements. */
static void sorts(int64_t longer)
{
    static const tn_dtype dtypes[] = {TN_F32, TN_I64, TN_F16, TN_U8, TN_F64, TN_BOOL};
    for (int d = 0; d < 6; d++) {
        tn_tensor *x = ck_made(tn_sin(counted(TN_F32, TN_SHAPE(3, d == 0 ? longer : 20)))), *v, *at;
        ck_ok(tn_sort(tn_cast(tn_mul(x, tn_float(9)), dtypes[d]), 1, d % 2, &v, &at));
        run(tn_sub(at, tn_int(1)));
        run(v);
    }
}

START_TEST(sorts_deep)
{
    use_profile("deep");
    sorts(1040);
}
END_TEST

START_TEST(sorts_wide)
{
    use_profile("wide");
    sorts(40);
}
END_TEST

/* ---- products ---- */

static void products(void)
{
    static const struct {
        tn_dtype dtype;
        int64_t m, k, n;
    } cases[] = {{TN_F32, 17, 9, 33}, {TN_F32, 1, 40, 5},  {TN_F16, 7, 16, 8},  {TN_I32, 5, 3, 70},
                 {TN_F64, 9, 11, 13}, {TN_BF16, 4, 20, 1}, {TN_F32, 40, 33, 70}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tn_tensor *a = counted(cases[i].dtype, TN_SHAPE(2, cases[i].m, cases[i].k)),
                  *stored = counted(cases[i].dtype, TN_SHAPE(cases[i].n, cases[i].k));
        tn_tensor *b = i % 2 ? ck_made(tn_transpose(stored, 0, 1)) : counted(cases[i].dtype, TN_SHAPE(cases[i].k, cases[i].n));
        tn_tensor *y = ck_made(tn_matmul(a, b)), *z = ck_made(tn_relu(y));
        run(z);
    }
}

START_TEST(products_deep)
{
    use_profile("deep");
    products();
}
END_TEST

START_TEST(products_wide)
{
    use_profile("wide");
    products();
}
END_TEST

/* Two blocks, of which the second is not whole; few columns on the right. */
static void solvers(void)
{
    tn_tensor *heavy = ck_made(tn_mul(tn_eye(TN_F32, 19, 19, 0, test_device()), tn_int(1000)));
    tn_tensor *a = ck_made(tn_add(counted(TN_F32, TN_SHAPE(2, 19, 19)), heavy));
    run(tn_cholesky(a, true));
    run(tn_inv(a));
    run(tn_solve(a, counted(TN_F32, TN_SHAPE(19, 3))));
}

START_TEST(solvers_deep)
{
    use_profile("deep");
    solvers();
}
END_TEST

START_TEST(solvers_wide)
{
    use_profile("wide");
    solvers();
}
END_TEST

/* ---- numbers, views, writing ---- */

static void generators(void)
{
    static const tn_dtype floats[] = {TN_F32, TN_F16, TN_BF16, TN_F64};
    for (int d = 0; d < 4; d++) {
        run(tn_rand(floats[d], TN_SHAPE(3, 35), test_device()));
        run(tn_randn(floats[d], TN_SHAPE(101), test_device()));
    }
    run(tn_randint(TN_I32, TN_SHAPE(50), -3, 9, test_device()));
    run(tn_randint(TN_U64, TN_SHAPE(50), 0, INT64_MAX, test_device()));
    run(tn_arange(TN_F32, 0, 9, 0.25, test_device()));
    run(tn_ones(TN_I16, TN_SHAPE(77), test_device()));
}

/* Overlapping assignment, a view of many axes, and a flip: general kernels. */
static void windows(void)
{
    tn_tensor *x = counted(TN_I32, TN_SHAPE(40)), *to = tn_slice(x, 0, 1, 40, 1), *from = tn_slice(x, 0, 0, 39, 1);
    ck_ok(tn_assign(to, from));
    tn_tensor *first = tn_slice(x, 0, 0, 5, 1);
    ck_tensor_i32(first, {0, 0, 1, 2, 3});
    tn_tensor *cube = counted(TN_F32, TN_SHAPE(2, 3, 2, 3, 2, 3)), *turned = tn_permute(cube, TN_AXES(5, 0, 3, 1, 4, 2)),
              *flat = tn_reshape(turned, TN_SHAPE(216));
    tn_tensor *back = tn_flip(flat, TN_AXES(0)), *y = tn_add(back, flat);
    run(y);
}

START_TEST(numbers_and_windows_deep)
{
    use_profile("deep");
    generators();
    windows();
}
END_TEST

START_TEST(numbers_and_windows_wide)
{
    use_profile("wide");
    generators();
    windows();
}
END_TEST

START_TEST(the_platform_is_Oclgrinds)
{
    TN_SKIP_IF(!test_is("oclgrind"), "this is not Oclgrind");
    const tn_device_info info = bones_info(test_device());
    ck_assert_msg(strstr(info.platform, "Oclgrind") != NULL, "the platform is %s", info.platform);
}
END_TEST

BONES_MAIN("oclgrind", the_platform_is_Oclgrinds, each_row_deep, each_row_wide, each_cast_deep, each_cast_wide,
           reductions_and_rows_deep, reductions_and_rows_wide, sorts_deep, sorts_wide, products_deep, products_wide, solvers_deep, solvers_wide,
           numbers_and_windows_deep, numbers_and_windows_wide)
