/* One launch for the same expression over values of different sizes (an optimizer over all parameters). Segments share the
 * text; what differs - places, extents, numbers of units - are rows of a table in a buffer, and pointers are chosen by the
 * segment's number. */
#include "graph/generate.h"
#include "base/alloc.h"
#include <string.h>

enum { MOST_SEGMENTS = 64, RUN = 2048, GROUPS_PER_UNIT = 16, WIDE_LOCAL = 128, WIDE_GROUPS_PER_UNIT = 32 };

/* ---- pointers ---- */

/* Made with the text: an input that is pending then is an entry of its own, even if it gets a part of another one's buffer. */
typedef struct tn__pointers {
    int count;
    tn__value *value[TN__ARGUMENTS]; /* the distinct inputs */
    int pointer[TN__ARGUMENTS];      /* which pointer of the text each stands for */
} pointer_table;

static int pointers_of(const tn__plan *p)
{
    int most = 0;
    for (int i = 0; i < p->inputs_count; i++)
        if (p->inputs[i].value && p->inputs[i].pointer >= most) most = p->inputs[i].pointer + 1;
    return most;
}

static tn__value *value_behind(const tn__plan *p, int pointer)
{
    for (int i = 0; i < p->inputs_count; i++)
        if (p->inputs[i].value && p->inputs[i].pointer == pointer) return p->inputs[i].value;
    return NULL;
}

static int table_index(pointer_table *t, tn__value *value, int pointer)
{
    for (int i = 0; i < t->count; i++)
        if (t->pointer[i] == pointer && (t->value[i] == value || (value->buffer && t->value[i]->buffer == value->buffer))) return i;
    t->value[t->count] = value;
    t->pointer[t->count] = pointer;
    return t->count++;
}

/* ---- joining ---- */

static bool is_flat(const tn__plan *p)
{
    if (p->anchor || p->looks || p->rank > 1) return false;
    for (int o = 0; p->rank == 1 && o < p->outputs_count; o++) /* a part that is written into may have gaps */
        if (p->dim[0] > 1 && p->outputs[o].window.stride[0] != 1) return false;
    for (int i = 0; i < p->inputs_count; i++)
        if (!p->inputs[i].value || (p->rank == 1 && p->inputs[i].window.stride[0] != 1 && p->inputs[i].window.stride[0] != 0))
            return false;
    return true;
}

/* A single element is read alike whether an input moves or stands still. */
static bool is_single(const tn__plan *p)
{
    return p->rank == 0 || (p->rank == 1 && p->dim[0] == 1);
}

static bool same_steps(const tn__plan *a, const tn__plan *b)
{
    for (int s = 0; s < a->steps_count; s++) {
        const tn__step *x = &a->steps[s], *y = &b->steps[s];
        if (x->kind != y->kind || memcmp(x->a, y->a, sizeof x->a) != 0 || x->dtype != y->dtype || x->row != y->row) return false;
        if ((x->kind == TN__APPLY || x->kind == TN__CONVERT) && x->from != y->from) return false;
    }
    return true;
}

/* Does b fit into the launch of a? */
static bool same_plans(const tn__plan *a, const tn__plan *b)
{
    if (is_single(a) && !is_single(b)) return false; /* the text is made for the larger ones */
    if (a->written != b->written) return false;
    if (a->level != b->level || a->rank != b->rank || a->steps_count != b->steps_count || a->inputs_count != b->inputs_count ||
        a->numbers_count != b->numbers_count || a->outputs_count != b->outputs_count)
        return false;
    for (int i = 0; i < a->inputs_count; i++)
        if (a->inputs[i].dtype != b->inputs[i].dtype || a->inputs[i].pointer != b->inputs[i].pointer ||
            (!is_single(b) && a->inputs[i].window.stride[0] != b->inputs[i].window.stride[0]))
            return false;
    for (int n = 0; n < a->numbers_count; n++)
        if (a->numbers[n].compute != b->numbers[n].compute || a->numbers[n].m != b->numbers[n].m) return false;
    for (int o = 0; o < a->outputs_count; o++)
        if (a->outputs[o].dtype != b->outputs[o].dtype || a->outputs[o].step != b->outputs[o].step) return false;
    return same_steps(a, b);
}

