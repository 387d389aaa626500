/* Which devices exist, in which order, and which of them are open. */
#include "device/registry.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/settings.h"

static tn__mutex lock = TN__MUTEX_INIT; /* of everything here but autos */
static tn__found listed;
static bool enumerated;
static tn__device *retired; /* structs to be used again */

static tn__mutex auto_lock = TN__MUTEX_INIT;
static tn__device *auto_device; /* once resolved */

static void (*close_hook)(tn__device *device);

static tn__device host = {
    .name = "host",
    .type = TN__HOST,
    .backend = &tn__backend_host,
    .is_host = true,
    .compute_units = 1,
    .vector_width = 4,
    .correct_divide = true,
    .open_lock = TN__MUTEX_INIT,
    .memory_lock = TN__MUTEX_INIT,
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

/* ---- finding and opening ---- */

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

/* NULL in *found when there is none. */
static tn_status find_numbered(tn__device_type type, int number, tn__device **found)
{
    *found = NULL;
    tn__lock(&lock);
    const tn_status status = enumerate();
    for (int i = 0; status == TN_OK && i < listed.count && !*found; i++)
        if (listed.devices[i]->type == type && number-- == 0) *found = listed.devices[i];
    tn__unlock(&lock);
    return status;
}

static tn__device *resolve_auto(void);

tn__device *tn__device_find(const char *name)
{
    tn__device_type type;
    int number;
    if (!name) return (void)tn__fail_null("device", "name"), NULL;
    if (tn__name_parse(name, &type, &number) != TN_OK) return NULL;
    if (type == TN__HOST) return tn__host();
    if (type == TN__AUTO) return resolve_auto();
    tn__device *device;
    if (find_numbered(type, number, &device) == TN_OK && !device) tn__fail_absent(type, number);
    return device;
}

tn_status tn__device_lose(tn__device *device, const char *format, ...)
{
    char sentence[sizeof device->lost_sentence];
    va_list list;
    va_start(list, format);
    vsnprintf(sentence, sizeof sentence, format, list);
    va_end(list);
    tn__lock(&device->memory_lock);
    const bool first = !atomic_load(&device->lost);
    if (first) {
        snprintf(device->lost_sentence, sizeof device->lost_sentence, "%s is lost: %.470s", device->name, sentence);
        device->lost_code = TN_LOST;
        atomic_store(&device->lost, 1);
    }
    tn__unlock(&device->memory_lock);
    if (first) tn__log(1, "%s", device->lost_sentence);
    return tn__fail(TN_LOST, "%s", device->lost_sentence);
}

tn_status tn__device_check(tn__device *device)
{
    if (device->is_host) return TN_OK;
    if (device->process != tn__process_id())
        return tn__fail(TN_DEVICE, "%s: " TN__FORKED, device->name);
    if (atomic_load_explicit(&device->lost, memory_order_acquire))
        return tn__fail(device->lost_code, "%s", device->lost_sentence);
    return TN_OK;
}

/* With open_lock held. A lack of our own memory may pass; everything else is the answer from now on. */
static void open_now(tn__device *device)
{
    const uint64_t failures = tn__alloc_failures();
    tn__memory_open(device);
    const tn_status status = device->backend->open(device);
    if (status == TN_OK) {
        atomic_store(&device->opened, 1);
        return;
    }
    if (status == TN_MEMORY) return;
    if (tn__alloc_failures() != failures) {
        tn__fail(TN_MEMORY, "%s: no memory to open the device", device->name);
        return;
    }
    const char *error = tn__device_text(device, tn_last_error());
    tn__lock(&device->memory_lock);
    device->info.error = error;
    device->info.usable = false;
    device->open_code = status;
    tn__unlock(&device->memory_lock);
    atomic_store(&device->opened, 2);
}

tn_status tn__device_open(tn__device *device)
{
    if (device->is_host) return TN_OK;
    if (atomic_load_explicit(&device->opened, memory_order_acquire) == 1) return tn__device_check(device);
    if (device->process != tn__process_id()) return tn__device_check(device);
    tn__lock(&device->open_lock);
    const bool tried = atomic_load(&device->opened) != 0;
    if (!tried) open_now(device);
    const int opened = atomic_load(&device->opened);
    tn__unlock(&device->open_lock);
    if (opened == 1) return tn__device_check(device);
    if (!tried) return tn_last_status();
    return tn__fail(device->open_code, "%s", device->info.error);
}

tn__device *tn__device_use(const char *name)
{
    tn__device *device = tn__device_find(name);
    return device && tn__device_open(device) == TN_OK ? device : NULL;
}

/* ---- auto ---- */

/* The first of a type that opens and is no software renderer; those that fail are logged. */
static tn__device *first_usable(tn__device_type type, bool *failed)
{
    tn__device *device;
    for (int i = 0; find_numbered(type, i, &device) == TN_OK && device; i++) {
        if (device->info.software) continue;
        tn__error_attempt();
        const bool usable = tn__device_open(device) == TN_OK;
        if (!usable) tn__log(1, "auto passes over %s: %s", device->name, tn_last_error());
        tn__error_attempt_end();
        if (usable) return device;
        *failed = true;
    }
    return NULL;
}

static tn__device *choose(void)
{
    bool failed = false;
    tn__device *device = first_usable(TN__GPU, &failed);
    if (device) return device;
    device = first_usable(TN__CPU, &failed);
    if (!device) device = tn__host();
    if (device->is_host)
        tn__log(1, "auto is host, plain memory: no OpenCL device can be used%s%s", *tn_device_trouble() ? ": " : "",
                tn_device_trouble());
    else
        tn__log(failed ? 1 : 2, "auto is %s (%s, %s): no GPU %s", device->name, device->info.description,
                device->info.platform, failed ? "can be used" : "was found");
    return device;
}

static tn__device *resolve_auto(void)
{
    const char *set = tn__setting_text(TN__SET_DEVICE, NULL);
    tn__lock(&auto_lock);
    tn__device *device = auto_device;
    if (!device && *set && strcmp(set, "auto") != 0) {
        device = tn__device_use(set);
        if (!device) tn__error_prefix("auto, by TENON_DEVICE");
    } else if (!device) {
        const uint64_t failures = tn__alloc_failures();
        device = choose();
        if (tn__alloc_failures() != failures) device = TN__NULL(TN_MEMORY, "auto: no memory to try the devices");
    }
    auto_device = device;
    tn__unlock(&auto_lock);
    return device;
}

/* ---- the end ---- */

static void close_device(tn__device *device)
{
    if (close_hook) close_hook(device);
    tn__memory_close(device, device->process == tn__process_id());
}

tn_status tn_shutdown(void)
{
    tn__lock(&auto_lock);
    auto_device = NULL;
    tn__unlock(&auto_lock);
    for (int i = 0; enumerated && i < listed.count; i++) close_device(listed.devices[i]);
    close_device(&host);
    tn__lock(&lock);
    discard(&listed);
    enumerated = false;
    host.index = 0;
    tn__unlock(&lock);
    atomic_store(&host.opened, 0);
    tn__sources_free();
    tn__log_close();
    return TN_OK;
}
