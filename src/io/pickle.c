/* The pickle machine: a table of instructions, a stack, a memo. */
#include "io/pickle.h"
#include "base/alloc.h"
#include <inttypes.h>
#include <string.h>

enum { WINDOW = 1 << 14, NAME_MOST = 200 };

/* A growing list of values: the stack, the memo. */
typedef struct list {
    tn__pickle_value **at;
    size_t count, capacity;
} list;

typedef struct tn__pickle_state {
    list stack, memo;
    bool stopped;
    /* the bytes at hand */
    const unsigned char *memory;
    uint64_t window_at;
    size_t window_length;
    unsigned char window[WINDOW];
} state;

static tn_status fault(const tn__pickle *p, const char *what)
{
    return tn__pickle_fault(p, "is damaged at byte %" PRIu64 ": %s", p->at, what);
}

static tn_status reserve(list *l, size_t count)
{
    if (count <= l->capacity) return TN_OK;
    const size_t capacity = count < 64 ? 64 : 2 * count;
    tn__pickle_value **more = tn__realloc(l->at, capacity * sizeof *more);
    if (!more) return TN_MEMORY;
    l->at = more;
    l->capacity = capacity;
    return TN_OK;
}

/* ---- the stack ---- */

static tn_status push(tn__pickle *p, tn__pickle_value *value)
{
    list *stack = &p->state->stack;
    if (!value) return tn_last_status();
    TN__TRY(reserve(stack, stack->count + 1));
    stack->at[stack->count++] = value;
    return TN_OK;
}

/* The value `below` the top, which is no mark. */
static tn_status peek(const tn__pickle *p, size_t below, tn__pickle_value **value)
{
    const list *stack = &p->state->stack;
    if (stack->count <= below || stack->at[stack->count - 1 - below]->kind == TN__PICKLE_MARK)
        return fault(p, "it takes more from the stack than there is");
    *value = stack->at[stack->count - 1 - below];
    return TN_OK;
}

static tn_status pop(tn__pickle *p, tn__pickle_value **value)
{
    TN__TRY(peek(p, 0, value));
    p->state->stack.count--;
    return TN_OK;
}

/* Place of the first value above the last mark. */
static tn_status find_mark(const tn__pickle *p, size_t *first)
{
    const list *stack = &p->state->stack;
    for (*first = stack->count; *first > 0; --*first)
        if (stack->at[*first - 1]->kind == TN__PICKLE_MARK) return TN_OK;
    return fault(p, "there is no mark on the stack");
}

/* ---- bytes ---- */

/* Fills the window from p->at. */
static tn_status look(tn__pickle *p)
{
    state *s = p->state;
    const uint64_t left = p->end - p->at;
    s->window_at = p->at;
    s->window_length = left < WINDOW ? (size_t)left : WINDOW;
    if (!s->memory) return tn__archive_read(p->archive, p->at, s->window, s->window_length);
    memcpy(s->window, s->memory + p->at, s->window_length);
    return TN_OK;
}

static tn_status take(tn__pickle *p, void *out, uint64_t count)
{
    state *s = p->state;
    unsigned char *to = out;
    if (count > p->end - p->at)
        return tn__pickle_fault(p, "ends too early: at byte %" PRIu64 " it needs %" PRIu64 " more, %" PRIu64 " are left", p->at,
                                count, p->end - p->at);
    while (count > 0) {
        if (p->at - s->window_at >= s->window_length) TN__TRY(look(p));
        const size_t from = (size_t)(p->at - s->window_at), there = s->window_length - from;
        const size_t n = count < there ? (size_t)count : there;
        memcpy(to, s->window + from, n);
        to += n;
        p->at += n;
        count -= n;
    }
    return TN_OK;
}

/* A little-endian number of so many bytes. */
static tn_status take_number(tn__pickle *p, int bytes, uint64_t *value)
{
    unsigned char raw[8];
    TN__TRY(take(p, raw, (uint64_t)bytes));
    *value = tn__little(raw, bytes);
    return TN_OK;
}

/* A text of so many bytes, terminated. */
static tn_status take_text(tn__pickle *p, uint64_t length, tn__pickle_value **value)
{
    if (length > p->end - p->at)
        return tn__pickle_fault(p, "ends too early: a text of %" PRIu64 " bytes at %" PRIu64 ", %" PRIu64 " are left", length,
                                p->at, p->end - p->at);
    *value = tn__pickle_new(p, TN__PICKLE_TEXT);
    char *bytes = *value ? tn__pickle_alloc(p, (size_t)length + 1) : NULL;
    if (!bytes) return tn_last_status();
    (*value)->text.bytes = bytes;
    (*value)->text.length = (size_t)length;
    return take(p, bytes, length);
}

/* ---- instructions that make values; n is from their row ---- */

