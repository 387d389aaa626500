/* Matrix products of the wide profile: what the tiles of the table need, its kernels one by one, and where parameters come from. */
#include "bones.h"
#include "device/tuning.h"
#include "ops/matmul.h"

#include <math.h>

/* ---- what a tile needs: no device ---- */

enum { LOCAL_BYTES = 32768, GROUP_MOST = 256, NUMBERS_MOST = 112, BANKS = 32, WIDTH = 4 };

START_TEST(every_row_of_the_table_is_what_any_device_can_do_with)
{
    const char *class;
    tn__products products;
    tn__matmul_tile t;
    for (int i = 0; tn__matmul_tile_row(i, &class, &products, &t); i++) {
        const char *fault = tn__matmul_tile_fault(&t, 4);
        ck_assert_msg(!fault, "%s, %s: %s", class, tn__products_names[products], fault);
        ck_assert_int_le(tn__matmul_tile_items(&t), GROUP_MOST);
        ck_assert_uint_le(tn__matmul_tile_bytes(&t, 4), LOCAL_BYTES);
        ck_assert_uint_le(tn__matmul_tile_bytes(&t, 8), LOCAL_BYTES);
        ck_assert_int_le(tn__matmul_tile_numbers(&t), NUMBERS_MOST);
        test_case_passed();
    }
}
END_TEST

/* Do these lanes, at once, want different words of one bank? Addresses of vectors of `width` words. */
static bool conflict(const int *address, int lanes, int width)
{
    int word[BANKS];
    for (int b = 0; b < BANKS; b++) word[b] = -1;
    for (int l = 0; l < lanes; l++)
        for (int i = 0; i < width; i++) {
            const int w = address[l] + i;
            if (word[w % BANKS] >= 0 && word[w % BANKS] != w) return true;
            word[w % BANKS] = w;
        }
    return false;
}

/* Of kernels/matmul_wide.cl. */
static int place(const tn__matmul_tile *t, int edge, int k, int m)
{
    return k * edge + (m ^ (((k >> 2) & (t->tk / 4 - 1)) * (128 / t->tk)));
}

/* Staging an operand of this edge, contiguous along the edge (vectors go in whole) or along k (lane by lane). */
static bool staging_conflicts(const tn__matmul_tile *t, int edge)
{
    const int items = tn__matmul_tile_items(t), vectors = edge * t->tk / WIDTH;
    int address[BANKS];
    for (int v = 0; v + BANKS <= vectors && v + BANKS <= items; v += BANKS) {
        for (int phase = 0; phase < BANKS; phase += BANKS / WIDTH) {
            for (int l = 0; l < BANKS / WIDTH; l++) {
                const int at = v + phase + l;
                address[l] = place(t, edge, at / (edge / WIDTH), at % (edge / WIDTH) * WIDTH);
            }
            if (conflict(address, BANKS / WIDTH, WIDTH)) return true;
        }
        for (int i = 0; i < WIDTH; i++) {
            for (int l = 0; l < BANKS; l++) {
                const int at = v + l;
                address[l] = place(t, edge, at % (t->tk / WIDTH) * WIDTH + i, at / (t->tk / WIDTH));
            }
            if (conflict(address, BANKS, 1)) return true;
        }
    }
    return false;
}

static bool reading_conflicts(const tn__matmul_tile *t)
{
    const int items = tn__matmul_tile_items(t), across = t->tn / t->rn, runs = t->rn / WIDTH;
    int a[BANKS / WIDTH], b[BANKS / WIDTH];
    for (int k = 0; k < t->tk; k += WIDTH)
        for (int first = 0; first + BANKS / WIDTH <= items; first += BANKS / WIDTH)
            for (int part = 0; part < t->rm || part < t->rn; part += WIDTH) {
                for (int l = 0; l < BANKS / WIDTH; l++) {
                    const int lane = first + l;
                    a[l] = place(t, t->tm, k, lane / across * t->rm + part % t->rm);
                    b[l] = place(t, t->tn, k, part / WIDTH % runs * (t->tn / runs) + lane % across * WIDTH);
                }
                if (conflict(a, BANKS / WIDTH, WIDTH) || conflict(b, BANKS / WIDTH, WIDTH)) return true;
            }
    return false;
}

