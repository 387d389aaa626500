/* tenon bench: how fast the library is on a device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "batch.h"
#include "command.h"
#include "measure.h"
#include "report.h"
#include "shares.h"

typedef struct options {
    const work *works[BATCH_MOST];
    int count;
    bool list, help;
    const char *baseline, *save; /* files; NULL: none */
    conditions on;
} options;

static void usage(FILE *to)
{
    fprintf(to,
            "usage: tenon bench [WORK...] [--device NAME] [--json] [--quick] [--repeat N]\n"
            "                   [--save FILE] [--baseline FILE] [--list] [--help]\n"
            "  WORK           what to measure; all that --list shows when none is named\n"
            "  --device NAME  where: \"gpu:0\", \"cpu:0\", \"host\"; \"auto\" unless given\n"
            "  --json         one object a line\n"
            "  --quick        small shapes, a short time\n"
            "  --repeat N     so many repetitions, rather than as many as the time allows\n"
            "  --save FILE    measures shares: how much of the rate at which the device copies, or of its peak of multiply-adds,\n"
            "                 a work reaches, the median of five; and writes them, an object a line\n"
            "  --baseline FILE  measures shares, and fails where one is more than a fifth below that in a file of --save\n"
            "  --list         prints the works and measures nothing\n");
}

static bool add_work(options *o, const char *name)
{
    const work *w = work_named(name);
    if (!w) {
        fprintf(stderr, "tenon bench: there is no work %s; there are", name);
        for (int i = 0; work_at(i); i++) fprintf(stderr, " %s", work_at(i)->name);
        fprintf(stderr, "\n");
        return false;
    }
    for (int i = 0; i < o->count; i++)
        if (o->works[i] == w) return true;
    o->works[o->count++] = w;
    return true;
}

static bool read_count(const char *text, int *count)
{
    char *end;
    const long n = strtol(text, &end, 10);
    if (end == text || *end || n < 1 || n > MEASURE_ROUNDS) {
        fprintf(stderr, "tenon bench: --repeat takes a number from 1 to %d, not %s\n", MEASURE_ROUNDS, text);
        return false;
    }
    *count = (int)n;
    return true;
}

/* An option, and its value where it has one. Moves *at to the last word it takes. */
static bool read_option(char **argv, int *at, options *o)
{
    const char *repeat = NULL, *word = argv[*at];
    const struct {
        const char *name, **value;
    } with_value[] = {{"--device", &o->on.device}, {"--repeat", &repeat}, {"--save", &o->save}, {"--baseline", &o->baseline}};
    for (size_t i = 0; i < sizeof with_value / sizeof *with_value; i++) {
        if (strcmp(word, with_value[i].name) != 0) continue;
        *with_value[i].value = argv[++*at];
        if (!argv[*at]) {
            fprintf(stderr, "tenon bench: %s needs a value\n", word);
            return false;
        }
        return !repeat || read_count(repeat, &o->on.repeat);
    }
    if (strcmp(word, "--json") == 0)
        o->on.json = true;
    else if (strcmp(word, "--quick") == 0)
        o->on.quick = true;
    else if (strcmp(word, "--list") == 0)
        o->list = true;
    else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        o->help = true;
    else {
        fprintf(stderr, "tenon bench: there is no option %s\n", word);
        usage(stderr);
        return false;
    }
    return true;
}

static bool parse(char **argv, options *o)
{
    for (int i = 1; argv[i]; i++)
        if (!(argv[i][0] == '-' ? read_option(argv, &i, o) : add_work(o, argv[i]))) return false;
    for (int i = 0; o->count == i && work_at(i); i++) /* none named: all */
        o->works[o->count++] = work_at(i);
    return true;
}

/* Works of memory speed go together, where the first of them stands. */
static bool run(const options *o)
{
    bool taken[BATCH_MOST] = {false}, good = true;
    if (!o->on.json) report_heading();
    for (int i = 0; i < o->count; i++) {
        const work *together[BATCH_MOST];
        int count = 0;
        for (int k = i; k < o->count; k++)
            if (!taken[k] && (k == i || (o->works[i]->by_copies && o->works[k]->by_copies))) {
                taken[k] = true;
                together[count++] = o->works[k];
            }
        good = (count == 0 || batch_run(together, count, &o->on)) && good;
    }
    return good;
}

int command_bench(int argc, char **argv)
{
    options o = {.on = {.device = "auto"}};
    (void)argc;
    if (!parse(argv, &o)) return 2;
    if (o.help || o.list) {
        o.help ? usage(stdout) : report_list();
        return 0;
    }
    o.on.device = tn_device_resolve(o.on.device);
    if (!o.on.device) {
        fprintf(stderr, "tenon bench: %s\n", tn_last_error());
        return tn_last_status() == TN_ARGUMENT ? 2 : 1;
    }
    const int status = o.save || o.baseline ? shares_run(o.works, o.count, &o.on, o.baseline, o.save) : run(&o) ? 0 : 1;
    (void)tn_shutdown();
    return status;
}
