#include "device/fault.h"
#include "device/backend.h"

/* As kernels/fault.cl writes them; code is 0 while nothing was found. */
typedef struct report {
    int32_t code, unused;
    int64_t value, limit;
} report;

tn__buffer *tn__fault_words(tn__device *device)
{
    const report none = {0};
    tn__lock(&device->fault_lock);
    if (!device->faults) {
        void *memory = NULL;
        tn__buffer *words = NULL;
        if (device->backend->allocate(device, sizeof none, &memory) != TN_OK)
            (void)tn__fail(TN_MEMORY, "%s: no memory for the error word", device->name);
        else if ((words = tn__buffer_wrap(device, memory, sizeof none, NULL, NULL)) &&
                 tn__buffer_write(words, 0, &none, sizeof none) == TN_OK)
            device->faults = words;
        else {
            tn__buffer_release(words);
            device->backend->release(device, memory);
        }
    }
    tn__unlock(&device->fault_lock);
    return device->faults;
}

tn_status tn__fault_fail(int fault, int64_t value, int64_t limit)
{
    switch (fault) {
#define FAULT(name, status, sentence) \
    case TN__FAULT_##name:            \
        return tn__fail(TN_##status, sentence, (long long)value, (long long)limit);
#include "tables/faults.def"
#undef FAULT
    default: return tn__fail(TN_INTERNAL, "a kernel reported %d", fault);
    }
}

void tn__fault_expect(tn__device *device)
{
    atomic_store(&device->fault_due, true);
}

tn_status tn__fault_take(tn__device *device)
{
    const report none = {0};
    report found;
    if (!atomic_exchange(&device->fault_due, false)) return TN_OK;
    tn__buffer *words = device->faults;
    TN__TRY(device->backend->read(device, words->memory, 0, &found, sizeof found));
    if (found.code == 0) return TN_OK;
    TN__TRY(device->backend->write(device, words->memory, 0, &none, sizeof none));
    return tn__fault_fail(found.code, found.value, found.limit);
}

void tn__fault_close(tn__device *device, bool usable)
{
    tn__buffer *words = device->faults;
    device->faults = NULL;
    atomic_store(&device->fault_due, false);
    if (words && usable) device->backend->release(device, words->memory);
    tn__buffer_release(words);
}
