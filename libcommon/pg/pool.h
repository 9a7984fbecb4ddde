/** The pool of a worker and its connections: which statement runs where. Internal to this folder.
 *
 * pool.c and pooled_conn.c are two halves of one state machine and call each other; pool.c alone
 * calls share.c and, once a second, batch.c:
 *
 *     pool.c         the queues: which waiting statement goes to which connection; waking fibers
 *     share.c        whose turn it is, and how many connections an account may hold
 *     slow.c         what is reported of slow statements
 *     pooled_conn.c  one connection in pipeline mode: sending statements, matching the answers,
 *                    retrying, transactions
 *
 * The other files of the folder depend on each other in one direction:
 *
 *     fault.h      what can go wrong
 *     target.h     the URL as libpq parameters
 *     session.h    the settings that the role's sessions must have
 *     reconnect.h  one connection that reconnects (pg_link)
 *     statement.h  one statement, metrics
 *     listen.h     LISTEN on a separate pg_link
 *     pool.h       this file
 *     pg.h         what fibers call
 *     batch.h      statements that several requests share; calls pg.h
 *
 * Words used here:
 *   shared       a connection that carries single statements of any request
 *   checked out  a connection that belongs to one transaction
 *   reserved     a shared connection that gets no new statements, so that a transaction can have
 *                it once the earlier ones are answered
 */
#pragma once

#include "loop/worker.h"
#include "pg/listen.h"
#include "pg/reconnect.h"
#include "pg/statement.h"

struct pooled_conn {
	struct pg_link *link;
	struct pg_pool *pool;
	struct pg_statement_list sent;
	size_t in_flight;                       /* length of `sent` */
	struct prepared_statement *prepared;    /* hash table by SQL text; NULL: empty */
	SLIST_HEAD(, prepared_statement) stale; /* unusable; freed when the connection is lost */
	unsigned prepared_count;                /* ever made on the connection: in their names */
	struct pg_transaction *transaction;     /* which has checked it out; NULL: none */
	bool is_reserved;
	bool is_rolling_back; /* a ROLLBACK was sent and not yet answered */
	bool needs_flush;     /* something was sent since the last flush */
	bool is_terminated;   /* the server has said that it ends the connection */
	bool is_read_only;    /* the server has refused a write: closed once it is idle */
	bool is_out_of_sync;  /* libpq dropped an answer: answers no longer match statements */
	bool was_overdue;     /* at the last sweep */
	/* a bit for each of the pool's that was raised, and its transaction may go on */
	uint8_t notices;
	uint64_t used_ms;     /* uv_now() of the last sending */
	uint64_t progress_ms; /* uv_now() when the oldest of `sent` became the oldest */
	uint64_t busy_us;     /* time_monotonic_us() of the last answers, or of first sending */
};

struct pg_transaction {
	struct pooled_conn *conn; /* NULL: not begun, or lost */
	struct request *rq;
	int depth;              /* 1: the outermost */
	uint64_t time_limit_ms; /* of each of its statements */
	uint64_t turn;          /* of its BEGIN */
};

struct pg_pool {
	uv_loop_t *loop;
	struct pg_settings settings;
	struct pg_target *target, *direct; /* of statements; of LISTEN */
	struct pooled_conn *conns;         /* settings.connections of them */
	struct fair_queue singles;         /* statements that wait for a connection */
	struct fair_queue begins;          /* BEGINs that do (share.h) */
	uint64_t shared_until_ms;      /* uv_now() until which accounts have shares; 0: never yet */
	struct pg_statement_list done; /* their fibers are to be woken */
	struct pg_listener *listener;  /* NULL until the first pg_listen() */
	const struct pg_notice *notices; /* of pg_on_notices(); NULL: none */
	void *notice_context;
	struct pg_batch_queue *batch_queues; /* batch.c; hash table */
	uint64_t heard_ms;                   /* uv_now() of the last answer on any connection */
	uv_timer_t wait_timer;               /* the earliest wait_until_ms */
	uv_timer_t sweep_timer;              /* idle and overdue connections */
	uv_prepare_t flusher;                /* active while a connection needs_flush */
	uv_idle_t flush_hurry; /* with it; does nothing, but the loop waits for no event */
	uint64_t usual_us;     /* moving average of how long the server takes for a statement */
	size_t waiting;        /* length of singles and begins */
	size_t handles;        /* of libuv, not yet closed; the last one frees the pool */
	bool is_unprepared;    /* statements are sent without preparing them */
	bool is_running;       /* inside pg_pool_run() */
	bool is_freed;
};

