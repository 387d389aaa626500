/* tenon cache: the programs that the library keeps on disk. Other files of the folder are not touched. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <tenon/base.h>

#include "command.h"
#include "record.h"

typedef struct entry {
    char name[256];
    long long bytes;
    time_t written;
    bool program; /* else what a process left behind that did not end well: a lock, or a file half written */
} entry;

typedef struct listing {
    const char *folder;
    entry *entries;
    int count, capacity, programs;
    long long bytes; /* of the programs */
} listing;

static bool ends_with(const char *name, const char *end)
{
    const size_t n = strlen(name), e = strlen(end);
    return n > e && strcmp(name + n - e, end) == 0;
}

/* Files are named by a hash: NAME.bin, NAME.bin.lock, NAME.bin.PID.N.tmp. */
static bool is_ours(const char *name)
{
    enum { DIGITS = 32 };
    return strspn(name, "0123456789abcdef") == DIGITS && strncmp(name + DIGITS, ".bin", 4) == 0 &&
           (ends_with(name, ".bin") || ends_with(name, ".lock") || ends_with(name, ".tmp"));
}

static bool add(listing *l, const char *name)
{
    char path[4096 + 256 + 2];
    struct stat facts;
    snprintf(path, sizeof path, "%s/%s", l->folder, name);
    if (strlen(name) >= sizeof l->entries->name || stat(path, &facts) != 0 || !S_ISREG(facts.st_mode))
        return true; /* gone already */
    if (l->count == l->capacity) {
        const int capacity = l->capacity ? 2 * l->capacity : 64;
        entry *grown = realloc(l->entries, (size_t)capacity * sizeof *grown);
        if (!grown) return false;
        l->entries = grown;
        l->capacity = capacity;
    }
    entry *e = &l->entries[l->count++];
    snprintf(e->name, sizeof e->name, "%s", name);
    e->bytes = (long long)facts.st_size;
    e->written = facts.st_mtime;
    e->program = ends_with(name, ".bin");
    l->programs += e->program;
    if (e->program) l->bytes += e->bytes;
    return true;
}

static int compare(const void *a, const void *b)
{
    return strcmp(((const entry *)a)->name, ((const entry *)b)->name);
}

/* A folder that is not there is an empty one. False, with a line, when it cannot be read. */
static bool fill(listing *l)
{
    errno = 0;
    DIR *dir = *l->folder ? opendir(l->folder) : NULL;
    if (!dir && *l->folder && errno != ENOENT) {
        fprintf(stderr, "tenon cache: %s: %s\n", l->folder, strerror(errno));
        return false;
    }
    bool whole = true;
    for (const struct dirent *d; dir && whole && (d = readdir(dir)) != NULL;) whole = !is_ours(d->d_name) || add(l, d->d_name);
    if (dir) closedir(dir);
    if (l->count > 0) qsort(l->entries, (size_t)l->count, sizeof *l->entries, compare);
    if (!whole) fprintf(stderr, "tenon cache: %s\n", strerror(ENOMEM));
    return whole;
}

static void time_text(const entry *e, char text[32])
{
    struct tm parts;
    if (!gmtime_r(&e->written, &parts) || strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0) strcpy(text, "");
}

/* What there is, or was: as a line, or as an object with a member for each program when list. */
static void print(const listing *l, bool list, bool json, const char *removed)
{
    char when[32];
    if (json) {
        printf("{\"folder\": ");
        json_text(l->folder, stdout);
        printf(", \"programs\": %d, \"bytes\": %lld", l->programs, l->bytes);
        if (removed) printf(", \"removed\": %s", removed);
        if (list) printf(", \"files\": [");
    }
    bool first = true;
    for (int i = 0; list && i < l->count; i++) {
        const entry *e = &l->entries[i];
        if (!e->program) continue;
        time_text(e, when);
        if (json)
            printf("%s\n  {\"name\": \"%s\", \"bytes\": %lld, \"written\": \"%s\"}", first ? "" : ",", e->name, e->bytes, when);
        else
            printf("%s  %9lld bytes  %s\n", e->name, e->bytes, when);
        first = false;
    }
    if (json)
        printf("%s}\n", list ? "\n]" : "");
    else if (!*l->folder)
        printf("there is no program cache: TENON_CACHE_DIR is empty, or there is no home folder\n");
    else
        printf("%d program%s, %.1f MiB, in %s%s\n", l->programs, l->programs == 1 ? "" : "s", (double)l->bytes / (1 << 20),
               l->folder, removed ? ": removed" : "");
}

/* Number of files that could not be removed. */
static int clear(const listing *l)
{
    int left = 0;
    for (int i = 0; i < l->count; i++) {
        char path[4096 + 256 + 2];
        snprintf(path, sizeof path, "%s/%s", l->folder, l->entries[i].name);
        if (unlink(path) == 0 || errno == ENOENT) continue;
        if (left++ == 0) fprintf(stderr, "tenon cache: %s: %s\n", path, strerror(errno));
    }
    return left;
}

int command_cache(int argc, char **argv)
{
    static const char usage[] = "usage: tenon cache [list | size | clear] [--json] [--help]\n"
                                "  list    each program: name, bytes, when it was written\n"
                                "  size    how many there are, their bytes, and where (also without a word)\n"
                                "  clear   removes them; they are compiled again when they are needed\n"
                                "The folder is TENON_CACHE_DIR, else tenon in XDG_CACHE_HOME, else ~/.cache/tenon.\n";
    const char *what = NULL;
    bool json = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            printf("%s", usage);
            return 0;
        }
        if (strcmp(argv[i], "--json") == 0 && !json)
            json = true;
        else if (!what && (strcmp(argv[i], "list") == 0 || strcmp(argv[i], "size") == 0 || strcmp(argv[i], "clear") == 0))
            what = argv[i];
        else {
            fprintf(stderr, "%s", usage);
            return 2;
        }
    }
    listing l = {.folder = tn_cache_folder()};
    const bool remove = what && strcmp(what, "clear") == 0;
    bool good = fill(&l);
    const int left = good && remove ? clear(&l) : 0;
    if (good) print(&l, what && strcmp(what, "list") == 0, json, !remove || left > 0 ? (remove ? "false" : NULL) : "true");
    good = good && left == 0;
    free(l.entries);
    return good ? 0 : 1;
}
