/** Limit of requests a second for each key: a token bucket, stored as one time per key (generic
 * cell rate algorithm, ITU-T I.371).
 *
 * The bucket holds `rate` tokens and is refilled with `rate` tokens a second. Each request takes
 * one. The workers of a process share the buckets; each replica has its own and allows the full
 * rate.
 *
 * The keys are in open-addressing tables and not in uthash: such a table needs no allocation per
 * key, and one pass removes all full buckets. Both keep the time under the lock short.
 */
#pragma once

#include "base/uuid.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
};

/** Take a token of `key_id` at `now_us` (time_monotonic_us()). Thread-safe. */
struct rate_verdict rate_limiter_take(struct rate_limiter *limiter, const struct uuid *key_id,
                                      uint64_t now_us);

/** Number of stored keys. A key with a full bucket stays until its table is rebuilt. For
 * tests. */
size_t rate_limiter_size(struct rate_limiter *limiter);
