/* The subcommands of tenon: one file each, one row in commands.def. */
#ifndef TENON_COMMAND_H
#define TENON_COMMAND_H

/* argv[0] is the subcommand's name. Returns the exit status. */
#define COMMAND(name, arguments, summary) int command_##name(int argc, char **argv);
#include "commands.def"
#undef COMMAND

#endif
