#include "tune.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tenon/tenon.h>

#include "child.h"

int tune_child_list(const char *device)
{
    tn_tuning t;
    char parameters[64];
    const char *name = tn_device_resolve(device);
    if (!name || tn_device_probe(name) != TN_OK) {
        printf("trouble\t%s\n", tn_last_error());
        return 0;
    }
    printf("device\t%s\n", name);
    for (int i = 0; tn_tuning_at(name, i, &t); i++) {
        printf("class\t%s\t%s\t%lld\t%lld\t%lld\n", t.family, t.shapes, (long long)t.m, (long long)t.n, (long long)t.k);
        for (int j = 0; tn_tuning_candidate(name, &t, j, parameters, sizeof parameters); j++) printf("candidate\t%s\n", parameters);
    }
    return 0;
}

/* ---- a product and its check ---- */

typedef struct product {
    const char *device;
    int64_t m, n, k;
    float *a, *b;
    tn_tensor *x, *y; /* the same on the device */
} product;

static uint64_t state = 88172645463325252u;

/* Xorshift (Marsaglia, 2003). */
static uint32_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32);
}

/* Integers from -3 to 3, or fractions between -1 and 1. */
static float *values(int64_t count, bool integers)
{
    float *v = malloc((size_t)count * sizeof *v);
    for (int64_t i = 0; v && i < count; i++) v[i] = integers ? (float)(draw() % 7) - 3 : (float)(draw() >> 8) * 0x1p-23f - 1;
    return v;
}

static bool product_new(product *p, const char *device, int64_t m, int64_t n, int64_t k, bool integers)
{
    *p = (product){device, m, n, k, values(m * k, integers), values(k * n, integers), NULL, NULL};
    if (!p->a || !p->b) return false;
    p->x = tn_from(TN_F32, TN_SHAPE(m, k), p->a, device);
    p->y = tn_from(TN_F32, TN_SHAPE(k, n), p->b, device);
    return p->x && p->y;
}

static void product_free(product *p)
{
    tn_release(p->x);
    tn_release(p->y);
    free(p->a);
    free(p->b);
}

/* What the device makes of it, in the middle of NaN: two columns and rows on each side. NULL with a sentence in told. */
enum { GUARD = 2 };
static char told[256];

static float *compute(const product *p)
{
    const int64_t rows = p->m + 2 * GUARD, columns = p->n + 2 * GUARD;
    const size_t bytes = (size_t)(rows * columns) * sizeof(float);
    const tn_scope scope = tn_scope_push();
    float *all = malloc(bytes);
    tn_tensor *big = tn_full(TN_F32, TN_SHAPE(rows, columns), tn_float(NAN), p->device);
    tn_tensor *middle = tn_slice(tn_slice(big, 0, GUARD, GUARD + p->m, 1), 1, GUARD, GUARD + p->n, 1);
    tn_status status = all ? tn_assign(middle, tn_matmul(p->x, p->y)) : TN_MEMORY;
    if (status == TN_OK) status = tn_read(big, all, bytes);
    if (status != TN_OK) {
        snprintf(told, sizeof told, "%s", tn_last_error());
        free(all);
        all = NULL;
    }
    (void)tn_scope_pop(scope);
    return all;
}

/* Nothing outside is written, nothing inside is left out. */
static bool check_extent(const product *p, const float *all)
{
    const int64_t columns = p->n + 2 * GUARD;
    for (int64_t i = 0; i < (p->m + 2 * GUARD) * columns; i++) {
        const int64_t r = i / columns - GUARD, c = i % columns - GUARD;
        const bool inside = r >= 0 && r < p->m && c >= 0 && c < p->n;
        if (isnan(all[i]) != inside) continue;
        snprintf(told, sizeof told, "[%lld,%lld,%lld]: row %lld, column %lld is %s", (long long)p->m, (long long)p->k,
                 (long long)p->n, (long long)r, (long long)c, inside ? "not written" : "written to");
        return false;
    }
    return true;
}

