/** Commands after which something is lost. */
#pragma once

#include "command/command.h"

/** `interest remove`, `key revoke`, `eval cancel`: what is meant is named in whole, and a person at
 * a terminal is asked first, unless there is --yes. A script is not asked. */
void removal_run(struct cli *cli, const struct arguments *arguments);
