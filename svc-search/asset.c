#include "asset.h"

#include <string.h>

#include "arxiv_id.h"
#include "asset.sql.h"
#include "indexer.h"
#include "json.h"
#include "pg.h"
#include "timefmt.h"
#include "worker.h"

struct asset_input {
	const char *arxiv_id;
	const char *title;
	const char *abstract;
	const char *category;
	const char *environment_vars, *reference_summary;
	int64_t limit, offset;
};

static const char *const CONTAINER_STATUSES[] = {"none",  "queued", "building",
                                                 "ready", "failed", NULL};

static const struct field GET_FIELDS[] = {
	PATH_TEXT(struct asset_input, arxiv_id, "arxiv_id", 1, 64),
	FIELD_END,
};

static const struct field LIST_FIELDS[] = {
	QUERY_TEXT(struct asset_input, category, "category", OPTIONAL, 1, 64),
	QUERY_LIMIT(struct asset_input, limit, 20, 100),
	QUERY_OFFSET(struct asset_input, offset),
	{IN_QUERY, FIELD_BOOL, "has_container", FIELD_NOWHERE},
	FIELD_END,
};

static const struct field PUT_FIELDS[] = {
	PATH_TEXT(struct asset_input, arxiv_id, "arxiv_id", 1, 64),
	BODY_TEXT(struct asset_input, title, "title", TRIMMED, 1, 1000),
	BODY_TEXT(struct asset_input, abstract, "abstract", TRIMMED, 0, 50000),
	JSON_STRINGS("authors", OPTIONAL, 0, 5000, 500),
	JSON_STRINGS("categories", OPTIONAL, 0, 64, 64),
	{IN_BODY, FIELD_TIME, "published_at", FIELD_NOWHERE, NULLABLE},
	{IN_BODY, FIELD_TIME, "updated_at", FIELD_NOWHERE, NULLABLE},
	JSON_URL("github_url", NULLABLE),
	JSON_TEXT("container_image", NULLABLE, 1, 500),
	JSON_ENUM("container_status", OPTIONAL, CONTAINER_STATUSES),
	JSON_TEXT("containerfile", NULLABLE, 0, 200000),
	JSON_TEXT("working_directory", NULLABLE, 0, 1000),
	BODY_OBJECT(struct asset_input, environment_vars, "environment_vars", OPTIONAL),
	BODY_OBJECT(struct asset_input, reference_summary, "reference_summary", OPTIONAL),
	JSON_TEXT("license", NULLABLE, 0, 500),
	FIELD_END,
};

/* The canonical id, NULL when the text is none. */
static const char *canonical(struct request *rq, const char *text)
{
	char id[ARXIV_ID_MAX + 1];
	return arxiv_id_parse(text, id) ? arena_strdup(rq->arena, id) : NULL;
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

void asset_list(struct request *rq)
{
	struct asset_input *in = request_input(rq, struct asset_input, LIST_FIELDS);
	struct pg_rows *rows =
		pg_query(rq, ASSET_LIST_SQL, pg_int(in->limit), pg_int(in->offset),
	                 pg_text(in->category), pg_text(request_query(rq, "has_container")));
	reply_page(rq, pg_json(rows), pg_value_int(rows, 0, 1), in->limit, in->offset);
}

/* Every member of an object is a string. */
static void check_environment(struct request *rq)
{
	size_t index, count;
	yyjson_val *name, *value;
	yyjson_obj_foreach (json_get(rq->http->json, "environment_vars"), index, count, name,
	                    value) {
		if (!yyjson_is_str(value))
			problem_add_field(rq->arena, &rq->problem, "environment_vars",
			                  "%s must be a string", yyjson_get_str(name));
	}
}

static bool is_count(yyjson_val *value)
{
	return yyjson_is_int(value) && yyjson_get_sint(value) >= 0;
}

static void check_references(struct request *rq)
{
	yyjson_val *summary = json_get(rq->http->json, "reference_summary");
	if (!summary)
		return;
	bool is_good = is_count(json_get(summary, "total")) &&
	               is_count(json_get(summary, "classified")) &&
	               yyjson_is_obj(json_get(summary, "by_class"));
	size_t index, count;
	yyjson_val *name, *value;
	yyjson_obj_foreach (json_get(summary, "by_class"), index, count, name, value) {
		is_good = is_good && is_count(value);
	}
	if (!is_good)
		problem_add_field(rq->arena, &rq->problem, "reference_summary",
		                  "must hold the counts total, classified and by_class");
}

/* The body with its id, as a row of ASSET_IMPORT_SQL. */
static const char *as_import(struct request *rq, const char *id)
{
	const char *body = request_body_json(rq);
	return arena_printf(rq->arena, "[{\"arxiv_id\": \"%s\"%s%s]", id,
	                    strcmp(body, "{}") == 0 ? "" : ", ", body + 1);
}

void asset_put(struct request *rq)
{
	struct asset_input *in = request_input(rq, struct asset_input, PUT_FIELDS);
	request_require_some(rq);
	const char *id = canonical(rq, in->arxiv_id);
	if (!id)
		problem_add_field(rq->arena, &rq->problem, "arxiv_id", "must be an arXiv id");
	check_environment(rq);
	check_references(rq);
	raise_if_faults(rq);
	struct pg_param body = pg_text(request_body_json(rq));
	struct pg_rows *rows = pg_query(rq, ASSET_UPDATE_SQL, pg_text(id), body);
	if (pg_empty(rows) && !in->title)
		raise_field(rq, "title", "is required for a new asset");
	if (pg_empty(rows)) {
		pg_query(rq, ASSET_IMPORT_SQL, pg_text(as_import(rq, id)));
		rows = pg_query(rq, ASSET_UPDATE_SQL, pg_text(id), body);
	}
	reply_json(rq, 200, pg_json(rows));
}

void asset_stats(struct request *rq)
{
	struct pg_rows *rows = pg_query(rq, ASSET_STATS_KEPT_SQL);
	if (pg_empty(rows))
		rows = pg_query(rq, ASSET_STATS_COUNT_SQL);
	struct index_state state = indexer_state(rq->worker->process);
	char time[TIME_TEXT_LEN + 1];
	time_format(state.updated_at_ms, time);
	const char *figures = pg_json(rows);
	reply_json(rq, 200,
	           arena_printf(rq->arena,
	                        "%.*s, \"index\": {\"documents\": %u, \"updated_at\": %s}}",
	                        (int)strlen(figures) - 1, figures, state.documents,
	                        state.updated_at_ms ? arena_printf(rq->arena, "\"%s\"", time)
	                                            : "null"));
}
