#include "pg/pg.h"

#include "base/base.h"
#include "base/timefmt.h"
#include "crypto/crypto.h"
#include "pg/pool.h"

#include <stdlib.h>
#include <string.h>

/* Parameters */

struct pg_param pg_text(const char *text)
{
	return (struct pg_param){text};
}

struct pg_param pg_null(void)
{
	return (struct pg_param){NULL};
}

struct pg_param pg_bool(bool value)
{
	return (struct pg_param){value ? "t" : "f"};
}

struct pg_param pg_int_in(struct request *rq, int64_t value)
{
	return (struct pg_param){arena_printf(rq->arena, "%lld", (long long)value)};
}

struct pg_param pg_uuid_in(struct request *rq, struct uuid value)
{
	char *text = arena_alloc(rq->arena, UUID_TEXT_LEN + 1);
	uuid_format(&value, text);
	return (struct pg_param){text};
}

struct pg_param pg_bytes_in(struct request *rq, const void *data, size_t length)
{
	char *text = arena_alloc(rq->arena, 2 * length + 3);
	memcpy(text, "\\x", 2);
	hex_encode(data, length, text + 2);
	return (struct pg_param){text};
}

struct pg_param pg_sha256_in(struct request *rq, const char *text)
{
	uint8_t hash[SHA256_LEN];
	sha256(text, strlen(text), hash);
	return pg_bytes(hash, sizeof(hash));
}

struct pg_param pg_time_in(struct request *rq, int64_t time_ms)
{
	char *text = arena_alloc(rq->arena, TIME_TEXT_LEN + 1);
	time_format(time_ms, text);
	return (struct pg_param){text};
}

/* Rows */

static void on_rows_free(void *ptr)
{
	PQclear(ptr);
}

/* The arena takes the result; the values stay where libpq put them. */
static struct pg_rows *rows_new(struct arena *arena, PGresult *result)
{
	struct pg_rows *rows = arena_new_of(arena, struct pg_rows);
	arena_on_free(arena, on_rows_free, result);
	rows->count = PQntuples(result);
	rows->columns = PQnfields(result);
	rows->affected = strtoll(PQcmdTuples(result), NULL, 10);
	rows->next = arena_new_of(arena, int);
	rows->names = arena_array(arena, (size_t)rows->columns, sizeof(*rows->names));
	for (int column = 0; column < rows->columns; column++)
		rows->names[column] = PQfname(result, column);
	size_t cells = (size_t)rows->count * (size_t)rows->columns;
	rows->values = arena_array(arena, cells, sizeof(*rows->values));
	rows->lengths = arena_array(arena, cells, sizeof(*rows->lengths));
	for (size_t i = 0; i < cells; i++) {
		int row = (int)(i / (size_t)rows->columns);
		int column = (int)(i % (size_t)rows->columns);
		if (PQgetisnull(result, row, column))
			continue;
		rows->values[i] = PQgetvalue(result, row, column);
		rows->lengths[i] = (size_t)PQgetlength(result, row, column);
	}
	return rows;
}

/* Values. A value is found by the name of its column, or is that of the only one. */

static int column_of(const struct pg_rows *rows, const char *name)
{
	int column = *rows->next;
	for (int i = 0; i < rows->columns; i++, column++) {
		if (column >= rows->columns)
			column = 0;
		if (strcmp(rows->names[column], name) == 0) {
			*rows->next = column + 1;
			return column;
		}
	}
	require_failed(name, __FILE__, __LINE__, "no such column");
}

static int only_column(const struct pg_rows *rows)
{
	require(rows->columns == 1);
	return 0;
}

static size_t cell(const struct pg_rows *rows, int row, int column)
{
	require(row >= 0 && row < rows->count);
	return (size_t)row * (size_t)rows->columns + (size_t)column;
}

static int64_t int_of(const char *text)
{
	return text ? strtoll(text, NULL, 10) : 0;
}

static double float_of(const char *text)
{
	return text ? strtod(text, NULL) : 0;
}

static bool bool_of(const char *text)
{
	return text && text[0] == 't';
}

static void *bytes_at(struct arena *arena, const struct pg_rows *rows, size_t at,
                      size_t *ret_length)
{
	if (!rows->values[at])
		return NULL;
	size_t length = rows->lengths[at];
	require(length >= 2 && memcmp(rows->values[at], "\\x", 2) == 0);
	length = (length - 2) / 2;
	void *data = arena_alloc(arena, length + 1);
	require(hex_decode(rows->values[at] + 2, 2 * length, data, length));
	*ret_length = length;
	return data;
}

const char *pg_get(const struct pg_rows *rows, int row, const char *column)
{
	return rows->values[cell(rows, row, column_of(rows, column))];
}

int64_t pg_get_int(const struct pg_rows *rows, int row, const char *column)
{
	return int_of(pg_get(rows, row, column));
}

double pg_get_float(const struct pg_rows *rows, int row, const char *column)
{
	return float_of(pg_get(rows, row, column));
}

bool pg_get_bool(const struct pg_rows *rows, int row, const char *column)
{
	return bool_of(pg_get(rows, row, column));
}