START_TEST(no_tile_has_a_bank_conflict)
{
    int tiles = 0;
    for (int i = 0; i < 3 * 3 * 3 * 2 * 2; i++) {
        const tn__matmul_tile t = {32 << i % 3, 32 << i / 3 % 3, 8 << i / 9 % 3, 4 << i / 27 % 2, 4 << i / 54, 1};
        if (tn__matmul_tile_fault(&t, 4)) continue;
        ck_assert_msg(!staging_conflicts(&t, t.tm) && !staging_conflicts(&t, t.tn) && !reading_conflicts(&t),
                      "%d x %d x %d, %d x %d", t.tm, t.tn, t.tk, t.rm, t.rn);
        tiles++;
    }
    ck_assert_int_ge(tiles, 20);
    const tn__matmul_tile padded_badly = {64, 64, 16, 4, 8, 1};
    int address[BANKS]; /* without the swizzle there would be one */
    for (int l = 0; l < BANKS; l++) address[l] = l % 4 * WIDTH * padded_badly.tm + l / 4;
    ck_assert(conflict(address, BANKS, 1));
}
END_TEST

START_TEST(tiles_that_the_kernel_cannot_have_are_refused)
{
    static const tn__matmul_tile bad[] = {
        {0, 64, 16, 4, 8, 1},      {64, 64, 16, 4, 6, 1},  {48, 64, 16, 4, 8, 1}, {64, 64, 1, 4, 8, 1},  {64, 64, 16, 2, 8, 1},
        {128, 128, 16, 4, 4, 1},   {16, 64, 16, 4, 8, 1},  {64, 64, 16, 4, 8, 0}, {64, 64, 16, 16, 8, 1}, {64, 64, 16, 4, 2, 1},
        {1 << 20, 64, 16, 4, 8, 1}, {4, 64, 16, 8, 8, 1}, {64, 64, 16, 4, 8, 2}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) ck_assert_msg(tn__matmul_tile_fault(&bad[i], 4), "tile %d", (int)i);
    const tn__matmul_tile large = {128, 128, 16, 8, 8, 1};
    ck_assert(tn__matmul_tile_fault(&large, 4) == NULL && tn__matmul_tile_fault(&large, 8) != NULL);
}
END_TEST

/* ---- a tuning file ---- */

static char file[128], logged[4096];

static void take_log(int level, const char *line, void *user)
{
    (void)user;
    const size_t used = strlen(logged);
    if (strncmp(line, "tuning: ", 8) == 0) snprintf(logged + used, sizeof logged - used, "[%d] %s\n", level, line);
}

static void set_up(void)
{
    bones_push();
    snprintf(file, sizeof file, "/tmp/tenon-test-tuning-%s-%ld", test_config(), (long)getpid());
    (void)unlink(file);
    logged[0] = '\0';
    tn_set_log(take_log, NULL);
}

static void tear_down(void)
{
    tn_set_log(NULL, NULL);
    ck_ok(tn_set("tuning", NULL));
    (void)unlink(file);
    bones_pop();
}

static void put_line(const char *line)
{
    FILE *to = fopen(file, "a");
    ck_assert_ptr_nonnull(to);
    fprintf(to, "%s\n", line);
    fclose(to);
}

static void put_record(const char *device, const char *driver, const char *shapes, const char *parameters)
{
    char line[1024];
    snprintf(line, sizeof line, "1\t%s\t%s\tmatmul_wide\t%s\t%s\t0.001", device, driver, shapes, parameters);
    put_line(line);
}

/* For all sizes of products. */
static void tune_to(const char *parameters)
{
    const tn_device_info info = bones_info(test_device());
    (void)unlink(file);
    for (int p = 0; p < TN__PRODUCTS; p++) put_record(info.description, info.driver, tn__products_names[p], parameters);
    ck_ok(tn_set("tuning", file)); /* as good as new */
}

static tn__matmul_shape shape_for(int64_t m, int64_t n, int64_t k)
{
    tn__matmul_shape s = {0};
    tn__device *device = tn__device_use(test_device());
    ck_assert_ptr_nonnull(device);
    const tn__matmul_case c = {.m = m, .n = n, .k = k, .batch = 1, .a_rs = k, .a_cs = 1, .b_rs = n, .b_cs = 1, .element = 4,
                               .device = device};
    tn__matmul_wide(&c, &s);
    return s;
}

static void ck_tile(tn__matmul_tile t, int tm, int tn, int tk, int rm, int rn, int local)
{
    const int v[] = {t.tm, t.tn, t.tk, t.rm, t.rn, t.local}, want[] = {tm, tn, tk, rm, rn, local};
    for (int i = 0; i < 6; i++) ck_assert_msg(v[i] == want[i], "number %d is %d, not %d", i, v[i], want[i]);
}

