#include "build/build.h"

#include "build.sql.h"
#include "client/service_call.h"
#include "http/query.h"
#include "input/key_limit.h"
#include "json/json.h"
#include "template/spec.h"

#include <string.h>

#define CONTAINERFILE_MAX_BYTES ((size_t)64 << 10)
#define BUILD_ARGS_MAX          100
#define PAPER_TIMEOUT_MS        5000

struct build_input {
	const char *repo, *arxiv_id, *containerfile, *template_id;
	bool no_cache;
};

/* `owner/name`, or an address. */
static bool repository_check(const char *text, size_t length, const char **ret_message)
{
	if (strstr(text, "://"))
		return url_is_link(text, length, ret_message);
	if (repo_check(text, length, ret_message))
		return true;
	*ret_message = "must be owner/name, or an address with https or http";
	return false;
}

struct list_input {
	const char *status;
	int64_t limit, offset;
};

static const char *const LISTED[] = {"queued", "building",  "succeeded",
                                     "failed", "cancelled", NULL};

static const struct field LIST_FIELDS[] = {
	QUERY_ENUM(struct list_input, status, "status", LISTED),
	QUERY_LIMIT(struct list_input, limit, 20, 100),
	QUERY_OFFSET(struct list_input, offset),
	FIELD_END,
};

static const struct field CREATE_FIELDS[] = {
	{IN_BODY, FIELD_TEXT, "repo", FIELD_AT(struct build_input, repo, const char *),
         NULLABLE | TRIMMED, 1, 500, .check = repository_check},
	JSON_TEXT("ref", NULLABLE | TRIMMED, 1, 255),
	BODY_TEXT(struct build_input, arxiv_id, "arxiv_id", NULLABLE | TRIMMED, 1, 64),
	{IN_BODY, FIELD_TEXT, "containerfile",
         FIELD_AT(struct build_input, containerfile, const char *), NULLABLE, 1,
         CONTAINERFILE_MAX_BYTES, .bytes_max = CONTAINERFILE_MAX_BYTES},
	BODY_UUID(struct build_input, template_id, "template_id", NULLABLE),
	JSON_OBJECT("build_args", NULLABLE),
	BODY_BOOL(struct build_input, no_cache, "no_cache", OPTIONAL, false),
	QUEUE_READ_ONLY_FIELDS,
	READ_ONLY("build_id"),
	READ_ONLY("source"),
	READ_ONLY("image"),
	READ_ONLY("digest"),
	FIELD_END,
};

const struct field BUILD_ID_FIELDS[] = {
	PATH_UUID(struct build_path, id, "build_id"),
	FIELD_END,
};

static void check_sources(struct request *rq)
{
	bool has_repo = request_has_member(rq, "repo"),
	     has_paper = request_has_member(rq, "arxiv_id"),
	     has_file = request_has_member(rq, "containerfile");
	if (!has_repo && !has_paper && !has_file)
		problem_add_field(rq->arena, &rq->problem, "body",
		                  "must have a repo, an arxiv_id or a containerfile");
	if (has_paper && (has_repo || has_file))
		problem_add_field(rq->arena, &rq->problem, "arxiv_id",
		                  "must be alone: a paper has a repository and a container file");
}

/* Builders take arguments as `--build-arg NAME=VALUE`. A value may have several lines. */
static void check_args(struct request *rq, yyjson_val *args)
{
	yyjson_val *name, *value;
	size_t index, count;
	if (yyjson_obj_size(args) > BUILD_ARGS_MAX)
		problem_add_field(rq->arena, &rq->problem, "build_args",
		                  "must have at most %d members", BUILD_ARGS_MAX);
	json_obj_foreach (args, index, count, name, value) {
		const char *text = yyjson_get_str(name);
		if (!*text || strpbrk(text, "= \t\r\n") || text[0] == '-')
			problem_add_field(rq->arena, &rq->problem, "build_args",
			                  "%s is not the name of an argument", text);
		else if (!yyjson_is_str(value))
			problem_add_field(rq->arena, &rq->problem, "build_args",
			                  "%s must be a string", text);
	}
}

/* The paper as svc-search shows it. Raises ERR_NOT_FOUND when there is none; one that cannot be
 * built is a fault of the body. */
static yyjson_val *fetch_paper(struct request *rq, const char *arxiv_id)
{
	yyjson_val *paper;
	struct fetch_response *answer = NULL;
	const struct service_call call = {
		.service = API_SEARCH,
		.path = arena_printf(rq->arena, "/api/v1.0/search/assets/%s",
	                             query_encode(rq->arena, arxiv_id)),
		.timeout_ms = PAPER_TIMEOUT_MS,
	};
	enum err_code code = service_call(rq, &call, &answer);
	if (code)
		raise_error(rq, code, "the papers cannot be read at present");
	if (answer->status == 404 || answer->status == 400)
		raise_error(rq, ERR_NOT_FOUND, "no such paper");
	if (answer->status != 200 || fetch_json(rq->arena, answer, &paper))
		raise_error(rq, ERR_UPSTREAM, "svc-search sent an unusable answer");
	if (!json_get_text(paper, "containerfile") && !json_get_text(paper, "github_url"))
		problem_add_field(rq->arena, &rq->problem, "arxiv_id",
		                  "has neither a container file nor a repository");
	return paper;
}

/* NULL: there is none, which is a fault of the body. */
static yyjson_val *fetch_template(struct request *rq, const char *id)
{
	struct pg_rows *rows = pg_query(rq, BUILD_TEMPLATE_SQL, pg_text(id),
	                                pg_uuid(rq->caller.account), pg_text(rq->caller.repo));
	if (!pg_empty(rows))
		return json_parse_own(rq->arena, pg_json(rows));
	problem_add_field(rq->arena, &rq->problem, "template_id", "is not one of your templates");
	return NULL;
}

