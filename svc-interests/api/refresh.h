/** Making recommendations, asked for or daily. */
#pragma once

#include "base/config.h"
#include "loop/request.h"
#include "task/task.h"

/** Job `recommendations_refresh`, {"interest_id", "num_results"}, both optional: new
 * recommendations for one interest, or for every active one of the account. They and the task's
 * outcome are kept at once, so that what is done twice counts once.
 *
 *     {"interests": [{"interest_id": "019b…", "recommended": 3, "pool_size": 300}]} */
void refresh_run(struct request *rq, struct task *task);

/** RECENCY_HALF_LIFE, DAILY_HOUR, DAILY_CHECK. */
extern const struct setting REFRESH_SETTINGS[];
extern int64_t refresh_check_ms; /* DAILY_CHECK */

/** The daily run: once a day (UTC) every account's active interests are refreshed without asking.
 * Each replica checks from time to time whether the day's run is due; the one that inserts the day's
 * row starts it, in the same statement. A day on which every replica was down until late is caught
 * up with at the next start. */
void refresh_daily(struct request *rq);
