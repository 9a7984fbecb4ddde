#include "api/experiment.h"

#include "experiment.sql.h"
#include "json/json.h"
#include "pg/pg.h"

#include <string.h>

void experiment_store(struct request *rq, const struct event *event)
{
	pg_query(rq, EXPERIMENT_STORE_SQL, pg_text(event->account), pg_time(event->at_ms),
	         pg_bool(strcmp(event->type, "experiment.deleted") == 0),
	         pg_text(json_write(rq->arena, event->data, NULL)));
}
