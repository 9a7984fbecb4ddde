/** Requests a second per key: a token bucket, as the generic cell rate algorithm (ITU-T I.371)
 * keeps it: one time per key.
 *
 * The bucket holds `rate` tokens and fills at `rate` a second; each request takes one. Shared by
 * the workers of a process, not between replicas: each replica allows the rate.
 */
#pragma once

#include "base/uuid.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rate_limiter;

/** `rate` requests a second, 0: no limit (every call allows). */
struct rate_limiter *rate_limiter_new(int64_t rate);
void rate_limiter_free(struct rate_limiter *limiter);

struct rate_verdict {
	bool is_allowed;
	int64_t limit;     /* tokens that the bucket holds; 0: no limit */
	int64_t remaining; /* whole tokens left */
	int64_t reset_s;   /* seconds until the bucket is full again, rounded up */
	int64_t retry_s;   /* seconds until a token is there, at least 1; when not allowed */
};

/** Take a token of `key_id` at `now_us` (time_monotonic_us()). Any thread. */
struct rate_verdict rate_limiter_take(struct rate_limiter *limiter, const struct uuid *key_id,
                                      uint64_t now_us);

/** Keys that the limiter remembers, for metrics and tests: those idle for long are forgotten. */
size_t rate_limiter_size(struct rate_limiter *limiter);
