/* Walks over the tree of a module, and what is done to all of it. */
#include "nn/module.h"
#include "base/alloc.h"
#include "base/map.h"
#include "core/scope.h"
#include <string.h>
#include <tenon/autograd.h>

/* ---- walks ---- */

/* Sets path back to a length, and puts a name behind it. */
static void set_path(tn__text *path, size_t length, const char *name)
{
    path->length = length;
    if (path->data) path->data[length] = '\0';
    if (name) tn__text_add(path, "%s%s", length ? "." : "", name);
}

static tn_status walk(const tn_module *m, tn__text *path, tn__part_visit *visit, void *user)
{
    const size_t length = path->length;
    for (int kind = 0; kind < TN__PART_KINDS; kind++)
        for (int i = 0; i < m->count; i++) {
            tn__part *part = &m->part[i];
            if ((int)part->kind != kind) continue;
            set_path(path, length, part->name);
            if (path->failed) return TN_MEMORY;
            TN__TRY(visit(path->data, m, part, user));
            if (part->child) TN__TRY(walk(part->child, path, visit, user));
        }
    set_path(path, length, NULL);
    return TN_OK;
}

tn_status tn__module_walk(const tn_module *m, tn__part_visit *visit, void *user)
{
    tn__text path = {0};
    const tn_status status = walk(m, &path, visit, user);
    tn__text_free(&path);
    return status;
}

bool tn__module_path(const tn_module *tree, const tn_module *part, tn__text *path)
{
    if (tree == part) return true;
    const size_t length = path->length;
    for (int i = 0; i < tree->count; i++) {
        if (!tree->part[i].child) continue;
        set_path(path, length, tree->part[i].name);
        if (tn__module_path(tree->part[i].child, part, path)) return true;
    }
    set_path(path, length, NULL);
    return false;
}

/* A walk that meets every tensor or child once. */
typedef struct once {
    tn__map *seen; /* by address */
    tn_module_visit *visit;
    void *user;
} once;

/* Was this address not met before? */
static tn_status meet(once *o, const void *address, bool *first)
{
    *first = !tn__map_get(o->seen, &address, sizeof address);
    return *first && !tn__map_put(o->seen, &address, sizeof address, o) ? TN_MEMORY : TN_OK;
}

static tn_status visit_child(const char *path, const tn_module *owner, tn__part *part, void *user)
{
    once *o = user;
    bool first;
    (void)owner;
    if (!part->child) return TN_OK;
    TN__TRY(meet(o, part->child, &first));
    return first ? o->visit(path, part->child, o->user) : TN_OK;
}

tn_status tn_module_each(tn_module *m, tn_module_visit *visit, void *user)
{
    TN__TRY(tn__module_check(m, "module_each"));
    if (!visit) return tn__fail_null("module_each", "visit");
    TN__TRY(visit("", m, user));
    once o = {.seen = tn__map_new(), .visit = visit, .user = user};
    const tn_status status = o.seen ? tn__module_walk(m, visit_child, &o) : TN_MEMORY;
    tn__map_free(o.seen);
    return status;
}

/* ---- lists of tensors ---- */

/* A list as it grows; the public one first, so that it is the same block. */
typedef struct list {
    tn_tensor_list shown;
    char **names;
    tn_tensor **tensors;
    int capacity;
    unsigned kinds; /* a bit each */
    once met;       /* without a map all places count */
} list;

static tn_status grow(list *l)
{
    const int capacity = l->capacity ? 2 * l->capacity : 16;
    char **names = tn__realloc(l->names, (size_t)capacity * sizeof *names);
    if (names) l->names = names;
    tn_tensor **tensors = names ? tn__realloc(l->tensors, (size_t)capacity * sizeof *tensors) : NULL;
    if (!tensors) return TN_MEMORY;
    l->tensors = tensors;
    l->capacity = capacity;
    return TN_OK;
}

