#include "report/today.h"

#include "observe/metrics.h"
#include "pg/pg.h"
#include "today.sql.h"

const int64_t TODAY_EVERY_MS = (int64_t)60 * 1000;

METRIC_GAUGE(runs_gauge, "expops_today_runs", "Runs of agents that started today (UTC).");
METRIC_GAUGE(merged_gauge, "expops_today_merged_pull_requests",
             "Pull requests of runs that were merged today (UTC).");
METRIC_GAUGE(cost_gauge, "expops_today_cost_usd", "What runs that started today (UTC) cost.");

void today_measure(struct request *rq)
{
	const struct pg_rows *rows = pg_query(rq, TODAY_MEASURE_SQL);
	metric_set(&runs_gauge, NULL, NULL, pg_get_float(rows, 0, "runs"));
	metric_set(&merged_gauge, NULL, NULL, pg_get_float(rows, 0, "merged"));
	metric_set(&cost_gauge, NULL, NULL, pg_get_float(rows, 0, "cost_usd"));
}