START_TEST(a_record_of_this_device_and_driver_is_honoured)
{
    NEEDS_OPENCL();
    const tn_device_info info = bones_info(test_device());
    const tn__matmul_tile before = shape_for(32, 32, 32).tile;
    put_line("# a comment, and an empty line\n");
    put_record(info.description, info.driver, "small", "16 16 1 4 8 0");
    ck_ok(tn_set("tuning", file));
    ck_tile(shape_for(32, 32, 32).tile, 16, 16, 1, 4, 8, 0);
    put_record(info.description, info.driver, "small", "16 16 1 2 4 0"); /* the last one counts */
    ck_ok(tn_set("tuning", file));
    ck_tile(shape_for(32, 32, 32).tile, 16, 16, 1, 2, 4, 0);
    ck_assert_str_eq(logged, "");
    ck_ok(tn_set("tuning", ""));
    ck_tile(shape_for(32, 32, 32).tile, before.tm, before.tn, before.tk, before.rm, before.rn, before.local);
}
END_TEST

START_TEST(records_of_other_devices_drivers_and_versions_are_ignored)
{
    NEEDS_OPENCL();
    const tn_device_info info = bones_info(test_device());
    const tn__matmul_tile before = shape_for(32, 32, 32).tile;
    char line[1024];
    put_record("GeForce 9000", info.driver, "small", "16 16 1 4 8 0");
    put_record(info.description, "0.0", "small", "16 16 1 4 8 0");
    put_record(info.description, info.driver, "tiny", "16 16 1 4 8 0");
    snprintf(line, sizeof line, "2\t%s\t%s\tmatmul_wide\tsmall\t16 16 1 4 8 0\t0.001\tmore", info.description, info.driver);
    line[strlen(line) - 5] = '\0'; /* as many columns */
    put_line(line);
    ck_ok(tn_set("tuning", file));
    const tn__matmul_tile t = shape_for(32, 32, 32).tile;
    ck_tile(t, before.tm, before.tn, before.tk, before.rm, before.rn, before.local);
    ck_assert_ptr_null(strstr(logged, "[1]"));
    ck_has(logged, "line 4 of /tmp/tenon-test-tuning-");
    ck_has(logged, "another version");
}
END_TEST

START_TEST(nonsense_in_the_file_is_logged_and_ignored)
{
    NEEDS_OPENCL();
    const tn_device_info info = bones_info(test_device());
    const tn__matmul_tile before = shape_for(32, 32, 32).tile;
    static const char *const parameters[] = {"", "16 16", "16 16 1 4 8 x", "-16 16 1 4 8 0", "16,16,1,4,8,0", "16 16 1 4 8 99999999999999999999",
                                             "1 2 3 4 5 6 7 8 9", "48 48 1 4 8 0", "128 128 16 4 4 1", "0 0 0 0 0 0"};
    put_line("\x7f" "ELF\x01 what is this");
    put_line("1\tonly\tfour\tcolumns");
    for (int i = 0; i < 10; i++) {
        logged[0] = '\0';
        put_record(info.description, info.driver, "small", parameters[i]);
        ck_ok(tn_set("tuning", file));
        const tn__matmul_tile t = shape_for(32, 32, 32).tile;
        (void)shape_for(32, 32, 32);
        ck_tile(t, before.tm, before.tn, before.tk, before.rm, before.rn, before.local);
        ck_has(logged, "[1] tuning: ");
        ck_has(logged, "line 1 of ");
        ck_has(logged, "line 2 of ");
        ck_assert_msg(strstr(logged, "are not used: ") || strstr(logged, "line 3 of "), "\"%s\": %s", parameters[i], logged);
    }
}
END_TEST

START_TEST(the_deep_profile_takes_its_items_from_the_file)
{
    NEEDS_OPENCL();
    char line[1024];
    const tn_device_info info = bones_info(test_device());
    const tn__matmul_case c = {.m = 512, .n = 512, .k = 2048, .batch = 1, .a_rs = 2048, .a_cs = 1, .b_rs = 512, .b_cs = 1, .element = 4,
                               .device = tn__device_use(test_device()), .deep = true};
    const int untuned = tn__matmul_choose(&c).tiles;
    static const char *const items[] = {"1000", "0", "1 2"};
    for (int i = 0; i < 3; i++) {
        logged[0] = '\0';
        snprintf(line, sizeof line, "1\t%s\t%s\tmatmul_deep\tany\t%s\t1", info.description, info.driver, items[i]);
        put_line(line);
        ck_ok(tn_set("tuning", file));
        const tn__matmul_shape s = tn__matmul_choose(&c);
        ck_assert_uint_eq(s.global, (uint64_t)(s.panels * s.chunks));
        if (i == 0) ck_assert_int_lt(s.tiles, untuned);
        if (i > 0) ck_assert_int_eq(s.tiles, untuned);
        if (i > 0) ck_has(logged, "are not used: one number from 1 to 1024 is expected");
    }
}
END_TEST

