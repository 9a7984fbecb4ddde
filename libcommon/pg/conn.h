/** One connection to Postgres as a state machine on the loop.
 *
 *                 pg_conn_connect()
 *      CLOSED ----------------------> RESOLVING --address--> CONNECTING --PQconnectPoll--> READY
 *        ^ ^                               |                      |                          |
 *        | |                               +------- failed -------+---------- lost ----------+
 *        | |                                                      v                          |
 *        | +------------ not wanted ------------------------- BROKEN --backoff, wanted--> RESOLVING
 *        +------------------------------ pg_conn_close() ------------------------------------+
 *
 *   state       socket     timer            watcher
 *   CLOSED      none       off              none
 *   RESOLVING   none       connect timeout  none; a look-up on libuv's pool, skipped for literals
 *   CONNECTING  libpq's    connect timeout  a fresh one for every PQconnectPoll() turn
 *   READY       libpq's    off              one, reading, and writing while libpq has bytes left
 *   BROKEN      none       backoff          none
 */
#pragma once

#include "pg/target.h"

#include <libpq-fe.h>
#include <uv.h>

#include <stdbool.h>
#include <stdint.h>

enum pg_conn_state {
	PG_CONN_CLOSED,
	PG_CONN_RESOLVING,
	PG_CONN_CONNECTING,
	PG_CONN_READY,
	PG_CONN_BROKEN,
	PG_CONN_STATES
};

/** What the owner is told, each time from the loop's stack or from inside a call of its own. */
struct pg_conn_owner {
	void (*ready)(void *context);    /* CONNECTING -> READY */
	void (*readable)(void *context); /* READY: time for PQconsumeInput() */
	void (*lost)(void *context);     /* READY is over, the PGconn not yet freed */
	void (*broken)(void *context);   /* now BROKEN, after lost() or a failed attempt */
	bool (*wanted)(void *context);   /* after the backoff: try again? */
	void (*freed)(void *context);    /* after pg_conn_free(): its handles are closed */
};

struct pg_conn;

/** Borrows the target and the owner. */
struct pg_conn *pg_conn_new(uv_loop_t *loop, const struct pg_target *target,
                            uint64_t connect_timeout_ms, const struct pg_conn_owner *owner,
                            void *context);

/** Close and free; owner->freed() follows from the loop. */
void pg_conn_free(struct pg_conn *conn);

/** CLOSED: begin to connect. In any other state: nothing. */
void pg_conn_connect(struct pg_conn *conn);

/** Any state to CLOSED, on purpose. Calls owner->lost() when it was READY. */
void pg_conn_close(struct pg_conn *conn);

/** The connection turned out to be unusable: any state but CLOSED to BROKEN. `why` for the log;
 * NULL: what libpq says. */
void pg_conn_down(struct pg_conn *conn, const char *why);

/** READY: send what libpq holds, watch for the rest. */
void pg_conn_flush(struct pg_conn *conn);

enum pg_conn_state pg_conn_state(const struct pg_conn *conn);

/** READY: the connection; else NULL. */
PGconn *pg_conn_pg(const struct pg_conn *conn);
