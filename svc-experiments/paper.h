/** What svc-search knows of the paper that an experiment came from. */
#pragma once

#include "base/config.h"
#include "loop/request.h"

#include <yyjson.h>

/** SEARCH_TIMEOUT. */
extern const struct setting PAPER_SETTINGS[];

/** The paper, or why there is none. */
struct paper {
	const char *arxiv_id;
	yyjson_val *asset;   /* as GET /search/assets/{arxiv_id} shows it; NULL: not to be had */
	const char *missing; /* a sentence saying why `asset` is NULL */
};

/** Ask svc-search, for at most SEARCH_TIMEOUT. Suspends. Raises nothing but the end of the request
 * itself. */
struct paper paper_fetch(struct request *rq, const char *arxiv_id);
