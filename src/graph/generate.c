#include "graph/generate.h"
#include "base/alloc.h"
#include "base/settings.h"
#include "graph/graph.h"
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

const char tn__letters[] = "fdiulm";

enum { USES_F16 = 1, USES_BF16 = 2, USES_DOUBLE = 4, USES_ODD_M = 8, USES_ODD_D = 16, USES_FMOD_F = 32, USES_FMOD_D = 64, USES_RANDOM = 128 };

static const char *const section_names[TN__SECTIONS] = {"P0", "P1", "P2", "E"};

/* ---- scalar functions ---- */

typedef struct function_row {
    const char *name, *body;
} function_row;
static const function_row functions[] = {
#define FN(name, kind, ...) {#name, #__VA_ARGS__},
#include "tables/functions.def"
#undef FN
};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

static int find_function(const char *word, size_t length)
{
    for (int f = 0; f < FUNCTIONS; f++) {
        size_t i = 0;
        while (i < length && functions[f].name[i] && toupper((unsigned char)functions[f].name[i]) == word[i]) i++;
        if (i == length && !functions[f].name[i]) return f;
    }
    return -1;
}

static void need_function(tn__generator *g, int f, tn__compute c)
{
    const uint64_t bit = UINT64_C(1) << (f * TN__COMPUTES + (int)c);
    if (g->called & bit) return;
    g->called |= bit;
    tn__text body = {0};
    tn__generate_text(g, &body, functions[f].body, c, NULL, NULL, 0);
    const char l = tn__letters[c];
    tn__text_add(&g->functions, "static T%c fn_%s_%c(const T%c A, const T%c B)\n{\n    %s\n}\n", l, functions[f].name, l, l, l,
                 body.data ? body.data : "");
    g->functions.failed |= body.failed;
    tn__text_free(&body);
}

/* K(0.5) becomes a literal of the type, cast to its vector. Returns the text behind it. */
static const char *put_constant(tn__text *out, const char *open, tn__compute c)
{
    const char *close = strchr(open, ')');
    const bool point = memchr(open, '.', (size_t)(close - open)) != NULL;
    tn__text_add(out, "((T%c)(%.*s%s))", tn__letters[c], (int)(close - open - 1), open + 1,
                 c == TN__CF ? (point ? "f" : ".0f") : c == TN__CD ? (point ? "" : ".0") : "");
    return close + 1;
}

static bool word_is(const char *word, size_t length, const char *name)
{
    return strlen(name) == length && memcmp(word, name, length) == 0;
}

static const char *put_word(tn__generator *g, tn__text *out, const char *word, size_t length, tn__compute c)
{
    static const char *const plain[] = {"MAND", "MOR", "MXOR", "MNOT"};
    if (word_is(word, length, "T")) {
        tn__text_add(out, "T%c", tn__letters[c]);
        return word + length;
    }
    if (word_is(word, length, "K") && word[length] == '(') return put_constant(out, word + length, c);
    const int f = find_function(word, length);
    if (f >= 0) {
        need_function(g, f, c);
        tn__text_add(out, "fn_%s_%c", functions[f].name, tn__letters[c]);
        return word + length;
    }
    bool macro = length > 1;
    for (size_t i = 0; i < length; i++) macro = macro && (isupper((unsigned char)word[i]) || isdigit((unsigned char)word[i]));
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        if (word_is(word, length, plain[i])) macro = false;
    if (word_is(word, length, "FMOD")) g->uses |= c == TN__CD ? USES_FMOD_D : USES_FMOD_F;
    tn__text_put(out, word, length);
    if (macro) tn__text_add(out, "_%c", tn__letters[c]);
    return word + length;
}

