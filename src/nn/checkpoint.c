/* Checkpoints: model, optimizers, schedules, scaler, numbers and the random state, under names of their own in one safetensors file.
 * What is a number in memory is a 0-d tensor in the file; saving and loading go through the same list of them. */
#include "nn/optimizer.h"
#include "nn/training.h"
#include "nn/within.h"
#include "base/alloc.h"
#include "io/format.h"
#include <string.h>
#include <tenon/checkpoint.h>

/* ---- a list of names, and what they name ---- */

typedef struct entry {
    char *name;
    tn_tensor *value; /* the innermost scope's, or */
    int64_t *whole;   /* a number, */
    double *real;     /* of one of two kinds */
} entry;

typedef struct entries {
    entry *list;
    int count, capacity;
} entries;

static void free_entries(entries *e)
{
    for (int i = 0; i < e->count; i++) tn__free(e->list[i].name);
    tn__free(e->list);
}

/* "section.name" as a fresh text; the section may be "". */
static char *full_name(const char *section, const char *name)
{
    const size_t size = strlen(section) + strlen(name) + 2;
    char *text = tn__alloc(size);
    if (text) snprintf(text, size, "%s%s%s", section, *section ? "." : "", name);
    return text;
}

static tn_status add(entries *e, const char *section, const char *name, entry what)
{
    if (e->count == e->capacity) {
        const int capacity = e->capacity ? e->capacity * 2 : 64;
        entry *grown = tn__realloc(e->list, (size_t)capacity * sizeof *grown);
        if (!grown) return TN_MEMORY;
        e->list = grown;
        e->capacity = capacity;
    }
    what.name = full_name(section, name);
    if (!what.name) return TN_MEMORY;
    e->list[e->count++] = what;
    return TN_OK;
}

/* ---- the numbers of a training ---- */

/* Copies, so that a load that fails changes nothing. */
typedef struct numbers {
    int64_t epoch, step;
    uint64_t random[2];
    tn_schedule_state *schedules;
    tn_grad_scaler_state scaler;
    double *user;
} numbers;

static void free_numbers(numbers *n)
{
    tn__free(n->schedules);
    tn__free(n->user);
}

static tn_status copy_numbers(const tn_training_state *s, numbers *n)
{
    *n = (numbers){.epoch = s->epoch,
                   .step = s->step,
                   .schedules = tn__alloc((size_t)s->schedule_count * sizeof *n->schedules),
                   .user = tn__alloc((size_t)s->number_count * sizeof *n->user)};
    if (!n->schedules || !n->user) return TN_MEMORY;
    tn_random_state(&n->random[0], &n->random[1]);
    for (int i = 0; i < s->schedule_count; i++) TN__TRY(tn_schedule_get_state(s->schedules[i], &n->schedules[i]));
    for (int i = 0; i < s->number_count; i++) n->user[i] = s->numbers[i];
    return s->scaler ? tn_grad_scaler_get_state(s->scaler, &n->scaler) : TN_OK;
}

static tn_status list_schedule(entries *e, int i, tn_schedule_state *state)
{
    char section[32];
    snprintf(section, sizeof section, "schedule.%d", i);
    TN__TRY(add(e, section, "step", (entry){.whole = &state->step}));
    TN__TRY(add(e, section, "best", (entry){.real = &state->best}));
    TN__TRY(add(e, section, "bad", (entry){.whole = &state->bad}));
    return add(e, section, "cooldown", (entry){.whole = &state->cooldown});
}

