#include "result/result.h"

#include "analysis/output.h"
#include "analysis/rows.h"
#include "analysis/sums.h"
#include "crypto/crypto.h"
#include "experiment/experiment.h"
#include "experiment/fields.h"
#include "experiment/key_experiments.h"
#include "http/accept.h"
#include "input/input.h"
#include "loop/wait.h"
#include "pg/pg.h"
#include "reply/resource.h"
#include "request/idempotency.h"
#include "result.sql.h"

#include <string.h>

#define COUNT_MAX  1e15
#define SUMS_BYTES ((size_t)1 << 20)
#define ROWS_BYTES ((size_t)8 << 20)

struct result_input {
	const char *id;
	bool is_applied, is_all;
};

static const struct field ARM_SUMS[] = {
	JSON_TEXT("arm", REQUIRED, 1, PLAN_KEY_MAX),
	JSON_INT("n", REQUIRED, 1, COUNT_MAX),
	JSON_FLOAT("successes", OPTIONAL, 0, 0),
	JSON_FLOAT("sum", OPTIONAL, 0, 0),
	JSON_FLOAT("sum_squares", OPTIONAL, 0, 0),
	JSON_FLOAT("mean", OPTIONAL, 0, 0),
	JSON_FLOAT("variance", OPTIONAL, 0, 0),
	JSON_FLOAT("denominator_sum", OPTIONAL, 0, 0),
	JSON_FLOAT("denominator_sum_squares", OPTIONAL, 0, 0),
	JSON_FLOAT("sum_products", OPTIONAL, 0, 0),
	JSON_FLOAT("value", OPTIONAL, 0, 0),
	JSON_FLOAT("lower", OPTIONAL, 0, 0),
	JSON_FLOAT("upper", OPTIONAL, 0, 0),
	JSON_FLOAT("pre_sum", OPTIONAL, 0, 0),
	JSON_FLOAT("pre_sum_squares", OPTIONAL, 0, 0),
	JSON_FLOAT("pre_sum_products", OPTIONAL, 0, 0),
	FIELD_END,
};

static const struct field METRIC_SUMS[] = {
	JSON_TEXT("key", REQUIRED, 1, PLAN_KEY_MAX),
	JSON_ARRAY_OF("arms", REQUIRED, 1, PLAN_ARMS_MAX, ARM_SUMS),
	FIELD_END,
};

static const struct field ROW[] = {
	JSON_TEXT("arm", REQUIRED, 1, PLAN_KEY_MAX),
	JSON_ID("example", OPTIONAL, 200),
	JSON_ID("sample", OPTIONAL, 200),
	JSON_ID("group", OPTIONAL, 200),
	JSON_OBJECT("metrics", REQUIRED),
	FIELD_END,
};

static const struct field CREATE_FIELDS[] = {
	PATH_UUID(struct result_input, id, "experiment_id"),
	BODY_BOOL(struct result_input, is_applied, "apply", OPTIONAL, true),
	JSON_OBJECT("units", OPTIONAL),
	JSON_INT("multiple_exposures", OPTIONAL, 0, COUNT_MAX),
	{IN_BODY, FIELD_ARRAY, "metrics", FIELD_NOWHERE, OPTIONAL, 1, PLAN_METRICS_MAX,
         .bytes_max = SUMS_BYTES, .members = METRIC_SUMS},
	{IN_BODY, FIELD_ARRAY, "rows", FIELD_NOWHERE, OPTIONAL, 1, ROWS_MAX,
         .bytes_max = ROWS_BYTES, .members = ROW},
	FIELD_END,
};

static const struct field GET_FIELDS[] = {
	PATH_UUID(struct result_input, id, "experiment_id"),
	QUERY_BOOL(struct result_input, is_all, "all", false),
	FIELD_END,
};

/* An analysis on a thread of the pool. */
struct computation_of {
	struct arena *arena;
	yyjson_val *body, *experiment; /* {"ab_test_config", "previous"} */
	struct problem problem;
	uint8_t digest[SHA256_LEN]; /* of the body as it came */
	const char *source;         /* `metrics` or `rows` */
	const char *output;         /* set when there is no fault */
};

static bool is_rows(const struct computation_of *c)
{
	return strcmp(c->source, "rows") == 0;
}

/* A fixed test of live traffic must know when it is complete. */
static void require_size(struct computation_of *c, const struct plan *plan)
{
	bool is_fixed = plan->mode && strcmp(plan->mode, "fixed") == 0;
	if (!is_rows(c) && is_fixed && plan->planned_n == 0)
		problem_add_field(c->arena, &c->problem, "ab_test_config.planned_n",
		                  "is required for results of the mode fixed");
}

