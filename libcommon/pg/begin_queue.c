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

static struct pg_statement *statement_of(struct fair_entry *entry)
{
	return entry ? CONTAINER_OF(entry, struct pg_statement, fair) : NULL;
}

/* The turn after those of the account's open transactions. */
static uint64_t turn_after_open(struct pg_pool *pool, const struct uuid *account)
{
	uint64_t turn = 0;
	for (each_conn(conn, pool)) {
		if (is_of(conn->transaction, account))
			turn = MAX_OF(turn, conn->transaction->turn + 1);
	}
	return turn;
}

void begin_queue_add(struct pg_pool *pool, struct pg_statement *st)
{
	const struct uuid *account = account_of(st->transaction);
	fair_queue_add(&pool->begins, &st->fair, account, turn_after_open(pool, account));
}

static bool is_within_share(struct pg_pool *pool, const struct pg_statement *st)
{
	const struct uuid *account = account_of(st->transaction);
	return uuid_is_nil(account) || open_of(pool, account) < share_of_account(pool);
}

struct pg_statement *begin_queue_next(struct pg_pool *pool)
{
	struct fair_entry *entry = fair_queue_first(&pool->begins);
	while (entry && is_shared_now(pool) && !is_within_share(pool, statement_of(entry)))
		entry = fair_queue_next(entry);
	return statement_of(entry);
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

void begin_queue_serve(struct pg_pool *pool, struct pg_statement *st)
{
	fair_queue_serve(&pool->begins, &st->fair);
	st->transaction->turn = st->fair.turn;
	if (is_shared_now(pool) && has_other_account(pool, st))
		share_from_now(pool);
}

void begin_queue_share(struct pg_pool *pool)
{
	const struct pg_statement *first = statement_of(fair_queue_first(&pool->begins));
	if (first && is_within_share(pool, first) && has_other_account(pool, first))
		share_from_now(pool);
}