static tn_status list_numbers(entries *e, const tn_training_state *s, numbers *n)
{
    TN__TRY(add(e, "", "epoch", (entry){.whole = &n->epoch}));
    TN__TRY(add(e, "", "step", (entry){.whole = &n->step}));
    if (!s->keep_random) {
        TN__TRY(add(e, "random", "seed", (entry){.whole = (int64_t *)&n->random[0]}));
        TN__TRY(add(e, "random", "position", (entry){.whole = (int64_t *)&n->random[1]}));
    }
    for (int i = 0; i < s->schedule_count; i++) TN__TRY(list_schedule(e, i, &n->schedules[i]));
    if (s->scaler) {
        TN__TRY(add(e, "scaler", "scale", (entry){.real = &n->scaler.scale}));
        TN__TRY(add(e, "scaler", "good_steps", (entry){.whole = &n->scaler.good_steps}));
    }
    for (int i = 0; i < s->number_count; i++) TN__TRY(add(e, "number", s->number_names[i], (entry){.real = &n->user[i]}));
    return TN_OK;
}

/* ---- what a caller may give ---- */

static tn_status check_list(const char *function, int count, bool given, const char *what)
{
    return count < 0 || (count > 0 && !given) ? tn__fail(TN_ARGUMENT, "%s: a list of %d %s", function, count, what) : TN_OK;
}

static tn_status check_state(const char *function, const char *path, const tn_training_state *s)
{
    if (!path || !s) return tn__fail_null(function, path ? "state" : "path");
    TN__TRY(check_list(function, s->count, s->names && s->tensors, "tensors"));
    TN__TRY(check_list(function, s->optimizer_count, s->optimizers != NULL, "optimizers"));
    TN__TRY(check_list(function, s->schedule_count, s->schedules != NULL, "schedules"));
    TN__TRY(check_list(function, s->number_count, s->number_names && s->numbers, "numbers"));
    for (int i = 0; i < s->count; i++) {
        if (!s->names[i]) return tn__fail_null(function, "a name");
        TN__TRY(tn__tensor_check(s->tensors[i], function, s->names[i]));
    }
    for (int i = 0; i < s->optimizer_count; i++)
        if (!s->optimizers[i]) return tn__fail_null(function, "an optimizer");
    for (int i = 0; i < s->schedule_count; i++)
        if (!s->schedules[i]) return tn__fail_null(function, "a schedule");
    for (int i = 0; i < s->number_count; i++)
        if (!s->number_names[i]) return tn__fail_null(function, "a number's name");
    return TN_OK;
}

/* ---- saving ---- */

static tn_status list_optimizer(entries *e, int i, tn_optimizer *o)
{
    char section[32];
    const int count = tn_optimizer_state_count(o);
    snprintf(section, sizeof section, "optimizer.%d", i);
    for (int k = 0; k < count; k++) {
        const char *name;
        tn_tensor *value;
        TN__TRY(tn_optimizer_state(o, k, &name, &value));
        TN__TRY(add(e, section, name, (entry){.value = value}));
    }
    return TN_OK;
}

static tn_status list_all(entries *e, const tn_training_state *s, numbers *n)
{
    for (int i = 0; i < s->count; i++) TN__TRY(add(e, "model", s->names[i], (entry){.value = s->tensors[i]}));
    for (int i = 0; i < s->optimizer_count; i++) TN__TRY(list_optimizer(e, i, s->optimizers[i]));
    return list_numbers(e, s, n);
}

static tn_tensor *tensor_of(const entry *e)
{
    if (e->value) return e->value;
    return e->whole ? tn_from(TN_I64, TN_SHAPE(), e->whole, "host") : tn_from(TN_F64, TN_SHAPE(), e->real, "host");
}

static tn_status write_entries(const char *path, const entries *e)
{
    static const char *const metadata[] = {"format", "tenon checkpoint", "version", "1", NULL};
    const char **names = tn__alloc((size_t)e->count * sizeof *names);
    tn_tensor **values = tn__alloc((size_t)e->count * sizeof *values);
    tn_status status = names && values ? TN_OK : TN_MEMORY;
    for (int i = 0; i < e->count && status == TN_OK; i++) {
        names[i] = e->list[i].name;
        values[i] = tensor_of(&e->list[i]);
        if (!values[i]) status = tn_last_status();
    }
    if (status == TN_OK) status = tn_save_safetensors(path, names, values, e->count, metadata);
    tn__free(names);
    tn__free(values);
    return status;
}

