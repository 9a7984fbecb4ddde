/** The event streams of the product: which service writes each, and which services read it.
 *
 * An entry stays in its stream until every reader has read it, and its row in the writer's outbox
 * as well, whether the reader is running, was just installed, or Redis has forgotten its position.
 * So a reader is named here, not found in Redis.
 *
 * What a reader reports to the writer of a stream is in keys of its own, which no other reader may
 * use (deploy/redis-acl):
 *
 *     events.account.position.svc-search   the id of the entry that it has read up to
 *     events.account.replay.svc-search     what it asks to be sent again (stream_trim.h)
 */
#pragma once

#include "base/arena.h"

#include <stdbool.h>

#define EVENT_READERS_MAX 8

struct event_stream {
	const char *name;                       /* NULL ends a table */
	const char *writer;                     /* service */
	const char *readers[EVENT_READERS_MAX]; /* services with event handlers; NULL-terminated */
};

/** The streams of the product. */
extern const struct event_stream EVENT_STREAMS[];

/** The key `STREAM.WHAT.READER`. In the arena. */
const char *event_stream_key(struct arena *arena, const char *stream, const char *what,
                             const char *reader);

/** The row of a stream; NULL: the table has none. */
const struct event_stream *event_stream_find(const struct event_stream *streams, const char *name);

/** The stream that a service writes; NULL: it writes none. */
const char *event_stream_of_writer(const struct event_stream *streams, const char *service);

/** Whether the table names the service as a reader of the stream. */
bool event_stream_has_reader(const struct event_stream *streams, const char *name,
                             const char *service);
