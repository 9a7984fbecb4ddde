/** Questions to the person at the terminal. They are on standard error, since they are no output;
 * the answer is a line of standard input. */
#pragma once

#include "program/cli.h"

#include <stdbool.h>

/** A line of standard input without its end, in the arena. Fails at the end of the file. */
const char *prompt_line(struct cli *cli);

/** Ask for a text. `fallback` is what an empty line stands for; NULL: itself. In the arena. */
const char *prompt_text(struct cli *cli, const char *what, const char *fallback);

/** Ask whether something is to be done. Anything but `y` and `yes`, also the end of the file, is
 * no. */
bool prompt_confirm(struct cli *cli, const char *question);
