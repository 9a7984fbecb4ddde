#include "evidence/eval_evidence.h"

#include "eval_evidence.sql.h"
#include "input/input.h"
#include "input/key_limit.h"
#include "pg/pg.h"
#include "reply/reply.h"

#define RUNS_MAX 200

struct evidence_input {
	const char *runs; /* JSON array */
	const char *repo;
};

static const struct field FIELDS[] = {
	BODY_STRINGS(struct evidence_input, runs, "run_ids", REQUIRED, 0, RUNS_MAX, 36),
	BODY_TEXT(struct evidence_input, repo, "repo", NULLABLE, 1, REPO_MAX),
	FIELD_END,
};

void eval_evidence_get(struct request *rq)
{
	struct evidence_input *in = request_input(rq, struct evidence_input, FIELDS);
	struct pg_rows *rows = pg_query(rq, EVAL_EVIDENCE_GET_SQL, pg_uuid(rq->caller.account),
	                                pg_text(in->runs), pg_text(in->repo));
	reply_json(rq, 200, pg_json(rows));
}
