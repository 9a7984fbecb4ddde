#include "api/interest.h"

#include "client/service_ask.h"
#include "input/input.h"
#include "input/key_limit.h"
#include "input/paper_sources.h"
#include "interest.sql.h"
#include "json/json.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "provision/schedule.h"
#include "reply/etag.h"
#include "reply/resource.h"
#include "request/audited.h"
#include "request/idempotency.h"
#include "service/repository_name.h"
#include "source/source.h"
#include "source/source_links.h"

#include <inttypes.h>

#define DAILY_COUNT_MAX 50
#define PROVIDER_MAX    64
#define SOURCES_MAX     10

struct interest_input {
	const char *id;
	int64_t limit, offset;
};

static const struct field LIST_FIELDS[] = {
	QUERY_LIMIT(struct interest_input, limit, 20, 100),
	QUERY_OFFSET(struct interest_input, offset),
	FIELD_END,
};

static const struct field ID_FIELDS[] = {
	PATH_INTEREST(struct interest_input, id),
	FIELD_END,
};

static const struct field POOL_FIELDS[] = {
	BODY_UUID(struct interest_input, id, "interest_id", REQUIRED),
	FIELD_END,
};

/* Fields that a client may set; `needed` is the requirement of name and context. */
#define WRITABLE_FIELDS(needed)                                                           \
	JSON_TEXT("name", (needed) | TRIMMED, 1, INTEREST_NAME_MAX_CHARS),                \
		JSON_TEXT("context", (needed) | TRIMMED, 1, INTEREST_CONTEXT_MAX_CHARS),  \
		JSON_INT("daily_count", OPTIONAL, 1, DAILY_COUNT_MAX),                    \
		JSON_BOOL("is_active", OPTIONAL),                                         \
		JSON_TEXT("model_provider", NULLABLE | TRIMMED, 1, PROVIDER_MAX),         \
		JSON_URL("source_repo_url", NULLABLE), JSON_UUID("project_id", NULLABLE), \
		JSON_STRINGS("sources", NULLABLE, 1, SOURCES_MAX, 16),                    \
		JSON_OBJECT_OF("schedule", NULLABLE | OTHERS_IGNORED, SCHEDULE_FIELDS)

/* What an interest has besides, and what the answers of single operations add. */
#define READ_ONLY_FIELDS                                                             \
	READ_ONLY("id"), READ_ONLY("agent_paused"), READ_ONLY("pool_status"),        \
		READ_ONLY("pool_size"), READ_ONLY("pool_invalidated"),               \
		READ_ONLY("experiment_history_id"), READ_ONLY("experiment_history"), \
		READ_ONLY("context_sources"), READ_ONLY("model"),                    \
		READ_ONLY("last_recommendation_at"), READ_ONLY("created_at"),        \
		READ_ONLY("updated_at")

static const char *const MODES[] = {"project", NULL};

static const struct field CREATE_FIELDS[] = {
	WRITABLE_FIELDS(REQUIRED),
	JSON_ENUM("mode", OPTIONAL, MODES),
	READ_ONLY_FIELDS,
	FIELD_END,
};

/* Name and context come from the project or the repository where they are left out. */
static const struct field CREATE_FROM_FIELDS[] = {
	WRITABLE_FIELDS(OPTIONAL),
	JSON_ENUM("mode", OPTIONAL, MODES),
	READ_ONLY_FIELDS,
	FIELD_END,
};

static const struct field UPDATE_FIELDS[] = {
	PATH_INTEREST(struct interest_input, id),
	WRITABLE_FIELDS(OPTIONAL),
	READ_ONLY_FIELDS,
	FIELD_END,
};

static int64_t interests_max, active_max;

const struct setting INTEREST_SETTINGS[] = {
	SETTING_INT(&interests_max, "INTERESTS_MAX", "500", 1, 1000000,
                    "Interests that an account may have."),
	SETTING_INT(&active_max, "ACTIVE_INTERESTS_MAX", "100", 1, 1000000,
                    "Active interests that an account may have."),
	SETTING_END,
};

