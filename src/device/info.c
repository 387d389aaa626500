/* The public questions about devices, and the thread's creation scope. */
#include <string.h>

#include "device/registry.h"

int tn_device_count(const char *type)
{
    static const char *const types[] = {"gpu", "accel", "cpu", "host"};
    const int total = tn__device_total();
    int count = 0;
    if (!type) return total;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(type, types[i]) != 0) continue;
        for (int k = 0; k < total; k++) {
            const tn__device *device = tn__device_at(k);
            count += device && strcmp(tn__type_word(device->type), type) == 0;
        }
        return count;
    }
    tn__fail(TN_ARGUMENT, "\"%.64s\" is no type of devices; those are \"gpu\", \"cpu\", \"accel\" and \"host\"", type);
    return 0;
}

const char *tn_device_name(int index)
{
    const tn__device *device = tn__device_at(index);
    return device ? device->name : NULL;
}

const char *tn_device_resolve(const char *name)
{
    const tn__device *device = tn__device_find(name);
    return device ? device->name : NULL;
}

tn_status tn_device_query(const char *name, tn_device_info *info)
{
    if (!info) return tn__fail_null("device query", "info");
    tn__device *device = tn__device_find(name);
    if (!device) return tn_last_status();
    tn__lock(&device->memory_lock);
    *info = device->info;
    info->memory_limit = device->limit;
    info->memory_in_use = device->in_use;
    info->memory_cached = device->cached;
    info->memory_peak = device->peak;
    if (atomic_load(&device->lost)) {
        info->usable = false;
        info->error = device->lost_sentence;
    }
    tn__unlock(&device->memory_lock);
    if (!device->is_host && device->process != tn__process_id()) {
        info->usable = false;
        info->error = TN__FORKED;
    }
    info->launches = atomic_load(&device->launches);
    info->programs_built = atomic_load(&device->built);
    info->programs_loaded = atomic_load(&device->loaded);
    info->bytes_written = atomic_load(&device->written);
    info->bytes_read = atomic_load(&device->read);
    return TN_OK;
}

tn_status tn_device_probe(const char *name)
{
    tn__device *device = tn__device_find(name);
    if (!device) return tn_last_status();
    const bool open = atomic_load(&device->opened) == 1; /* else opening is the probe */
    TN__TRY(tn__device_open(device));
    return open ? device->backend->probe(device) : TN_OK;
}

bool tn_gpu_is_available(void)
{
    const int total = tn__device_total();
    for (int i = 0; i + 1 < total; i++) {
        tn__device *device = tn__device_at(i);
        if (device->type != TN__GPU || device->info.software || device->process != tn__process_id()) continue;
        if (atomic_load(&device->opened) != 2 && !atomic_load(&device->lost)) return true;
    }
    return false;
}

/* ---- the creation scope ---- */

enum { SCOPES_MAX = 64 };

static _Thread_local struct {
    char names[SCOPES_MAX][24];
    int depth;
} scopes;

tn_status tn_device_push(const char *name)
{
    const tn__device *device = tn__device_find(name);
    if (!device) return tn_last_status();
    if (scopes.depth == SCOPES_MAX)
        return tn__fail(TN_ARGUMENT, "device push: %d creation scopes are open in this thread, and no more fit", SCOPES_MAX);
    strcpy(scopes.names[scopes.depth++], device->name);
    return TN_OK;
}

tn_status tn_device_pop(void)
{
    if (scopes.depth == 0) return tn__fail(TN_ARGUMENT, "device pop: nothing was pushed in this thread");
    scopes.depth--;
    return TN_OK;
}

const char *tn_device_current(void)
{
    return scopes.depth ? scopes.names[scopes.depth - 1] : "host";
}

tn__device *tn__device_for_creation(const char *name)
{
    if (!name && scopes.depth == 0) return tn__host();
    return tn__device_use(name ? name : scopes.names[scopes.depth - 1]);
}

/* ---- copies that the thread allowed ---- */

static _Thread_local bool auto_move;
static _Thread_local uint64_t auto_moves;

bool tn_auto_move(bool on)
{
    const bool previous = auto_move;
    auto_move = on;
    return previous;
}

uint64_t tn_auto_move_count(void)
{
    return auto_moves;
}

bool tn__auto_move_allowed(void)
{
    return auto_move;
}

void tn__auto_move_counted(void)
{
    auto_moves++;
}
