/* Batches of samples: made in plain memory, by a thread of their own when asked for, and moved by the caller.
 *
 * A thread lives for one batch: started when the batch before it was given, awaited when its own is asked for. It writes into host
 * tensors that the caller made, and touches nothing else of the library unless the dataset's function does. */
#include <tenon/data.h>

#include "base/alloc.h"
#include "core/scope.h"
#include "graph/move.h"
#include <inttypes.h>
#include <string.h>
#include <tenon/ops.h>

/* Orders come from a part of the random stream that nobody reaches by drawing numbers. */
#define ORDERS (UINT64_C(1) << 63)

enum { SENTENCE = 512 };

typedef struct column {
    tn_field field;
    size_t bytes;     /* of one sample */
    tn__value *value; /* of an array: what holds … */
    const char *rows; /* … its rows */
    tn_tensor *next;  /* on host, for the batch that follows; NULL: not prepared */
} column;

struct tn_loader {
    tn_dataset data;
    column *columns;
    void **places; /* where the dataset's function writes */
    int64_t batch, length, epoch, at;
    bool shuffle, background;
    uint64_t seed;
    char device[24];
    tn_tensor *order; /* i64, of epoch `ordered` */
    int64_t ordered;
    /* the batch that follows */
    const int64_t *indices;
    int64_t count;
    bool running; /* in this thread of this process */
    tn__thread thread;
    long process;
    tn_status status;
    char sentence[SENTENCE];
};

/* ---- making a loader ---- */

static tn_status copy_rows(const int64_t *indices, int64_t count, void *const *out, void *loader)
{
    const tn_loader *l = loader;
    for (int k = 0; k < l->data.field_count; k++) {
        const column *c = &l->columns[k];
        char *to = out[k];
        for (int64_t i = 0; c->bytes > 0 && i < count; i++, to += c->bytes)
            memcpy(to, c->rows + (size_t)indices[i] * c->bytes, c->bytes);
    }
    return TN_OK;
}

static tn_shape batch_shape(const column *c, int64_t count)
{
    tn_shape shape = {.ndim = c->field.shape.ndim + 1, .dim = {count}};
    for (int i = 1; i < shape.ndim && i < TN_MAX_AXES; i++) shape.dim[i] = c->field.shape.dim[i - 1];
    return shape;
}

static tn_status set_column(const tn_loader *l, column *c, const tn__device *device)
{
    const tn_dtype dtype = c->field.dtype;
    const tn_shape most = batch_shape(c, l->batch < l->data.samples ? l->batch : l->data.samples);
    int64_t n;
    if (!tn__dtype_valid(dtype)) return tn__fail(TN_DTYPE, "loader: %d is no dtype", (int)dtype);
    TN__TRY(tn__device_takes(device, dtype, "loader"));
    TN__TRY(tn__shape_numel(&c->field.shape, tn_dtype_size(dtype), &n, "loader"));
    c->bytes = (size_t)n * tn_dtype_size(dtype);
    TN__TRY(tn__shape_numel(&most, tn_dtype_size(dtype), &n, "loader"));
    return TN_OK;
}

static tn_status set_up(tn_loader *l, const tn_loader_options *options)
{
    const size_t count = (size_t)l->data.field_count;
    const tn__device *device = tn__device_for_creation(options->device);
    if (!device) return tn_last_status();
    l->columns = tn__zalloc(count * sizeof *l->columns);
    l->places = tn__zalloc(count * sizeof *l->places);
    if (!l->columns || !l->places) return TN_MEMORY;
    l->length = l->data.samples / l->batch + (!options->drop_last && l->data.samples % l->batch != 0);
    l->shuffle = options->shuffle;
    l->seed = options->seed;
    l->background = options->background;
    strcpy(l->device, device->name);
    for (int k = 0; k < l->data.field_count; k++) {
        l->columns[k].field = l->data.fields[k];
        TN__TRY(set_column(l, &l->columns[k], device));
    }
    return TN_OK;
}

static tn_status check_dataset(const tn_dataset *data, int64_t batch)
{
    if (!data) return tn__fail_null("loader", "dataset");
    if (data->field_count < 1 || !data->fields) return tn__fail(TN_ARGUMENT, "loader: samples of %d fields", data->field_count);
    if (data->samples < 0) return tn__fail(TN_ARGUMENT, "loader: %" PRId64 " samples", data->samples);
    if (batch < 1) return tn__fail(TN_ARGUMENT, "loader: batches of %" PRId64 " samples", batch);
    if (!data->sample == !data->batch)
        return tn__fail(TN_ARGUMENT, "loader: the dataset has %s function", data->batch ? "a sample and a batch" : "no");
    return TN_OK;
}

tn_loader *tn_loader_over(const tn_dataset *data, int64_t batch, const tn_loader_options *options)
{
    static const tn_loader_options plain;
    tn__graph_start();
    if (check_dataset(data, batch) != TN_OK) return NULL;
    tn_loader *l = tn__zalloc(sizeof *l);
    if (!l) return NULL;
    l->data = *data;
    l->batch = batch;
    if (set_up(l, options ? options : &plain) == TN_OK) return l;
    tn_loader_release(l);
    return NULL;
}

