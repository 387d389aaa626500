#include "base/error.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* Fixed storage: reporting that memory ran out must not need any. */
typedef struct record {
    tn_status code;
    char sentence[TN__SENTENCE_MAX];
} record;

static _Thread_local record last, held;

static _Thread_local int attempts;

static _Atomic(tn__error_hook) error_hook;

static const char *const status_names[] = {
#define NAME(name, text) #name,
    TN_STATUS_LIST(NAME)
#undef NAME
};

const char *tn_status_name(tn_status code)
{
    return (unsigned)code < TN_STATUS_COUNT ? status_names[code] : "?";
}

const char *tn_last_error(void)
{
    return last.sentence;
}

tn_status tn_last_status(void)
{
    return last.code;
}

void tn_clear_error(void)
{
    last.code = TN_OK;
    last.sentence[0] = '\0';
}

/* Marks a sentence that did not fit, so that nobody takes the cut for its end. */
static void set_sentence(const char *text)
{
    const size_t length = strlen(text);
    if (length < TN__SENTENCE_MAX) {
        memmove(last.sentence, text, length + 1);
        return;
    }
    memmove(last.sentence, text, TN__SENTENCE_MAX - 4);
    memcpy(last.sentence + TN__SENTENCE_MAX - 4, "...", 4);
}

static void set_fresh(tn_status code, const char *text)
{
    last.code = code;
    set_sentence(text);
    const tn__error_hook hook = atomic_load_explicit(&error_hook, memory_order_acquire);
    if (hook && attempts == 0) hook(code, last.sentence);
}

tn_status tn__fail(tn_status code, const char *format, ...)
{
    char text[TN__SENTENCE_MAX + 1]; /* the arguments may quote the last sentence */
    va_list list;
    va_start(list, format);
    if (vsnprintf(text, sizeof text, format, list) < 0) strcpy(text, "an error whose text could not be made");
    va_end(list);
    set_fresh(code, text);
    return code;
}

tn_status tn__fail_null(const char *function, const char *argument)
{
    if (last.code != TN_OK) return last.code;
    return tn__fail(TN_ARGUMENT, "%s: %s is NULL", function, argument);
}

void tn__error_prefix(const char *name)
{
    char text[TN__SENTENCE_MAX + 128];
    if (last.code == TN_OK) return;
    snprintf(text, sizeof text, "%.120s: %s", name, last.sentence);
    set_fresh(last.code, text);
}

void tn__set_error_hook(tn__error_hook hook)
{
    atomic_store_explicit(&error_hook, hook, memory_order_release);
}

void tn__restore_error(tn_status code, const char *sentence)
{
    last.code = code;
    set_sentence(sentence ? sentence : "");
}

void tn__error_attempt(void)
{
    if (attempts++ == 0) held = last;
}

void tn__error_attempt_end(void)
{
    if (--attempts == 0) last = held;
}
