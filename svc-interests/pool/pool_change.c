#include "pool/pool_change.h"

#include "json/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A relevance that has changed by less is not stored. */
#define CHANGE_MIN 0.01

/* A row of the stored pool. */
struct entry {
	const char *arxiv_id;
	double relevance;
	bool is_found; /* by the search */
};

struct entries {
	struct entry *all; /* sorted by id */
	size_t count;
};

static int by_id(const void *a, const void *b)
{
	const struct entry *left = a, *right = b;
	return strcmp(left->arxiv_id, right->arxiv_id);
}

static struct entries entries_of(struct arena *arena, yyjson_val *relevances)
{
	struct entries entries = {arena_array(arena, yyjson_obj_size(relevances),
	                                      sizeof(*entries.all)),
	                          0};
	size_t index, max;
	yyjson_val *name, *value;
	json_obj_foreach (relevances, index, max, name, value)
		entries.all[entries.count++] =
			(struct entry){yyjson_get_str(name), yyjson_get_num(value), false};
	if (entries.count > 0)
		qsort(entries.all, entries.count, sizeof(*entries.all), by_id);
	return entries;
}

/* Note that a row was found. Returns whether it is stored as it is. */
static bool is_kept(struct entries entries, yyjson_val *row)
{
	struct entry key = {.arxiv_id = json_get_text(row, "arxiv_id")};
	struct entry *entry =
		key.arxiv_id && entries.count > 0
			? bsearch(&key, entries.all, entries.count, sizeof(key), by_id)
			: NULL;
	if (!entry)
		return false;
	entry->is_found = true;
	return fabs(entry->relevance - json_get_float(row, "relevance", 0)) <= CHANGE_MIN;
}

static yyjson_mut_val *row_of(yyjson_mut_doc *doc, yyjson_val *row)
{
	static const char *const MEMBERS[] = {"arxiv_id", "relevance", "matched"};
	yyjson_mut_val *copy = yyjson_mut_obj(doc);
	for (size_t i = 0; i < ARRAY_LEN(MEMBERS); i++)
		json_add_member(doc, copy, MEMBERS[i], row, MEMBERS[i]);
	return copy;
}

static void add_rows(yyjson_mut_doc *doc, yyjson_mut_val *change, struct entries entries,
                     const struct pool_search *search)
{
	yyjson_mut_val *rows = yyjson_mut_obj_add_arr(doc, change, "rows");
	int64_t kept = 0;
	size_t index, max;
	yyjson_val *row;
	yyjson_arr_foreach (search->results, index, max, row) {
		if (is_kept(entries, row))
			kept++;
		else
			yyjson_mut_arr_append(rows, row_of(doc, row));
	}
	yyjson_mut_obj_add_int(doc, change, "kept", kept);
}

static void add_gone(yyjson_mut_doc *doc, yyjson_mut_val *change, struct entries entries)
{
	yyjson_mut_val *gone = yyjson_mut_obj_add_arr(doc, change, "gone");
	for (size_t i = 0; i < entries.count; i++)
		if (!entries.all[i].is_found)
			yyjson_mut_arr_add_str(doc, gone, entries.all[i].arxiv_id);
}

const char *pool_change_write(struct arena *arena, const struct stored_pool *stored,
                              const struct pool_search *search)
{
	/* Without a cursor of before and one of now nothing says what the stored rows are of. */
	bool is_known = stored->cursor && search->cursor;
	struct entries entries = entries_of(arena, is_known ? stored->relevances : NULL);
	yyjson_mut_doc *doc = json_doc_new(arena);
	yyjson_mut_val *change = yyjson_mut_obj(doc);
	add_rows(doc, change, entries, search);
	add_gone(doc, change, entries);
	json_add_text(doc, change, "last_cursor", is_known ? stored->cursor : NULL);
	json_add_text(doc, change, "question", search->question);
	json_add_text(doc, change, "cursor", search->cursor);
	json_add_text(doc, change, "model", search->embedder);
	yyjson_mut_obj_add_int(doc, change, "documents", search->documents);
	yyjson_mut_obj_add_bool(doc, change, "is_whole", search->is_whole);
	return json_write_mut(arena, change, NULL);
}
