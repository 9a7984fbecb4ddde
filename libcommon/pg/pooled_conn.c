#include "base/base.h"
#include "base/timefmt.h"
#include "crypto/crypto.h"
#include "observe/log.h"
#include "pg/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#define PREPARED_MAX     1024 /* later statements go unprepared; a service has 20 to 100 */
#define SAMPLE_MAX_US    5000 /* longer times are entered into the average as this */
#define OVERDUE_GRACE_MS 5000 /* for the server, beyond the time limit that it was given */
#define PROBE_LIMIT_MS   5000
#define NAME_DIGEST      16 /* bytes of the SHA-256 of the text, in a prepared statement's name */

_Static_assert(sizeof(struct pg_param) == sizeof(const char *),
               "params are passed as an array of texts");

/* A statement that is prepared on one connection. `sent` statements point to it, so it stays until
 * the connection is lost. */
struct prepared_statement {
	UT_hash_handle hh;
	SLIST_ENTRY(prepared_statement) stale_entry;
	bool is_stale; /* the server has lost or refused it, or its plan is out of date */
	char name[2 * NAME_DIGEST + 12];
	char sql[];
};

/* NULL: no usable one. */
static struct prepared_statement *prepared_find(const struct pooled_conn *conn,
                                                const struct pg_statement *st)
{
	struct prepared_statement *prepared = NULL;
	HASH_FIND_BYHASHVALUE(hh, conn->prepared, st->sql, st->sql_length, st->sql_hash, prepared);
	return prepared;
}

/* A name that no other text has, so that a pooler which mixes up the sessions of its clients cannot
 * run another statement under it. The number distinguishes a new one from a stale one of the same
 * text. */
static void prepared_name(struct prepared_statement *prepared, size_t length, unsigned number)
{
	uint8_t digest[SHA256_LEN];
	char hex[2 * NAME_DIGEST + 1];
	sha256(prepared->sql, length, digest);
	hex_encode(digest, NAME_DIGEST, hex);
	snprintf(prepared->name, sizeof(prepared->name), "%s_%u", hex, number);
}

/* A new one with a new name, not yet prepared. Copies the text. NULL: there are too many. */
static struct prepared_statement *prepared_add(struct pooled_conn *conn,
                                               const struct pg_statement *st)
{
	if (conn->prepared_count >= PREPARED_MAX)
		return NULL;
	struct prepared_statement *prepared = calloc(1, sizeof(*prepared) + st->sql_length + 1);
	require(prepared);
	memcpy(prepared->sql, st->sql, st->sql_length + 1);
	prepared_name(prepared, st->sql_length, ++conn->prepared_count);
	HASH_ADD_KEYPTR_BYHASHVALUE(hh, conn->prepared, prepared->sql, st->sql_length, st->sql_hash,
	                            prepared);
	return prepared;
}

static void prepared_mark_stale(struct pooled_conn *conn, struct prepared_statement *prepared)
{
	if (prepared->is_stale)
		return;
	prepared->is_stale = true;
	HASH_DEL(conn->prepared, prepared);
	SLIST_INSERT_HEAD(&conn->stale, prepared, stale_entry);
}

static void prepared_clear(struct pooled_conn *conn)
{
	struct prepared_statement *prepared;
	while ((prepared = conn->prepared)) {
		HASH_DEL(conn->prepared, prepared);
		free(prepared);
	}
	while ((prepared = SLIST_FIRST(&conn->stale))) {
		SLIST_REMOVE_HEAD(&conn->stale, stale_entry);
		free(prepared);
	}
	conn->prepared_count = 0;
}

bool pooled_conn_is_stuck(const struct pooled_conn *conn)
{
	return conn->in_flight > 0 &&
	       uv_now(conn->pool->loop) - conn->progress_ms > conn->pool->settings.stuck_ms;
}

/* Parse, unless the connection has the statement prepared. */
static bool send_parse(struct pooled_conn *conn, PGconn *pg, struct pg_statement *st)
{
	st->prepared = prepared_find(conn, st);
	if (st->prepared || conn->pool->is_unprepared)
		return true;
	st->prepared = prepared_add(conn, st);
	st->is_preparing = st->prepared != NULL;
	return !st->prepared || PQsendPrepare(pg, st->prepared->name, st->sql, 0, NULL);
}

