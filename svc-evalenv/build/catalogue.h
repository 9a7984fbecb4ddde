/** The job `asset_update`: reports to svc-search what came of the build of a paper, for the
 * catalogue that all accounts share. */
#pragma once

#include "task/task.h"

/** Its input is {"arxiv_id"}. Tells what came of the paper's builds so far, again until nothing has
 * changed meanwhile: such jobs may run at the same time, and the last one must not tell less. */
void asset_update_run(struct request *rq, struct task *task);
