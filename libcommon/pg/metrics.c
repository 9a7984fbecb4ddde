#include "base/metrics.h"

#include "base/base.h"
#include "base/timefmt.h"
#include "pg/internal.h"

static struct metric statements_total =
	METRIC_COUNTER("expops_pg_statements_total",
                       "Statements answered, by outcome: ok or an error slug.", "outcome");
static struct metric statement_seconds =
	METRIC_HISTOGRAM("expops_pg_statement_seconds",
                         "Time from asking for a statement to its outcome, waiting included.");

static struct metric gauges[] = {
	[PG_GAUGE_CONNECTIONS] =
		METRIC_GAUGE("expops_pg_connections", "Open connections to Postgres."),
	[PG_GAUGE_CHECKED_OUT] = METRIC_GAUGE("expops_pg_connections_checked_out",
                                              "Connections that belong to a transaction."),
	[PG_GAUGE_WAITING] = METRIC_GAUGE("expops_pg_statements_waiting",
                                          "Statements that wait for a connection."),
};

void pg_metrics_register(void)
{
	metric_register(&statements_total);
	metric_register(&statement_seconds);
	for (size_t i = 0; i < ARRAY_LEN(gauges); i++)
		metric_register(&gauges[i]);
}

void pg_metrics_gauge(enum pg_gauge gauge, int change)
{
	metric_add(&gauges[gauge], NULL, NULL, change);
}

void pg_metrics_statement(enum err_code code, uint64_t started_us)
{
	uint64_t took_us = time_monotonic_us() - started_us;
	metric_add(&statements_total, code == ERR_NONE ? "ok" : err_info(code)->slug, NULL, 1);
	metric_observe_seconds(&statement_seconds, NULL, NULL, (double)took_us / 1e6);
}
