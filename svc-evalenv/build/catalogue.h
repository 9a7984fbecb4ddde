/** The job `asset_update`: reports to svc-search what came of the build of a paper, for the
 * catalogue that all accounts share. */
#pragma once

#include "task/task.h"

/** Its input is {"arxiv_id", "members"}, the members of the paper that change. */
void asset_update_run(struct request *rq, struct task *task);
