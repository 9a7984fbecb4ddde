/** Fetches the details of an experiment's paper from svc-search. */
#pragma once

#include "base/config.h"
#include "loop/request.h"

#include <yyjson.h>

/** SEARCH_TIMEOUT. */
extern const struct setting PAPER_SETTINGS[];

/** A paper, or the reason why its details are missing. */
struct paper {
	const char *arxiv_id;
	yyjson_val *asset;   /* reply of GET /search/assets/{arxiv_id}; NULL: not available */
	const char *missing; /* a sentence that says why `asset` is NULL */
};

/** Fetch the paper; waits at most SEARCH_TIMEOUT. Suspends. A failure of svc-search is reported in
 * `missing`; only the end of the request itself (its deadline, or the client disconnected) is
 * raised. */
struct paper paper_fetch(struct request *rq, const char *arxiv_id);
