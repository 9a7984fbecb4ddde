/** libcommon/pg/: Postgres for fibers, over libpq in pipeline mode.
 *
 * pg_pool_new() makes the pool of a worker. Fibers call pg_query() and pg_try() for one statement,
 * pg_begin() and pg_commit() for a transaction. pg_listen() receives notifications. batch.h lets
 * requests share a statement and its commit. migrate.h applies the schema migrations, before and
 * beside all this. pool.h describes the internal files.
 *
 * Connections. Single statements of many requests share the few pipelined connections of their
 * worker. Each statement has its own Sync, so one failure does not affect the others. A
 * transaction checks a connection out until it ends. Statements are prepared on first use per
 * connection. A lost connection is reopened with backoff (reconnect.h); statements wait for a
 * connection up to pool_wait_ms.
 *
 * When a fiber ends, its open transaction is rolled back. A single statement that was sent
 * continues, and its answer is dropped.
 *
 * Deadlines. The fiber stops waiting at its deadline. The server has limits too, without cancel
 * requests, which on a shared connection could hit another request's statement. A single statement
 * runs at most statement_timeout_ms. A transaction's statements run at most what is left of the
 * request's deadline when it begins. When a transaction is abandoned while a statement runs, its
 * connection is closed, which the server notices within a second
 * (client_connection_check_interval, PostgreSQL 14). So a statement that needs longer than
 * statement_timeout_ms belongs in a transaction.
 *
 * Servers that do not answer. A stopped server, or a network that drops every packet, leaves
 * connections open. Statements that were sent wait until their deadline, since they may have run.
 * After stuck_ms no more statements are sent on that connection: they wait in the pool and fail
 * with ERR_UNAVAILABLE after pool_wait_ms; nothing was done. A connection is closed when its
 * server exceeds the time limit of a statement without an answer, and when the other end does not
 * acknowledge bytes (tcp_user_timeout, 10 s). While nothing is heard from the server, an idle
 * connection is probed every second, so that pg_pool_fault() knows in time.
 *
 * A process that vanishes or is stopped inside a transaction loses that transaction and its locks
 * after 10 s: idle_in_transaction_session_timeout and the server's own keepalives (session.h). So
 * no transaction may wait for anything but statements.
 *
 * Poolers. The pool works through PgBouncer with transaction pooling: it sends no options when it
 * connects, SETs nothing outside of transactions, and takes only locks that end with the
 * transaction. LISTEN and migrations use `direct_url`. Prepared statements need PgBouncer 1.21;
 * before that, `is_unprepared`.
 *
 * Failover. When a server refuses a write because it is read-only, as a demoted primary is, its
 * connections are closed: the next connection may reach the new primary under the same name. Single
 * statements wait for that. The URL may also list hosts, with target_session_attrs=read-write: each
 * attempt to connect begins with the next of them.
 *
 * Slow statements are logged, by the names that they have in a noun.sql, and now and then their
 * plans (statement_plan() in statement.fn.sql). Never their parameters.
 *
 * Reads. A statement whose text starts with PG_READ_MARK changes nothing: it is sent again when its
 * connection breaks. In a noun.sql, its line `-- name:` ends with `(read)`. Any other statement is
 * a write, whatever its first word: `SELECT task_start(...)` writes.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "crypto/uuid.h"
#include "loop/request.h"

#include <uv.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pg_pool;

struct pg_settings {
	const char *url;             /* postgres://…; borrows */
	const char *direct_url;      /* the same database without a pooler, for LISTEN; NULL: url */
	bool is_unprepared;          /* send statements without preparing them */
	int connections;             /* at most, shared and checked out */
	uint64_t connect_timeout_ms; /* 5,000 */
	uint64_t pool_wait_ms;       /* 2,000: how long a statement waits for a connection before
					ERR_UNAVAILABLE */
	uint64_t idle_close_ms;      /* 60,000: of idle connections other than the first */
	uint64_t statement_timeout_ms; /* 30,000: statement_timeout of the role (session.h) */
	uint64_t slow_ms;  /* statements that take the server so long are logged; 0: none */
	uint64_t stuck_ms; /* 5,000: a connection whose oldest statement waits for longer gets no
			      more */
};

/** Prefix of a statement that only reads. */
#define PG_READ_MARK "/* read */"

/** Make a pool on `loop`, which is that of a struct worker. The first connection is made as soon as
 * the loop runs and is kept open; the others are opened when they are needed. Copies the settings;
 * 0 means the default given there (4 connections). NULL: the URL cannot be parsed. */
struct pg_pool *pg_pool_new(uv_loop_t *loop, const struct pg_settings *settings);