/* The members of the body and what follows from them. `template` may be NULL. */
static const char *columns(struct request *rq, const struct build_input *in, yyjson_val *template)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *made = yyjson_mut_obj(doc);
	static const char *const MEMBERS[] = {"repo", "ref", "arxiv_id", "containerfile",
	                                      "build_args"};
	for (size_t i = 0; i < ARRAY_LEN(MEMBERS); i++)
		json_add_member(doc, made, MEMBERS[i], rq->http->json, MEMBERS[i]);
	json_add_text(doc, made, "source",
	              in->arxiv_id ? "arxiv_id"
	              : in->repo   ? "repo"
	                           : "containerfile");
	if (template)
		yyjson_mut_obj_add_val(doc, made, "template", yyjson_val_mut_copy(doc, template));
	return json_write_mut(rq->arena, made, NULL);
}

void build_create(struct request *rq)
{
	check_args(rq, json_get(request_body(rq), "build_args"));
	check_sources(rq);
	struct build_input *in = request_input(rq, struct build_input, CREATE_FIELDS);
	require_repo(rq, in->repo);
	yyjson_val *template = in->template_id ? fetch_template(rq, in->template_id) : NULL;
	yyjson_val *paper = in->arxiv_id ? fetch_paper(rq, in->arxiv_id) : NULL;
	raise_if_faults(rq);
	const char *given = columns(rq, in, template);
	bool shares = paper && caller_has_scope(rq, SCOPE_BIT_ASSETS_WRITE);
	pg_begin(rq); /* committed together with the answer */
	struct pg_rows *made =
		pg_write(rq, QUEUE_CONSTRAINTS, BUILD_CREATE_SQL, pg_uuid(rq->caller.account),
	                 pg_text(given), pg_text(paper ? json_write(rq->arena, paper, NULL) : NULL),
	                 pg_bool(shares), pg_bool(in->no_cache), pg_int(build_timeout_s()),
	                 pg_text(rq->caller.repo), queue_waiting_max(rq));
	reply_json(rq, 201, pg_json(pg_query(rq, BUILD_REPORTED_SQL, pg_text(pg_json(made)))));
}

void build_list(struct request *rq)
{
	struct list_input *in = request_input(rq, struct list_input, LIST_FIELDS);
	struct pg_rows *rows =
		pg_query(rq, BUILD_LIST_SQL, pg_uuid(rq->caller.account), pg_text(in->status),
	                 pg_text(rq->caller.repo), pg_int(in->limit), pg_int(in->offset));
	reply_page(rq, rows, in->limit, in->offset);
}

void build_get(struct request *rq)
{
	queue_get(rq, &BUILDS, request_input(rq, struct build_path, BUILD_ID_FIELDS)->id);
}

void build_cancel(struct request *rq)
{
	queue_cancel(rq, &BUILDS, request_input(rq, struct build_path, BUILD_ID_FIELDS)->id);
}

void build_context_get(struct request *rq)
{
	struct build_path *in = request_input(rq, struct build_path, BUILD_ID_FIELDS);
	queue_require_repo(rq, &BUILDS, in->id);
	reply_one(rq, 200, pg_query(rq, BUILD_CONTEXT_SQL, pg_text(in->id), queue_account(rq)),
	          BUILDS.missing);
}

/* --- Workers ---------------------------------------------------------------------------------- */

static const struct field HEARTBEAT[] = {HEARTBEAT_FIELDS("build_id")};

const struct queue BUILDS = {
	.kind = "build",
	.missing = "no such build",
	.claim_sql = BUILD_CLAIM_SQL,
	.get_sql = BUILD_GET_SQL,
	.heartbeat_fields = HEARTBEAT,
};

static const char *const STATUSES[] = {"building", "succeeded", "failed", "cancelled", NULL};

struct report_input {
	const char *id;
	int64_t attempt; /* 0: not from a worker that has claimed the build */
};

static const struct field REPORT_FIELDS[] = {
	PATH_UUID(struct report_input, id, "build_id"),
	BODY_INT(struct report_input, attempt, "attempt", OPTIONAL, 1, INT32_MAX, 0),
	JSON_ENUM("status", REQUIRED, STATUSES),
	{IN_BODY, FIELD_TEXT, "image", FIELD_NOWHERE, NULLABLE | TRIMMED, 1, 1024,
         .check = image_name_check},
	JSON_TEXT("digest", NULLABLE, 1, 255),
	JSON_TEXT("log", NULLABLE, 0, 0),
	JSON_OBJECT_OF("error", NULLABLE, ERROR_MEMBERS),
	FIELD_END,
};

void build_claim(struct request *rq)
{
	queue_claim(rq, &BUILDS);
}

void build_heartbeat(struct request *rq)
{
	queue_heartbeat(rq, &BUILDS);
}

void build_report(struct request *rq)
{
	const char *status = json_get_text(request_body(rq), "status");
	if (status && strcmp(status, "succeeded") == 0 && !request_has_member(rq, "image"))
		problem_add_field(rq->arena, &rq->problem, "image",
		                  "is required of a build that has succeeded");
	struct report_input *in = request_input(rq, struct report_input, REPORT_FIELDS);
	queue_require_repo(rq, &BUILDS, in->id);
	struct pg_rows *rows = pg_query(rq, BUILD_REPORT_SQL, pg_text(in->id), queue_account(rq),
	                                in->attempt ? pg_int(in->attempt) : pg_null(),
	                                pg_text(request_body_json(rq)), queue_lease(rq));
	queue_require_ok(rq, &BUILDS, pg_json(rows));
	reply_one(rq, 200, pg_query(rq, BUILD_REPORTED_SQL, pg_text(in->id)), BUILDS.missing);
}
