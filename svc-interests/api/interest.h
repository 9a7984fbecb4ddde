/** svc-interests/api/: the routes and event handlers of svc-interests; main.c lists them all.
 *
 *   interest.h            interests, which papers are recommended for
 *   recommendation.h      lists and digest of recommendations, feedback
 *   experiment_history.h  scoring candidates
 *   experiment.h          events about experiments
 *
 * This header: creating, reading, changing and deleting interests. A new interest, and one whose
 * name or context changes, starts the job that builds its candidate pool (pool/pool.h). */
#pragma once

#include "base/config.h"
#include "loop/request.h"

/** INTERESTS_MAX, ACTIVE_INTERESTS_MAX. */
extern const struct setting INTEREST_SETTINGS[];

#define INTEREST_NAME_MAX_CHARS    200
#define INTEREST_CONTEXT_MAX_CHARS 50000

void interest_list(struct request *rq);
void interest_create(struct request *rq);
void interest_get(struct request *rq);
void interest_update(struct request *rq);
void interest_delete(struct request *rq);
void interest_toggle(struct request *rq);

/** POST /internal/interests/pool: the state of an interest's pool, for svc-fleet, and its project,
 * for svc-experiments.
 *
 *     {"interest_id"}
 *     {"interest_id", "project_id": null, "pool_status": "building", "pool_size": 0} */
void interest_pool_get(struct request *rq);
