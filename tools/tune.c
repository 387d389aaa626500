/* tenon tune: each candidate in a process of its own, checked and timed; the better half goes on, until few are left
 * (successive halving, Jamieson and Talwalkar, 2016). */
#include "tune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tenon/device.h>
#include <tenon/tuning.h>

#include "child.h"
#include "command.h"
#include "record.h"

enum {
    CLASSES_MOST = 16,
    CANDIDATES_MOST = 64,
    QUICK_CANDIDATES = 8,
    LAST = 4, /* candidates of the last rounds */
    LAST_ROUNDS = 3,
    TRY_SECONDS = 20,   /* a candidate's time limit */
    LIST_SECONDS = 120, /* to list them, and for the untuned parameters, which are in use anyway */
    SECONDS = 300,
    QUICK_SECONDS = 60
};

typedef struct candidate {
    char parameters[64];
    double seconds; /* the least so far; 0: not measured */
    bool out;       /* wrong, refused, too slow, crashed */
} candidate;

typedef struct class
{
    char family[32], shapes[32];
    tn_tuning tuning; /* its texts are those above */
    candidate candidates[CANDIDATES_MOST];
    int count, tried, failed;
    char untuned[64]; /* parameters of the first candidate */
    double standard;  /* its seconds; negative when it failed */
} class;

typedef struct tuning {
    const char *file; /* to be written */
    bool quick, json, terminal;
    double seconds; /* to spend */
    char device[32], trial[4096 + 32];
    class *classes;
    int count;
} tuning;

/* ---- what there is to tune ---- */

/* The column of a line behind tab number i. */
static void column(const char *line, int i, char *text, size_t size)
{
    const char *end = line + strcspn(line, "\n");
    for (; i > 0; i--) {
        const size_t tab = strcspn(line, "\t\n");
        line += tab + (line + tab < end);
    }
    snprintf(text, size, "%.*s", (int)strcspn(line, "\t\n"), line);
}

static void take_class(class *c, const char *line)
{
    char number[3][24];
    memset(c, 0, sizeof *c);
    column(line, 1, c->family, sizeof c->family);
    column(line, 2, c->shapes, sizeof c->shapes);
    for (int i = 0; i < 3; i++) column(line, 3 + i, number[i], sizeof number[i]);
    c->tuning = (tn_tuning){c->family, c->shapes, strtoll(number[0], NULL, 10), strtoll(number[1], NULL, 10),
                            strtoll(number[2], NULL, 10)};
}

static void take_line(tuning *t, const char *line)
{
    class *last = t->count ? &t->classes[t->count - 1] : NULL;
    if (strncmp(line, "device\t", 7) == 0)
        column(line, 1, t->device, sizeof t->device);
    else if (strncmp(line, "class\t", 6) == 0 && t->count < CLASSES_MOST)
        take_class(&t->classes[t->count++], line);
    else if (strncmp(line, "candidate\t", 10) == 0 && last && last->count < (t->quick ? QUICK_CANDIDATES : CANDIDATES_MOST))
        column(line, 1, last->candidates[last->count++].parameters, sizeof last->candidates[0].parameters);
    else if (strncmp(line, "trouble\t", 8) == 0)
        fprintf(stderr, "tenon tune: %.*s\n", (int)strcspn(line + 8, "\n"), line + 8);
}

/* False, with a line, when the device cannot be tuned. */
static bool ask_list(tuning *t, const char *device)
{
    const char *const arguments[] = {"tune", "--child-list", device, NULL};
    child_result result;
    child_run(arguments, LIST_SECONDS, &result);
    if (!result.finished) fprintf(stderr, "tenon tune: %s: %s\n", device, result.reason);
    for (const char *line = result.finished ? result.output : ""; *line; line += strcspn(line, "\n"), line += *line != '\0')
        take_line(t, line);
    free(result.output);
    if (*t->device && t->count == 0) fprintf(stderr, "tenon tune: %s has no kernels that take parameters\n", t->device);
    return t->count > 0;
}

/* ---- trying ---- */

static void progress(const tuning *t, const class *c, const candidate *now_trying)
{
    if (t->terminal)
        fprintf(stderr, "\r\033[K%s %s: %d of %d, %s", c->family, c->shapes, c->tried, c->count,
                now_trying ? now_trying->parameters : "");
    if (t->terminal && !now_trying) fprintf(stderr, "\r\033[K");
}

