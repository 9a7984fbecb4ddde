#include "api/run_outcome.h"

#include "json/json.h"
#include "pg/pg.h"
#include "run_outcome.sql.h"

void run_outcome_store(struct request *rq, const struct event *event)
{
	pg_query(rq, RUN_OUTCOME_STORE_SQL, pg_text(event->account),
	         pg_text(json_write(rq->arena, event->data, NULL)), pg_time(event->at_ms));
}
