/* Which devices exist, in which order, and which of them are open. */
#include "device/registry.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/settings.h"
#include "device/fault.h"
#include "device/tuning.h"

static tn__mutex lock = TN__MUTEX_INIT; /* of everything here */
static tn__found listed;
static bool enumerated;
static tn__device *retired; /* structs to be used again */

static void (*close_hook)(tn__device *device);

static tn__device host = {
    .name = "host",
    .type = TN__HOST,
    .backend = &tn__backend_host,
    .is_host = true,
    .compute_units = 1,
    .vector_width = 4,
    .correct_divide = true,
    .fast_fma = true,
    .open_lock = TN__MUTEX_INIT,
    .memory_lock = TN__MUTEX_INIT,
    .fault_lock = TN__MUTEX_INIT,
    .graph_lock = TN__MUTEX_INIT,
    .run_lock = TN__MUTEX_INIT,
    .info = {.name = "host",
             .type = "host",
             .description = "plain memory",
             .vendor = "",
             .platform = "",
             .driver = "",
             .version = "",
             .c_version = "",
             .profile = "",
             .usable = true,
             .fp64 = true,
             .compute_units = 1,
             .max_work_group = 1,
             .vector_width = 1},
};

void tn__set_close_hook(void (*hook)(tn__device *device))
{
    tn__lock(&lock);
    close_hook = hook;
    tn__unlock(&lock);
}

/* ---- texts of a device ---- */

typedef struct text {
    struct text *next;
    char text[];
} text;

const char *tn__device_text(tn__device *device, const char *s)
{
    text *t = tn__alloc_quiet(sizeof *t + strlen(s) + 1);
    if (!t) return "";
    strcpy(t->text, s);
    t->next = device->texts;
    device->texts = t;
    return t->text;
}

/* ---- the list ---- */

static tn__device *take_struct(void)
{
    tn__device *device = retired;
    uint32_t generation = 0;
    if (device) {
        retired = device->retired;
        generation = device->generation;
        tn__mutex_destroy(&device->open_lock);
        tn__mutex_destroy(&device->memory_lock);
        tn__mutex_destroy(&device->fault_lock);
        tn__mutex_destroy(&device->graph_lock);
        tn__mutex_destroy(&device->run_lock);
        memset(device, 0, sizeof *device);
    } else {
        device = tn__zalloc(sizeof *device);
        if (!device) return NULL;
    }
    device->generation = generation;
    tn__mutex_init(&device->open_lock);
    tn__mutex_init(&device->memory_lock);
    tn__mutex_init(&device->fault_lock);
    tn__mutex_init(&device->graph_lock);
    tn__mutex_init(&device->run_lock);
    return device;
}

tn__device *tn__found_device(tn__found *found, const tn__backend *backend, tn__device_type type)
{
    if (found->count == found->capacity) {
        const int capacity = found->capacity ? found->capacity * 2 : 8;
        tn__device **devices = tn__realloc(found->devices, (size_t)capacity * sizeof *devices);
        if (!devices) return NULL;
        found->devices = devices;
        found->capacity = capacity;
    }
    tn__device *device = take_struct();
    if (!device) return NULL;
    device->backend = backend;
    device->type = type;
    device->process = tn__process_id();
    device->info.type = tn__type_word(type);
    device->info.usable = true;
    found->devices[found->count++] = device;
    return device;
}

void tn__found_trouble(tn__found *found, const char *format, ...)
{
    char line[512];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    tn__text_add(&found->trouble, "%s%s", found->trouble.length ? "; " : "", line);
}

static bool before(const tn__device *a, const tn__device *b)
{
    if (a->type != b->type) return a->type < b->type;
    if (a->info.software != b->info.software) return b->info.software;
    return strcmp(a->info.platform, b->info.platform) < 0;
}

/* By type, real before software, platform; the driver's order is kept. */
static void sort_and_name(tn__found *found)
{
    tn__device **d = found->devices;
    int numbers[TN__AUTO] = {0};
    for (int i = 1; i < found->count; i++)
        for (int k = i; k > 0 && before(d[k], d[k - 1]); k--) {
            tn__device *swap = d[k];
            d[k] = d[k - 1];
            d[k - 1] = swap;
        }
    for (int i = 0; i < found->count; i++) {
        d[i]->index = i;
        snprintf(d[i]->name, sizeof d[i]->name, "%s:%d", tn__type_word(d[i]->type), numbers[d[i]->type]++);
        d[i]->info.name = d[i]->name;
    }
    host.index = found->count;
}

