/* Matrix products in OpenCL: programs, packing, launches, panels kept with a value. */
#include "graph/forms.h"
#include "graph/generate.h"
#include "ops/matmul.h"

enum { BATCH, ROWS, COLUMNS, INNER }; /* groups of the domain's axes */
enum { PACK_STEPS = 64 };

void tn__matmul_arrange(tn__plan *p)
{
    for (int k = 0; k < p->rank; k++) p->group[k] = k < p->rank - 3 ? BATCH : k - (p->rank - 3) + ROWS;
    p->splits = 1u << BATCH;
}

static int axis_of(const tn__plan *p, int group)
{
    int k = 0;
    while (p->group[k] != group) k++;
    return k;
}

static const tn__plan_input *operand_input(const tn__plan *p, int section)
{
    for (int s = 0; s < p->steps_count; s++)
        if (p->steps[s].section == section && p->steps[s].kind == TN__LOAD) return &p->inputs[p->steps[s].a[0]];
    return NULL;
}

/* Is what is loaded of another kind than what is computed with? */
static bool converts(const tn__plan *p, int section, int element)
{
    const tn_dtype from = operand_input(p, section)->dtype;
    return (int)tn_dtype_size(from) != element || tn_dtype_is_float(from) != tn_dtype_is_float(p->anchor->dtype);
}

static tn__matmul_case case_of(const tn__plan *p)
{
    const int m = axis_of(p, ROWS), n = axis_of(p, COLUMNS), k = axis_of(p, INNER);
    const tn__window *a = &operand_input(p, 0)->window, *b = &operand_input(p, 1)->window;
    tn__matmul_case c = {.m = p->dim[m], .n = p->dim[n], .k = p->dim[k], .batch = 1, .device = p->device, .deep = p->deep};
    for (int g = 0; g < p->rank; g++)
        if (p->group[g] == BATCH) c.batch *= p->dim[g];
    c.a_rs = a->stride[m], c.a_cs = c.k == 1 ? 1 : a->stride[k];
    c.b_rs = b->stride[k], c.b_cs = c.n == 1 ? 1 : b->stride[n];
    c.element = tn__dtypes[p->anchor->dtype].compute == TN__CD || tn__dtypes[p->anchor->dtype].compute >= TN__CL ? 8 : 4;
    c.b_kept = p->form != NULL;
    c.a_converts = converts(p, 0, c.element);
    c.b_converts = converts(p, 1, c.element);
    return c;
}

/* The same operand for every batch? */
static bool is_shared(const tn__plan *p, int section)
{
    const tn__window *w = &operand_input(p, section)->window;
    for (int g = 0; g < p->rank; g++)
        if (p->group[g] == BATCH && p->dim[g] > 1 && w->stride[g] != 0) return false;
    return true;
}

static void put_types(tn__generator *g, tn_dtype dtype)
{
    static const char *const scalars[] = {"float", "double", "uint", "uint", "ulong", "ulong"};
    const tn__compute c = tn__dtypes[dtype].compute;
    tn__text_add(&g->defines, "#define T %s\n#define TW VEC(T)\n", scalars[c]);
    tn__text_puts(&g->defines, tn_dtype_is_float(dtype) && g->plan->device->fast_fma ? "#define MAD(a, b, c) fma(a, b, c)\n"
                                                                                     : "#define MAD(a, b, c) ((a) * (b) + (c))\n");
}

int tn__matmul_operand(tn__generator *g, int section, const char *letter, tn_dtype dtype)
{
    static const char *const words[] = {"", "", "as_uint", "", "as_ulong", ""}, *const vectors[] = {"(", "(",          "AS(uint, ",
                                                                                                    "(", "AS(ulong, ", "("};
    const tn__compute c = tn__dtypes[dtype].compute;
    char form[16], name[16];
    snprintf(form, sizeof form, "form_%d", section);
    snprintf(name, sizeof name, "PLAIN_%d", section);
    const int input = tn__generate_form(g, section, form, name);
    tn__text_add(&g->macros, "#define LOAD_%s(place) %s(PLAIN_%d(place))\n", letter, words[c], section);
    tn__text_add(&g->macros, "#define LOAD_%sW(place) %sPLAIN_%dW(place))\n", letter, vectors[c], section);
    return input;
}