static tn_status do_constant(tn__pickle *p, int n)
{
    tn__pickle_value *value = tn__pickle_new(p, n < 0 ? TN__PICKLE_NONE : TN__PICKLE_BOOL);
    if (value) value->number = n;
    return push(p, value);
}

static tn_status do_empty(tn__pickle *p, int kind)
{
    return push(p, tn__pickle_new(p, (tn__pickle_kind)kind));
}

/* n bytes; of four, the highest bit is the sign. */
static tn_status do_int(tn__pickle *p, int n)
{
    uint64_t number;
    TN__TRY(take_number(p, n, &number));
    tn__pickle_value *value = tn__pickle_new(p, TN__PICKLE_INT);
    if (value) value->number = n == 4 ? (int32_t)(uint32_t)number : (int64_t)number;
    return push(p, value);
}

/* n bytes of length, then a number of that many. */
static tn_status do_long(tn__pickle *p, int n)
{
    uint64_t length;
    TN__TRY(take_number(p, n, &length));
    tn__pickle_value *value = NULL;
    TN__TRY(take_text(p, length, &value));
    const unsigned char *bytes = (const unsigned char *)value->text.bytes;
    const bool fits = length <= 8, negative = length > 0 && length < 8 && bytes[length - 1] & 0x80;
    const uint64_t low = fits ? tn__little(bytes, (int)length) : 0;
    value->kind = fits ? TN__PICKLE_INT : TN__PICKLE_NUMBER;
    value->number = (int64_t)(negative ? low | UINT64_MAX << (8 * length) : low);
    return push(p, value);
}

static tn_status do_float(tn__pickle *p, int n)
{
    uint64_t unused;
    TN__TRY(take_number(p, n, &unused));
    return push(p, tn__pickle_new(p, TN__PICKLE_NUMBER));
}

/* n bytes of length, then the text. */
static tn_status do_text(tn__pickle *p, int n)
{
    uint64_t length;
    tn__pickle_value *value = NULL;
    TN__TRY(take_number(p, n, &length));
    TN__TRY(take_text(p, length, &value));
    return push(p, value);
}

/* ---- instructions on lists ---- */

/* A container of what lies above the mark, or of the n uppermost values. */
static tn_status gather(tn__pickle *p, tn__pickle_kind kind, size_t first, size_t stack_count)
{
    list *stack = &p->state->stack;
    tn__pickle_value *value = tn__pickle_new(p, kind);
    if (!value) return tn_last_status();
    for (size_t i = first; i < stack->count; i++) TN__TRY(tn__pickle_append(p, value, stack->at[i]));
    stack->count = stack_count;
    return push(p, value);
}

static tn_status do_gather(tn__pickle *p, int kind)
{
    size_t first;
    TN__TRY(find_mark(p, &first));
    if (kind == TN__PICKLE_DICT && (p->state->stack.count - first) % 2) return fault(p, "a key without a value");
    return gather(p, (tn__pickle_kind)kind, first, first - 1);
}

static tn_status do_tuple(tn__pickle *p, int n)
{
    tn__pickle_value *lowest = NULL;
    for (int i = 0; i < n; i++) TN__TRY(peek(p, (size_t)i, &lowest));
    const size_t first = p->state->stack.count - (size_t)n;
    return gather(p, TN__PICKLE_TUPLE, first, first);
}

/* Adds what lies from place first to the container below; the stack then ends with that. */
static tn_status extend(tn__pickle *p, tn__pickle_kind kind, size_t first, size_t marks)
{
    list *stack = &p->state->stack;
    if (first < 1 + marks || stack->at[first - 1 - marks]->kind != kind)
        return fault(p, kind == TN__PICKLE_DICT ? "keys and values without a dict" : "items without a list");
    if (kind == TN__PICKLE_DICT && (stack->count - first) % 2) return fault(p, "a key without a value");
    for (size_t i = first; i < stack->count; i++) TN__TRY(tn__pickle_append(p, stack->at[first - 1 - marks], stack->at[i]));
    stack->count = first - marks;
    return TN_OK;
}

static tn_status do_extend(tn__pickle *p, int kind)
{
    size_t first;
    TN__TRY(find_mark(p, &first));
    return extend(p, (tn__pickle_kind)kind, first, 1);
}

static tn_status do_extend_one(tn__pickle *p, int kind)
{
    const size_t n = kind == TN__PICKLE_DICT ? 2 : 1;
    tn__pickle_value *lowest = NULL;
    for (size_t i = 0; i < n; i++) TN__TRY(peek(p, i, &lowest));
    return extend(p, (tn__pickle_kind)kind, p->state->stack.count - n, 0);
}

/* ---- instructions on the stack and the memo ---- */