/* C v = A (B v) for a vector v of signs (Freivalds, 1977), in f64: exact for integers, else within k rounding errors. */
static bool check_values(const product *p, const float *all, bool exact)
{
    double *v = calloc((size_t)(p->n + 2 * p->k), sizeof *v), *bv = v + p->n, *most = bv + p->k;
    bool right = v != NULL;
    for (int64_t j = 0; right && j < p->n; j++) v[j] = draw() & 1 ? 1 : -1;
    for (int64_t l = 0; right && l < p->k; l++)
        for (int64_t j = 0; j < p->n; j++) {
            bv[l] += (double)p->b[l * p->n + j] * v[j];
            most[l] += fabs((double)p->b[l * p->n + j]);
        }
    for (int64_t i = 0; right && i < p->m; i++) {
        const float *row = all + (i + GUARD) * (p->n + 2 * GUARD) + GUARD;
        double got = 0, want = 0, bound = 0;
        for (int64_t j = 0; j < p->n; j++) got += (double)row[j] * v[j];
        for (int64_t l = 0; l < p->k; l++) {
            want += (double)p->a[i * p->k + l] * bv[l];
            bound += fabs((double)p->a[i * p->k + l]) * most[l];
        }
        bound *= exact ? 0 : (double)p->k * 0x1p-23;
        right = fabs(got - want) <= bound;
        if (!right)
            snprintf(told, sizeof told, "[%lld,%lld,%lld]: row %lld of the product is wrong", (long long)p->m, (long long)p->k,
                     (long long)p->n, (long long)i);
    }
    free(v);
    return right;
}

static bool check(const product *p, bool integers)
{
    float *all = compute(p);
    const bool right = all && check_extent(p, all) && check_values(p, all, integers);
    free(all);
    return right;
}

static bool check_size(const char *device, int64_t m, int64_t n, int64_t k, bool integers)
{
    product p;
    snprintf(told, sizeof told, "no memory for [%lld,%lld,%lld]", (long long)m, (long long)k, (long long)n);
    const bool right = product_new(&p, device, m, n, k, integers) && check(&p, integers);
    product_free(&p);
    return right;
}

/* ---- time ---- */

enum { BATCH_MOST = 256 };

/* Of so many products behind each other; negative when one fails. */
static double time_of(const product *p, int count)
{
    tn_tensor *list[BATCH_MOST];
    const tn_scope scope = tn_scope_push();
    for (int i = 0; i < count; i++) list[i] = tn_matmul(p->x, p->y);
    const double start = now();
    const tn_status status = tn_realize(list, count) == TN_OK ? tn_finish(p->device) : tn_last_status();
    const double seconds = now() - start;
    if (status != TN_OK) snprintf(told, sizeof told, "%s", tn_last_error());
    (void)tn_scope_pop(scope);
    return status == TN_OK ? seconds : -1;
}

/* The least of some batches of at least 5 ms each; negative when one fails. */
static double measure(const product *p)
{
    enum { BATCHES = 3 };
    int count = 1;
    double seconds = time_of(p, 1), least;
    while (seconds >= 0 && (seconds = time_of(p, count)) >= 0 && seconds < 0.005 && count < BATCH_MOST) count *= 2;
    least = seconds;
    for (int i = 1; i < BATCHES && seconds >= 0; i++) {
        seconds = time_of(p, count);
        if (seconds < least) least = seconds;
    }
    return least / count;
}

/* ---- a try ---- */

static char refusal[256];

static void listen(int level, const char *line, void *user)
{
    (void)user;
    if (level == 1 && strncmp(line, "tuning: ", 8) == 0) snprintf(refusal, sizeof refusal, "%s", line + 8);
}

int tune_child_try(const char *device, const char *m_text, const char *n_text, const char *k_text)
{
    const int64_t m = strtoll(m_text, NULL, 10), n = strtoll(n_text, NULL, 10), k = strtoll(k_text, NULL, 10);
    product p = {0};
    double seconds = -1;
    tn_set_log(listen, NULL);
    if (check_size(device, m, n, k, true) && check_size(device, m - 3, n - 1, k - 5, true) &&
        check_size(device, m - 1, n - 6, k - 7, false) && product_new(&p, device, m, n, k, false))
        seconds = measure(&p);
    product_free(&p);
    if (*refusal)
        printf("refused\t%s\n", refusal);
    else if (seconds < 0)
        printf("wrong\t%s\n", told);
    else
        printf("seconds\t%.9g\n", seconds);
    return 0;
}