/** Close and free; the loop must still run libuv's close callbacks. Waiting statements fail with
 * ERR_UNAVAILABLE, open transactions are rolled back. NULL is fine. */
void pg_pool_free(struct pg_pool *pool);

/** For /readyz: why statements cannot run now, in words for the operator; NULL: they can. It
 * changes within 5 s of the last answer of a server that stops answering, also when no statements
 * run. */
const char *pg_pool_fault(const struct pg_pool *pool);

static inline bool pg_pool_is_ready(const struct pg_pool *pool)
{
	return !pg_pool_fault(pool);
}

/** One `$n` parameter. All are sent as text; the statement determines their types. */
struct pg_param {
	const char *text; /* NULL: SQL NULL. Borrowed until the call returns */
};

struct pg_param pg_text(const char *text); /* NULL: SQL NULL */
struct pg_param pg_null(void);
/* The next ones format into the request's arena. */
struct pg_param pg_int_in(struct request *rq, int64_t value);
struct pg_param pg_uuid_in(struct request *rq, struct uuid value);
struct pg_param pg_bytes_in(struct request *rq, const void *data, size_t length); /* bytea */
struct pg_param pg_sha256_in(struct request *rq, const char *text); /* bytea, of a secret */
struct pg_param pg_time_in(struct request *rq, int64_t time_ms);    /* timestamptz */
struct pg_param pg_bool(bool value);

/* For the arguments of pg_query() and pg_try(); they expect the request to be called `rq`. */
#define pg_int(v)         pg_int_in(rq, (v))
#define pg_uuid(v)        pg_uuid_in(rq, (v))
#define pg_bytes(data, n) pg_bytes_in(rq, (data), (n))
#define pg_sha256(text)   pg_sha256_in(rq, (text))
#define pg_time(v)        pg_time_in(rq, (v))

/** Rows of an answer, in the arena of the request. */
struct pg_rows {
	int count; /* rows */
	int columns;
	int64_t affected;   /* of INSERT, UPDATE, DELETE */
	const char **names; /* of the columns */
	char **values;      /* row-major; NULL: SQL NULL */
	size_t *lengths;
	int *next; /* the column after the one that was last read: where pg_get() looks first */
};

/** A statement with its parameters. `params[0]` is not used: it lets PG_CALL() take none at all. */
struct pg_call {
	const char *sql;
	const struct pg_param *params;
	size_t count; /* of params, without the first */
};

