/* The settings of tn_set: a call's value, else the environment's, else "". Valid until the setting changes. */
#ifndef TN__SETTINGS_H
#define TN__SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

typedef enum tn__setting {
#define SETTING(id, name, variable, kind) TN__SET_##id,
#include "tables/settings.def"
#undef SETTING
    TN__SET_COUNT
} tn__setting;

/* Text in force. *given tells whether it was set at all (may be NULL). Never NULL. A malformed value of the environment
 * counts as unset and is logged once; TENON_DEVICE is left to the device layer. An unset CACHE_DIR means the user's cache
 * folder, an empty one none. */
const char *tn__setting_text(tn__setting which, bool *given);
bool tn__setting_on(tn__setting which);        /* "1", "yes", "on", "true" */
uint64_t tn__setting_bytes(tn__setting which); /* 0 when unset or malformed */
/* Appends the folder of the cache of programs and of the tuning file; nothing when there is to be none. */
void tn__cache_folder(tn__text *path);
/* Counts changes of any setting, so that readers may cache. */
uint64_t tn__settings_version(void);

/* A forked child goes on using the settings (once, at the library's start). */
void tn__settings_over_fork(void);

#endif
