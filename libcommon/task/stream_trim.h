/** How long entries stay in the event streams that this service writes, and how a reader gets those
 * that a stream no longer has. Internal to this folder.
 *
 * The trimmer removes entries that every reader has read (event_streams.h) and that are old enough.
 * A stream whose reader is away, or cannot go on, is cut at tasks_timing.stream_max entries; the
 * outbox keeps them, and the reader asks for them when it goes on. So what an event says has left
 * Redis a minute after all have read it: streams keep nothing of an account that was deleted. The
 * trimmer also removes dead letters of deleted accounts, and the consumers of processes that have
 * ended.
 *
 * Replay: a reader that goes on asks when the entry at its position is missing: its database was
 * restored to an earlier point than the stream reaches back, it read nothing for so long that the
 * stream was cut, or Redis lost the stream. It need not have been away: it may have had no way to
 * Redis, or no room for parked events. The request is a key of the reader (event_streams.h); the
 * writer's relay marks the rows of its outbox as unsent. The reader skips what it has handled
 * (events.h).
 */
#pragma once

#include "pg/pg.h"
#include "task/tasks.h"

#define STEP_ROWS 5000

/** For how many days an outbox keeps what it has sent, for a reader that is away: so old can be
 * what is sent again. A reader knows for longer what it has handled, so that an outbox can be
 * behind with deleting. */
#define OUTBOX_DAYS        30
#define EVENT_SETTLED_DAYS (OUTBOX_DAYS + 2)

/** Run a statement that changes up to STEP_ROWS rows, its last parameter, until it changes fewer:
 * short steps, that hold their locks and their snapshot briefly. What is done stays done when the
 * time is over. Returns how many rows were changed. Suspends; raises. */
int64_t run_in_steps(struct request *rq, const struct pg_call *step);

/** Pass of the trimmer (periodic.h), whose user is the struct tasks. It also deletes old rows of
 * `outbox` and `event_settled`. */
void stream_trim_pass(struct request *rq);

/** As reader: ask for the events of the stream after `entry` that were sent before `now_ms` (Unix
 * time of Postgres). Suspends; raises. */
void replay_request(struct request *rq, const struct tasks *tasks, const char *stream,
                    const char *entry, int64_t now_ms);

/** As writer: answer the requests for the streams that this service writes. Suspends; raises. */
void replay_serve(struct request *rq, struct tasks *tasks);