START_TEST(a_file_that_is_named_and_not_there_is_logged)
{
    NEEDS_OPENCL();
    ck_ok(tn_set("tuning", "/nonexistent/tuning"));
    (void)shape_for(32, 32, 32);
    ck_has(logged, "[1] tuning: /nonexistent/tuning cannot be read");
    ck_ok(tn_set("tuning", ""));
    logged[0] = '\0';
    (void)shape_for(32, 32, 32);
    ck_assert_str_eq(logged, "");
}
END_TEST

START_TEST(the_file_lies_in_the_cache_folder_or_where_it_is_said_to_be)
{
    ck_ok(tn_set("cache_dir", "/tmp/somewhere"));
    ck_ok(tn_set("tuning", NULL));
    ck_assert_str_eq(tn_tuning_file(), "/tmp/somewhere/tuning.txt");
    ck_ok(tn_set("tuning", "/tmp/else"));
    ck_assert_str_eq(tn_tuning_file(), "/tmp/else");
    ck_ok(tn_set("tuning", ""));
    ck_assert_str_eq(tn_tuning_file(), "");
    ck_ok(tn_set("tuning", NULL));
    ck_ok(tn_set("cache_dir", ""));
    ck_assert_str_eq(tn_tuning_file(), "");
    ck_ok(tn_set("cache_dir", NULL));
}
END_TEST

START_TEST(records_are_written_in_place_of_their_like)
{
    NEEDS_OPENCL();
    const tn_tuning small = {.family = "matmul_wide", .shapes = "small"}, large = {.family = "matmul_wide", .shapes = "large"};
    put_record("GeForce 9000", "1", "small", "64 64 16 4 8 1");
    ck_ok(tn_tuning_write(file, test_device(), &small, "16 16 1 4 4 0", 0.001));
    ck_ok(tn_tuning_write(file, test_device(), &large, "16 16 1 2 4 0", 0.002));
    ck_ok(tn_tuning_write(file, test_device(), &small, "16 16 1 4 8 0", 0.003));
    ck_ok(tn_set("tuning", file));
    ck_tile(shape_for(32, 32, 32).tile, 16, 16, 1, 4, 8, 0);
    char text[4096] = "";
    FILE *from = fopen(file, "r");
    ck_assert_ptr_nonnull(from);
    ck_assert_uint_gt(fread(text, 1, sizeof text - 1, from), 0);
    fclose(from);
    ck_has(text, "GeForce 9000\t1\tmatmul_wide\tsmall\t64 64 16 4 8 1\t0.001\n");
    ck_has(text, "\tlarge\t16 16 1 2 4 0\t0.002\n");
    ck_assert_ptr_null(strstr(text, "16 16 1 4 4 0"));
    ck_assert_int_eq(tn_tuning_write("/proc/nowhere/tuning", test_device(), &small, "1", 0), TN_FILE);
    ck_has(tn_last_error(), "tuning: /proc/nowhere/tuning cannot be written");
    ck_assert_int_eq(tn_tuning_write(file, "host", &small, "1", 0), TN_DEVICE);
    tn_clear_error();
}
END_TEST

START_TEST(candidates_begin_with_what_is_used_untuned)
{
    tn_tuning t;
    char text[64], own[64];
    ck_assert(!tn_tuning_at("host", 0, &t));
    if (strcmp(bones_info(test_device()).profile, "wide") != 0) return;
    for (int i = 0; i < TN__PRODUCTS; i++) {
        ck_assert(tn_tuning_at(test_device(), i, &t));
        ck_assert_str_eq(t.family, "matmul_wide");
        ck_assert_str_eq(t.shapes, tn__products_names[i]);
        const tn__matmul_tile tile = tn__matmul_tile_of(tn__device_use(test_device()), (tn__products)i);
        snprintf(own, sizeof own, "%d %d %d %d %d %d", tile.tm, tile.tn, tile.tk, tile.rm, tile.rn, tile.local);
        ck_assert(tn_tuning_candidate(test_device(), &t, 0, text, sizeof text));
        ck_assert_str_eq(text, own);
        int count = 0;
        while (tn_tuning_candidate(test_device(), &t, count, text, sizeof text)) count++;
        ck_assert_int_ge(count, 8);
        ck_assert_int_le(count, 60);
    }
    ck_assert(!tn_tuning_at(test_device(), TN__PRODUCTS, &t));
}
END_TEST

