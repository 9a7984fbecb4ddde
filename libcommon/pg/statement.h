/** A statement: one SQL text with its parameters, from the call of a fiber to the answer of the
 * server. This file also finds the fault of a failed answer and counts outcomes.
 *
 *     NEW -> WAITING -> SENT -> DONE -> WOKEN
 *
 *     NEW -> SENT       inside a transaction
 *     SENT -> WAITING   it is retried
 *     WAITING -> DONE   no connection was free in time
 */
#pragma once

#include "base/base.h"
#include "loop/fiber.h"
#include "pacing/fair_queue.h"
#include "pg/fault.h"
#include "pg/pg.h"

#include <libpq-fe.h>

#include <sys/queue.h>

enum pg_statement_state {
	PG_STATEMENT_NEW,     /* in no list */
	PG_STATEMENT_WAITING, /* for a connection: in pool->singles or pool->begins */
	PG_STATEMENT_SENT,    /* in conn->sent; the server answers in that order */
	PG_STATEMENT_DONE,    /* in pool->done until pg_pool_run() wakes its fiber */
	PG_STATEMENT_WOKEN,   /* in no list */
};

enum pg_statement_kind {
	PG_SINGLE,   /* runs on a shared connection and commits by itself, with its parts */
	PG_PART,     /* runs behind a PG_SINGLE, in its transaction */
	PG_BEGIN,    /* opens `transaction` and checks a connection out for it */
	PG_INSIDE,   /* runs inside a transaction */
	PG_COMMIT,   /* ends a transaction */
	PG_DETACHED, /* no fiber waits for it, and it is not retried: ROLLBACK, SAVEPOINT */
	PG_PROBE,    /* as PG_DETACHED; asks whether the server answers */
};

struct pg_transaction;
struct prepared_statement;

/** Allocated on the heap, not in the arena: libpq answers even when the fiber has ended. */
struct pg_statement {
	TAILQ_ENTRY(pg_statement) entry;
	enum pg_statement_state state;
	enum pg_statement_kind kind;
	struct fiber *fiber; /* waits for the answer; NULL: none does, or no longer */
	const char *sql;     /* this and `params` are valid only while `fiber` waits */
	const struct pg_param *params;
	size_t count;      /* of params, without the unused first */
	size_t sql_length; /* this and the next: key of prepared statements */
	unsigned sql_hash;
	struct pg_statement *next_part; /* PG_PART; NULL: none */
	/* Of a statement that was sent: the part whose answer is next, or the last. */
	struct pg_statement *answering;
	struct pg_transaction *transaction; /* of PG_BEGIN */
	/* Of PG_SINGLE and PG_BEGIN: its place while it waits; the account of PG_SINGLE. */
	struct fair_entry fair;
	struct prepared_statement *prepared; /* what it was sent as; NULL: unprepared */
	bool is_read;
	bool is_preparing;   /* the answer to Parse comes first */
	bool is_synced;      /* libpq has its Sync: the server may have committed it */
	bool may_be_done;    /* it was answered before the server ended the connection */
	bool was_sent_again; /* a read whose connection broke once */
	uint64_t started_us; /* when the fiber called */
	uint64_t sent_ms;    /* uv_now() of sending */
	/* uv_now() since when the server can have run it, and of its answer; 0: not yet */
	uint64_t began_ms, ended_ms;
	uint64_t time_limit_ms;    /* that the server applies */
	uint64_t wait_until_ms;    /* uv_now() at which it stops waiting for a connection */
	uint64_t retry_until_ms;   /* 0 until the first retry */
	const struct fault *fault; /* of PG_STATEMENT_DONE; NULL: it succeeded */
	PGresult *result;          /* the newest answer; NULL: none */
};

TAILQ_HEAD(pg_statement_list, pg_statement);

/** That of an entry of a queue of statements; NULL of NULL. */
static inline struct pg_statement *pg_statement_of(struct fair_entry *entry)
{
	return entry ? CONTAINER_OF(entry, struct pg_statement, fair) : NULL;
}

/** Whether the text is that of a statement that changes nothing (PG_READ_MARK). */
bool pg_statement_is_read(const char *sql);

/** Make a statement of the running fiber, NEW. Borrows the text and the parameters. */
struct pg_statement *pg_statement_new(enum pg_statement_kind kind, const char *sql,
                                      const struct pg_param *params, size_t count);

/** Free a statement that is in no list, with its parts and results. */
void pg_statement_free(struct pg_statement *st);

/** Why the answer is a failure; NULL: it is none. */
const struct fault *pg_result_fault(const PGresult *result);

/** The SQLSTATE of an answer; "" when it has none. */
const char *pg_result_sqlstate(const PGresult *result);

/** Whether the server refused a write because it is read-only, as a standby is. */
bool pg_result_is_read_only(const PGresult *result);

enum pg_gauge { PG_GAUGE_CONNECTIONS, PG_GAUGE_CHECKED_OUT, PG_GAUGE_WAITING };
void pg_metrics_gauge(enum pg_gauge gauge, int change);

/** Count the outcome of a statement that a fiber waited for since `started_us`. */
void pg_metrics_statement(enum err_code code, uint64_t started_us);
