#include "quality/precision.h"

#include "input/input.h"
#include "input/period.h"
#include "pg/pg.h"
#include "precision.sql.h"
#include "reply/reply.h"
#include "retention/retention.h"

static const struct period_limits PERIOD_LIMITS = {.days_default = 90, .days_max = 400};

struct precision_input {
	const char *interest;
	const char *since, *until;
	int64_t k;
};

static const struct field FIELDS[] = {
	QUERY_INTEREST(struct precision_input, interest),
	QUERY_DATE(struct precision_input, since, "since"),
	QUERY_DATE(struct precision_input, until, "until"),
	QUERY_LIMIT_OF(struct precision_input, k, "k", 5, 50),
	FIELD_END,
};

void precision_get(struct request *rq)
{
	struct precision_input *in = request_input(rq, struct precision_input, FIELDS);
	struct period period = period_read(rq, in->since, in->until, &PERIOD_LIMITS);
	struct pg_rows *rows =
		pg_query(rq, PRECISION_GET_SQL, pg_uuid(rq->caller.account),
	                 pg_text(retention_since(rq, period.since)), pg_text(period.until),
	                 pg_text(in->interest), pg_int(in->k));
	reply_json(rq, 200, pg_json(rows));
}
