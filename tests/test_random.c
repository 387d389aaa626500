/* Random programs of up to twelve operations: fused, operation by operation, and on host, all against their references.
 * TENON_TEST_SEED=n runs the one program of that seed; what fails prints its seed and its text. */
#include "support/test.h"

#include "graph/node.h"
#include "support/expressions.h"

#include <math.h>

enum { PROGRAMS = 40, PROGRAMS_OF_A_PROFILE = 20, EAGER_EACH = 16 }; /* an operation on its own is a kernel on its own */

static usage used;
static int64_t elements, checked, exact_terms;

typedef enum manner { FUSED, EAGER, FORGETFUL } manner; /* forgetful: fused, with only the outputs alive */

/* The first term that is wrong when it is the only one asked for. */
static void find_culprit(const program *p, const char *device)
{
    static tn_tensor *x[TERMS];
    for (int i = 0; i < p->count; i++) {
        const tn_scope scope = tn_scope_push();
        char *bytes = malloc((size_t)p->terms[i].count * 8 + 8);
        int64_t first = 0, count = 0;
        const bool ran = program_record(p, device, x) && tn_read(x[i], bytes, tn_nbytes(x[i])) == TN_OK;
        const int wrong = ran ? program_check(p, i, bytes, &first, &count) : 0;
        if (wrong) {
            const term *t = &p->terms[i];
            printf("  asked for alone, t%d is the first to be wrong: %d of %lld elements; element %lld is %.17g instead of %.17Lg "
                   "(within %g)\n",
                   i, wrong, (long long)t->count, (long long)first,
                   test_number(t->dtype, bytes + (size_t)first * tn_dtype_size(t->dtype)), reference_float(t->value[first]),
                   t->error[first]);
        }
        free(bytes);
        (void)tn_scope_pop(scope);
        if (wrong) return;
    }
    printf("  each term asked for alone is right\n");
}

static bool outputs_right(const program *p, tn_tensor *const *x, const char *device, const char *how)
{
    bool right = true;
    for (int k = 0; k < p->outputs_count; k++) {
        const int i = p->outputs[k];
        const term *t = &p->terms[i];
        bool same = tn_dtype_of(x[i]) == t->dtype && tn_ndim(x[i]) == t->shape.ndim;
        for (int a = 0; same && a < t->shape.ndim; a++) same = tn_dim(x[i], a) == t->shape.dim[a];
        if (!same) {
            printf("  FAULT %s, %s: dtype or shape of t%d\n", device, how, i);
            right = false;
            continue;
        }
        char *bytes = malloc(tn_nbytes(x[i]) + 8);
        int64_t first = 0;
        const tn_status status = tn_read(x[i], bytes, tn_nbytes(x[i]));
        const int wrong = status == TN_OK ? program_check(p, i, bytes, &first, &checked) : 0;
        if (status != TN_OK) printf("  FAULT %s, %s: reading t%d: %s\n", device, how, i, tn_last_error());
        if (wrong)
            printf("  FAULT %s, %s: t%d has %d wrong elements of %lld; element %lld is %.17g instead of %.17Lg (within %g)\n",
                   device, how, i, wrong, (long long)t->count, (long long)first,
                   test_number(t->dtype, bytes + (size_t)first * tn_dtype_size(t->dtype)), reference_float(t->value[first]),
                   t->error[first]);
        right = right && status == TN_OK && wrong == 0;
        elements += t->count;
        exact_terms += t->exact;
        free(bytes);
    }
    return right;
}

static bool run_program(const program *p, const char *device, manner how)
{
    static const char *const names[] = {"fused", "eager", "fused, only outputs alive"};
    static tn_tensor *x[TERMS], *wanted[OUTPUTS];
    const tn_scope scope = tn_scope_push();
    if (how == EAGER) ck_ok(tn_set("eager", "1"));
    bool right = program_record(p, device, x);
    if (right && how == FORGETFUL)
        for (int i = 0; i < p->count; i++) {
            bool output = false;
            for (int k = 0; k < p->outputs_count; k++) output = output || p->outputs[k] == i;
            if (!output) tn_release(x[i]);
        }
    for (int k = 0; k < p->outputs_count; k++) wanted[k] = x[p->outputs[k]];
    if (right && p->seed % 3 != 0) ck_ok(tn_realize(wanted, p->outputs_count)); /* else each is read by itself */
    right = right && outputs_right(p, x, device, names[how]);
    if (how == EAGER) ck_ok(tn_set("eager", NULL));
    const tn_status status = tn_scope_pop(scope);
    if (status != TN_OK && right) printf("  FAULT %s: the scope's failure: %s\n", device, tn_last_error());
    return right && status == TN_OK;
}

