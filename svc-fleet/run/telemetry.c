#include "base/json.h"
#include "pg/pg.h"
#include "run/repo_access.h"
#include "run/report_batch.h"
#include "run/run.h"
#include "service/input.h"
#include "service/key_limit.h"
#include "service/reply.h"

#include <string.h>

#define MEMBERS_MAX     500
#define MEMBER_NAME_MAX 100
#define TOKENS_MAX      1e15
#define COST_MAX        1e9
#define ERROR_MAX_BYTES ((size_t)64 << 10)
#define BODY_MAX_BYTES  ((size_t)8 << 20)

struct telemetry {
	const char *run_id; /* JSON text */
	const char *repo, *target_repo;
	const char *interest;
	const char *started_at, *finished_at; /* in UTC with milliseconds */
};

static const struct field REJECTED[] = {
	JSON_TEXT("arxiv_id", NULLABLE, 0, 100),
	JSON_TEXT("reason", NULLABLE, 0, 10000),
	FIELD_END,
};

/* The members that the service itself reads; it checks their types, since it computes with them. */
static const struct field TELEMETRY_FIELDS[] = {
	BODY_ID(struct telemetry, run_id, "run_id", REQUIRED, RUN_ID_MAX),
	BODY_TEXT(struct telemetry, repo, "repo", NULLABLE, 1, 200),
	BODY_TEXT(struct telemetry, target_repo, "target_repo", NULLABLE, 1, 200),
	JSON_TEXT("status", NULLABLE, 1, 100),
	BODY_INTEREST(struct telemetry, interest),
	{IN_BODY, FIELD_TIME, "started_at", FIELD_AT(struct telemetry, started_at, const char *),
         NULLABLE | HAPPENED},
	{IN_BODY, FIELD_TIME, "finished_at", FIELD_AT(struct telemetry, finished_at, const char *),
         NULLABLE | HAPPENED},
	JSON_TEXT("source", NULLABLE, 0, 100),
	JSON_TEXT("agent", NULLABLE, 0, 100),
	JSON_TEXT("provider", NULLABLE, 0, 100),
	JSON_TEXT("model", NULLABLE, 0, 200),
	JSON_TEXT("model_backend", NULLABLE, 0, 200),
	JSON_TEXT("cost_basis", NULLABLE, 0, 200),
	JSON_FLOAT("cost_usd", NULLABLE, 0, COST_MAX),
	JSON_INT("input_tokens", NULLABLE, 0, TOKENS_MAX),
	JSON_INT("output_tokens", NULLABLE, 0, TOKENS_MAX),
	JSON_INT("cache_read_input_tokens", NULLABLE, 0, TOKENS_MAX),
	JSON_INT("agent_calls", NULLABLE, 0, TOKENS_MAX),
	JSON_INT("num_turns", NULLABLE, 0, TOKENS_MAX),
	JSON_TEXT("recommendation_id", NULLABLE, 0, 100),
	JSON_TEXT("arxiv_id", NULLABLE, 0, 100),
	JSON_INT("broad_pool_size", NULLABLE, 0, TOKENS_MAX),
	JSON_INT("refine_pool_size", NULLABLE, 0, TOKENS_MAX),
	{IN_BODY, FIELD_ARRAY, "selection_rejected", FIELD_NOWHERE, NULLABLE,
         .bytes_max = BODY_MAX_BYTES, .members = REJECTED},
	JSON_TEXT("preflight_decision", NULLABLE, 0, 100),
	JSON_TEXT("lint_status", NULLABLE, 0, 100),
	JSON_TEXT("test_status", NULLABLE, 0, 100),
	JSON_TEXT("test_integration_gate", NULLABLE, 0, 100),
	JSON_TEXT("license_class", NULLABLE, 0, 200),
	JSON_TEXT("license_compat", NULLABLE, 0, 100),
	JSON_TEXT("diff_risk_band", NULLABLE, 0, 100),
	JSON_TEXT_BYTES("error", NULLABLE, 0, 0, ERROR_MAX_BYTES),
	JSON_URL("artifact_url", NULLABLE),
	KEEPS_OTHERS,
	FIELD_END,
};

/* Members that lists leave out unless they are asked for. */
static const char *const LARGE_MEMBERS[] = {"candidate_enrichment", "selection_rejected",
                                            "selection_reasoning_excerpt", "refine_queries", NULL};

