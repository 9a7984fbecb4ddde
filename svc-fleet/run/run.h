/** svc-fleet/run/: runs of agents.
 *
 *     telemetry.c  taking the reports that a run sends of itself
 *     admit.c      what runs ask before their agent begins
 *     run.c        listing and removing runs; making the partitions of coming months
 *
 * Words used here:
 *   run        one execution of an agent on a repository, known by (account, repository, run_id)
 *   telemetry  a report that a run sends of itself: an object of which the members below are known,
 *              and the others are kept as they are
 *   outcome    what became of a run: `pull_request`, `issue`, `branch`, `skipped`, `failed`,
 *              `running` or `other`, by its status (outcome_kind() in run.fn.sql)
 *   stamp      when a report was true; reports are merged in the order of their stamps, not of
 *              their arrival (run_stamp() in telemetry.fn.sql) */
#pragma once

#include "loop/request.h"

#include <stdint.h>

#define RUN_ID_MAX 128 /* characters */

/** GET /fleet/runs */
void run_list(struct request *rq);

/** POST /fleet/runs: merge a report into the record of its run. Replies with the merged record, 201
 * when it is the first report of the run. */
void run_report(struct request *rq);

/** POST /fleet/runs/admit: reserve what the run may cost, unless that was done when it was started.
 * Raises ERR_BUDGET_REACHED, and ERR_CONFLICT as reservation_admit(). */
void run_admit(struct request *rq);

/** Raise unless the caller's key is an automation key for the repository. */
void run_require_key(struct request *rq, const char *repo);

/** DELETE /fleet/runs/{run_id}: take a run out of every sum and list. */
void run_delete(struct request *rq);

/** Recurring work: make the partitions of this month and the next two. */
void run_partitions_make(struct request *rq);
extern const int64_t RUN_PARTITIONS_EVERY_MS;

/** Recurring work, as often: drop the facts that accounts have heard of and that are no news any
 * more (told_months_keep() in message.fn.sql). */
void run_told_months_keep(struct request *rq);

/** Recurring work: delete the rows of repo_guard, which are locks and nothing else. */
void run_guards_forget(struct request *rq);
extern const int64_t RUN_GUARDS_EVERY_MS;
