#include "digest/digest_json.h"

#include "api/recommendation.h"
#include "api/recommended_paper.h"
#include "json/json.h"

#include <string.h>

struct digest {
	struct arena *arena;
	const struct pg_rows *rows;
	yyjson_mut_doc *doc;
	yyjson_mut_val *interests;
	size_t papers; /* of all interests */
};

/* What an interest's papers are short of; NULL: nothing. */
static const char *message_of(size_t count, size_t far, const char *waits_for)
{
	if (count == 0)
		return waits_for;
	if (far == count)
		return "The papers are hardly related to this interest, but nothing closer is "
		       "left.";
	if (far > 0)
		return "Some of the papers are hardly related to this interest, but nothing closer "
		       "is left.";
	return NULL;
}

/* Add the interest of the row. Returns the row behind its papers. */
static int add_interest(struct digest *digest, int first)
{
	const struct pg_rows *rows = digest->rows;
	const char *id = pg_get(rows, first, "interest_id");
	yyjson_mut_doc *doc = digest->doc;
	yyjson_mut_val *papers = yyjson_mut_arr(doc);
	size_t far = 0;
	int row = first;
	for (; row < rows->count && strcmp(pg_get(rows, row, "interest_id"), id) == 0; row++) {
		if (!pg_get(rows, row, "recommendation_id"))
			continue;
		yyjson_mut_arr_append(papers,
		                      recommended_paper_json(digest->arena, doc, rows, row));
		far += pg_get_bool(rows, row, "is_far");
	}
	size_t count = yyjson_mut_arr_size(papers);
	yyjson_mut_val *out = yyjson_mut_arr_add_obj(doc, digest->interests);
	yyjson_mut_obj_add_str(doc, out, "id", id);
	json_add_text(doc, out, "name", pg_get(rows, first, "interest_name"));
	yyjson_mut_obj_add_int(doc, out, "daily_count", pg_get_int(rows, first, "daily_count"));
	json_add_text(doc, out, "pool_status", pg_get(rows, first, "pool_status"));
	yyjson_mut_obj_add_uint(doc, out, "count", count);
	json_add_text(doc, out, "message",
	              message_of(count, far, pg_get(rows, first, "waits_for")));
	yyjson_mut_obj_add_val(doc, out, "recommendations", papers);
	digest->papers += count;
	return row;
}

static yyjson_mut_val *source_types(yyjson_mut_doc *doc, const char *asked)
{
	yyjson_mut_val *list = yyjson_mut_arr(doc);
	for (const char *const *type = RECOMMENDATION_SOURCES; *type; type++)
		if (!asked || strcmp(*type, asked) == 0)
			yyjson_mut_arr_add_str(doc, list, *type);
	return list;
}

const char *digest_json(struct arena *arena, const struct pg_rows *rows, const char *period,
                        const char *source_type)
{
	yyjson_mut_doc *doc = json_doc_new(arena);
	yyjson_mut_val *root = yyjson_mut_obj(doc);
	struct digest digest = {.arena = arena,
	                        .rows = rows,
	                        .doc = doc,
	                        .interests = yyjson_mut_arr(doc)};
	int row = pg_get(rows, 0, "interest_id") ? 0 : rows->count;
	while (row < rows->count)
		row = add_interest(&digest, row);
	json_add_text(doc, root, "date", pg_get(rows, 0, "date"));
	yyjson_mut_obj_add_str(doc, root, "period", period);
	yyjson_mut_obj_add_val(doc, root, "source_types", source_types(doc, source_type));
	yyjson_mut_obj_add_uint(doc, root, "total", digest.papers);
	yyjson_mut_obj_add_val(doc, root, "interests", digest.interests);
	return json_write_mut(arena, root, NULL);
}
