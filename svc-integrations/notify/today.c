#include "notify/today.h"

#include "observe/metrics.h"
#include "pg/pg.h"
#include "today.sql.h"

const int64_t TODAY_EVERY_MS = (int64_t)60 * 1000;

METRIC_GAUGE(digests_gauge, "expops_today_digests",
             "Digests of today (UTC) that were delivered, by mail, chat or webhook.");

void today_measure(struct request *rq)
{
	metric_set(&digests_gauge, NULL, NULL, pg_value_float(pg_query(rq, TODAY_MEASURE_SQL), 0));
}
