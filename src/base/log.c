#include <stdatomic.h>
#include <stdio.h>
#include <tenon/tenon.h>

#include "base/error.h"
#include "base/platform.h"
#include "base/settings.h"

enum { LINE_MAX_BYTES = 4096 };

static tn__mutex lock = TN__MUTEX_INIT;
static tn_log_fn callback;
static void *callback_user;
static FILE *file;
static uint64_t file_version;   /* of the settings the file was opened under */
static atomic_bool has_callback;
static atomic_ullong file_wanted; /* twice the version of the settings that was asked, plus the answer */
static _Thread_local bool busy; /* in a callback: what it makes the library say is dropped */

void tn_set_log(tn_log_fn fn, void *user)
{
    tn__lock(&lock);
    callback = fn;
    callback_user = user;
    atomic_store(&has_callback, fn != NULL);
    tn__unlock(&lock);
}

/* A file that cannot be opened is nothing to be said aloud: the callback still gets the line. */
static void reopen(void)
{
    const uint64_t now = tn__settings_version();
    if (file_version == now) return;
    file_version = now;
    if (file) fclose(file);
    const char *path = tn__setting_text(TN__SET_LOG, NULL);
    file = *path ? fopen(path, "a") : NULL;
}

bool tn__log_wanted(int level)
{
    if (busy || level > 3) return false;
    if (atomic_load_explicit(&has_callback, memory_order_relaxed)) return true;
    const uint64_t now = tn__settings_version(), known = atomic_load_explicit(&file_wanted, memory_order_relaxed);
    if (known >> 1 == now) return known & 1;
    const bool wanted = *tn__setting_text(TN__SET_LOG, NULL) != '\0';
    atomic_store_explicit(&file_wanted, now << 1 | wanted, memory_order_relaxed);
    return wanted;
}

void tn__log(int level, const char *format, ...)
{
    static const char *const levels[] = {"", "warning", "info", "detail"};
    char line[LINE_MAX_BYTES];
    if (level < 1 || !tn__log_wanted(level)) return;
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    for (char *p = line; *p; p++)
        if (*p == '\n') *p = ' ';

    busy = true;
    tn__lock(&lock);
    reopen();
    if (file) {
        fprintf(file, "tenon[%ld] %s: %s\n", tn__process_id(), levels[level], line);
        fflush(file);
    }
    const tn_log_fn fn = callback;
    void *user = callback_user;
    tn__unlock(&lock);
    if (fn) fn(level, line, user);
    busy = false;
}

void tn__log_close(void)
{
    tn__lock(&lock);
    if (file) fclose(file);
    file = NULL;
    file_version = 0;
    atomic_store(&file_wanted, 0);
    tn__unlock(&lock);
}

#define TEXT_OF(x) #x
#define VERSION(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *tn_version(void)
{
    return VERSION(TN_VERSION_MAJOR, TN_VERSION_MINOR, TN_VERSION_PATCH);
}
