/* The program around the macros: index width, parameters; and the arguments of its launch. */
#include "graph/generate.h"
#include "base/alloc.h"
#include <string.h>

static bool is_wide(tn_dtype d)
{
    return tn__dtypes[d].compute == TN__CD || tn__dtypes[d].compute >= TN__CL;
}

static int axis_of(const tn__plan *p, const tn__role *role)
{
    for (int k = 0; k < p->rank; k++)
        if (role[k] == TN__INNER) return k;
    return -1;
}

int tn__plan_lanes(const tn__plan *p, const tn__role *role)
{
    const int inner = axis_of(p, role);
    /* a vector of the widest type fits a register: 64-bit values halve the lanes */
    bool wide_values = false;
    for (int s = 0; s < p->steps_count; s++) {
        const tn__step *step = &p->steps[s];
        if (step->kind == TN__LOOKUP && step->node->a.lookup.form == TN__FOLD) return 1; /* a loop for each element */
        if (step->kind == TN__NUMBER) continue; /* the same in all lanes */
        wide_values = wide_values || step->kind == TN__DRAW || is_wide(step->dtype) ||
                      (step->kind == TN__APPLY && is_wide(step->from));
    }
    const int width = (p->deep ? p->device->vector_width : 4) / (wide_values ? 2 : 1);
    return inner < 0 || p->dim[inner] < width ? 1 : width;
}

int tn__plan_width(const tn__plan *p, const tn__role *role)
{
    const int inner = axis_of(p, role), width = tn__plan_lanes(p, role);
    if (width == 1) return 1;
    int contiguous = 0, strided = 0;
    for (int i = 0; i < p->inputs_count; i++) {
        const int64_t s = p->inputs[i].window.stride[inner];
        if (p->inputs[i].table) continue;
        if (s == 1 || !p->inputs[i].value)
            contiguous++;
        else if (s != 0)
            strided++;
    }
    for (int o = 0; o < p->outputs_count; o++)
        if (p->outputs[o].window.stride[inner] != 1 && p->outputs[o].window.stride[inner] != 0) return 1;
    if (strided && (!p->deep || !contiguous)) return 1;
    return width;
}

int tn__fixed_width(const tn__plan *p, const tn__role *role, tn_dtype dtype)
{
    const int width = p->device->vector_width / (is_wide(dtype) ? 2 : 1);
    return p->deep && tn__role_extent(p, role, TN__INNER) >= width ? width : 1;
}

static int64_t furthest(const tn__plan *p, const tn__window *w, int64_t base)
{
    int64_t reach = base + w->offset;
    for (int k = 0; k < p->rank; k++) reach += (w->stride[k] < 0 ? -w->stride[k] : w->stride[k]) * (p->dim[k] - 1);
    return reach;
}

int64_t tn__plan_reach(const tn__plan *p)
{
    int64_t most = 0;
    for (int i = 0; i < p->inputs_count; i++) {
        const int64_t f = furthest(p, &p->inputs[i].window, p->inputs[i].value ? p->inputs[i].value->base : 0) + p->inputs[i].reach;
        if (f > most) most = f;
    }
    for (int o = 0; o < p->outputs_count; o++) {
        const int64_t f = furthest(p, &p->outputs[o].window, p->outputs[o].base);
        if (f > most) most = f;
    }
    return most;
}

void tn__generator_start(tn__generator *g, tn__plan *p, const tn__role *role, int width, int64_t extra)
{
    int64_t most = tn__plan_reach(p);
    if (extra > most) most = extra;
    memset(g, 0, sizeof *g);
    g->plan = p;
    memcpy(g->role, role, (size_t)p->rank * sizeof role[0]);
    for (int k = 0; k < p->rank; k++) g->order[k] = k;
    p->width = width;
    p->parameters_count = 0;
    p->parameters_lost = false;
    memset(p->input_place, 0, sizeof p->input_place);
    memset(p->output_place, 0, sizeof p->output_place);
    int64_t points = 1;
    for (int k = 0; k < p->rank; k++) points *= p->dim[k];
    if (points > most) most = points;
    p->wide_index = most > TN__LARGEST_INDEX;
}

