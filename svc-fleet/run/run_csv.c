#include "run/run_csv.h"

#include "pg/pg.h"
#include "reply/reply_csv.h"
#include "run_csv.sql.h"

#define METRICS "metrics"

static const char *const COLUMNS[] = {
	"run_id",
	"repo",
	"status",
	"outcome_kind",
	"started_at",
	"finished_at",
	"duration_seconds",
	"agent",
	"provider",
	"model",
	"model_backend",
	"source",
	"run_attempt",
	"spend_usd",
	"spend_basis",
	"cost_usd",
	"cost_basis",
	"input_tokens",
	"output_tokens",
	"cache_read_input_tokens",
	"cache_write_input_tokens",
	"agent_calls",
	"num_turns",
	"interest_id",
	"recommendation_id",
	"arxiv_id",
	"experiment_id",
	"arm",
	"broad_pool_size",
	"refine_pool_size",
	"preflight_decision",
	"lint_status",
	"test_status",
	"test_integration_gate",
	"license_class",
	"license_compat",
	"diff_risk_band",
	"artifact_url",
	"error",
	"created_at",
	"updated_at",
	NULL,
};

/* `{run_id,repo,metrics}`: an array of Postgres. */
static const char *members(struct arena *arena)
{
	struct buf list = {.arena = arena};
	for (size_t i = 0; COLUMNS[i]; i++)
		buf_printf(&list, "%s%s", i == 0 ? "{" : ",", COLUMNS[i]);
	buf_puts(&list, "," METRICS "}");
	return list.data;
}

static struct pg_rows *read_rows(struct request *rq, const char *ids)
{
	return pg_query(rq, RUN_CSV_ROWS_SQL, pg_uuid(rq->caller.account), pg_text(ids),
	                pg_text(members(rq->arena)));
}

static const struct csv_list LIST = {
	.name = "runs",
	.columns = COLUMNS,
	.others = METRICS,
	.read = read_rows,
};

void run_csv_reply(struct request *rq, const struct run_filter *f)
{
	reply_csv(rq, &LIST,
	          pg_query(rq, RUN_CSV_OUTLINE_SQL, pg_uuid(rq->caller.account), pg_text(f->repo),
	                   pg_text(f->outcome), pg_text(f->agent), pg_text(f->interest),
	                   pg_text(f->paper), pg_text(f->since), pg_text(f->until),
	                   pg_text(f->merged_since), pg_text(f->merged_until), pg_text(f->repos),
	                   pg_text(f->run), pg_int(CSV_ROWS_MAX)));
}