void tn__generate_text(tn__generator *g, tn__text *out, const char *text, tn__compute c, const char *const *words,
                       const char *const *names, int count)
{
    for (const char *p = text; *p;) {
        if (!isalpha((unsigned char)*p) && *p != '_') {
            tn__text_put(out, p++, 1);
            continue;
        }
        size_t length = 1;
        while (isalnum((unsigned char)p[length]) || p[length] == '_') length++;
        int found = -1;
        for (int i = 0; i < count && found < 0; i++)
            if (word_is(p, length, words[i])) found = i;
        if (found >= 0) {
            tn__text_puts(out, names[found]);
            p += length;
        } else
            p = put_word(g, out, p, length, c);
    }
}

/* ---- places ---- */

int tn__parameter(tn__plan *p, int64_t v)
{
    if (p->parameters_count == p->parameters_capacity) {
        const int capacity = p->parameters_capacity ? p->parameters_capacity * 2 : 32;
        int64_t *grown = tn__realloc(p->parameters, (size_t)capacity * sizeof *grown);
        if (!grown) {
            p->text.failed = true;
            return 0;
        }
        p->parameters = grown;
        p->parameters_capacity = capacity;
    }
    p->parameters[p->parameters_count] = v;
    return p->parameters_count++;
}

int64_t tn__role_extent(const tn__plan *p, const tn__role *role, tn__role which)
{
    int64_t n = 1;
    for (int k = 0; k < p->rank; k++)
        if (role[k] == which) n *= p->dim[k];
    return n;
}

static int inner_axis(const tn__generator *g)
{
    for (int k = 0; k < g->plan->rank; k++)
        if (g->role[k] == TN__INNER) return k;
    return -1;
}

static int64_t inner_stride(const tn__generator *g, const tn__window *w)
{
    const int k = inner_axis(g);
    return k < 0 || g->plan->dim[k] == 1 ? 0 : w->stride[k];
}

static bool moves(const tn__generator *g, const tn__window *w, tn__role role)
{
    for (int k = 0; k < g->plan->rank; k++)
        if (g->role[k] == role && g->plan->dim[k] != 1 && w->stride[k] != 0) return true;
    return false;
}

/* "const IDX c3 = o % e5, …": coordinates of the axes of a role out of the point number `from`. */
static void put_coordinates(tn__generator *g, tn__role role, const char *prefix, const char *from)
{
    tn__plan *p = g->plan;
    int first = p->rank;
    for (int k = p->rank - 1; k >= 0; k--)
        if (g->role[k] == role && p->dim[k] != 1) first = k;
    const char *rest = from;
    char names[2][24];
    int turn = 0;
    for (int k = p->rank - 1; k >= first; k--) {
        if (g->role[k] != role || p->dim[k] == 1) continue;
        if (k == first) {
            tn__text_add(&g->macros, " const IDX %sc%d = %s;", prefix, k, rest);
            return;
        }
        const int extent = tn__parameter(p, p->dim[k]);
        snprintf(names[turn], sizeof names[0], "%sr%d", prefix, k);
        tn__text_add(&g->macros, " const IDX %s = %s / e%d, %sc%d = %s - %s * e%d;", names[turn], rest, extent, prefix, k, rest,
                     names[turn], extent);
        rest = names[turn];
        turn = !turn;
    }
}

static void put_place(tn__generator *g, tn__role role, const char *prefix, const tn__window *w)
{
    tn__plan *p = g->plan;
    for (int k = 0; k < p->rank; k++) {
        if (g->role[k] != role || p->dim[k] == 1 || w->stride[k] == 0) continue;
        if (w->stride[k] == 1) tn__text_add(&g->macros, " + %sc%d", prefix, k);
        else tn__text_add(&g->macros, " + %sc%d * e%d", prefix, k, tn__parameter(p, w->stride[k]));
    }
}