/* Of packed panels; the same for all kernels of a product, so that they agree on the index type. */
static int64_t largest_index(const tn__matmul_case *c)
{
    return ((c->m > c->n ? c->m : c->n) + 128) * c->k * c->batch;
}

/* How an operand lies in panels: columns of a panel, lanes in which it is read, panels, bytes. */
typedef struct packing {
    int columns, lanes;
    int64_t panels, batch_stride; /* elements; 0: one for all */
    uint64_t bytes;
} packing;

static packing packing_of(const tn__plan *p, int section, const tn__matmul_case *c, const tn__matmul_shape *s)
{
    const bool turned = section == 0, unit = (turned ? c->a_rs : c->b_cs) == 1, shared = is_shared(p, section);
    const int64_t n = turned ? c->m : c->n;
    packing q = {.columns = turned ? s->mr : s->nv * s->width};
    q.lanes = !unit ? s->lanes : !turned ? s->width : s->mr % 4 == 0 ? 4 : 2;
    q.panels = (n + q.columns - 1) / q.columns;
    q.batch_stride = q.panels * q.columns * c->k;
    q.bytes = (uint64_t)(q.batch_stride * (shared ? 1 : c->batch)) * (uint64_t)c->element;
    if (shared) q.batch_stride = 0;
    return q;
}

/* B (or A, turned) into panels: stage `section` of the plan. */
static tn_status generate_pack(tn__plan *p, int section, const tn__matmul_case *c, const tn__matmul_shape *s)
{
    tn__generator g;
    tn__role role[TN__RANK];
    const bool turned = section == 0;
    const int64_t rs = turned ? c->a_cs : c->b_rs, cs = turned ? c->a_rs : c->b_cs;
    const packing q = packing_of(p, section, c, s);
    for (int k = 0; k < p->rank; k++) role[k] = p->group[k] == BATCH ? TN__OUTER : TN__APART;
    tn__generator_start(&g, p, role, q.lanes, largest_index(c));
    put_types(&g, p->anchor->dtype);
    tn__generate_places(&g, section);
    const int input = tn__matmul_operand(&g, section, "B", p->anchor->dtype);
    tn__text_add(&g.defines, "#define ATTR __attribute__((reqd_work_group_size(1, 1, 1)))\n#define PACK 1\n#define NR %d\n",
                 q.columns);
    tn__text_add(&g.defines, "#define B_UNIT %d\n#define B_COL %d\n#define A_UNIT 0\n#define A_COL 0\n", cs == 1,
                 cs != 1 && rs == 1);
    tn__text_add(&g.macros, "#define BATCH(z) P%d_OUTER(z) const IDX b0 = op%d;\n", section, input);
    TN__TRY(tn__generator_finish(&g, "matmul_deep.cl", "matmul_pack"));
    tn__plan_save_stage(p, section);
    if (!p->scratch[section]) p->scratch[section] = tn__buffer_new(p->device, q.bytes);
    return p->scratch[section] ? TN_OK : tn_last_status();
}

void tn__matmul_start(tn__generator *g, tn__plan *p, const tn__matmul_case *c, int width)
{
    tn__role role[TN__RANK];
    for (int k = 0; k < p->rank; k++)
        role[k] = p->group[k] == BATCH     ? TN__OUTER
                  : p->group[k] == ROWS    ? TN__MIDDLE
                  : p->group[k] == COLUMNS ? TN__INNER
                                           : TN__APART;
    tn__generator_start(g, p, role, width, largest_index(c));
    put_types(g, p->anchor->dtype);
}

void tn__matmul_result(tn__generator *g, tn_dtype dtype)
{
    static const char *const back[] = {"", "", "AS(int, ", "", "AS(long, ", ""};
    const char *cast = back[tn__dtypes[dtype].compute];
    tn__generate_section(g, TN__SECTION_END);
    tn__generate_single(g);
    tn__text_add(&g->macros, "#define RESULT ROUND_%s(%sresult%s)\n", tn_dtype_name(dtype), cast, cast[0] ? ")" : "");
    tn__text_puts(&g->macros, "#define STOREW(z, m, n, v) { const TW result = (v); E_MIDDLE((m)) E_EVAL((n)) E_STORE((n)) }\n"
                              "#define STORE(z, m, n, v) { const TW result = (TW)(v); E_MIDDLE((m)) S_EVAL((n)) S_STORE((n)) }\n");
}

