#include "support/build.h"
#include "support/row_cases.h"

#include <math.h>
#include <string.h>

static const char *const kind_names[TERM_KINDS] = {"leaf",   "scalar", "row",     "cast",        "transpose", "permute", "slice",
                                                   "select", "flip",   "expand",  "reshape",     "unsqueeze", "sum",     "mean",
                                                   "max",    "argmax", "softmax", "log_softmax", "matmul"};

const char *term_name(term_kind kind)
{
    return kind_names[kind];
}

static const term_kind views[] = {TERM_TRANSPOSE, TERM_PERMUTE, TERM_SLICE,   TERM_SELECT,
                                  TERM_FLIP,      TERM_EXPAND,  TERM_RESHAPE, TERM_UNSQUEEZE};

/* ---- programs ---- */

static tn_shape random_shape(builder *b)
{
    static const int64_t extents[] = {1, 1, 2, 3, 4, 5, 7, 8, 16, 17, 33};
    tn_shape s = {.ndim = (int)build_below(b, 6)};
    for (;;) {
        for (int a = 0; a < s.ndim; a++) s.dim[a] = build_below(b, 40) == 0 ? 0 : extents[build_below(b, 11)];
        if (build_elements(&s) <= 1500) return s;
    }
}

static bool add_operation(builder *b)
{
    const int choice = (int)build_below(b, 20);
    if (choice < 12) return build_row(b);
    if (choice < 14) return build_cast(b);
    if (choice < 16) return build_view(b, build_any_term(b), views[build_below(b, 8)]);
    if (choice < 18) return build_reduction(b);
    if (choice < 19) return build_softmax(b);
    return build_matmul(b);
}

void program_make(program *p, uint64_t seed, usage *used)
{
    builder b = {.p = p, .used = used, .r = {.state = seed}};
    *p = (program){.seed = seed};
    const int goal = 1 + (int)build_below(&b, 12);
    while (build_leaf(&b, build_any_dtype(&b), random_shape(&b)) < 0) continue;
    for (int tries = 0; p->operations < goal && tries < 200; tries++) {
        if (!add_operation(&b)) continue;
        p->operations++;
        const term_kind kind = p->terms[p->count - 1].kind;
        used->kinds[kind]++;
    }
    p->outputs[p->outputs_count++] = p->count - 1;
    while (p->outputs_count < OUTPUTS && build_below(&b, 2)) {
        const int i = (int)build_below(&b, p->count);
        if (!p->terms[i].weak) p->outputs[p->outputs_count++] = i;
    }
}

void program_free(program *p)
{
    for (int i = 0; i < p->count; i++) free(p->terms[i].value), free(p->terms[i].error);
    p->count = 0;
}

/* ---- recording ---- */

static tn_tensor *record_leaf(const term *t, const char *device)
{
    char *bytes = malloc((size_t)t->count * 8 + 8);
    for (int64_t i = 0; i < t->count; i++) reference_store(bytes + (size_t)i * tn_dtype_size(t->dtype), t->value[i]);
    tn_tensor *x = tn_from(t->dtype, t->shape, bytes, device);
    free(bytes);
    return x;
}

static tn_tensor *record_term(const term *t, const char *device, tn_tensor *const *x)
{
    tn_tensor *a = x[t->operand[0]], *b = x[t->operand[1]], *c = x[t->operand[2]];
    switch (t->kind) {
    case TERM_LEAF: return record_leaf(t, device);
    case TERM_SCALAR:
        return t->dtype == TN_BOOL  ? tn_bool(t->scalar != 0)
               : t->dtype == TN_I64 ? tn_int((int64_t)t->scalar)
                                    : tn_float(t->scalar);
    case TERM_ROW: return row_call(t->row, (tn_tensor *const[]){a, b, c});
    case TERM_CAST: return tn_cast(a, t->dtype);
    case TERM_TRANSPOSE: return tn_transpose(a, t->axis, t->other);
    case TERM_PERMUTE: return tn_permute(a, t->axes);
    case TERM_SLICE: return tn_slice(a, t->axis, t->start, t->stop < 0 ? TN_END : t->stop, t->step);
    case TERM_SELECT: return tn_select(a, t->axis, t->start);
    case TERM_FLIP: return tn_flip(a, t->axes);
    case TERM_EXPAND: return tn_expand(a, t->shape);
    case TERM_RESHAPE: return tn_reshape(a, t->shape);
    case TERM_UNSQUEEZE: return tn_unsqueeze(a, t->axis);
    case TERM_SUM: return tn_sum(a, t->axes, t->keepdim);
    case TERM_MEAN: return tn_mean(a, t->axes, t->keepdim);
    case TERM_MAX: return tn_max(a, t->axes, t->keepdim);
    case TERM_ARGMAX: return tn_argmax(a, t->axes, t->keepdim);
    case TERM_SOFTMAX: return tn_softmax(a, t->axis);
    case TERM_LOG_SOFTMAX: return tn_log_softmax(a, t->axis);
    case TERM_MATMUL: return tn_matmul(a, b);
    default: return NULL;
    }
}

