/* Modules: made, put together, called. */
#include "nn/module.h"
#include "base/alloc.h"
#include "core/scope.h"
#include "device/device.h"
#include "ops/compose.h"
#include <inttypes.h>
#include <string.h>
#include <tenon/autograd.h>

/* ---- life ---- */

tn_module *tn_module_new(const tn_module_class *type, const void *data)
{
    if (!type || !type->name || !type->forward)
        return TN__NULL(TN_ARGUMENT, "module_new: %s", type ? "a class without a name or a forward" : "the class is NULL");
    tn_module *m = tn__zalloc(sizeof *m);
    if (!m) return NULL;
    atomic_init(&m->references, 1);
    m->type = type;
    m->training = true;
    if (type->size > 0 && !(m->data = tn__zalloc(type->size))) {
        tn__free(m);
        return NULL;
    }
    if (data && type->size > 0) memcpy(m->data, data, type->size);
    return m;
}

tn_module *tn_module_retain(tn_module *m)
{
    if (tn__module_check(m, "module_retain") != TN_OK) return NULL;
    atomic_fetch_add_explicit(&m->references, 1, memory_order_relaxed);
    return m;
}

void tn_module_release(tn_module *m)
{
    if (!m || atomic_fetch_sub_explicit(&m->references, 1, memory_order_acq_rel) != 1) return;
    if (m->type->release) m->type->release(m);
    for (int i = 0; i < m->count; i++) {
        if (m->part[i].tensor) tn__tensor_unref(m->part[i].tensor); /* its scope keeps its own reference */
        tn_module_release(m->part[i].child);
        tn__free(m->part[i].name);
    }
    tn__free(m->part);
    tn__free(m->data);
    tn__free(m);
}

tn_status tn__module_check(const tn_module *m, const char *function)
{
    return m ? TN_OK : tn__fail_null(function, "module");
}

void *tn_module_data(const tn_module *m)
{
    return tn__module_check(m, "module_data") == TN_OK ? m->data : NULL;
}

const char *tn_module_kind(const tn_module *m)
{
    return tn__module_check(m, "module_kind") == TN_OK ? m->type->name : "";
}

tn_module *tn__module_made(tn_scope scope, tn_module *m)
{
    if (tn_scope_pop(scope) == TN_OK) return m;
    tn_module_release(m);
    return NULL;
}

/* ---- parts ---- */

static const tn__part *part_named(const tn_module *m, const char *name)
{
    for (int i = 0; i < m->count; i++)
        if (strcmp(m->part[i].name, name) == 0) return &m->part[i];
    return NULL;
}

tn_tensor *tn__module_own(const tn_module *m, const char *name)
{
    const tn__part *part = part_named(m, name);
    return part && part->tensor ? part->tensor : TN_NONE;
}

/* Adds a part, whose tensor or child the module owns from then on. */
static tn_status add_part(tn_module *m, const char *name, tn__part part)
{
    if (!*name || strchr(name, '.'))
        return tn__fail(TN_ARGUMENT, "%s: a part called \"%s\"; a name has no dot, and is not empty", m->type->name, name);
    if (part_named(m, name)) return tn__fail(TN_ARGUMENT, "%s: there is a part called \"%s\" already", m->type->name, name);
    if (m->count == m->capacity) {
        const int capacity = m->capacity ? 2 * m->capacity : 4;
        tn__part *grown = tn__realloc(m->part, (size_t)capacity * sizeof *grown);
        if (!grown) return TN_MEMORY;
        m->part = grown;
        m->capacity = capacity;
    }
    if (!(part.name = tn__strdup(name))) return TN_MEMORY;
    m->part[m->count++] = part;
    return TN_OK;
}

