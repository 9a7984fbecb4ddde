/** `expops manual`: the page of man(7), which the build makes of the table of commands. */
#pragma once

#include "command/command.h"

void manual_run(struct cli *cli, const struct arguments *arguments);
