#include "run/run.h"

#include "build/build.h"
#include "client/service_ask.h"
#include "crypto/uuid.h"
#include "json/json.h"
#include "reply/media_type.h"
#include "run.sql.h"
#include "run/run_csv.h"

#include <string.h>

#define TIMEOUT_MAX_S 604800

static const char *const TARGETS[] = {"worker", "hosted", NULL};
static const char *const STATUSES[] = {"queued",    "running",   "succeeded", "failed",
                                       "cancelled", "timed_out", NULL};

struct run_input {
	const char *id;
	const char *status, *template_id, *build_id, *target;
	int64_t limit, offset;
};

static const struct field LIST_FIELDS[] = {
	QUERY_ENUM(struct run_input, status, "status", STATUSES),
	QUERY_UUID(struct run_input, template_id, "template_id"),
	QUERY_LIMIT(struct run_input, limit, 20, 100),
	QUERY_OFFSET(struct run_input, offset),
	FIELD_END,
};

static const struct field CREATE_FIELDS[] = {
	BODY_UUID(struct run_input, template_id, "template_id", NULLABLE),
	BODY_UUID(struct run_input, build_id, "build_id", NULLABLE),
	JSON_TEXT("name", NULLABLE | TRIMMED, 1, 200),
	JSON_OBJECT("params", NULLABLE),
	BODY_ENUM(struct run_input, target, "target", OPTIONAL, TARGETS),
	JSON_INT("timeout_seconds", OPTIONAL, 1, TIMEOUT_MAX_S),
	QUEUE_READ_ONLY_FIELDS,
	READ_ONLY("run_id"),
	READ_ONLY("template_version"),
	READ_ONLY("template_digest"),
	READ_ONLY("metrics"),
	READ_ONLY("results"),
	READ_ONLY("artifacts"),
	FIELD_END,
};

static const struct field ID_FIELDS[] = {
	PATH_UUID(struct run_input, id, "run_id"),
	FIELD_END,
};

static const struct field HEARTBEAT[] = {HEARTBEAT_FIELDS("run_id")};

const struct queue RUNS = {
	.kind = "run",
	.missing = "no such run",
	.claim_sql = RUN_CLAIM_SQL,
	.get_sql = RUN_GET_SQL,
	.heartbeat_fields = HEARTBEAT,
};

void run_list(struct request *rq)
{
	struct run_input *in = request_input(rq, struct run_input, LIST_FIELDS);
	if (reply_choose(rq, JSON_OR_CSV) == 1) {
		run_csv_reply(rq, in->status, in->template_id);
		return;
	}
	struct pg_rows *rows =
		pg_query(rq, RUN_LIST_SQL, pg_uuid(rq->caller.account), pg_text(in->status),
	                 pg_text(in->template_id), pg_text(rq->caller.repo), pg_int(in->limit),
	                 pg_int(in->offset));
	reply_page(rq, rows, in->limit, in->offset);
}

/* The body, with the target that it may leave out. */
static const char *given(struct request *rq, const struct run_input *in)
{
	static const char *const MEMBERS[] = {"template_id", "build_id", "name", "params",
	                                      "timeout_seconds"};
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *run = yyjson_mut_obj(doc);
	for (size_t i = 0; i < ARRAY_LEN(MEMBERS); i++)
		json_add_member(doc, run, MEMBERS[i], rq->http->json, MEMBERS[i]);
	json_add_text(doc, run, "target", in->target ? in->target : "worker");
	return json_write_mut(rq->arena, run, NULL);
}

static void require_made(struct request *rq, const char *outcome)
{
	if (strstr(outcome, "template"))
		problem_add_field(rq->arena, &rq->problem, "template_id",
		                  "is not one of your templates");
	if (strstr(outcome, "build"))
		problem_add_field(rq->arena, &rq->problem, "build_id", "is not one of your builds");
	raise_if_faults(rq);
	if (strcmp(outcome, "failed") == 0)
		raise_error(rq, ERR_CONFLICT, "the build has not succeeded");
}

/* The result of a run goes into the experiment that its params name: a limited key may name one
 * that is its own. Raises ERR_FORBIDDEN or ERR_NOT_FOUND. */
static void require_own_experiment(struct request *rq)
{
	static const char FIELD[] = "experiment_id";
	yyjson_val *params = json_get(request_body(rq), "params"), *named = json_get(params, FIELD);
	struct uuid id;
	if (!rq->caller.repo || !named || yyjson_is_null(named))
		return;
	if (!yyjson_is_str(named) || !uuid_parse(yyjson_get_str(named), yyjson_get_len(named), &id))
		raise_field(rq, "params.experiment_id", "must be the id of an experiment");
	service_ask(rq, INTERNAL_ID_experiment_access_get,
	            ASK_BODY(rq, {FIELD, yyjson_get_str(named)}, {"repo", rq->caller.repo},
	                     {"interest_id", rq->caller.interest}));
}

void run_create(struct request *rq)
{
	if (!request_has_member(rq, "template_id") && !request_has_member(rq, "build_id"))
		problem_add_field(rq->arena, &rq->problem, "template_id",
		                  "is required where there is no build_id");
	struct run_input *in = request_input(rq, struct run_input, CREATE_FIELDS);
	if (in->build_id)
		queue_require_repo(rq, &BUILDS, in->build_id);
	require_own_experiment(rq);
	pg_begin(rq); /* committed together with the answer */
	struct pg_rows *rows =
		pg_write(rq, QUEUE_CONSTRAINTS, RUN_CREATE_SQL, pg_uuid(rq->caller.account),
	                 pg_text(given(rq, in)), pg_int(build_timeout_s()),
	                 pg_text(rq->caller.repo), queue_waiting_max(rq));
	require_made(rq, pg_get(rows, 0, "outcome"));
	reply_json(rq, 201,
	           pg_json(pg_query(rq, RUN_GET_SQL, pg_text(pg_get(rows, 0, "made")),
	                            pg_uuid(rq->caller.account))));
}

void run_get(struct request *rq)
{
	queue_get(rq, &RUNS, request_input(rq, struct run_input, ID_FIELDS)->id);
}

void run_cancel(struct request *rq)
{
	queue_cancel(rq, &RUNS, request_input(rq, struct run_input, ID_FIELDS)->id);
}

void run_claim(struct request *rq)
{
	queue_claim(rq, &RUNS);
}

void run_heartbeat(struct request *rq)
{
	queue_heartbeat(rq, &RUNS);
}
