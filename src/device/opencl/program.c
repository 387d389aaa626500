/* Programs and kernels of a device: in memory, else in the disk cache, else built; several texts wanted at once in one program.
 * All under the device's programs_lock: whoever asks for what another thread builds waits for it. */
#include <string.h>

#include "base/alloc.h"
#include "device/opencl/opencl.h"

/* Texts of one program: a driver that fails at too much at once builds each alone. */
enum { MOST_JOINED = 64 };

static bool same(tn__cl_id a, tn__cl_id b)
{
    return a.hash.hi == b.hash.hi && a.hash.lo == b.hash.lo && a.length == b.length;
}

static tn__cl_id id_of(const char *text, size_t length)
{
    return (tn__cl_id){tn__hash_wide(text, length), length};
}

/* The text's entry, new ones without a program; NULL when memory is out. */
static tn__cl_unit *unit_of(tn__cl_device *state, tn__cl_id id)
{
    if (!state->units) state->units = tn__map_new();
    tn__cl_unit *unit = state->units ? tn__map_get(state->units, &id.hash, sizeof id.hash) : NULL;
    if (unit || !state->units) return unit;
    unit = tn__zalloc(sizeof *unit);
    if (!unit) return NULL;
    unit->id = id;
    if (tn__map_put(state->units, &id.hash, sizeof id.hash, unit)) return unit;
    tn__free(unit);
    return NULL;
}

static void suffix_of(const tn__cl_unit *unit, char suffix[TN__CL_SUFFIX])
{
    snprintf(suffix, TN__CL_SUFFIX, "_%016llx", (unsigned long long)unit->id.hash.lo);
}

static size_t max_group(const tn__device *device, cl_kernel kernel)
{
    const tn__cl_device *state = device->state;
    size_t group = 0;
    if (state->cl->GetKernelWorkGroupInfo(kernel, state->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof group, &group, NULL) != CL_SUCCESS ||
        group == 0)
        group = 1;
    return group < state->max_items ? group : state->max_items;
}

/* The kernel of that name in the unit's program; *code tells why not. */
static tn__cl_kernel *kernel_new(tn__device *device, tn__cl_unit *unit, const char *name, cl_int *code)
{
    const tn__cl_device *state = device->state;
    tn__cl_program *program = unit->program;
    tn__cl_kernel *kernel = tn__zalloc(sizeof *kernel + strlen(name) + 1);
    char suffix[TN__CL_SUFFIX] = "", full[128];
    *code = CL_SUCCESS;
    if (!kernel) return NULL;
    if (program->joined) suffix_of(unit, suffix);
    snprintf(full, sizeof full, "%s%s", name, suffix);
    kernel->kernel = state->cl->CreateKernel(program->program, full, code);
    if (*code != CL_SUCCESS || !kernel->kernel) {
        if (*code == CL_SUCCESS) *code = CL_OUT_OF_RESOURCES;
        tn__free(kernel);
        return NULL;
    }
    strcpy(kernel->name, name);
    kernel->base.device = device;
    kernel->program = program;
    kernel->max_group = max_group(device, kernel->kernel);
    tn__mutex_init(&kernel->lock);
    if (unit->kernels) atomic_fetch_add(&program->awaited, 1);
    kernel->next = unit->kernels;
    unit->kernels = kernel;
    return kernel;
}

static tn__cl_kernel *kernel_of(tn__device *device, tn__cl_unit *unit, const char *name)
{
    cl_int code;
    tn__cl_kernel *kernel = kernel_new(device, unit, name, &code);
    if (!kernel && code != CL_SUCCESS)
        tn__fail(TN_COMPILE, "%s: the program has no kernel %s: clCreateKernel gives %d (%s)", device->name, name, (int)code,
                 tn__cl_error_name(code));
    return kernel;
}

/* Takes the driver's program over. */
static tn__cl_program *program_new(tn__cl_device *state, cl_program made, tn__cl_id id, bool joined)
{
    tn__cl_program *program = tn__zalloc(sizeof *program);
    if (!program) {
        state->cl->ReleaseProgram(made);
        return NULL;
    }
    program->program = made;
    program->id = id;
    program->joined = joined;
    program->next = state->programs;
    state->programs = program;
    return program;
}

/* ---- from the disk cache ---- */

static tn__cl_program *load_joined(tn__device *device, tn__cl_id id)
{
    tn__cl_device *state = device->state;
    for (tn__cl_program *p = state->programs; p; p = p->next)
        if (same(p->id, id)) return p;
    cl_program made = tn__cl_binary_load(device, id, NULL);
    return made ? program_new(state, made, id, true) : NULL;
}

static void note_load(tn__device *device, tn__cl_program *program, const char *name)
{
    if (!program->in_use) atomic_fetch_add(&device->loaded, 1);
    program->in_use = true;
    tn__log(2, "%s: loaded %s from the cache", device->name, name);
}

/* False, without an error, when that does not work out, whatever the reason. */
static bool load(tn__device *device, tn__cl_unit *unit, const char *name)
{
    tn__cl_id joined = {.length = 0};
    cl_program made = tn__cl_binary_load(device, unit->id, &joined);
    if (made) {
        unit->program = program_new(device->state, made, unit->id, false);
    } else if (joined.length > 0) {
        unit->program = load_joined(device, joined);
    }
    cl_int code;
    if (unit->program && !kernel_new(device, unit, name, &code)) unit->program = NULL;
    if (unit->program) note_load(device, unit->program, name);
    return unit->program != NULL;
}

/* ---- built ---- */

