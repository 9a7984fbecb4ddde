#include "implementation/implementation.h"

#include "experiment/experiment.h"
#include "experiment/fields.h"
#include "experiment/key_experiments.h"
#include "implementation.sql.h"
#include "implementation/context.h"
#include "implementation/paper.h"
#include "input/input.h"
#include "input/left_out.h"
#include "json/json.h"
#include "pg/pg.h"
#include "reply/reply.h"
#include "reply/resource.h"

struct report_input {
	const char *id;
	const char *status;
	const char *pr_url;
	const char *branch_name;
	const char *summary;
	const char *artifacts;
};

/* Artifacts are stored apart from what lists show, so only the limit of the body bounds them. */
#define ARTIFACTS_MAX_BYTES ((size_t)8 * 1024 * 1024)

static const char *const REPORT_STATUSES[] = {"running", "pr_opened", "completed", "failed", NULL};

static const struct field ID_FIELDS[] = {
	PATH_UUID(struct experiment_path, id, "experiment_id"),
	FIELD_END,
};

static const struct field REPORT_FIELDS[] = {
	PATH_UUID(struct report_input, id, "experiment_id"),
	BODY_ENUM(struct report_input, status, "status", NULLABLE, REPORT_STATUSES),
	BODY_URL(struct report_input, pr_url, "pr_url", NULLABLE | FORGIVEN),
	BODY_TEXT(struct report_input, branch_name, "branch_name", NULLABLE | FORGIVEN, 1, 255),
	BODY_TEXT(struct report_input, summary, "summary", NULLABLE | FORGIVEN, 0, 100000),
	{IN_BODY, FIELD_OBJECT, "artifacts", FIELD_AT(struct report_input, artifacts, const char *),
         NULLABLE | FORGIVEN, .bytes_max = ARTIFACTS_MAX_BYTES},
	FIELD_END,
};

/* Run a statement that reads the experiment in the path. Returns one row. Raises ERR_NOT_FOUND. */
static struct pg_rows *read_experiment(struct request *rq, const char *sql)
{
	struct experiment_path *in = request_input(rq, struct experiment_path, ID_FIELDS);
	key_require_experiment(rq, in->id);
	struct pg_rows *rows = pg_query(rq, sql, pg_text(in->id), pg_uuid(rq->caller.account));
	require_row(rq, rows, EXPERIMENT_MISSING);
	return rows;
}

/* The experiment in a row of implementation_source. */
static struct context_source source_of(struct request *rq, const struct pg_rows *rows)
{
	return (struct context_source){
		.detail_json = pg_json(rows),
		.experiment = json_parse_own(rq->arena, pg_get(rows, 0, "for_brief")),
	};
}

/* The paper of the experiment; all zero if it names none. */
static struct paper paper_of(struct request *rq, const struct context_source *source)
{
	const char *arxiv_id =
		yyjson_get_str(yyjson_arr_get_first(json_get(source->experiment, "papers")));
	return arxiv_id ? paper_fetch(rq, arxiv_id) : (struct paper){0};
}

void implementation_context(struct request *rq)
{
	struct context_source source =
		source_of(rq, read_experiment(rq, IMPLEMENTATION_SOURCE_SQL));
	struct paper paper = paper_of(rq, &source);
	reply_doc(rq, 200, context_build(rq->arena, &source, &paper));
}

const char *implementation_brief(struct request *rq, const char *experiment)
{
	struct pg_rows *rows = pg_query(rq, IMPLEMENTATION_SOURCE_SQL, pg_text(experiment),
	                                pg_uuid(rq->caller.account));
	require_row(rq, rows, EXPERIMENT_MISSING);
	struct context_source source = source_of(rq, rows);
	struct paper paper = paper_of(rq, &source);
	return context_brief(rq->arena, &source, &paper);
}

void implementation_reference(struct request *rq)
{
	struct pg_rows *rows = read_experiment(rq, IMPLEMENTATION_REFERENCE_SQL);
	if (!pg_json(rows))
		raise_error(rq, ERR_NOT_FOUND, "the experiment has no launch context");
	reply_json(rq, 200, pg_json(rows));
}

void implementation_status(struct request *rq)
{
	reply_json(rq, 200, pg_json(read_experiment(rq, IMPLEMENTATION_STATUS_SQL)));
}

/* Raise unless something is left of the report, with its status: where that is absent, whether
 * there is a pull request shows it. */
static void require_content(struct request *rq, const struct report_input *in)
{
	bool is_empty =
		!in->status && !in->pr_url && !in->branch_name && !in->summary && !in->artifacts;
	if (is_empty || (!in->status && left_out_has(rq, "pr_url")))
		left_out_blame(rq);
	raise_if_faults(rq);
	if (is_empty)
		raise_field(rq, "body", "must have at least one member that is not null");
}

void implementation_report(struct request *rq)
{
	struct report_input *in = request_input(rq, struct report_input, REPORT_FIELDS);
	require_content(rq, in);
	key_hold_experiment(rq, in->id);
	struct pg_rows *rows = pg_query(rq, IMPLEMENTATION_REPORT_SQL, pg_text(in->id),
	                                pg_uuid(rq->caller.account), caller_key(rq),
	                                pg_text(request_body_json(rq)), pg_text(rq->id));
	require_row(rq, rows, EXPERIMENT_MISSING);
	if (!pg_get_bool(rows, 0, "is_taken"))
		raise_error(rq, ERR_CONFLICT,
		            "the implementation is already completed, its status cannot change");
	reply_json(rq, 200, left_out_shown(rq, pg_json(rows)));
}