static tn_status do_pop(tn__pickle *p, int unused)
{
    (void)unused;
    if (p->state->stack.count == 0) return fault(p, "the stack is empty");
    p->state->stack.count--;
    return TN_OK;
}

static tn_status do_pop_mark(tn__pickle *p, int unused)
{
    (void)unused;
    size_t first;
    TN__TRY(find_mark(p, &first));
    p->state->stack.count = first - 1;
    return TN_OK;
}

static tn_status do_duplicate(tn__pickle *p, int unused)
{
    (void)unused;
    tn__pickle_value *value = NULL;
    TN__TRY(peek(p, 0, &value));
    return push(p, value);
}

static tn_status do_get(tn__pickle *p, int n)
{
    uint64_t place;
    const list *memo = &p->state->memo;
    TN__TRY(take_number(p, n, &place));
    if (place >= memo->count || !memo->at[place])
        return tn__pickle_fault(p, "is damaged at byte %" PRIu64 ": nothing is in place %" PRIu64 " of the memo", p->at, place);
    return push(p, memo->at[place]);
}

static tn_status remember(tn__pickle *p, uint64_t place)
{
    list *memo = &p->state->memo;
    tn__pickle_value *value = NULL;
    TN__TRY(peek(p, 0, &value));
    /* Picklers number the places one by one. */
    if (place > p->at) return tn__pickle_fault(p, "is damaged at byte %" PRIu64 ": place %" PRIu64 " of the memo", p->at, place);
    TN__TRY(reserve(memo, (size_t)place + 1));
    while (memo->count <= place) memo->at[memo->count++] = NULL;
    memo->at[place] = value;
    return TN_OK;
}

static tn_status do_put(tn__pickle *p, int n)
{
    uint64_t place;
    TN__TRY(take_number(p, n, &place));
    return remember(p, place);
}

static tn_status do_memoize(tn__pickle *p, int unused)
{
    (void)unused;
    return remember(p, p->state->memo.count);
}

/* ---- instructions that look up and call ---- */

static tn_status push_global(tn__pickle *p, const char *module, const char *name)
{
    char shown_module[80], shown_name[80];
    for (size_t i = 0; i < p->global_count; i++) {
        if (strcmp(p->globals[i].module, module) != 0 || strcmp(p->globals[i].name, name) != 0) continue;
        tn__pickle_value *value = tn__pickle_new(p, TN__PICKLE_GLOBAL);
        if (value) value->global = &p->globals[i];
        return push(p, value);
    }
    return tn__pickle_fault(p, "calls %s.%s; only tensors, dicts, lists, numbers and strings are read",
                            tn__shown(module, strlen(module), shown_module), tn__shown(name, strlen(name), shown_name));
}

static tn_status take_line(tn__pickle *p, char line[NAME_MOST + 1])
{
    for (size_t n = 0; n <= NAME_MOST; n++) {
        TN__TRY(take(p, &line[n], 1));
        if (line[n] == '\0') return fault(p, "a name with a NUL");
        if (line[n] == '\n') {
            line[n] = '\0';
            return TN_OK;
        }
    }
    return fault(p, "a name without an end");
}

static tn_status do_global(tn__pickle *p, int unused)
{
    (void)unused;
    char module[NAME_MOST + 1], name[NAME_MOST + 1];
    TN__TRY(take_line(p, module));
    TN__TRY(take_line(p, name));
    return push_global(p, module, name);
}

static tn_status do_stack_global(tn__pickle *p, int unused)
{
    (void)unused;
    tn__pickle_value *name = NULL, *module = NULL;
    TN__TRY(pop(p, &name));
    TN__TRY(pop(p, &module));
    if (name->kind != TN__PICKLE_TEXT || module->kind != TN__PICKLE_TEXT) return fault(p, "a name that is no text");
    if (strlen(name->text.bytes) != name->text.length || strlen(module->text.bytes) != module->text.length)
        return fault(p, "a name with a NUL");
    return push_global(p, module->text.bytes, name->text.bytes);
}

static tn_status do_call(tn__pickle *p, int unused)
{
    (void)unused;
    tn__pickle_value *arguments = NULL, *function = NULL, *result = NULL;
    TN__TRY(pop(p, &arguments));
    TN__TRY(pop(p, &function));
    if (function->kind != TN__PICKLE_GLOBAL || arguments->kind != TN__PICKLE_TUPLE)
        return fault(p, "a call of something that is no function, or without a tuple");
    const tn__pickle_global *g = function->global;
    if (!g->call)
        return tn__pickle_fault(p, "calls %s.%s; only tensors, dicts, lists, numbers and strings are read", g->module, g->name);
    TN__TRY(g->call(p, arguments, &result));
    return push(p, result);
}

