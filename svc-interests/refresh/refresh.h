/** svc-interests/refresh/: what is computed for an interest in the background: recommendations, on
 * request or daily (daily.h), and its model (refit.h). This file makes the recommendations. */
#pragma once

#include "base/config.h"
#include "loop/request.h"
#include "task/task.h"

/** Job `recommendations_refresh`, {"interest_id", "num_results"}, both optional, or {"day"}: make
 * recommendations for one interest, or for every active interest of the account. One transaction
 * stores the recommendations and completes the task, so a job that runs twice stores its result
 * once. Result of the task:
 *
 *     {"interests": [{"interest_id": "019b…", "recommended": 3, "pool_size": 300}]} */
void refresh_run(struct request *rq, struct task *task);

/** RECENCY_HALF_LIFE. */
extern const struct setting REFRESH_SETTINGS[];
