#include "operator/archiving.h"

#include "archiving.sql.h"
#include "observe/metrics.h"
#include "pg/pg.h"

const int64_t ARCHIVING_EVERY_MS = (int64_t)60 * 1000;

METRIC_GAUGE(failing_gauge, "expops_pg_archive_failing_seconds",
             "How long ago the gateway's Postgres archived its log, while the newest attempt has "
             "failed. 0: it has not failed, or it archives none.");

void archiving_measure(struct request *rq)
{
	const struct pg_rows *rows = pg_query(rq, ARCHIVING_MEASURE_SQL);
	metric_set(&failing_gauge, NULL, NULL, pg_get_float(rows, 0, "failing"));
}