/* Runs the candidate once more. */
static void try_candidate(const tuning *t, class *c, candidate *x)
{
    char m[24], n[24], k[24];
    child_result result = {0};
    progress(t, c, x);
    snprintf(m, sizeof m, "%lld", (long long)c->tuning.m);
    snprintf(n, sizeof n, "%lld", (long long)c->tuning.n);
    snprintf(k, sizeof k, "%lld", (long long)c->tuning.k);
    const char *const arguments[] = {"tune", "--child-try", t->device, m, n, k, NULL};
    c->tried += x->seconds == 0;
    if (tn_tuning_write(t->trial, t->device, &c->tuning, x->parameters, 0) == TN_OK)
        child_run(arguments, strcmp(x->parameters, c->untuned) == 0 ? LIST_SECONDS : TRY_SECONDS, &result);
    else
        snprintf(result.reason, sizeof result.reason, "%.120s", tn_last_error());
    const char *answer = result.output ? result.output : "";
    const double seconds = result.finished && strncmp(answer, "seconds\t", 8) == 0 ? strtod(answer + 8, NULL) : 0;
    if (seconds <= 0) {
        x->out = true;
        c->failed++;
        if (t->terminal) fprintf(stderr, "\r\033[K");
        fprintf(stderr, "tenon tune: %s %s, %s: %.*s\n", c->family, c->shapes, x->parameters,
                result.finished ? (int)strcspn(answer, "\n") : (int)strlen(result.reason),
                result.finished ? answer : result.reason);
    } else if (x->seconds == 0 || seconds < x->seconds) {
        x->seconds = seconds;
    }
    free(result.output);
    unlink(t->trial);
}

/* Those that go on come first, by time; the untried and the failed last. */
static int compare(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    const bool ox = x->out || x->seconds == 0, oy = y->out || y->seconds == 0;
    if (ox != oy) return ox - oy;
    return x->seconds < y->seconds ? -1 : x->seconds > y->seconds;
}

static void halve(const tuning *t, class *c, double until)
{
    int left = c->count, last = 0;
    memcpy(c->untuned, c->candidates[0].parameters, sizeof c->untuned);
    while (left > 0 && last < LAST_ROUNDS) {
        last += left <= LAST;
        for (int i = 0; i < left; i++) {
            candidate *x = &c->candidates[i];
            if (now() >= until && c->standard != 0) break; /* the untuned ones are always tried */
            if (!x->out) try_candidate(t, c, x);
            if (i == 0 && c->standard == 0) c->standard = x->out ? -1 : x->seconds;
        }
        qsort(c->candidates, (size_t)left, sizeof c->candidates[0], compare);
        while (left > 0 && (c->candidates[left - 1].out || c->candidates[left - 1].seconds == 0)) left--;
        if (left > LAST) left = left / 2 > LAST ? left / 2 : LAST;
        if (now() >= until) break;
    }
    progress(t, c, NULL);
}

/* The fastest; the untuned parameters where they are hardly slower, for the difference may be the machine's. NULL: all failed. */
static const candidate *best_of(const class *c)
{
    const candidate *best = &c->candidates[0];
    if (best->out || best->seconds == 0) return NULL;
    for (int i = 1; i < c->count; i++) {
        const candidate *x = &c->candidates[i];
        if (strcmp(x->parameters, c->untuned) == 0 && !x->out && x->seconds > 0 && x->seconds * 0.98 < best->seconds) return x;
    }
    return best;
}

/* False, with a line, when the file could not be written in the end. */
static bool can_write(const tuning *t)
{
    const bool can = tn_tuning_write(t->trial, t->device, &t->classes[0].tuning, t->classes[0].candidates[0].parameters, 0) ==
                     TN_OK;
    if (!can) fprintf(stderr, "tenon tune: %s\n", tn_last_error());
    unlink(t->trial);
    return can;
}

/* ---- results ---- */