/* An axis of one element has been dropped from some plans and not from others: all flat plans get one axis. */
static void give_axis(tn__plan *p)
{
    if (p->rank == 1) return;
    p->rank = 1;
    p->dim[0] = 1;
    p->group[0] = 0;
}

static bool comes_before(const tn__plan *a, const tn__plan *b)
{
    if (a->level != b->level) return a->level < b->level;
    return !(is_flat(a) && is_single(a)) && is_flat(b) && is_single(b);
}

/* By level, single elements last, else in the order made: nothing between two plans of one level makes what the later one reads. */
static void sort_by_level(tn__plan **first)
{
    tn__plan *sorted = NULL, *tail = NULL;
    for (tn__plan *p = *first, *next; p; p = next) {
        next = p->next;
        tn__plan **link = tail && !comes_before(p, tail) ? &tail->next : &sorted;
        while (*link && !comes_before(p, *link)) link = &(*link)->next;
        p->next = *link;
        *link = p;
        if (!p->next) tail = p;
    }
    *first = sorted;
}

/* What no other plan of the run waits for may wait itself: updates of parameters meet at the end. */
static void put_off(tn__plan *first)
{
    int last = 0;
    for (tn__plan *p = first; p; p = p->next) {
        if (p->level > last) last = p->level;
        for (int i = 0; i < p->inputs_count; i++)
            if (p->inputs[i].value && p->inputs[i].value->node) p->inputs[i].value->node->awaited = true;
    }
    for (tn__plan *p = first; p; p = p->next) {
        bool awaited = !is_flat(p);
        for (int o = 0; o < p->outputs_count; o++) awaited = awaited || p->outputs[o].value->node->awaited;
        if (!awaited) p->level = last;
    }
}

/* Adds what p points to, unless there would be more than `most`. */
static bool add_pointers(pointer_table *t, const tn__plan *p, int most)
{
    const int before = t->count;
    for (int pointer = 0; pointer < pointers_of(p); pointer++) {
        (void)table_index(t, value_behind(p, pointer), pointer);
        if (t->count <= most) continue;
        t->count = before;
        return false;
    }
    return true;
}

/* Pointers of a launch, such that its arguments fit. */
static int most_pointers(const tn__plan *head)
{
    const int fit = (int)(head->device->parameter_bytes / 8) * 3 / 4 - head->outputs_count;
    const int room = TN__ARGUMENTS - head->outputs_count - head->numbers_count - 8; /* the table's and the launch's own */
    return fit < room ? fit : room;
}

/* Takes what fits into head's launch out of the list behind it. */
static void join_to(tn__plan *head)
{
    pointer_table t = {.count = 0};
    tn__plan *tail = head;
    const int most = most_pointers(head);
    int count = 1;
    if (!add_pointers(&t, head, most)) return;
    for (tn__plan **link = &head->next; *link && count < MOST_SEGMENTS;) {
        tn__plan *other = *link;
        give_axis(head);
        if (is_flat(other)) give_axis(other);
        if (!is_flat(other) || !same_plans(head, other) || !add_pointers(&t, other, most)) {
            link = &other->next;
            continue;
        }
        *link = other->next;
        other->next = NULL;
        tail->next_segment = other;
        tail = other;
        count++;
    }
}

void tn__join_segments(tn__plan **first)
{
    put_off(*first);
    sort_by_level(first);
    for (tn__plan *head = *first; head; head = head->next)
        if (is_flat(head)) join_to(head);
}

/* ---- pointers in the text ---- */

tn_status tn__segments_pointers(tn__plan *head, tn__text *key)
{
    head->pointers = tn__zalloc(sizeof *head->pointers);
    if (!head->pointers) return TN_MEMORY;
    for (int pointer = 0; pointer < pointers_of(head); pointer++)
        for (const tn__plan *p = head; p; p = p->next_segment) {
            const int at = table_index(head->pointers, value_behind(p, pointer), pointer);
            tn__text_put(key, (const char *)&at, sizeof at);
        }
    return TN_OK;
}