tn_status tn_save_checkpoint(const char *path, const tn_training_state *s)
{
    TN__TRY(check_state("save_checkpoint", path, s));
    entries e = {0};
    numbers n = {0};
    tn_scope scope;
    tn_status status = tn__enter(&scope);
    if (status == TN_OK) status = copy_numbers(s, &n);
    if (status == TN_OK) status = list_all(&e, s, &n);
    if (status == TN_OK) status = write_entries(path, &e);
    free_entries(&e);
    free_numbers(&n);
    return tn__exit(scope, status);
}

/* ---- loading: all is read and compared before anything is set ---- */

static const tn__entry *find(const tn_archive *archive, const char *name)
{
    const uintptr_t place = (uintptr_t)tn__map_get(archive->by_name, name, strlen(name));
    return place ? &archive->entry[place - 1] : NULL;
}

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static tn_status read_number(tn_archive *archive, const entry *e, tn__problems *problems)
{
    const tn__entry *in = find(archive, e->name);
    if (!in)
        tn__problem(problems, "\"%s\" is missing", e->name);
    else if (in->shape.ndim != 0 || in->dtype != (e->whole ? TN_I64 : TN_F64))
        tn__problem(problems, "\"%s\" is %s %s, not %s", e->name, tn_dtype_name(in->dtype),
                    tn__shape_text(in->shape.ndim, in->shape.dim), e->whole ? "i64 []" : "f64 []");
    else
        return tn_read(tn_archive_get(archive, e->name, "host"), e->whole ? (void *)e->whole : e->real, 8);
    return TN_OK;
}

static tn_status read_tensor(tn_archive *archive, const char *name, const tn_tensor *like, tn_tensor **out, tn__problems *problems)
{
    char *full = full_name("model", name);
    if (!full) return TN_MEMORY;
    const tn__entry *in = find(archive, full);
    const tn_shape want = tn__tensor_shape(like);
    if (!in)
        tn__problem(problems, "\"%s\" is missing", full);
    else if (!tn__shape_equal(&in->shape, &want))
        tn__problem(problems, "\"%s\" is %s, the tensor %s", full, tn__shape_text(in->shape.ndim, in->shape.dim),
                    tn__shape_text(want.ndim, want.dim));
    else
        *out = tn_cast(tn_archive_get(archive, full, tn_device_of(like)), like->dtype);
    const bool failed = in && tn__shape_equal(&in->shape, &want) && !*out;
    tn__free(full);
    return failed ? tn_last_status() : TN_OK;
}

static bool is_listed(const tn_training_state *s, const char *name)
{
    bool listed = false;
    for (int i = 0; i < s->count && !listed; i++) listed = strcmp(s->names[i], name) == 0;
    return listed;
}

static tn_status read_model(tn_archive *archive, const tn_training_state *s, tn_tensor **values, tn__problems *problems)
{
    for (int i = 0; i < s->count; i++) TN__TRY(read_tensor(archive, s->names[i], s->tensors[i], &values[i], problems));
    for (int i = 0; i < archive->count && s->count > 0; i++) {
        const char *name = archive->entry[i].name;
        if (begins_with(name, "model.") && !is_listed(s, name + 6)) tn__problem(problems, "\"%s\" is unknown", name);
    }
    return problems->count == 0 ? tn_realize(values, s->count) : TN_OK;
}

static tn_status read_optimizer(tn_archive *archive, int i, const tn_optimizer *o, tn__loaded *to, tn__problems *problems)
{
    char section[32];
    int count = 0;
    const char **names = tn__alloc((size_t)archive->count * sizeof *names);
    tn_tensor **values = tn__alloc((size_t)archive->count * sizeof *values);
    tn_status status = names && values ? TN_OK : TN_MEMORY;
    snprintf(section, sizeof section, "optimizer.%d.", i);
    for (int k = 0; k < archive->count && status == TN_OK; k++) {
        const char *name = archive->entry[k].name;
        if (!begins_with(name, section)) continue;
        names[count] = name + strlen(section);
        values[count] = tn_archive_get(archive, name, "host");
        if (!values[count++]) status = tn_last_status();
    }
    if (status == TN_OK) status = tn__optimizer_prepare(o, names, values, count, to, problems);
    tn__free(names);
    tn__free(values);
    return status;
}