static tn_status check_array(tn_tensor *const *arrays, int k)
{
    const tn_tensor *x = arrays[k];
    TN__TRY(tn__tensor_check(x, "loader", "an array"));
    if (!tn__tensor_device(x)->is_host)
        return tn__fail(TN_DEVICE, "loader: array %d %s is on %s, and samples are picked on host; copy it, as in tn_host(x)", k,
                        tn__shape_text(x->ndim, x->dim), tn__tensor_device(x)->name);
    if (x->ndim == 0) return tn__fail(TN_SHAPE, "loader: array %d is 0-d; the first axis counts the samples", k);
    if (x->dim[0] != arrays[0]->dim[0])
        return tn__fail(TN_SHAPE, "loader: array 0 has %" PRId64 " samples, array %d has %" PRId64, arrays[0]->dim[0], k,
                        x->dim[0]);
    return TN_OK;
}

static tn_status take_rows(column *c, tn_tensor *x)
{
    tn_tensor *dense = tn_contiguous(x);
    if (!dense) return tn_last_status();
    c->value = tn__value_retain(dense->storage->value);
    if (c->value->buffer)
        c->rows = (const char *)c->value->buffer->memory + (size_t)(c->value->base + dense->offset) * tn_dtype_size(x->dtype);
    tn_release(dense);
    return TN_OK;
}

tn_loader *tn_loader_new(tn_tensor *const *arrays, int count, int64_t batch, const tn_loader_options *options)
{
    tn__graph_start();
    if (count < 1 || !arrays) return TN__NULL(TN_ARGUMENT, "loader: a list of %d arrays", count);
    for (int k = 0; k < count; k++)
        if (check_array(arrays, k) != TN_OK) return NULL;
    tn_field *fields = tn__alloc((size_t)count * sizeof *fields);
    if (!fields) return NULL;
    for (int k = 0; k < count; k++)
        fields[k] = (tn_field){arrays[k]->dtype, tn_shape_make(arrays[k]->ndim - 1, arrays[k]->dim + 1)};
    const tn_dataset data = {.samples = arrays[0]->dim[0], .fields = fields, .field_count = count, .batch = copy_rows};
    tn_loader *l = tn_loader_over(&data, batch, options);
    tn__free(fields);
    if (l) l->data.user = l;
    for (int k = 0; l && k < count; k++)
        if (take_rows(&l->columns[k], arrays[k]) != TN_OK) return tn_loader_release(l), NULL;
    return l;
}

/* ---- the batch that follows ---- */

static void drop(tn_loader *l)
{
    for (int k = 0; k < l->data.field_count; k++) {
        tn_release(l->columns[k].next);
        l->columns[k].next = NULL;
    }
}

/* A thread of the process that this one was forked from is not here. */
static void await(tn_loader *l)
{
    if (!l->running) return;
    l->running = false;
    if (l->process == tn__process_id())
        tn__thread_join(l->thread);
    else
        drop(l);
}

static void *memory_of(const tn_tensor *x)
{
    const tn__value *v = x->storage->value;
    return v->buffer ? v->buffer->memory : NULL;
}

/* Under tn__scope_pause. */
static tn_status make_order(tn_loader *l)
{
    uint64_t seed, position;
    if (l->order && (!l->shuffle || l->ordered == l->epoch)) return TN_OK;
    tn_release(l->order);
    tn_random_state(&seed, &position);
    tn_set_random_state(l->seed, ORDERS + (uint64_t)l->epoch * (uint64_t)l->data.samples);
    l->order = l->shuffle ? tn_permutation(l->data.samples, "host") : tn_arange(TN_I64, 0, (double)l->data.samples, 1, "host");
    tn_set_random_state(seed, position);
    l->ordered = l->epoch;
    return l->order ? TN_OK : tn_last_status();
}

static tn_status make_room(tn_loader *l)
{
    const int64_t first = l->at * l->batch, left = l->data.samples - first;
    TN__TRY(make_order(l));
    l->indices = (const int64_t *)memory_of(l->order) + first;
    l->count = left < l->batch ? left : l->batch;
    for (int k = 0; k < l->data.field_count; k++) {
        column *c = &l->columns[k];
        const tn_shape shape = batch_shape(c, l->count);
        c->next = tn__from_bytes(c->field.dtype, &shape, NULL, tn__host());
        if (!c->next) return tn_last_status();
        l->places[k] = memory_of(c->next);
    }
    return TN_OK;
}

static tn_status prepare(tn_loader *l)
{
    tn__scope_pause();
    const tn_status status = make_room(l);
    tn__scope_resume();
    if (status != TN_OK) drop(l);
    return status;
}

static tn_status call_for_each(tn_loader *l)
{
    for (int64_t i = 0; i < l->count; i++) {
        const tn_status status = l->data.sample(l->indices[i], l->places, l->data.user);
        if (status != TN_OK) return status;
        for (int k = 0; k < l->data.field_count; k++)
            if (l->places[k]) l->places[k] = (char *)l->places[k] + l->columns[k].bytes;
    }
    return TN_OK;
}