static void put_parameters(tn__generator *g, tn__text *t)
{
    tn__plan *p = g->plan;
    int pointers = 0;
    tn__text_puts(t, "#define PARAMS");
    for (int o = 0; o < p->outputs_count; o++)
        tn__text_add(t, " __global P_%s *restrict q%d,", tn_dtype_name(p->outputs[o].dtype), o);
    for (int i = 0; i < p->inputs_count; i++) {
        tn__note_dtype(g, p->inputs[i].dtype);
        if (!p->inputs[i].value || p->inputs[i].pointer != pointers) continue;
        tn__text_add(t, " __global const P_%s *restrict p%d,", tn_dtype_name(p->inputs[i].dtype), pointers++);
    }
    for (int n = 0; n < p->numbers_count; n++) {
        if (p->numbers[n].compute == TN__CD) g->uses |= TN__USES_DOUBLE;
        tn__text_add(t, " const %s k%d,", tn__scalar_names[p->numbers[n].compute], n);
    }
    if (p->reports) tn__text_puts(t, " __global int *restrict fault,");
    const uint64_t bytes = 8u * (uint64_t)(p->outputs_count + pointers + p->numbers_count) +
                           (p->wide_index ? 8u : 4u) * (uint64_t)p->parameters_count + 128;
    p->parameters_in_buffer = bytes > p->device->parameter_bytes;
    if (p->parameters_in_buffer)
        tn__text_puts(t, " __global const long *restrict meta,");
    else
        for (int e = 0; e < p->parameters_count; e++) tn__text_add(t, " const IDX e%d,", e);
    tn__text_puts(t, "\n");
    for (int e = 0; p->parameters_in_buffer && e < p->parameters_count; e++) tn__text_add(t, "#define e%d ((IDX)meta[%d])\n", e, e);
}

tn_status tn__generator_finish(tn__generator *g, const char *file, const char *kernel)
{
    tn__plan *p = g->plan;
    tn__text parameters = g->parameters, *t = &p->unit.head, *text = &p->unit.text;
    static const char *const uses[] = {"USES_f16",    "USES_bf16",   "USES_DOUBLE", "USES_ODD_m", "USES_ODD_d",
                                       "USES_FMOD_f", "USES_FMOD_d", "USES_ERF_f",  "USES_ERFC_f"};
    g->parameters = (tn__text){0};
    if (!parameters.data) put_parameters(g, &parameters);
    tn__unit_free(&p->unit);
    tn__text_add(t, "#define W %d\n#define DEEP %d\n#define IDX %s\n", p->width, p->deep, p->wide_index ? "long" : "int");
    for (size_t u = 0; u < sizeof uses / sizeof uses[0]; u++)
        if (g->uses & (1u << u)) tn__text_add(t, "#define %s\n", uses[u]);
    if (p->device->fast_fma) tn__text_puts(t, "#define FAST_FMA\n");
    if (g->defines.data) tn__text_puts(t, g->defines.data);
    p->unit.file = file;
    p->unit.draws = (g->uses & TN__USES_RANDOM) != 0;
    p->unit.reports = p->reports;
    p->unit.looks = p->looks;
    tn__plan_launches(p, kernel);
    if (g->functions.data) tn__text_puts(text, g->functions.data);
    tn__text_puts(text, parameters.data ? parameters.data : "");
    if (g->macros.data) tn__text_puts(text, g->macros.data);
    const bool failed = p->parameters_lost || t->failed || text->failed || parameters.failed || g->macros.failed ||
                        g->functions.failed || g->defines.failed;
    tn__text_free(&parameters);
    tn__generator_free(g);
    if (failed) return tn__fail(TN_MEMORY, "no memory for the text of a kernel");
    if (!p->parameters_in_buffer) return TN_OK;
    const uint64_t bytes = (uint64_t)p->parameters_count * 8;
    if (!p->meta && !(p->meta = tn__buffer_new(p->device, bytes))) return tn_last_status();
    return tn__buffer_write(p->meta, 0, p->parameters, bytes);
}