/* Bind and Execute. */
static bool send_execute(PGconn *pg, const struct pg_statement *st)
{
	const char *const *values = st->count > 0 ? (const char *const *)(st->params + 1) : NULL;
	int count = (int)st->count;
	if (!st->prepared)
		return PQsendQueryParams(pg, st->sql, count, NULL, values, NULL, NULL, 0);
	return PQsendQueryPrepared(pg, st->prepared->name, count, values, NULL, NULL, 0);
}

/* Each Parse before the first Execute: the failure of an Execute skips all behind it, and
 * statements that were sent meanwhile rely on what was prepared. */
static bool send_parts(struct pooled_conn *conn, PGconn *pg, struct pg_statement *st)
{
	st->answering = st;
	for (struct pg_statement *part = st; part; part = part->next_part) {
		if (!send_parse(conn, pg, part))
			return false;
	}
	for (struct pg_statement *part = st; part; part = part->next_part) {
		if (!send_execute(pg, part))
			return false;
	}
	return true;
}

/* PQpipelineSync() writes to the socket at once; libpq 17 can leave that to the next flush. The
 * cork lets the kernel gather what the statements of this turn of the loop write. A statement on an
 * idle connection is usually the only one, and two system calls for the cork cost more than they
 * save. */
static int send_sync(struct pooled_conn *conn, PGconn *pg)
{
#ifdef LIBPQ_HAS_SEND_PIPELINE_SYNC
	(void)conn;
	return PQsendPipelineSync(pg);
#else
	if (conn->in_flight > 1)
		pg_link_cork(conn->link);
	return PQpipelineSync(pg);
#endif
}

static uint64_t time_limit_ms(const struct pooled_conn *conn, const struct pg_statement *st)
{
	if (st->kind == PG_PROBE)
		return PROBE_LIMIT_MS;
	return conn->transaction ? conn->transaction->time_limit_ms
	                         : conn->pool->settings.statement_timeout_ms;
}

/* The server can run it from now on: what was sent before it is answered. */
static void statement_begins(const struct pooled_conn *conn, struct pg_statement *st)
{
	if (st)
		st->began_ms = uv_now(conn->pool->loop);
}

void pooled_conn_send(struct pooled_conn *conn, struct pg_statement *st)
{
	PGconn *pg = pg_link_pg(conn->link);
	require(pg);
	st->state = PG_STATEMENT_SENT;
	st->sent_ms = uv_now(conn->pool->loop);
	st->time_limit_ms = time_limit_ms(conn, st);
	if (st->kind != PG_PROBE)
		conn->used_ms = st->sent_ms;
	TAILQ_INSERT_TAIL(&conn->sent, st, entry);
	if (conn->in_flight++ == 0) {
		conn->progress_ms = st->sent_ms;
		statement_begins(conn, st);
		conn->busy_us = time_monotonic_us();
	}
	if (!send_parts(conn, pg, st)) {
		pg_link_fail(conn->link, NULL);
		return;
	}
	st->is_synced = true;
	if (!send_sync(conn, pg)) {
		pg_link_fail(conn->link, NULL);
		return;
	}
	conn->needs_flush = true;
	pg_pool_flush_soon(conn->pool);
}

void pooled_conn_send_detached(struct pooled_conn *conn, const char *sql)
{
	pooled_conn_send(conn, pg_statement_new(PG_DETACHED, sql, NULL, 0));
}

void pooled_conn_probe(struct pooled_conn *conn)
{
	pooled_conn_send(conn, pg_statement_new(PG_PROBE, "SELECT", NULL, 0));
}

bool pooled_conn_is_silent(const struct pooled_conn *conn)
{
	const struct pg_pool *pool = conn->pool;
	uint64_t since_ms = MAX_OF(conn->progress_ms, pool->heard_ms);
	return conn->in_flight > 0 && uv_now(pool->loop) - since_ms > PG_SILENCE_MS;
}

/* Whether the answer says that the server ends the connection. Then no later statement was run, and
 * neither was this one, unless it had an answer before: then it may have been committed. After a
 * crash of the server (57P02) nothing is certain. */
