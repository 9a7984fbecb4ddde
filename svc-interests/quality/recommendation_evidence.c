#include "quality/recommendation_evidence.h"

#include "input/input.h"
#include "pg/pg.h"
#include "recommendation_evidence.sql.h"
#include "reply/reply.h"

#define NAMED_MAX 200

struct evidence_input {
	const char *papers; /* JSON array */
	const char *interest;
	const char *named; /* JSON array */
};

static const struct field FIELDS[] = {
	BODY_STRINGS(struct evidence_input, papers, "arxiv_ids", REQUIRED, 0, NAMED_MAX, 64),
	BODY_UUID(struct evidence_input, interest, "interest_id", NULLABLE),
	BODY_STRINGS(struct evidence_input, named, "recommendation_ids", OPTIONAL, 0, NAMED_MAX,
                     36),
	FIELD_END,
};

void recommendation_evidence_get(struct request *rq)
{
	struct evidence_input *in = request_input(rq, struct evidence_input, FIELDS);
	struct pg_rows *rows =
		pg_query(rq, RECOMMENDATION_EVIDENCE_GET_SQL, pg_uuid(rq->caller.account),
	                 pg_text(in->papers), pg_text(in->interest), pg_text(in->named));
	reply_json(rq, 200, pg_json(rows));
}