static void compute(void *arg)
{
	struct computation_of *c = arg;
	struct plan *plan = arena_alloc(c->arena, sizeof(*plan));
	plan_read(c->arena, c->experiment, &c->problem, plan);
	if (c->problem.field_count)
		return;
	require_size(c, plan);
	struct analysis *a = analysis_new(c->arena, plan, is_rows(c) ? SOURCE_ROWS : SOURCE_SUMS);
	memcpy(&a->seed, c->digest, sizeof(a->seed));
	if (is_rows(c))
		rows_read(a, json_get(c->body, "rows"), &c->problem);
	else
		sums_read(a, c->body, &c->problem);
	if (c->problem.field_count)
		return;
	analysis_conclude(a, json_get(c->experiment, "previous"));
	c->output = analysis_json(a, c->source);
}

/* What came in, as it is stored: of rows only the count and the digest are. */
static const char *stored_input(struct request *rq, const struct computation_of *c)
{
	if (!is_rows(c))
		return request_body_json(rq);
	char hex[SHA256_HEX_LEN + 1];
	hex_encode(c->digest, sizeof(c->digest), hex);
	return arena_printf(rq->arena, "{\"rows\":%zu,\"sha256\":\"%s\"}",
	                    yyjson_arr_size(json_get(c->body, "rows")), hex);
}

static const char *source_of(struct request *rq)
{
	bool has_metrics = request_has_member(rq, "metrics");
	bool has_rows = request_has_member(rq, "rows");
	if (has_metrics == has_rows)
		problem_add_field(rq->arena, &rq->problem, "metrics",
		                  has_rows ? "must not be given together with rows"
		                           : "is required where there are no rows");
	return has_rows ? "rows" : "metrics";
}

/* The configuration, and the newest analysis before this one. */
static struct pg_rows *read_experiment(struct request *rq, const char *id)
{
	struct pg_rows *rows =
		pg_query(rq, RESULT_PLAN_SQL, pg_uuid(rq->caller.account), pg_text(id));
	require_row(rq, rows, EXPERIMENT_MISSING);
	return rows;
}

static void analyse(struct request *rq, struct computation_of *c)
{
	bool is_long = is_rows(c) && json_at(c->experiment, "ab_test_config.suite");
	sha256(rq->http->body, rq->http->body_length, c->digest);
	fiber_offload(rq, is_long ? LANE_LONG : LANE_SHORT, compute, c);
	if (!c->problem.field_count)
		return;
	problem_copy(rq->arena, &rq->problem, &c->problem);
	raise_if_faults(rq);
}

void result_create(struct request *rq)
{
	const char *source = source_of(rq);
	struct result_input *in = request_input(rq, struct result_input, CREATE_FIELDS);
	key_require_experiment(rq, in->id);
	struct pg_rows *experiment = read_experiment(rq, in->id);
	struct computation_of c = {
		.arena = offload_arena(rq),
		.body = request_body(rq),
		.experiment = json_parse_own(rq->arena, pg_json(experiment)),
		.source = source,
	};
	analyse(rq, &c);
	if (!in->is_applied) {
		reply_json(rq, 200, c.output);
		return;
	}
	key_hold_experiment(rq, in->id);
	idempotency_join(rq);
	struct pg_rows *stored = pg_query(rq, RESULT_ADD_SQL, pg_uuid(rq->caller.account),
	                                  pg_text(in->id), pg_text(pg_get(experiment, 0, "config")),
	                                  pg_text(source), pg_text(stored_input(rq, &c)),
	                                  pg_text(c.output), caller_key(rq), pg_text(rq->id));
	reply_one(rq, 201, stored, EXPERIMENT_MISSING);
}

static void reply_newest(struct request *rq, const struct result_input *in)
{
	static const char *const MEDIA_TYPES[] = {"application/json", "text/csv"};
	size_t chosen = http_accept_choose(&rq->http->head, MEDIA_TYPES, ARRAY_LEN(MEDIA_TYPES)),
	       length;
	if (chosen == HTTP_ACCEPT_NONE)
		raise_error(rq, ERR_NOT_ACCEPTABLE,
		            "Accept must allow application/json or text/csv");
	struct pg_rows *rows =
		pg_query(rq, RESULT_NEWEST_SQL, pg_uuid(rq->caller.account), pg_text(in->id));
	reply_header(rq, "Vary", "Accept");
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
