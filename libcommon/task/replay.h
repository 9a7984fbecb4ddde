/** Replay: a reader of a stream asks its writer to send again what the stream no longer has.
 * Internal to this folder.
 *
 * A reader asks when the entry at its position is missing: its database was restored to an earlier
 * point than the stream reaches back, it was away for so long that the stream was cut, or Redis
 * lost the stream. The request is a key of the reader (event_streams.h); the writer's relay marks
 * the rows of its outbox as unsent. The reader skips what it has settled (events.h).
 */
#pragma once

#include "task/event_consumer.h"
#include "task/tasks.h"

/** Ask for the events after `entry` that were sent before `now_ms` (Unix time of Postgres).
 * Suspends; raises. */
void replay_request(struct request *rq, const struct event_consumer *consumer, const char *entry,
                    int64_t now_ms);

/** Answer the requests for the streams that this service writes. Suspends; raises. */
void replay_serve(struct request *rq, struct tasks *tasks);
