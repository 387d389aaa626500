/* The table of a module. */
#include "nn/module.h"
#include "base/alloc.h"
#include <inttypes.h>
#include <string.h>
#include <tenon/autograd.h>

enum { COLUMNS = 6 };
typedef struct row {
    char *cell[COLUMNS];
} row;

typedef struct table {
    row *rows;
    int count, capacity;
    const tn_tensor_list *once; /* tensors under their first names */
} table;

static const char *first_name(const table *t, const tn_tensor *x)
{
    for (int i = 0; i < t->once->count; i++)
        if (t->once->tensors[i] == x) return t->once->names[i];
    return "";
}

static tn_status add_row(table *t, const char *const *cells)
{
    if (t->count == t->capacity) {
        const int capacity = t->capacity ? 2 * t->capacity : 16;
        row *grown = tn__realloc(t->rows, (size_t)capacity * sizeof *grown);
        if (!grown) return TN_MEMORY;
        t->rows = grown;
        t->capacity = capacity;
    }
    row *r = &t->rows[t->count++];
    memset(r, 0, sizeof *r);
    for (int c = 0; c < COLUMNS; c++)
        if (!(r->cell[c] = tn__strdup(cells[c]))) return TN_MEMORY;
    return TN_OK;
}

static tn_status visit_tensor(const char *path, const tn_module *owner, tn__part *part, void *user)
{
    table *t = user;
    char size[128];
    const tn_tensor *x = part->tensor;
    if (!x) return TN_OK;
    const char *first = first_name(t, x);
    if (strcmp(first, path) != 0)
        snprintf(size, sizeof size, "is %.100s", first);
    else if (part->kind == TN__BUFFER)
        snprintf(size, sizeof size, "buffer");
    else
        snprintf(size, sizeof size, "%" PRId64 "%s", x->numel, tn_requires_grad(x) ? "" : ", frozen");
    const char *const cells[COLUMNS] = {
        path, owner->type->name, tn__shape_text(x->ndim, x->dim), tn_dtype_name(x->dtype), tn_device_of(x), size};
    return add_row(t, cells);
}

static void print_rows(FILE *file, const table *t)
{
    int width[COLUMNS] = {0};
    for (int r = 0; r < t->count; r++)
        for (int c = 0; c < COLUMNS; c++) {
            const int length = (int)strlen(t->rows[r].cell[c]);
            if (length > width[c]) width[c] = length;
        }
    for (int r = 0; r < t->count; r++)
        for (int c = 0; c < COLUMNS; c++)
            fprintf(file, c + 1 < COLUMNS ? "%-*s  " : "%.*s%s\n", c + 1 < COLUMNS ? width[c] : 0, t->rows[r].cell[c],
                    t->rows[r].cell[c]);
}

static tn_status print_total(FILE *file, const tn_module *m)
{
    tn_tensor_list *parameters = tn_module_parameters(m), *buffers = parameters ? tn_module_buffers(m) : NULL;
    int64_t count = 0, trained = 0;
    size_t bytes = 0, in_buffers = 0;
    for (int i = 0; buffers && i < parameters->count; i++) {
        const tn_tensor *x = parameters->tensors[i];
        count += x->numel;
        if (tn_requires_grad(x)) trained += x->numel;
        bytes += tn_nbytes(x);
    }
    for (int i = 0; buffers && i < buffers->count; i++) in_buffers += tn_nbytes(buffers->tensors[i]);
    if (buffers) {
        fprintf(file, "%s: %" PRId64 " parameters (%" PRId64 " trained), %zu bytes", m->type->name, count, trained, bytes);
        fprintf(file, buffers->count ? "; buffers %zu bytes\n" : "\n", in_buffers);
    }
    const tn_status status = buffers ? TN_OK : tn_last_status();
    tn_tensor_list_free(parameters);
    tn_tensor_list_free(buffers);
    return status;
}

tn_status tn_module_print(FILE *file, const tn_module *m)
{
    static const char *const heading[COLUMNS] = {"name", "layer", "shape", "dtype", "device", "parameters"};
    TN__TRY(tn__module_check(m, "module_print"));
    if (!file) return tn__fail_null("module_print", "file");
    table t = {.once = tn__module_tensors(m)};
    tn_status status = t.once ? add_row(&t, heading) : tn_last_status();
    if (status == TN_OK) status = tn__module_walk(m, visit_tensor, &t);
    if (status == TN_OK) print_rows(file, &t);
    if (status == TN_OK) status = print_total(file, m);
    for (int r = 0; r < t.count; r++)
        for (int c = 0; c < COLUMNS; c++) tn__free(t.rows[r].cell[c]);
    tn__free(t.rows);
    tn_tensor_list_free((tn_tensor_list *)t.once);
    return status;
}
