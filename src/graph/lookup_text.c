/* Lookups as OpenCL C: one for each lane, or neighbours of a line at once. */
#include "graph/generate.h"
#include <stdio.h>

/* Whether a step has the same value in all lanes. */
static bool is_splat(const tn__generator *g, int step)
{
    const tn__plan *p = g->plan;
    bool splat[TN__NODE_OPERATIONS * 4] = {false};
    if (p->width == 1 || g->single) return true;
    if (step >= TN__NODE_OPERATIONS * 4) return false;
    for (int s = 0; s <= step; s++) {
        const tn__step *at = &p->steps[s];
        switch (at->kind) {
        case TN__NUMBER: splat[s] = true; break;
        case TN__LOAD: splat[s] = tn__inner_stride(g, &p->inputs[at->a[0]].window) == 0; break;
        case TN__CONVERT: splat[s] = splat[at->a[0]]; break;
        case TN__APPLY:
            splat[s] = true;
            for (int i = 0; i < at->row->arity; i++) splat[s] = splat[s] && splat[at->a[i]];
            break;
        default: break;
        }
    }
    return splat[step];
}

/* The function of a step that searches or folds. */
static void put_function(tn__generator *g, int s)
{
    const tn__step *step = &g->plan->steps[s];
    const tn__lookup *lookup = &step->node->a.lookup;
    const tn_dtype dtype = g->plan->inputs[step->a[1]].dtype;
    const tn__kind kind = tn__dtypes[dtype].kind;
    const tn__compute c = tn__dtypes[dtype].compute;
    static const char *const words[] = {"A", "B"}, *const names[] = {"a", "v"};
    tn__text combine = {0};
    if (lookup->form == TN__FOLD)
        tn__generate_text(g, &combine, tn__rows[lookup->row].text[kind == TN__FLOAT ? 0 : kind == TN__BOOL ? 2 : 1], c, words, names, 2);
    tn__text_add(&g->functions, "#ifndef LOOK_%d\n#define LOOK_%d look_%d\n", s, s, s);
    if (lookup->form == TN__FOLD)
        tn__text_add(&g->functions, "FOLD(look_%d, %s, %s, T%c, %d, %s)\n", s, tn_dtype_name(dtype), tn__scalar_names[c], tn__letters[c],
                     (int)TN__FOLD_BASE, combine.data ? combine.data : "");
    else
        tn__text_add(&g->functions, "SEARCH(look_%d, %s, %s, %s, %s)\n", s, tn_dtype_name(dtype), tn__scalar_names[c],
                     kind == TN__FLOAT ? "BEFORE_F" : "BEFORE_I", lookup->form == TN__SEARCH_LEFT ? "LEFT" : "RIGHT");
    tn__text_puts(&g->functions, "#endif\n");
    g->functions.failed |= combine.failed;
    tn__text_free(&combine);
}

static int number_of(const tn__generator *g, int step)
{
    return g->plan->steps[step].a[0];
}

/* What one lane finds; with whole, what all lanes find, of neighbours. lane: ".s0" …, "" where all lanes have the same key. */
static void put_lane(tn__generator *g, int s, const char *lane, int number, bool whole)
{
    const tn__step *step = &g->plan->steps[s];
    const tn__lookup_form form = step->node->a.lookup.form;
    const int input = step->a[1];
    tn__text *out = &g->macros;
    const char *first = *lane ? "" : "LANE0";
    if (form == TN__PLACE) {
        tn__text_add(out, "AT(%s(v%d)%s, k%d, k%d)", first, step->a[0], lane, number_of(g, step->a[2]), number_of(g, step->a[4]));
        return;
    }
    const tn__plan_input *in = &g->plan->inputs[input];
    const int64_t stride = tn__inner_stride(g, &in->window);
    if (form == TN__GATHER)
        tn__text_add(out, "%s_%s(p%d, mp%d", whole ? "LOAD" : "LOAD1", tn_dtype_name(in->dtype), in->pointer, input);
    else
        tn__text_add(out, "LOOK_%d(p%d, mp%d", s, in->pointer, input);
    if (stride != 0) tn__text_add(out, " + ((i) + %d) * e%d", number, tn__parameter(g->plan, stride));
    if (form == TN__GATHER)
        tn__text_add(out, " + AT(%s(v%d)%s, k%d, k%d) * (IDX)k%d)", first, step->a[0], lane, number_of(g, step->a[2]),
                     number_of(g, step->a[4]), number_of(g, step->a[3]));
    else
        tn__text_add(out, ", k%d, (IDX)k%d, %s(v%d)%s", number_of(g, step->a[2]), number_of(g, step->a[3]), first, step->a[0], lane);
    if (form == TN__FOLD) tn__text_add(out, ", %s(v%d)%s", first, step->a[4], lane);
    if (form != TN__GATHER) tn__text_puts(out, ")");
}

void tn__generate_lookup(tn__generator *g, int s)
{
    const tn__step *step = &g->plan->steps[s];
    const tn__lookup_form form = step->node->a.lookup.form;
    const int64_t stride = form == TN__PLACE ? 0 : tn__inner_stride(g, &g->plan->inputs[step->a[1]].window);
    const bool splat = is_splat(g, step->a[0]) && (form != TN__FOLD || is_splat(g, step->a[4]));
    if (form != TN__PLACE) tn__note_dtype(g, g->plan->inputs[step->a[1]].dtype);
    if (form != TN__PLACE && form != TN__GATHER) put_function(g, s);
    if (form == TN__GATHER && splat && stride == 1 && !g->single) { /* neighbours of one line */
        put_lane(g, s, "", 0, true);
        return;
    }
    const int lanes = splat && (stride == 0 || g->single) ? 1 : g->plan->width;
    tn__text_add(&g->macros, "ROUND_%s((T%c)(", tn_dtype_name(step->dtype), tn__letters[tn__dtypes[step->dtype].compute]);
    for (int lane = 0; lane < lanes; lane++) {
        char name[12] = "";
        if (!splat) snprintf(name, sizeof name, ".s%x", (unsigned)lane);
        if (lane) tn__text_puts(&g->macros, ", ");
        put_lane(g, s, name, lane, false);
    }
    tn__text_puts(&g->macros, "))");
}