static tn_status add_child(tn_module *m, const char *name, tn_module *child)
{
    char number[12];
    int children = 0;
    TN__TRY(tn__module_check(m, "module_add"));
    if (!child) return tn__fail_null("module_add", "child");
    tn__text path = {0};
    const bool inside = tn__module_path(child, m, &path);
    tn__text_free(&path);
    if (inside) return tn__fail(TN_ARGUMENT, "module_add: %s is a part of %s", m->type->name, child->type->name);
    for (int i = 0; i < m->count; i++) children += m->part[i].kind == TN__CHILD;
    snprintf(number, sizeof number, "%d", children);
    return add_part(m, name ? name : number, (tn__part){.kind = TN__CHILD, .child = child});
}

tn_status tn_module_add(tn_module *m, const char *name, tn_module *child)
{
    const tn_status status = add_child(m, name, child);
    if (status != TN_OK) tn_module_release(child);
    return status;
}

static tn_status add_tensor(const char *function, tn_module *m, const char *name, tn__part_kind kind, tn_tensor *x)
{
    TN__TRY(tn__module_check(m, function));
    TN__TRY(tn__tensor_check(x, function, "x"));
    if (!name) return tn__fail_null(function, "name");
    if (x->weak) return tn__fail(TN_ARGUMENT, "%s: %s is a scalar constant; tn_zeros and tn_full make tensors", function, name);
    if (tn__tensor_overlaps(x))
        return tn__fail(TN_ARGUMENT, "%s: %s %s is an expanded view; tn_clone makes a tensor of it", function, name,
                        tn__shape_text(x->ndim, x->dim));
    TN__TRY(tn_realize(&x, 1));
    if (kind == TN__PARAMETER) TN__TRY(tn_set_requires_grad(x, true));
    TN__TRY(add_part(m, name, (tn__part){.kind = kind, .tensor = x}));
    (void)tn_retain(x);
    return TN_OK;
}

tn_status tn_module_add_parameter(tn_module *m, const char *name, tn_tensor *x)
{
    return add_tensor("module_add_parameter", m, name, TN__PARAMETER, x);
}

tn_status tn_module_add_buffer(tn_module *m, const char *name, tn_tensor *x)
{
    return add_tensor("module_add_buffer", m, name, TN__BUFFER, x);
}

/* ---- finding ---- */

static tn_status not_there(const tn_module *root, const tn_module *m, const char *path)
{
    tn__text names = {0};
    for (int i = 0; i < m->count; i++) tn__text_add(&names, "%s%s", i ? ", " : "", m->part[i].name);
    const tn_status s = tn__fail(TN_ARGUMENT, "%s: there is no \"%s\"; %s has %s", root->type->name, path, m->type->name,
                                 names.data ? names.data : "no parts");
    tn__text_free(&names);
    return s;
}

/* The part at a path of one name or more. */
static const tn__part *part_at(const tn_module *root, const char *path)
{
    const tn_module *m = root;
    for (const char *name = path;;) {
        const size_t length = strcspn(name, ".");
        const tn__part *found = NULL;
        for (int i = 0; i < m->count && !found; i++)
            if (strlen(m->part[i].name) == length && memcmp(m->part[i].name, name, length) == 0) found = &m->part[i];
        const bool last = name[length] == '\0';
        if (found && last) return found;
        if (!found || !found->child) return (void)not_there(root, m, path), NULL;
        m = found->child;
        name += length + 1;
    }
}

tn_module *tn_module_child(const tn_module *m, const char *path)
{
    if (tn__module_check(m, "module_child") != TN_OK) return NULL;
    if (!path) return (void)tn__fail_null("module_child", "path"), NULL;
    if (!*path) return (tn_module *)m;
    const tn__part *part = part_at(m, path);
    if (part && !part->child) (void)tn__fail(TN_ARGUMENT, "%s: \"%s\" is a tensor (tn_module_tensor)", m->type->name, path);
    return part ? part->child : NULL;
}

tn_tensor *tn_module_tensor(const tn_module *m, const char *path)
{
    if (tn__module_check(m, "module_tensor") != TN_OK) return NULL;
    if (!path) return (void)tn__fail_null("module_tensor", "path"), NULL;
    const tn__part *part = part_at(m, path);
    if (part && !part->tensor) (void)tn__fail(TN_ARGUMENT, "%s: \"%s\" is a module (tn_module_child)", m->type->name, path);
    return part ? part->tensor : NULL;
}