void tn__generator_free(tn__generator *g)
{
    tn__text_free(&g->macros);
    tn__text_free(&g->functions);
    tn__text_free(&g->parameters);
    tn__text_free(&g->defines);
}

/* ---- arguments ---- */

void tn__argument_int(tn__argument *a, int *count, int32_t v)
{
    a[*count] = (tn__argument){.size = 4, .value.i32 = v};
    ++*count;
}

void tn__argument_index(const tn__plan *p, tn__argument *a, int *count, int64_t v)
{
    if (p->wide_index)
        a[*count] = (tn__argument){.size = 8, .value.i64 = v};
    else
        a[*count] = (tn__argument){.size = 4, .value.i32 = (int32_t)v};
    ++*count;
}

tn__argument tn__number_argument(const tn__number *n)
{
    return (tn__argument){.size = n->compute == TN__CD || n->compute >= TN__CL ? 8 : 4, .value.u64 = n->m};
}

/* With these parameters, or the buffer that holds them. */
static int put_arguments(const tn__plan *p, const int64_t *parameters, int parameters_count, tn__buffer *meta, tn__argument *a)
{
    int n = 0, pointers = 0;
    for (int o = 0; o < p->outputs_count; o++) a[n++] = (tn__argument){.buffer = p->outputs[o].bytes};
    for (int i = 0; i < p->inputs_count; i++)
        if (p->inputs[i].value && p->inputs[i].pointer == pointers) {
            a[n++] = (tn__argument){.buffer = p->inputs[i].value->buffer};
            pointers++;
        }
    for (int k = 0; k < p->numbers_count; k++) a[n++] = tn__number_argument(&p->numbers[k]);
    if (p->reports) a[n++] = (tn__argument){.buffer = p->device->faults};
    if (meta) a[n++] = (tn__argument){.buffer = meta};
    for (int e = 0; !meta && e < parameters_count; e++) tn__argument_index(p, a, &n, parameters[e]);
    return n;
}

int tn__plan_arguments(const tn__plan *p, tn__argument *a)
{
    return put_arguments(p, p->parameters, p->parameters_count, p->meta, a);
}

int tn__stage_arguments(const tn__plan *p, int i, tn__argument *a)
{
    const tn__stage *stage = &p->stages[i];
    return put_arguments(p, stage->parameters, stage->parameters_count, stage->meta, a);
}

tn_status tn__launch_items(const tn__plan *p, tn__kernel *kernel, const tn__argument *a, int count, int64_t items)
{
    enum { ITEM_LOCAL = 64 };
    if (!kernel) return tn_last_status();
    const uint64_t most = tn__kernel_max_group(kernel), local = p->deep ? 1 : most < ITEM_LOCAL ? most : ITEM_LOCAL;
    return tn__launch(kernel, a, count, ((uint64_t)items + local - 1) / local * local, local);
}

int tn__group_size(const tn__device *device, int most)
{
    const int bound = atomic_load(&device->group_bound);
    int size = 1;
    while (size * 2 <= most && (size_t)size * 2 <= device->info.max_work_group && (bound == 0 || size * 2 <= bound)) size *= 2;
    return size;
}

void tn__plan_launches(tn__plan *p, const char *kernel)
{
    p->unit.names[p->unit.count++] = kernel;
}

void tn__plan_save_stage(tn__plan *p, int i)
{
    tn__stage *stage = &p->stages[i];
    tn__stage_free(stage);
    *stage = (tn__stage){p->unit, p->parameters, p->parameters_count, p->meta};
    p->unit = (tn__unit){0};
    p->parameters = NULL;
    p->parameters_count = p->parameters_capacity = 0;
    p->meta = NULL;
}
