// cli_int.h - private to cli: what main.c needs of options.c.
#ifndef CLI_CLI_INT_H
#define CLI_CLI_INT_H

#include "cli/cli.h"

bool cli_command_find(const char *name, CommandId *out);
_Noreturn void cli_unknown_command(const char *name);
void cli_parse(Cli *c, char **words, int count);
void cli_help(void);
void cli_command_help(CommandId id);
#endif
