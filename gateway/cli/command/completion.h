/** Completion for shells, from the table of commands. The scripts ask `expops complete -- WORD...`
 * with the words up to the cursor, and get a candidate a line, with a tab before what it means.
 * Where there is none, shells complete the names of files. */
#pragma once

#include "command/command.h"

/** `completion SHELL`: the script for bash, zsh or fish. */
void completion_run(struct cli *cli, const struct arguments *arguments);

/** `complete -- WORD...` */
void complete_run(struct cli *cli, const struct arguments *arguments);
