#include "base/base.h"
#include "pg/internal.h"

#include <stdio.h>
#include <string.h>

static struct pg_pool *pool_of(struct request *rq)
{
	return rq->worker->pg;
}

/* Give the line back to the shared ones. */
static void transaction_let_go(struct pg_transaction *tx)
{
	struct pg_line *line = tx->line;
	if (line == NULL)
		return;
	tx->line = NULL;
	line->transaction = NULL;
	pg_metrics_gauge(PG_GAUGE_CHECKED_OUT, -1);
	pg_line_idle(line);
}

static bool line_is_answering(const struct pg_line *line)
{
	for (const struct pg_link *link = line->sent.next; link != &line->sent; link = link->next) {
		if (CONTAINER_OF(link, struct pg_statement, link)->kind != PG_DETACHED)
			return true;
	}
	return false;
}

/* Undo it. With a statement under way the connection is closed: the server ends that statement when
 * it notices, and no other has to wait for it. */
static void transaction_undo(struct pg_transaction *tx)
{
	struct pg_line *line = tx->line;
	if (line == NULL)
		return;
	struct pg_pool *pool = line->pool;
	if (line_is_answering(line)) {
		pg_conn_close(line->conn);
		if (line == pool->lines) /* the one that is kept open */
			pg_conn_connect(line->conn);
	} else {
		line->is_ending = true;
		pg_line_send_detached(line, "ROLLBACK");
		transaction_let_go(tx);
	}
	pg_pool_run(pool);
}

/* The request, or its page, ends with the transaction still open. */
static void transaction_release(struct request *rq attr_unused, void *tx)
{
	transaction_undo(tx);
}

struct pg_transaction *pg_transaction_of(const struct request *rq)
{
	return request_held(rq, transaction_release);
}

bool pg_in_transaction(const struct request *rq)
{
	return pg_transaction_of(rq) != NULL;
}

static void transaction_abandon(struct request *rq, struct pg_transaction *tx)
{
	transaction_undo(tx);
	request_unhold(rq, transaction_release);
}

static attr_noreturn void transaction_fail(struct request *rq, struct pg_transaction *tx,
                                           enum err_code code)
{
	transaction_abandon(rq, tx);
	pg_raise(rq, code);
}

/* What functions of the common migrations read, and how long each statement may take. */
#define SET_REQUEST                                          \
	"SELECT set_config('statement_timeout', $1, true), " \
	"set_config('expops.request_id', $2, true)"

void pg_transaction_start(struct pg_transaction *tx, struct pg_line *line, struct pg_statement *st)
{
	uint64_t limit_ms = MIN_OF(MAX_OF(1, request_left_ms(tx->rq)), INT32_MAX);
	char limit[24];
	snprintf(limit, sizeof(limit), "%llu", (unsigned long long)limit_ms);
	line->transaction = tx;
	line->is_reserved = false;
	tx->line = line;
	tx->time_limit_ms = limit_ms;
	pg_metrics_gauge(PG_GAUGE_CHECKED_OUT, 1);
	pg_line_send(line, st);
	if (tx->line == NULL)
		return;
	const struct pg_param params[] = {{NULL}, {limit}, {tx->rq->id == NULL ? "" : tx->rq->id}};
	pg_line_send(line, pg_statement_new(PG_DETACHED, SET_REQUEST, params, 2));
}

void pg_begin(struct request *rq)
{
	struct pg_transaction *tx = pg_transaction_of(rq);
	if (tx != NULL) {
		if (tx->line == NULL)
			transaction_fail(rq, tx, ERR_UNAVAILABLE);
		pg_line_send_detached(tx->line, "SAVEPOINT nested");
		tx->depth++;
		return;
	}
	enum err_code reason = fiber_cancelled(fiber_self());
	if (reason != ERR_NONE)
		pg_raise(rq, reason);
	tx = arena_new_of(rq->arena, struct pg_transaction);
	*tx = (struct pg_transaction){.rq = rq, .depth = 1};
	request_hold(rq, transaction_release, tx);

	struct pg_statement *st = pg_statement_new(PG_BEGIN, "BEGIN", NULL, 0);
	st->transaction = tx;
	pg_pool_submit(pool_of(rq), st);
	PGresult *result;
	enum err_code code = pg_statement_wait(pool_of(rq), st, true, &result);
	if (code != ERR_NONE)
		transaction_fail(rq, tx, code);
	PQclear(result);
}

/* COMMIT of a transaction that a statement's failure has ended answers ROLLBACK, not an error. */
static enum err_code commit_code(enum err_code code, PGresult *result)
{
	if (code == ERR_NONE && strcmp(PQcmdStatus(result), "COMMIT") != 0)
		code = ERR_INTERNAL;
	PQclear(result);
	return code;
}

void pg_commit(struct request *rq)
{
	struct pg_transaction *tx = pg_transaction_of(rq);
	require(tx != NULL);
	enum err_code reason = fiber_cancelled(fiber_self());
	if (tx->line == NULL || reason != ERR_NONE)
		transaction_fail(rq, tx, reason == ERR_NONE ? ERR_UNAVAILABLE : reason);
	if (--tx->depth > 0) {
		pg_line_send_detached(tx->line, "RELEASE SAVEPOINT nested");
		return;
	}
	struct pg_statement *st = pg_statement_new(PG_COMMIT, "COMMIT", NULL, 0);
	PGresult *result = NULL;
	pg_line_send(tx->line, st);
	enum err_code code = pg_statement_wait(pool_of(rq), st, false, &result);
	code = commit_code(code, result);
	transaction_let_go(tx);
	request_unhold(rq, transaction_release);
	pg_pool_run(pool_of(rq));
	if (code != ERR_NONE)
		pg_raise(rq, code);
}

void pg_rollback(struct request *rq)
{
	struct pg_transaction *tx = pg_transaction_of(rq);
	require(tx != NULL);
	if (--tx->depth > 0) {
		if (tx->line != NULL)
			pg_line_send_detached(tx->line, "ROLLBACK TO SAVEPOINT nested");
		if (tx->line != NULL)
			pg_line_send_detached(tx->line, "RELEASE SAVEPOINT nested");
		return;
	}
	transaction_abandon(rq, tx);
}
