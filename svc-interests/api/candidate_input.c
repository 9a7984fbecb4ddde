#include "api/candidate_input.h"

#include "base/utf8.h"
#include "input/ignored_fields.h"
#include "json/json.h"
#include "pool/pool.h"

#include <string.h>

#define ID_MAX       64
#define TITLE_MAX    1000
#define ABSTRACT_MAX 50000

static bool has_length(yyjson_val *text, size_t min, size_t max)
{
	size_t count = utf8_count(yyjson_get_str(text), yyjson_get_len(text));
	return count >= min && count <= max;
}

static void add_fault(struct request *rq, size_t index, const char *member, const char *message)
{
	const char *field = arena_printf(rq->arena, "candidates[%zu]%s", index, member);
	problem_add_field(rq->arena, &rq->problem, field, "%s", message);
}

static void check_text(struct request *rq, size_t index, yyjson_val *item)
{
	static const char *const NAMES[] = {"title", "abstract", NULL};
	yyjson_val *title = json_get(item, "title"), *abstract = json_get(item, "abstract");
	if (!yyjson_is_str(title) || !has_length(title, 1, TITLE_MAX))
		add_fault(rq, index, ".title", "must be a string of 1 to 1000 characters");
	if (abstract && !yyjson_is_null(abstract) &&
	    (!yyjson_is_str(abstract) || !has_length(abstract, 0, ABSTRACT_MAX)))
		add_fault(rq, index, ".abstract",
		          "must be a string of at most 50000 characters, or null");
	ignored_fields_of_item(rq, "candidates", index, item, NAMES);
}

void candidate_input_check(struct request *rq, yyjson_val *array)
{
	size_t index, max;
	yyjson_val *item;
	yyjson_arr_foreach (array, index, max, item) {
		if (yyjson_is_obj(item))
			check_text(rq, index, item);
		else if (!yyjson_is_str(item))
			add_fault(rq, index, "", "must be an arXiv id or an object with a title");
		else if (!has_length(item, 1, ID_MAX))
			add_fault(rq, index, "", "must have 1 to 64 characters");
	}
}

/* Append the papers of svc-search's answer, each with the model of its vector. */
static void add_found(struct request *rq, yyjson_mut_doc *doc, yyjson_mut_val *rows,
                      const char *answer, const char **ret_version)
{
	yyjson_val *root;
	if (json_parse(rq->arena, answer, strlen(answer), &root, NULL))
		raise_error(rq, ERR_UPSTREAM, "svc-search sent an invalid answer");
	*ret_version = json_get_text(root, "model");
	size_t index, max;
	yyjson_val *row;
	yyjson_arr_foreach (json_get(root, "results"), index, max, row) {
		yyjson_mut_val *copy = yyjson_val_mut_copy(doc, row);
		yyjson_mut_obj_add_str(doc, copy, "model", *ret_version);
		yyjson_mut_arr_append(rows, copy);
	}
}

static void add_texts(yyjson_mut_doc *doc, yyjson_mut_val *rows, yyjson_val *array)
{
	size_t index, max;
	yyjson_val *item;
	yyjson_arr_foreach (array, index, max, item) {
		if (!yyjson_is_obj(item))
			continue;
		yyjson_mut_val *row = yyjson_mut_arr_add_obj(doc, rows);
		const char *abstract = json_get_text(item, "abstract");
		yyjson_mut_obj_add_uint(doc, row, "index", index);
		yyjson_mut_obj_add_str(doc, row, "title", json_get_text(item, "title"));
		if (abstract)
			yyjson_mut_obj_add_str(doc, row, "abstract", abstract);
	}
}

const char *candidate_input_load(struct request *rq, yyjson_val *array, const char **ret_version)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *rows = yyjson_mut_arr(doc);
	yyjson_mut_val *ids = yyjson_mut_arr(doc);
	size_t index, max;
	yyjson_val *item;
	yyjson_arr_foreach (array, index, max, item)
		if (yyjson_is_str(item))
			yyjson_mut_arr_add_str(doc, ids, yyjson_get_str(item));
	if (yyjson_mut_arr_size(ids))
		add_found(rq, doc, rows, pool_lookup(rq, json_write_mut(rq->arena, ids, NULL)),
		          ret_version);
	add_texts(doc, rows, array);
	return json_write_mut(rq->arena, rows, NULL);
}
