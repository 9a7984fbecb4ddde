#include "agent/run_record.h"

#include "base/json.h"
#include "pg/pg.h"
#include "run_record.sql.h"
#include "service/key_limit.h"
#include "service/resource.h"

#include <string.h>

static yyjson_val *parse(struct request *rq, const char *text)
{
	yyjson_val *value = NULL;
	require(json_parse(rq->arena, text, strlen(text), &value, NULL) == ERR_NONE);
	return value;
}

struct run_record run_record_get(struct request *rq, const struct run_reference *reference,
                                 const char *kind)
{
	const char *repo = reference->repo ? reference->repo : rq->caller.repo;
	require_repo(rq, repo);
	struct pg_rows *rows =
		pg_query(rq, RUN_RECORD_GET_SQL, pg_uuid(rq->caller.account), pg_text(repo),
	                 pg_text(reference->run_id), pg_text(reference->url), pg_text(kind));
	require_row(rq, rows, "no such run");
	return (struct run_record){
		.record = parse(rq, pg_json(rows)),
		.stage = pg_value(rows, 0, 1),
		.gates = parse(rq, pg_value(rows, 0, 2)),
		.text = pg_value(rows, 0, 3),
		.text_made_at = pg_value(rows, 0, 4),
		.row = pg_value(rows, 0, 5),
		.version = pg_value(rows, 0, 6),
	};
}

const char *run_text_store(struct request *rq, const struct run_record *run, const char *kind,
                           const char *json)
{
	struct pg_rows *rows =
		pg_query(rq, RUN_TEXT_STORE_SQL, pg_text(run->row), pg_text(kind),
	                 pg_uuid(rq->caller.account), pg_text(run->version), pg_text(json));
	return pg_value(rows, 0, 0);
}