/* The constraints that a statement can violate, with the limits in their messages. */
static const struct constraint *constraints(struct request *rq)
{
	const struct constraint rows[] = {
		{"interest_name", ERR_CONFLICT, NULL, "an interest with this name already exists"},
		{"interest_max", ERR_CONFLICT, NULL,
	         arena_printf(rq->arena,
	                      "an account may have %" PRId64 " interests; delete one first",
	                      interests_max)},
		{"interest_active_max", ERR_CONFLICT, NULL,
	         arena_printf(rq->arena,
	                      "an account may have %" PRId64
	                      " active interests; make another one inactive first",
	                      active_max)},
		CONSTRAINT_SCHEDULE,
		CONSTRAINT_TASK_PENDING_MAX,
		{0},
	};
	return arena_memdup(rq->arena, rows, sizeof(rows));
}

static const char NOT_FOUND[] = "no such interest";

void interest_list(struct request *rq)
{
	struct interest_input *in = request_input(rq, struct interest_input, LIST_FIELDS);
	struct pg_rows *rows =
		pg_query(rq, INTEREST_LIST_SQL, pg_uuid(rq->caller.account), pg_int(in->limit),
	                 pg_int(in->offset), pg_text(rq->caller.interest));
	reply_page(rq, rows, in->limit, in->offset);
}

static bool is_from_project(struct request *rq)
{
	return yyjson_equals_str(json_get(request_body(rq), "mode"), "project");
}

/* The rows for what the new interest is made from. */
static const struct field *create_fields(struct request *rq)
{
	bool has_project = yyjson_is_str(json_get(request_body(rq), "project_id"));
	if (is_from_project(rq) && !has_project)
		problem_add_field(rq->arena, &rq->problem, "project_id",
		                  "is required with the mode project");
	bool is_from_repo = yyjson_is_str(json_get(request_body(rq), "source_repo_url"));
	return is_from_project(rq) || is_from_repo ? CREATE_FROM_FIELDS : CREATE_FIELDS;
}

/* {"name", "outline"} of the project (svc-experiments/experiment/project.h). */
static yyjson_val *ask_project(struct request *rq)
{
	const char *project = json_get_text(request_body(rq), "project_id");
	yyjson_val *found = service_ask_found(rq, INTERNAL_ID_project_outline_get,
	                                      ASK_BODY(rq, {"project_id", project}));
	if (!found)
		raise_field(rq, "project_id", "is not one of your projects");
	bool has_context = json_get(request_body(rq), "context");
	if (!has_context && !json_get_text(found, "outline"))
		raise_field(rq, "project_id",
		            "has no experiments that the context could come from");
	return found;
}

/* The input, with what it leaves out as the project says it: a name and an outline that are no
 * longer than those of an interest. */
static const char *body_from_project(struct request *rq)
{
	static const struct {
		const char *member, *of_project;
	} MEMBERS[] = {{"name", "name"}, {"context", "outline"}};
	yyjson_val *body = json_parse_own(rq->arena, request_body_json(rq));
	yyjson_val *project = ask_project(rq);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *filled = yyjson_val_mut_copy(doc, body);
	for (size_t i = 0; i < ARRAY_LEN(MEMBERS); i++)
		if (!json_get(body, MEMBERS[i].member))
			json_add_text(doc, filled, MEMBERS[i].member,
			              json_get_text(project, MEMBERS[i].of_project));
	return json_write_mut(rq->arena, filled, NULL);
}

void interest_create(struct request *rq)
{
	request_check_paper_sources(rq);
	request_input(rq, struct interest_input, create_fields(rq));
	require_interest(rq, NULL);
	const char *body = is_from_project(rq) ? body_from_project(rq) : request_body_json(rq);
	idempotency_join(rq);
	struct pg_rows *rows =
		pg_write_shared(rq, constraints(rq), INTEREST_CREATE_SQL,
	                        pg_uuid(rq->caller.account), pg_text(body), pg_text(rq->id),
	                        pg_int(interests_max), pg_int(active_max));
	reply_json(rq, 201, pg_json(rows));
}

/* Which experiments of the interest the key sees (interest_get). Those of papers may be of any
 * project, and what is stored of an experiment here does not say its repository. */
static const char *visible_history(const struct request *rq)
{
	if (rq->caller.repo)
		return "none";
	return rq->caller.interest ? "project" : "all";
}