/* Places of a section's inputs (letter p) or of the outputs (letter q) at the OUTER or MIDDLE level. */
static void put_level(tn__generator *g, int section, tn__role role, const char *name, const char *argument)
{
    tn__plan *p = g->plan;
    const char *prefix = section_names[section];
    const bool outer = role == TN__OUTER, end = section == TN__SECTION_END;
    const char *mine = outer ? "o" : "m", *below = "o";
    tn__text_add(&g->macros, "#define %s_%s(%s)", prefix, name, argument);
    put_coordinates(g, role, prefix, argument);
    for (int i = 0; i < p->inputs_count; i++) {
        if (p->inputs[i].section != section) continue;
        const tn__window *w = &p->inputs[i].window;
        if (outer) tn__text_add(&g->macros, " \\\n    const IDX op%d = e%d", i, tn__parameter(p, p->inputs[i].value ? p->inputs[i].value->base + w->offset : w->offset));
        else tn__text_add(&g->macros, " \\\n    const IDX %sp%d = %sp%d", mine, i, below, i);
        put_place(g, role, prefix, w);
        tn__text_puts(&g->macros, ";");
        /* an element that does not move further in is loaded here */
        const bool still = inner_stride(g, w) == 0 && p->inputs[i].value && !g->places_only;
        if (still && outer == !moves(g, w, TN__MIDDLE))
            tn__text_add(&g->macros, " const T%c h%d = (T%c)(LOAD1_%s(p%d, %sp%d));", tn__letters[tn__dtypes[p->inputs[i].dtype].compute], i,
                         tn__letters[tn__dtypes[p->inputs[i].dtype].compute], tn_dtype_name(p->inputs[i].dtype), p->inputs[i].pointer, mine, i);
    }
    for (int i = 0; end && i < p->outputs_count; i++) {
        const tn__window *w = &p->outputs[i].window;
        if (outer) tn__text_add(&g->macros, " \\\n    const IDX oq%d = e%d", i, tn__parameter(p, p->outputs[i].base + w->offset));
        else tn__text_add(&g->macros, " \\\n    const IDX %sq%d = %sq%d", mine, i, below, i);
        put_place(g, role, prefix, w);
        tn__text_puts(&g->macros, ";");
    }
    tn__text_puts(&g->macros, "\n");
}

/* ---- steps ---- */

static void put_load(tn__generator *g, const tn__step *step)
{
    tn__plan *p = g->plan;
    const int i = step->a[0];
    const tn__plan_input *in = &p->inputs[i];
    const int64_t stride = inner_stride(g, &in->window);
    const char *name = tn_dtype_name(in->dtype);
    if (stride == 0) tn__text_add(&g->macros, "h%d", i);
    else if (g->single)
        tn__text_add(&g->macros, "(T%c)(LOAD1_%s(p%d, mp%d + (i) * e%d))", tn__letters[tn__dtypes[in->dtype].compute], name, in->pointer, i,
                     tn__parameter(p, stride));
    else if (stride == 1) tn__text_add(&g->macros, "LOAD_%s(p%d, mp%d + (i))", name, in->pointer, i);
    else {
        const int e = tn__parameter(p, stride);
        tn__text_add(&g->macros, "(T%c)(", tn__letters[tn__dtypes[in->dtype].compute]);
        for (int lane = 0; lane < p->width; lane++)
            tn__text_add(&g->macros, "%sLOAD1_%s(p%d, mp%d + ((i) + %d) * e%d)", lane ? ", " : "", name, in->pointer, i, lane, e);
        tn__text_puts(&g->macros, ")");
    }
}

static void put_apply(tn__generator *g, const tn__step *step)
{
    static const char *const words[] = {"A", "B", "C"};
    char names[3][16];
    const char *list[3] = {names[0], names[1], names[2]};
    for (int i = 0; i < 3; i++) snprintf(names[i], sizeof names[i], "v%d", step->a[i]);
    const tn__dtype_facts *facts = &tn__dtypes[step->from];
    const char *text = step->row->text[facts->kind == TN__FLOAT ? 0 : facts->kind == TN__BOOL ? 2 : 1];
    const bool boolean = step->dtype == TN_BOOL && step->from != TN_BOOL;
    if (boolean) tn__text_add(&g->macros, "BOOL_%c(", tn__letters[facts->compute]);
    else tn__text_add(&g->macros, "ROUND_%s(", tn_dtype_name(step->dtype));
    tn__generate_text(g, &g->macros, text ? text : "A", facts->compute, words, list, step->row->arity);
    tn__text_puts(&g->macros, ")");
}

