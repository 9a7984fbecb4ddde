/** Commands that start work, and follow it with -w. */
#pragma once

#include "command/command.h"

void refresh_run(struct cli *cli, const struct arguments *arguments);
void learn_run(struct cli *cli, const struct arguments *arguments);
void provision_run(struct cli *cli, const struct arguments *arguments);
void agent_run(struct cli *cli, const struct arguments *arguments);
void implement_run(struct cli *cli, const struct arguments *arguments);
void eval_run(struct cli *cli, const struct arguments *arguments);
void eval_build(struct cli *cli, const struct arguments *arguments);
void eval_show(struct cli *cli, const struct arguments *arguments);

/** `task ID`: of whatever kind it is. */
void task_run(struct cli *cli, const struct arguments *arguments);
