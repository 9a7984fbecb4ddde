#include "repository/listing.h"

#include "base/timefmt.h"
#include "http/query.h"
#include "input/input.h"
#include "json/json.h"
#include "reply/reply.h"
#include "repository/pull_request.h"
#include "repository/run.h"

#include <inttypes.h>
#include <string.h>

#define PAGE_MAX         1000
#define PER_PAGE_DEFAULT 50
#define PER_PAGE_MAX     100

static const struct permission PULL_PERMISSIONS[] = {{"pull_requests", "read"}, {0}};
static const struct permission ISSUE_PERMISSIONS[] = {{"issues", "read"}, {0}};
static const struct permission RUN_PERMISSIONS[] = {{"actions", "read"}, {0}};

struct listing_input {
	const char *repo, *state, *since, *workflow;
	int64_t page, per_page;
};

static const char *const STATES[] = {"open", "all", NULL};

#define COMMON_FIELDS                                                                              \
	BODY_TEXT(struct listing_input, repo, "repo", REQUIRED, 1, REPOSITORY_NAME_MAX),           \
		BODY_INT(struct listing_input, page, "page", NULLABLE, 1, PAGE_MAX, 1),            \
		BODY_INT(struct listing_input, per_page, "per_page", NULLABLE, 1, PER_PAGE_MAX,    \
	                 PER_PAGE_DEFAULT),                                                        \
	{                                                                                          \
		IN_BODY, FIELD_TIME, "since", FIELD_AT(struct listing_input, since, const char *), \
			NULLABLE                                                                   \
	}

static const struct field ITEM_FIELDS[] = {
	COMMON_FIELDS,
	BODY_ENUM(struct listing_input, state, "state", NULLABLE, STATES),
	FIELD_END,
};

static const struct field RUN_FIELDS[] = {
	COMMON_FIELDS,
	{IN_BODY, FIELD_TEXT, "workflow", FIELD_AT(struct listing_input, workflow, const char *),
         NULLABLE, 1, WORKFLOW_NAME_MAX, .check = workflow_name_check},
	FIELD_END,
};

/* What is listed. */
struct listing {
	const char *name; /* of the member of the answer, and of the code host's where it has one */
	const struct permission *permissions;
	const char *(*path)(struct request *rq, const struct listing_input *in);
	const char *time; /* the member that lists with `since` are ordered by */
	/* An item of the answer; NULL: it is left out. */
	yyjson_mut_val *(*item)(yyjson_mut_doc *doc, yyjson_val *from);
};

static const char *item_path(struct request *rq, const char *path, const struct listing_input *in)
{
	const char *state = in->state ? in->state : "open";
	return arena_printf(rq->arena, "%s?state=%s&sort=%s&direction=desc&", path, state,
	                    in->since ? "updated" : "created");
}

static const char *pull_path(struct request *rq, const struct listing_input *in)
{
	return item_path(rq, "/pulls", in);
}

static const char *issue_path(struct request *rq, const struct listing_input *in)
{
	return item_path(rq, "/issues", in);
}

static const char *run_path(struct request *rq, const struct listing_input *in)
{
	if (!in->workflow)
		return "/actions/runs?";
	return arena_printf(rq->arena, "/actions/workflows/%s/runs?",
	                    query_encode(rq->arena, in->workflow));
}

static yyjson_mut_val *issue_json(yyjson_mut_doc *doc, yyjson_val *issue)
{
	static const char *const SAME[] = {"number",   "html_url",   "title",      "state",
	                                   "comments", "created_at", "updated_at", "closed_at"};
	if (json_get(issue, "pull_request"))
		return NULL;
	yyjson_mut_val *json = yyjson_mut_obj(doc);
	for (size_t i = 0; i < ARRAY_LEN(SAME); i++)
		json_add_member(doc, json, SAME[i], issue, SAME[i]);
	json_add_member(doc, json, "author", json_get(issue, "user"), "login");
	yyjson_mut_val *labels = yyjson_mut_obj_add_arr(doc, json, "labels");
	size_t index, max;
	yyjson_val *label;
	yyjson_arr_foreach (json_get(issue, "labels"), index, max, label) {
		/* A label is an object, or a text in old issues. */
		const char *name =
			yyjson_is_str(label) ? yyjson_get_str(label) : json_get_text(label, "name");
		if (name)
			yyjson_mut_arr_add_strcpy(doc, labels, name);
	}
	return json;
}

/* Whether the item was last changed before what is asked for, and so all after it were. */
static bool is_before(const char *since, yyjson_val *item, const char *member)
{
	int64_t since_ms, item_ms;
	const char *time = json_get_text(item, member);
	return since && time && time_parse(since, strlen(since), &since_ms) &&
	       time_parse(time, strlen(time), &item_ms) && item_ms < since_ms;
}

/* The items of a page. A repository without issues or without the workflow has none: 410 and
 * 404. */
static yyjson_val *ask_page(struct request *rq, const struct repository *repository,
                            const struct listing *listing, const struct listing_input *in)
{
	struct code_host_answer page =
		repository_call(rq, repository, "GET", NULL, "%sper_page=%" PRId64 "&page=%" PRId64,
	                        listing->path(rq, in), in->per_page, in->page);
	if (page.status == 410 || (page.status == 404 && in->workflow))
		return NULL;
	if (page.status != 200)
		repository_refuse(rq, &page, "no such repository");
	return yyjson_is_arr(page.json) ? page.json : json_get(page.json, listing->name);
}

static void list(struct request *rq, const struct listing *listing, const struct field *fields)
{
	struct listing_input *in = request_input(rq, struct listing_input, fields);
	struct repository repository = repository_open(rq, in->repo, listing->permissions);
	installation_list_count(rq);
	yyjson_val *page = ask_page(rq, &repository, listing, in), *from;
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *answer = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, answer);
	yyjson_mut_obj_add_str(doc, answer, "repo", repository.full_name);
	yyjson_mut_val *items = yyjson_mut_obj_add_arr(doc, answer, listing->name);
	bool is_last = yyjson_arr_size(page) < (size_t)in->per_page || in->page >= PAGE_MAX;
	size_t index, max;
	yyjson_arr_foreach (page, index, max, from) {
		if (is_before(in->since, from, listing->time)) {
			is_last = true;
			break;
		}
		yyjson_mut_val *item = listing->item(doc, from);
		if (item)
			yyjson_mut_arr_append(items, item);
	}
	yyjson_mut_obj_add_val(doc, answer, "next_page",
	                       is_last ? yyjson_mut_null(doc) : yyjson_mut_sint(doc, in->page + 1));
	reply_doc(rq, 200, doc);
}

void pull_requests_list(struct request *rq)
{
	static const struct listing PULLS = {"pull_requests", PULL_PERMISSIONS, pull_path,
	                                     "updated_at", pull_request_json};
	list(rq, &PULLS, ITEM_FIELDS);
}

void issues_list(struct request *rq)
{
	static const struct listing ISSUES = {"issues", ISSUE_PERMISSIONS, issue_path, "updated_at",
	                                      issue_json};
	list(rq, &ISSUES, ITEM_FIELDS);
}

void runs_list(struct request *rq)
{
	static const struct listing RUNS = {"workflow_runs", RUN_PERMISSIONS, run_path,
	                                    "created_at", run_json};
	list(rq, &RUNS, RUN_FIELDS);
}
