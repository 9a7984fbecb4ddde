#include "retention/retention.h"

#include "base/timefmt.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "retention.sql.h"

#include <stdio.h>
#include <string.h>

#define BATCH        1000
#define BATCHES_MAX  200 /* of a pass: the next goes on behind them */
#define FIRST_ID     "00000000-0000-0000-0000-000000000000"
#define PERIODS_LAST 30 /* days: the longest period that the API lists */
#define DAY_MS       ((int64_t)24 * 3600 * 1000)

static int64_t recommendation_days, explanation_days, former_days;

/* The last recommendation that the last pass has looked at. Those that stay are looked at again
 * only after all others, so that they hold nothing up, however many there are. */
static char looked_at[sizeof(FIRST_ID)] = FIRST_ID;

const int64_t RETENTION_KEEP_EVERY_MS = 3600000;

const struct setting RETENTION_SETTINGS[] = {
	SETTING_INT(&recommendation_days, "RECOMMENDATION_DAYS", "400", PERIODS_LAST, 36500,
                    "Days for which recommendations that nobody made use of are kept."),
	SETTING_INT(&explanation_days, "EXPLANATION_DAYS", "90", 1, 36500,
                    "Days for which the explanations of recommendations are kept, to the end of "
                    "the month."),
	SETTING_INT(&former_days, "FORMER_DAYS", "3650", 400, 36500,
                    "Days for which it is remembered that a paper was recommended, and what became "
                    "of a run."),
	SETTING_END,
};

const struct retained_table INTERESTS_TABLES[] = {
	TABLE_AGES("recommendation", "id", "RECOMMENDATION_DAYS",
                   "of which nobody made use; the others with the interest"),
	TABLE_AGES("recommendation_explanation", "recommendation_id", "EXPLANATION_DAYS",
                   "a month at once"),
	TABLE_DELETED_BY_INDEX(
		"former_recommendation", "recommendation_id", "FORMER_DAYS",
		"then the paper may be recommended again",
		"t.recommendation_id < (SELECT uuid_v7_first(now() - make_interval(days => $1)))"),
	TABLE_DELETED_BY_INDEX("run_outcome", "stage_at", "FORMER_DAYS", "by the time of its stage",
                               "t.stage_at < now() - make_interval(days => $1)"),
	TABLE_DELETED("daily_run", "day", "RECOMMENDATION_DAYS", "by its day",
                      "t.day < (now() AT TIME ZONE 'UTC')::date - $1"),
	TABLE_DELETED("experiment", "told_at", NULL,
                      "60 days after svc-experiments told that it was deleted",
                      "t.is_deleted AND t.told_at < now() - interval '60 days'"),
	TABLE_AGES("feed_maker_gone", "gone_at", NULL, "an hour; by the next"),
	TABLE_AGES("workflow_version", "seen_at", NULL, "when no process has told of it for long"),
	TABLE_BOUND("interest", "as many as the account makes"),
	TABLE_BOUND("background", "one row"),
	TABLE_BOUND("context_source", "with the interest, whose context names it"),
	TABLE_BOUND("digest_due", "one row an endpoint"),
	TABLE_BOUND("embedder", "one row a version that an interest or paper_vector has"),
	TABLE_BOUND("experiment_paper", "with the experiment"),
	TABLE_BOUND("feed", "as many as the account makes"),
	TABLE_BOUND("feedback", "with the recommendation"),
	TABLE_BOUND("interest_count", "one row an account"),
	TABLE_BOUND("paper", "one row a paper of svc-search that was a candidate"),
	TABLE_BOUND("paper_revision", "one row"),
	TABLE_BOUND("paper_vector", "one row a paper and version; old versions are deleted"),
	TABLE_BOUND("pool_entry", "as many candidates as a pool has, an interest"),
	TABLE_BOUND("pool_search", "one row an interest"),
	TABLE_BOUND("preference_evidence", "one row an interest"),
	TABLE_BOUND("preference_model", "one row an interest"),
	TABLE_BOUND("preference_scores", "one row an interest"),
	TABLE_BOUND("provision_step", "with the task"),
	TABLE_BOUND("provisioning", "one row an interest"),
	TABLE_BOUND("refreshed_interest", "with the task"),
	TABLES_END,
};

const char *retention_since(struct request *rq, const char *since)
{
	char *first = arena_alloc(rq->arena, DATE_TEXT_LEN + 1);
	date_format(time_now_ms() - (recommendation_days - 1) * DAY_MS, first);
	return strcmp(first, since) > 0 ? first : since;
}

/* In a transaction, which may take longer than a single statement: the whole table is read once. */
static bool prepare(struct request *rq)
{
	pg_begin(rq);
	struct pg_rows *rows = pg_query(rq, RETENTION_PREPARE_SQL);
	pg_commit(rq);
	return pg_value_bool(rows, 0);
}

static void keep_months(struct request *rq)
{
	while (prepare(rq))
		;
	struct pg_rows *rows = pg_query(rq, RETENTION_KEEP_MONTHS_SQL, pg_int(explanation_days));
	if (pg_value_int(rows, 0) > 0)
		log_info("old explanations dropped", f_int("months", pg_value_int(rows, 0)));
}

/* The next batch. Returns how many were deleted; false in `ret_is_more`: it was the last. */
static int64_t delete_batch(struct request *rq, bool *ret_is_more)
{
	struct pg_rows *rows = pg_query(rq, RETENTION_DELETE_SQL, pg_text(looked_at),
	                                pg_int(recommendation_days), pg_int(BATCH));
	const char *last = pg_get(rows, 0, "last_id");
	*ret_is_more = last != NULL;
	snprintf(looked_at, sizeof(looked_at), "%s", last ? last : FIRST_ID);
	return pg_get_int(rows, 0, "deleted");
}

static void delete_recommendations(struct request *rq)
{
	bool is_more = true;
	int64_t deleted = 0;
	for (int i = 0; is_more && i < BATCHES_MAX; i++)
		deleted += delete_batch(rq, &is_more);
	if (deleted > 0)
		log_info("old recommendations deleted", f_int("count", deleted));
}

void retention_keep(struct request *rq)
{
	keep_months(rq);
	delete_recommendations(rq);
}
