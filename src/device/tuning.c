/* The tuning file: text, a record a line, seven fields between tabs:
 *
 *   1   device   driver   family   shapes   parameters   seconds
 *
 * The first is the format's version; parameters are numbers between blanks. Lines that begin with # are comments. Records of other
 * devices, drivers and versions are passed over; a line that is no record is logged. */
#include "device/tuning.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/settings.h"
#include "device/registry.h"

enum { VERSION, DEVICE, DRIVER, FAMILY, SHAPES, PARAMETERS, SECONDS, FIELDS };
enum { FILE_LIMIT = 1 << 20, RECORDS_MOST = 4096, VALUE_MOST = 1 << 20 };
static const char version[] = "1";
static const char heading[] = "# Tenon's tuned parameters: version, device, driver, family, shapes, parameters, seconds\n";

typedef struct record {
    const char *fields[FIELDS];
    int values[TN__TUNING_VALUES];
    int count;
    bool refused;
} record;

static struct {
    char *text; /* what the fields point into */
    record *records;
    atomic_int count;
    atomic_ullong settings; /* their version when the file was read; 0: not yet */
} loaded;
static tn__mutex lock = TN__MUTEX_INIT;

void tn__tuning_file(tn__text *path)
{
    bool given;
    const char *set = tn__setting_text(TN__SET_TUNING, &given);
    if (given) {
        tn__text_puts(path, set);
        return;
    }
    tn__cache_folder(path);
    if (path->length > 0) tn__text_puts(path, "/tuning.txt");
}

/* ---- reading ---- */

/* Cuts the line at its tabs; false when there are not as many as a record has. */
static bool cut(char *line, const char *fields[FIELDS])
{
    for (int i = 0; i < FIELDS; i++) {
        fields[i] = line;
        char *tab = strchr(line, '\t');
        if ((tab == NULL) != (i == FIELDS - 1)) return false;
        if (!tab) return true;
        *tab = '\0';
        line = tab + 1;
    }
    return false;
}

/* Numbers between blanks; false when there is anything else. */
static bool read_values(record *r)
{
    const char *p = r->fields[PARAMETERS];
    for (r->count = 0; *p; r->count++) {
        if (r->count == TN__TUNING_VALUES || *p < '0' || *p > '9') return false;
        char *end;
        const unsigned long v = strtoul(p, &end, 10);
        if (v > VALUE_MOST || (*end && *end != ' ')) return false;
        r->values[r->count] = (int)v;
        p = *end ? end + 1 : end;
    }
    return r->count > 0;
}

/* The next line of the text, ended; NULL behind the last. */
static char *next_line(char **at)
{
    char *line = *at, *end = line ? strchr(line, '\n') : NULL;
    if (!line || !*line) return NULL;
    if (end) *end = '\0';
    *at = end ? end + 1 : NULL;
    const size_t length = strlen(line);
    if (length > 0 && line[length - 1] == '\r') line[length - 1] = '\0';
    return line;
}

static int read_records(char *text, const char *path, record *records)
{
    int count = 0, number = 0;
    for (char *line; (line = next_line(&text)) != NULL && count < RECORDS_MOST;) {
        record *r = &records[count];
        number++;
        if (!*line || *line == '#') continue;
        *r = (record){.refused = false};
        const bool whole = cut(line, r->fields);
        if (whole && strcmp(r->fields[VERSION], version) != 0)
            tn__log(2, "tuning: line %d of %s has another version of the format", number, path);
        else if (whole && read_values(r))
            count++;
        else
            tn__log(1, "tuning: line %d of %s is no record, and is ignored", number, path);
    }
    return count;
}

static void load(void)
{
    tn__text path = {0};
    size_t length = 0;
    bool given;
    (void)tn__setting_text(TN__SET_TUNING, &given);
    tn__tuning_file(&path);
    char *text = path.length > 0 && !path.failed ? tn__file_read(path.data, FILE_LIMIT, &length) : NULL;
    if (!text && given && path.length > 0) tn__log(1, "tuning: %s cannot be read", path.data);
    int lines = 1;
    for (size_t i = 0; i < length; i++) lines += text[i] == '\n';
    record *records = text ? tn__alloc_quiet((size_t)lines * sizeof *records) : NULL;
    const int count = records ? read_records(text, path.data, records) : 0;
    tn__text_free(&path);
    tn__lock(&lock);
    tn__free(loaded.text);
    tn__free(loaded.records);
    loaded.text = text;
    loaded.records = records;
    loaded.count = count;
    tn__unlock(&lock);
}

