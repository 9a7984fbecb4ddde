#include "experiment/evaluation.h"

#include "evaluation.sql.h"
#include "json/json.h"
#include "pg/pg.h"

void evaluation_store(struct request *rq, const struct event *event)
{
	pg_query(rq, EVALUATION_STORE_SQL, pg_text(event->account),
	         pg_text(json_write(rq->arena, event->data, NULL)), pg_text(rq->id));
}
