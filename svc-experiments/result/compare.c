#include "analysis/side_by_side.h"
#include "compare.sql.h"
#include "experiment/experiment.h"
#include "experiment/experiment_csv.h"
#include "experiment/key_experiments.h"
#include "input/input.h"
#include "input/uuid_list.h"
#include "pg/pg.h"
#include "reply/media_type.h"
#include "reply/resource.h"
#include "result/result.h"

#define COMPARED_MIN 2
#define COMPARED_MAX 10

struct compare_input {
	const char *ids; /* JSON array of texts, each of which may name several with commas */
};

static const struct field FIELDS[] = {
	QUERY_TEXT(struct compare_input, ids, "ids", REQUIRED | REPEATED, 1, 400),
	FIELD_END,
};

static bool has_twice(yyjson_mut_val *ids)
{
	size_t i, k, count, others;
	yyjson_mut_val *id, *other;
	yyjson_mut_arr_foreach (ids, i, count, id)
		yyjson_mut_arr_foreach (ids, k, others, other)
			if (k < i && yyjson_mut_equals(id, other))
				return true;
	return false;
}

/* The ids as one JSON array, in their order. */
static yyjson_val *read_ids(struct request *rq, const struct compare_input *in)
{
	yyjson_mut_val *ids = uuid_list_read(rq, json_doc_new(rq->arena), in->ids);
	size_t count = yyjson_mut_arr_size(ids);
	if (count < COMPARED_MIN || count > COMPARED_MAX || has_twice(ids))
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
