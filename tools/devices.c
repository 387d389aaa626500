/* tenon devices: what is there, tried out.
 *
 * Drivers can crash the process that asks them, so this process never does: children of the same program list, and probe one
 * device each, and send records. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "command.h"
#include "record.h"

enum { DEVICES_MAX = 64, SECONDS = 120 };

/* ---- in a child ---- */

static void send_device(const char *name)
{
    record r;
    tn_device_info info;
    if (tn_device_query(name, &info) != TN_OK) return;
    record_fill(&r, &info);
    record_send(&r, stdout);
}

/* A record for each device, then why there are none. */
static int child_list(void)
{
    const int count = tn_device_count(NULL);
    for (int i = 0; i < count; i++) send_device(tn_device_name(i));
    printf("trouble\t%s\n", tn_device_trouble());
    return 0;
}

static int child_probe(const char *name)
{
    const tn_status status = tn_device_probe(name);
    if (status != TN_OK && !tn_device_resolve(name)) return 1;
    send_device(name);
    return 0;
}

/* ---- in the parent ---- */

typedef struct listing {
    record devices[DEVICES_MAX];
    int count;
    char trouble[RECORD_TEXT];
} listing;

static void only_host(listing *l, const char *trouble)
{
    const tn_device_info host = {.name = "host", .type = "host", .description = "plain memory", .usable = true, .fp64 = true};
    record_fill(&l->devices[0], &host);
    l->count = 1;
    snprintf(l->trouble, sizeof l->trouble, "%s", trouble);
}

static void ask_list(listing *l)
{
    const char *const arguments[] = {"devices", "--child-list", NULL};
    child_result result;
    memset(l, 0, sizeof *l);
    child_run(arguments, SECONDS, &result);
    const char *at = result.output ? result.output : "";
    if (!result.finished) {
        only_host(l, result.reason);
    } else {
        while (l->count < DEVICES_MAX && strncmp(at, "trouble\t", 8) != 0 && record_receive(&l->devices[l->count], &at))
            l->count++;
        if (strncmp(at, "trouble\t", 8) == 0)
            snprintf(l->trouble, sizeof l->trouble, "%.*s", (int)strcspn(at + 8, "\n"), at + 8);
    }
    free(result.output);
}

/* Tries the device out; its record becomes what the child found, or why there was no answer. */
static void probe(record *r)
{
    char name[32];
    child_result result;
    snprintf(name, sizeof name, "%.31s", record_get(r, "name"));
    const char *const arguments[] = {"devices", "--child-probe", name, NULL};
    child_run(arguments, SECONDS, &result);
    const char *at = result.output ? result.output : "";
    record answer;
    if (result.finished && record_receive(&answer, &at)) {
        *r = answer;
    } else {
        record_set(r, "usable", "0");
        record_set(r, "error", result.reason);
    }
    free(result.output);
}

/* The name of what "auto" stands for; empty when that could not be found out. */
static void ask_default(char *name, size_t size)
{
    const char *const arguments[] = {"devices", "--child-probe", "auto", NULL};
    child_result result;
    record r;
    child_run(arguments, SECONDS, &result);
    const char *at = result.output ? result.output : "";
    snprintf(name, size, "%s", result.finished && record_receive(&r, &at) ? record_get(&r, "name") : "");
    free(result.output);
}

static void fill(listing *l)
{
    char chosen[32];
    ask_list(l);
    for (int i = 0; i < l->count; i++)
        if (strcmp(record_get(&l->devices[i], "type"), "host") != 0) probe(&l->devices[i]);
    if (l->count > 1)
        ask_default(chosen, sizeof chosen);
    else
        strcpy(chosen, "host");
    for (int i = 0; i < l->count; i++)
        if (strcmp(record_get(&l->devices[i], "name"), chosen) == 0) record_set(&l->devices[i], "default", "1");
}

/* ---- output ---- */

static void print_json(const listing *l)
{
    printf("[\n");
    for (int i = 0; i < l->count; i++) {
        record_json(&l->devices[i], stdout);
        printf("%s\n", i + 1 < l->count ? "," : "");
    }
    printf("]\n");
}

static const char *const columns[] = {"name", "type", "description", "platform", "driver", "memory", "units", "profile", "fp64", ""};
enum { COLUMNS = sizeof columns / sizeof *columns, CELL = 256 };

static void cell(const record *r, int column, char text[CELL])
{
    const char *name = columns[column];
    if (strcmp(name, "memory") == 0)
        snprintf(text, CELL, "%.1f GiB", (double)strtoull(record_get(r, "memory_total"), NULL, 10) / (1 << 30));
    else if (strcmp(name, "units") == 0)
        snprintf(text, CELL, "%.200s", record_get(r, "compute_units"));
    else if (strcmp(name, "fp64") == 0)
        snprintf(text, CELL, "%s", record_is(r, "fp64") ? "yes" : "no");
    else if (!*name)
        snprintf(text, CELL, "%s%s", record_is(r, "software") ? "(software) " : "", record_is(r, "default") ? "auto" : "");
    else
        snprintf(text, CELL, "%.200s", *record_get(r, name) ? record_get(r, name) : "-");
}

/* The cells of a line, the headings for NULL, without spaces at its end. */
static void print_line(const record *r, const int *width)
{
    char line[COLUMNS * CELL] = "", text[CELL];
    size_t length = 0;
    for (int c = 0; c < COLUMNS; c++) {
        if (r)
            cell(r, c, text);
        else
            snprintf(text, sizeof text, "%s", columns[c]);
        length += (size_t)snprintf(line + length, sizeof line - length, "%s%-*s", c ? "  " : "", width[c], text);
    }
    while (length > 0 && line[length - 1] == ' ') line[--length] = '\0';
    puts(line);
}

static void print_table(const listing *l)
{
    int width[COLUMNS];
    char text[CELL];
    for (int c = 0; c < COLUMNS; c++) {
        width[c] = (int)strlen(columns[c]);
        for (int i = 0; i < l->count; i++) {
            cell(&l->devices[i], c, text);
            if ((int)strlen(text) > width[c]) width[c] = (int)strlen(text);
        }
    }
    print_line(NULL, width);
    for (int i = 0; i < l->count; i++) {
        print_line(&l->devices[i], width);
        if (*record_get(&l->devices[i], "error")) printf("  not usable: %s\n", record_get(&l->devices[i], "error"));
    }
    if (*l->trouble) printf("no OpenCL device: %s\n", l->trouble);
}

int command_devices(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--child-list") == 0) return child_list();
    if (argc == 3 && strcmp(argv[1], "--child-probe") == 0) return child_probe(argv[2]);
    const int json = argc == 2 && strcmp(argv[1], "--json") == 0;
    if (argc > 2 || (argc == 2 && !json)) {
        fprintf(stderr, "usage: tenon devices [--json]\n");
        return 2;
    }
    listing *l = malloc(sizeof *l);
    if (!l) {
        fprintf(stderr, "tenon devices: %s\n", strerror(errno));
        return 1;
    }
    fill(l);
    if (json)
        print_json(l);
    else
        print_table(l);
    free(l);
    return 0;
}
