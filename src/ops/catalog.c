/* The catalogue of operations, from the tables. */
#include "graph/gradients.h"
#include "graph/rows.h"
#include <string.h>
#include <tenon/catalog.h>

/* Elementwise rows whose arguments have names of their own, or that PyTorch calls otherwise. */
static const struct special {
    const char *name, *arguments, *torch;
} specials[] = {
    {"clamp", "x, low, high", NULL},
    {"where", "condition, b, c", NULL},
    {"trunc_divide", NULL, "div(rounding_mode='trunc')"},
    {"fma", NULL, "none; C's fma"},
    {"cbrt", NULL, "none; NumPy's cbrt"},
    {"frexp_mantissa", NULL, "frexp, its mantissa"},
    {"frexp_exponent", NULL, "frexp, its exponent"},
    {"trigamma", NULL, "polygamma(1, x)"},
    {"xlog1py", NULL, "special.xlog1py"},
    {"entr", NULL, "special.entr"},
    {"erfcx", NULL, "special.erfcx"},
    {"ndtr", NULL, "special.ndtr"},
    {"ndtri", NULL, "special.ndtri"},
    {"log_ndtr", NULL, "special.log_ndtr"},
    {"i0e", NULL, "special.i0e"},
    {"i1", NULL, "special.i1"},
    {"i1e", NULL, "special.i1e"},
    {"gelu", NULL, "nn.functional.gelu"},
    {"gelu_tanh", NULL, "nn.functional.gelu(approximate='tanh')"},
    {"relu6", NULL, "nn.functional.relu6"},
    {"leaky_relu", "x, slope", "nn.functional.leaky_relu"},
    {"prelu", "x, weight", "nn.functional.prelu"},
    {"elu", "x, alpha", "nn.functional.elu"},
    {"selu", NULL, "nn.functional.selu"},
    {"celu", "x, alpha", "nn.functional.celu"},
    {"hardsigmoid", NULL, "nn.functional.hardsigmoid"},
    {"hardswish", NULL, "nn.functional.hardswish"},
    {"hardtanh", "x, low, high", "nn.functional.hardtanh"},
    {"silu", NULL, "nn.functional.silu"},
    {"mish", NULL, "nn.functional.mish"},
    {"softplus", NULL, "nn.functional.softplus"},
    {"logsigmoid", NULL, "nn.functional.logsigmoid"},
    {"softsign", NULL, "nn.functional.softsign"},
    {"softshrink", "x, lambda", "nn.functional.softshrink"},
    {"hardshrink", "x, lambda", "nn.functional.hardshrink"},
    {"tanhshrink", NULL, "nn.functional.tanhshrink"},
    {"threshold", "x, threshold, value", "nn.functional.threshold"},
    {"left_shift", NULL, "bitwise_left_shift"},
    {"right_shift", NULL, "bitwise_right_shift"},
};

static struct special special_of(const tn__row *row)
{
    static const char *const by_arity[] = {"", "x", "a, b", "a, b, c"};
    struct special found = {row->name, by_arity[row->arity], row->name};
    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++) {
        if (strcmp(specials[i].name, row->name) != 0) continue;
        if (specials[i].arguments) found.arguments = specials[i].arguments;
        if (specials[i].torch) found.torch = specials[i].torch;
    }
    return found;
}

/* dtypes by what the row has a text for: bit 0 floats, 1 integers, 2 bool */
static const char *const same[8] = {"none", "floats", "integers", "any but bool", "bool", "floats, bool", "integers, bool", "any"};
static const char *const to_bool[8] = {"none",         "floats -> bool",       "integers -> bool",       "any but bool -> bool",
                                       "bool -> bool", "floats, bool -> bool", "integers, bool -> bool", "any -> bool"};

static const char *dtypes_of(const tn__row *row)
{
    int kinds = 0;
    for (int k = 0; k < 3; k++) kinds |= row->text[k] ? 1 << k : 0;
    if (row->inputs == TN__REAL) return row->result == TN__TO_BOOL ? "any -> bool" : "any -> float";
    return row->result == TN__TO_BOOL ? to_bool[kinds] : same[kinds];
}

static const tn_operation others[] = {
#define OP(group, name, arguments, dtypes, gradient, launches, torch) {name, group, arguments, dtypes, gradient, launches, torch},
#include "tables/operations.def"
#undef OP
};
enum { OTHERS = sizeof others / sizeof others[0] };

bool tn_operation_at(int i, tn_operation *operation)
{
    if (i < 0 || i >= TN__ROWS + OTHERS || !operation) return false;
    if (i >= TN__ROWS) {
        *operation = others[i - TN__ROWS];
        return true;
    }
    const tn__row *row = &tn__rows[i];
    const struct special special = special_of(row);
    *operation = (tn_operation){
        .name = row->name,
        .group = "elementwise",
        .arguments = special.arguments,
        .dtypes = dtypes_of(row),
        .gradient = row->derivative.gradient != NULL && row->derivative.gradient != tn__grad_missing,
        .launches = "1, fused",
        .torch = special.torch,
    };
    return true;
}

bool tn_operation_find(const char *name, tn_operation *operation)
{
    for (int i = 0; name && tn_operation_at(i, operation); i++)
        if (strcmp(operation->name, name) == 0) return true;
    return false;
}
