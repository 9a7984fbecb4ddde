/** svc-interests/retention/: how long recommendations and their explanations are kept.
 *
 * **Explanations**, most of the bytes, are in partitions by month (UTC), which are dropped whole
 * when the last day of the month is EXPLANATION_DAYS old. A database that was there before has a
 * default partition with all of them; it gets a bound, and goes as a month does.
 *
 * **Recommendations** that are RECOMMENDATION_DAYS old are deleted, a thousand at a time: their
 * table is not partitioned, because that a paper is recommended once for a context is a unique key
 * without the time, which a partitioned table cannot have. One that somebody made use of stays:
 * with feedback, which models learn from and the reader may take back, or whose paper an experiment
 * is about or a run was for, which it is evidence of. Of the others a short row stays,
 * former_recommendation: a paper is not recommended again, and what experiments and runs say of it
 * counts. That row, and what became of a run, go after FORMER_DAYS.
 *
 * Every step is a transaction of its own, and finds by what is there how far the last came, so a
 * process may end between any two, and replicas may do the same at once.
 */
#pragma once

#include "base/config.h"
#include "loop/request.h"
#include "service/retained_table.h"

/** RECOMMENDATION_DAYS, EXPLANATION_DAYS, FORMER_DAYS. */
extern const struct setting RETENTION_SETTINGS[];

/** The tables of the schema `interests`. */
extern const struct retained_table INTERESTS_TABLES[];

/** The later of a day, `2026-01-31`, and the first one (UTC) of which all recommendations are
 * there: of those before only some stay, so that no share of them would be true. In the request's
 * arena. */
const char *retention_since(struct request *rq, const char *since);

/** Recurring: explanations and recommendations. */
void retention_keep(struct request *rq);
extern const int64_t RETENTION_KEEP_EVERY_MS;
