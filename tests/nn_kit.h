/* What the suites of layers and losses share: the cases of tests/data/nn/nn.safetensors. */
#ifndef NN_KIT_H
#define NN_KIT_H

#include "bones.h"

#include <math.h>

/* KIND/NAME/NUMBER, on the device under test: in f64 on host, where its numbers were made, else in f32. */
typedef struct nn_case {
    tn_archive *archive;
    char title[64], name[40];
    int number;
    double settings[8];
} nn_case;

static inline bool nn_has(const nn_case *c, const char *part)
{
    char name[128];
    snprintf(name, sizeof name, "%s/%s", c->title, part);
    for (int i = 0; i < tn_archive_count(c->archive); i++)
        if (strcmp(tn_archive_name(c->archive, i), name) == 0) return true;
    return false;
}

static inline tn_tensor *nn_host(const nn_case *c, const char *part)
{
    char name[128];
    snprintf(name, sizeof name, "%s/%s", c->title, part);
    return ck_made(tn_archive_get(c->archive, name, "host"));
}

/* A tensor of the case; TN_NONE when it has no such part. */
static inline tn_tensor *nn_tensor(const nn_case *c, const char *part)
{
    if (!nn_has(c, part)) return TN_NONE;
    tn_tensor *x = nn_host(c, part);
    if (tn_dtype_is_float(tn_dtype_of(x)) && !test_is("host")) x = tn_cast(x, TN_F32);
    return ck_made(tn_to(x, test_device()));
}

/* got is what the case's part says, within a bound that is relative for numbers above 1. */
static inline void nn_compare(const nn_case *c, tn_tensor *got, const char *part)
{
    tn_tensor *want = nn_host(c, part);
    const double bound = tn_dtype_of(ck_made(got)) == TN_F64 ? 1e-11 : 2e-5;
    const tn_shape a = tn_shape_of(got), b = tn_shape_of(want);
    ck_assert_msg(a.ndim == b.ndim && memcmp(a.dim, b.dim, (size_t)a.ndim * sizeof a.dim[0]) == 0, "%s/%s: of another shape",
                  c->title, part);
    double *have = test_numbers(got), *wanted = test_numbers(want);
    for (int64_t i = 0; i < tn_numel(want); i++) {
        const double w = wanted[i], g = have[i];
        const bool same = isnan(w) ? isnan(g) : g == w || fabs(g - w) <= bound * (1 + fabs(w));
        ck_assert_msg(same, "%s/%s: element %lld is %.17g, not %.17g", c->title, part, (long long)i, g, w);
    }
    free(have);
    free(wanted);
}

/* Runs every case of a kind, each in its own scope; elsewhere than on host the one with this number of each name. */
static inline void nn_each(const char *kind, int number, void (*run)(const nn_case *c))
{
    tn_archive *archive = tn_archive_open(TN_TEST_SOURCE_DIR "/tests/data/nn/nn.safetensors");
    ck_assert_msg(archive != NULL, "%s", tn_last_error());
    for (int i = 0; i < tn_archive_count(archive); i++) {
        nn_case c = {.archive = archive};
        const char *full = tn_archive_name(archive, i);
        const size_t length = strlen(full);
        char found[16];
        if (length < 4 || strcmp(full + length - 4, "/out") != 0) continue;
        ck_assert_int_eq(sscanf(full, "%15[^/]/%39[^/]/%d", found, c.name, &c.number), 3);
        if (strcmp(found, kind) != 0 || (!test_is("host") && c.number != number)) continue;
        snprintf(c.title, sizeof c.title, "%.*s", (int)length - 4, full);
        const tn_scope scope = tn_scope_push();
        tn_tensor *settings = nn_host(&c, "settings");
        ck_assert_uint_le(tn_nbytes(settings), sizeof c.settings);
        ck_ok(tn_read(settings, c.settings, tn_nbytes(settings)));
        run(&c);
        ck_ok(tn_scope_pop(scope));
        test_case_passed();
    }
    tn_archive_close(archive);
}

/* The gradient of x, given u, is the case's part. */
static inline void nn_compare_gradient(const nn_case *c, tn_tensor *x, const char *part)
{
    tn_tensor *gradient = ck_made(tn_grad_of(x));
    ck_assert_msg(gradient != TN_NONE, "%s/%s: no gradient", c->title, part);
    nn_compare(c, gradient, part);
}

#endif
