/* Finds OpenCL: entry points already in the process (an interposer, Oclgrind), else a library opened at first use. */
#include <string.h>

#include "base/alloc.h"
#include "base/settings.h"
#include "device/opencl/opencl.h"

/* One for each library that was ever opened: they are never closed, drivers do not like it. */
typedef struct opened {
    struct opened *next;
    tn__cl table;
    char path[];
} opened;

static tn__mutex lock = TN__MUTEX_INIT;
static opened *all;
static atomic_long first_process; /* that called OpenCL; 0: none did */

static const char default_path[] = "libOpenCL.so.1";

bool tn__cl_forked(void)
{
    const long first = atomic_load(&first_process);
    return first != 0 && first != tn__process_id();
}

static void fill(tn__cl *table, void *library)
{
    void *symbol;
    table->missing = NULL;
#define FUNCTION(result, name, parameters)                          \
    symbol = tn__library_symbol(library, "cl" #name);               \
    memcpy(&table->name, &symbol, sizeof symbol);                   \
    if (!symbol && !table->missing) table->missing = "cl" #name;
#include "device/opencl/functions.def"
#undef FUNCTION
}

static const tn__cl *find(const char *path)
{
    for (opened *o = all; o; o = o->next)
        if (strcmp(o->path, path) == 0) return &o->table;
    return NULL;
}

static const tn__cl *add(const char *path, void *library)
{
    opened *o = tn__alloc_quiet(sizeof *o + strlen(path) + 1);
    if (!o) return NULL;
    strcpy(o->path, path);
    fill(&o->table, library);
    o->next = all;
    all = o;
    return &o->table;
}

static const tn__cl *load(const char *path, tn__text *trouble)
{
    if (tn__library_symbol(NULL, "clGetPlatformIDs")) path = "";
    const tn__cl *table = find(path);
    if (table) return table;
    void *library = *path ? tn__library_open(path) : NULL;
    if (*path && !library) {
        tn__text_add(trouble, "the OpenCL library %s cannot be opened", path);
        if (path == default_path) tn__text_puts(trouble, " (Debian: ocl-icd-libopencl1)");
        return NULL;
    }
    table = add(path, library);
    if (!table) tn__library_close(library);
    return table;
}

const tn__cl *tn__cl_load(tn__text *trouble, bool *off)
{
    const char *path = tn__setting_text(TN__SET_OPENCL, NULL);
    *off = strcmp(path, "none") == 0 || tn__cl_forked();
    if (strcmp(path, "none") == 0) {
        tn__text_puts(trouble, "TENON_OPENCL=none turns OpenCL off");
        return NULL;
    }
    if (tn__cl_forked()) {
        tn__text_puts(trouble, "OpenCL was used before this process was forked, and drivers do not survive that");
        return NULL;
    }
    tn__lock(&lock);
    const tn__cl *table = load(*path ? path : default_path, trouble);
    tn__unlock(&lock);
    if (!table) return NULL;
    if (!table->GetPlatformIDs || !table->GetPlatformInfo || !table->GetDeviceIDs || !table->GetDeviceInfo) {
        tn__text_add(trouble, "the OpenCL library %s has no %s", path, table->missing);
        return NULL;
    }
    atomic_store(&first_process, tn__process_id());
    return table;
}