static void put_convert(tn__generator *g, const tn__step *step)
{
    const tn__dtype_facts *from = &tn__dtypes[step->from], *to = &tn__dtypes[step->dtype];
    const char lf = tn__letters[from->compute], lt = tn__letters[to->compute];
    const int v = step->a[0];
    if (step->from == step->dtype) tn__text_add(&g->macros, "v%d", v); /* a copy */
    else if (step->dtype == TN_BOOL) tn__text_add(&g->macros, "BOOL_%c(v%d)", lf, v);
    else if (to->kind == TN__FLOAT && to->size == 2) {
        const bool exact = from->compute == TN__CF || from->size <= 2;
        if (!exact) g->uses |= from->compute == TN__CD ? USES_ODD_D : USES_ODD_M;
        tn__text_add(&g->macros, exact ? "ROUND_%s(CONV_%c_f(v%d))" : "ROUND_%s(ODD_%c(v%d))", to->name, lf, v);
    } else if (from->kind == TN__FLOAT && to->kind != TN__FLOAT)
        tn__text_add(&g->macros, "CLIP_%s(CONV_%c_%c(v%d))", to->name, lf, lt, v);
    else tn__text_add(&g->macros, "ROUND_%s(CONV_%c_%c(v%d))", to->name, lf, lt, v);
}

static void put_draw(tn__generator *g, const tn__step *step)
{
    const int i = step->a[0];
    const int64_t stride = inner_stride(g, &g->plan->inputs[i].window);
    static const char *const forms[] = {"UNIFORM", "NORMAL", "INTEGER"};
    g->uses |= USES_RANDOM;
    tn__text_add(&g->macros, "ROUND_%s(DRAW_%s_%s(LANES(mp%d, (i), %" PRId64 "), v%d, v%d, v%d, v%d))", tn_dtype_name(step->dtype),
                 forms[step->node->a.random.form], tn_dtype_name(step->dtype), i, stride, step->a[1], step->a[2], step->a[3], step->a[4]);
}

static void note_dtype(tn__generator *g, tn_dtype d)
{
    if (d == TN_F16) g->uses |= USES_F16;
    if (d == TN_BF16) g->uses |= USES_BF16;
    if (d == TN_F64) g->uses |= USES_DOUBLE;
}

static void put_step(tn__generator *g, int s)
{
    const tn__step *step = &g->plan->steps[s];
    const char l = tn__letters[tn__dtypes[step->dtype].compute];
    note_dtype(g, step->dtype);
    tn__text_add(&g->macros, " \\\n    const T%c v%d = ", l, s);
    switch (step->kind) {
    case TN__LOAD: put_load(g, step); break;
    case TN__NUMBER: tn__text_add(&g->macros, "(T%c)(k%d)", l, step->a[0]); break;
    case TN__APPLY: note_dtype(g, step->from); put_apply(g, step); break;
    case TN__CONVERT: note_dtype(g, step->from); put_convert(g, step); break;
    case TN__DRAW: put_draw(g, step); break;
    case TN__RESULT: tn__text_puts(&g->macros, "RESULT"); break;
    }
    tn__text_puts(&g->macros, ";");
}