/* An OrderedDict's attributes, such as the versions of a state dict's modules: of no interest. */
static tn_status do_build(tn__pickle *p, int unused)
{
    (void)unused;
    tn__pickle_value *attributes = NULL, *object = NULL;
    TN__TRY(pop(p, &attributes));
    TN__TRY(peek(p, 0, &object));
    return object->kind == TN__PICKLE_DICT ? TN_OK : fault(p, "attributes for something that is no dict");
}

static tn_status do_persistent(tn__pickle *p, int unused)
{
    (void)unused;
    tn__pickle_value *id = NULL, *result = NULL;
    TN__TRY(pop(p, &id));
    TN__TRY(p->persistent(p, id, &result));
    return push(p, result);
}

/* ---- the machine ---- */

static tn_status do_protocol(tn__pickle *p, int n)
{
    uint64_t protocol;
    TN__TRY(take_number(p, n, &protocol));
    return protocol <= 5 ? TN_OK : tn__pickle_fault(p, "has protocol %" PRIu64 ", beyond 5", protocol);
}

/* The length of what follows, which picklers write for faster reading. */
static tn_status do_frame(tn__pickle *p, int n)
{
    uint64_t length;
    TN__TRY(take_number(p, n, &length));
    return length <= p->end - p->at ? TN_OK : fault(p, "a frame beyond the end");
}

static tn_status do_stop(tn__pickle *p, int unused)
{
    (void)unused;
    p->state->stopped = true;
    return TN_OK;
}

static const struct {
    unsigned char code;
    tn_status (*run)(tn__pickle *p, int n);
    int n;
} instructions[] = {
    {0x80, do_protocol, 1},
    {0x95, do_frame, 8},
    {'.', do_stop, 0},
    {'N', do_constant, -1},
    {0x88, do_constant, 1},
    {0x89, do_constant, 0},
    {'K', do_int, 1},
    {'M', do_int, 2},
    {'J', do_int, 4},
    {0x8a, do_long, 1},
    {0x8b, do_long, 4},
    {'G', do_float, 8},
    {0x8c, do_text, 1}, /* unicode */
    {'X', do_text, 4},
    {0x8d, do_text, 8},
    {'U', do_text, 1}, /* Python 2's str */
    {'T', do_text, 4},
    {'C', do_text, 1}, /* bytes */
    {'B', do_text, 4},
    {0x8e, do_text, 8},
    {')', do_empty, TN__PICKLE_TUPLE},
    {']', do_empty, TN__PICKLE_LIST},
    {'}', do_empty, TN__PICKLE_DICT},
    {'(', do_empty, TN__PICKLE_MARK},
    {0x85, do_tuple, 1},
    {0x86, do_tuple, 2},
    {0x87, do_tuple, 3},
    {'t', do_gather, TN__PICKLE_TUPLE},
    {'l', do_gather, TN__PICKLE_LIST},
    {'d', do_gather, TN__PICKLE_DICT},
    {'a', do_extend_one, TN__PICKLE_LIST},
    {'e', do_extend, TN__PICKLE_LIST},
    {'s', do_extend_one, TN__PICKLE_DICT},
    {'u', do_extend, TN__PICKLE_DICT},
    {'0', do_pop, 0},
    {'1', do_pop_mark, 0},
    {'2', do_duplicate, 0},
    {'h', do_get, 1},
    {'j', do_get, 4},
    {'q', do_put, 1},
    {'r', do_put, 4},
    {0x94, do_memoize, 0},
    {'c', do_global, 0},
    {0x93, do_stack_global, 0},
    {'R', do_call, 0},
    {'b', do_build, 0},
    {'Q', do_persistent, 0},
};

static tn_status step(tn__pickle *p)
{
    unsigned char code;
    TN__TRY(take(p, &code, 1));
    for (size_t i = 0; i < sizeof instructions / sizeof *instructions; i++)
        if (instructions[i].code == code) return instructions[i].run(p, instructions[i].n);
    return tn__pickle_fault(
        p, "has the instruction 0x%02x at byte %" PRIu64 "; only tensors, dicts, lists, numbers and strings are read", code,
        p->at - 1);
}

tn_status tn__pickle_read(tn__pickle *p, const unsigned char *memory, tn__pickle_value **result)
{
    if (!p->state) p->state = tn__zalloc(sizeof *p->state);
    state *s = p->state;
    if (!s) return TN_MEMORY;
    s->memory = memory;
    s->stack.count = s->memo.count = 0;
    for (s->stopped = false; !s->stopped;) TN__TRY(step(p));
    TN__TRY(pop(p, result));
    return s->stack.count == 0 ? TN_OK : tn__pickle_fault(p, "leaves %zu values on its stack", s->stack.count);
}

void tn__pickle_free(tn__pickle *p)
{
    tn__pickle_free_values(p);
    if (!p->state) return;
    tn__free(p->state->stack.at);
    tn__free(p->state->memo.at);
    tn__free(p->state);
}
