#include "result/result.h"

#include "analysis/members.h"
#include "analysis/output.h"
#include "experiment/experiment.h"
#include "experiment/fields.h"
#include "experiment/key_experiments.h"
#include "input/input.h"
#include "pg/pg.h"
#include "reply/media_type.h"
#include "reply/resource.h"
#include "request/idempotency.h"
#include "result.sql.h"
#include "result/eval_runs.h"
#include "result/result_analysis.h"

#include <string.h>

struct result_input {
	const char *id;
	bool is_applied, is_all;
};

static const struct field CREATE_FIELDS[] = {
	PATH_UUID(struct result_input, id, "experiment_id"),
	BODY_BOOL(struct result_input, is_applied, "apply", OPTIONAL, true),
	RESULT_MEMBERS,
	FIELD_END,
};

static const struct field GET_FIELDS[] = {
	PATH_UUID(struct result_input, id, "experiment_id"),
	QUERY_BOOL(struct result_input, is_all, "all", false),
	FIELD_END,
};

static const char *const SOURCES[] = {"metrics", "rows", "eval_runs"};

/* Which of the three the body has. */
static const char *source_of(struct request *rq)
{
	const char *source = NULL;
	size_t count = 0;
	for (size_t i = 0; i < ARRAY_LEN(SOURCES); i++)
		if (request_has_member(rq, SOURCES[i])) {
			source = SOURCES[i];
			count++;
		}
	if (count != 1)
		problem_add_field(rq->arena, &rq->problem, "metrics",
		                  count ? "must not be given together with rows or eval_runs"
		                        : "is required where there are no rows or eval_runs");
	return source;
}

/* Evaluations are closed to a key that is limited to an interest alone. */
static void require_eval_runs(struct request *rq)
{
	require_scope(rq, SCOPE_BIT_EVAL_READ);
	if (rq->caller.interest && !rq->caller.repo)
		raise_error(rq, ERR_FORBIDDEN,
		            "a key that is limited to an interest alone reads no evaluation runs");
}

/* Where the figures are: in the body, or in runs that are read now. */
static void find_figures(struct request *rq, struct result_analysis *c)
{
	yyjson_val *body = request_body(rq), *eval_runs = json_get(body, "eval_runs");
	sha256(rq->http->body, rq->http->body_length, c->digest);
	if (strcmp(c->source, "metrics") == 0) {
		c->sums = body;
	} else if (strcmp(c->source, "rows") == 0) {
		c->rows = json_get(body, "rows");
	} else {
		require_eval_runs(rq);
		eval_rows_fetch(rq, eval_runs, c);
	}
}

/* What came in, as it is stored. */
static const char *stored_input(struct request *rq, const struct result_analysis *c)
{
	if (strcmp(c->source, "rows") != 0)
		return request_body_json(rq);
	return result_analysis_digest_json(rq, c, "rows", yyjson_arr_size(c->rows));
}

static void analyse(struct request *rq, struct result_analysis *c)
{
	result_analysis_run(rq, c);
	if (!c->problem.field_count)
		return;
	problem_copy(rq->arena, &rq->problem, &c->problem);
	raise_if_faults(rq);
}

void result_create(struct request *rq)
{
	struct result_analysis c = {.source = source_of(rq)};
	struct result_input *in = request_input(rq, struct result_input, CREATE_FIELDS);
	key_require_experiment(rq, in->id);
	if (!result_analysis_load(rq, &c, in->id))
		raise_error(rq, ERR_NOT_FOUND, "%s", EXPERIMENT_MISSING);
	find_figures(rq, &c);
	analyse(rq, &c);
	if (!in->is_applied) {
		reply_json(rq, 200, c.output);
		return;
	}
	key_hold_experiment(rq, in->id);
	idempotency_join(rq);
	reply_one(rq, 201, result_analysis_store(rq, &c, in->id, stored_input(rq, &c)),
	          EXPERIMENT_MISSING);
}

static void reply_newest(struct request *rq, const struct result_input *in)
{
	size_t chosen = reply_choose(rq, JSON_OR_CSV), length;
	struct pg_rows *rows =
		pg_query(rq, RESULT_NEWEST_SQL, pg_uuid(rq->caller.account), pg_text(in->id));
	if (chosen == 0) {
		reply_one(rq, 200, rows, "the experiment does not exist or has no results");
		return;
	}
	require_row(rq, rows, "the experiment does not exist or has no results");
	const char *csv =
		analysis_csv(rq->arena, json_parse_own(rq->arena, pg_json(rows)), &length);
	reply_header(rq, "Content-Disposition",
	             "attachment; filename=\"experiment-%s-results.csv\"", in->id);
	reply_content(rq, 200, "text/csv; charset=utf-8", csv, length);
}

void result_get(struct request *rq)
{
	struct result_input *in = request_input(rq, struct result_input, GET_FIELDS);
	key_require_experiment(rq, in->id);
	if (!in->is_all) {
		reply_newest(rq, in);
		return;
	}
	struct pg_rows *rows =
		pg_query(rq, RESULT_LIST_SQL, pg_uuid(rq->caller.account), pg_text(in->id));
	reply_one(rq, 200, rows, EXPERIMENT_MISSING);
}