/* ---- kernels: small integers, exact ---- */

static float element(int64_t i)
{
    return (float)((int)((uint64_t)i * 0x9e3779b97f4a7c15ull >> 40) % 7 - 3);
}

/* [m,k] x [k,n], an operand as it is or turned in memory, against the triple loop. */
static void check(int64_t m, int64_t k, int64_t n, bool turned_a, bool turned_b)
{
    const tn_scope scope = tn_scope_push();
    float *a = malloc((size_t)(m * k) * 4), *b = malloc((size_t)(k * n) * 4), *c = malloc((size_t)(m * n) * 4);
    for (int64_t i = 0; i < m * k; i++) a[i] = element(i);
    for (int64_t i = 0; i < k * n; i++) b[i] = element(i + 1000);
    const int64_t a_rs = turned_a ? 1 : k, a_cs = turned_a ? m : 1, b_rs = turned_b ? 1 : n, b_cs = turned_b ? k : 1;
    tn_tensor *x = tn_from(TN_F32, turned_a ? TN_SHAPE(k, m) : TN_SHAPE(m, k), a, test_device());
    tn_tensor *y = tn_from(TN_F32, turned_b ? TN_SHAPE(n, k) : TN_SHAPE(k, n), b, test_device());
    if (turned_a) x = tn_transpose(x, 0, 1);
    if (turned_b) y = tn_transpose(y, 0, 1);
    ck_ok(tn_read(ck_made(tn_add(tn_matmul(x, y), tn_int(1))), c, (size_t)(m * n) * 4));
    for (int64_t i = 0; i < m * n; i++) {
        float sum = 1;
        for (int64_t l = 0; l < k; l++) sum += a[i / n * a_rs + l * a_cs] * b[l * b_rs + i % n * b_cs];
        ck_assert_msg(c[i] == sum, "[%d,%d,%d]: element %d is %g instead of %g", (int)m, (int)k, (int)n, (int)i, c[i], sum);
    }
    free(a);
    free(b);
    free(c);
    (void)tn_scope_pop(scope);
    test_case_passed();
}

#define NEEDS_WIDE() TN_SKIP_IF(strcmp(bones_info(test_device()).profile, "wide") != 0, "needs the profile wide")
#define NEEDS_GROUPS() TN_SKIP_IF(test_is("rusticl"), "the driver's kernels allow groups of 32 only")
/* Oclgrind takes a second for 30,000 multiplications: a case of each kernel, and small ones. */
#define NEEDS_SPEED() TN_SKIP_IF(test_is("oclgrind"), "Oclgrind would take minutes")

START_TEST(tiles_of_128_multiply)
{
    NEEDS_WIDE();
    NEEDS_GROUPS();
    NEEDS_SPEED();
    tune_to("128 128 16 8 8 1");
    check(131, 37, 133, false, false);
    if (test_long()) check(256, 64, 128, true, true); /* no edge */
    ck_assert_str_eq(logged, "");
}
END_TEST

START_TEST(slabs_of_8_and_32_multiply)
{
    NEEDS_WIDE();
    NEEDS_GROUPS();
    if (test_takes(0, 2) && !test_is("oclgrind")) {
        tune_to("64 128 8 8 8 1");
        check(67, 19, 131, true, false);
    }
    if (test_takes(1, 2) || test_is("oclgrind")) {
        tune_to("32 32 32 4 4 1");
        if (!test_is("oclgrind")) check(33, 71, 35, false, true);
        check(5, 33, 7, false, true);
    }
    ck_assert_str_eq(logged, "");
}
END_TEST

START_TEST(tiles_without_local_memory_multiply)
{
    NEEDS_WIDE();
    tune_to("32 32 1 8 4 0");
    check(9, 13, 11, false, false);
    if (!test_is("oclgrind")) check(64, 64, 64, true, true);
    ck_assert_str_eq(logged, "");
}
END_TEST