bool program_record(const program *p, const char *device, tn_tensor **tensors)
{
    for (int i = 0; i < p->count; i++) {
        tensors[i] = record_term(&p->terms[i], device, tensors);
        if (!tensors[i]) return printf("  term t%d: %s\n", i, tn_last_error()), false;
    }
    return true;
}

/* ---- checking ---- */

int program_check(const program *p, int i, const char *bytes, int64_t *first, int64_t *checked)
{
    const term *t = &p->terms[i];
    const size_t size = tn_dtype_size(t->dtype);
    int wrong = 0;
    for (int64_t e = 0; e < t->count; e++) {
        char exact[8];
        const char *got = bytes + (size_t)e * size;
        const double g = test_number(t->dtype, got), w = (double)t->value[e].f;
        bool good;
        if (t->error[e] == 0) {
            reference_store(exact, t->value[e]);
            good = test_bits_equal(t->dtype, exact, got) || (term_is_float(t) && g == 0 && w == 0);
        } else if (!isfinite(t->error[e]))
            continue;
        else
            good = (isnan(g) && isnan(w)) || g == w || fabs(g - w) <= t->error[e];
        ++*checked;
        if (!good && wrong++ == 0) *first = e;
    }
    return wrong;
}

static void print_shape(const tn_shape *s)
{
    printf("[");
    for (int a = 0; a < s->ndim; a++) printf("%s%lld", a ? "," : "", (long long)s->dim[a]);
    printf("]");
}

void program_print(const program *p)
{
    printf("  program of seed %llu:\n", (unsigned long long)p->seed);
    for (int i = 0; i < p->count; i++) {
        const term *t = &p->terms[i];
        printf("    t%d %s", i, tn_dtype_name(t->dtype));
        print_shape(&t->shape);
        printf(" = %s", t->kind == TERM_ROW ? tn__rows[t->row].name : kind_names[t->kind]);
        const int arity = t->kind == TERM_ROW      ? tn__rows[t->row].arity
                          : t->kind == TERM_MATMUL ? 2
                          : t->kind <= TERM_SCALAR ? 0
                                                   : 1;
        for (int k = 0; k < arity; k++) printf(" t%d", t->operand[k]);
        if (t->kind == TERM_SCALAR) printf(" %g", t->scalar);
        if (t->kind == TERM_TRANSPOSE) printf(" %d,%d", t->axis, t->other);
        if (t->kind == TERM_SLICE)
            printf(" axis %d %lld:%lld:%lld", t->axis, (long long)t->start, (long long)t->stop, (long long)t->step);
        if (t->kind == TERM_SELECT) printf(" axis %d at %lld", t->axis, (long long)t->start);
        if (t->kind == TERM_UNSQUEEZE || t->kind == TERM_SOFTMAX || t->kind == TERM_LOG_SOFTMAX) printf(" axis %d", t->axis);
        if (t->axes.count) {
            printf(" axes");
            for (int k = 0; k < t->axes.count; k++) printf(" %d", t->axes.axis[k]);
        }
        if (t->keepdim) printf(" keepdim");
        printf("%s\n", t->exact ? "" : "  (inexact)");
    }
    printf("    outputs");
    for (int k = 0; k < p->outputs_count; k++) printf(" t%d", p->outputs[k]);
    printf("\n");
}