static void put_store(tn__generator *g)
{
    tn__plan *p = g->plan;
    tn__text_add(&g->macros, "#define %s_STORE(i)", g->single ? "S" : "E");
    for (int o = 0; o < p->outputs_count; o++) {
        const tn__plan_output *out = &p->outputs[o];
        const int64_t stride = inner_stride(g, &out->window);
        const char *name = tn_dtype_name(out->dtype);
        note_dtype(g, out->dtype);
        if (g->single) {
            tn__text_add(&g->macros, " \\\n    STORE1_%s(q%d, mq%d + (i) * e%d, LANE0(v%d));", name, out->pointer, o, tn__parameter(p, stride), out->step);
            continue;
        }
        if (stride == 1 || p->width == 1) {
            tn__text_add(&g->macros, " \\\n    STORE_%s(q%d, mq%d", name, out->pointer, o);
            if (stride == 1) tn__text_puts(&g->macros, " + (i)");
            else if (stride != 0) tn__text_add(&g->macros, " + (i) * e%d", tn__parameter(p, stride));
            tn__text_add(&g->macros, ", v%d);", out->step);
            continue;
        }
        /* one element for all lanes: widths above 1 are chosen only where outputs are contiguous or stand still */
        tn__text_add(&g->macros, " \\\n    STORE1_%s(q%d, mq%d, LANE0(v%d));", name, out->pointer, o, out->step);
    }
    tn__text_puts(&g->macros, "\n");
}

void tn__generate_section(tn__generator *g, int section)
{
    tn__plan *p = g->plan;
    put_level(g, section, TN__OUTER, "OUTER", "o");
    put_level(g, section, TN__MIDDLE, "MIDDLE", "m");
    tn__text_add(&g->macros, "#define %s_EVAL(i)", section_names[section]);
    for (int s = 0; s < p->steps_count; s++)
        if (p->steps[s].section == section) put_step(g, s);
    tn__text_puts(&g->macros, "\n");
    if (section == TN__SECTION_END) put_store(g);
    else tn__text_add(&g->macros, "#define %s_VALUE v%d\n", section_names[section], p->sources[section]);
}

void tn__generate_places(tn__generator *g, int section)
{
    g->places_only = true;
    put_level(g, section, TN__OUTER, "OUTER", "o");
    g->places_only = false;
}

void tn__generate_single(tn__generator *g)
{
    tn__plan *p = g->plan;
    g->single = true;
    tn__text_puts(&g->macros, "#define S_EVAL(i)");
    for (int s = 0; s < p->steps_count; s++)
        if (p->steps[s].section == TN__SECTION_END) put_step(g, s);
    tn__text_puts(&g->macros, "\n");
    put_store(g);
    g->single = false;
}

int tn__generate_form(tn__generator *g, int section, const char *form, const char *name)
{
    tn__plan *p = g->plan;
    tn__text macros = g->macros; /* steps go to g->macros; here they are a function's body */
    tn__text numbers = {0}, values = {0};
    static const char *const scalars[] = {"float", "double", "int", "uint", "long", "ulong"};
    int load = -1;
    g->macros = (tn__text){0};
    for (int s = 0; s < p->steps_count; s++) {
        const tn__step *step = &p->steps[s];
        if (step->section != section) continue;
        if (step->kind == TN__LOAD) {
            load = s;
            continue;
        }
        if (step->kind == TN__NUMBER) {
            tn__text_add(&numbers, ", const %s k%d", scalars[p->numbers[step->a[0]].compute], step->a[0]);
            tn__text_add(&values, ", k%d", step->a[0]);
        }
        put_step(g, s);
    }
    const tn__plan_input *in = &p->inputs[p->steps[load].a[0]];
    const char from = tn__letters[tn__dtypes[in->dtype].compute], to = tn__letters[tn__dtypes[p->steps[p->sources[section]].dtype].compute];
    note_dtype(g, in->dtype);
    tn__text_add(&macros, "#define %s_BODY%s\n", form, g->macros.data ? g->macros.data : "");
    tn__text_add(&macros, "static T%c %s(const T%c v%d%s)\n{\n    %s_BODY\n    return v%d;\n}\n", to, form, from, load, numbers.data ? numbers.data : "",
                 form, p->sources[section]);
    tn__text_add(&macros, "#define %sW(place) %s(LOAD_%s(p%d, place)%s)\n", name, form, tn_dtype_name(in->dtype), in->pointer, values.data ? values.data : "");
    if (load == p->sources[section]) tn__text_add(&macros, "#define %s(place) LOAD1_%s(p%d, place)\n", name, tn_dtype_name(in->dtype), in->pointer);
    else
        tn__text_add(&macros, "#define %s(place) LANE0(%s((T%c)(LOAD1_%s(p%d, place))%s))\n", name, form, from, tn_dtype_name(in->dtype), in->pointer,
                     values.data ? values.data : "");
    macros.failed |= g->macros.failed || numbers.failed || values.failed;
    tn__text_free(&g->macros);
    tn__text_free(&numbers);
    tn__text_free(&values);
    g->macros = macros;
    return p->steps[load].a[0];
}