static bool is_termination(const PGresult *result)
{
	const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
	return severity && strcmp(severity, "FATAL") == 0 &&
	       strcmp(pg_result_sqlstate(result), "57P02") != 0;
}

/* The part whose Parse is answered next; NULL: none. */
static struct pg_statement *preparing_part(struct pg_statement *st)
{
	while (st && !st->is_preparing)
		st = st->next_part;
	return st;
}

/* Note that this notice is to be passed on when the transaction has ended. False: it is none of the
 * pool's. */
static bool note(struct pooled_conn *conn, const char *name)
{
	const struct pg_notice *notices = conn->pool->notices;
	for (int i = 0; notices && notices[i].sqlstate; i++) {
		if (strcmp(name, notices[i].sqlstate) == 0) {
			conn->notices |= (uint8_t)(1U << i);
			return true;
		}
	}
	return false;
}

/* Keep an answer of the statement, or of its part that is answered next; takes the result. */
static void statement_keep(struct pooled_conn *conn, struct pg_statement *st, PGresult *result)
{
	ExecStatusType status = PQresultStatus(result);
	struct pg_statement *preparing = preparing_part(st);
	struct pg_statement *part = preparing ? preparing : st->answering;
	bool is_of_parse = preparing != NULL;
	part->is_preparing = false;
	if (is_of_parse && status != PGRES_COMMAND_OK)
		prepared_mark_stale(conn, part->prepared);
	if (!is_of_parse && !part->ended_ms) {
		part->ended_ms = uv_now(conn->pool->loop);
		statement_begins(conn, part->next_part);
	}
	if (!is_of_parse && part->next_part)
		st->answering = part->next_part;
	/* Parse succeeded, or this is what follows a failure until the Sync. */
	if ((is_of_parse && status == PGRES_COMMAND_OK) || status == PGRES_PIPELINE_ABORTED) {
		PQclear(result);
		return;
	}
	if (is_termination(result)) {
		conn->is_terminated = true;
		st->may_be_done = part->result != NULL;
	}
	if (pg_result_is_read_only(result))
		conn->is_read_only = true;
	PQclear(part->result);
	part->result = result;
}

#define UNKNOWN_STATEMENT   "26000" /* invalid_sql_statement_name */
#define DUPLICATE_STATEMENT "42P05" /* duplicate_prepared_statement */

/* Whether the session lacks a statement that was prepared in it, or has one that was not: it is
 * another session, unless the Parse has failed. */
static bool is_other_session(const char *sqlstate)
{
	return strcmp(sqlstate, UNKNOWN_STATEMENT) == 0 ||
	       strcmp(sqlstate, DUPLICATE_STATEMENT) == 0;
}

/* What a plan that no longer fits fails with. Such a statement has changed nothing. */
static const struct {
	const char *sqlstate, *message; /* a part of the message */
} STALE_PLANS[] = {
	/* The row type of the result has changed. */
	{"0A000", "cached plan"},
	/* A function was dropped, perhaps to be made again, while the statement began. */
	{"XX000", "cache lookup failed for function"},
	/* The row type that a function returns has got a column while the function waited for the
	 * table. */
	{"42804", "return row and query-specified return row do not match"},
};

/* Whether the statement must be prepared again: the session is another one, or the plan no longer
 * fits. */
static bool is_plan_stale(const PGresult *result, const char *sqlstate)
{
	const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
	if (is_other_session(sqlstate))
		return true;
	for (size_t i = 0; message && i < ARRAY_LEN(STALE_PLANS); i++) {
		if (strcmp(sqlstate, STALE_PLANS[i].sqlstate) == 0 &&
		    strstr(message, STALE_PLANS[i].message))
			return true;
	}
	return false;
}

/* A pooler between us and the server shares sessions and does not know prepared statements, as
 * PgBouncer before 1.21. */
static void stop_preparing(struct pg_pool *pool)
{
	if (!pool->is_unprepared)
		log_warn("a pooler mixes up prepared statements, no more are used; "
		         "set PG_PREPARE=off");
	pool->is_unprepared = true;
}

static void report(const struct pg_statement *st, const struct fault *fault, const char *sqlstate)
{
	const char *reason = PQresultErrorField(st->result, PG_DIAG_MESSAGE_PRIMARY);
	if (fault->code == ERR_INTERNAL)
		log_error("statement failed", f_text("sqlstate", sqlstate),
		          f_text("reason", reason), f_text("statement", st->sql));
	else
		pg_fault_report(fault, sqlstate, reason);
}

