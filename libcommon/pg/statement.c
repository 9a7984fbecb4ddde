#include "pg/statement.h"

#include "base/base.h"
#include "base/timefmt.h"
#include "observe/metrics.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

bool pg_statement_is_read(const char *sql)
{
	return strncmp(sql, PG_READ_MARK, strlen(PG_READ_MARK)) == 0;
}

struct pg_statement *pg_statement_new(enum pg_statement_kind kind, const char *sql,
                                      const struct pg_param *params, size_t count)
{
	bool has_fiber = kind != PG_DETACHED && kind != PG_PROBE && kind != PG_PART;
	struct pg_statement *st = calloc(1, sizeof(*st));
	require(st);
	*st = (struct pg_statement){
		.kind = kind,
		.fiber = has_fiber ? fiber_self() : NULL,
		.sql = sql,
		.params = params,
		.count = count,
		.sql_length = strlen(sql),
		.is_read = pg_statement_is_read(sql),
		.started_us = time_monotonic_us(),
	};
	require(!has_fiber || st->fiber);
	HASH_VALUE(sql, st->sql_length, st->sql_hash);
	return st;
}

void pg_statement_free(struct pg_statement *st)
{
	while (st) {
		struct pg_statement *next = st->next_part;
		PQclear(st->result);
		free(st);
		st = next;
	}
}

const char *pg_result_sqlstate(const PGresult *result)
{
	const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
	return sqlstate ? sqlstate : "";
}

bool pg_result_is_read_only(const PGresult *result)
{
	return strcmp(pg_result_sqlstate(result), "25006") == 0;
}

const struct fault *pg_result_fault(const PGresult *result)
{
	switch (PQresultStatus(result)) {
	case PGRES_COMMAND_OK:
	case PGRES_TUPLES_OK:
	case PGRES_EMPTY_QUERY:
		return NULL;
	default:
		return pg_fault_of_sqlstate(pg_result_sqlstate(result));
	}
}

METRIC_COUNTER(statements_total, "expops_pg_statements_total",
               "Statements answered, by outcome: ok or an error slug.", "outcome");
METRIC_HISTOGRAM(
	statement_seconds, "expops_pg_statement_seconds",
	"Time from the call to the outcome of a statement, including the wait for a connection.");

METRIC_GAUGE(connections, "expops_pg_connections", "Open connections to Postgres.");
METRIC_GAUGE(checked_out, "expops_pg_connections_checked_out",
             "Connections that belong to a transaction.");
METRIC_GAUGE(waiting, "expops_pg_statements_waiting", "Statements that wait for a connection.");

static struct metric *const GAUGES[] = {
	[PG_GAUGE_CONNECTIONS] = &connections,
	[PG_GAUGE_CHECKED_OUT] = &checked_out,
	[PG_GAUGE_WAITING] = &waiting,
};

void pg_metrics_gauge(enum pg_gauge gauge, int change)
{
	metric_add(GAUGES[gauge], NULL, NULL, change);
}

void pg_metrics_statement(enum err_code code, uint64_t started_us)
{
	uint64_t took_us = time_monotonic_us() - started_us;
	metric_add(&statements_total, code == ERR_NONE ? "ok" : err_info(code)->slug, NULL, 1);
	metric_observe_seconds(&statement_seconds, NULL, NULL, (double)took_us / 1e6);
}
