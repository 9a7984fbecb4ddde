/** gateway/: the public edge of the API. It checks API keys, runs the operations on accounts and keys
 * itself, and passes every other request to its service.
 *
 *     main.c      routes, commands and settings of the process
 *     account/    creating and deleting accounts
 *     key/        API keys: where a key is checked (key_check.h), and the operations on keys
 *     proxy/      the way of a request through the gateway
 *     upstream/   connections to the services
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

struct arena;
struct rate_limiter;
struct trusted;

/** What the workers of the process share: process->user. */
struct gateway_process {
	struct arena *arena;
	struct rate_limiter *limiter;
	const struct trusted *trusted;
	/* Increases with every change of a key that this process makes or learns of (key_cache.h). */
	_Atomic uint64_t key_generation;
};
