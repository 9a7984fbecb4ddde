#include "api/asset.h"

#include "asset.sql.h"
#include "indexing/indexer.h"
#include "ingest/paper_id.h"
#include "input/input.h"
#include "json/json.h"
#include "pg/pg.h"
#include "plain/plain_row.h"
#include "plain/plain_text.h"
#include "reply/reply.h"
#include "reply/reply_papers.h"
#include "state.h"

#include <string.h>

struct asset_input {
	const char *arxiv_id;
	const char *title;
	const char *categories; /* JSON array; NULL: not given */
	const char *ids;        /* the same */
	int64_t limit, offset;
};

static const char *const CONTAINER_STATUSES[] = {"none",  "queued", "building",
                                                 "ready", "failed", NULL};

static const struct field GET_FIELDS[] = {
	PATH_TEXT(struct asset_input, arxiv_id, "arxiv_id", 1, 64),
	FIELD_END,
};

static const struct field LIST_FIELDS[] = {
	QUERY_TEXT(struct asset_input, categories, "category", REPEATED, 1, 64),
	QUERY_TEXT(struct asset_input, ids, "ids", REPEATED, 1, 64),
	QUERY_LIMIT(struct asset_input, limit, 20, 100),
	QUERY_OFFSET(struct asset_input, offset),
	{IN_QUERY, FIELD_BOOL, "has_container", FIELD_NOWHERE},
	FIELD_END,
};

static bool arxiv_id_check(const char *text, size_t length, const char **ret_message)
{
	char id[PAPER_ID_MAX + 1];
	(void)length;
	*ret_message = "must be an arXiv id, or a DOI such as biorxiv:10.1101/2026.11.20.123456";
	return paper_id_parse(text, id);
}

#define REFERENCES_MAX 1000000

static const struct field REFERENCE_FIELDS[] = {
	JSON_INT("total", REQUIRED, 0, REFERENCES_MAX),
	JSON_INT("classified", REQUIRED, 0, REFERENCES_MAX),
	JSON_OBJECT("by_class", REQUIRED),
	FIELD_END,
};

static const struct field PUT_FIELDS[] = {
	{IN_PATH, FIELD_TEXT, "arxiv_id", FIELD_AT(struct asset_input, arxiv_id, const char *),
         REQUIRED, 1, 64, .check = arxiv_id_check},
	BODY_TEXT(struct asset_input, title, "title", TRIMMED, 1, 1000),
	JSON_TEXT("abstract", TRIMMED, 0, 50000),
	JSON_STRINGS("authors", OPTIONAL, 0, 5000, 500),
	JSON_STRINGS("categories", OPTIONAL, 0, 64, CATEGORY_MAX),
	{IN_BODY, FIELD_TIME, "published_at", FIELD_NOWHERE, NULLABLE},
	{IN_BODY, FIELD_TIME, "updated_at", FIELD_NOWHERE, NULLABLE},
	JSON_URL("github_url", NULLABLE),
	JSON_TEXT("comments", NULLABLE | TRIMMED, 1, 5000),
	{IN_BODY, FIELD_TEXT, "container_image", FIELD_NOWHERE, NULLABLE, 1, 500,
         .check = url_is_safe_reference},
	JSON_ENUM("container_status", OPTIONAL, CONTAINER_STATUSES),
	JSON_TEXT("containerfile", NULLABLE, 0, 200000),
	JSON_TEXT("working_directory", NULLABLE, 0, 1000),
	JSON_OBJECT("environment_vars", OPTIONAL),
	JSON_OBJECT_OF("reference_summary", OTHERS_IGNORED, REFERENCE_FIELDS),
	JSON_REFERENCE("license", NULLABLE, 500),
	READ_ONLY("arxiv_id"),
	READ_ONLY("source"),
	READ_ONLY("doi"),
	READ_ONLY("url"),
	READ_ONLY("has_container"),
	READ_ONLY("withdrawn"),
	READ_ONLY("upvotes"),
	FIELD_END,
};

/* The canonical form of a paper's id, in the arena; NULL: `text` is not one. */
static const char *canonical(struct request *rq, const char *text)
{
	char id[PAPER_ID_MAX + 1];
	return paper_id_parse(text, id) ? arena_strdup(rq->arena, id) : NULL;
}

void asset_get(struct request *rq)
{
	struct asset_input *in = request_input(rq, struct asset_input, GET_FIELDS);
	const char *id = canonical(rq, in->arxiv_id);
	struct pg_rows *rows = id ? pg_query(rq, ASSET_GET_SQL, pg_text(id)) : NULL;
	if (!rows || pg_empty(rows))
		raise_error(rq, ERR_NOT_FOUND, "no such asset");
	reply_json(rq, 200, pg_json(rows));
}

/* The category, when the list has one. */
static const char *only_category(struct request *rq, const char *categories)
{
	yyjson_val *list = NULL;
	if (!categories || json_parse(rq->arena, categories, strlen(categories), &list, NULL) ||
	    yyjson_arr_size(list) != 1)
		return NULL;
	return yyjson_get_str(yyjson_arr_get_first(list));
}