/* ---- the program ---- */

static bool is_wide(tn_dtype d)
{
    return tn__dtypes[d].compute == TN__CD || tn__dtypes[d].compute >= TN__CL;
}

int tn__plan_width(const tn__plan *p, const tn__role *role)
{
    int inner = -1;
    for (int k = 0; k < p->rank; k++)
        if (role[k] == TN__INNER) inner = k;
    /* a vector of the widest type fits a register: 64-bit values halve the lanes */
    bool wide_values = false;
    for (int s = 0; s < p->steps_count; s++) {
        const tn__step *step = &p->steps[s];
        wide_values = wide_values || step->kind == TN__DRAW || is_wide(step->dtype) || (step->kind == TN__APPLY && is_wide(step->from));
    }
    const int width = (p->deep ? p->device->vector_width : 4) / (wide_values ? 2 : 1);
    if (inner < 0 || p->dim[inner] < width) return 1;
    int contiguous = 0, strided = 0;
    for (int i = 0; i < p->inputs_count; i++) {
        const int64_t s = p->inputs[i].window.stride[inner];
        if (s == 1 || !p->inputs[i].value) contiguous++;
        else if (s != 0) strided++;
    }
    for (int o = 0; o < p->outputs_count; o++)
        if (p->outputs[o].window.stride[inner] != 1 && p->outputs[o].window.stride[inner] != 0) return 1;
    if (strided && (!p->deep || !contiguous)) return 1;
    return width;
}

static int64_t furthest(const tn__plan *p, const tn__window *w, int64_t base)
{
    int64_t reach = base + w->offset;
    for (int k = 0; k < p->rank; k++) reach += (w->stride[k] < 0 ? -w->stride[k] : w->stride[k]) * (p->dim[k] - 1);
    return reach;
}

void tn__generator_start(tn__generator *g, tn__plan *p, const tn__role *role, int width, int64_t extra)
{
    int64_t most = extra;
    memset(g, 0, sizeof *g);
    g->plan = p;
    memcpy(g->role, role, (size_t)p->rank * sizeof role[0]);
    p->width = width;
    p->parameters_count = 0;
    for (int i = 0; i < p->inputs_count; i++) {
        const int64_t f = furthest(p, &p->inputs[i].window, p->inputs[i].value ? p->inputs[i].value->base : 0);
        if (f > most) most = f;
    }
    for (int o = 0; o < p->outputs_count; o++)
        if (furthest(p, &p->outputs[o].window, p->outputs[o].base) > most) most = furthest(p, &p->outputs[o].window, p->outputs[o].base);
    int64_t points = 1;
    for (int k = 0; k < p->rank; k++) points *= p->dim[k];
    if (points > most) most = points;
    p->wide_index = most > INT32_MAX - (1 << 20);
}

