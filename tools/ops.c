/* tenon ops: the catalogue of operations as a table, as JSON, or as Markdown for docs/ops.md. */
#include <stdio.h>
#include <string.h>
#include <tenon/catalog.h>

#include "command.h"

typedef struct output {
    void (*begin)(void);
    void (*operation)(const tn_operation *o, bool first, bool new_group);
    void (*end)(void);
} output;

static void nothing(void)
{
}

/* ---- table ---- */

static void table_operation(const tn_operation *o, bool first, bool new_group)
{
    if (new_group) printf("%s%s\n", first ? "" : "\n", o->group);
    printf("  %-18s %-36s %-36s %-9s %s\n", o->name, o->arguments, o->dtypes, o->gradient ? "gradient" : "", o->launches);
}

/* ---- JSON: names and texts of the catalogue need no escapes ---- */

static void json_begin(void)
{
    printf("[");
}
static void json_operation(const tn_operation *o, bool first, bool new_group)
{
    (void)new_group;
    printf("%s\n  {\"name\": \"%s\", \"group\": \"%s\", \"arguments\": \"%s\", \"dtypes\": \"%s\", \"gradient\": %s, "
           "\"launches\": \"%s\", \"torch\": \"%s\"}",
           first ? "" : ",", o->name, o->group, o->arguments, o->dtypes, o->gradient ? "true" : "false", o->launches, o->torch);
}
static void json_end(void)
{
    printf("\n]\n");
}

/* ---- Markdown ---- */

static void markdown_begin(void)
{
    printf("# Operations\n\nWritten by `tenon ops --markdown`. `tenon ops` prints the same in a terminal; the headers in\n"
           "`include/tenon/` say more of each. \"fused\": pending operations around it join its kernel.\n");
}
static void markdown_operation(const tn_operation *o, bool first, bool new_group)
{
    (void)first;
    if (new_group) printf("\n## %s\n\n| call | dtypes | gradient | launches | in PyTorch |\n|---|---|---|---|---|\n", o->group);
    printf("| `tn_%s(%s)` | %s | %s | %s | %s |\n", o->name, o->arguments, o->dtypes, o->gradient ? "yes" : "no", o->launches, o->torch);
}

static const output table = {nothing, table_operation, nothing}, json = {json_begin, json_operation, json_end},
                    markdown = {markdown_begin, markdown_operation, nothing};

int command_ops(int argc, char **argv)
{
    const output *to = &table;
    const char *text = "", *group = "";
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--json") == 0)
            to = &json;
        else if (strcmp(argv[i], "--markdown") == 0)
            to = &markdown;
        else if (argv[i][0] != '-' && !*text)
            text = argv[i];
        else {
            fprintf(stderr, "usage: tenon ops [--json | --markdown] [TEXT]\n");
            return 2;
        }
    tn_operation o;
    bool first = true;
    to->begin();
    for (int i = 0; tn_operation_at(i, &o); i++) {
        if (!strstr(o.name, text)) continue;
        to->operation(&o, first, strcmp(group, o.group) != 0);
        group = o.group;
        first = false;
    }
    to->end();
    if (!first) return 0;
    fprintf(stderr, "tenon ops: no operation's name contains \"%s\"\n", text);
    return 1;
}
