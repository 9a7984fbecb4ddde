/** Commands that make something from more than their arguments. */
#pragma once

#include "command/command.h"

/** `interest add`: its context from a file, its repository from a checkout. With --update the
 * interest of this name is changed, so that the command can be repeated. */
void interest_add_run(struct cli *cli, const struct arguments *arguments);

/** `schedule`: the time of the agent of an interest. */
void schedule_run(struct cli *cli, const struct arguments *arguments);

/** `experiment add`: from a paper, too. */
void experiment_add_run(struct cli *cli, const struct arguments *arguments);

/** `inbox dismiss N`. */
void inbox_dismiss_run(struct cli *cli, const struct arguments *arguments);
