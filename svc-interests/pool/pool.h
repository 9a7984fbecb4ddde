/** svc-interests/pool/: the candidate pool of an interest. A pool holds the papers that svc-search
 * found for the interest's name and context; recommendations are selected from it. Entry points:
 * pool_build() after a change of the interest, pool_renew() before a refresh. */
#pragma once

#include "base/config.h"
#include "loop/request.h"
#include "task/task.h"

/** POOL_SIZE. */
extern const struct setting POOL_SETTINGS[];

/** Job `pool_build`, {"interest_id"}: build the pool of an interest that is new, or whose name or
 * context has changed. When the context of an interest with recommendations has changed, the job also
 * starts the task that makes new ones (api/refresh.h). The job is retried while svc-search is
 * unavailable; after the last attempt the status of the pool is `failed`. */
void pool_build(struct request *rq, struct task *task);

/** Search the interest's candidates again and store them. When svc-search is unavailable, an existing
 * pool is kept. Returns false when the interest was deleted. Suspends. Raises ERR_UNAVAILABLE:
 * svc-search is unavailable and there is no pool, or the interest was changed meanwhile. */
bool pool_renew(struct request *rq, const char *interest);

/** Get papers from svc-search by their ids, a JSON array. Returns the answer: {"model", "results":
 * [...]}. Suspends. Raises what service_call() returns, and ERR_UPSTREAM: the status is not 200. */
const char *pool_lookup(struct request *rq, const char *ids_json);