/* Members that are not of the run's record: they identify it, or are derived. */
static const char *const OWN_MEMBERS[] = {"run_id", "repo", "target_repo", "cost_excluded", NULL};

static bool is_one_of(const char *name, const char *const *names)
{
	while (*names && strcmp(name, *names) != 0)
		names++;
	return *names;
}

/* Raise unless the key is an automation key for the repository that the report names. */
static void require_key_of_repo(struct request *rq, const struct telemetry *in)
{
	const char *repo = in->repo ? in->repo : in->target_repo;
	if (rq->caller.kind != KEY_AUTOMATION || !rq->caller.repo)
		raise_error(rq, ERR_FORBIDDEN,
		            "telemetry needs an automation key that is limited to the repository");
	require_repo(rq, repo);
}

/* Add the faults that concern no single member. Before request_input(). */
static void check_record(struct request *rq)
{
	yyjson_val *body = request_body(rq), *name, *value;
	size_t i, count, longest = 0;
	json_obj_foreach (body, i, count, name, value)
		if (!yyjson_is_null(value))
			longest = MAX_OF(longest, yyjson_get_len(name));
	if (!request_has_member(rq, "repo") && !request_has_member(rq, "target_repo"))
		problem_add_field(rq->arena, &rq->problem, "repo", "is required");
	if (longest > MEMBER_NAME_MAX)
		problem_add_field(rq->arena, &rq->problem, "body",
		                  "has a member with a name of more than %d bytes",
		                  MEMBER_NAME_MAX);
	if (yyjson_obj_size(body) > MEMBERS_MAX)
		problem_add_field(rq->arena, &rq->problem, "body", "has more than %d members",
		                  MEMBERS_MAX);
}

/* A report, split into what lists show and what only details show. */
struct split_report {
	yyjson_mut_doc *doc;
	yyjson_mut_val *shown, *large;
};

static void add_member(struct split_report *report, yyjson_val *name, yyjson_val *value)
{
	const char *text = yyjson_get_str(name);
	if (yyjson_is_null(value) || is_one_of(text, OWN_MEMBERS))
		return;
	yyjson_mut_obj_add(is_one_of(text, LARGE_MEMBERS) ? report->large : report->shown,
	                   yyjson_val_mut_copy(report->doc, name),
	                   yyjson_val_mut_copy(report->doc, value));
}

/* Set a member to a text, if there is one, in place of what the client wrote. */
static void put_text(struct split_report *report, const char *name, const char *text)
{
	if (text)
		yyjson_mut_obj_put(report->shown, yyjson_mut_str(report->doc, name),
		                   yyjson_mut_str(report->doc, text));
}

static struct split_report split(struct request *rq, const struct telemetry *in)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	struct split_report report = {doc, yyjson_mut_obj(doc), yyjson_mut_obj(doc)};
	yyjson_val *body = rq->http->json;
	size_t i, count;
	yyjson_val *name, *value;
	json_obj_foreach (body, i, count, name, value)
		add_member(&report, name, value);
	put_text(&report, "started_at", in->started_at);
	put_text(&report, "finished_at", in->finished_at);
	put_text(&report, "interest_id", in->interest);
	return report;
}

/* What runs_tell() takes: see migrations/0014_runs_tell.sql. */
static const char *build_telling(struct request *rq, const struct telemetry *in,
                                 const struct split_report *report)
{
	yyjson_mut_doc *doc = report->doc;
	yyjson_mut_val *telling = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, telling, "account", pg_uuid(rq->caller.account).text);
	yyjson_mut_obj_add_str(doc, telling, "repo", rq->caller.repo);
	yyjson_mut_obj_add_val(doc, telling, "run_id", yyjson_mut_raw(doc, in->run_id));
	yyjson_mut_obj_add_val(doc, telling, "report", report->shown);
	yyjson_mut_obj_add_val(doc, telling, "detail", report->large);
	return json_write_mut(rq->arena, telling, NULL);
}

void run_report(struct request *rq)
{
	check_record(rq);
	struct telemetry *in = request_input(rq, struct telemetry, TELEMETRY_FIELDS);
	require_key_of_repo(rq, in);
	struct split_report report = split(rq, in);
	if (rq->caller.is_repo_verified)
		repo_access_renew(rq, rq->caller.repo);
	struct stored_report stored = report_store(rq, build_telling(rq, in, &report));
	reply_json(rq, stored.is_new ? 201 : 200, stored.json);
}
