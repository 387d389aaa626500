/* A module's state in files: what is in both is compared first, then read. */
#include "nn/module.h"
#include "base/alloc.h"
#include "base/map.h"
#include <string.h>
#include <tenon/autograd.h>
#include <tenon/io.h>

tn_status tn_module_save(const tn_module *m, const char *path)
{
    tn_tensor_list *state = tn_module_state(m);
    if (!state) return tn_last_status();
    const tn_status status = tn_save_safetensors(path, state->names, state->tensors, state->count, NULL);
    tn_tensor_list_free(state);
    return status;
}

/* ---- where values come from: an archive, or a list ---- */

typedef struct source {
    const char *title;
    tn_archive *archive;
    const tn_tensor_list *list;
    tn__map *places; /* name -> place, plus 1 */
} source;

static int count_of(const source *s)
{
    return s->list ? s->list->count : tn_archive_count(s->archive);
}

static const char *name_at(const source *s, int i)
{
    return s->list ? s->list->names[i] : tn_archive_name(s->archive, i);
}

static tn_status shape_at(const source *s, int i, tn_shape *shape)
{
    if (!s->list) return tn_archive_info(s->archive, name_at(s, i), NULL, shape);
    TN__TRY(tn__tensor_check(s->list->tensors[i], "module_load_list", s->list->names[i]));
    *shape = tn__tensor_shape(s->list->tensors[i]);
    return TN_OK;
}

static tn_tensor *tensor_at(const source *s, int i)
{
    return s->list ? tn_host(s->list->tensors[i]) : tn_archive_get(s->archive, name_at(s, i), "host");
}

/* ---- comparing ---- */

typedef struct loading {
    const source *source;
    const tn_load_options *options;
    const tn_tensor_list *state;
    int *place; /* in the source of each name of the state; -1: not there */
    int *tied;  /* the first name of the state for the same tensor */
    tn__text missing, unexpected, misshaped, unequal;
    int missing_count, unexpected_count;
} loading;

static const char *prefix_of(const loading *l)
{
    return l->options->prefix ? l->options->prefix : "";
}

static void add_name(tn__text *list, int *count, const char *name)
{
    tn__text_add(list, "%s%s", (*count)++ ? ", " : "", name);
}

/* Finds the names of the state in the source, and those of the source that the state does not have. */
static tn_status match_names(loading *l)
{
    const size_t skipped = strlen(prefix_of(l));
    tn__map *wanted = tn__map_new();
    tn_status status = wanted ? TN_OK : TN_MEMORY;
    for (int i = 0; i < l->state->count && status == TN_OK; i++) {
        tn__text full = {0};
        const char *name = l->state->names[i];
        tn__text_add(&full, "%s%s", prefix_of(l), name);
        if (full.failed || !tn__map_put(wanted, name, strlen(name), l)) status = TN_MEMORY;
        l->place[i] = full.data ? (int)(uintptr_t)tn__map_get(l->source->places, full.data, full.length) - 1 : -1;
        tn__text_free(&full);
        l->tied[i] = i;
        for (int k = 0; k < i; k++)
            if (l->state->tensors[k] == l->state->tensors[i]) l->tied[i] = l->tied[k];
    }
    for (int i = 0; i < count_of(l->source) && status == TN_OK; i++) {
        const char *name = name_at(l->source, i);
        if (strncmp(name, prefix_of(l), skipped) != 0) continue;
        if (!tn__map_get(wanted, name + skipped, strlen(name + skipped))) add_name(&l->unexpected, &l->unexpected_count, name);
    }
    tn__map_free(wanted);
    return status;
}

/* The first name of the tensor of name i that the source has; -1: none. */
static int found_as(const loading *l, int i)
{
    for (int k = 0; k < l->state->count; k++)
        if (l->tied[k] == l->tied[i] && l->place[k] >= 0) return k;
    return -1;
}

static tn_status compare_shape(loading *l, int i)
{
    tn_shape given;
    const tn_tensor *x = l->state->tensors[i];
    TN__TRY(shape_at(l->source, l->place[i], &given));
    const tn_shape own = tn__tensor_shape(x);
    if (!tn__shape_equal(&given, &own))
        tn__text_add(&l->misshaped, "%s%s %s instead of %s", l->misshaped.length ? ", " : "", l->state->names[i],
                     tn__shape_text(given.ndim, given.dim), tn__shape_text(own.ndim, own.dim));
    return TN_OK;
}

