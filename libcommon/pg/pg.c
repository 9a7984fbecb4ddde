#include "pg/internal.h"

#include <stdlib.h>

static void on_rows_free(void *ptr)
{
	PQclear(ptr);
}

/* The answer joins the arena; the values stay where libpq put them. */
static struct pg_rows *rows_new(struct arena *arena, PGresult *result)
{
	struct pg_rows *rows = arena_new_of(arena, struct pg_rows);
	arena_on_free(arena, on_rows_free, result);
	rows->count = PQntuples(result);
	rows->columns = PQnfields(result);
	rows->affected = strtoll(PQcmdTuples(result), NULL, 10);
	size_t cells = (size_t)rows->count * (size_t)rows->columns;
	rows->values = arena_array(arena, cells, sizeof(*rows->values));
	rows->lengths = arena_array(arena, cells, sizeof(*rows->lengths));
	for (size_t i = 0; i < cells; i++) {
		int row = (int)(i / (size_t)rows->columns),
		    column = (int)(i % (size_t)rows->columns);
		if (PQgetisnull(result, row, column))
			continue;
		rows->values[i] = PQgetvalue(result, row, column);
		rows->lengths[i] = (size_t)PQgetlength(result, row, column);
	}
	return rows;
}

/* Run inside the transaction, with a savepoint where a failure shall leave it usable. */
static enum err_code run_inside(struct pg_pool *pool, struct pg_transaction *tx,
                                struct pg_statement *st, bool has_savepoint, PGresult **ret_result)
{
	if (tx->line != NULL && has_savepoint)
		pg_line_send_detached(tx->line, "SAVEPOINT statement");
	if (tx->line == NULL) {
		pg_statement_free(st);
		return ERR_UNAVAILABLE;
	}
	pg_line_send(tx->line, st);
	enum err_code code = pg_statement_wait(pool, st, true, ret_result);
	if (has_savepoint && code != ERR_NONE && tx->line != NULL)
		pg_line_send_detached(tx->line, "ROLLBACK TO SAVEPOINT statement");
	if (has_savepoint && tx->line != NULL)
		pg_line_send_detached(tx->line, "RELEASE SAVEPOINT statement");
	return code;
}

static enum err_code run(struct request *rq, bool has_savepoint, const char *sql,
                         const struct pg_param *params, size_t count, PGresult **ret_result)
{
	struct pg_pool *pool = rq->worker->pg;
	enum err_code reason = fiber_cancelled(fiber_self());
	*ret_result = NULL;
	if (reason != ERR_NONE)
		return reason;
	struct pg_transaction *tx = pg_transaction_of(rq);
	struct pg_statement *st =
		pg_statement_new(tx != NULL ? PG_INSIDE : PG_SINGLE, sql, params, count);
	if (tx != NULL)
		return run_inside(pool, tx, st, has_savepoint, ret_result);
	pg_pool_submit(pool, st);
	return pg_statement_wait(pool, st, true, ret_result);
}

struct pg_rows *pg_query_with(struct request *rq, const char *sql, const struct pg_param *params,
                              size_t count)
{
	PGresult *result;
	enum err_code code = run(rq, false, sql, params, count, &result);
	if (code == ERR_NONE)
		return rows_new(rq->arena, result);
	PQclear(result);
	pg_raise(rq, code);
}

void pg_raise(struct request *rq, enum err_code code)
{
	raise_error(rq, code, "%s", pg_error_detail(code));
}

enum err_code pg_try_with(struct request *rq, struct pg_rows **ret_rows,
                          const char **ret_constraint, const char *sql,
                          const struct pg_param *params, size_t count)
{
	PGresult *result;
	enum err_code code = run(rq, true, sql, params, count, &result);
	if (code == ERR_NONE) {
		*ret_rows = rows_new(rq->arena, result);
		return ERR_NONE;
	}
	if (ret_constraint != NULL)
		*ret_constraint = arena_strdup(rq->arena,
		                               PQresultErrorField(result, PG_DIAG_CONSTRAINT_NAME));
	PQclear(result);
	return code;
}
