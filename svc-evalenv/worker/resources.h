/** What a run may use: as its template asks (`spec.resources`), else the defaults of the worker,
 * and never more than the worker gives. Without being asked for there is no network. */
#pragma once

#include "base/config.h"
#include "worker/job.h"

/** RUN_CPUS, RUN_MEMORY, RUN_PIDS, and their _MAX. */
extern const struct setting RESOURCE_SETTINGS[];

#define RESOURCE_VARIABLES 5

/** The variables of the run's script: CPUS, CPU_QUOTA_US (microseconds in each 100 ms), MEMORY_MB,
 * PIDS, and NETWORK, which is on or off; in the arena. Returns what is wrong with the run, or
 * NULL. */
const char *resource_variables(struct request *rq, const struct job *job,
                               char *ret_variables[RESOURCE_VARIABLES]);
