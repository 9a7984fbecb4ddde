#include "outcome/outcome_cost.h"

#include "input/input.h"
#include "input/period.h"
#include "outcome_cost.sql.h"
#include "pg/pg.h"
#include "reply/reply.h"

static const struct period_limits PERIOD_LIMITS = {.days_default = 90, .days_max = 400};

static const char *const GROUPS[] = {"interest", "repo", "agent", "model", "month", NULL};

struct cost_input {
	const char *since, *until;
	const char *group_by;
};

static const struct field FIELDS[] = {
	QUERY_DATE(struct cost_input, since, "since"),
	QUERY_DATE(struct cost_input, until, "until"),
	QUERY_ENUM(struct cost_input, group_by, "group_by", GROUPS),
	FIELD_END,
};

void outcome_costs_get(struct request *rq)
{
	struct cost_input *in = request_input(rq, struct cost_input, FIELDS);
	struct period period = period_read(rq, in->since, in->until, &PERIOD_LIMITS);
	struct pg_rows *rows =
		pg_query(rq, OUTCOME_COSTS_GET_SQL, pg_uuid(rq->caller.account),
	                 pg_text(period.since), pg_text(period.until),
	                 pg_text(in->group_by ? in->group_by : "repo"), pg_text(rq->caller.repo));
	reply_json(rq, 200, pg_json(rows));
}