/* The part that has failed, else the last. */
static struct pg_statement *deciding_part(struct pg_statement *st)
{
	while (st->next_part && !(st->result && pg_result_fault(st->result)))
		st = st->next_part;
	return st;
}

/* All answers of the statement are in: finish it, or retry it when it changed nothing and another
 * try may succeed. */
static void statement_answered(struct pooled_conn *conn, struct pg_statement *st)
{
	struct pg_pool *pool = conn->pool;
	struct pg_statement *part = deciding_part(st);
	if (!part->result) {
		/* Skipped after another statement's failure: impossible, each has its own Sync. */
		pg_pool_finish(pool, st, pg_fault(PG_FAULT_INTERNAL));
		return;
	}
	const struct fault *fault = pg_result_fault(part->result);
	const char *sqlstate = pg_result_sqlstate(part->result);
	if (fault && part->prepared && is_plan_stale(part->result, sqlstate)) {
		/* Sent behind a Parse of the same text, which has failed. */
		bool is_parse_lost =
			part->prepared->is_stale && strcmp(sqlstate, UNKNOWN_STATEMENT) == 0;
		prepared_mark_stale(conn, part->prepared);
		if (is_other_session(sqlstate) && !is_parse_lost)
			stop_preparing(pool);
		fault = pg_fault(PG_FAULT_LOST);
		if (pg_pool_retry(pool, st))
			return;
	}
	/* serialization_failure, deadlock_detected */
	bool is_transient = strcmp(sqlstate, "40001") == 0 || strcmp(sqlstate, "40P01") == 0 ||
	                    pg_result_is_read_only(part->result);
	if (is_transient && pg_pool_retry(pool, st))
		return;
	if (fault && st->fiber)
		report(part, fault, sqlstate);
	if (part != st) {
		PQclear(st->result);
		st->result = part->result;
		part->result = NULL;
	}
	pg_pool_finish(pool, st, fault);
}

/* The connection broke before the answer: retry what is known not to have run, and reads; a write
 * that may have run is ERR_UNCERTAIN. */
static void statement_lost(struct pooled_conn *conn, struct pg_statement *st)
{
	bool has_not_run = !st->is_synced ||
	                   (conn->is_terminated && !conn->is_out_of_sync && !st->may_be_done);
	bool is_first_read = st->kind == PG_SINGLE && st->is_read && !st->was_sent_again;
	if (is_first_read)
		st->was_sent_again = true;
	bool is_harmless = has_not_run || is_first_read;
	if (is_harmless && pg_pool_retry(conn->pool, st))
		return;
	PQclear(st->result);
	st->result = NULL;
	bool is_write = (st->kind == PG_SINGLE && !st->is_read) || st->kind == PG_COMMIT;
	bool is_uncertain = is_write && !is_harmless;
	pg_pool_finish(conn->pool, st, pg_fault(is_uncertain ? PG_FAULT_UNCERTAIN : PG_FAULT_LOST));
}

/* Update the average time of a statement from a batch of answers. */
static void measure(struct pooled_conn *conn, size_t answered)
{
	uint64_t now_us = time_monotonic_us();
	uint64_t each_us = MIN_OF((now_us - conn->busy_us) / answered, SAMPLE_MAX_US);
	conn->pool->usual_us = (7 * conn->pool->usual_us + each_us) / 8;
	conn->busy_us = now_us;
}

/* Call back for the notices once their transaction has ended. */
static void run_notice_callbacks(struct pooled_conn *conn)
{
	const struct pg_pool *pool = conn->pool;
	if (!conn->notices || conn->transaction || pool->is_freed)
		return;
	for (int i = 0; pool->notices[i].sqlstate; i++) {
		if (conn->notices & 1U << i)
			pool->notices[i].cb(pool->notice_context);
	}
	conn->notices = 0;
}