static void put_parameters(tn__generator *g, tn__text *t)
{
    tn__plan *p = g->plan;
    int pointers = 0;
    tn__text_puts(t, "#define PARAMS");
    for (int o = 0; o < p->outputs_count; o++)
        tn__text_add(t, " __global P_%s *restrict q%d,", tn_dtype_name(p->outputs[o].dtype), o);
    for (int i = 0; i < p->inputs_count; i++) {
        note_dtype(g, p->inputs[i].dtype);
        if (!p->inputs[i].value || p->inputs[i].pointer != pointers) continue;
        tn__text_add(t, " __global const P_%s *restrict p%d,", tn_dtype_name(p->inputs[i].dtype), pointers++);
    }
    static const char *const scalars[] = {"float", "double", "int", "uint", "long", "ulong"};
    for (int n = 0; n < p->numbers_count; n++) {
        if (p->numbers[n].compute == TN__CD) g->uses |= USES_DOUBLE;
        tn__text_add(t, " const %s k%d,", scalars[p->numbers[n].compute], n);
    }
    const uint64_t bytes = 8u * (uint64_t)(p->outputs_count + pointers + p->numbers_count) + (p->wide_index ? 8u : 4u) * (uint64_t)p->parameters_count + 128;
    p->parameters_in_buffer = bytes > p->device->parameter_bytes;
    if (p->parameters_in_buffer) tn__text_puts(t, " __global const long *restrict meta,");
    else
        for (int e = 0; e < p->parameters_count; e++) tn__text_add(t, " const IDX e%d,", e);
    tn__text_puts(t, "\n");
    for (int e = 0; p->parameters_in_buffer && e < p->parameters_count; e++) tn__text_add(t, "#define e%d ((IDX)meta[%d])\n", e, e);
}

static tn_status put_file(tn__text *t, const char *name)
{
    size_t length = 0;
    const char *text = tn__kernel_source(name, &length);
    if (!text) return tn_last_status();
    tn__text_put(t, text, length);
    return TN_OK;
}

/* The whole program: what the plan defines, the macro files, what the plan generated, the kernel's file. */
static tn__kernel *build_kernel(const tn__plan *p, const char *file, const char *kernel)
{
    tn__text t = {0};
    tn__kernel *built = NULL;
    tn__text_puts(&t, p->head.data);
    tn_status status = put_file(&t, "scalar.cl");
    if (status == TN_OK) status = put_file(&t, "convert.cl");
    if (status == TN_OK && p->draws) status = put_file(&t, "random.cl");
    tn__text_puts(&t, p->text.data);
    if (status == TN_OK) status = put_file(&t, file);
    if (status == TN_OK && t.failed) (void)tn__fail(TN_MEMORY, "no memory for the text of a kernel");
    else if (status == TN_OK) built = tn__kernel_get(p->device, t.data, t.length, kernel);
    tn__text_free(&t);
    return built;
}

/* Kernels are found by what their plans generated; the full text is put together for new ones only. */
tn__kernel *tn__plan_kernel(const tn__plan *p, const char *file, const char *kernel)
{
    tn__text key = {0};
    tn__text_add(&key, "%s %s %llu\n", file, kernel, (unsigned long long)tn__settings_version());
    tn__text_put(&key, p->head.data, p->head.length);
    tn__text_put(&key, p->text.data, p->text.length);
    tn__kernel *k = key.failed ? NULL : tn__graph_kernel(p->device, key.data, key.length);
    if (!k) {
        k = build_kernel(p, file, kernel);
        if (k && !key.failed) tn__graph_remember(p->device, key.data, key.length, k);
    }
    tn__text_free(&key);
    return k;
}

tn_status tn__generator_finish(tn__generator *g, const char *file, const char *kernel)
{
    tn__plan *p = g->plan;
    tn__text parameters = g->parameters, *t = &p->head;
    static const char *const uses[] = {"USES_f16", "USES_bf16", "USES_DOUBLE", "USES_ODD_m", "USES_ODD_d", "USES_FMOD_f", "USES_FMOD_d"};
    g->parameters = (tn__text){0};
    if (!parameters.data) put_parameters(g, &parameters);
    tn__text_free(t);
    tn__text_add(t, "#define W %d\n#define DEEP %d\n#define IDX %s\n", p->width, p->deep, p->wide_index ? "long" : "int");
    for (int u = 0; u < 7; u++)
        if (g->uses & (1u << u)) tn__text_add(t, "#define %s\n", uses[u]);
    if (g->defines.data) tn__text_puts(t, g->defines.data);
    p->draws = (g->uses & USES_RANDOM) != 0;
    tn__text_free(&p->text);
    if (g->functions.data) tn__text_puts(&p->text, g->functions.data);
    tn__text_puts(&p->text, parameters.data ? parameters.data : "");
    if (g->macros.data) tn__text_puts(&p->text, g->macros.data);
    const bool failed = t->failed || p->text.failed || parameters.failed || g->macros.failed || g->functions.failed || g->defines.failed;
    tn__text_free(&parameters);
    tn__generator_free(g);
    if (failed) return tn__fail(TN_MEMORY, "no memory for the text of a kernel");
    p->kernel = tn__plan_kernel(p, file, kernel);
    if (!p->kernel) return tn_last_status();
    if (!p->parameters_in_buffer) return TN_OK;
    const uint64_t bytes = (uint64_t)p->parameters_count * 8;
    if (!p->meta && !(p->meta = tn__buffer_new(p->device, bytes))) return tn_last_status();
    return tn__buffer_write(p->meta, 0, p->parameters, bytes);
}