/* Reads the file, unless that was done since settings changed. */
static void refresh(void)
{
    const uint64_t now = tn__settings_version();
    if (atomic_load(&loaded.settings) != now && atomic_exchange(&loaded.settings, now) != now) load();
}

/* With the lock held. The last one counts. */
static record *find(const tn__device *device, const char *family, const char *shapes)
{
    if (!device->info.description || !device->info.driver) return NULL;
    for (int i = loaded.count - 1; i >= 0; i--) {
        record *r = &loaded.records[i];
        if (!r->refused && strcmp(r->fields[FAMILY], family) == 0 && strcmp(r->fields[SHAPES], shapes) == 0 &&
            strcmp(r->fields[DEVICE], device->info.description) == 0 && strcmp(r->fields[DRIVER], device->info.driver) == 0)
            return r;
    }
    return NULL;
}

int tn__tuning_find(const tn__device *device, const char *family, const char *shapes, int values[TN__TUNING_VALUES])
{
    refresh();
    if (atomic_load(&loaded.count) == 0) return 0;
    tn__lock(&lock);
    const record *r = find(device, family, shapes);
    const int count = r ? r->count : 0;
    if (r) memcpy(values, r->values, sizeof r->values);
    tn__unlock(&lock);
    return count;
}

bool tn__tuning_refuse(const tn__device *device, const char *family, const char *shapes, const char *why)
{
    char parameters[128] = "";
    tn__lock(&lock);
    record *r = find(device, family, shapes);
    if (r) {
        r->refused = true;
        snprintf(parameters, sizeof parameters, "%.120s", r->fields[PARAMETERS]);
    }
    tn__unlock(&lock);
    if (r) tn__log(1, "tuning: %s: %s of %s %s are not used: %s", device->name, parameters, family, shapes, why);
    return r != NULL;
}

void tn__tuning_free(void)
{
    tn__lock(&lock);
    tn__free(loaded.text);
    tn__free(loaded.records);
    loaded.text = NULL;
    loaded.records = NULL;
    loaded.count = 0;
    loaded.settings = 0;
    tn__unlock(&lock);
}

/* ---- writing ---- */

/* Everything of the file but the line that begins like this. */
static void keep_others(tn__text *to, char *text, const tn__text *head)
{
    for (char *line; (line = next_line(&text)) != NULL;)
        if (strncmp(line, head->data, head->length) != 0) tn__text_add(to, "%s\n", line);
}

static bool make_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash || slash == path) return true;
    tn__text folder = {0};
    tn__text_put(&folder, path, (size_t)(slash - path));
    const bool made = !folder.failed && tn__make_folders(folder.data);
    tn__text_free(&folder);
    return made;
}

tn_status tn__tuning_write(const char *path, const tn__device *device, const char *family, const char *shapes,
                           const char *parameters, double seconds)
{
    tn__text head = {0}, file = {0};
    size_t length = 0;
    char *old = tn__file_read(path, FILE_LIMIT, &length);
    tn__text_add(&head, "%s\t%s\t%s\t%s\t%s\t", version, device->info.description, device->info.driver, family, shapes);
    if (!old) tn__text_puts(&file, heading);
    if (old && !head.failed) keep_others(&file, old, &head);
    tn__text_add(&file, "%s%s\t", head.data ? head.data : "", parameters);
    tn__text_double(&file, seconds, 4);
    tn__text_puts(&file, "\n");
    tn_status status = TN_OK;
    if (head.failed || file.failed)
        status = tn__fail(TN_MEMORY, "tuning: no memory for the file %.512s", path);
    else if (!make_folder_of(path) || !tn__file_write_atomic(path, file.data, file.length))
        status = tn__fail(TN_FILE, "tuning: %.512s cannot be written", path);
    tn__free(old);
    tn__text_free(&head);
    tn__text_free(&file);
    return status;
}
