#include "base/base.h"
#include "base/log.h"
#include "base/timefmt.h"
#include "pg/internal.h"

#include <stdlib.h>
#include <string.h>

struct pg_statement *pg_statement_new(enum pg_statement_kind kind, const char *sql,
                                      const struct pg_param *params, size_t count)
{
	struct pg_statement *st = calloc(1, sizeof(*st));
	require(st != NULL);
	*st = (struct pg_statement){
		.kind = kind,
		.fiber = kind == PG_DETACHED ? NULL : fiber_self(),
		.sql = sql,
		.params = params,
		.count = count,
		.hash = pg_prepared_hash(sql),
		.is_read = strncmp(sql, PG_READ_MARK, strlen(PG_READ_MARK)) == 0,
		.started_us = time_monotonic_us(),
	};
	require(kind == PG_DETACHED || st->fiber != NULL);
	pg_link_init(&st->link);
	return st;
}

void pg_statement_free(struct pg_statement *st)
{
	PQclear(st->result);
	free(st);
}

/* The fiber goes. What was not sent is taken back, what was is left to finish without it. */
static void statement_leave(struct pg_statement *st, struct pg_pool *pool)
{
	st->fiber = NULL;
	if (st->state != PG_STATEMENT_WAITING)
		return;
	pg_pool_unqueue(pool, st);
	pg_statement_free(st);
}

enum err_code pg_statement_wait(struct pg_pool *pool, struct pg_statement *st, bool is_cancellable,
                                PGresult **ret_result)
{
	while (st->state != PG_STATEMENT_DONE) {
		if (!is_cancellable) {
			fiber_wait_uncancelled();
			continue;
		}
		enum err_code reason = fiber_wait();
		if (reason != ERR_NONE && st->state != PG_STATEMENT_DONE) {
			pg_metrics_statement(reason, st->started_us);
			statement_leave(st, pool);
			return reason;
		}
	}
	pg_link_remove(&st->link);
	enum err_code code = st->code;
	*ret_result = st->result;
	st->result = NULL;
	pg_statement_free(st);
	return code;
}

void pg_statement_done(struct pg_pool *pool, struct pg_statement *st, enum err_code code)
{
	if (st->kind != PG_DETACHED && st->fiber != NULL)
		pg_metrics_statement(code, st->started_us);
	if (st->fiber == NULL) {
		pg_statement_free(st);
		return;
	}
	st->state = PG_STATEMENT_DONE;
	st->code = code;
	pg_link_after(pool->done.prev, &st->link);
}

/* Send it again, nothing having been done, as long as its first failure is not too long ago. */
static bool statement_retry(struct pg_pool *pool, struct pg_statement *st)
{
	uint64_t now_ms = uv_now(pool->loop);
	if (st->fiber == NULL || pool->is_freed)
		return false;
	if (st->kind != PG_SINGLE && st->kind != PG_BEGIN)
		return false;
	if (st->retry_until_ms == 0)
		st->retry_until_ms = now_ms + pool->settings.pool_wait_ms;
	if (now_ms >= st->retry_until_ms)
		return false;
	st->wait_until_ms = st->retry_until_ms;
	PQclear(st->result);
	st->result = NULL;
	st->is_preparing = st->is_synced = st->may_be_done = false;
	pg_pool_requeue(pool, st);
	return true;
}

/* The server has forgotten the prepared statement, or its row type has changed since. Both are
 * found before it runs. */
static bool is_plan_stale(const PGresult *result, const char *sqlstate)
{
	if (strcmp(sqlstate, "26000") == 0)
		return true;
	const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
	return strcmp(sqlstate, "0A000") == 0 && message != NULL &&
	       strstr(message, "cached plan") != NULL;
}

void pg_statement_answered(struct pg_pool *pool, struct pg_statement *st)
{
	if (st->result == NULL) {
		/* Skipped, behind a failure that was not its own: it cannot be, each has a Sync. */
		pg_statement_done(pool, st, ERR_INTERNAL);
		return;
	}
	enum err_code code = pg_result_code(st->result);
	const char *sqlstate = pg_result_sqlstate(st->result);
	if (code != ERR_NONE && st->prepared != NULL && is_plan_stale(st->result, sqlstate)) {
		st->prepared->is_stale = true;
		code = ERR_UNAVAILABLE;
		if (statement_retry(pool, st))
			return;
	}
	bool is_chance = strcmp(sqlstate, "40001") == 0 || strcmp(sqlstate, "40P01") == 0;
	if ((is_chance || pg_result_is_of_standby(st->result)) && statement_retry(pool, st))
		return;
	if (code == ERR_INTERNAL && st->fiber != NULL)
		log_error(LOG_GROUP_PG, "statement failed", f_text("sqlstate", sqlstate),
		          f_text("reason", PQresultErrorField(st->result, PG_DIAG_MESSAGE_PRIMARY)),
		          f_text("statement", st->sql));
	pg_statement_done(pool, st, code);
}

void pg_statement_lost(struct pg_pool *pool, struct pg_statement *st, bool was_not_run)
{
	bool is_harmless = was_not_run || !st->is_synced;
	if (st->kind == PG_SINGLE && st->is_read && !st->was_sent_again)
		st->was_sent_again = is_harmless = true;
	if (is_harmless && statement_retry(pool, st))
		return;
	PQclear(st->result);
	st->result = NULL;
	bool is_write = (st->kind == PG_SINGLE && !st->is_read) || st->kind == PG_COMMIT;
	pg_statement_done(pool, st, is_write && !is_harmless ? ERR_UNCERTAIN : ERR_UNAVAILABLE);
}
