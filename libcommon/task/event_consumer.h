/** A consumer of one stream: reads, has each entry handled in turn, acknowledges it.
 *
 *     left-over entries of its own -> stale ones of others -> new ones -> ...
 *
 * Entries of one stream are handled one after the other, so their order holds within a process. A
 * handler that fails is tried again in place, with backoff: for as long as what it needs is away,
 * else DELIVERIES_MAX times, then the entry goes to `events.dead`.
 */
#pragma once

#include "task/internal.h"

struct consumer {
	struct tasks *tasks;
	const char *stream;
	bool is_broadcast; /* reads for itself, without a group */
	struct periodic *periodic;
	struct redis_blocking *connection;
	bool has_group;
	bool has_leftovers;      /* of this consumer, from a pass that was cut short */
	uint64_t stale_check_ms; /* on the monotonic clock: next look for others' stale entries */
	char last_id[48];        /* broadcast: read up to here; "": not known yet */
	struct consumer *next;
};

/** A pass of a consumer (periodic.h), whose user is the struct consumer. */
void event_consumer_pass(struct request *rq);