struct uuid pg_get_uuid(const struct pg_rows *rows, int row, const char *column)
{
	struct uuid id;
	require(uuid_parse(pg_get(rows, row, column), UUID_TEXT_LEN, &id));
	return id;
}

void *pg_get_bytes(struct arena *arena, const struct pg_rows *rows, int row, const char *column,
                   size_t *ret_length)
{
	return bytes_at(arena, rows, cell(rows, row, column_of(rows, column)), ret_length);
}

const char *pg_value(const struct pg_rows *rows, int row)
{
	return rows->values[cell(rows, row, only_column(rows))];
}

int64_t pg_value_int(const struct pg_rows *rows, int row)
{
	return int_of(pg_value(rows, row));
}

double pg_value_float(const struct pg_rows *rows, int row)
{
	return float_of(pg_value(rows, row));
}

bool pg_value_bool(const struct pg_rows *rows, int row)
{
	return bool_of(pg_value(rows, row));
}

void *pg_value_bytes(struct arena *arena, const struct pg_rows *rows, int row, size_t *ret_length)
{
	return bytes_at(arena, rows, cell(rows, row, only_column(rows)), ret_length);
}

const char *pg_json(const struct pg_rows *rows)
{
	return rows->values[cell(rows, 0, 0)];
}

/* Statements */

static attr_noreturn void raise_fault(struct request *rq, const struct fault *fault)
{
	raise_error(rq, fault->code, "%s", fault->detail);
}

void pg_raise(struct request *rq, enum err_code code)
{
	bool is_known = rq->pg_fault && rq->pg_fault->code == code;
	raise_fault(rq, is_known ? rq->pg_fault : pg_fault_of_code(code));
}

/* The request, or its page, ends with the transaction still open. */
static void transaction_release(struct request *rq, void *held)
{
	struct pg_transaction *tx = held;
	rq->is_in_transaction = false;
	if (tx->conn)
		pooled_conn_undo(tx->conn);
}

/* The open transaction of the request; NULL: none. */
static struct pg_transaction *transaction_of(const struct request *rq)
{
	return request_held(rq, transaction_release);
}

/* Run inside the transaction; with a savepoint a failure leaves the transaction usable. Any send
 * may find the connection broken. */
static const struct fault *run_inside(struct pg_pool *pool, struct pg_transaction *tx,
                                      struct pg_statement *st, bool has_savepoint,
                                      PGresult **ret_result)
{
	if (tx->conn && has_savepoint)
		pooled_conn_send_detached(tx->conn, "SAVEPOINT statement");
	if (!tx->conn) {
		pg_statement_free(st);
		return pg_fault(PG_FAULT_LOST);
	}
	pooled_conn_send(tx->conn, st);
	const struct fault *fault = pg_pool_wait(pool, st, true, ret_result);
	if (has_savepoint && fault && tx->conn)
		pooled_conn_send_detached(tx->conn, "ROLLBACK TO SAVEPOINT statement");
	if (has_savepoint && tx->conn)
		pooled_conn_send_detached(tx->conn, "RELEASE SAVEPOINT statement");
	return fault;
}

/* Whether a statement that ended so may have been committed. */
static bool may_have_committed(const struct fault *fault)
{
	return !fault || fault->code == ERR_UNCERTAIN || fault->code == ERR_TIMEOUT ||
	       fault->code == ERR_CLIENT_GONE;
}

/* Run one statement; its fault, NULL when it succeeded. */
static const struct fault *run(struct request *rq, bool has_savepoint, const struct pg_call *call,
                               PGresult **ret_result)
{
	struct pg_pool *pool = rq->worker->pg;
	enum err_code reason = fiber_cancelled(fiber_self());
	*ret_result = NULL;
	if (reason != ERR_NONE)
		return pg_fault_of_code(reason);
	struct pg_transaction *tx = transaction_of(rq);
	struct pg_statement *st =
		pg_statement_new(tx ? PG_INSIDE : PG_SINGLE, call->sql, call->params, call->count);
	if (tx)
		return run_inside(pool, tx, st, has_savepoint, ret_result);
	bool is_read = st->is_read;
	st->fair.account = rq->caller.account;
	pg_pool_submit(pool, st);
	const struct fault *fault = pg_pool_wait(pool, st, true, ret_result);
	rq->has_effects |= !is_read && may_have_committed(fault);
	return fault;
}

struct pg_rows *pg_query_call(struct request *rq, const struct pg_call *call)
{
	PGresult *result;
	const struct fault *fault = run(rq, false, call, &result);
	if (!fault)
		return rows_new(rq->arena, result);
	PQclear(result);
	raise_fault(rq, fault);
}

/* What pg_try() returns; takes the result. */
static enum err_code outcome(struct request *rq, const struct fault *fault, PGresult *result,
                             struct pg_rows **ret_rows, const char **ret_constraint)
{
	if (!fault) {
		*ret_rows = rows_new(rq->arena, result);
		return ERR_NONE;
	}
	if (ret_constraint)
		*ret_constraint = arena_strdup(rq->arena,
		                               PQresultErrorField(result, PG_DIAG_CONSTRAINT_NAME));
	PQclear(result);
	rq->pg_fault = fault;
	return fault->code;
}

