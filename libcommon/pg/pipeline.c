#include "base/base.h"
#include "base/timefmt.h"
#include "pg/internal.h"

#include <string.h>

#define SAMPLE_MAX_US 5000 /* one very long statement says little about the usual */

_Static_assert(sizeof(struct pg_param) == sizeof(const char *),
               "params are passed as an array of texts");

/* Since libpq 17 a Sync need not be a system call of its own. */
static int send_sync(PGconn *pg)
{
#ifdef LIBPQ_HAS_SEND_PIPELINE_SYNC
	return PQsendPipelineSync(pg);
#else
	return PQpipelineSync(pg);
#endif
}

/* Parse where needed, then Bind and Execute. */
static bool send_query(struct pg_line *line, PGconn *pg, struct pg_statement *st)
{
	const char *const *values = st->count == 0 ? NULL : (const char *const *)(st->params + 1);
	int count = (int)st->count;
	struct pg_prepared_entry *entry = pg_prepared_find(&line->prepared, st->sql, st->hash);
	if (entry == NULL) {
		entry = pg_prepared_add(&line->prepared, st->sql, st->hash);
		if (entry == NULL)
			return PQsendQueryParams(pg, st->sql, count, NULL, values, NULL, NULL, 0);
		st->is_preparing = true;
		if (!PQsendPrepare(pg, entry->name, st->sql, 0, NULL))
			return false;
	}
	st->prepared = entry;
	return PQsendQueryPrepared(pg, entry->name, count, values, NULL, NULL, 0);
}

void pg_line_send(struct pg_line *line, struct pg_statement *st)
{
	PGconn *pg = pg_conn_pg(line->conn);
	require(pg != NULL);
	st->state = PG_STATEMENT_SENT;
	st->prepared = NULL;
	st->sent_ms = line->used_ms = uv_now(line->pool->loop);
	st->time_limit_ms = line->transaction != NULL ? line->transaction->time_limit_ms
	                                              : line->pool->settings.statement_timeout_ms;
	pg_link_after(line->sent.prev, &st->link);
	if (line->in_flight++ == 0) {
		line->progress_ms = st->sent_ms;
		line->busy_us = time_monotonic_us();
	}
	if (!send_query(line, pg, st)) {
		pg_conn_down(line->conn, NULL);
		return;
	}
	st->is_synced = true;
	if (!send_sync(pg)) {
		pg_conn_down(line->conn, NULL);
		return;
	}
	line->is_dirty = true;
	pg_pool_flush_soon(line->pool);
}

void pg_line_send_detached(struct pg_line *line, const char *sql)
{
	pg_line_send(line, pg_statement_new(PG_DETACHED, sql, NULL, 0));
}

/* Whether the server says in this answer that it ends the connection. Then nothing that stands
 * behind was run, nor was this, unless it had been answered before the server was ready for the
 * next: then it may have been committed. In a crash of the server nothing is certain. */
static bool is_end(struct pg_line *line, const PGresult *result)
{
	const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
	bool is_crash = strcmp(pg_result_sqlstate(result), "57P02") == 0;
	if (severity == NULL || strcmp(severity, "FATAL") != 0 || is_crash)
		return false;
	line->is_doomed = true;
	return true;
}

/* Keep an answer of the statement; takes the result. */
static void statement_take(struct pg_line *line, struct pg_statement *st, PGresult *result)
{
	ExecStatusType status = PQresultStatus(result);
	bool is_of_parse = st->is_preparing;
	st->is_preparing = false;
	if (is_of_parse && status != PGRES_COMMAND_OK)
		st->prepared->is_stale = true;
	/* Parse worked, or this is what follows a failure up to the Sync. */
	if ((is_of_parse && status == PGRES_COMMAND_OK) || status == PGRES_PIPELINE_ABORTED) {
		PQclear(result);
		return;
	}
	if (is_end(line, result))
		st->may_be_done = st->result != NULL;
	if (pg_result_is_of_standby(result))
		line->is_standby = true;
	PQclear(st->result);
	st->result = result;
}

/* Learn from a batch of answers how long a statement takes. */
static void line_measure(struct pg_line *line, size_t answered)
{
	uint64_t now_us = time_monotonic_us();
	uint64_t each_us = MIN_OF((now_us - line->busy_us) / answered, SAMPLE_MAX_US);
	line->pool->usual_us = (7 * line->pool->usual_us + each_us) / 8;
	line->busy_us = now_us;
}

void pg_line_receive(struct pg_line *line)
{
	PGconn *pg = pg_conn_pg(line->conn);
	size_t before = line->in_flight;
	int separators = 0;
	/* Between two results PQgetResult() gives NULL, at most twice in a row. */
	while (line->in_flight > 0 && separators < 3 && !PQisBusy(pg) && !line->is_confused) {
		PGresult *result = PQgetResult(pg);
		if (line->is_confused) {
			PQclear(result);
			break;
		}
		if (result == NULL) {
			separators++;
			continue;
		}
		separators = 0;
		struct pg_statement *st = CONTAINER_OF(line->sent.next, struct pg_statement, link);
		if (PQresultStatus(result) == PGRES_PIPELINE_SYNC) {
			PQclear(result);
			pg_link_remove(&st->link);
			line->in_flight--;
			line->progress_ms = uv_now(line->pool->loop);
			pg_statement_answered(line->pool, st);
		} else if (PQresultStatus(result) == PGRES_FATAL_ERROR &&
		           pg_result_sqlstate(result)[0] == '\0') {
			PQclear(result); /* libpq's own words on the end of the connection */
			break;
		} else {
			statement_take(line, st, result);
		}
	}
	if (line->in_flight < before)
		line_measure(line, before - line->in_flight);
}