static tn_dtype pointer_dtype(const tn__plan *p, int pointer)
{
    int i = 0;
    while (p->inputs[i].pointer != pointer) i++;
    return p->inputs[i].dtype;
}

/* "const float *p0 = s == 0 ? i0 : s == 1 ? i1 : i2;", shorter where neighbours share one. */
static void put_select(tn__generator *g, const tn__plan *head, pointer_table *t)
{
    tn__text_puts(&g->macros, "#define SELECT(s)");
    for (int pointer = 0; pointer < pointers_of(head); pointer++) {
        tn__text_add(&g->macros, " \\\n    __global const P_%s *const p%d = ", tn_dtype_name(pointer_dtype(head, pointer)),
                     pointer);
        int s = 0;
        for (const tn__plan *p = head; p; p = p->next_segment, s++) {
            const int at = table_index(t, value_behind(p, pointer), pointer);
            const bool last = !p->next_segment;
            if (!last && table_index(t, value_behind(p->next_segment, pointer), pointer) == at) continue;
            if (last)
                tn__text_add(&g->macros, "i%d;", at);
            else
                tn__text_add(&g->macros, "(s) <= %d ? i%d : ", s, at);
        }
    }
    tn__text_puts(&g->macros, "\n");
}

static void put_parameters(tn__generator *g, const tn__plan *head, const pointer_table *t)
{
    tn__text *out = &g->parameters;
    tn__text_puts(out, "#define PARAMS");
    for (int o = 0; o < head->outputs_count; o++)
        tn__text_add(out, " __global P_%s *restrict q%d,", tn_dtype_name(head->outputs[o].dtype), o);
    for (int i = 0; i < t->count; i++)
        tn__text_add(out, " __global const P_%s *i%d,", tn_dtype_name(pointer_dtype(head, t->pointer[i])), i);
    for (int n = 0; n < head->numbers_count; n++)
        tn__text_add(out, " const %s k%d,", tn__scalar_names[head->numbers[n].compute], n);
    tn__text_puts(out, " __global const long *restrict meta,\n");
    for (int e = 0; e < head->parameters_count; e++) tn__text_add(out, "#define e%d ((IDX)meta[place + %d])\n", e, e);
}

/* ---- the program and its table ---- */

static int64_t units_of(const tn__plan *p, int64_t run)
{
    return (p->dim[0] + run - 1) / run;
}

/* A segment's row: its parameters, extent, first unit. */
static tn_status write_table(tn__plan *head, int64_t run, int segments)
{
    enum { MOST_ROW = 512 };
    int64_t table[MOST_ROW * 4], first = 0;
    const int row = head->parameters_count + 2;
    if (row > MOST_ROW) return tn__fail(TN_INTERNAL, "a segment of %d parameters", row);
    tn__buffer_release(head->meta);
    head->meta = tn__buffer_new(head->device, (uint64_t)row * (uint64_t)segments * 8);
    if (!head->meta) return tn_last_status();
    int filled = 0, written = 0;
    for (const tn__plan *p = head; p; p = p->next_segment) {
        memcpy(table + filled, p->parameters, (size_t)head->parameters_count * sizeof table[0]);
        table[filled + row - 2] = p->dim[0];
        table[filled + row - 1] = first;
        first += units_of(p, run);
        filled += row;
        if (p->next_segment && filled + row <= MOST_ROW * 4) continue;
        TN__TRY(tn__buffer_write(head->meta, (uint64_t)written * 8, table, (uint64_t)filled * 8));
        written += filled;
        filled = 0;
    }
    return TN_OK;
}

