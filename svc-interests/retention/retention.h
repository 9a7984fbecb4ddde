/** svc-interests/retention/: how long recommendations and their explanations are kept.
 *
 * **Explanations**, most of the bytes, are in partitions by month (UTC), which are dropped whole
 * when the last day of the month is EXPLANATION_DAYS old. A database that was there before has a
 * default partition with all of them; it gets a bound, and goes as a month does.
 *
 * **Recommendations** that are RECOMMENDATION_DAYS old are deleted, a thousand at a time: their
 * table is not partitioned while a former version can run beside this one, which needs a unique key
 * that a partitioned table cannot have. One with feedback stays, because models learn from it, and
 * the reader may take it back. Of the others a short row stays, former_recommendation: a paper is
 * not recommended again, and what experiments and runs say of it counts.
 *
 * Every step is a transaction of its own, and finds by what is there how far the last came, so a
 * process may end between any two, and replicas may do the same at once.
 */
#pragma once

#include "base/config.h"
#include "loop/request.h"

/** RECOMMENDATION_DAYS, EXPLANATION_DAYS. */
extern const struct setting RETENTION_SETTINGS[];

/** Recurring. */
void retention_keep(struct request *rq);
extern const int64_t RETENTION_KEEP_EVERY_MS;
