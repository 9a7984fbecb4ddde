#include "quality/today.h"

#include "observe/metrics.h"
#include "pg/pg.h"
#include "today.sql.h"

const int64_t TODAY_EVERY_MS = (int64_t)60 * 1000;

METRIC_GAUGE(recommendations_gauge, "expops_today_recommendations",
             "Papers that were recommended today (UTC).");

void today_measure(struct request *rq)
{
	metric_set(&recommendations_gauge, NULL, NULL,
	           pg_value_float(pg_query(rq, TODAY_MEASURE_SQL), 0));
}