enum err_code pg_try_call(struct request *rq, struct pg_rows **ret_rows,
                          const char **ret_constraint, const struct pg_call *call)
{
	PGresult *result;
	const struct fault *fault = run(rq, true, call, &result);
	return outcome(rq, fault, result, ret_rows, ret_constraint);
}

enum err_code pg_try_all(struct request *rq, struct pg_rows **ret_rows, const char **ret_constraint,
                         const struct pg_call *calls, size_t count)
{
	struct pg_pool *pool = rq->worker->pg;
	enum err_code reason = fiber_cancelled(fiber_self());
	require(count > 0 && !transaction_of(rq));
	if (reason != ERR_NONE) {
		rq->pg_fault = pg_fault_of_code(reason);
		return reason;
	}
	struct pg_statement *first = NULL, **next = &first;
	for (size_t i = 0; i < count; i++) {
		*next = pg_statement_new(i == 0 ? PG_SINGLE : PG_PART, calls[i].sql,
		                         calls[i].params, calls[i].count);
		next = &(*next)->next_part;
	}
	first->is_read = false;
	first->fair.account = rq->caller.account;
	pg_pool_submit(pool, first);
	PGresult *result = NULL;
	const struct fault *fault = pg_pool_wait(pool, first, true, &result);
	rq->has_effects |= may_have_committed(fault);
	return outcome(rq, fault, result, ret_rows, ret_constraint);
}

/* Transactions */

bool pg_in_transaction(const struct request *rq)
{
	return transaction_of(rq) != NULL;
}

static void transaction_abandon(struct request *rq, struct pg_transaction *tx)
{
	transaction_release(rq, tx);
	request_unhold(rq, transaction_release);
}

static attr_noreturn void transaction_fail(struct request *rq, struct pg_transaction *tx,
                                           const struct fault *fault)
{
	transaction_abandon(rq, tx);
	raise_fault(rq, fault);
}

void pg_begin(struct request *rq)
{
	struct pg_transaction *tx = transaction_of(rq);
	if (tx) {
		if (!tx->conn)
			transaction_fail(rq, tx, pg_fault(PG_FAULT_LOST));
		pooled_conn_send_detached(tx->conn, "SAVEPOINT nested");
		tx->depth++;
		return;
	}
	enum err_code reason = fiber_cancelled(fiber_self());
	if (reason != ERR_NONE)
		pg_raise(rq, reason);
	tx = arena_new_of(rq->arena, struct pg_transaction);
	*tx = (struct pg_transaction){.rq = rq, .depth = 1};
	request_hold(rq, transaction_release, tx);
	rq->is_in_transaction = true;

	struct pg_pool *pool = rq->worker->pg;
	struct pg_statement *st = pg_statement_new(PG_BEGIN, "BEGIN", NULL, 0);
	st->transaction = tx;
	pg_pool_submit(pool, st);
	PGresult *result = NULL;
	const struct fault *fault = pg_pool_wait(pool, st, true, &result);
	PQclear(result);
	if (fault)
		transaction_fail(rq, tx, fault);
}

void pg_commit(struct request *rq)
{
	struct pg_transaction *tx = transaction_of(rq);
	require(tx);
	enum err_code reason = fiber_cancelled(fiber_self());
	if (!tx->conn || reason != ERR_NONE)
		transaction_fail(rq, tx,
		                 reason ? pg_fault_of_code(reason) : pg_fault(PG_FAULT_LOST));
	if (--tx->depth > 0) {
		pooled_conn_send_detached(tx->conn, "RELEASE SAVEPOINT nested");
		return;
	}
	struct pg_pool *pool = rq->worker->pg;
	struct pg_statement *st = pg_statement_new(PG_COMMIT, "COMMIT", NULL, 0);
	PGresult *result = NULL;
	pooled_conn_send(tx->conn, st);
	const struct fault *fault = pg_pool_wait(pool, st, false, &result);
	/* In a transaction that a failure has ended, COMMIT answers ROLLBACK, not an error. */
	if (!fault && strcmp(PQcmdStatus(result), "COMMIT") != 0)
		fault = pg_fault(PG_FAULT_INTERNAL);
	rq->has_effects |= may_have_committed(fault);
	PQclear(result);
	if (tx->conn)
		pooled_conn_check_in(tx->conn);
	request_unhold(rq, transaction_release);
	rq->is_in_transaction = false;
	pg_pool_run(pool);
	if (fault)
		raise_fault(rq, fault);
}

void pg_rollback(struct request *rq)
{
	struct pg_transaction *tx = transaction_of(rq);
	require(tx);
	if (--tx->depth > 0) {
		if (tx->conn)
			pooled_conn_send_detached(tx->conn, "ROLLBACK TO SAVEPOINT nested");
		if (tx->conn)
			pooled_conn_send_detached(tx->conn, "RELEASE SAVEPOINT nested");
		return;
	}
	transaction_abandon(rq, tx);
}