/* Read the answers that have arrived and assign them to the statements in `sent`. */
static void receive(struct pooled_conn *conn)
{
	PGconn *pg = pg_link_pg(conn->link);
	size_t before = conn->in_flight;
	int separators = 0;
	/* PQgetResult() returns NULL between two results, at most twice in a row. */
	while (conn->in_flight > 0 && separators < 3 && !PQisBusy(pg) && !conn->is_out_of_sync) {
		PGresult *result = PQgetResult(pg);
		if (conn->is_out_of_sync) {
			PQclear(result);
			break;
		}
		if (!result) {
			separators++;
			continue;
		}
		separators = 0;
		struct pg_statement *st = TAILQ_FIRST(&conn->sent);
		if (PQresultStatus(result) == PGRES_PIPELINE_SYNC) {
			PQclear(result);
			TAILQ_REMOVE(&conn->sent, st, entry);
			conn->in_flight--;
			conn->progress_ms = uv_now(conn->pool->loop);
			statement_begins(conn, TAILQ_FIRST(&conn->sent));
			run_notice_callbacks(conn);
			statement_answered(conn, st);
		} else if (PQresultStatus(result) == PGRES_FATAL_ERROR &&
		           pg_result_sqlstate(result)[0] == '\0') {
			PQclear(result); /* libpq's own report that the connection ended */
			break;
		} else {
			statement_keep(conn, st, result);
		}
	}
	if (conn->in_flight < before) {
		conn->pool->heard_ms = uv_now(conn->pool->loop);
		measure(conn, before - conn->in_flight);
	}
}

/* When the connection is shared and everything is answered, check that it is usable. */
static void check_idle(struct pooled_conn *conn)
{
	if (conn->in_flight > 0 || conn->transaction)
		return;
	conn->is_rolling_back = false;
	if (!pooled_conn_is_ready(conn))
		return;
	if (PQtransactionStatus(pg_link_pg(conn->link)) != PQTRANS_IDLE)
		pg_link_fail(conn->link, "a transaction did not end");
	else if (conn->is_read_only)
		pg_link_fail_for(conn->link, pg_fault_of_sqlstate("25006"),
		                 "the server refused a write");
}

/* A notice without a SQLSTATE is libpq's own: it got an answer that it did not expect and dropped
 * it. */
static void on_notice(void *context, const PGresult *result)
{
	struct pooled_conn *conn = context;
	const char *sqlstate = pg_result_sqlstate(result);
	if (sqlstate[0] == '\0')
		conn->is_out_of_sync = true;
	if (note(conn, sqlstate))
		return;
	log_debug("notice from the server",
	          f_text("notice", PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY)));
}

static void on_ready(void *context)
{
	struct pooled_conn *conn = context;
	pg_metrics_gauge(PG_GAUGE_CONNECTIONS, 1);
	conn->is_terminated = conn->is_out_of_sync = conn->is_read_only = false;
	conn->was_overdue = conn->needs_flush = false;
	conn->used_ms = conn->pool->heard_ms = uv_now(conn->pool->loop);
	PQsetNoticeReceiver(pg_link_pg(conn->link), on_notice, conn);
	require(PQenterPipelineMode(pg_link_pg(conn->link)) == 1);
	pg_pool_run(conn->pool);
}

static void on_readable(void *context)
{
	struct pooled_conn *conn = context;
	PGconn *pg = pg_link_pg(conn->link);
	bool is_open = PQconsumeInput(pg) == 1;
	receive(conn);
	if (conn->is_out_of_sync)
		pg_link_fail(conn->link, "answers and statements do not match any more");
	else if (!is_open || PQstatus(pg) == CONNECTION_BAD)
		pg_link_fail(conn->link, NULL);
	else
		check_idle(conn);
	pg_pool_run(conn->pool);
}

static void on_lost(void *context)
{
	struct pooled_conn *conn = context;
	/* There may still be answers to read, and the server's reason for ending the connection. */
	PQconsumeInput(pg_link_pg(conn->link));
	receive(conn);
	pg_metrics_gauge(PG_GAUGE_CONNECTIONS, -1);
	if (conn->transaction) {
		pg_metrics_gauge(PG_GAUGE_CHECKED_OUT, -1);
		conn->transaction->conn = NULL;
		conn->transaction = NULL;
	}
	run_notice_callbacks(conn);
	/* Newest first: a retry goes to the front of its queue, so this keeps the order. */
	while (!TAILQ_EMPTY(&conn->sent)) {
		struct pg_statement *st = TAILQ_LAST(&conn->sent, pg_statement_list);
		TAILQ_REMOVE(&conn->sent, st, entry);
		statement_lost(conn, st);
	}
	conn->in_flight = 0;
	conn->is_reserved = conn->is_rolling_back = conn->needs_flush = false;
	prepared_clear(conn);
}

