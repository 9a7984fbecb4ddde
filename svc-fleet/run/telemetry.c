#include "base/timefmt.h"
#include "base/utf8.h"
#include "input/input.h"
#include "input/key_limit.h"
#include "input/left_out.h"
#include "json/json.h"
#include "pg/batch.h"
#include "reply/reply.h"
#include "run.sql.h"
#include "run/repo_access.h"
#include "run/run.h"

#include <string.h>

#define OTHERS_MAX       500 /* members that no row reads */
#define OTHER_NAME_MAX   100 /* bytes */
#define IGNORED_MAX      100 /* names of them in the answer */
#define STATUS_MAX       100 /* characters */
#define TOKENS_MAX       1e15
#define ATTEMPTS_MAX     100
#define COST_MAX         1e9
#define ERROR_MAX_BYTES  ((size_t)64 << 10)
#define BODY_MAX_BYTES   ((size_t)8 << 20)
#define OTHERS_MAX_BYTES ((size_t)1 << 20) /* of what no row reads, as lists show it */
#define YEAR_2015_MS     INT64_C(1420070400000)
#define DAY_MS           INT64_C(86400000)

struct telemetry {
	const char *run_id; /* JSON text */
	const char *repo, *target_repo;
	const char *status;
	const char *interest, *artifact_url;
	const char *started_at, *finished_at; /* in UTC with milliseconds */
};

static const struct field REJECTED[] = {
	JSON_TEXT("arxiv_id", NULLABLE, 0, 100),
	JSON_TEXT("reason", NULLABLE, 0, 10000),
	FIELD_END,
};

/* The members that the service itself reads; it checks their types, since it computes with them. A
 * run reports once: what does not fit is left out, unless it says whose report it is. */
static const struct field TELEMETRY_FIELDS[] = {
	BODY_ID(struct telemetry, run_id, "run_id", REQUIRED, RUN_ID_MAX),
	BODY_TEXT(struct telemetry, repo, "repo", NULLABLE, 1, 200),
	BODY_TEXT(struct telemetry, target_repo, "target_repo", NULLABLE, 1, 200),
	JSON_INT("run_attempt", NULLABLE | FORGIVEN, 1, ATTEMPTS_MAX),
	BODY_TEXT(struct telemetry, status, "status", NULLABLE | FORGIVEN, 1, BODY_MAX_BYTES),
	{IN_BODY, FIELD_UUID, "interest_id", FIELD_AT(struct telemetry, interest, const char *),
         NULLABLE | OF_INTEREST | FORGIVEN},
	{IN_BODY, FIELD_TIME, "started_at", FIELD_AT(struct telemetry, started_at, const char *),
         NULLABLE | FORGIVEN},
	{IN_BODY, FIELD_TIME, "finished_at", FIELD_AT(struct telemetry, finished_at, const char *),
         NULLABLE | FORGIVEN},
	JSON_TEXT("source", NULLABLE | FORGIVEN, 0, 100),
	JSON_TEXT("agent", NULLABLE | FORGIVEN, 0, 100),
	JSON_TEXT("provider", NULLABLE | FORGIVEN, 0, 100),
	JSON_TEXT("model", NULLABLE | FORGIVEN, 0, 200),
	JSON_TEXT("model_backend", NULLABLE | FORGIVEN, 0, 200),
	JSON_TEXT("cost_basis", NULLABLE | FORGIVEN, 0, 200),
	JSON_FLOAT("cost_usd", NULLABLE | FORGIVEN, 0, COST_MAX),
	JSON_INT("input_tokens", NULLABLE | FORGIVEN, 0, TOKENS_MAX),
	JSON_INT("output_tokens", NULLABLE | FORGIVEN, 0, TOKENS_MAX),
	JSON_INT("cache_read_input_tokens", NULLABLE | FORGIVEN, 0, TOKENS_MAX),
	JSON_INT("cache_write_input_tokens", NULLABLE | FORGIVEN, 0, TOKENS_MAX),
	JSON_INT("agent_calls", NULLABLE | FORGIVEN, 0, TOKENS_MAX),
	JSON_INT("num_turns", NULLABLE | FORGIVEN, 0, TOKENS_MAX),
	{IN_BODY, FIELD_UUID, "experiment_id", FIELD_NOWHERE, NULLABLE | FORGIVEN},
	JSON_TEXT("arm", NULLABLE | FORGIVEN, 1, 100),
	JSON_OBJECT("metrics", NULLABLE | FORGIVEN),
	JSON_TEXT("recommendation_id", NULLABLE | FORGIVEN, 0, 100),
	JSON_TEXT("arxiv_id", NULLABLE | FORGIVEN, 0, 100),
	JSON_INT("broad_pool_size", NULLABLE | FORGIVEN, 0, TOKENS_MAX),
	JSON_INT("refine_pool_size", NULLABLE | FORGIVEN, 0, TOKENS_MAX),
	{IN_BODY, FIELD_ARRAY, "selection_rejected", FIELD_NOWHERE, NULLABLE | FORGIVEN,
         .bytes_max = BODY_MAX_BYTES, .members = REJECTED},
	JSON_TEXT("preflight_decision", NULLABLE | FORGIVEN, 0, 100),
	JSON_TEXT("lint_status", NULLABLE | FORGIVEN, 0, 100),
	JSON_TEXT("test_status", NULLABLE | FORGIVEN, 0, 100),
	JSON_TEXT("test_integration_gate", NULLABLE | FORGIVEN, 0, 100),
	JSON_TEXT("license_class", NULLABLE | FORGIVEN, 0, 200),
	JSON_TEXT("license_compat", NULLABLE | FORGIVEN, 0, 100),
	JSON_TEXT("diff_risk_band", NULLABLE | FORGIVEN, 0, 100),
	JSON_TEXT_BYTES("error", NULLABLE | FORGIVEN, 0, 0, ERROR_MAX_BYTES),
	BODY_URL(struct telemetry, artifact_url, "artifact_url", NULLABLE | FORGIVEN),
	KEEPS_OTHERS,
	FIELD_END,
};

