/* Recipes: what generating a plan gave, found again by the plan's structure, so that a loop generates no text twice. A recipe is
 * kept by the device's graph and used under its run lock. */
#include "graph/recipe.h"
#include "base/alloc.h"
#include "base/map.h"
#include "base/settings.h"
#include "graph/graph.h"
#include <string.h>

enum { MOST_RECIPES = 1024, MOST_ALIKE = 8 };

struct tn__recipe {
    tn__stage own, stage[2];
    int width, inner, tiled, local;
    uint64_t global;
    bool wide_index, reports;
    int64_t *places; /* where inputs and outputs began: of all segments, in their order */
    int places_count;
    bool exact; /* no other places will do; else these parameters hold them: */
    int *place_parameter;
    uint64_t scratch[2]; /* bytes */
    tn__recipe *older;   /* for other places */
};

/* ---- the key ---- */

static void put_int(tn__text *t, int64_t v)
{
    tn__text_put(t, (const char *)&v, sizeof v);
}

static void put_window(tn__text *t, const tn__plan *p, const tn__window *w)
{
    tn__text_put(t, (const char *)w->stride, (size_t)p->rank * sizeof w->stride[0]);
}

static void put_step(tn__text *t, const tn__step *s)
{
    put_int(t, (int64_t)s->kind | (int64_t)s->section << 8 | (int64_t)s->from << 16 | (int64_t)s->dtype << 24);
    tn__text_put(t, (const char *)s->a, sizeof s->a);
    tn__text_put(t, (const char *)&s->row, sizeof s->row);
    if (s->kind == TN__DRAW) put_int(t, s->node->a.random.form);
    if (s->kind == TN__LOOKUP) tn__text_put(t, (const char *)&s->node->a.lookup, sizeof s->node->a.lookup);
}

static void put_plan(tn__text *t, const tn__plan *p)
{
    put_int(t, p->rank | p->deep << 8 | (p->written != NULL) << 9 | (int64_t)p->splits << 16);
    tn__text_put(t, (const char *)p->dim, (size_t)p->rank * sizeof p->dim[0]);
    tn__text_put(t, (const char *)p->group, (size_t)p->rank * sizeof p->group[0]);
    tn__text_put(t, (const char *)p->sources, sizeof p->sources);
    if (p->anchor) {
        const tn__node *node = p->anchor;
        tn__text_put(t, (const char *)&node->op, sizeof node->op);
        tn__text_put(t, (const char *)&node->a, sizeof node->a);
        put_int(t, (int64_t)node->dtype | (int64_t)(p->form != NULL) << 8);
        for (int i = 0; i < node->inputs; i++) {
            put_window(t, p, &p->operand[i]);
            put_int(t, node->in[i].value != NULL);
            put_int(t, node->in[i].dtype);
        }
        for (int r = 0; r < node->results; r++) put_int(t, node->out[r] != NULL);
    }
    put_window(t, p, &p->result);
    put_window(t, p, &p->place);
    put_int(t, p->inputs_count);
    for (int i = 0; i < p->inputs_count; i++) {
        const tn__plan_input *in = &p->inputs[i];
        put_int(t, (int64_t)in->dtype | in->table << 8 | (in->value != NULL) << 9 | (int64_t)in->section << 16);
        put_int(t, in->pointer);
        put_int(t, in->reach);
        put_window(t, p, &in->window);
    }
    put_int(t, p->outputs_count);
    for (int o = 0; o < p->outputs_count; o++) {
        const tn__plan_output *out = &p->outputs[o];
        put_int(t, (int64_t)out->dtype | (int64_t)out->pointer << 8);
        put_int(t, out->step);
        put_window(t, p, &out->window);
    }
    put_int(t, p->numbers_count);
    for (int n = 0; n < p->numbers_count; n++) put_int(t, p->numbers[n].compute);
    put_int(t, p->steps_count);
    for (int s = 0; s < p->steps_count; s++) put_step(t, &p->steps[s]);
}

