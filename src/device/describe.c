/* What is said about devices that are not there. */
#include <string.h>

#include "device/registry.h"

bool tn__is_software(const char *device, const char *platform)
{
    static const char *const markers[] = {
#define SOFTWARE(marker) marker,
#include "tables/devices.def"
    };
    for (size_t i = 0; i < sizeof markers / sizeof *markers; i++)
        if (strstr(device, markers[i]) || strstr(platform, markers[i])) return true;
    return false;
}

static const char *advice(tn__device_type type)
{
    switch (type) {
#define INSTALL(type, text) \
    case TN__##type: return text;
#include "tables/devices.def"
    default: return "the OpenCL driver of the device's vendor";
    }
}

void tn__add_advice(tn__text *t)
{
    const char *lead = t->length ? "; install " : "install ";
#define INSTALL(type, text)                                                       \
    tn__text_add(t, "%s%s for %s:0", lead, text, tn__type_word(TN__##type));      \
    lead = ", or ";
#include "tables/devices.def"
}

void tn__describe_devices(tn__text *t)
{
    const int total = tn__device_total();
    for (int i = 0; i + 1 < total; i++) {
        const tn__device *device = tn__device_at(i);
        tn__text_add(t, "%s (%s, %s%s)%s", device->name, device->info.description, device->info.platform,
                     device->info.software ? ", software" : "", i + 2 < total ? ", " : " and ");
    }
    tn__text_puts(t, "host");
}

tn_status tn__fail_absent(tn__device_type type, int index)
{
    tn__text t = {0};
    const char *word = tn__type_word(type), *trouble = tn__registry_trouble();
    const int total = tn__device_total();
    tn__text_add(&t, "%s:%d: there is no such device; there %s ", word, index, total > 1 ? "are" : "is only");
    tn__describe_devices(&t);
    if (tn_device_count(word) == 0) {
        if (total > 1) tn__text_add(&t, "; for %s:0 install %s", word, advice(type));
        if (*trouble) tn__text_add(&t, "; %s", trouble);
    }
    if (type == TN__CPU) tn__text_puts(&t, "; plain memory, which needs no OpenCL, is called \"host\"");
    if (t.failed)
        tn__fail(TN_DEVICE, "%s:%d: there is no such device", word, index);
    else
        tn__fail(TN_DEVICE, "%s", t.data);
    tn__text_free(&t);
    return TN_DEVICE;
}
