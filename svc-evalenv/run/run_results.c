#include "run/run_results.h"

#include "input/input.h"
#include "pg/pg.h"
#include "reply/resource.h"
#include "run_results.sql.h"

struct results_input {
	const char *id, *repo;
};

static const struct field FIELDS[] = {
	BODY_UUID(struct results_input, id, "run_id", REQUIRED),
	BODY_TEXT(struct results_input, repo, "repo", OPTIONAL, 1, 200),
	FIELD_END,
};

void eval_results_get(struct request *rq)
{
	struct results_input *in = request_input(rq, struct results_input, FIELDS);
	struct pg_rows *rows = pg_query(rq, RUN_RESULTS_GET_SQL, pg_text(in->id),
	                                pg_uuid(rq->caller.account), pg_text(in->repo));
	reply_one(rq, 200, rows, "no such run");
}
