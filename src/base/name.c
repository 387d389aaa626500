#include "base/name.h"

#include <string.h>

static const char *const words[] = {"gpu", "accel", "cpu", "host", "auto"};

const char *tn__type_word(tn__device_type type)
{
    return words[type];
}

static tn_status malformed(const char *text)
{
    return tn__fail(TN_ARGUMENT,
                    "\"%.64s\" is no device name; names are \"host\", \"auto\", and \"gpu:0\", \"cpu:0\", \"accel:0\" "
                    "with any number",
                    text);
}

/* A decimal number below 10^9 without sign, space or leading zero; -1 when it is none. */
static int number(const char *text)
{
    const size_t length = strlen(text);
    int value = 0;
    if (length == 0 || length > 9 || (length > 1 && text[0] == '0')) return -1;
    for (const char *p = text; *p; p++) {
        if (*p < '0' || *p > '9') return -1;
        value = value * 10 + (*p - '0');
    }
    return value;
}

tn_status tn__name_parse(const char *text, tn__device_type *type, int *index)
{
    *index = 0;
    for (int t = TN__GPU; t <= TN__AUTO; t++) {
        const size_t length = strlen(words[t]);
        if (strncmp(text, words[t], length) != 0) continue;
        *type = (tn__device_type)t;
        if (text[length] == '\0') return TN_OK;
        if (text[length] != ':' || t >= TN__HOST) break;
        *index = number(text + length + 1);
        return *index < 0 ? malformed(text) : TN_OK;
    }
    return malformed(text);
}