/** The server is probed after a second without an answer, and does not answer when it has been
 * silent for so long. Together they are under 5 s, the limit that pg_pool_fault() promises. */
#define PG_PROBE_MS   1000
#define PG_SILENCE_MS 2500

/** `for (each_conn(conn, pool))` */
#define each_conn(conn, pool)                                  \
	struct pooled_conn *conn = (pool)->conns;              \
	(conn) < (pool)->conns + (pool)->settings.connections; \
	(conn)++

/* pool.c */

/** Queue a single statement, whose `fair.account` is set, or a BEGIN, and send it at once when a
 * connection is free. */
void pg_pool_submit(struct pg_pool *pool, struct pg_statement *st);

/** Suspend until the statement is done and return its fault, NULL when it succeeded; `ret_result`
 * is the answer, which the caller clears. Frees the statement. When the fiber is cancelled and
 * `is_cancellable`, returns the reason; a statement that was already sent then finishes without the
 * fiber. */
const struct fault *pg_pool_wait(struct pg_pool *pool, struct pg_statement *st, bool is_cancellable,
                                 PGresult **ret_result);

/** End the statement; `fault` NULL: it succeeded. pg_pool_run() will wake its fiber. Frees it if no
 * fiber waits. It must be in no list. */
void pg_pool_finish(struct pg_pool *pool, struct pg_statement *st, const struct fault *fault);

/** Retry a statement that changed nothing: put it at the front of its queue. False: it may not be
 * retried, because it is part of a transaction or its first failure was too long ago. It must be in
 * no list. */
bool pg_pool_retry(struct pg_pool *pool, struct pg_statement *st);

/** Serve the queues as far as connections are free, and wake the fibers whose statements are done.
 * A call from inside itself does nothing: the outer call goes on until no work is left. */
void pg_pool_run(struct pg_pool *pool);

/** Note that a connection needs_flush; it is flushed before the loop sleeps. */
void pg_pool_flush_soon(struct pg_pool *pool);

/** One of the pool's libuv handles has been closed. */
void pg_pool_handle_closed(struct pg_pool *pool);

/* slow.c */

/** Log and count each of the statement and its parts that the server took, or takes, longer for
 * than settings.slow_ms. In its fiber, whose request the lines are of. At most once a minute for a
 * name, the plan is asked for, by a request of its own. */
void pg_slow_check(struct pg_pool *pool, const struct pg_statement *st);

/* batch.c */

/** Start the statements of batches that wait for a slow one. */
void pg_batch_sweep(struct pg_pool *pool);

/* pooled_conn.c */

/** Set up a zeroed connection, not yet connecting. */
void pooled_conn_init(struct pooled_conn *conn, struct pg_pool *pool);

static inline bool pooled_conn_is_ready(const struct pooled_conn *conn)
{
	return pg_link_state(conn->link) == PG_LINK_READY;
}

/** Whether its oldest statement is unanswered for more than stuck_ms: nothing is sent behind it. */
bool pooled_conn_is_stuck(const struct pooled_conn *conn);

/** Whether it awaits an answer, and none has come on any connection of the pool, for
 * PG_SILENCE_MS. */
bool pooled_conn_is_silent(const struct pooled_conn *conn);

/** Send a statement without effect, to learn whether the server answers. */
void pooled_conn_probe(struct pooled_conn *conn);

/** Hand a statement, with its Sync, to libpq. On failure the connection breaks. */
void pooled_conn_send(struct pooled_conn *conn, struct pg_statement *st);

/** Send a statement that no fiber waits for. `sql` is a literal. */
void pooled_conn_send_detached(struct pooled_conn *conn, const char *sql);

/** Check the connection out for st->transaction and send its BEGIN, `st`. */
void pooled_conn_check_out(struct pooled_conn *conn, struct pg_statement *st);

/** Share the connection again, after its transaction has ended. */
void pooled_conn_check_in(struct pooled_conn *conn);

/** Undo the transaction that the connection is checked out for. While one of its statements runs,
 * the connection is closed: the server ends the statement when it notices, and no other statement
 * waits for it. Else a ROLLBACK is sent. */
void pooled_conn_undo(struct pooled_conn *conn);

/** Close a connection whose server has exceeded the time limit of its oldest statement without an
 * answer. Only the second such check in a row closes it: if this process was stopped, it reads the
 * answers between the two. Requires that a statement is in flight. */
void pooled_conn_check_overdue(struct pooled_conn *conn);