/* Does a product so deep that a loop more does not count compute something of its results? Only register tiles have the loop. */
static bool is_rolled(const tn__plan *p, const tn__matmul_case *c, const tn__matmul_shape *s)
{
    enum { DEEP_ENOUGH = 128 };
    bool computes = false;
    for (int i = 0; i < p->steps_count; i++)
        computes = computes || (p->steps[i].section == TN__SECTION_END && p->steps[i].kind == TN__APPLY);
    return computes && c->k >= DEEP_ENOUGH && !s->dot && !s->sweep;
}

static tn_status generate_product(tn__plan *p, const tn__matmul_case *c, const tn__matmul_shape *s)
{
    tn__generator g;
    const tn_dtype dtype = p->anchor->dtype;
    tn__matmul_start(&g, p, c, s->width);
    p->local = (int)s->local;
    tn__text_add(&g.defines,
                 "#define ATTR __attribute__((reqd_work_group_size(1, 1, 1)))\n#define MR %d\n#define NV %d\n#define DOT %d\n"
                 "#define A_PACKED %d\n#define B_PACKED %d\n#define SWEEP %d\n#define ROLLED %d\n",
                 s->mr, s->nv, s->dot, s->a_packed, s->b_packed, s->sweep ? s->most_columns : 0, is_rolled(p, c, s));
    tn__text_add(&g.defines, "#define A_UNIT %d\n#define A_COL %d\n#define B_UNIT %d\n#define B_COL %d\n", c->a_cs == 1,
                 c->a_cs != 1 && c->a_rs == 1, c->b_cs == 1, (s->dot || c->b_cs != 1) && c->b_rs == 1);
    tn__generate_places(&g, 0);
    tn__generate_places(&g, 1);
    tn__matmul_result(&g, dtype);
    const int a = tn__matmul_operand(&g, 0, "A", dtype), b = tn__matmul_operand(&g, 1, "B", dtype);
    tn__text_add(&g.macros, "#define BATCH(z) P0_OUTER(z) P1_OUTER(z) E_OUTER(z) const IDX a0 = op%d, b0 = op%d;\n", a, b);
    return tn__generator_finish(&g, "matmul_deep.cl", "matmul");
}

tn_status tn__matmul_generate(tn__plan *p)
{
    const tn__matmul_case c = case_of(p);
    if (!p->deep) return tn__matmul_wide_generate(p, &c);
    const tn__matmul_shape s = tn__matmul_choose(&c);
    if (s.a_packed) TN__TRY(generate_pack(p, 0, &c, &s));
    if (s.b_packed) TN__TRY(generate_pack(p, 1, &c, &s));
    p->global = s.global;
    return generate_product(p, &c, &s);
}

static tn_status launch_pack(tn__plan *p, int section, const tn__matmul_case *c, const packing *q)
{
    tn__argument a[TN__ARGUMENTS];
    const bool turned = section == 0;
    const int64_t chunks = (c->k + PACK_STEPS - 1) / PACK_STEPS, batches = q->batch_stride ? c->batch : 1;
    int count = tn__stage_arguments(p, section, a);
    a[count++] = (tn__argument){.buffer = p->scratch[section]};
    a[count++] = (tn__argument){.size = 8, .value.i64 = q->batch_stride};
    tn__argument_int(a, &count, (int32_t)(turned ? c->m : c->n));
    tn__argument_int(a, &count, (int32_t)c->k);
    tn__argument_index(p, a, &count, turned ? c->a_cs : c->b_rs);
    tn__argument_index(p, a, &count, turned ? c->a_rs : c->b_cs);
    tn__argument_int(a, &count, PACK_STEPS);
    tn__argument_int(a, &count, (int32_t)q->panels);
    tn__argument_int(a, &count, (int32_t)chunks);
    TN__TRY(tn__launch(p->stages[section].unit.kernel[0], a, count, (uint64_t)(q->panels * chunks * batches), 1));
    if (section == 1 && p->form) tn__form_keep(p->form, p->scratch[1]);
    return TN_OK;
}