static void print_class(const tuning *t, const class *c, bool first)
{
    const candidate *best = best_of(c);
    if (t->json) {
        printf("%s\n  {\"device\": \"%s\", \"family\": \"%s\", \"shapes\": \"%s\", \"m\": %lld, \"n\": %lld, \"k\": %lld, "
               "\"candidates\": %d, \"tried\": %d, \"failed\": %d, ",
               first ? "" : ",", t->device, c->family, c->shapes, (long long)c->tuning.m, (long long)c->tuning.n,
               (long long)c->tuning.k, c->count, c->tried, c->failed);
        if (best)
            printf("\"parameters\": \"%s\", \"seconds\": %.9g, ", best->parameters, best->seconds);
        else
            printf("\"parameters\": null, \"seconds\": null, ");
        printf(c->standard > 0 ? "\"untuned_seconds\": %.9g}" : "\"untuned_seconds\": null}", c->standard);
    } else if (best) {
        printf("%s %s [%lld,%lld,%lld]: %s, %.3f ms", c->family, c->shapes, (long long)c->tuning.m, (long long)c->tuning.k,
               (long long)c->tuning.n, best->parameters, best->seconds * 1e3);
        if (c->standard > 0) printf(", untuned %.3f ms", c->standard * 1e3);
        printf("; %d of %d candidates tried, %d failed\n", c->tried, c->count, c->failed);
    } else {
        printf("%s %s: no candidate gave a right result\n", c->family, c->shapes);
    }
    fflush(stdout);
}

/* Tunes all classes; false when one has no result, or the file cannot be written. */
static bool tune(tuning *t)
{
    const double start = now();
    bool good = true;
    if (t->json) printf("[");
    for (int i = 0; i < t->count; i++) {
        class *c = &t->classes[i];
        halve(t, c, start + t->seconds * (i + 1) / t->count);
        const candidate *best = best_of(c);
        print_class(t, c, i == 0);
        if (!best) {
            good = false;
        } else if (tn_tuning_write(t->file, t->device, &c->tuning, best->parameters, best->seconds) != TN_OK) {
            fprintf(stderr, "tenon tune: %s\n", tn_last_error());
            good = false;
        }
    }
    printf(t->json ? "\n]\n" : "in %s\n", t->file);
    return good;
}

static const char usage[] =
    "usage: tenon tune [--device NAME] [--quick] [--seconds N] [--output FILE] [--json] [--help]\n"
    "  --device NAME   what to tune; \"auto\" if not given\n"
    "  --quick         few candidates, within a minute instead of five\n"
    "  --seconds N     time to spend; what is running then is still ended, in at most 20 seconds\n"
    "  --output FILE   instead of the library's tuning file (TENON_TUNING, else tuning.txt in the cache folder)\n"
    "Results are checked; a candidate that gives wrong ones, crashes, or takes 20 seconds is left out.\n"
    "Exit status: 0 all tuned, 1 not all, 2 wrong arguments.\n";

/* -1: go on; else the exit status. */
static int read_arguments(int argc, char **argv, tuning *t, const char **device)
{
    char *end = NULL;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--help") == 0) {
            printf("%s", usage);
            return 0;
        }
        if (strcmp(argv[i], "--quick") == 0)
            t->quick = true;
        else if (strcmp(argv[i], "--json") == 0)
            t->json = true;
        else if (strcmp(argv[i], "--device") == 0 && value)
            *device = argv[++i];
        else if (strcmp(argv[i], "--output") == 0 && value && *value)
            t->file = argv[++i];
        else if (strcmp(argv[i], "--seconds") == 0 && value && (t->seconds = strtod(value, &end)) > 0 && *end == '\0')
            i++;
        else {
            fprintf(stderr, "%s", usage);
            return 2;
        }
    }
    if (t->seconds <= 0) t->seconds = t->quick ? QUICK_SECONDS : SECONDS;
    return -1;
}

int command_tune(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--child-list") == 0) return tune_child_list(argv[2]);
    if (argc == 6 && strcmp(argv[1], "--child-try") == 0) return tune_child_try(argv[2], argv[3], argv[4], argv[5]);
    tuning t = {.terminal = isatty(STDERR_FILENO)};
    const char *device = "auto";
    const int status = read_arguments(argc, argv, &t, &device);
    if (status >= 0) return status;
    if (!t.file) t.file = tn_tuning_file();
    if (!*t.file) {
        fprintf(stderr, "tenon tune: there is no tuning file: TENON_TUNING or TENON_CACHE_DIR is empty; name one with --output\n");
        return 1;
    }
    char file[4096];
    snprintf(file, sizeof file, "%s", t.file); /* the library's text does not last */
    t.file = file;
    snprintf(t.trial, sizeof t.trial, "%s.%ld.trial", file, (long)getpid());
    t.classes = calloc(CLASSES_MOST, sizeof *t.classes);
    setenv("TENON_TUNING", t.trial, 1); /* of the children */
    const bool good = t.classes && ask_list(&t, device) && can_write(&t) && tune(&t);
    free(t.classes);
    return good ? 0 : 1;
}