/* Members that lists leave out unless they are asked for. */
static const char *const LARGE_MEMBERS[] = {"candidate_enrichment", "selection_rejected",
                                            "selection_reasoning_excerpt", "refine_queries", NULL};

/* Members that are not of the run's record: they identify it, or are derived. */
static const char *const OWN_MEMBERS[] = {
	"run_id",     "repo",    "target_repo",     "cost_excluded",     "spend_usd", "spend_basis",
	"price_date", "ignored", "members_omitted", "selection_omitted", NULL};

static bool is_one_of(const char *name, const char *const *names)
{
	while (*names && strcmp(name, *names) != 0)
		names++;
	return *names;
}

void run_require_key(struct request *rq, const char *repo)
{
	if (rq->caller.kind != KEY_AUTOMATION || !rq->caller.repo)
		raise_error(rq, ERR_FORBIDDEN,
		            "telemetry needs an automation key that is limited to the repository");
	require_repo(rq, repo);
}

/* Whether the text is a time before 2015 or more than a day from now, since clocks differ: a run of
 * the year 9999 would stay the last one. Years that time_parse() does not take are read as 2000. */
static bool is_implausible(struct request *rq, const char *text)
{
	int64_t time_ms;
	bool is_edge = strspn(text, "0123456789") == 4 &&
	               (strncmp(text, "1971", 4) < 0 || strncmp(text, "9999", 4) == 0);
	if (is_edge)
		text = arena_printf(rq->arena, "2000%s", text + 4);
	return time_parse(text, strlen(text), &time_ms) &&
	       (time_ms < YEAR_2015_MS || time_ms > time_now_ms() + DAY_MS);
}

static void check_time(struct request *rq, const char *name)
{
	const char *text = json_get_text(request_body(rq), name);
	if (text && is_implausible(rq, text))
		problem_add_field(rq->arena, &rq->problem, name,
		                  "must be between 2015 and a day from now");
}

/* Add the faults that no row finds. Before request_input(). */
static void check_record(struct request *rq)
{
	check_time(rq, "started_at");
	check_time(rq, "finished_at");
	if (!request_has_member(rq, "repo") && !request_has_member(rq, "target_repo"))
		problem_add_field(rq->arena, &rq->problem, "repo", "is required");
}

static bool has_row(const char *name)
{
	for (const struct field *row = TELEMETRY_FIELDS; row->source == IN_BODY; row++)
		if (strcmp(row->name, name) == 0)
			return true;
	return false;
}

/* A report, split into what the service reads, what it only keeps, and what only details show. */
struct split_report {
	yyjson_mut_doc *doc;
	yyjson_mut_val *read, *others, *large;
	size_t others_bytes, left_out; /* of the others that are kept; how many are not */
};

/* Whether the other member is kept. Lists of a hundred runs would be too long with all that agents
 * may send. */
static bool takes_other(struct request *rq, struct split_report *report, yyjson_val *name,
                        yyjson_val *value)
{
	size_t length = 0;
	if (yyjson_get_len(name) > OTHER_NAME_MAX ||
	    yyjson_mut_obj_size(report->others) >= OTHERS_MAX)
		return false;
	if (rq->http->body_length > OTHERS_MAX_BYTES)
		json_write(rq->arena, value, &length);
	if (report->others_bytes + length > OTHERS_MAX_BYTES)
		return false;
	report->others_bytes += length;
	return true;
}

