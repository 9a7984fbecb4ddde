#include "pg/begin_queue.h"

#include "base/base.h"
#include "crypto/uuid.h"
#include "loop/request.h"

#define SHARED_MS 5000

static const struct uuid *account_of(const struct pg_transaction *tx)
{
	return &tx->rq->caller.account;
}

static bool is_of(const struct pg_transaction *tx, const struct uuid *account)
{
	return tx && uuid_equal(account_of(tx), account);
}

int begin_queue_transactions_max(const struct pg_pool *pool)
{
	return MAX_OF(1, pool->settings.connections - 1);
}

static int share_of_account(const struct pg_pool *pool)
{
	return (begin_queue_transactions_max(pool) + 1) / 2;
}

static int open_of(struct pg_pool *pool, const struct uuid *account)
{
	int open = 0;
	for (each_conn(conn, pool))
		open += is_of(conn->transaction, account);
	return open;
}

static bool is_shared_now(const struct pg_pool *pool)
{
	return uv_now(pool->loop) < pool->shared_until_ms;
}

/* The turn after the last one of the account that waits or is open, else the current one. */
static uint64_t next_turn(struct pg_pool *pool, const struct uuid *account)
{
	uint64_t turn = pool->turn;
	const struct pg_statement *st;
	for (each_conn(conn, pool)) {
		if (is_of(conn->transaction, account))
			turn = MAX_OF(turn, conn->transaction->turn + 1);
	}
	TAILQ_FOREACH_REVERSE (st, &pool->begins, pg_statement_list, entry) {
		if (is_of(st->transaction, account))
			return MAX_OF(turn, st->turn + 1);
	}
	return turn;
}

void begin_queue_add(struct pg_pool *pool, struct pg_statement *st)
{
	struct pg_statement *before;
	st->turn = next_turn(pool, account_of(st->transaction));
	TAILQ_FOREACH_REVERSE (before, &pool->begins, pg_statement_list, entry) {
		if (before->turn <= st->turn) {
			TAILQ_INSERT_AFTER(&pool->begins, before, st, entry);
			return;
		}
	}
	TAILQ_INSERT_HEAD(&pool->begins, st, entry);
}

static bool is_within_share(struct pg_pool *pool, const struct pg_statement *st)
{
	const struct uuid *account = account_of(st->transaction);
	return uuid_is_nil(account) || open_of(pool, account) < share_of_account(pool);
}

struct pg_statement *begin_queue_next(struct pg_pool *pool)
{
	struct pg_statement *st = TAILQ_FIRST(&pool->begins);
	while (st && is_shared_now(pool) && !is_within_share(pool, st))
		st = TAILQ_NEXT(st, entry);
	return st;
}

static bool has_other_account(struct pg_pool *pool, const struct pg_statement *st)
{
	const struct uuid *account = account_of(st->transaction);
	for (each_conn(conn, pool)) {
		if (conn->transaction && !is_of(conn->transaction, account))
			return true;
	}
	return false;
}

static void share_from_now(struct pg_pool *pool)
{
	pool->shared_until_ms = uv_now(pool->loop) + SHARED_MS;
}

void begin_queue_served(struct pg_pool *pool, struct pg_statement *st)
{
	st->transaction->turn = st->turn;
	pool->turn = MAX_OF(pool->turn, st->turn);
	if (is_shared_now(pool) && has_other_account(pool, st))
		share_from_now(pool);
}

void begin_queue_share(struct pg_pool *pool)
{
	const struct pg_statement *first = TAILQ_FIRST(&pool->begins);
	if (first && is_within_share(pool, first) && has_other_account(pool, first))
		share_from_now(pool);
}