/* The macros of one plan; only the head's text is used, of the others the parameters. */
static void generate_macros(tn__generator *g, tn__plan *p, const tn__plan *head, int width, int64_t extra)
{
    const tn__role role[1] = {TN__INNER};
    const int64_t n = p->dim[0];
    tn__generator_start(g, p, role, width, extra);
    g->macros.failed = g->functions.failed = p != head; /* takes no text */
    p->dim[0] = n > 1 ? n : 2;                          /* the text treats one element as a row */
    for (int i = 0; n == 1 && i < p->inputs_count; i++)
        p->inputs[i].window.stride[0] = is_single(head) ? 1 : head->inputs[i].window.stride[0];
    for (int o = 0; n == 1 && o < p->outputs_count; o++) p->outputs[o].window.stride[0] = 1;
    tn__generate_section(g, TN__SECTION_END);
    tn__generate_single(g);
    p->dim[0] = n;
}

static int lanes_of(const tn__plan *head)
{
    const tn__role role[1] = {TN__INNER};
    int width = 1;
    for (const tn__plan *p = head; p; p = p->next_segment) {
        const int w = tn__plan_width(p, role);
        if (w > width) width = w;
    }
    return width;
}

tn_status tn__segments_generate(tn__plan *head)
{
    tn__generator g;
    int64_t extra = 0;
    int segments = 0;
    const int width = lanes_of(head);
    for (tn__plan *p = head; p; p = p->next_segment, segments++)
        for (int k = 0; k < p->inputs_count + p->outputs_count; k++) {
            const tn__plan_output *out = &p->outputs[k < p->inputs_count ? 0 : k - p->inputs_count];
            const int64_t at = k < p->inputs_count ? p->inputs[k].value->base + p->inputs[k].window.offset
                                                   : out->base + out->window.offset;
            if (at + p->dim[0] > extra) extra = at + p->dim[0];
        }
    for (tn__plan *p = head->next_segment; p; p = p->next_segment) {
        generate_macros(&g, p, head, width, extra);
        tn__generator_free(&g);
    }
    generate_macros(&g, head, head, width, extra);
    tn__generate_stream(&g);
    put_select(&g, head, head->pointers);
    put_parameters(&g, head, head->pointers);
    tn__text_add(&g.defines, "#define SEGMENTS %d\n#define ROW %d\n", segments, head->parameters_count + 2);
    const tn_status status = tn__generator_finish(&g, "segments.cl", "segments");
    return status == TN_OK ? write_table(head, head->deep ? RUN : width, segments) : status;
}

tn_status tn__segments_launch(tn__plan *head)
{
    tn__argument a[TN__ARGUMENTS];
    const pointer_table *table = head->pointers;
    int count = 0;
    for (int o = 0; o < head->outputs_count; o++) a[count++] = (tn__argument){.buffer = head->outputs[o].bytes};
    for (int i = 0; i < table->count; i++) a[count++] = (tn__argument){.buffer = table->value[i]->buffer};
    for (int k = 0; k < head->numbers_count; k++) a[count++] = tn__number_argument(&head->numbers[k]);
    a[count++] = (tn__argument){.buffer = head->meta};
    const int64_t run = head->deep ? RUN : head->width;
    int64_t units = 0;
    for (const tn__plan *p = head; p; p = p->next_segment) units += units_of(p, run);
    const int64_t items = (int64_t)head->device->compute_units * GROUPS_PER_UNIT,
                  per = head->deep ? (units + items - 1) / items : 1;
    tn__argument_index(head, a, &count, run);
    tn__argument_index(head, a, &count, units);
    tn__argument_index(head, a, &count, per);
    if (head->deep) return tn__launch(head->unit.kernel[0], a, count, (uint64_t)((units + per - 1) / per), 1);
    uint64_t local = tn__kernel_max_group(head->unit.kernel[0]) < WIDE_LOCAL ? tn__kernel_max_group(head->unit.kernel[0])
                                                                             : WIDE_LOCAL;
    uint64_t groups = ((uint64_t)units + local - 1) / local;
    const uint64_t bound = (uint64_t)head->device->compute_units * WIDE_GROUPS_PER_UNIT;
    if (groups > bound) groups = bound;
    return tn__launch(head->unit.kernel[0], a, count, groups * local, local);
}
