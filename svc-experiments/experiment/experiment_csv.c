#include "experiment/experiment_csv.h"

#include "experiment/key_experiments.h"
#include "experiment_csv.sql.h"
#include "input/key_limit.h"
#include "pg/pg.h"
#include "reply/reply_csv.h"

static const char *const COLUMNS[] = {
	"id",
	"name",
	"status",
	"hypothesis",
	"outcome",
	"decision",
	"observed_delta",
	"delta_confidence",
	"delta_source",
	"verdict",
	"analysis_id",
	"target_metric",
	"tags",
	"project_id",
	"project_name",
	"pr_url",
	"pr_status",
	"branch_name",
	"pipeline_status",
	"external_ticket_id",
	"ticket_source",
	"ticket_url",
	"source_type",
	"source_ref",
	"created_via",
	"created_at",
	"updated_at",
	"launch_context",
	"ab_test_config",
	"ab_test_results",
	"linked_resources",
	NULL,
};

static struct pg_rows *read_rows(struct request *rq, const char *ids)
{
	return pg_query(rq, EXPERIMENT_CSV_ROWS_SQL, pg_uuid(rq->caller.account), pg_text(ids));
}

static const struct csv_list LIST = {
	.name = "experiments",
	.columns = COLUMNS,
	.others = "metrics",
	.read = read_rows,
};

void experiment_csv_reply(struct request *rq, const struct experiment_filter *filter)
{
	bool is_limited = key_is_limited(rq);
	reply_csv(rq, &LIST,
	          pg_query(rq, EXPERIMENT_CSV_OUTLINE_SQL, pg_uuid(rq->caller.account),
	                   pg_text(filter->project), pg_text(filter->status),
	                   pg_text(filter->ticket_source), pg_text(filter->ticket),
	                   pg_text(filter->created_via), pg_text(filter->tag), pg_bool(is_limited),
	                   pg_text(rq->caller.repo), pg_text(is_limited ? key_project(rq) : NULL),
	                   pg_int(CSV_ROWS_MAX)));
}

void experiment_csv_reply_ids(struct request *rq, const char *ids)
{
	reply_csv(rq, &LIST,
	          pg_query(rq, EXPERIMENT_CSV_OF_IDS_SQL, pg_uuid(rq->caller.account),
	                   pg_text(ids)));
}