static void make_bools_clean(const tn_loader *l)
{
    for (int k = 0; k < l->data.field_count; k++) {
        const column *c = &l->columns[k];
        uint8_t *at = c->field.dtype == TN_BOOL ? memory_of(c->next) : NULL;
        for (int64_t i = 0; at && i < c->next->numel; i++) at[i] = at[i] != 0;
    }
}

/* In the caller's thread or its own. What goes wrong is told when the batch is asked for. */
static void *fill(void *loader)
{
    tn_loader *l = loader;
    tn__error_attempt();
    tn_clear_error();
    const tn_scope scope = tn_scope_push();
    l->status = l->data.batch ? l->data.batch(l->indices, l->count, l->places, l->data.user) : call_for_each(l);
    snprintf(l->sentence, sizeof l->sentence, "%s", tn_last_error());
    (void)tn_scope_pop(scope);
    tn__error_attempt_end();
    if (l->status == TN_OK) make_bools_clean(l);
    return NULL;
}

static tn_status fail_batch(const tn_loader *l)
{
    const bool known = (unsigned)l->status < TN_STATUS_COUNT;
    char reason[64];
    snprintf(reason, sizeof reason, "the dataset's function returned %s", known ? tn_status_name(l->status) : "what is no status");
    return tn__fail(known ? l->status : TN_ARGUMENT, "loader: batch %" PRId64 " of epoch %" PRId64 ": %s", l->at, l->epoch,
                    *l->sentence ? l->sentence : reason);
}

static tn_status make_batch(tn_loader *l)
{
    await(l);
    if (!l->columns[0].next) {
        TN__TRY(prepare(l));
        (void)fill(l);
    }
    if (l->status == TN_OK) return TN_OK;
    drop(l);
    return fail_batch(l);
}

static tn_status give(tn_loader *l, tn_tensor **out)
{
    for (int k = 0; k < l->data.field_count; k++) {
        out[k] = tn_to(l->columns[k].next, l->device);
        if (out[k]) continue;
        for (; k > 0; k--) {
            tn_release(out[k - 1]);
            out[k - 1] = NULL;
        }
        return tn_last_status();
    }
    drop(l);
    return TN_OK;
}

/* Where there is no thread to be had, the next call does the work. */
static void start_ahead(tn_loader *l)
{
    if (!l->background || l->at == l->length) return;
    tn__error_attempt();
    if (prepare(l) == TN_OK) {
        l->process = tn__process_id();
        l->running = tn__thread_start(&l->thread, fill, l);
        if (!l->running) drop(l);
    }
    tn__error_attempt_end();
}

int64_t tn_loader_next(tn_loader *l, tn_tensor **out)
{
    if (!l) return (void)tn__fail_null("loader_next", "loader"), -1;
    if (!out) return (void)tn__fail_null("loader_next", "out"), -1;
    for (int k = 0; k < l->data.field_count; k++) out[k] = NULL;
    if (l->at == l->length) {
        l->epoch++;
        l->at = 0;
        return 0;
    }
    if (make_batch(l) != TN_OK || give(l, out) != TN_OK) return -1;
    const int64_t count = l->count;
    l->at++;
    start_ahead(l);
    return count;
}

/* ---- questions, place, end ---- */

int64_t tn_loader_length(const tn_loader *l)
{
    return l ? l->length : ((void)tn__fail_null("loader_length", "loader"), -1);
}

int64_t tn_loader_samples(const tn_loader *l)
{
    if (!l) return (void)tn__fail_null("loader_samples", "loader"), -1;
    return l->length * l->batch < l->data.samples ? l->length * l->batch : l->data.samples;
}

tn_status tn_loader_tell(const tn_loader *l, int64_t *epoch, int64_t *batch)
{
    if (!l) return tn__fail_null("loader_tell", "loader");
    if (epoch) *epoch = l->epoch;
    if (batch) *batch = l->at;
    return TN_OK;
}

tn_status tn_loader_seek(tn_loader *l, int64_t epoch, int64_t batch)
{
    if (!l) return tn__fail_null("loader_seek", "loader");
    if (epoch < 0 || batch < 0 || batch > l->length)
        return tn__fail(TN_ARGUMENT, "loader_seek: batch %" PRId64 " of epoch %" PRId64 "; an epoch has %" PRId64 " batches", batch,
                        epoch, l->length);
    await(l);
    drop(l);
    l->epoch = epoch;
    l->at = batch;
    return TN_OK;
}

void tn_loader_release(tn_loader *l)
{
    if (!l) return;
    await(l);
    for (int k = 0; l->columns && k < l->data.field_count; k++) {
        tn_release(l->columns[k].next);
        if (l->columns[k].value) tn__value_release(l->columns[k].value);
    }
    tn_release(l->order);
    tn__free(l->columns);
    tn__free(l->places);
    tn__free(l);
}
