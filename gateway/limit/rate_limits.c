#include "base/base.h"
#include "limit/rate_limit.h"
#include "pacing/client_id.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct rate_limits {
	struct rate_limiter *keys, *accounts, *clients;
	char policies[80], open_policies[40];
};

struct rate_limits *rate_limits_new(int64_t key_rate, int64_t account_rate, int64_t open_rate)
{
	struct rate_limits *limits = calloc(1, sizeof(*limits));
	require(limits);
	limits->keys = rate_limiter_new(key_rate);
	limits->accounts = rate_limiter_new(account_rate);
	limits->clients = rate_limiter_new(open_rate);
	snprintf(limits->open_policies, sizeof(limits->open_policies),
	         "\"address\";q=%" PRId64 ";w=1", open_rate);
	char *text = limits->policies;
	size_t size = sizeof(limits->policies), length = 0;
	if (key_rate)
		length = (size_t)snprintf(text, size, "\"key\";q=%" PRId64 ";w=1", key_rate);
	if (account_rate)
		snprintf(text + length, size - length, "%s\"account\";q=%" PRId64 ";w=1",
		         length ? ", " : "", account_rate);
	return limits;
}

void rate_limits_free(struct rate_limits *limits)
{
	if (!limits)
		return;
	rate_limiter_free(limits->keys);
	rate_limiter_free(limits->accounts);
	rate_limiter_free(limits->clients);
	free(limits);
}

struct rate_verdict rate_limits_take(struct rate_limits *limits, const struct uuid *key_id,
                                     const struct uuid *account, uint64_t now_us)
{
	struct rate_verdict verdict = rate_limiter_take(limits->keys, key_id, now_us);
	verdict.policy = "key";
	if (verdict.is_allowed) {
		struct rate_verdict of_account =
			rate_limiter_take(limits->accounts, account, now_us);
		of_account.policy = "account";
		bool is_limited = of_account.limit > 0;
		if (is_limited && (!verdict.limit || !of_account.is_allowed ||
		                   of_account.remaining < verdict.remaining))
			verdict = of_account;
	}
	verdict.policies = limits->policies;
	return verdict;
}

struct rate_verdict rate_limits_take_open(struct rate_limits *limits, const char *address,
                                          uint64_t now_us)
{
	struct uuid client = client_id(address);
	struct rate_verdict verdict = rate_limiter_take(limits->clients, &client, now_us);
	verdict.policy = "address";
	verdict.policies = limits->open_policies;
	return verdict;
}
