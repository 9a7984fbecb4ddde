#include "run/run_csv.h"

#include "pg/pg.h"
#include "reply/reply_csv.h"
#include "run_csv.sql.h"

static const char *const COLUMNS[] = {
	"run_id",
	"name",
	"status",
	"created_at",
	"started_at",
	"finished_at",
	"duration_seconds",
	"target",
	"template_id",
	"template_version",
	"template_digest",
	"build_id",
	"repo",
	"params",
	"timeout_seconds",
	"attempts",
	"worker",
	"error.kind",
	"error.message",
	"results",
	NULL,
};

static struct pg_rows *read_rows(struct request *rq, const char *ids)
{
	return pg_query(rq, RUN_CSV_ROWS_SQL, pg_uuid(rq->caller.account), pg_text(ids));
}

static const struct csv_list LIST = {
	.name = "evaluation-runs",
	.columns = COLUMNS,
	.others = "metrics",
	.read = read_rows,
};

void run_csv_reply(struct request *rq, const char *status, const char *template_id)
{
	reply_csv(rq, &LIST,
	          pg_query(rq, RUN_CSV_OUTLINE_SQL, pg_uuid(rq->caller.account), pg_text(status),
	                   pg_text(template_id), pg_text(rq->caller.repo), pg_int(CSV_ROWS_MAX)));
}
