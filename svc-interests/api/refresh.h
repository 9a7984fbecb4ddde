/** Makes recommendations, on request or daily. */
#pragma once

#include "base/config.h"
#include "loop/request.h"
#include "task/task.h"

/** Job `recommendations_refresh`, {"interest_id", "num_results"}, both optional: make
 * recommendations for one interest, or for every active interest of the account. One transaction
 * stores the recommendations and completes the task, so a job that runs twice stores its result
 * once. Result of the task:
 *
 *     {"interests": [{"interest_id": "019b…", "recommended": 3, "pool_size": 300}]} */
void refresh_run(struct request *rq, struct task *task);

/** RECENCY_HALF_LIFE, DAILY_HOUR, DAILY_CHECK. */
extern const struct setting REFRESH_SETTINGS[];
extern int64_t refresh_check_ms; /* DAILY_CHECK */

/** The daily run: once a day (UTC), start a refresh task for every account with active interests.
 * Each replica checks periodically whether the run is due. The replica that inserts the row of the
 * day starts the tasks, in the same statement. If no replica was running at the hour, the next one
 * to start makes the run, on the same day. */
void refresh_daily(struct request *rq);
