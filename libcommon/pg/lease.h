/** Leases: the right of one process to do a work alone, for a limited time.
 *
 * A lease is a row of the schema's table `lease`. It is taken and renewed by short statements, so
 * no transaction or lock is open while its holder waits for Redis or for a handler. A process that
 * vanishes or is stopped delays the work by at most lease_term_ms.
 *
 * A stopped process that continues may still believe that it holds the lease. What it does then
 * must do no harm: it carries the lease's `fence`, a number that rises with each change of the
 * holder, and Redis (task/outbox.h) and statements (`FROM lease WHERE ... AND fence = :fence`)
 * refuse a lower one than they know.
 *
 * A lease is renewed by the passes that use it, never by a timer of its own; lease_run_try() renews
 * it during a pass that takes longer.
 */
#pragma once

#include "loop/request.h"

#include <stdbool.h>
#include <stdint.h>

/** How long a lease lasts without renewal, in milliseconds; tests make it shorter. */
extern uint64_t lease_term_ms;

/** What a process knows of one lease. Zero except for the name: nothing yet. */
struct lease {
	const char *name;
	int64_t fence;            /* of the last time this process held it */
	uint64_t mine_until_ms;   /* monotonic; 0: this process does not hold it */
	uint64_t others_until_ms; /* monotonic; before that nothing is asked. 0: unknown */
};

/** Take the lease for `owner`, or renew it; false: another process holds it. Asks Postgres only
 * when less than two thirds of the own time is left, or when the other's time is over, and at least
 * once in lease_term_ms: the other may have given it up, and the server's clock may have been set
 * back. Suspends; raises as pg_query(). */
bool lease_take(struct request *rq, struct lease *lease, const char *owner);

/** Milliseconds until lease_take() can succeed after it has returned false; at least 1. */
uint64_t lease_wait_ms(const struct lease *lease);

/** Run `run(member)` in a member of `rq` (loop/wait.h) whose `user` is `user`, and renew the lease
 * meanwhile, however long it takes. The lease must have been taken. Once it is lost or cannot be
 * renewed, `run` is cancelled with ERR_CONFLICT. Returns the failure of `run`, as fiber_join_try().
 * Suspends. */
enum err_code lease_run_try(struct request *rq, struct lease *lease, const char *owner,
                            request_fn *run, void *user, struct problem *ret_problem);

/** As lease_run_try(), but raises the failure. */
void lease_run(struct request *rq, struct lease *lease, const char *owner, request_fn *run,
               void *user);

/** The process that holds the lease, as Postgres knows it; "": none. In the arena of `rq`.
 * Suspends; raises as pg_query(). */
const char *lease_owner(struct request *rq, const struct lease *lease);

/** Redis knows a newer fence than `lease`: set a newer one still, provided `owner` holds the lease.
 * Needed after Postgres was restored to an earlier point. Otherwise forget that it is held.
 * Suspends; raises. */
void lease_raise_fence(struct request *rq, struct lease *lease, const char *owner,
                       int64_t known_fence);

/** Give up all leases of `owner`, so that others need not wait. No work under one may run any more.
 * Suspends; raises. */
void lease_give_up_all(struct request *rq, const char *owner);
