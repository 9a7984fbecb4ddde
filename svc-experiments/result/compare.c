#include "analysis/side_by_side.h"
#include "compare.sql.h"
#include "crypto/uuid.h"
#include "experiment/experiment.h"
#include "experiment/experiment_csv.h"
#include "experiment/key_experiments.h"
#include "input/input.h"
#include "pg/pg.h"
#include "reply/media_type.h"
#include "reply/resource.h"
#include "result/result.h"

#include <string.h>

#define COMPARED_MIN 2
#define COMPARED_MAX 10

struct compare_input {
	const char *ids; /* JSON array of texts, each of which may name several with commas */
};

static const struct field FIELDS[] = {
	QUERY_TEXT(struct compare_input, ids, "ids", REQUIRED | REPEATED, 1, 400),
	FIELD_END,
};

/* Add the ids of a text to the array; false: one is no id, or is there already. */
static bool add_ids(struct request *rq, yyjson_mut_doc *doc, yyjson_mut_val *ids, const char *text)
{
	char *rest = arena_strdup(rq->arena, text), *one;
	while ((one = strsep(&rest, ","))) {
		struct uuid id;
		if (!uuid_parse(one, strlen(one), &id))
			return false;
		char name[UUID_TEXT_LEN + 1];
		size_t index, count;
		yyjson_mut_val *other;
		uuid_format(&id, name);
		yyjson_mut_arr_foreach (ids, index, count, other)
			if (strcmp(yyjson_mut_get_str(other), name) == 0)
				return false;
		yyjson_mut_arr_add_strcpy(doc, ids, name);
	}
	return true;
}

/* The ids as one JSON array, in their order. */
static yyjson_val *read_ids(struct request *rq, const struct compare_input *in)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *ids = yyjson_mut_arr(doc);
	size_t index, count;
	yyjson_val *text;
	bool is_valid = true;
	yyjson_arr_foreach (json_parse_own(rq->arena, in->ids), index, count, text)
		is_valid &= add_ids(rq, doc, ids, yyjson_get_str(text));
	count = yyjson_mut_arr_size(ids);
	if (!is_valid || count < COMPARED_MIN || count > COMPARED_MAX)
		raise_field(rq, "ids", "must be %d to %d ids of experiments, each once",
		            COMPARED_MIN, COMPARED_MAX);
	return json_parse_own(rq->arena, json_write_mut(rq->arena, ids, NULL));
}

static void require_own(struct request *rq, yyjson_val *ids)
{
	size_t index, count;
	yyjson_val *id;
	yyjson_arr_foreach (ids, index, count, id)
		key_require_experiment(rq, yyjson_get_str(id));
}

void experiments_compare(struct request *rq)
{
	struct compare_input *in = request_input(rq, struct compare_input, FIELDS);
	yyjson_val *ids = read_ids(rq, in);
	const char *json = json_write(rq->arena, ids, NULL);
	size_t chosen = reply_choose(rq, JSON_OR_CSV);
	require_own(rq, ids);
	struct pg_rows *rows =
		pg_query(rq, COMPARE_GET_SQL, pg_uuid(rq->caller.account), pg_text(json));
	yyjson_val *experiments = json_parse_own(rq->arena, pg_json(rows));
	if (yyjson_arr_size(experiments) < yyjson_arr_size(ids))
		raise_error(rq, ERR_NOT_FOUND, "%s", EXPERIMENT_MISSING);
	if (chosen == 0)
		reply_json(rq, 200, side_by_side_json(rq->arena, experiments));
	else
		experiment_csv_reply_ids(rq, json);
}
