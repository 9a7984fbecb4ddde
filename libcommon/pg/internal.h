/** What the files of the Postgres client share; nobody else includes it.
 *
 * Words used here:
 *   statement   one SQL text with parameters on its way: waiting, sent or done
 *   connection  one PGconn in pipeline mode (pg_conn.h)
 *   shared      a connection that carries single statements of any request
 *   checked out a connection that belongs to one transaction
 *
 *     pg.c, pg_transaction.c   what fibers call
 *     pg_statement.c           a statement's life and its outcome
 *     pg_pool.c                which statement goes to which connection
 *     pg_line.c                what becomes of a connection that the pool uses
 *     pg_pipeline.c            sending on a connection and matching the answers
 *     pg_conn.c, pg_target.c   one connection: resolve, connect, watch, back off
 */
#pragma once

#include "loop/fiber.h"
#include "loop/worker.h"
#include "pg/conn.h"
#include "pg/pg.h"
#include "pg/prepared.h"

#include <libpq-fe.h>

/** A doubly linked ring; an element that is in none points to itself. */
struct pg_link {
	struct pg_link *prev, *next;
};

static inline void pg_link_init(struct pg_link *link)
{
	link->prev = link->next = link;
}

static inline bool pg_link_empty(const struct pg_link *link)
{
	return link->next == link;
}

/** Put `link` behind `where`; behind the ring's head is its front. */
static inline void pg_link_after(struct pg_link *where, struct pg_link *link)
{
	link->prev = where;
	link->next = where->next;
	where->next->prev = link;
	where->next = link;
}

static inline void pg_link_remove(struct pg_link *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
	pg_link_init(link);
}

enum pg_statement_state {
	PG_STATEMENT_WAITING, /* for a connection, in pool->statements or pool->begins */
	PG_STATEMENT_SENT,    /* in line->sent, answers come in that order */
	PG_STATEMENT_DONE,    /* in pool->done until its fiber is woken */
};

enum pg_statement_kind {
	PG_SINGLE,   /* on a shared connection, commits by itself */
	PG_BEGIN,    /* opens `transaction` on a connection of its own */
	PG_INSIDE,   /* runs in `transaction` */
	PG_COMMIT,   /* ends it */
	PG_DETACHED, /* nobody waits and nobody retries: ROLLBACK, SAVEPOINT and its kin */
};

/** Allocated by itself, since libpq answers even when the fiber that asked is gone. */
struct pg_statement {
	struct pg_link link;
	enum pg_statement_state state;
	enum pg_statement_kind kind;
	struct fiber *fiber; /* who waits; NULL: nobody any more */
	const char *sql;     /* this and the next two live as long as `fiber` waits */
	const struct pg_param *params;
	size_t count;
	uint64_t hash;                      /* of sql */
	struct pg_transaction *transaction; /* of PG_BEGIN */
	struct pg_prepared_entry *prepared; /* what it was sent with; NULL: unprepared */
	bool is_read;
	bool is_preparing;      /* the answer of Parse comes first */
	bool is_synced;         /* its Sync was handed to libpq: the server may have committed it */
	bool may_be_done;       /* answered before the server ended the connection */
	bool was_sent_again;    /* a read whose connection broke once */
	uint64_t started_us;    /* when it was asked for */
	uint64_t sent_ms;       /* uv_now() of sending */
	uint64_t time_limit_ms; /* that the server was told */
	uint64_t wait_until_ms; /* give up waiting for a connection */
	uint64_t retry_until_ms; /* 0 until the first retry */
	enum err_code code;      /* of PG_STATEMENT_DONE */
	PGresult *result;        /* the newest answer; NULL: none */
};

/** A connection as the pool uses it. */
struct pg_line {
	struct pg_conn *conn;
	struct pg_pool *pool;
	struct pg_link sent;
	size_t in_flight;
	struct pg_prepared prepared;
	struct pg_transaction *transaction; /* checked out */
	bool is_reserved;                   /* for a transaction, once what is sent is answered */
	bool is_ending;                     /* a ROLLBACK is on its way */
	bool is_dirty;                      /* something was sent since the last flush */
	bool is_doomed;                     /* the server has said that it ends it */
	bool is_standby;                    /* it has refused a write: left once it is idle */
	bool is_confused;     /* libpq has dropped an answer: who got which is not known */
	bool is_silent;       /* it was overdue at the last sweep */
	uint64_t used_ms;     /* uv_now() of the last sending */
	uint64_t progress_ms; /* when the oldest of what is sent became the oldest */
	uint64_t busy_us;     /* the same by time_monotonic_us(), of the last batch of answers */
};

struct pg_transaction {
	struct pg_line *line; /* NULL: not begun, or lost */
	struct request *rq;
	int depth;              /* 1: the outermost */
	uint64_t time_limit_ms; /* of each of its statements */
};

struct pg_listener;

