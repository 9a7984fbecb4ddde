/** `svc-integrations reseal`: seal all stored tokens and keys anew (main/reseal.h). */
#pragma once

#include "service/process.h"

int reseal_command(struct process *process, int argc, char **argv);
