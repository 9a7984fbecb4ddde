/** The `candidates` of a score-candidates request: arXiv ids, or texts that are in no index. */
#pragma once

#include "loop/request.h"

#include <yyjson.h>

#define CANDIDATES_MAX 500

/** Check that each item is an id of 1 to 64 characters or {"title", "abstract"}, and add every
 * fault to the problem of the request. Before request_input(), which raises them with its own.
 * `array` may be NULL or null: no candidates. */
void candidate_input_check(struct request *rq, yyjson_val *array);

/** Load the checked candidates, as JSON in the form of paper/paper.h: first the papers whose
 * ids svc-search has, then the texts with their `index`. In the arena of the request. Sets
 * `ret_version` to the version of the embedder that svc-search named, if it was asked. Suspends.
 * Raises what pool_lookup() raises. */
const char *candidate_input_load(struct request *rq, yyjson_val *array, const char **ret_version);
