#include "quality/quality.h"

#include "input/input.h"
#include "input/period.h"
#include "pg/pg.h"
#include "quality.sql.h"
#include "reply/resource.h"
#include "retention/retention.h"

static const struct period_limits PERIOD_LIMITS = {.days_default = 90, .days_max = 400};

struct quality_input {
	const char *interest;
	const char *since, *until;
};

static const struct field FIELDS[] = {
	PATH_INTEREST(struct quality_input, interest),
	QUERY_DATE(struct quality_input, since, "since"),
	QUERY_DATE(struct quality_input, until, "until"),
	FIELD_END,
};

void quality_get(struct request *rq)
{
	struct quality_input *in = request_input(rq, struct quality_input, FIELDS);
	struct period period = period_read(rq, in->since, in->until, &PERIOD_LIMITS);
	struct pg_rows *rows =
		pg_query(rq, QUALITY_GET_SQL, pg_uuid(rq->caller.account), pg_text(in->interest),
	                 pg_text(retention_since(rq, period.since)), pg_text(period.until));
	reply_one(rq, 200, rows, "no such interest");
}