void tn__generator_free(tn__generator *g)
{
    tn__text_free(&g->macros);
    tn__text_free(&g->functions);
    tn__text_free(&g->parameters);
    tn__text_free(&g->defines);
}

/* ---- arguments ---- */

void tn__argument_int(tn__argument *a, int *count, int32_t v)
{
    a[*count] = (tn__argument){.size = 4, .value.i32 = v};
    ++*count;
}

void tn__argument_index(const tn__plan *p, tn__argument *a, int *count, int64_t v)
{
    if (p->wide_index) a[*count] = (tn__argument){.size = 8, .value.i64 = v};
    else a[*count] = (tn__argument){.size = 4, .value.i32 = (int32_t)v};
    ++*count;
}

tn__argument tn__number_argument(const tn__number *n)
{
    return (tn__argument){.size = n->compute == TN__CD || n->compute >= TN__CL ? 8 : 4, .value.u64 = n->m};
}

int tn__plan_arguments(const tn__plan *p, tn__argument *a)
{
    int n = 0, pointers = 0;
    for (int o = 0; o < p->outputs_count; o++) a[n++] = (tn__argument){.buffer = p->outputs[o].bytes};
    for (int i = 0; i < p->inputs_count; i++)
        if (p->inputs[i].value && p->inputs[i].pointer == pointers) {
            a[n++] = (tn__argument){.buffer = p->inputs[i].value->buffer};
            pointers++;
        }
    for (int k = 0; k < p->numbers_count; k++) a[n++] = tn__number_argument(&p->numbers[k]);
    if (p->meta) a[n++] = (tn__argument){.buffer = p->meta};
    for (int e = 0; !p->meta && e < p->parameters_count; e++) tn__argument_index(p, a, &n, p->parameters[e]);
    return n;
}

int tn__group_size(const tn__device *device, int most)
{
    const int bound = atomic_load(&device->group_bound);
    int size = 1;
    while (size * 2 <= most && (size_t)size * 2 <= device->info.max_work_group && (bound == 0 || size * 2 <= bound)) size *= 2;
    return size;
}

bool tn__group_fits(tn__plan *p)
{
    const size_t allowed = tn__kernel_max_group(p->kernel);
    if ((size_t)p->local <= allowed || p->local == 1) return true;
    atomic_store(&p->device->group_bound, (int)allowed);
    return false;
}

void tn__plan_save_stage(tn__plan *p, int i)
{
    tn__stage *stage = &p->stages[i];
    tn__free(stage->parameters);
    tn__buffer_release(stage->meta);
    *stage = (tn__stage){p->kernel, p->parameters, p->parameters_count, p->meta};
    p->parameters = NULL;
    p->parameters_count = p->parameters_capacity = 0;
    p->meta = NULL;
}

int tn__stage_arguments(tn__plan *p, int i, tn__argument *a)
{
    const tn__stage *stage = &p->stages[i];
    tn__plan with = *p;
    with.parameters = stage->parameters;
    with.parameters_count = stage->parameters_count;
    with.meta = stage->meta;
    return tn__plan_arguments(&with, a);
}
