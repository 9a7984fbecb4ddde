#include "pacing/budget.h"

#include "base/base.h"

#include <stdlib.h>
#include <uthash.h>

#define SHARE_MIN_BYTES ((size_t)9 << 20)
#define SHARES          4

/* An account that occupies a part of the budget. */
struct budget_owner {
	struct uuid account;
	size_t used_bytes;
	UT_hash_handle hh;
};

static void count_refused(struct budget *budget, enum err_code code, double count)
{
	metric_add(budget->refused, code == ERR_RATE_LIMITED ? "share" : "all", NULL, count);
}

void budget_set_limit(struct budget *budget, size_t limit_bytes)
{
	budget->limit_bytes = limit_bytes;
	count_refused(budget, ERR_RATE_LIMITED, 0); /* the series begin at 0 */
	count_refused(budget, ERR_UNAVAILABLE, 0);
}

static struct budget_owner *owner_find(const struct budget *budget, const struct uuid *account)
{
	struct budget_owner *owner;
	HASH_FIND(hh, budget->owners, account, sizeof(*account), owner);
	return owner;
}

static size_t owner_used_bytes(const struct budget *budget, const struct uuid *account)
{
	const struct budget_owner *owner =
		uuid_is_nil(account) ? NULL : owner_find(budget, account);
	return owner ? owner->used_bytes : 0;
}

static enum err_code check(const struct budget *budget, const struct uuid *account,
                           size_t held_bytes, size_t bytes)
{
	size_t limit = budget->limit_bytes;
	size_t share = MAX_OF(limit / SHARES, SHARE_MIN_BYTES);
	size_t owned = owner_used_bytes(budget, account);
	if (limit == 0)
		return ERR_NONE;
	if (owned > held_bytes && bytes > share - MIN_OF(owned, share))
		return ERR_RATE_LIMITED;
	return bytes > limit - MIN_OF(budget->used_bytes, limit) ? ERR_UNAVAILABLE : ERR_NONE;
}

static void owner_add(struct budget *budget, const struct uuid *account, size_t bytes)
{
	if (uuid_is_nil(account))
		return;
	struct budget_owner *owner = owner_find(budget, account);
	if (!owner) {
		owner = calloc(1, sizeof(*owner));
		require(owner);
		owner->account = *account;
		HASH_ADD(hh, budget->owners, account, sizeof(owner->account), owner);
	}
	owner->used_bytes += bytes;
}

static void add(struct budget *budget, const struct uuid *account, size_t bytes)
{
	budget->used_bytes += bytes;
	owner_add(budget, account, bytes);
	metric_add(budget->used, NULL, NULL, (double)bytes);
}

enum err_code budget_take(struct budget *budget, const struct uuid *account, size_t bytes)
{
	return budget_take_more(budget, account, 0, bytes);
}

enum err_code budget_take_more(struct budget *budget, const struct uuid *account, size_t held_bytes,
                               size_t bytes)
{
	pthread_mutex_lock(&budget->lock);
	enum err_code code = check(budget, account, held_bytes, bytes);
	if (!code)
		add(budget, account, bytes);
	pthread_mutex_unlock(&budget->lock);
	if (code)
		count_refused(budget, code, 1);
	return code;
}

void budget_take_anyway(struct budget *budget, const struct uuid *account, size_t bytes)
{
	pthread_mutex_lock(&budget->lock);
	add(budget, account, bytes);
	pthread_mutex_unlock(&budget->lock);
}

static void owner_subtract(struct budget *budget, const struct uuid *account, size_t bytes)
{
	if (uuid_is_nil(account))
		return;
	struct budget_owner *owner = owner_find(budget, account);
	require(owner && owner->used_bytes >= bytes);
	owner->used_bytes -= bytes;
	if (owner->used_bytes == 0) {
		HASH_DELETE(hh, budget->owners, owner);
		free(owner);
	}
}

void budget_give(struct budget *budget, const struct uuid *account, size_t bytes)
{
	if (bytes == 0)
		return;
	pthread_mutex_lock(&budget->lock);
	require(budget->used_bytes >= bytes);
	budget->used_bytes -= bytes;
	owner_subtract(budget, account, bytes);
	metric_add(budget->used, NULL, NULL, -(double)bytes);
	pthread_mutex_unlock(&budget->lock);
}

size_t budget_used_bytes(struct budget *budget)
{
	pthread_mutex_lock(&budget->lock);
	size_t used = budget->used_bytes;
	pthread_mutex_unlock(&budget->lock);
	return used;
}
