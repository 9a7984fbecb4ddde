#include "quality/funnel.h"

#include "base/timefmt.h"
#include "funnel.sql.h"
#include "input/input.h"
#include "pg/pg.h"
#include "reply/reply.h"
#include "retention/retention.h"

#define DAYS_DEFAULT 30
#define DAYS_MAX     365
#define DAY_MS       ((int64_t)24 * 3600 * 1000)

struct funnel_input {
	int64_t days;
};

static const struct field FIELDS[] = {
	{IN_QUERY, FIELD_INT, "days", FIELD_AT(struct funnel_input, days, int64_t), 0, 1, DAYS_MAX,
         DAYS_DEFAULT},
	FIELD_END,
};

void funnel_get(struct request *rq)
{
	struct funnel_input *in = request_input(rq, struct funnel_input, FIELDS);
	char first[DATE_TEXT_LEN + 1];
	date_format(time_now_ms() - (in->days - 1) * DAY_MS, first);
	struct pg_rows *rows = pg_query(rq, FUNNEL_GET_SQL, pg_uuid(rq->caller.account),
	                                pg_text(rq->caller.interest), pg_int(in->days),
	                                pg_text(retention_since(rq, first)));
	reply_json(rq, 200, pg_json(rows));
}
