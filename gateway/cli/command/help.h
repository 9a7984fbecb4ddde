/** What `expops help`, `expops COMMAND --help` and the manual show, from the table of commands. */
#pragma once

#include "command/command.h"

/** All commands, a line each. */
void help_overview(struct cli *cli);

/** One command. For `api OPERATION`: the operation with its fields. */
void help_command(struct cli *cli, const struct arguments *arguments);

/** An operation with its fields. */
void help_operation(struct cli *cli, const struct operation *operation);

/** `help [COMMAND]`. */
void help_run(struct cli *cli, const struct arguments *arguments);

/** The version; exits. */
attr_noreturn void help_version(void);