static void on_broken(void *context)
{
	struct pooled_conn *conn = context;
	pg_pool_run(conn->pool);
}

/* The first connection is always kept open, the others while statements wait. */
static bool should_reconnect(void *context)
{
	const struct pooled_conn *conn = context;
	return conn == conn->pool->conns || conn->pool->waiting > 0;
}

static void on_freed(void *context)
{
	const struct pooled_conn *conn = context;
	pg_pool_handle_closed(conn->pool);
}

static const struct pg_link_owner LINK_OWNER = {
	.ready = on_ready,
	.readable = on_readable,
	.lost = on_lost,
	.broken = on_broken,
	.should_reconnect = should_reconnect,
	.freed = on_freed,
};

void pooled_conn_init(struct pooled_conn *conn, struct pg_pool *pool)
{
	conn->pool = pool;
	TAILQ_INIT(&conn->sent);
	SLIST_INIT(&conn->stale);
	conn->link = pg_link_new(pool->loop, pool->target, pool->settings.connect_timeout_ms,
	                         &LINK_OWNER, conn);
}

/* The server applies the limit to each statement; functions of the common migrations read the
 * request id. */
#define SET_REQUEST                                          \
	"SELECT set_config('statement_timeout', $1, true), " \
	"set_config('expops.request_id', $2, true)"

void pooled_conn_check_out(struct pooled_conn *conn, struct pg_statement *st)
{
	struct pg_transaction *tx = st->transaction;
	uint64_t limit_ms = MIN_OF(MAX_OF(1, request_left_ms(tx->rq)), INT32_MAX);
	char limit[24];
	snprintf(limit, sizeof(limit), "%llu", (unsigned long long)limit_ms);
	conn->transaction = tx;
	conn->is_reserved = false;
	tx->conn = conn;
	tx->time_limit_ms = limit_ms;
	pg_metrics_gauge(PG_GAUGE_CHECKED_OUT, 1);
	pooled_conn_send(conn, st);
	if (!tx->conn)
		return;
	const struct pg_param params[] = {{NULL}, {limit}, {tx->rq->id ? tx->rq->id : ""}};
	pooled_conn_send(conn, pg_statement_new(PG_DETACHED, SET_REQUEST, params, 2));
}

void pooled_conn_check_in(struct pooled_conn *conn)
{
	conn->transaction->conn = NULL;
	conn->transaction = NULL;
	pg_metrics_gauge(PG_GAUGE_CHECKED_OUT, -1);
	run_notice_callbacks(conn);
	check_idle(conn);
}

static bool has_running_statement(const struct pooled_conn *conn)
{
	const struct pg_statement *st;
	TAILQ_FOREACH (st, &conn->sent, entry) {
		if (st->kind != PG_DETACHED && st->kind != PG_PROBE)
			return true;
	}
	return false;
}

void pooled_conn_undo(struct pooled_conn *conn)
{
	struct pg_pool *pool = conn->pool;
	if (has_running_statement(conn)) {
		pg_link_close(conn->link);
		if (conn == pool->conns) /* the one that is kept open */
			pg_link_connect(conn->link);
	} else {
		struct pg_transaction *tx = conn->transaction;
		conn->is_rolling_back = true;
		pooled_conn_send_detached(conn, "ROLLBACK");
		if (tx->conn)
			pooled_conn_check_in(conn);
	}
	pg_pool_run(pool);
}

void pooled_conn_check_overdue(struct pooled_conn *conn)
{
	uint64_t silent_ms = uv_now(conn->pool->loop) - conn->progress_ms;
	bool is_overdue = silent_ms > TAILQ_FIRST(&conn->sent)->time_limit_ms + OVERDUE_GRACE_MS;
	if (is_overdue && conn->was_overdue)
		pg_link_fail_for(conn->link, pg_fault(PG_FAULT_SILENT),
		                 "a statement was not answered within its time limit");
	else
		conn->was_overdue = is_overdue;
}
