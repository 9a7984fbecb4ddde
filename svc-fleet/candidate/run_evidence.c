#include "candidate/run_evidence.h"

#include "input/input.h"
#include "input/key_limit.h"
#include "pg/pg.h"
#include "reply/reply.h"
#include "run_evidence.sql.h"

#define NAMED_MAX 200

struct evidence_input {
	const char *repo;
};

static const struct field RUN[] = {
	JSON_TEXT("repo", REQUIRED, 1, REPO_MAX),
	JSON_TEXT("run_id", REQUIRED, 1, 128),
	JSON_TEXT("for", REQUIRED, 1, 64),
	FIELD_END,
};

static const struct field FIELDS[] = {
	JSON_STRINGS("arxiv_ids", REQUIRED, 0, NAMED_MAX, 64),
	JSON_STRINGS("urls", REQUIRED, 0, NAMED_MAX, 0),
	JSON_ARRAY_OF("runs", REQUIRED, 0, NAMED_MAX, RUN),
	JSON_BOOL("candidates", OPTIONAL),
	BODY_TEXT(struct evidence_input, repo, "repo", NULLABLE, 1, REPO_MAX),
	FIELD_END,
};

void run_evidence_get(struct request *rq)
{
	struct evidence_input *in = request_input(rq, struct evidence_input, FIELDS);
	struct pg_rows *rows = pg_query(rq, RUN_EVIDENCE_GET_SQL, pg_uuid(rq->caller.account),
	                                pg_text(request_body_json(rq)), pg_text(in->repo));
	reply_json(rq, 200, pg_json(rows));
}
