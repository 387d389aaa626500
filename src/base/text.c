#include "base/text.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

/* Room for more bytes and the terminator. */
static bool reserve(tn__text *t, size_t more)
{
    if (t->failed) return false;
    const size_t needed = t->length + more + 1;
    if (needed <= t->capacity) return true;
    size_t capacity = t->capacity ? t->capacity * 2 : 256;
    if (capacity < needed) capacity = needed;
    char *data = tn__realloc(t->data, capacity);
    if (!data) {
        t->failed = true;
        return false;
    }
    t->data = data;
    t->capacity = capacity;
    return true;
}

void tn__text_put(tn__text *t, const char *s, size_t length)
{
    if (!reserve(t, length)) return;
    memcpy(t->data + t->length, s, length);
    t->length += length;
    t->data[t->length] = '\0';
}

void tn__text_puts(tn__text *t, const char *s)
{
    tn__text_put(t, s, strlen(s));
}

void tn__text_add(tn__text *t, const char *format, ...)
{
    enum { USUAL = 80 };
    va_list list;
    if (!reserve(t, USUAL)) return;
    const size_t room = t->capacity - t->length;
    va_start(list, format);
    const int length = vsnprintf(t->data + t->length, room, format, list);
    va_end(list);
    if (length >= 0 && (size_t)length < room) {
        t->length += (size_t)length;
        return;
    }
    t->data[t->length] = '\0';
    t->failed = length < 0;
    if (!reserve(t, (size_t)length)) return;
    va_start(list, format);
    vsnprintf(t->data + t->length, (size_t)length + 1, format, list);
    va_end(list);
    t->length += (size_t)length;
}

void tn__text_double(tn__text *t, double value, int digits)
{
    char number[64];
    snprintf(number, sizeof number, "%.*g", digits, value);
    const char *point = localeconv()->decimal_point;
    char *at = *point && strcmp(point, ".") != 0 ? strstr(number, point) : NULL;
    if (at) {
        const size_t rest = strlen(point);
        memmove(at + 1, at + rest, strlen(at + rest) + 1);
        *at = '.';
    }
    tn__text_puts(t, number);
    if (!strpbrk(number, ".en")) tn__text_puts(t, ".0");
}

void tn__text_free(tn__text *t)
{
    tn__free(t->data);
    *t = (tn__text){0};
}

const char *tn__text_move(tn__text *t, char *to, size_t size)
{
    (void)snprintf(to, size, "%s", t->data && !t->failed ? t->data : "");
    tn__text_free(t);
    return to;
}
