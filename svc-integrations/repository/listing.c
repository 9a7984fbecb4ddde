#include "repository/listing.h"

#include "base/json.h"
#include "repository/pull_request.h"
#include "repository/repository.h"
#include "service/input.h"
#include "service/reply.h"

#include <inttypes.h>

#define PAGE_MAX         1000
#define PER_PAGE_DEFAULT 50
#define PER_PAGE_MAX     100

static const struct permission PULL_PERMISSIONS[] = {{"pull_requests", "read"}, {0}};
static const struct permission ISSUE_PERMISSIONS[] = {{"issues", "read"}, {0}};

struct listing_input {
	const char *repo;
	int64_t page, per_page;
};

static const struct field LISTING_FIELDS[] = {
	BODY_TEXT(struct listing_input, repo, "repo", REQUIRED, 1, REPOSITORY_NAME_MAX),
	BODY_INT(struct listing_input, page, "page", NULLABLE, 1, PAGE_MAX, 1),
	BODY_INT(struct listing_input, per_page, "per_page", NULLABLE, 1, PER_PAGE_MAX,
                 PER_PAGE_DEFAULT),
	FIELD_END,
};

/* What is listed. */
struct listing {
	const char *name; /* of the member of the answer */
	const char *path;
	const struct permission *permissions;
	/* An item of the answer; NULL: it is left out. */
	yyjson_mut_val *(*item)(yyjson_mut_doc *doc, yyjson_val *from);
};

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

static void list(struct request *rq, const struct listing *listing)
{
	struct listing_input *in = request_input(rq, struct listing_input, LISTING_FIELDS);
	struct repository repository = repository_open(rq, in->repo, listing->permissions);
	struct code_host_answer page =
		repository_call(rq, &repository, "GET", NULL,
	                        "%s?state=open&sort=created&direction=desc&per_page=%" PRId64
	                        "&page=%" PRId64,
	                        listing->path, in->per_page, in->page);
	if (page.status != 200)
		repository_refuse(rq, &page, "no such repository");
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *answer = yyjson_mut_obj(doc);
	yyjson_mut_doc_set_root(doc, answer);
	yyjson_mut_obj_add_str(doc, answer, "repo", repository.full_name);
	yyjson_mut_val *items = yyjson_mut_obj_add_arr(doc, answer, listing->name);
	size_t index, max;
	yyjson_val *from;
	yyjson_arr_foreach (page.json, index, max, from) {
		yyjson_mut_val *item = listing->item(doc, from);
		if (item)
			yyjson_mut_arr_append(items, item);
	}
	bool is_last = yyjson_arr_size(page.json) < (size_t)in->per_page || in->page >= PAGE_MAX;
	yyjson_mut_obj_add_val(doc, answer, "next_page",
	                       is_last ? yyjson_mut_null(doc) : yyjson_mut_sint(doc, in->page + 1));
	reply_doc(rq, 200, doc);
}

void pull_requests_list(struct request *rq)
{
	static const struct listing PULLS = {"pull_requests", "/pulls", PULL_PERMISSIONS,
	                                     pull_request_json};
	list(rq, &PULLS);
}

void issues_list(struct request *rq)
{
	static const struct listing ISSUES = {"issues", "/issues", ISSUE_PERMISSIONS, issue_json};
	list(rq, &ISSUES);
}
