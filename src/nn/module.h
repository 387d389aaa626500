/* Modules as the files of this folder see them. */
#ifndef TN__MODULE_H
#define TN__MODULE_H

#include <tenon/nn.h>
#include "base/text.h"
#include "core/tensor.h"

typedef enum tn__part_kind { TN__PARAMETER, TN__BUFFER, TN__CHILD, TN__PART_KINDS } tn__part_kind;

typedef struct tn__part {
    char *name;
    tn__part_kind kind;
    tn_tensor *tensor; /* of a child NULL */
    tn_module *child;
} tn__part;

struct tn_module {
    atomic_int references;
    const tn_module_class *type;
    void *data;
    bool training;
    tn__part *part; /* in the order they were added */
    int count, capacity;
};

/* OK, or a fresh or pending error for NULL. */
tn_status tn__module_check(const tn_module *module, const char *function);
/* A new module whose parts were made and added since scope was pushed: ends it. NULL, and no module, when anything in it failed. */
tn_module *tn__module_made(tn_scope scope, tn_module *module);
/* Parameter or buffer of that name of the module itself; TN_NONE when it has none. */
tn_tensor *tn__module_own(const tn_module *module, const char *name);

/* ---- walks (walk.c) ---- */

/* Called with each part of a tree and its place: parameters of a module, then buffers, then each child and what is in it. A part of
 * several places has several calls. Not OK ends the walk. */
typedef tn_status tn__part_visit(const char *path, const tn_module *owner, tn__part *part, void *user);
tn_status tn__module_walk(const tn_module *module, tn__part_visit *visit, void *user);
/* Adds the first place of part in tree to path, behind a dot; false when it has none. */
bool tn__module_path(const tn_module *tree, const tn_module *part, tn__text *path);
/* Parameters and buffers, each once; NULL with an error. */
tn_tensor_list *tn__module_tensors(const tn_module *module);

#endif
