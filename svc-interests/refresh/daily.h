/** The daily run: once a day (UTC), a refresh of all active interests.
 *
 *     harvest.finished: all sets of arXiv are in --+
 *                                                  +--> daily_run: the day's row --> a task for each
 *     REFRESH_LATEST has come ---------------------+                                account, in batches
 *
 * The run begins when the papers of the night are there, as svc-search tells by an event, or at
 * REFRESH_LATEST without them: on days without an announcement, and where nothing is harvested.
 * Whichever comes first makes the row of the day, and the other finds it made. The row says how far
 * the accounts have got, in the order of their ids, so that any process can go on, after any other
 * stopped; no statement grows with the number of accounts. If no process was running at
 * REFRESH_LATEST, the next one to start makes the run, on the same day.
 *
 * The tasks are `recommendations_refresh_all` with the input {"day": "2026-11-25"} (refresh.h). The
 * end of each is told in the transaction that completes it, by the event `day.refreshed` of the
 * stream `events.interests`, for the account:
 *
 *     {"day": "2026-11-25", "interests": 11, "recommended": 33} */
#pragma once

#include "base/config.h"
#include "loop/request.h"
#include "task/task.h"

/** REFRESH_LATEST, DAILY_CHECK. */
extern const struct setting DAILY_SETTINGS[];
extern int64_t daily_check_ms; /* DAILY_CHECK */

/** Refuses a REFRESH_LATEST without a time of day. */
enum err_code daily_settings_check(void);

/** Recurring: make the day's row if it is late enough, and give accounts their tasks. */
void daily_run(struct request *rq);

/** The event `harvest.finished`: make the day's row if the papers of today are complete. */
void daily_harvest_finished(struct request *rq, const struct event *event);