/* Runs one program in each manner; false when something is wrong. */
static bool try_program(uint64_t seed, bool on_device)
{
    static program p;
    const char *device = test_device();
    program_make(&p, seed, &used);
    bool right = run_program(&p, "host", FUSED);
    if (on_device && right) right = run_program(&p, device, seed % 2 ? FUSED : FORGETFUL);
    if (on_device && right && seed % EAGER_EACH == 0) right = run_program(&p, device, EAGER);
    if (!right) {
        program_print(&p);
        find_culprit(&p, "host");
        if (on_device) find_culprit(&p, device);
        printf("  again: TENON_TEST_SEED=%llu\n", (unsigned long long)seed);
    }
    program_free(&p);
    test_case_passed();
    return right;
}

/* One seed, or `count` of them from `first` on. */
static void try_programs(uint64_t first, int count, bool on_device)
{
    const uint64_t only = test_seed(0);
    int wrong = 0;
    if (only) first = only, count = 1;
    for (int i = 0; i < count && wrong < 5; i++) wrong += !try_program(first + (uint64_t)i, on_device);
    ck_assert_msg(wrong == 0, "%d programs gave wrong results", wrong);
}

/* The device has kernels that were made for another: what does not depend on them is shown without. */
static bool is_profile(void)
{
    return strchr(test_config(), '-') != NULL;
}

/* Its compiler takes long for the kernels of a program. */
static bool is_slow(void)
{
    return is_profile() || test_is("rusticl");
}

START_TEST(programs_on_host_give_what_the_reference_gives)
{
    TN_SKIP_IF(!test_is("host"), "host runs them");
    try_programs(1000000, test_long() ? 50000 : 5000, false);
}
END_TEST

START_TEST(programs_fused_and_eager_give_what_the_reference_gives)
{
    NEEDS_OPENCL();
    used = (usage){.without_f64 = !test_has_f64()};
    try_programs(1, test_long() ? (is_slow() ? 200 : 400) : is_profile() ? PROGRAMS_OF_A_PROFILE : PROGRAMS, true);
}
END_TEST

START_TEST(every_row_dtype_and_view_occurred)
{
    TN_SKIP_IF(test_seed(0) != 0, "one program only");
    TN_SKIP_IF(is_profile() && !test_long(), "few programs");
    tn_device_info info;
    printf("  rows  ");
    for (int r = 0; r < TN__ROWS; r++) printf(" %s %d", tn__rows[r].name, used.rows[r]);
    printf("\n  dtypes");
    for (int d = 0; d < TN_DTYPE_COUNT; d++) printf(" %s %d", tn_dtype_name((tn_dtype)d), used.dtypes[d]);
    printf("\n  others");
    for (int k = TERM_CAST; k < TERM_KINDS; k++) printf(" %s %d", term_name((term_kind)k), used.kinds[k]);
    ck_ok(tn_device_query(test_device(), &info));
    printf("\n  %lld of %lld elements bounded, %lld exact results; %llu programs built, %llu launches\n", (long long)checked,
           (long long)elements, (long long)exact_terms, (unsigned long long)info.programs_built, (unsigned long long)info.launches);
    /* all on host; a device sees few programs, and each row in the sweep */
    const int allowed = test_is("host") ? 0 : TN__ROWS / (!test_long() ? 4 : is_slow() ? 8 : 60);
    int absent = 0;
    for (int r = 0; r < TN__ROWS; r++) {
        absent += used.rows[r] == 0;
        ck_assert_msg(absent <= allowed, "%d rows without a case, one of them %s", absent, tn__rows[r].name);
    }
    for (int d = 0; d < TN_DTYPE_COUNT; d++)
        ck_assert_msg(used.dtypes[d] > 0 || (d == TN_F64 && used.without_f64), "no case in %s", tn_dtype_name((tn_dtype)d));
    for (int k = TERM_CAST; k < TERM_KINDS; k++) ck_assert_msg(used.kinds[k] > 0, "no case of %s", term_name((term_kind)k));
    ck_assert_msg(checked * 10 >= elements * 8, "only %lld of %lld elements are bounded", (long long)checked, (long long)elements);
}
END_TEST

TN_SUITE(random, programs_on_host_give_what_the_reference_gives, programs_fused_and_eager_give_what_the_reference_gives,
         every_row_dtype_and_view_occurred)
