/* Einstein's sum: the equation is parsed, operands get labels, and pairs of them are contracted (ops/contract.c). */
#include "core/view.h"
#include "ops/compose.h"
#include "ops/contract.h"
#include <string.h>
#include <tenon/ops.h>

/* Labels: A to Z are 0 to 25, a to z 26 to 51, and the axes of "..." 52 to 63, the last axis the last label. */
enum { LETTERS = 52, DOTS = TN__LABELS - LETTERS, OPERANDS = 32 };

typedef struct equation {
    const char *text;
    int64_t extent[TN__LABELS]; /* 0: not seen yet */
    bool seen[TN__LABELS];
    int times[TN__LABELS];
    int dots; /* the most axes that an operand's "..." stands for */
} equation;

static tn_status fail_at(const equation *e, const char *at, tn_status code, const char *what)
{
    return tn__fail(code, "einsum: %s:\n  %s\n  %*s", what, e->text, (int)(at - e->text) + 1, "^");
}

static int letter_label(char c)
{
    return c >= 'a' ? 26 + c - 'a' : c - 'A';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool ends_term(const char *p)
{
    return *p == '\0' || *p == ',' || (p[0] == '-' && p[1] == '>');
}

/* A term's labels, with where each stands; "..." stands for `dots` axes (-1: as many as ndim leaves). Returns their number,
 * -1 with an error. *end is behind the term. */
static int parse_term(const equation *e, const char *p, int ndim, int dots, int *label, const char **at, const char **end)
{
    int letters = 0, count = 0;
    bool dotted = false;
    for (const char *q = p; !ends_term(q); q++) letters += is_letter(*q);
    for (; !ends_term(p); p++) {
        if (*p == ' ') continue;
        if (is_letter(*p)) {
            if (count == TN_MAX_AXES) return (void)fail_at(e, p, TN_SHAPE, "more than 16 axes"), -1;
            at[count] = p;
            label[count++] = letter_label(*p);
            continue;
        }
        if (strncmp(p, "...", 3) != 0) return (void)fail_at(e, p, TN_ARGUMENT, "no letter and no \"...\""), -1;
        if (dotted) return (void)fail_at(e, p, TN_ARGUMENT, "a second \"...\" in a term"), -1;
        const int n = dots >= 0 ? dots : ndim - letters;
        if (n < 0) break; /* told by the caller: too many letters */
        if (n > DOTS || count + n > TN_MAX_AXES) return (void)fail_at(e, p, TN_SHAPE, "\"...\" stands for too many axes"), -1;
        for (int i = 0; i < n; i++) {
            at[count] = p;
            label[count++] = TN__LABELS - n + i;
        }
        dotted = true;
        p += 2;
    }
    *end = p;
    return count;
}

/* Axes of one label become one, the diagonal, which is the last. */
static tn_tensor *with_diagonals(tn_tensor *x, int *label)
{
    tn_tensor *y = tn_cast(x, x->dtype); /* no plain number any more */
    for (int b = 1; y && b < y->ndim; b++) {
        int a = 0;
        const int l = label[b];
        while (label[a] != l) a++;
        if (a == b) continue;
        y = tn_diagonal(y, 0, a, b);
        memmove(label + b, label + b + 1, (size_t)(x->ndim - 1 - b) * sizeof *label);
        memmove(label + a, label + a + 1, (size_t)(x->ndim - 1 - a) * sizeof *label);
        if (y) label[y->ndim - 1] = l;
        b = 0;
    }
    return y;
}

static tn_status label_operand(equation *e, tn_tensor *x, int index, const int *label, const char *const *at, tn__labelled *out)
{
    char what[128];
    for (int a = 0; a < x->ndim; a++) {
        const int l = label[a];
        int first = 0;
        while (label[first] != l) first++;
        snprintf(what, sizeof what, "operand %d has extents %lld and %lld for one letter", index, (long long)x->dim[first],
                 (long long)x->dim[a]);
        if (x->dim[first] != x->dim[a]) return fail_at(e, at[a], TN_SHAPE, what);
        if (first < a) continue;
        snprintf(what, sizeof what, "operand %d has extent %lld here, one before it %lld", index, (long long)x->dim[a],
                 (long long)e->extent[l]);
        if (e->seen[l] && e->extent[l] != 1 && x->dim[a] != 1 && e->extent[l] != x->dim[a])
            return fail_at(e, at[a], TN_SHAPE, what);
        if (!e->seen[l] || e->extent[l] == 1) e->extent[l] = x->dim[a];
    }
    for (int a = 0; a < x->ndim; a++) {
        e->seen[label[a]] = true;
        e->times[label[a]]++;
    }
    memcpy(out->label, label, (size_t)x->ndim * sizeof *label);
    out->x = with_diagonals(x, out->label);
    return out->x ? TN_OK : tn_last_status();
}

static tn_status parse_operands(equation *e, tn_tensor *const *operands, int count, tn__labelled *list, const char **rest)
{
    const char *p = e->text;
    for (int i = 0; i < count; i++) {
        int label[TN_MAX_AXES];
        const char *at[TN_MAX_AXES], *begin = p;
        char what[128];
        const int n = parse_term(e, p, operands[i]->ndim, -1, label, at, &p);
        if (n < 0) return tn_last_status();
        snprintf(what, sizeof what, "operand %d has %d axes, its term %d", i, operands[i]->ndim, n);
        if (n != operands[i]->ndim || !ends_term(p)) return fail_at(e, begin, TN_SHAPE, what);
        TN__TRY(label_operand(e, operands[i], i, label, at, &list[i]));
        for (int k = 0; k < n; k++)
            if (label[k] >= LETTERS && TN__LABELS - label[k] > e->dots) e->dots = TN__LABELS - label[k];
        snprintf(what, sizeof what, "%d operands, but fewer terms", count);
        if (i + 1 < count && *p != ',') return fail_at(e, p, TN_ARGUMENT, what);
        p += i + 1 < count;
    }
    char what[128];
    snprintf(what, sizeof what, "more terms than the %d operands", count);
    if (*p == ',') return fail_at(e, p, TN_ARGUMENT, what);
    *rest = p;
    return TN_OK;
}

/* The result's labels; without "->" those of "..." and the letters that occur once. */
static tn_status parse_result(const equation *e, const char *p, int *label, int *count)
{
    const char *at[TN_MAX_AXES];
    bool used[TN__LABELS] = {0};
    *count = 0;
    if (*p == '\0') {
        for (int l = TN__LABELS - e->dots; l < TN__LABELS; l++) label[(*count)++] = l;
        for (int l = 0; l < LETTERS; l++) {
            if (e->times[l] != 1) continue;
            if (*count == TN_MAX_AXES) return fail_at(e, e->text, TN_SHAPE, "a result of more than 16 axes");
            label[(*count)++] = l;
        }
        return TN_OK;
    }
    *count = parse_term(e, p + 2, 0, e->dots, label, at, &p);
    if (*count < 0) return tn_last_status();
    if (*p != '\0') return fail_at(e, p, TN_ARGUMENT, "something behind the result");
    for (int i = 0; i < *count; i++) {
        if (!e->seen[label[i]]) return fail_at(e, at[i], TN_ARGUMENT, "a letter of the result that no operand has");
        if (used[label[i]]) return fail_at(e, at[i], TN_ARGUMENT, "a letter twice in the result");
        used[label[i]] = true;
    }
    return TN_OK;
}

/* Labels that anybody but i and j has, or the result. */
static uint64_t needed(const tn__labelled *list, int count, int i, int j, uint64_t result)
{
    for (int k = 0; k < count; k++)
        if (k != i && k != j) result |= tn__labels_of(&list[k]);
    return result;
}

static double result_size(const tn__labelled *list, int count, int i, int j, uint64_t result)
{
    const uint64_t labels = (tn__labels_of(&list[i]) | tn__labels_of(&list[j])) & needed(list, count, i, j, result);
    double size = 1;
    for (int l = 0; l < TN__LABELS; l++) {
        if (!(labels >> l & 1)) continue;
        const int64_t a = tn__extent_of(&list[i], l), b = tn__extent_of(&list[j], l);
        size *= (double)(a > b ? a : b);
    }
    return size;
}

/* Contracts pairs, the smallest result first, until one is left. */
static tn__labelled contract_all(tn__labelled *list, int count, uint64_t result)
{
    for (; count > 1; count--) {
        int left = 0, right = 1;
        double least = result_size(list, count, 0, 1, result);
        for (int i = 0; i < count; i++)
            for (int j = i + 1; j < count; j++) {
                const double size = result_size(list, count, i, j, result);
                if (size < least) left = i, right = j, least = size;
            }
        list[left] = tn__contract(list[left], list[right], needed(list, count, left, right, result));
        if (!list[left].x) return list[left];
        list[right] = list[count - 1];
    }
    return tn__sum_labels(list[0], result);
}

static tn_tensor *einsum(equation *e, tn_tensor *const *operands, int count)
{
    tn__labelled list[OPERANDS];
    const char *rest = NULL;
    int label[TN_MAX_AXES], axes;
    uint64_t result = 0;
    if (parse_operands(e, operands, count, list, &rest) != TN_OK || parse_result(e, rest, label, &axes) != TN_OK) return NULL;
    for (int i = 0; i < axes; i++) result |= UINT64_C(1) << label[i];
    const tn__labelled y = contract_all(list, count, result);
    return y.x ? tn__in_order(y, label, axes) : NULL;
}

tn_tensor *tn_einsum(const char *text, tn_tensor *const *operands, int count)
{
    if (!text) return (void)tn__fail_null("einsum", "equation"), NULL;
    if (!operands) return (void)tn__fail_null("einsum", "operands"), NULL;
    if (count < 1 || count > OPERANDS)
        return TN__NULL(TN_ARGUMENT, "einsum: %d operands; 1 to %d are possible", count, (int)OPERANDS);
    for (int i = 0; i < count; i++)
        if (tn__tensor_check(operands[i], "einsum", "an operand") != TN_OK) return NULL;
    equation e = {.text = text};
    const tn_scope scope = tn_scope_push();
    return tn__leave(scope, einsum(&e, operands, count));
}
