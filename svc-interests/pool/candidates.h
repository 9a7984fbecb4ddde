/** Candidates that a client names: arXiv ids, or texts that are in no index. */
#pragma once

#include "loop/request.h"

#include <yyjson.h>

#define CANDIDATES_MAX 500

/** Raise ERR_INVALID, every fault named, unless each item is an id of 1 to 64 characters or
 * {"title", "abstract"}. `array` NULL or null: there are none. */
void candidates_check(struct request *rq, yyjson_val *array);

/** Checked candidates as paper.h reads them: ids that svc-search knows, then texts with their
 * `index`. In the arena of the request. Suspends. Raises what pool_lookup() does. */
const char *candidates_read(struct request *rq, yyjson_val *array);
