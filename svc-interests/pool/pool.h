/** An interest's pool: the papers that its recommendations are taken from, as svc-search found them
 * by the interest's words. */
#pragma once

#include "base/config.h"
#include "loop/request.h"
#include "task/task.h"

/** POOL_SIZE. */
extern const struct setting POOL_SETTINGS[];

/** Job `pool_build`, {"interest_id"}: make the pool of a new interest, or of one whose words have
 * changed. Where recommendations of an earlier context are there, new ones are made of the pool
 * (refresh.h). While svc-search is away it is tried again; after the last attempt the pool is
 * `failed`. */
void pool_build(struct request *rq, struct task *task);

/** Search the interest's candidates anew and keep them. While svc-search is away a pool that is
 * ready stays as it is. False: the interest has gone. Suspends. Raises ERR_UNAVAILABLE: svc-search
 * is away and there is no pool, or the interest has just changed. */
bool pool_renew(struct request *rq, const char *interest);

/** Ask svc-search about papers by their ids, a JSON array. Its answer, {"model", "results": [...]}.
 * Suspends. Raises ERR_UNAVAILABLE and its kin, as service_call(); ERR_UPSTREAM. */
const char *pool_lookup(struct request *rq, const char *ids_json);
