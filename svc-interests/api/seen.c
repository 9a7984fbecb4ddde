#include "api/seen.h"

#include "input/input.h"
#include "pg/pg.h"
#include "reply/resource.h"
#include "seen.sql.h"

#define PAPERS_MAX 1000

struct seen_input {
	const char *interest;
	const char *ids; /* JSON array */
};

static const struct field FIELDS[] = {
	BODY_UUID(struct seen_input, interest, "interest_id", REQUIRED),
	BODY_STRINGS(struct seen_input, ids, "arxiv_ids", REQUIRED, 0, PAPERS_MAX, 64),
	FIELD_END,
};

void interest_seen_get(struct request *rq)
{
	struct seen_input *in = request_input(rq, struct seen_input, FIELDS);
	struct pg_rows *rows = pg_query(rq, INTEREST_SEEN_SQL, pg_uuid(rq->caller.account),
	                                pg_text(in->interest), pg_text(in->ids));
	reply_one(rq, 200, rows, "no such interest");
}