/** Lives until the end of the enclosing block. */
#define PG_CALL(sql_, ...)                                                                 \
	(struct pg_call)                                                                   \
	{                                                                                  \
		.sql = (sql_), .params = (const struct pg_param[]){{NULL}, ##__VA_ARGS__}, \
		.count = ARRAY_LEN(((const struct pg_param[]){{NULL}, ##__VA_ARGS__})) - 1 \
	}

/** Run one statement and wait for its rows. Suspends. Inside pg_begin() … pg_commit() it runs on
 * that connection.
 *
 * Raises: ERR_UNAVAILABLE no connection in time, or the server is shutting down or in recovery
 * (nothing was done); ERR_UNCERTAIN the connection broke after a write was sent (see "Reads" above;
 * inside a transaction only pg_commit() can be uncertain); ERR_TIMEOUT the deadline passed (a write
 * that was sent may still be done); ERR_CONFLICT a unique or exclusion constraint (23505, 23P01);
 * ERR_CONTENTION a serialisation failure (40001), a deadlock (40P01) or a lock that was not
 * available in time (55P03): nothing was done. The pool has retried single statements; a request
 * that has changed nothing else runs again from its beginning (http_request.h), a job is retried
 * (task.h); ERR_INVALID a foreign key, check or not-null constraint (23503, 23514, 23502) and data
 * exceptions (22xxx); ERR_INTERNAL any other SQLSTATE, logged with the statement's text but without
 * parameters. fault.c has all SQLSTATEs; the detail of the problem says which fault it was. */
#define pg_query(rq, sql, ...) pg_query_call((rq), &PG_CALL((sql), ##__VA_ARGS__))
struct pg_rows *pg_query_call(struct request *rq, const struct pg_call *call);

/** As pg_query(), but returns the failure. `ret_constraint` (may be NULL): name of the violated
 * constraint, or NULL. Inside a transaction the statement has its own savepoint, so that its
 * failure leaves the transaction usable. */
#define pg_try(rq, ret_rows, ret_constraint, sql, ...) \
	pg_try_call((rq), (ret_rows), (ret_constraint), &PG_CALL((sql), ##__VA_ARGS__))
enum err_code pg_try_call(struct request *rq, struct pg_rows **ret_rows,
                          const char **ret_constraint, const struct pg_call *call);

/** Raise what pg_query() would have raised, for a failure `code` of pg_try() that the caller does
 * not handle. */
attr_noreturn void pg_raise(struct request *rq, enum err_code code);

/** Run statements in one transaction of their own and one round trip: all of them, or none.
 * Suspends. `ret_rows` gets those of the last; the others' are dropped. Returns the failure of the
 * first one that failed, as pg_try() does. Requires that there is at least one statement, and that
 * the request has no open transaction. */
enum err_code pg_try_all(struct request *rq, struct pg_rows **ret_rows, const char **ret_constraint,
                         const struct pg_call *calls, size_t count);

/** Check a connection out and BEGIN (READ COMMITTED). Suspends. Inside a transaction
 * nothing but Postgres may be waited for: fetch_try(), service_call(), Redis, fiber_sleep(),
 * fiber_offload() and fiber_join() require() it.
 *
 * Inside a transaction it sets a savepoint instead: the inner pg_commit() releases it, the inner
 * pg_rollback() undoes the changes since, and only the outermost pg_commit() makes the changes
 * durable and visible. So a handler that runs inside the transaction of an Idempotency-Key
 * (idempotency.h) may use transactions itself.
 *
 * Raises ERR_UNAVAILABLE no connection in time, ERR_TIMEOUT. */
void pg_begin(struct request *rq);

/** COMMIT and give the connection back; waits for the answer even after the deadline. Raises
 * ERR_UNCERTAIN when the answer was lost, ERR_UNAVAILABLE when the connection had broken before,
 * ERR_INTERNAL when an earlier failure had already ended the transaction, and the errors of
 * deferred constraints. In every case the transaction is over. */
void pg_commit(struct request *rq);

/** Roll back and give the connection back. Does not suspend. */
void pg_rollback(struct request *rq);

/** Whether the request has an open transaction. */
bool pg_in_transaction(const struct request *rq);

static inline bool pg_empty(const struct pg_rows *rows)
{
	return rows->count == 0;
}

/** The value of a named column, as text; NULL for SQL NULL. require()s that row and column exist.
 * The lint compares the names with those in the statements of the file.
 *
 *     -- name: job_fail(task, attempt, ...)
 *     UPDATE ... RETURNING is_over
 *
 *     if (pg_get_bool(rows, 0, "is_over"))
 *
 * A loop over many rows that reads their columns in the order of the statement compares each name
 * once. A result is read by one thread at a time. */
const char *pg_get(const struct pg_rows *rows, int row, const char *column);
int64_t pg_get_int(const struct pg_rows *rows, int row, const char *column); /* 0 for NULL */
double pg_get_float(const struct pg_rows *rows, int row, const char *column);
bool pg_get_bool(const struct pg_rows *rows, int row, const char *column);
struct uuid pg_get_uuid(const struct pg_rows *rows, int row, const char *column); /* not NULL */

/** A bytea value (hex output), decoded into the arena; NULL for SQL NULL. */
void *pg_get_bytes(struct arena *arena, const struct pg_rows *rows, int row, const char *column,
                   size_t *ret_length);

/** The same of a result with one column, whatever its name. require()s that there is one. */
const char *pg_value(const struct pg_rows *rows, int row);
int64_t pg_value_int(const struct pg_rows *rows, int row); /* 0 for NULL */
double pg_value_float(const struct pg_rows *rows, int row);
bool pg_value_bool(const struct pg_rows *rows, int row);
void *pg_value_bytes(struct arena *arena, const struct pg_rows *rows, int row, size_t *ret_length);

/** First column of the first row: the JSON that Postgres built. require()s that there is a row. */
const char *pg_json(const struct pg_rows *rows);

/** A notice that the server raises with this SQLSTATE, and what is called for it. */
struct pg_notice {
	const char *sqlstate; /* NULL ends a table */
	void (*cb)(void *context);
};

/** For each notice of the table, call `cb` when a transaction in which it was raised has ended: was
 * committed, rolled back or lost. So a trigger can notify the client of what was written, without
 * NOTIFY, whose lock makes all such commits of the server wait for each other. One table of at most
 * 8 for a pool; until it is freed. Borrows it. `cb` must not use the pool. */
void pg_on_notices(struct pg_pool *pool, const struct pg_notice *notices, void *context);

/** Called on the pool's loop for each notification, and with NULL after each (re)connection, since
 * notifications may have been missed. */
typedef void pg_listen_cb(void *context, const char *payload);

/** LISTEN on a separate connection until the pool is freed. `channel` is a plain
 * identifier. */
void pg_listen(struct pg_pool *pool, const char *channel, pg_listen_cb *cb, void *context);