/* The canonical forms of a JSON array of ids, as one. What is no id of a paper is left out. */
static const char *canonical_ids(struct request *rq, const char *ids)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *array = yyjson_mut_arr(doc);
	yyjson_val *list = NULL;
	size_t index, count;
	yyjson_val *each;
	if (json_parse(rq->arena, ids, strlen(ids), &list, NULL))
		return "[]";
	yyjson_arr_foreach (list, index, count, each) {
		const char *id = canonical(rq, yyjson_get_str(each));
		if (id)
			yyjson_mut_arr_add_str(doc, array, id);
	}
	return json_write_mut(rq->arena, array, NULL);
}

/* Papers with one of some ids. */
static struct pg_rows *list_of_ids(struct request *rq, const struct asset_input *in)
{
	return pg_query(rq, ASSET_LIST_OF_IDS_SQL, pg_int(in->limit), pg_int(in->offset),
	                pg_text(in->categories), pg_text(request_query(rq, "has_container")),
	                pg_text(canonical_ids(rq, in->ids)));
}

static struct pg_rows *list_of_categories(struct request *rq, const struct asset_input *in)
{
	const char *only = only_category(rq, in->categories);
	bool is_several = in->categories && !only;
	return pg_query(rq, is_several ? ASSET_LIST_ANY_SQL : ASSET_LIST_SQL, pg_int(in->limit),
	                pg_int(in->offset), pg_text(is_several ? in->categories : only),
	                pg_text(request_query(rq, "has_container")));
}

void asset_list(struct request *rq)
{
	struct asset_input *in = request_input(rq, struct asset_input, LIST_FIELDS);
	struct pg_rows *rows = in->ids ? list_of_ids(rq, in) : list_of_categories(rq, in);
	reply_page_fields(rq, "limit", pg_get_int(rows, 0, "total"), in->limit, in->offset);
	reply_papers(rq, pg_json(rows), NULL);
}

static void check_environment(struct request *rq)
{
	size_t index, count;
	yyjson_val *name, *value;
	json_obj_foreach (json_get(request_body(rq), "environment_vars"), index, count, name,
	                  value) {
		if (!yyjson_is_str(value))
			problem_add_field(rq->arena, &rq->problem, "environment_vars",
			                  "%s must be a string", yyjson_get_str(name));
	}
}

static void check_references(struct request *rq)
{
	yyjson_val *summary = json_get(request_body(rq), "reference_summary");
	size_t index, count;
	yyjson_val *name, *value;
	json_obj_foreach (json_get(summary, "by_class"), index, count, name, value) {
		json_spell_whole(value);
		if (!yyjson_is_uint(value) || yyjson_get_uint(value) > REFERENCES_MAX)
			problem_add_field(rq->arena, &rq->problem, "reference_summary.by_class",
			                  "%s must be an integer from 0 to %d",
			                  yyjson_get_str(name), REFERENCES_MAX);
	}
	int64_t total = json_get_int(summary, "total", -1);
	if (total >= 0 && json_get_int(summary, "classified", 0) > total)
		problem_add_field(rq->arena, &rq->problem, "reference_summary.classified",
		                  "must not be greater than total");
}

/* The members of the body, with their texts in the form in which they are shown. */
static const char *plain_body(struct request *rq)
{
	const char *text = request_body_json(rq);
	yyjson_val *body = NULL;
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	require(json_parse(rq->arena, text, strlen(text), &body, NULL) == ERR_NONE);
	yyjson_mut_val *row = yyjson_val_mut_copy(doc, body);
	plain_row(rq->arena, doc, row);
	return json_write_mut(rq->arena, row, NULL);
}

void asset_put(struct request *rq)
{
	request_check_texts(rq, "categories", category_is, "a category such as cs.LG");
	check_environment(rq);
	check_references(rq);
	struct asset_input *in = request_input(rq, struct asset_input, PUT_FIELDS);
	request_require_member(rq);
	const char *id = canonical(rq, in->arxiv_id);
	struct pg_rows *rows = pg_query(rq, ASSET_PUT_SQL, pg_text(id), pg_text(plain_body(rq)),
	                                pg_int(PLAIN_TEXT_VERSION));
	if (pg_empty(rows))
		rows = pg_query(rq, ASSET_GET_SQL, pg_text(id));
	if (pg_empty(rows))
		raise_field(rq, "title", "is required for a new asset");
	reply_json(rq, 200, pg_json(rows));
}

void asset_stats(struct request *rq)
{
	request_input_none(rq);
	struct index_state state = indexer_state(request_indexer(rq));
	struct engine_view *view = indexer_view(request_indexer(rq));
	const char *version = arena_strdup(rq->arena, engine_version(view));
	engine_view_put(view);
	struct pg_rows *rows =
		pg_query(rq, ASSET_STATS_SQL, pg_int(state.documents),
	                 state.updated_at_ms ? pg_time(state.updated_at_ms) : pg_null(),
	                 version[0] ? pg_text(version) : pg_null());
	reply_json(rq, 200, pg_json(rows));
}
