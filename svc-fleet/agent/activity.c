#include "activity.sql.h"
#include "agent/agent.h"
#include "input/input.h"
#include "input/key_limit.h"
#include "pg/pg.h"
#include "reply/resource.h"

struct activity_input {
	const char *repo;
};

static const struct field ACTIVITY_FIELDS[] = {
	QUERY_REPO(struct activity_input, repo),
	FIELD_END,
};

void activity_get(struct request *rq)
{
	struct activity_input *in = request_input(rq, struct activity_input, ACTIVITY_FIELDS);
	require_repo(rq, in->repo);
	reply_one(rq, 200,
	          pg_query(rq, ACTIVITY_GET_SQL, pg_uuid(rq->caller.account), pg_text(in->repo)),
	          "no agent of yours works on this repository");
}
