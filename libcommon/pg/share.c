#include "pg/share.h"

#include "base/base.h"
#include "crypto/uuid.h"
#include "loop/request.h"

#define SHARED_MS      5000
#define LEAVES_ONE_MIN 4 /* connections, of which an account that is alone leaves one */

int pg_share_transactions_max(const struct pg_pool *pool)
{
	return MAX_OF(1, pool->settings.connections - 1);
}

static int share_of_account(const struct pg_pool *pool)
{
	return (pg_share_transactions_max(pool) + 1) / 2;
}

static bool is_shared(const struct pg_pool *pool)
{
	return uv_now(pool->loop) < pool->shared_until_ms;
}

static void share_from_now(struct pg_pool *pool)
{
	pool->shared_until_ms = uv_now(pool->loop) + SHARED_MS;
}

static const struct uuid *account_of(const struct pg_transaction *tx)
{
	return &tx->rq->caller.account;
}

static bool is_of(const struct pg_transaction *tx, const struct uuid *account)
{
	return tx && uuid_equal(account_of(tx), account);
}

bool pg_share_carries(const struct pooled_conn *conn, const struct uuid *account)
{
	const struct pg_statement *st;
	TAILQ_FOREACH (st, &conn->sent, entry) {
		if (st->kind == PG_SINGLE && uuid_equal(&st->fair.account, account))
			return true;
	}
	return false;
}

/* Connections that an account holds. */
struct holding {
	int singles, transactions;
};

static struct holding holding_of(struct pg_pool *pool, const struct uuid *account)
{
	struct holding holding = {0};
	for (each_conn(conn, pool)) {
		if (conn->transaction)
			holding.transactions += is_of(conn->transaction, account);
		else
			holding.singles += pg_share_carries(conn, account);
	}
	return holding;
}

static int held_by(struct pg_pool *pool, const struct uuid *account)
{
	struct holding holding = holding_of(pool, account);
	return holding.singles + holding.transactions;
}

/* Whether so few connections are in use that none can hold too many. */
static bool is_quiet(struct pg_pool *pool, int limit)
{
	int used = 0;
	for (each_conn(conn, pool))
		used += conn->transaction || conn->in_flight > 0;
	return used < limit;
}

/* Connections that an account may hold for a single statement to run on another one. */
static int limit_of_singles(const struct pg_pool *pool)
{
	int connections = pool->settings.connections;
	bool leaves_one = is_shared(pool) || connections >= LEAVES_ONE_MIN;
	return leaves_one ? MAX_OF(1, connections - 1) : connections;
}

bool pg_share_may_spread(struct pg_pool *pool, const struct uuid *account)
{
	int limit = limit_of_singles(pool), share = share_of_account(pool);
	if (uuid_is_nil(account) || is_quiet(pool, MIN_OF(limit, share)))
		return true;
	struct holding holding = holding_of(pool, account);
	bool is_within = holding.singles + holding.transactions < limit;
	return is_shared(pool) ? is_within && holding.singles < share
	                       : is_within || holding.singles == 0;
}

/* Of what the server runs on the connection; NULL: nothing, or what is of no account. */
static const struct uuid *running_account(const struct pooled_conn *conn)
{
	const struct pg_statement *first = TAILQ_FIRST(&conn->sent);
	const struct uuid *account = conn->transaction ? account_of(conn->transaction)
	                             : first           ? &first->fair.account
	                                               : NULL;
	return account && !uuid_is_nil(account) ? account : NULL;
}

int pg_share_of_running(struct pg_pool *pool, const struct pooled_conn *conn)
{
	const struct uuid *account = running_account(conn);
	return account ? held_by(pool, account) : 0;
}

static bool is_share_exceeded(struct pg_pool *pool, const struct uuid *but_for)
{
	for (each_conn(conn, pool)) {
		const struct uuid *account = running_account(conn);
		if (account && !uuid_equal(account, but_for) &&
		    held_by(pool, account) > share_of_account(pool))
			return true;
	}
	return false;
}

void pg_share_check_singles(struct pg_pool *pool, const struct uuid *account)
{
	if (is_share_exceeded(pool, account))
		share_from_now(pool);
}

/* Transactions */

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

void pg_share_add_begin(struct pg_pool *pool, struct pg_statement *st)
{
	const struct uuid *account = account_of(st->transaction);
	fair_queue_add(&pool->begins, &st->fair, account, turn_after_open(pool, account));
}

static bool may_begin(struct pg_pool *pool, const struct pg_statement *st)
{
	const struct uuid *account = account_of(st->transaction);
	return !is_shared(pool) || uuid_is_nil(account) ||
	       holding_of(pool, account).transactions < share_of_account(pool);
}

struct pg_statement *pg_share_next_begin(struct pg_pool *pool)
{
	struct fair_entry *entry = fair_queue_first(&pool->begins);
	while (entry && !may_begin(pool, pg_statement_of(entry)))
		entry = fair_queue_next_account(entry);
	return pg_statement_of(entry);
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

void pg_share_serve_begin(struct pg_pool *pool, struct pg_statement *st)
{
	fair_queue_serve(&pool->begins, &st->fair);
	st->transaction->turn = st->fair.turn;
	if (is_shared(pool) && has_other_account(pool, st))
		share_from_now(pool);
}

void pg_share_check_begins(struct pg_pool *pool)
{
	const struct pg_statement *first = pg_statement_of(fair_queue_first(&pool->begins));
	if (first && may_begin(pool, first) && has_other_account(pool, first))
		share_from_now(pool);
}
