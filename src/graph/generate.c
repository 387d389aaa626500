/* The macros of a plan: places of inputs and outputs, steps, stores. */
#include "graph/generate.h"
#include "base/alloc.h"
#include <inttypes.h>
#include <string.h>

static const char *const section_names[TN__SECTIONS] = {"P0", "P1", "P2", "E"};

/* ---- places ---- */

int tn__parameter(tn__plan *p, int64_t v)
{
    if (p->parameters_count == p->parameters_capacity) {
        const int capacity = p->parameters_capacity ? p->parameters_capacity * 2 : 32;
        int64_t *grown = tn__realloc(p->parameters, (size_t)capacity * sizeof *grown);
        if (!grown) {
            p->parameters_lost = true;
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

int64_t tn__inner_stride(const tn__generator *g, const tn__window *w)
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
    for (int at = p->rank - 1; at >= 0; at--)
        if (g->role[g->order[at]] == role && p->dim[g->order[at]] != 1) first = at;
    const char *rest = from;
    char names[2][24];
    int turn = 0;
    for (int at = p->rank - 1; at >= first; at--) {
        const int k = g->order[at];
        if (g->role[k] != role || p->dim[k] == 1) continue;
        if (at == first) {
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

/* A parameter that says where an input or an output begins. */
static int begin_at(tn__plan *p, int16_t *place, int64_t v)
{
    const int e = tn__parameter(p, v);
    if (*place) p->exact_places = true;
    *place = (int16_t)(e + 1);
    return e;
}

static void put_place(tn__generator *g, tn__role role, const char *prefix, const tn__window *w)
{
    tn__plan *p = g->plan;
    for (int k = 0; k < p->rank; k++) {
        if (g->role[k] != role || p->dim[k] == 1 || w->stride[k] == 0) continue;
        if (w->stride[k] == 1)
            tn__text_add(&g->macros, " + %sc%d", prefix, k);
        else
            tn__text_add(&g->macros, " + %sc%d * e%d", prefix, k, tn__parameter(p, w->stride[k]));
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
    char point[8]; /* what the kernel gives for it may be a sum */
    snprintf(point, sizeof point, "(%s)", argument);
    put_coordinates(g, role, prefix, point);
    for (int i = 0; i < p->inputs_count; i++) {
        if (p->inputs[i].section != section) continue;
        const tn__window *w = &p->inputs[i].window;
        if (outer)
            tn__text_add(&g->macros, " \\\n    const IDX op%d = e%d", i,
                         begin_at(p, &p->input_place[i], p->inputs[i].value ? p->inputs[i].value->base + w->offset : w->offset));
        else
            tn__text_add(&g->macros, " \\\n    const IDX %sp%d = %sp%d", mine, i, below, i);
        put_place(g, role, prefix, w);
        tn__text_puts(&g->macros, ";");
        /* an element that does not move further in is loaded here */
        const bool still = tn__inner_stride(g, w) == 0 && p->inputs[i].value && !p->inputs[i].table && !g->places_only;
        if (still && outer == !moves(g, w, TN__MIDDLE))
            tn__text_add(&g->macros, " const T%c h%d = (T%c)(LOAD1_%s(p%d, %sp%d));",
                         tn__letters[tn__dtypes[p->inputs[i].dtype].compute], i,
                         tn__letters[tn__dtypes[p->inputs[i].dtype].compute], tn_dtype_name(p->inputs[i].dtype),
                         p->inputs[i].pointer, mine, i);
    }
    for (int i = 0; end && i < p->outputs_count; i++) {
        const tn__window *w = &p->outputs[i].window;
        if (outer)
            tn__text_add(&g->macros, " \\\n    const IDX oq%d = e%d", i, begin_at(p, &p->output_place[i], p->outputs[i].base + w->offset));
        else
            tn__text_add(&g->macros, " \\\n    const IDX %sq%d = %sq%d", mine, i, below, i);
        put_place(g, role, prefix, w);
        tn__text_puts(&g->macros, ";");
    }
    tn__text_puts(&g->macros, "\n");
}

/* ---- tiles ---- */

static bool is_tile(const tn__generator *g, const tn__plan_input *in)
{
    if (!g->tiled || !in->value || in->table) return false;
    for (int k = 0; k < g->plan->rank; k++)
        if (g->role[k] == TN__MIDDLE) return tn__is_turned(&in->window, k, inner_axis(g));
    return false;
}

void tn__generate_tiles(tn__generator *g)
{
    tn__plan *p = g->plan;
    g->tiled = true;
    tn__text_puts(&g->macros, "#define DECLARE_TILES");
    for (int i = 0; i < p->inputs_count; i++)
        if (is_tile(g, &p->inputs[i])) tn__text_add(&g->macros, " VEC(P_%s) t%d[BESIDE][W];", tn_dtype_name(p->inputs[i].dtype), i);
    tn__text_puts(&g->macros, "\n#define E_TILES(m, i, n)");
    for (int i = 0; i < p->inputs_count; i++) {
        const tn__plan_input *in = &p->inputs[i];
        if (!is_tile(g, in)) continue;
        const int e = tn__parameter(p, tn__inner_stride(g, &in->window));
        tn__text_add(&g->macros, " \\\n    TILE(P_%s, t%d[n], p%d, op%d + (m) + (i) * e%d, e%d)", tn_dtype_name(in->dtype), i,
                     in->pointer, i, e, e);
    }
    tn__text_puts(&g->macros, "\n");
}

bool tn__is_turned(const tn__window *w, int axis, int inner)
{
    return w->stride[axis] == 1 && w->stride[inner] != 0 && w->stride[inner] != 1;
}

/* ---- steps ---- */

static void put_load(tn__generator *g, const tn__step *step)
{
    tn__plan *p = g->plan;
    const int i = step->a[0];
    const tn__plan_input *in = &p->inputs[i];
    const int64_t stride = tn__inner_stride(g, &in->window);
    const char *name = tn_dtype_name(in->dtype);
    if (stride == 0)
        tn__text_add(&g->macros, "h%d", i);
    else if (is_tile(g, in))
        tn__text_add(&g->macros, "FROM_%s(t%d[n][r])", name, i);
    else if (g->single)
        tn__text_add(&g->macros, "(T%c)(LOAD1_%s(p%d, mp%d + (i) * e%d))", tn__letters[tn__dtypes[in->dtype].compute], name,
                     in->pointer, i, tn__parameter(p, stride));
    else if (stride == 1)
        tn__text_add(&g->macros, "LOAD_%s(p%d, mp%d + (i))", name, in->pointer, i);
    else {
        const int e = tn__parameter(p, stride);
        tn__text_add(&g->macros, "(T%c)(", tn__letters[tn__dtypes[in->dtype].compute]);
        for (int lane = 0; lane < p->width; lane++)
            tn__text_add(&g->macros, "%sLOAD1_%s(p%d, mp%d + ((i) + %d) * e%d)", lane ? ", " : "", name, in->pointer, i, lane, e);
        tn__text_puts(&g->macros, ")");
    }
}

/* The limits of a float dtype as literals. */
static const char *const limits[TN_DTYPE_COUNT][TN__LIMITS] = {
#define DT(id, name, bytes, kind, compute, bits, unit, least, largest) [TN_##id] = {#unit, #least, #largest},
#include "tables/dtypes.def"
#undef DT
};

static void put_apply(tn__generator *g, const tn__step *step)
{
    const tn__dtype_facts *facts = &tn__dtypes[step->from];
    static const char *const words[] = {"A", "B", "C", "UNIT", "LEAST", "LARGEST"};
    enum { WORDS = sizeof words / sizeof words[0] };
    char names[WORDS][48];
    const char *list[WORDS];
    if (g->macros.failed) return;
    for (int i = 0; i < WORDS; i++) {
        list[i] = names[i];
        if (i < 3)
            snprintf(names[i], sizeof names[i], "v%d", step->a[i]);
        else
            snprintf(names[i], sizeof names[i], "((T%c)(%s%s))", tn__letters[facts->compute], limits[step->from][i - 3],
                     facts->compute == TN__CF ? "f" : "");
    }
    const char *text = step->row->text[facts->kind == TN__FLOAT ? 0 : facts->kind == TN__BOOL ? 2 : 1];
    const bool boolean = step->dtype == TN_BOOL && step->from != TN_BOOL;
    if (boolean)
        tn__text_add(&g->macros, "BOOL_%c(", tn__letters[facts->compute]);
    else
        tn__text_add(&g->macros, "ROUND_%s(", tn_dtype_name(step->dtype));
    tn__generate_text(g, &g->macros, text ? text : "A", facts->compute, words, list, WORDS);
    tn__text_puts(&g->macros, ")");
}

static void put_convert(tn__generator *g, const tn__step *step)
{
    const tn__dtype_facts *from = &tn__dtypes[step->from], *to = &tn__dtypes[step->dtype];
    const char lf = tn__letters[from->compute], lt = tn__letters[to->compute];
    const int v = step->a[0];
    if (step->from == step->dtype)
        tn__text_add(&g->macros, "v%d", v); /* a copy */
    else if (step->dtype == TN_BOOL)
        tn__text_add(&g->macros, "BOOL_%c(v%d)", lf, v);
    else if (to->kind == TN__FLOAT && to->size == 2) {
        const bool exact = from->compute == TN__CF || from->size <= 2;
        if (!exact) g->uses |= from->compute == TN__CD ? TN__USES_ODD_D : TN__USES_ODD_M;
        tn__text_add(&g->macros, exact ? "ROUND_%s(CONV_%c_f(v%d))" : "ROUND_%s(ODD_%c(v%d))", to->name, lf, v);
    } else if (from->kind == TN__FLOAT && to->kind != TN__FLOAT)
        tn__text_add(&g->macros, "CLIP_%s(CONV_%c_%c(v%d))", to->name, lf, lt, v);
    else
        tn__text_add(&g->macros, "ROUND_%s(CONV_%c_%c(v%d))", to->name, lf, lt, v);
}

static void put_draw(tn__generator *g, const tn__step *step)
{
    const int i = step->a[0];
    const int64_t stride = tn__inner_stride(g, &g->plan->inputs[i].window);
    static const char *const forms[] = {"UNIFORM", "NORMAL", "INTEGER", "NUMBER"};
    g->uses |= TN__USES_RANDOM;
    tn__text_add(&g->macros, "ROUND_%s(DRAW_%s_%s(LANES(mp%d, (i), %" PRId64 "), v%d, v%d, v%d, v%d))", tn_dtype_name(step->dtype),
                 forms[step->node->a.random.form], tn_dtype_name(step->dtype), i, stride, step->a[1], step->a[2], step->a[3],
                 step->a[4]);
}

void tn__note_dtype(tn__generator *g, tn_dtype d)
{
    if (d == TN_F16) g->uses |= TN__USES_F16;
    if (d == TN_BF16) g->uses |= TN__USES_BF16;
    if (d == TN_F64) g->uses |= TN__USES_DOUBLE;
}

static void put_step(tn__generator *g, int s)
{
    const tn__step *step = &g->plan->steps[s];
    const char l = tn__letters[tn__dtypes[step->dtype].compute];
    tn__note_dtype(g, step->dtype);
    tn__text_add(&g->macros, " \\\n    const T%c v%d = ", l, s);
    switch (step->kind) {
    case TN__LOAD: put_load(g, step); break;
    case TN__NUMBER: tn__text_add(&g->macros, "(T%c)(k%d)", l, step->a[0]); break;
    case TN__APPLY:
        tn__note_dtype(g, step->from);
        put_apply(g, step);
        break;
    case TN__CONVERT:
        tn__note_dtype(g, step->from);
        put_convert(g, step);
        break;
    case TN__DRAW: put_draw(g, step); break;
    case TN__LOOKUP: tn__generate_lookup(g, s); break;
    case TN__RESULT: tn__text_puts(&g->macros, step->a[0] == 0 ? "RESULT" : "RESULT1"); break;
    }
    tn__text_puts(&g->macros, ";");
}

static void put_store(tn__generator *g)
{
    tn__plan *p = g->plan;
    tn__text_add(&g->macros, "#define %s_STORE(i)", g->single ? "S" : "E");
    for (int o = 0; o < p->outputs_count; o++) {
        const tn__plan_output *out = &p->outputs[o];
        const int64_t stride = tn__inner_stride(g, &out->window);
        const char *name = tn_dtype_name(out->dtype);
        tn__note_dtype(g, out->dtype);
        if (g->single) {
            tn__text_add(&g->macros, " \\\n    STORE1_%s(q%d, mq%d + (i) * e%d, LANE0(v%d));", name, out->pointer, o,
                         tn__parameter(p, stride), out->step);
            continue;
        }
        if (stride == 1 || p->width == 1) {
            tn__text_add(&g->macros, " \\\n    STORE_%s(q%d, mq%d", name, out->pointer, o);
            if (stride == 1)
                tn__text_puts(&g->macros, " + (i)");
            else if (stride != 0)
                tn__text_add(&g->macros, " + (i) * e%d", tn__parameter(p, stride));
            tn__text_add(&g->macros, ", v%d);", out->step);
            continue;
        }
        /* the same element for all lanes, or a strided one for each */
        for (int lane = 0; lane < (stride == 0 ? 1 : p->width); lane++) {
            tn__text_add(&g->macros, " \\\n    STORE1_%s(q%d, mq%d", name, out->pointer, o);
            if (stride != 0) tn__text_add(&g->macros, " + ((i) + %d) * e%d", lane, tn__parameter(p, stride));
            tn__text_add(&g->macros, ", (v%d).s%x);", out->step, (unsigned)lane);
        }
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
    if (section == TN__SECTION_END)
        put_store(g);
    else
        tn__text_add(&g->macros, "#define %s_VALUE v%d\n", section_names[section], p->sources[section]);
}

void tn__generate_stream(tn__generator *g)
{
    const tn__device *device = g->plan->device;
    uint64_t bytes = 0;
    for (const tn__plan *p = g->plan; p; p = p->next_segment)
        for (int o = 0; o < p->outputs_count; o++)
            bytes += (uint64_t)p->outputs[o].value->count * (uint64_t)tn_dtype_size(p->outputs[o].dtype);
    if (g->plan->deep && device->cache_bytes && bytes > device->cache_bytes / 2) tn__text_puts(&g->defines, "#define STREAM\n");
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
            tn__text_add(&numbers, ", const %s k%d", tn__scalar_names[p->numbers[step->a[0]].compute], step->a[0]);
            tn__text_add(&values, ", k%d", step->a[0]);
        }
        put_step(g, s);
    }
    const tn__plan_input *in = &p->inputs[p->steps[load].a[0]];
    const char from = tn__letters[tn__dtypes[in->dtype].compute],
               to = tn__letters[tn__dtypes[p->steps[p->sources[section]].dtype].compute];
    tn__note_dtype(g, in->dtype);
    tn__text_add(&macros, "#define %s_BODY%s\n", form, g->macros.data ? g->macros.data : "");
    tn__text_add(&macros, "static T%c %s(const T%c v%d%s)\n{\n    %s_BODY\n    return v%d;\n}\n", to, form, from, load,
                 numbers.data ? numbers.data : "", form, p->sources[section]);
    tn__text_add(&macros, "#define %sW(place) %s(LOAD_%s(p%d, place)%s)\n", name, form, tn_dtype_name(in->dtype), in->pointer,
                 values.data ? values.data : "");
    if (load == p->sources[section])
        tn__text_add(&macros, "#define %s(place) LOAD1_%s(p%d, place)\n", name, tn_dtype_name(in->dtype), in->pointer);
    else
        tn__text_add(&macros, "#define %s(place) LANE0(%s((T%c)(LOAD1_%s(p%d, place))%s))\n", name, form, from,
                     tn_dtype_name(in->dtype), in->pointer, values.data ? values.data : "");
    macros.failed |= g->macros.failed || numbers.failed || values.failed;
    tn__text_free(&g->macros);
    tn__text_free(&numbers);
    tn__text_free(&values);
    g->macros = macros;
    return p->steps[load].a[0];
}
