/** What each account gets of a pool's connections: turns, and a share, so that its long statements
 * do not hold up those of others. Internal to this folder.
 *
 * Accounts take turns (pacing/fair_queue.h), of which an open transaction is one. So an account
 * with many transactions delays those of another by one at most on each connection.
 *
 * An account holds a connection that one of its transactions has checked out, or on which a single
 * statement of it is not answered. An account that is alone is hardly limited: of 4 connections or
 * more its single statements leave one, where the first of another account runs at once. While
 * accounts share, the transactions of each hold at most half of the connections that are for
 * transactions, rounded up, its single statements at most as many, and both leave one. Accounts
 * share for SHARED_MS from when a statement had to wait behind others, and as long as two of them
 * have transactions. The nil UUID is of no account, and is not limited. */
#pragma once

#include "pg/pool.h"

/** Transactions that the pool may have at once: on all connections but one, so that single
 * statements always get one. */
int pg_share_transactions_max(const struct pg_pool *pool);

/** Insert the BEGIN into pool->begins at its place. */
void pg_share_add_begin(struct pg_pool *pool, struct pg_statement *st);

/** The BEGIN to serve next, which stays in the queue; NULL: none waits, or all those that do exceed
 * the shares of their accounts. */
struct pg_statement *pg_share_next_begin(struct pg_pool *pool);

/** Remove the BEGIN from the queue: it gets a connection. */
void pg_share_serve_begin(struct pg_pool *pool, struct pg_statement *st);

/** No more BEGINs can be served now: note whether one waits behind other accounts, so that they
 * must share. */
void pg_share_check_begins(struct pg_pool *pool);

/** A single statement of the account finds no connection that is free soon: note whether that is
 * because another account holds more than its share, so that they must share. */
void pg_share_check_singles(struct pg_pool *pool, const struct uuid *account);

/** Whether a single statement of the account may run on a connection where none of it is. */
bool pg_share_may_spread(struct pg_pool *pool, const struct uuid *account);

/** Whether a single statement of the account is on the connection. */
bool pg_share_carries(const struct pooled_conn *conn, const struct uuid *account);

/** How many connections the account holds whose statement runs on this one; 0: none runs, or it is
 * of no account. */
int pg_share_of_running(struct pg_pool *pool, const struct pooled_conn *conn);
