/** gateway/limit/: limit of requests a second for each API key, account or client: token buckets,
 * each stored as one time (generic cell rate algorithm, ITU-T I.371).
 *
 *     rate_limit.c   a limiter: buckets of one kind
 *     rate_limits.c  the limits of requests
 *
 * A bucket holds `rate` tokens and is refilled with `rate` tokens a second. Each request takes
 * one. The workers of a process share the buckets; each replica has its own and allows the full
 * rate.
 *
 * The buckets are in open-addressing tables and not in uthash: such a table needs no allocation per
 * bucket, and one pass removes all full ones. Both keep the time under the lock short. A table is
 * bounded: when more than RATE_BUCKETS_MAX buckets have been used within a second, all become full
 * again.
 */
#pragma once

#include "crypto/uuid.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RATE_BUCKETS_MAX 262144 /* of a limiter */

struct rate_limiter;

/** `rate` in requests a second; 0: no limit. */
struct rate_limiter *rate_limiter_new(int64_t rate);
void rate_limiter_free(struct rate_limiter *limiter);

struct rate_verdict {
	bool is_allowed;
	int64_t limit;     /* tokens that the bucket holds; 0: no limit */
	int64_t remaining; /* whole tokens left */
	int64_t reset_s;   /* seconds until the bucket is full again, rounded up */
	int64_t retry_s;   /* if not allowed: seconds until the next token, at least 1 */
	/* Set by rate_limits_take() and rate_limits_take_open(): what the bucket is for, `key`,
	 * `account` or `address`, and the value of RateLimit-Policy. */
	const char *policy, *policies;
};

/** Take a token of the bucket `id` (not nil) at `now_us` (time_monotonic_us()). Thread-safe. */
struct rate_verdict rate_limiter_take(struct rate_limiter *limiter, const struct uuid *id,
                                      uint64_t now_us);

/** Give a token back. Thread-safe. */
void rate_limiter_return(struct rate_limiter *limiter, const struct uuid *id);

/** Number of stored buckets. A full one stays until its table is rebuilt. For tests. */
size_t rate_limiter_size(struct rate_limiter *limiter);

/** The limits of requests: for each key, for each account, and without a key for each client. */
struct rate_limits;

/** In requests a second; 0: no limit. */
struct rate_limits *rate_limits_new(int64_t key_rate, int64_t account_rate, int64_t open_rate);
void rate_limits_free(struct rate_limits *limits);

/** Take a token of the key and one of its account. Returns the verdict of the bucket that refuses
 * the request; when both allow it, that of the one with fewer tokens left. Thread-safe. */
struct rate_verdict rate_limits_take(struct rate_limits *limits, const struct uuid *key_id,
                                     const struct uuid *account, uint64_t now_us);

/** Take a token of the client at `address` for a request without a key. Thread-safe. */
struct rate_verdict rate_limits_take_open(struct rate_limits *limits, const char *address,
                                          uint64_t now_us);