/* Without memory for it the product does as it would for one time. */
static void take_form(tn__plan *p, uint64_t bytes)
{
    p->scratch[1] = tn__form_bytes(p->form);
    p->form_ready = p->scratch[1] != NULL;
    if (p->form_ready) return;
    tn__error_attempt();
    p->scratch[1] = tn__buffer_new(p->device, bytes);
    tn__error_attempt_end();
    if (!p->scratch[1]) p->form = NULL;
}

/* Panels of B that are kept with its value: those of an operand that is stored as it is, or only converted. */
void tn__matmul_take_forms(tn__plan *p)
{
    tn__matmul_case c = case_of(p);
    if (!tn__matmul_keeps(&c)) return;
    c.b_kept = true;
    const tn__matmul_shape s = tn__matmul_choose(&c);
    tn__text key = {0};
    const packing q = packing_of(p, 1, &c, &s);
    const tn__plan_input *b = operand_input(p, 1);
    const int64_t facts[] = {q.columns, c.k, c.n, c.batch, p->rank, b->window.offset, (int64_t)b->dtype, (int64_t)p->anchor->dtype};
    tn__text_put(&key, (const char *)facts, sizeof facts);
    tn__text_put(&key, (const char *)p->dim, (size_t)p->rank * sizeof p->dim[0]);
    tn__text_put(&key, (const char *)b->window.stride, (size_t)p->rank * sizeof b->window.stride[0]);
    for (int i = 0; i < p->steps_count; i++)
        if (p->steps[i].section == 1 && p->steps[i].kind != TN__LOAD && p->steps[i].kind != TN__CONVERT) key.failed = true;
    p->form = tn__form_ask(b->value, &key);
    if (p->form) take_form(p, q.bytes);
    tn__text_free(&key);
}

void tn__matmul_sizes(const tn__plan *p, const tn__matmul_case *c, tn__argument *a, int *count)
{
    tn__argument_int(a, count, (int32_t)c->m);
    tn__argument_int(a, count, (int32_t)c->n);
    tn__argument_int(a, count, (int32_t)c->k);
    tn__argument_index(p, a, count, c->a_rs);
    tn__argument_index(p, a, count, c->a_cs);
    tn__argument_index(p, a, count, c->b_rs);
    tn__argument_index(p, a, count, c->b_cs);
}

tn_status tn__matmul_launch(tn__plan *p)
{
    tn__argument a[TN__ARGUMENTS];
    const tn__matmul_case c = case_of(p);
    if (!p->deep) return tn__matmul_wide_launch(p, &c);
    tn__matmul_shape s = tn__matmul_choose(&c);
    packing packed[2] = {{0}};
    for (int i = 0; i < 2; i++) {
        if (i == 0 ? !s.a_packed : !s.b_packed) continue;
        packed[i] = packing_of(p, i, &c, &s);
        if (i == 0 || !p->form_ready) TN__TRY(launch_pack(p, i, &c, &packed[i]));
    }
    int count = tn__plan_arguments(p, a);
    tn__matmul_sizes(p, &c, a, &count);
    tn__argument_int(a, &count, s.tiles);
    tn__argument_int(a, &count, (int32_t)s.panels);
    tn__argument_int(a, &count, (int32_t)s.chunks);
    for (int i = 0; i < 2; i++) {
        if (i == 0 ? !s.a_packed : !s.b_packed) continue;
        a[count++] = (tn__argument){.buffer = p->scratch[i]};
        a[count++] = (tn__argument){.size = 8, .value.i64 = packed[i].batch_stride};
    }
    return tn__launch(p->unit.kernel[0], a, count, s.global, s.local);
}

bool tn__matmul_concede(const tn__plan *p)
{
    const tn__matmul_case c = case_of(p);
    return !p->deep && tn__matmul_wide_concede(p, &c);
}
