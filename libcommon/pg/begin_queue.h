/** The queue of the BEGINs that wait for a connection: its order, and the share of each account.
 * Internal to this folder.
 *
 * Accounts take turns (pacing/fair_queue.h), of which an open transaction is one. So an account
 * with many transactions delays those of another by one at most on each connection.
 *
 * Transactions that take long would still hold all connections when another account comes. From
 * when a BEGIN had to wait behind other accounts until no two accounts had transactions for
 * SHARED_MS, an account gets no new one while it has half of the worker's, rounded up. An account
 * that is alone is not limited. The nil UUID is of no account, and of no share. */
#pragma once

#include "pg/pool.h"

/** Transactions that the pool may have at once: on all connections but one, so that single
 * statements always get one. */
int begin_queue_transactions_max(const struct pg_pool *pool);

/** Insert the BEGIN into pool->begins at its place. */
void begin_queue_add(struct pg_pool *pool, struct pg_statement *st);

/** The BEGIN to serve next, which stays in the queue; NULL: none waits, or all those that do exceed
 * the shares of their accounts. */
struct pg_statement *begin_queue_next(struct pg_pool *pool);

/** Remove the BEGIN from the queue: it gets a connection. */
void begin_queue_serve(struct pg_pool *pool, struct pg_statement *st);

/** No more BEGINs can be served now: note whether one waits behind other accounts, so that they
 * must share. */
void begin_queue_share(struct pg_pool *pool);
