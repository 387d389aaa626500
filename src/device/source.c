/* Kernel texts: embedded in the library, or files of a folder that the setting kernel_dir names. */
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/settings.h"
#include "device/embedded.h"
#include "device/registry.h"

enum { SOURCE_LIMIT = 1 << 24 };

typedef struct source {
    size_t length;
    char *text;
} source;

static tn__mutex lock = TN__MUTEX_INIT;
static tn__map *read_files; /* by path */

static const char *embedded(const char *file, size_t *length)
{
    for (int i = 0; i < tn__embedded_count; i++)
        if (strcmp(tn__embedded_files[i].name, file) == 0) {
            *length = tn__embedded_files[i].size;
            return tn__embedded_files[i].text;
        }
    return TN__NULL(TN_INTERNAL, "there is no kernel source %s in the library", file);
}

/* With the lock held: the file's text, remembered. */
static const source *read_source(const char *path)
{
    if (!read_files) read_files = tn__map_new();
    if (!read_files) return NULL;
    source *s = tn__map_get(read_files, path, strlen(path));
    if (s) return s;
    size_t length;
    char *text = tn__file_read(path, SOURCE_LIMIT, &length);
    if (!text) return TN__NULL(TN_FILE, "the kernel source %s cannot be read (TENON_KERNEL_DIR names its folder)", path);
    s = tn__alloc(sizeof *s);
    if (s) {
        *s = (source){length, text};
        if (tn__map_put(read_files, path, strlen(path), s)) return s;
    }
    tn__free(text);
    tn__free(s);
    return NULL;
}

const char *tn__kernel_source(const char *file, size_t *length)
{
    const char *folder = tn__setting_text(TN__SET_KERNEL_DIR, NULL);
    if (!*folder) return embedded(file, length);
    tn__text path = {0};
    char *whole = tn__full_path(folder);
    tn__text_add(&path, "%s/%s", whole ? whole : folder, file);
    tn__free(whole);
    const source *s = NULL;
    if (path.failed) {
        tn__fail(TN_MEMORY, "no memory for the path of %s", file);
    } else {
        tn__lock(&lock);
        s = read_source(path.data);
        tn__unlock(&lock);
    }
    tn__text_free(&path);
    if (s) *length = s->length;
    return s ? s->text : NULL;
}

static void forget(void *value, void *user)
{
    (void)user;
    source *s = value;
    tn__free(s->text);
    tn__free(s);
}

void tn__sources_free(void)
{
    tn__lock(&lock);
    if (read_files) {
        tn__map_each(read_files, forget, NULL);
        tn__map_free(read_files);
        read_files = NULL;
    }
    tn__unlock(&lock);
}
