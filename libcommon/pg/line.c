/* What becomes of a line: what its connection tells it. */
#include "base/base.h"
#include "base/log.h"
#include "pg/internal.h"

/* What a silent server is given beyond the statement timeout that it was told. */
#define OVERDUE_GRACE_MS 5000

bool pg_line_is_stuck(const struct pg_line *line)
{
	return line->in_flight > 0 &&
	       uv_now(line->pool->loop) - line->progress_ms > line->pool->settings.stuck_ms;
}

void pg_line_idle(struct pg_line *line)
{
	if (line->in_flight > 0 || line->transaction != NULL)
		return;
	line->is_ending = false;
	if (!pg_line_is_ready(line))
		return;
	if (PQtransactionStatus(pg_conn_pg(line->conn)) != PQTRANS_IDLE)
		pg_conn_down(line->conn, "a transaction did not end");
	else if (line->is_standby)
		pg_conn_down(line->conn, "the server takes no writes");
}

/* libpq's own remarks have no SQLSTATE: an answer came when it expected none, and was dropped. */
static void on_line_notice(void *context, const PGresult *result)
{
	struct pg_line *line = context;
	line->is_confused = line->is_confused || pg_result_sqlstate(result)[0] == '\0';
	log_debug(LOG_GROUP_PG, "the server remarks",
	          f_text("notice", PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY)));
}

static void on_line_ready(void *context)
{
	struct pg_line *line = context;
	struct pg_pool *pool = line->pool;
	pg_metrics_gauge(PG_GAUGE_CONNECTIONS, 1);
	line->is_doomed = line->is_confused = line->is_silent = line->is_dirty = false;
	line->is_standby = false;
	line->used_ms = uv_now(pool->loop);
	PQsetNoticeReceiver(pg_conn_pg(line->conn), on_line_notice, line);
	require(PQenterPipelineMode(pg_conn_pg(line->conn)) == 1);
	pg_pool_run(pool);
}

static void on_line_readable(void *context)
{
	struct pg_line *line = context;
	PGconn *pg = pg_conn_pg(line->conn);
	bool is_open = PQconsumeInput(pg) == 1;
	pg_line_receive(line);
	if (line->is_confused)
		pg_conn_down(line->conn, "answers and statements do not match any more");
	else if (!is_open || PQstatus(pg) == CONNECTION_BAD)
		pg_conn_down(line->conn, NULL);
	else
		pg_line_idle(line);
	pg_pool_run(line->pool);
}

static void on_line_lost(void *context)
{
	struct pg_line *line = context;
	/* There may still be answers to read, and why the server ended it. */
	PQconsumeInput(pg_conn_pg(line->conn));
	pg_line_receive(line);
	pg_metrics_gauge(PG_GAUGE_CONNECTIONS, -1);
	if (line->transaction != NULL) {
		pg_metrics_gauge(PG_GAUGE_CHECKED_OUT, -1);
		line->transaction->line = NULL;
	}
	line->transaction = NULL;
	/* From the newest, since what is sent again goes to the front of the queue. */
	while (!pg_link_empty(&line->sent)) {
		struct pg_statement *st = CONTAINER_OF(line->sent.prev, struct pg_statement, link);
		pg_link_remove(&st->link);
		pg_statement_lost(line->pool, st,
		                  line->is_doomed && !line->is_confused && !st->may_be_done);
	}
	line->in_flight = 0;
	line->is_reserved = line->is_ending = line->is_dirty = false;
	pg_prepared_clear(&line->prepared);
}

static void on_line_broken(void *context)
{
	struct pg_line *line = context;
	pg_pool_run(line->pool);
}

static bool is_line_wanted(void *context)
{
	const struct pg_line *line = context;
	return line == line->pool->lines || line->pool->waiting > 0;
}

static void on_line_freed(void *context)
{
	pg_pool_handle_closed(((struct pg_line *)context)->pool);
}

const struct pg_conn_owner pg_line_owner = {
	.ready = on_line_ready,
	.readable = on_line_readable,
	.lost = on_line_lost,
	.broken = on_line_broken,
	.wanted = is_line_wanted,
	.freed = on_line_freed,
};

void pg_line_check_silence(struct pg_line *line)
{
	const struct pg_statement *st = pg_queue_first(&line->sent);
	uint64_t silent_ms = uv_now(line->pool->loop) - line->progress_ms;
	if (silent_ms <= st->time_limit_ms + OVERDUE_GRACE_MS)
		line->is_silent = false;
	else if (line->is_silent)
		pg_conn_down(line->conn, "the server has gone silent");
	else
		line->is_silent = true;
}
