/** A link: one connection to Postgres that is reopened, with backoff, after it was lost. When the
 * server refuses the login, the other one of the target is tried first, without backoff.
 *
 * It is a state machine on the loop. It does not handle statements: its owner sends and reads
 * through the PGconn.
 *
 *                 pg_link_connect()
 *      CLOSED ----------------------> RESOLVING --address--> CONNECTING --PQconnectPoll--> READY
 *        ^ ^                               |                      |                          |
 *        | |                               +------- failed -------+---------- lost ----------+
 *        | |                                                      v                          |
 *        | +----- should_reconnect() is false ------- BROKEN --backoff, true--> RESOLVING
 *        +------------------------------ pg_link_close() ------------------------------------+
 *
 *   state       socket     timer            watcher
 *   CLOSED      none       off              none
 *   RESOLVING   none       connect timeout  none; skipped for literal addresses
 *   CONNECTING  libpq's    connect timeout  a new one for every PQconnectPoll() turn
 *   READY       libpq's    off              one: reads, and writes while libpq has bytes left
 *   BROKEN      none       backoff          none
 */
#pragma once

#include "pg/fault.h"
#include "pg/target.h"

#include <libpq-fe.h>
#include <uv.h>

#include <stdbool.h>
#include <stdint.h>

enum pg_link_state {
	PG_LINK_CLOSED,
	PG_LINK_RESOLVING,
	PG_LINK_CONNECTING,
	PG_LINK_READY,
	PG_LINK_BROKEN,
	PG_LINK_STATES
};

/** Callbacks of the owner. They run on the loop's stack or inside a call that the owner made. */
struct pg_link_owner {
	void (*ready)(void *context);            /* CONNECTING -> READY */
	void (*readable)(void *context);         /* READY: call PQconsumeInput() */
	void (*lost)(void *context);             /* leaving READY; the PGconn is not yet freed */
	void (*broken)(void *context);           /* now BROKEN, after lost() or a failed attempt */
	bool (*should_reconnect)(void *context); /* the backoff is over: connect again? */
	void (*freed)(void *context);            /* after pg_link_free(): its handles are closed */
};

struct pg_link;

/** Make a link, CLOSED. Borrows the target and the owner. */
struct pg_link *pg_link_new(uv_loop_t *loop, const struct pg_target *target,
                            uint64_t connect_timeout_ms, const struct pg_link_owner *owner,
                            void *context);

/** Close and free. The loop calls owner->freed() afterwards. */
void pg_link_free(struct pg_link *link);

/** CLOSED: begin to connect. In any other state: nothing. */
void pg_link_connect(struct pg_link *link);

/** Any state to CLOSED. Calls owner->lost() when it was READY. */
void pg_link_close(struct pg_link *link);

/** Any state but CLOSED to BROKEN: the owner found the connection unusable. `why` is logged; NULL:
 * libpq's message is. */
void pg_link_fail(struct pg_link *link, const char *why);

/** The same for a fault that the owner has found; `why` is logged. */
void pg_link_fail_for(struct pg_link *link, const struct fault *fault, const char *why);

/** Why the connection could not be made or was lost, until it is READY again; else NULL. */
const struct fault *pg_link_fault(const struct pg_link *link);

/** READY: let the kernel gather what libpq writes from now on until pg_link_flush(): a packet for
 * each statement costs both sides more than what it carries. */
void pg_link_cork(struct pg_link *link);

/** READY: send the data that libpq has buffered; the rest is sent when the socket is writable. In
 * any other state: nothing. */
void pg_link_flush(struct pg_link *link);

enum pg_link_state pg_link_state(const struct pg_link *link);

/** The connection when READY, else NULL. */
PGconn *pg_link_pg(const struct pg_link *link);
