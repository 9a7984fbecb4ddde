/** A pause after failures, for calls of a server that the caller can do without: it then goes on at
 * once instead of waiting for an unavailable server.
 *
 * The pause grows with each consecutive failure, from half a second to half a minute, with jitter.
 * A server that names a longer time (Retry-After) gets it, at most half a minute. Zeroed at first.
 * Not thread-safe. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct failure_pause {
	unsigned failures; /* consecutive */
	uint64_t until_ms; /* time_monotonic_ms() */
};

bool failure_pause_is_on(const struct failure_pause *pause);

/** Count a failure and begin a pause; `retry_after_ms` 0: none was named. Calls that fail together
 * count once: a failure during a pause changes nothing. Returns whether it is the first since a
 * success. */
bool failure_pause_failed(struct failure_pause *pause, uint64_t retry_after_ms);

/** Returns whether the call before it had failed. */
bool failure_pause_succeeded(struct failure_pause *pause);