/* ---- forward ---- */

/* The thread's calls, from the innermost outwards. */
typedef struct call {
    const tn_module *module;
    struct call *outer;
    bool told; /* a call inside failed and has said where */
} call;
static _Thread_local call *innermost;

/* Where the module of a call is in that of the outermost one. */
static void put_place(tn__text *path, const call *c)
{
    if (!c->outer) return;
    put_place(path, c->outer);
    if (!tn__module_path(c->outer->module, c->module, path))
        tn__text_add(path, "%s%s", path->length ? "." : "", c->module->type->name);
}

/* Puts the place in front of the last error. */
static void tell_place(const call *c)
{
    tn__text path = {0};
    put_place(&path, c);
    const tn_status code = tn_last_status();
    const char *what = code == TN_OK ? "forward gave NULL without an error" : tn_last_error();
    (void)tn__fail(code == TN_OK ? TN_ARGUMENT : code, path.length ? "%s (%s): %s" : "%s%s: %s", path.length ? path.data : "",
                   c->module->type->name, what);
    tn__text_free(&path);
}

/* Every input is on the device of the module's own tensors. */
static tn_status check_devices(const tn_module *m, tn_tensor *const *inputs, int count)
{
    for (int i = 0; i < count; i++) {
        const tn__device *device = tn__tensor_device(inputs[i]);
        if (device->is_host && (inputs[i]->ndim == 0 || tn__auto_move_allowed())) continue;
        for (int k = 0; k < m->count; k++) {
            const tn_tensor *own = m->part[k].tensor;
            if (own && tn__tensor_device(own) != device)
                return tn__fail(TN_DEVICE,
                                "input %s is on %s, %s %s is on %s; move the input, as in tn_to(x, \"%s\"), or the module, as in "
                                "tn_module_to(net, \"%s\")",
                                tn__shape_text(inputs[i]->ndim, inputs[i]->dim), device->name, m->part[k].name,
                                tn__shape_text(own->ndim, own->dim), tn__tensor_device(own)->name, tn__tensor_device(own)->name,
                                device->name);
        }
    }
    return TN_OK;
}

static tn_tensor *run(tn_module *m, tn_tensor *const *inputs, int count)
{
    const int takes = m->type->inputs == 0 ? 1 : m->type->inputs;
    if (takes >= 0 && count != takes) return TN__NULL(TN_ARGUMENT, "%d inputs; it takes %d", count, takes);
    if (check_devices(m, inputs, count) != TN_OK) return NULL;
    const tn_scope scope = tn_scope_push();
    tn_tensor *y = m->type->forward(m, inputs, count);
    if (y && !tn__scope_has(y)) y = y == TN_NONE ? TN__NULL(TN_ARGUMENT, "forward gave TN_NONE") : tn_cast(y, y->dtype);
    return tn__leave(scope, y);
}

tn_tensor *tn_module_forward_all(tn_module *m, tn_tensor *const *inputs, int count)
{
    if (tn__module_check(m, "module_forward") != TN_OK) return NULL;
    if (count < 0 || (count > 0 && !inputs)) return TN__NULL(TN_ARGUMENT, "module_forward: a list of %d inputs", count);
    for (int i = 0; i < count; i++)
        if (tn__tensor_check(inputs[i], "module_forward", "an input") != TN_OK) return NULL;
    call c = {.module = m, .outer = innermost};
    innermost = &c;
    tn_tensor *y = run(m, inputs, count);
    innermost = c.outer;
    if (!y && !c.told) tell_place(&c);
    if (c.outer) c.outer->told = !y;
    return y;
}

tn_tensor *tn_module_forward(tn_module *m, tn_tensor *x)
{
    return tn_module_forward_all(m, &x, 1);
}