/* Leave an other member out, and name it in the answer, which does not grow with the report: an
 * ellipsis stands for those that are more than IGNORED_MAX. */
static void leave_out(struct request *rq, struct split_report *report, const char *name)
{
	static const struct problem NO_ROOM;
	if (report->left_out < IGNORED_MAX)
		left_out_add(rq, utf8_shorten(rq->arena, name, OTHER_NAME_MAX), &NO_ROOM);
	else if (report->left_out == IGNORED_MAX)
		left_out_add(rq, "…", &NO_ROOM);
	report->left_out++;
}

static void add_member(struct request *rq, struct split_report *report, yyjson_val *name,
                       yyjson_val *value)
{
	const char *text = yyjson_get_str(name);
	if (yyjson_is_null(value) || is_one_of(text, OWN_MEMBERS))
		return;
	bool is_large = is_one_of(text, LARGE_MEMBERS), is_other = !is_large && !has_row(text);
	if (is_other && !takes_other(rq, report, name, value)) {
		leave_out(rq, report, text);
		return;
	}
	if (!is_other && left_out_has(rq, text))
		return;
	yyjson_mut_val *part = is_large ? report->large : is_other ? report->others : report->read;
	yyjson_mut_obj_add(part, yyjson_val_mut_copy(report->doc, name),
	                   yyjson_val_mut_copy(report->doc, value));
}

/* Set a member to a text, if there is one, in place of what the client wrote. */
static void put_text(struct split_report *report, const char *name, const char *text)
{
	if (text)
		yyjson_mut_obj_put(report->read, yyjson_mut_str(report->doc, name),
		                   yyjson_mut_str(report->doc, text));
}

/* The status as it is kept, at most STATUS_MAX characters: outcome_kind() goes by its beginning and
 * by `_failed` at its end, so that the middle of a longer one is left out. */
static const char *status_shortened(struct request *rq, const char *status)
{
	static const char FAILED[] = "_failed";
	size_t length = strlen(status), end = sizeof(FAILED) - 1;
	if (utf8_count(status, length) <= STATUS_MAX)
		return status;
	bool has_failed = strcmp(status + length - end, FAILED) == 0;
	size_t kept = utf8_cut_points(status, length, STATUS_MAX - 1 - (has_failed ? end : 0));
	return arena_printf(rq->arena, "%.*s…%s", (int)kept, status, has_failed ? FAILED : "");
}

static struct split_report split(struct request *rq, const struct telemetry *in)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	struct split_report report = {
		.doc = doc,
		.read = yyjson_mut_obj(doc),
		.others = yyjson_mut_obj(doc),
		.large = yyjson_mut_obj(doc),
	};
	yyjson_val *body = rq->http->json;
	size_t i, count;
	yyjson_val *name, *value;
	json_obj_foreach (body, i, count, name, value)
		add_member(rq, &report, name, value);
	if (in->status)
		put_text(&report, "status", status_shortened(rq, in->status));
	put_text(&report, "started_at", in->started_at);
	put_text(&report, "finished_at", in->finished_at);
	put_text(&report, "interest_id", in->interest);
	put_text(&report, "artifact_url", in->artifact_url);
	return report;
}

/* What runs_update() takes: see telemetry.fn.sql. */
static const char *build_update(struct request *rq, const struct telemetry *in,
                                const struct split_report *report)
{
	yyjson_mut_doc *doc = report->doc;
	yyjson_mut_val *update = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, update, "account", pg_uuid(rq->caller.account).text);
	yyjson_mut_obj_add_str(doc, update, "repo", rq->caller.repo);
	yyjson_mut_obj_add_val(doc, update, "run_id", yyjson_mut_raw(doc, in->run_id));
	yyjson_mut_obj_add_val(doc, update, "report", report->read);
	yyjson_mut_obj_add_val(doc, update, "others", report->others);
	yyjson_mut_obj_add_val(doc, update, "detail", report->large);
	if (rq->caller.interest)
		yyjson_mut_obj_add_str(doc, update, "key_interest", rq->caller.interest);
	return json_write_mut(rq->arena, update, NULL);
}

void run_report(struct request *rq)
{
	check_record(rq);
	struct telemetry *in = request_input(rq, struct telemetry, TELEMETRY_FIELDS);
	run_require_key(rq, in->repo ? in->repo : in->target_repo);
	struct split_report report = split(rq, in);
	if (rq->caller.is_repo_verified)
		repo_access_renew(rq, rq->caller.repo);
	struct pg_rows *rows =
		pg_batch_query(rq, RUNS_UPDATE_SQL, pg_text(build_update(rq, in, &report)));
	bool is_new = pg_get_bool(rows, 0, "is_new");
	reply_json(rq, is_new ? 201 : 200, left_out_shown(rq, pg_get(rows, 0, "shown")));
}
