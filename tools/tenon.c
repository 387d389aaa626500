/* The tenon command: finds the subcommand and runs it. */
#include <stdio.h>
#include <string.h>
#include <tenon/base.h>

#include "command.h"

static const struct {
    const char *name, *arguments, *summary;
    int (*run)(int argc, char **argv);
} commands[] = {
#define COMMAND(name, arguments, summary) {#name, arguments, summary, command_##name},
#include "commands.def"
#undef COMMAND
};

enum { COUNT = sizeof commands / sizeof *commands };

static void usage(FILE *to)
{
    fprintf(to, "usage: tenon COMMAND [ARGUMENT...]\n\n");
    for (int i = 0; i < COUNT; i++)
        fprintf(to, "  tenon %s %s\n      %s\n", commands[i].name, commands[i].arguments, commands[i].summary);
    fprintf(to, "  tenon --version\n  tenon --help\n");
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        usage(stderr);
        return 2;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        usage(stdout);
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("tenon %s\n", tn_version());
        return 0;
    }
    for (int i = 0; i < COUNT; i++)
        if (strcmp(argv[1], commands[i].name) == 0) return commands[i].run(argc - 1, argv + 1);
    fprintf(stderr, "tenon: there is no command %s\n", argv[1]);
    usage(stderr);
    return 2;
}
