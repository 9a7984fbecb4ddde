/** The background: a random sample of the whole corpus. Preference models separate the papers that
 * readers like from these, and weigh terms by how many of them have it. The candidates of a pool
 * would not do: many of them are papers that the readers will like. With a background of the whole
 * corpus the AUC of models through the API is .860 with three likes and .903 with half a library,
 * and that of the model alone .859 and .901 (tests/bench/recommendation/preference_api.py, 39 users
 * of CiteULike).
 *
 * There is one background for all interests, in Postgres. svc-search chooses its papers by a hash
 * of their ids, so each replica draws the same. */
#pragma once

#include "loop/request.h"

#include <stdint.h>

/** Draw the background for an index of `documents` papers, if there is none yet or the index has
 * become a tenth larger or smaller since. While svc-search is unavailable the present one stays.
 * Not in a transaction. Suspends; raises as pg_query(). */
void background_follow(struct request *rq, int64_t documents);