static void note_build(tn__device *device, const char *name, int others, double seconds)
{
    char more[32] = "";
    if (others > 0) snprintf(more, sizeof more, " and %d more", others);
    atomic_fetch_add(&device->built, 1);
    tn__log(2, "%s: built %s%s in %.0f ms", device->name, name, more, seconds * 1e3);
    if (seconds > 2) tn__log(1, "%s: building %s%s took %.1f s", device->name, name, more, seconds);
}

/* The program of `count` units, of which the first is called name. */
static bool build(tn__device *device, tn__cl_unit *const *units, int count, tn__cl_id id, const char *text, const char *name)
{
    const double start = tn__seconds();
    cl_program made = tn__cl_build(device, text, id.length, name);
    tn__cl_program *program = made ? program_new(device->state, made, id, count > 1) : NULL;
    if (!program) return false;
    atomic_store(&program->awaited, count);
    for (int i = 0; i < count; i++) {
        units[i]->program = program;
        units[i]->sibling = program->units;
        program->units = units[i];
    }
    note_build(device, name, count - 1, tn__seconds() - start);
    return true;
}

/* What is not in the cache is built by one process, and the others wait for it a while: they save work, and PoCL 3.1 crashes
 * when one process collects a program's binary while another one writes the same program to PoCL's own cache. Whoever
 * waited in vain builds, but saves nothing. True when the units have a program. */
static bool build_or_wait(tn__device *device, tn__cl_unit *const *units, int count, tn__cl_id id, const char *text,
                          const char *name)
{
    bool waited, busy, found = false;
    tn__file_lock *claim = tn__cl_binary_claim(device, id, &waited, &busy);
    if (claim && waited && count > 1) {
        tn__cl_program *program = load_joined(device, id);
        for (int i = 0; i < count && program; i++) units[i]->program = program;
        found = program != NULL;
        if (found) note_load(device, program, name);
    } else if (claim && waited) {
        found = load(device, units[0], name);
    }
    if (!found && build(device, units, count, id, text, name)) {
        units[0]->program->claim = claim;
        atomic_store(&units[0]->program->save, !busy);
        return true;
    }
    tn__file_lock_drop(claim);
    return found;
}

static void build_joined(tn__device *device, tn__cl_unit *const *units, const tn__program_text *const *texts, int count)
{
    tn__text all = {0};
    bool joined = count > 1;
    for (int i = 0; i < count && joined; i++) {
        char suffix[TN__CL_SUFFIX];
        suffix_of(units[i], suffix);
        joined = tn__cl_join(&all, texts[i]->text, texts[i]->length, suffix);
    }
    if (joined) {
        tn__error_attempt();
        if (!build_or_wait(device, units, count, id_of(all.data, all.length), all.data, texts[0]->name))
            tn__log(2, "%s: %d kernels do not build together, and each is built alone: %s", device->name, count, tn_last_error());
        tn__error_attempt_end();
    }
    tn__text_free(&all);
}

void tn__cl_kernels_prepare(tn__device *device, const tn__program_text *texts, int count)
{
    tn__cl_device *state = device->state;
    tn__cl_unit *units[MOST_JOINED];
    const tn__program_text *missing[MOST_JOINED];
    int n = 0;
    tn__lock(&state->programs_lock);
    for (int i = 0; i < count; i++) {
        tn__cl_unit *unit = unit_of(state, id_of(texts[i].text, texts[i].length));
        bool twice = !unit || unit->program;
        for (int k = 0; k < n && !twice; k++) twice = units[k] == unit;
        if (!twice && !load(device, unit, texts[i].name)) {
            units[n] = unit;
            missing[n++] = &texts[i];
        }
        if (n == MOST_JOINED || i == count - 1) {
            build_joined(device, units, missing, n);
            n = 0;
        }
    }
    tn__unlock(&state->programs_lock);
}

tn__kernel *tn__cl_kernel_get(tn__device *device, const char *text, size_t length, const char *name)
{
    tn__cl_device *state = device->state;
    const tn__cl_id id = id_of(text, length);
    tn__cl_kernel *kernel = NULL;
    tn__lock(&state->programs_lock);
    tn__cl_unit *unit = unit_of(state, id);
    if (unit && (unit->program || load(device, unit, name) || build_or_wait(device, &unit, 1, id, text, name))) {
        kernel = unit->kernels;
        while (kernel && strcmp(kernel->name, name) != 0) kernel = kernel->next;
        if (!kernel) kernel = kernel_of(device, unit, name);
    }
    tn__unlock(&state->programs_lock);
    return kernel ? &kernel->base : NULL;
}

/* ---- the end ---- */

struct leaving {
    const tn__cl_device *state;
    bool usable;
};

static void unit_free(void *value, void *user)
{
    tn__cl_unit *unit = value;
    const struct leaving *leaving = user;
    for (tn__cl_kernel *k = unit->kernels, *next; k; k = next) {
        next = k->next;
        if (leaving->usable) leaving->state->cl->ReleaseKernel(k->kernel);
        tn__mutex_destroy(&k->lock);
        tn__free(k);
    }
    tn__free(unit);
}

void tn__cl_programs_free(tn__device *device, bool usable)
{
    tn__cl_device *state = device->state;
    struct leaving leaving = {state, usable};
    if (state->units) {
        tn__map_each(state->units, unit_free, &leaving);
        tn__map_free(state->units);
        state->units = NULL;
    }
    while (state->programs) {
        tn__cl_program *program = state->programs;
        state->programs = program->next;
        if (usable) state->cl->ReleaseProgram(program->program);
        tn__file_lock_drop(program->claim);
        tn__free(program);
    }
    atomic_store(&state->last_kernel, NULL);
}