/* Name i has the values of the name that its tensor was found as. */
static tn_status compare_values(loading *l, int i, int first)
{
    const tn_scope scope = tn_scope_push();
    tn_tensor *a = tensor_at(l->source, l->place[first]), *b = tensor_at(l->source, l->place[i]);
    const size_t bytes = a && b ? tn_nbytes(a) : 0;
    bool equal = a && b && a->dtype == b->dtype && bytes == tn_nbytes(b);
    char *values = equal ? tn__alloc(2 * bytes) : NULL;
    if (values && tn_read(a, values, bytes) == TN_OK && tn_read(b, values + bytes, bytes) == TN_OK)
        equal = memcmp(values, values + bytes, bytes) == 0;
    tn__free(values);
    if (!equal) tn__text_add(&l->unequal, "%s%s and %s", l->unequal.length ? ", " : "", l->state->names[first], l->state->names[i]);
    return tn_scope_pop(scope);
}

static tn_status compare(loading *l)
{
    TN__TRY(match_names(l));
    for (int i = 0; i < l->state->count; i++) {
        const int first = found_as(l, i);
        if (first < 0 && l->tied[i] == i) add_name(&l->missing, &l->missing_count, l->state->names[i]);
        if (l->place[i] >= 0) TN__TRY(compare_shape(l, i));
    }
    for (int i = 0; i < l->state->count && !l->misshaped.length; i++)
        if (l->place[i] >= 0 && found_as(l, i) != i) TN__TRY(compare_values(l, i, found_as(l, i)));
    return TN_OK;
}

static void add_list(tn__text *all, const char *what, const tn__text *list)
{
    if (list->length) tn__text_add(all, "%s%s: %s", all->length ? "; " : "", what, list->data);
}

/* OK, or one error with everything that does not fit. */
static tn_status verdict(const loading *l)
{
    tn__text all = {0};
    tn_status status = TN_OK;
    if (!l->options->partial) add_list(&all, "missing", &l->missing);
    if (!l->options->partial) add_list(&all, "unexpected", &l->unexpected);
    add_list(&all, "of another shape", &l->misshaped);
    add_list(&all, "tied, but with different values", &l->unequal);
    if (l->missing.failed || l->unexpected.failed || l->misshaped.failed || l->unequal.failed || all.failed)
        status = TN_MEMORY;
    else if (all.length)
        status = tn__fail(TN_ARGUMENT, "%s does not fit the module; %s", l->source->title, all.data);
    tn__text_free(&all);
    return status;
}

/* ---- reading ---- */

static tn_status take(tn_tensor *x, const source *s, int place)
{
    const tn_scope scope = tn_scope_push_no_grad();
    tn_tensor *given = tensor_at(s, place), *y = given ? tn_cast(given, x->dtype) : NULL;
    const size_t bytes = y ? tn_nbytes(y) : 0;
    char *values = y ? tn__alloc(bytes) : NULL;
    if (values && tn_read(y, values, bytes) == TN_OK) (void)tn_write(x, values, bytes);
    tn__free(values);
    return tn_scope_pop(scope);
}

static tn_status load_state(loading *l)
{
    TN__TRY(compare(l));
    TN__TRY(verdict(l));
    for (int i = 0; i < l->state->count; i++)
        if (l->place[i] >= 0 && found_as(l, i) == i) TN__TRY(take(l->state->tensors[i], l->source, l->place[i]));
    return TN_OK;
}

static tn_status load(tn_module *m, source *s, const tn_load_options *options)
{
    static const tn_load_options none = {0};
    tn_tensor_list *state = tn_module_state(m);
    if (!state) return tn_last_status();
    loading l = {.source = s, .options = options ? options : &none, .state = state};
    tn_status status = TN_OK;
    l.place = tn__alloc((size_t)state->count * sizeof *l.place);
    l.tied = tn__alloc((size_t)state->count * sizeof *l.tied);
    s->places = tn__map_new();
    if (!l.place || !l.tied || !s->places) status = TN_MEMORY;
    for (int i = 0; i < count_of(s) && status == TN_OK; i++)
        if (!tn__map_put(s->places, name_at(s, i), strlen(name_at(s, i)), (void *)(uintptr_t)(i + 1))) status = TN_MEMORY;
    if (status == TN_OK) status = load_state(&l);
    tn__text *const texts[] = {&l.missing, &l.unexpected, &l.misshaped, &l.unequal};
    for (int i = 0; i < 4; i++) tn__text_free(texts[i]);
    tn__map_free(s->places);
    tn__free(l.place);
    tn__free(l.tied);
    tn_tensor_list_free(state);
    return status;
}

tn_status tn_module_load(tn_module *m, const char *path, const tn_load_options *options)
{
    TN__TRY(tn__module_check(m, "module_load"));
    source s = {.title = path, .archive = tn_archive_open(path)};
    if (!s.archive) return tn_last_status();
    const tn_status status = load(m, &s, options);
    tn_archive_close(s.archive);
    return status;
}

tn_status tn_module_load_list(tn_module *m, const tn_tensor_list *list, const tn_load_options *options)
{
    TN__TRY(tn__module_check(m, "module_load_list"));
    if (!list) return tn__fail_null("module_load_list", "list");
    return load(m, &(source){.title = "load_list: the list", .list = list}, options);
}