static tn_status describe(tn__plan *head, tn__text *key)
{
    put_int(key, (int64_t)tn__settings_version());
    for (const tn__plan *p = head; p; p = p->next_segment) put_plan(key, p);
    return head->next_segment ? tn__segments_pointers(head, key) : TN_OK;
}

/* ---- places ---- */

static int count_places(const tn__plan *head)
{
    int n = 0;
    for (const tn__plan *p = head; p; p = p->next_segment) n += p->inputs_count + p->outputs_count;
    return n;
}

static void list_places(const tn__plan *head, int64_t *places)
{
    int n = 0;
    for (const tn__plan *p = head; p; p = p->next_segment) {
        for (int i = 0; i < p->inputs_count; i++)
            places[n++] = p->inputs[i].window.offset + (p->inputs[i].value ? p->inputs[i].value->base : 0);
        for (int o = 0; o < p->outputs_count; o++) places[n++] = p->outputs[o].window.offset + p->outputs[o].base;
    }
}

/* ---- keeping ---- */

static void free_one(tn__recipe *r)
{
    tn__stage_free(&r->own);
    for (int i = 0; i < 2; i++) tn__stage_free(&r->stage[i]);
    tn__free(r->places);
    tn__free(r->place_parameter);
    tn__free(r);
}

static void free_recipe(void *recipe, void *user)
{
    (void)user;
    for (tn__recipe *r = recipe, *older; r; r = older) {
        older = r->older;
        free_one(r);
    }
}

void tn__recipes_free(tn__map *recipes)
{
    if (!recipes) return;
    tn__map_each(recipes, free_recipe, NULL);
    tn__map_free(recipes);
}

/* Without the texts: a recipe has the kernels. */
static tn__unit unit_of(const tn__unit *from)
{
    tn__unit unit = {.count = from->count};
    memcpy(unit.kernel, from->kernel, sizeof unit.kernel);
    return unit;
}

static bool copy_stage(tn__stage *to, const tn__stage *from, void *(*alloc)(size_t bytes))
{
    if (from->unit.count == 0) return true;
    int64_t *parameters = alloc((size_t)(from->parameters_count + 1) * sizeof *parameters);
    if (!parameters) return false;
    if (from->parameters_count > 0) memcpy(parameters, from->parameters, (size_t)from->parameters_count * sizeof *parameters);
    *to = (tn__stage){unit_of(&from->unit), parameters, from->parameters_count, from->meta ? tn__buffer_retain(from->meta) : NULL};
    return true;
}

static tn__recipe *recipe_of(const tn__plan *p)
{
    tn__recipe *r = tn__alloc_quiet(sizeof *r);
    const int n = count_places(p);
    if (!r) return NULL;
    *r = (tn__recipe){.width = p->width,
                      .inner = p->inner,
                      .tiled = p->tiled,
                      .local = p->local,
                      .global = p->global,
                      .wide_index = p->wide_index,
                      .reports = p->reports,
                      .places_count = n,
                      .exact = p->exact_places || p->next_segment || p->meta};
    const tn__stage own = {unit_of(&p->unit), p->parameters, p->parameters_count, p->meta};
    r->places = tn__alloc_quiet((size_t)(n + 1) * sizeof *r->places);
    r->place_parameter = tn__alloc_quiet((size_t)(n + 1) * sizeof *r->place_parameter);
    bool whole = r->places && r->place_parameter && copy_stage(&r->own, &own, tn__alloc_quiet);
    for (int i = 0; i < 2 && whole; i++) {
        r->scratch[i] = p->scratch[i] ? p->scratch[i]->bytes : 0;
        r->exact = r->exact || p->stages[i].unit.count > 0;
        whole = copy_stage(&r->stage[i], &p->stages[i], tn__alloc_quiet);
    }
    if (whole) {
        list_places(p, r->places);
        for (int i = 0; i < p->inputs_count && !r->exact; i++) r->place_parameter[i] = p->input_place[i];
        for (int o = 0; o < p->outputs_count && !r->exact; o++) r->place_parameter[p->inputs_count + o] = p->output_place[o];
    }
    if (whole) return r;
    free_one(r);
    return NULL;
}