static tn_status visit_tensor(const char *path, const tn_module *owner, tn__part *part, void *user)
{
    list *l = user;
    bool first = true;
    (void)owner;
    if (!(l->kinds & 1u << part->kind)) return TN_OK;
    if (l->met.seen) TN__TRY(meet(&l->met, part->tensor, &first));
    if (!first) return TN_OK;
    if (l->shown.count == l->capacity) TN__TRY(grow(l));
    char *name = tn__strdup(path);
    if (!name) return TN_MEMORY;
    l->names[l->shown.count] = name;
    l->tensors[l->shown.count++] = tn_retain(part->tensor);
    return TN_OK;
}

static tn_tensor_list *list_of(const tn_module *m, const char *function, unsigned kinds, bool each_once)
{
    if (tn__module_check(m, function) != TN_OK) return NULL;
    list *l = tn__zalloc(sizeof *l);
    if (!l) return NULL;
    l->kinds = kinds;
    l->met.seen = each_once ? tn__map_new() : NULL;
    const tn_status status = each_once && !l->met.seen ? TN_MEMORY : tn__module_walk(m, visit_tensor, l);
    tn__map_free(l->met.seen);
    l->shown.names = (const char *const *)l->names;
    l->shown.tensors = l->tensors;
    if (status == TN_OK) return &l->shown;
    tn_tensor_list_free(&l->shown);
    return NULL;
}

void tn_tensor_list_free(tn_tensor_list *shown)
{
    list *l = (list *)shown;
    if (!l) return;
    for (int i = 0; i < shown->count; i++) {
        tn__tensor_unref(l->tensors[i]);
        tn__free(l->names[i]);
    }
    tn__free(l->names);
    tn__free(l->tensors);
    tn__free(l);
}

enum { PARAMETERS = 1u << TN__PARAMETER, BUFFERS = 1u << TN__BUFFER };

tn_tensor_list *tn_module_parameters(const tn_module *m)
{
    return list_of(m, "module_parameters", PARAMETERS, true);
}

tn_tensor_list *tn_module_buffers(const tn_module *m)
{
    return list_of(m, "module_buffers", BUFFERS, true);
}

tn_tensor_list *tn__module_tensors(const tn_module *m)
{
    return list_of(m, "module", PARAMETERS | BUFFERS, true);
}

tn_tensor_list *tn_module_state(const tn_module *m)
{
    return list_of(m, "module_state", PARAMETERS | BUFFERS, false);
}

int64_t tn_module_parameter_count(const tn_module *m)
{
    tn_tensor_list *all = tn_module_parameters(m);
    int64_t count = all ? 0 : -1;
    for (int i = 0; all && i < all->count; i++) count += all->tensors[i]->numel;
    tn_tensor_list_free(all);
    return count;
}

/* ---- settings ---- */

static tn_status set_training(const char *path, tn_module *part, void *user)
{
    (void)path;
    part->training = *(const bool *)user;
    return TN_OK;
}

tn_status tn_module_train(tn_module *m, bool training)
{
    TN__TRY(tn__module_check(m, "module_train"));
    return tn_module_each(m, set_training, &training);
}

bool tn_module_is_training(const tn_module *m)
{
    return tn__module_check(m, "module_is_training") == TN_OK && m->training;
}

tn_status tn_module_set_requires_grad(tn_module *m, bool required)
{
    tn_tensor_list *all = tn_module_parameters(m);
    tn_status status = all ? TN_OK : tn_last_status();
    for (int i = 0; all && i < all->count && status == TN_OK; i++) status = tn_set_requires_grad(all->tensors[i], required);
    tn_tensor_list_free(all);
    return status;
}

tn_status tn_module_zero_grad(tn_module *m)
{
    tn_tensor_list *all = tn_module_parameters(m);
    const tn_status status = all ? tn_zero_grad(all->tensors, all->count) : tn_last_status();
    tn_tensor_list_free(all);
    return status;
}