START_TEST(few_rows_and_few_columns_multiply)
{
    NEEDS_WIDE();
    static const struct {
        int64_t m, k, n;
        bool turned_a, turned_b;
    } products[] = {{1, 75, 70, false, false}, /* the long operand's lines beside each other */
                    {3, 1029, 37, false, true}, /* along k */
                    {70, 77, 1, false, false},
                    {45, 130, 8, true, false},
                    {5, 200, 33, true, true},
                    {1, 1500, 1, false, false}};
    for (int i = 0; i < 6; i++)
        if (test_is("oclgrind") ? i == 0 : test_takes(i, 2)) check(products[i].m, products[i].k, products[i].n, products[i].turned_a, products[i].turned_b);
}
END_TEST

START_TEST(a_long_k_is_split_and_its_parts_are_added)
{
    NEEDS_WIDE();
    const uint64_t before = bones_launches();
    if (test_is("oclgrind"))
        check(1, 2050, 3, false, false);
    else
        check(17, 2100, 19, false, false);
    ck_assert_uint_eq(bones_launches() - before, 2);
    if (test_is("rusticl")) check(1, 4099, 6, false, false);
    if (test_long()) check(64, 2048, 64, false, true);
}
END_TEST

START_TEST(the_same_product_has_the_same_bits_again)
{
    NEEDS_WIDE();
    NEEDS_SPEED();
    float first[9], again[9];
    tn_seed(3);
    tn_tensor *x = tn_randn(TN_F32, TN_SHAPE(3, 2500), test_device()), *y = tn_randn(TN_F32, TN_SHAPE(2500, 3), test_device());
    for (int i = 0; i < 3; i++) {
        ck_ok(tn_read(ck_made(tn_matmul(x, y)), again, sizeof again));
        if (i == 0) memcpy(first, again, sizeof first);
        ck_assert_mem_eq(first, again, sizeof first);
    }
}
END_TEST

/* ---- parameters that a device refuses ---- */

START_TEST(a_tile_that_the_groups_are_too_small_for_falls_back)
{
    NEEDS_WIDE();
    TN_SKIP_IF(!test_is("rusticl"), "other drivers take groups of 256 items");
    tune_to("64 32 1 2 4 0");
    check(40, 33, 40, false, false);
    ck_has(logged, "64 32 1 2 4 0 of matmul_wide small are not used");
    ck_has(logged, "work-groups");
}
END_TEST

START_TEST(a_tile_that_the_compiler_refuses_falls_back)
{
    char command[1024], folder[160];
    NEEDS_WIDE();
    TN_SKIP_IF(test_is("oclgrind"), "once or twice is enough");
    snprintf(folder, sizeof folder, "%s.kernels", file);
    snprintf(command, sizeof command,
             "mkdir '%s' && cp '%s'/kernels/*.cl '%s'/src/tables/*.def '%s' && sed -i '1i #if TN == 8\\nno\\n#endif' '%s'/matmul_wide.cl",
             folder, TN_TEST_SOURCE_DIR, TN_TEST_SOURCE_DIR, folder, folder);
    ck_assert_int_eq(system(command), 0);
    ck_ok(tn_set("kernel_dir", folder));
    tune_to("32 8 1 4 4 0");
    check(20, 21, 22, false, false);
    ck_has(logged, "32 8 1 4 4 0 of matmul_wide small are not used: the device's compiler refuses them");
    ck_assert_int_eq(tn_last_status(), TN_OK);
    ck_ok(tn_set("kernel_dir", NULL));
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

TEST_MAIN("matmul_wide", set_up, tear_down, every_row_of_the_table_is_what_any_device_can_do_with, no_tile_has_a_bank_conflict,
          tiles_that_the_kernel_cannot_have_are_refused, a_record_of_this_device_and_driver_is_honoured,
          records_of_other_devices_drivers_and_versions_are_ignored, nonsense_in_the_file_is_logged_and_ignored,
          the_deep_profile_takes_its_items_from_the_file, a_file_that_is_named_and_not_there_is_logged, the_file_lies_in_the_cache_folder_or_where_it_is_said_to_be,
          records_are_written_in_place_of_their_like, candidates_begin_with_what_is_used_untuned, tiles_of_128_multiply,
          slabs_of_8_and_32_multiply, tiles_without_local_memory_multiply, few_rows_and_few_columns_multiply,
          a_long_k_is_split_and_its_parts_are_added, the_same_product_has_the_same_bits_again,
          a_tile_that_the_groups_are_too_small_for_falls_back, a_tile_that_the_compiler_refuses_falls_back)
