#include "base/settings.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/name.h"
#include "base/platform.h"

enum kind { NAME, TEXT, PATH, FOLDER, SWITCH, PROFILE, BYTES };

static const struct row {
    const char *name, *variable;
    enum kind kind;
} rows[] = {
#define SETTING(id, name, variable, kind) {name, variable, kind},
#include "tables/settings.def"
#undef SETTING
};

/* Texts stay allocated until their setting changes twice: readers of other threads may still look at the one before. */
static struct {
    char *text, *before;
    bool warned;
} values[TN__SET_COUNT];

static tn__mutex lock = TN__MUTEX_INIT;
static atomic_ullong version = 1;

static int word_of(const char *text, const char *const *words)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(text, words[i]) == 0) return i;
    return -1;
}

/* 0: off, 1: on, -1: neither. */
static int switch_of(const char *text)
{
    static const char *const off[] = {"0", "no", "off", "false", NULL};
    static const char *const on[] = {"1", "yes", "on", "true", NULL};
    return word_of(text, on) >= 0 ? 1 : word_of(text, off) >= 0 ? 0 : -1;
}

static bool bytes_of(const char *text, uint64_t *bytes)
{
    static const char suffixes[] = "KMGT";
    uint64_t value = 0;
    const char *p = text;
    for (; *p >= '0' && *p <= '9'; p++) {
        const uint64_t digit = (uint64_t)(*p - '0');
        if (value > (UINT64_MAX - digit) / 10) return false;
        value = value * 10 + digit;
    }
    if (p == text) return false;
    const char *suffix = *p ? strchr(suffixes, *p) : NULL;
    if (suffix) {
        const int shift = 10 * (int)(suffix - suffixes + 1);
        if (value > UINT64_MAX >> shift) return false;
        value <<= shift;
        p++;
    }
    *bytes = value;
    return *p == '\0';
}

/* What a well-formed value would be; NULL when this one is. */
static const char *fault(enum kind kind, const char *text)
{
    static const char *const profiles[] = {"deep", "wide", NULL};
    uint64_t bytes;
    switch (kind) {
    case PATH: return *text ? NULL : "a path";
    case SWITCH: return switch_of(text) >= 0 ? NULL : "0 or 1";
    case PROFILE: return word_of(text, profiles) >= 0 ? NULL : "\"deep\" or \"wide\"";
    case BYTES: return bytes_of(text, &bytes) ? NULL : "a number of bytes with an optional suffix K, M or G";
    case NAME:
    case TEXT:
    case FOLDER: break;
    }
    return NULL;
}

static const char *environment(tn__setting which, bool *given)
{
    const char *text = getenv(rows[which].variable);
    *given = text && (*text || rows[which].kind == FOLDER);
    if (!*given) return "";
    const char *wanted = fault(rows[which].kind, text);
    if (!wanted) return text;
    *given = false;
    tn__lock(&lock);
    const bool warn = !values[which].warned;
    values[which].warned = true;
    tn__unlock(&lock);
    if (warn) tn__log(1, "%s=%.64s is ignored: it takes %s", rows[which].variable, text, wanted);
    return "";
}

const char *tn__setting_text(tn__setting which, bool *given)
{
    bool found;
    tn__lock(&lock);
    const char *text = values[which].text;
    tn__unlock(&lock);
    found = text != NULL;
    if (!found) text = environment(which, &found);
    if (given) *given = found;
    return text;
}

bool tn__setting_on(tn__setting which)
{
    return switch_of(tn__setting_text(which, NULL)) == 1;
}

uint64_t tn__setting_bytes(tn__setting which)
{
    uint64_t bytes = 0;
    return bytes_of(tn__setting_text(which, NULL), &bytes) ? bytes : 0;
}

void tn__cache_folder(tn__text *path)
{
    bool given;
    const char *set = tn__setting_text(TN__SET_CACHE_DIR, &given);
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (given)
        tn__text_puts(path, set);
    else if (xdg && xdg[0] == '/')
        tn__text_add(path, "%s/tenon", xdg);
    else if (home && home[0] == '/')
        tn__text_add(path, "%s/.cache/tenon", home);
}

const char *tn_cache_folder(void)
{
    static _Thread_local char text[4096];
    tn__text path = {0};
    tn__cache_folder(&path);
    return tn__text_move(&path, text, sizeof text);
}

uint64_t tn__settings_version(void)
{
    return atomic_load_explicit(&version, memory_order_relaxed);
}

static int find(const char *name)
{
    for (int i = 0; i < TN__SET_COUNT; i++)
        if (strcmp(rows[i].name, name) == 0) return i;
    return -1;
}

tn_status tn_set(const char *name, const char *value)
{
    if (!name) return tn__fail_null("set", "name");
    const int i = find(name);
    if (i < 0) return tn__fail(TN_ARGUMENT, "set: there is no setting \"%.64s\"", name);
    char *copy = NULL;
    if (value) {
        tn__device_type type;
        int index;
        if (rows[i].kind == NAME) TN__TRY(tn__name_parse(value, &type, &index));
        const char *wanted = fault(rows[i].kind, value);
        if (wanted) return tn__fail(TN_ARGUMENT, "set: \"%s\" takes %s, not \"%.64s\"", name, wanted, value);
        copy = tn__strdup(value);
        if (!copy) return TN_MEMORY;
    }
    tn__lock(&lock);
    tn__free(values[i].before);
    values[i].before = values[i].text;
    values[i].text = copy;
    tn__unlock(&lock);
    atomic_fetch_add(&version, 1);
    return TN_OK;
}

const char *tn_get(const char *name)
{
    const int i = name ? find(name) : -1;
    return i < 0 ? NULL : tn__setting_text((tn__setting)i, NULL);
}

void tn__settings_over_fork(void)
{
    tn__lock_over_fork(&lock);
}
