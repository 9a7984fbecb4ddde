/** Making recommendations, asked for or daily. */
#pragma once

#include "loop/request.h"
#include "task/task.h"

/** Job `recommendations_refresh`, {"interest_id", "num_results"}, both optional: new
 * recommendations for one interest, or for every active one of the account. They and the task's
 * outcome are kept at once, so that what is done twice counts once.
 *
 *     {"interests": [{"interest_id": "019b…", "recommended": 3, "pool_size": 300}]} */
void refresh_run(struct request *rq, struct task *task);
