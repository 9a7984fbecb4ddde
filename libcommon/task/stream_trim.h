/** Trims the event streams that this service writes: removes entries that every reader has read
 * (event_streams.h) and that are old enough. A stream whose reader is away is cut at
 * tasks_timing.stream_max entries; the outbox keeps them, and the reader asks for them when it is
 * back (replay.h). So what an event says has left Redis a minute after all have read it: streams
 * keep nothing of an account that was deleted. Also removes dead letters of deleted accounts, and
 * the consumers of processes that have ended. Internal to this folder. */
#pragma once

#include "task/tasks.h"

/** Pass of the trimmer (periodic.h), whose user is the struct tasks. It also deletes old rows of
 * `outbox` and `event_settled`. */
void stream_trim_pass(struct request *rq);