static void discard(tn__found *found)
{
    for (int i = 0; i < found->count; i++) {
        tn__device *device = found->devices[i];
        if (device->state) device->backend->close(device, device->process == tn__process_id());
        for (text *t = device->texts, *next; t; t = next) {
            next = t->next;
            tn__free(t);
        }
        device->texts = NULL;
        device->info = (tn_device_info){0};
        device->generation++;
        device->retired = retired;
        retired = device;
    }
    tn__free(found->devices);
    tn__text_free(&found->trouble);
    *found = (tn__found){0};
}

/* With the lock held. */
static tn_status enumerate(void)
{
    static const tn__backend *const backends[] = {
#define BACKEND(name) &tn__backend_##name,
#include "tables/devices.def"
    };
    if (enumerated) return TN_OK;
    const uint64_t failures = tn__alloc_failures();
    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++) {
        const tn_status status = backends[i]->enumerate(&listed);
        if (status != TN_OK || tn__alloc_failures() != failures) {
            discard(&listed);
            return tn__fail(TN_MEMORY, "no memory for the list of devices");
        }
    }
    sort_and_name(&listed);
    if (listed.count == 0 && !listed.off) tn__add_advice(&listed.trouble);
    enumerated = true;
    return TN_OK;
}

int tn__device_total(void)
{
    tn__lock(&lock);
    const int total = enumerate() == TN_OK ? listed.count + 1 : 1;
    tn__unlock(&lock);
    return total;
}

tn__device *tn__device_at(int index)
{
    tn__device *device = NULL;
    tn__lock(&lock);
    const int count = enumerate() == TN_OK ? listed.count : 0;
    if (index >= 0 && index < count) device = listed.devices[index];
    tn__unlock(&lock);
    return index == count ? tn__host() : device;
}

const char *tn_device_trouble(void)
{
    tn__lock(&lock);
    const bool none = enumerate() == TN_OK && listed.count == 0;
    const char *trouble = none && listed.trouble.data ? listed.trouble.data : "";
    tn__unlock(&lock);
    return trouble;
}

const char *tn__registry_trouble(void)
{
    tn__lock(&lock);
    const char *trouble = listed.trouble.data ? listed.trouble.data : "";
    tn__unlock(&lock);
    return trouble;
}

/* ---- finding ---- */

tn__device *tn__host(void)
{
    if (atomic_load_explicit(&host.opened, memory_order_acquire) == 1) return &host;
    tn__lock(&host.open_lock);
    if (atomic_load(&host.opened) == 0) {
        host.info.memory_total = host.info.memory_allocation = tn__physical_memory();
        if (host.info.memory_total == 0) host.info.memory_total = host.info.memory_allocation = UINT64_MAX;
        tn__memory_open(&host);
        atomic_store(&host.opened, 1);
    }
    tn__unlock(&host.open_lock);
    return &host;
}

tn_status tn__device_numbered(tn__device_type type, int number, tn__device **found)
{
    *found = NULL;
    tn__lock(&lock);
    const tn_status status = enumerate();
    for (int i = 0; status == TN_OK && i < listed.count && !*found; i++)
        if (listed.devices[i]->type == type && number-- == 0) *found = listed.devices[i];
    tn__unlock(&lock);
    return status;
}

tn__device *tn__device_find(const char *name)
{
    tn__device_type type;
    int number;
    if (!name) return (void)tn__fail_null("device", "name"), NULL;
    if (tn__name_parse(name, &type, &number) != TN_OK) return NULL;
    if (type == TN__HOST) return tn__host();
    if (type == TN__AUTO) return tn__auto_device();
    tn__device *device;
    if (tn__device_numbered(type, number, &device) == TN_OK && !device) tn__fail_absent(type, number);
    return device;
}

/* ---- the end ---- */

static void close_device(tn__device *device)
{
    if (close_hook) close_hook(device);
    tn__fault_close(device, device->process == tn__process_id());
    tn__memory_close(device, device->process == tn__process_id());
}

tn_status tn_shutdown(void)
{
    tn__auto_forget();
    for (int i = 0; enumerated && i < listed.count; i++) close_device(listed.devices[i]);
    close_device(&host);
    tn__lock(&lock);
    discard(&listed);
    enumerated = false;
    host.index = 0;
    tn__unlock(&lock);
    atomic_store(&host.opened, 0);
    tn__sources_free();
    tn__tuning_free();
    tn__log_close();
    return TN_OK;
}