static tn_status read_all(tn_archive *archive, const tn_training_state *s, const entries *e, tn_tensor **values, tn__loaded *loaded,
                          tn__problems *problems)
{
    for (int i = 0; i < e->count; i++) TN__TRY(read_number(archive, &e->list[i], problems));
    TN__TRY(read_model(archive, s, values, problems));
    for (int i = 0; i < s->optimizer_count; i++) TN__TRY(read_optimizer(archive, i, s->optimizers[i], &loaded[i], problems));
    return TN_OK;
}

static tn_status check_numbers(const tn_training_state *s, const numbers *n)
{
    for (int i = 0; i < s->schedule_count; i++) TN__TRY(tn__schedule_check(s->schedules[i], &n->schedules[i]));
    return s->scaler ? tn__grad_scaler_check(&n->scaler) : TN_OK;
}

/* Everything fits. */
static tn_status set_all(tn_training_state *s, const numbers *n, tn_tensor **values, tn__loaded *loaded)
{
    TN__TRY(check_numbers(s, n));
    TN__TRY(tn__exchange(s->tensors, values, s->count));
    for (int i = 0; i < s->optimizer_count; i++) tn__optimizer_commit(s->optimizers[i], &loaded[i]);
    for (int i = 0; i < s->schedule_count; i++) TN__TRY(tn_schedule_load_state(s->schedules[i], &n->schedules[i]));
    if (s->scaler) TN__TRY(tn_grad_scaler_load_state(s->scaler, &n->scaler));
    for (int i = 0; i < s->number_count; i++) s->numbers[i] = n->user[i];
    if (!s->keep_random) tn_set_random_state(n->random[0], n->random[1]);
    s->epoch = n->epoch;
    s->step = n->step;
    return TN_OK;
}

static tn_status load(tn_archive *archive, tn_training_state *s, entries *e, numbers *n, tn_tensor **values, tn__loaded *loaded)
{
    tn__problems problems = {0};
    if (!find(archive, "epoch") || !find(archive, "step"))
        return tn__fail(TN_FORMAT, "%s: no checkpoint: \"epoch\" or \"step\" is missing among %d tensors", archive->path,
                        archive->count);
    TN__TRY(copy_numbers(s, n));
    TN__TRY(list_numbers(e, s, n));
    const tn_status status = read_all(archive, s, e, values, loaded, &problems);
    TN__TRY(tn__problems_end(&problems, archive->path, status));
    return set_all(s, n, values, loaded);
}

tn_status tn_load_checkpoint(const char *path, tn_training_state *s)
{
    TN__TRY(check_state("load_checkpoint", path, s));
    tn_archive *archive = tn_archive_open(path);
    if (!archive) return tn_last_status();
    entries e = {0};
    numbers n = {0};
    tn_tensor **values = tn__zalloc((size_t)s->count * sizeof *values);
    tn__loaded *loaded = tn__zalloc((size_t)s->optimizer_count * sizeof *loaded);
    tn_scope scope;
    tn_status status = tn__enter(&scope);
    if (!values || !loaded) status = TN_MEMORY;
    if (status == TN_OK) status = load(archive, s, &e, &n, values, loaded);
    for (int i = 0; loaded && i < s->optimizer_count; i++) tn__loaded_free(s->optimizers[i], &loaded[i]);
    tn__free(loaded);
    tn__free(values);
    free_entries(&e);
    free_numbers(&n);
    tn_archive_close(archive);
    return tn__exit(scope, status);
}
