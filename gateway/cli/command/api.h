/** `expops api`: any operation by its id. */
#pragma once

#include "command/command.h"

/** Without an operation: lists them. Else calls it with FIELD=VALUE, FIELD:=JSON, FIELD=@FILE, or
 * the body of -d FILE, and prints the answer. */
void api_run(struct cli *cli, const struct arguments *arguments);
