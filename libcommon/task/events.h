/** The consumers that run the event handlers of a process: one for each stream. Internal to this
 * folder.
 *
 *     take the lease -> read entries after the position -> handle, park or give up each
 *         -> save the position -> ...
 *
 * One process of the service at a time reads a stream, the holder of the lease of that name, so the
 * events of a lane keep their order. The position is in Postgres, beside the effects
 * (`event_position`): it is never ahead of them, also when Postgres is restored to an earlier point
 * or Redis loses its data. Its copy in Redis only shows the trimmer what has been read.
 *
 * Why an event that comes twice does nothing: an event keeps its id however often it is sent.
 * The statement that saves the position also stores the ids of the events that were handled before
 * it (`event_settled`, as hashes, for EVENT_SETTLED_DAYS), the one that parks events stores theirs,
 * and a consumer skips events whose id is stored. One gap is left: when the process ends after a
 * handler's commit and before that statement, the batch is handled again. So handlers are
 * idempotent: they insert with ON CONFLICT, set a state rather than add to it, or start a task,
 * which is one while an equal one waits. An event that was given up is not stored: it is handled
 * when an operator has it sent again.
 *
 * The events of a lane (event_parking.h) are handled in their order, those of different lanes at
 * the same time. One that fails delays only its own lane. So do those of a lane that has many:
 * where events have waited in the stream for tasks_timing.late behind others, a lane has LANE_SHARE
 * of each read handled at once, and the rest of it is parked, which takes far less time. Its
 * further events go the same way, until it has caught up.
 */
#pragma once

#include "pg/lease.h"
#include "redis/stream.h"
#include "task/tasks.h"

#define STREAM_ID_MAX  48  /* room for an entry id, `ms-sequence` */
#define EVENT_LANE_MAX 300 /* bytes of a lane's name */

/** A consumer: what a process knows of one event stream that it reads. */
struct event_consumer {
	SLIST_ENTRY(event_consumer) entry; /* in tasks->consumers */
	struct tasks *tasks;
	const char *stream;
	struct periodic *reader;
	struct periodic *retry; /* of parked events */
	struct redis_blocking *connection;
	struct lease lease;           /* named like the stream */
	char position[STREAM_ID_MAX]; /* the newest entry that is done with; "": unknown */
	int64_t position_fence;       /* of the lease when the position was read */
	/* Of event_parking.h. */
	int64_t parked, parked_lanes;  /* events and their lanes, about */
	uint64_t count_due_ms;         /* monotonic: when they are next counted */
	bool has_turn;                 /* whether `turn` is a lane */
	char turn[EVENT_LANE_MAX + 1]; /* the lane that had the last turn */
};

/** Start a consumer for each stream of the handlers. require()s that event_streams.h names the
 * service as a reader of each. */
void events_start(struct tasks *tasks);

/** Look now for parked events that are due. */
void events_retry(struct tasks *tasks);

/** Start no further pass; cancel the running ones. */
void events_stop(struct tasks *tasks);

/** Whether no pass is running. */
bool events_are_idle(const struct tasks *tasks);

/** Measure how long the oldest event of each stream that the service has not read yet has waited.
 * Suspends; raises. */
void events_measure(struct request *rq, const struct tasks *tasks);

/** Free the stopped consumers. */
void events_free(struct tasks *tasks);