void tn__plan_remember(tn__plan *p)
{
    tn__graph *graph = p->device->graph;
    const tn__text *key = &p->structure;
    if (p->recipe || key->failed || key->length == 0) return;
    if (!graph->recipes) graph->recipes = tn__map_new();
    tn__recipe *older = graph->recipes ? tn__map_get(graph->recipes, key->data, key->length) : NULL;
    int alike = 0;
    for (const tn__recipe *o = older; o; o = o->older) alike++;
    tn__recipe *r = graph->recipes && alike < MOST_ALIKE ? recipe_of(p) : NULL;
    if (!r) return;
    r->older = older;
    if (!tn__map_put(graph->recipes, key->data, key->length, r)) free_one(r);
}

/* ---- using ---- */

/* Does the recipe serve a plan with these places? */
static bool fits(const tn__recipe *r, const int64_t *places, const tn__plan *p)
{
    if (r->exact) return memcmp(places, r->places, (size_t)r->places_count * sizeof *places) == 0;
    return r->wide_index || tn__plan_reach(p) <= TN__LARGEST_INDEX;
}

static tn_status take_scratch(tn__plan *p, const tn__recipe *r)
{
    for (int i = 0; i < 2; i++)
        if (r->scratch[i] && !p->scratch[i] && !(p->scratch[i] = tn__buffer_new(p->device, r->scratch[i]))) return tn_last_status();
    return TN_OK;
}

/* Fills in what generating would have. */
static tn_status use(const tn__recipe *r, const int64_t *places, tn__plan *p)
{
    tn__stage own = {0};
    bool whole = copy_stage(&own, &r->own, tn__alloc);
    for (int i = 0; i < 2; i++) whole = whole && copy_stage(&p->stages[i], &r->stage[i], tn__alloc);
    p->unit = own.unit;
    p->parameters = own.parameters;
    p->parameters_count = p->parameters_capacity = own.parameters_count;
    p->meta = own.meta;
    if (!whole) return TN_MEMORY;
    for (int i = 0; i < r->places_count && !r->exact; i++)
        if (r->place_parameter[i] > 0) p->parameters[r->place_parameter[i] - 1] = places[i];
    p->width = r->width;
    p->inner = r->inner;
    p->tiled = r->tiled;
    p->local = r->local;
    p->global = r->global;
    p->wide_index = r->wide_index;
    p->reports = r->reports;
    p->recipe = r;
    return take_scratch(p, r);
}

tn_status tn__plan_generate(tn__plan *p)
{
    return p->anchor ? p->anchor->op->generate(p) : p->next_segment ? tn__segments_generate(p) : tn__elementwise_generate(p);
}

/* Uses the one of the recipes that fits, if there is any. */
static tn_status use_one(const tn__recipe *r, tn__plan *p)
{
    int64_t *places = tn__alloc((size_t)(r->places_count + 1) * sizeof *places);
    if (!places) return TN_MEMORY;
    list_places(p, places);
    while (r && !fits(r, places, p)) r = r->older;
    const tn_status status = r ? use(r, places, p) : TN_OK;
    tn__free(places);
    return status;
}

tn_status tn__plan_prepare(tn__plan *p)
{
    const tn__graph *graph = p->device->graph;
    tn__text *key = &p->structure;
    if (p->anchor && p->anchor->op->take_forms) p->anchor->op->take_forms(p);
    TN__TRY(describe(p, key));
    const tn__recipe *r = graph->recipes && !key->failed ? tn__map_get(graph->recipes, key->data, key->length) : NULL;
    if (r) TN__TRY(use_one(r, p));
    return p->recipe ? TN_OK : tn__plan_generate(p);
}

void tn__recipes_trim(tn__device *device)
{
    tn__graph *graph = device->graph;
    if (!graph->recipes || tn__map_count(graph->recipes) < MOST_RECIPES) return;
    tn__recipes_free(graph->recipes);
    graph->recipes = NULL;
}