void interest_get(struct request *rq)
{
	struct interest_input *in = request_input(rq, struct interest_input, ID_FIELDS);
	struct pg_rows *rows = pg_batch_query(rq, INTEREST_GET_SQL, pg_uuid(rq->caller.account),
	                                      pg_text(in->id), pg_text(visible_history(rq)));
	etag_reply_object(rq, 200, rows, "interest");
}

static bool names_repository(struct request *rq, const char *text, const char *repo)
{
	return text && source_text_names(rq->arena, text, repo, source_code_host());
}

/* Whether the key reaches the repository already: the interest names it, or it is the key's own. */
static bool is_within_reach(struct request *rq, struct pg_rows *interest, const char *repo)
{
	return names_repository(rq, pg_get(interest, 0, "context"), repo) ||
	       names_repository(rq, pg_get(interest, 0, "source_repo_url"), repo) ||
	       (rq->caller.repo && repository_is_same(rq, rq->caller.repo, repo));
}

/* The repositories that a context links to are read with the rights of the account
 * (source/source.h), and candidates are scored by their words. */
static void require_repositories(struct request *rq, struct pg_rows *interest, const char *context)
{
	struct source_links named = {0};
	source_links_add(rq->arena, &named, context, source_code_host());
	for (size_t i = 0; i < named.count; i++) {
		const struct source_link *link = &named.links[i];
		if (link->kind == SOURCE_REPOSITORY && !is_within_reach(rq, interest, link->name))
			raise_error(rq, ERR_FORBIDDEN,
			            "a limited key cannot add the repository %s to the context",
			            link->name);
	}
}

/* A limited key reaches what belongs to its interest's project and repository, so it may not choose
 * others. It may send back what it read. */
static void require_place(struct request *rq, const char *id)
{
	if (!key_is_limited(rq))
		return;
	struct pg_rows *rows = pg_query(rq, INTEREST_KEEPS_PLACE_SQL, pg_uuid(rq->caller.account),
	                                pg_text(id), pg_text(request_body_json(rq)));
	const char *context = json_get_text(request_body(rq), "context");
	if (pg_empty(rows))
		return;
	if (!pg_get_bool(rows, 0, "keeps_place"))
		raise_error(rq, ERR_FORBIDDEN,
		            "a limited key cannot change project_id and source_repo_url");
	if (context)
		require_repositories(rq, rows, context);
}

void interest_update(struct request *rq)
{
	request_check_paper_sources(rq);
	struct interest_input *in = request_input(rq, struct interest_input, UPDATE_FIELDS);
	request_require_member(rq);
	require_place(rq, in->id);
	struct pg_rows *rows =
		pg_write(rq, constraints(rq), INTEREST_UPDATE_SQL, pg_uuid(rq->caller.account),
	                 pg_text(in->id), pg_text(request_body_json(rq)), pg_text(rq->id),
	                 pg_text(etag_if_match(rq)), pg_int(active_max));
	etag_reply_object(rq, 200, rows, "interest");
}

void interest_delete(struct request *rq)
{
	struct interest_input *in = request_input(rq, struct interest_input, ID_FIELDS);
	audited_begin(rq);
	struct pg_rows *rows = pg_query(rq, INTEREST_DELETE_SQL, pg_uuid(rq->caller.account),
	                                pg_text(in->id), pg_text(etag_if_match(rq)));
	etag_require(rq, rows, "interest");
	pg_commit(rq);
	log_always("interest deleted", f_text("interest_id", in->id));
	reply_json(rq, 200, pg_json(rows));
}

void interest_toggle(struct request *rq)
{
	struct interest_input *in = request_input(rq, struct interest_input, ID_FIELDS);
	struct pg_rows *rows =
		pg_write(rq, constraints(rq), INTEREST_TOGGLE_SQL, pg_uuid(rq->caller.account),
	                 pg_text(in->id), pg_int(active_max));
	reply_one(rq, 200, rows, NOT_FOUND);
}

void interest_pool_get(struct request *rq)
{
	struct interest_input *in = request_input(rq, struct interest_input, POOL_FIELDS);
	struct pg_rows *rows =
		pg_query(rq, INTEREST_POOL_GET_SQL, pg_uuid(rq->caller.account), pg_text(in->id));
	reply_one(rq, 200, rows, NOT_FOUND);
}