struct pg_pool {
	uv_loop_t *loop;
	struct pg_settings settings;
	struct pg_target *target;
	struct pg_line *lines;
	struct pg_link statements, begins; /* that wait for a connection */
	struct pg_link done;               /* whose fibers are to be woken */
	struct pg_listener *listener;
	uv_timer_t wait_timer;  /* the earliest wait_until_ms */
	uv_timer_t sweep_timer; /* idle and overdue connections */
	uv_prepare_t flusher;   /* active while a line is dirty */
	uint64_t usual_us;      /* how long the server takes for a statement: moving average */
	size_t waiting;
	size_t handles;  /* of libuv, not yet closed; the pool is freed with the last */
	bool is_running; /* pg_pool_run() is */
	bool is_freed;
};

/** `for (each_line(line, pool))` */
#define each_line(line, pool)                                  \
	struct pg_line *line = (pool)->lines;                  \
	(line) < (pool)->lines + (pool)->settings.connections; \
	(line)++

/** The first statement of a ring that is not empty. */
static inline struct pg_statement *pg_queue_first(const struct pg_link *queue)
{
	return CONTAINER_OF(queue->next, struct pg_statement, link);
}

/* pg_statement.c */

/** A statement of the running fiber, not yet anywhere. Borrows the text and the parameters. */
struct pg_statement *pg_statement_new(enum pg_statement_kind kind, const char *sql,
                                      const struct pg_param *params, size_t count);
void pg_statement_free(struct pg_statement *st);

/** Suspend until it is done, then give the outcome; `ret_result` the answer, which the caller
 * clears. Frees the statement. A cancelled fiber leaves it behind and gets the reason. */
enum err_code pg_statement_wait(struct pg_pool *pool, struct pg_statement *st, bool is_cancellable,
                                PGresult **ret_result);

/** All its answers are in: the outcome, or back into the pool's queue for another try. */
void pg_statement_answered(struct pg_pool *pool, struct pg_statement *st);

/** Its connection is gone: the outcome, or back into the queue. */
void pg_statement_lost(struct pg_pool *pool, struct pg_statement *st, bool was_not_run);

/** Done with `code`; wakes the fiber at the next pg_pool_run(), frees it when nobody waits. */
void pg_statement_done(struct pg_pool *pool, struct pg_statement *st, enum err_code code);

/* pg_pipeline.c */

/** Hand a statement to libpq, its Sync too. A failure makes the connection go down. */
void pg_line_send(struct pg_line *line, struct pg_statement *st);

/** Match what has arrived with what was sent. */
void pg_line_receive(struct pg_line *line);

/** Send a statement that nobody waits for. `sql` is a literal. */
void pg_line_send_detached(struct pg_line *line, const char *sql);

/* pg_line.c */

/** What a line's connection tells it. */
extern const struct pg_conn_owner pg_line_owner;

static inline bool pg_line_is_ready(const struct pg_line *line)
{
	return pg_conn_state(line->conn) == PG_CONN_READY;
}

/** Whether its oldest statement is unanswered for so long that nothing is to be sent behind it. */
bool pg_line_is_stuck(const struct pg_line *line);

/** What is sent on the line is answered, or it is free again. */
void pg_line_idle(struct pg_line *line);

/** Give up a connection whose server says nothing for longer than it was told to work. Twice in a
 * row, so that the answers are read first when it was this process that stood still. Something is
 * sent. */
void pg_line_check_silence(struct pg_line *line);

/* pg_pool.c */

/** Queue a single statement or a BEGIN, and send it at once when a connection is free. */
void pg_pool_submit(struct pg_pool *pool, struct pg_statement *st);

/** Put a statement back in front of its queue. */
void pg_pool_requeue(struct pg_pool *pool, struct pg_statement *st);

/** A statement leaves the queue. */
void pg_pool_unqueue(struct pg_pool *pool, struct pg_statement *st);

/** Serve who waits as far as connections are free, and wake the fibers whose statements are done.
 * Called from inside itself (a woken fiber asks for more) it leaves the work to the outer call. */
void pg_pool_run(struct pg_pool *pool);

/** Note that a line has something to flush before the loop sleeps. */
void pg_pool_flush_soon(struct pg_pool *pool);

/** One of its libuv handles has been closed. */
void pg_pool_handle_closed(struct pg_pool *pool);

/* pg_transaction.c */

/** Give it a connection and send its BEGIN, `st`. */
void pg_transaction_start(struct pg_transaction *tx, struct pg_line *line, struct pg_statement *st);

/* pg_listen.c */
void pg_listener_free(struct pg_listener *listener);

/* pg_error.c */

/** The code of a failed answer. */
enum err_code pg_result_code(const PGresult *result);

/** Its SQLSTATE; "" when it has none. */
const char *pg_result_sqlstate(const PGresult *result);

/** Whether a server refused a write because it takes none. */
bool pg_result_is_of_standby(const PGresult *result);

/** One sentence for the client. */
const char *pg_error_detail(enum err_code code);

/* pg_metrics.c */
enum pg_gauge { PG_GAUGE_CONNECTIONS, PG_GAUGE_CHECKED_OUT, PG_GAUGE_WAITING };
void pg_metrics_register(void);
void pg_metrics_gauge(enum pg_gauge gauge, int change);
void pg_metrics_statement(enum err_code code, uint64_t started_us);

/** The transaction that the request has open; NULL: none. */
struct pg_transaction *pg_transaction_of(const struct request *rq);
