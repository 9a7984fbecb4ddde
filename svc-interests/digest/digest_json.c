#include "digest/digest_json.h"

#include "api/recommendation.h"
#include "base/base.h"
#include "json/json.h"

#include <string.h>

/* The rows of an interest. */
struct group {
	int first, end; /* the row behind them */
	int papers;
	int far; /* papers that are hardly related to the interest */
};

static struct group group_at(const struct pg_rows *rows, int first)
{
	const char *id = pg_get(rows, first, "interest_id");
	struct group group = {.first = first, .end = first};
	while (group.end < rows->count && strcmp(pg_get(rows, group.end, "interest_id"), id) == 0) {
		group.papers += pg_get(rows, group.end, "recommendation_id") != NULL;
		group.far += pg_get_bool(rows, group.end, "is_far");
		group.end++;
	}
	return group;
}

/* What an interest's papers are short of; NULL: nothing. */
static const char *message_of(const struct group *group, const char *waits_for)
{
	if (group->papers == 0)
		return waits_for;
	if (group->far == group->papers)
		return "The papers are hardly related to this interest, but nothing closer is "
		       "left.";
	if (group->far > 0)
		return "Some of the papers are hardly related to this interest, but nothing closer "
		       "is left.";
	return NULL;
}

/* The object of an interest without its last member, the papers, and without its end. */
static void add_head(struct buf *out, const struct pg_rows *rows, const struct group *group)
{
	yyjson_mut_doc *doc = json_doc_new(out->arena);
	yyjson_mut_val *head = yyjson_mut_obj(doc);
	int row = group->first;
	json_add_text(doc, head, "id", pg_get(rows, row, "interest_id"));
	json_add_text(doc, head, "name", pg_get(rows, row, "interest_name"));
	yyjson_mut_obj_add_int(doc, head, "daily_count", pg_get_int(rows, row, "daily_count"));
	json_add_text(doc, head, "pool_status", pg_get(rows, row, "pool_status"));
	yyjson_mut_obj_add_int(doc, head, "count", group->papers);
	json_add_text(doc, head, "message", message_of(group, pg_get(rows, row, "waits_for")));
	size_t length;
	const char *json = json_write_mut(out->arena, head, &length);
	buf_add(out, json, length - strlen("}"));
}

static void add_interest(struct buf *out, const struct digest *digest, const struct group *group)
{
	add_head(out, digest->rows, group);
	buf_puts(out, ",\"recommendations\":[");
	for (int row = group->first; group->papers > 0 && row < group->end; row++) {
		if (row > group->first)
			buf_puts(out, ",");
		recommended_paper_add(out, digest->rows, row, digest->papers[row]);
	}
	buf_puts(out, "]}");
}

/* All of the digest but its interests, without an end. */
static void add_root(struct buf *out, const struct digest *digest, size_t papers)
{
	yyjson_mut_doc *doc = json_doc_new(out->arena);
	yyjson_mut_val *root = yyjson_mut_obj(doc);
	yyjson_mut_val *types;
	size_t length;
	json_add_text(doc, root, "date", pg_get(digest->rows, 0, "date"));
	yyjson_mut_obj_add_str(doc, root, "period", digest->period);
	types = yyjson_mut_obj_add_arr(doc, root, "source_types");
	for (const char *const *type = RECOMMENDATION_SOURCES; *type; type++)
		if (!digest->source_type || strcmp(*type, digest->source_type) == 0)
			yyjson_mut_arr_add_str(doc, types, *type);
	yyjson_mut_obj_add_uint(doc, root, "total", papers);
	const char *json = json_write_mut(out->arena, root, &length);
	buf_add(out, json, length - strlen("}"));
}

static size_t count_papers(const struct digest *digest)
{
	size_t papers = 0;
	for (int row = 0; row < digest->rows->count; row++)
		papers += digest->papers[row] != NULL;
	return papers;
}

struct buf digest_json(struct arena *arena, const struct digest *digest)
{
	const struct pg_rows *rows = digest->rows;
	struct buf out = {.arena = arena};
	buf_reserve(&out, ((size_t)rows->count + 1) * RECOMMENDED_PAPER_BYTES);
	add_root(&out, digest, count_papers(digest));
	buf_puts(&out, ",\"interests\":[");
	int row = pg_get(rows, 0, "interest_id") ? 0 : rows->count;
	for (bool is_first = true; row < rows->count; is_first = false) {
		struct group group = group_at(rows, row);
		if (!is_first)
			buf_puts(&out, ",");
		add_interest(&out, digest, &group);
		row = group.end;
	}
	buf_puts(&out, "]}");
	return out;
}
