/** Trims event streams: removes entries that every consumer group has acknowledged and that are old
 * enough, and the consumers of processes that have ended. Internal to this folder. */
#pragma once

#include "task/tasks.h"

/** Add a stream to those that are trimmed; copies. */
void stream_trim_add(struct tasks *tasks, const char *stream);

/** Pass of the trimmer (periodic.h), whose user is the struct tasks. It also deletes old rows of
 * `outbox` and `event_seen`. */
void stream_trim_pass(struct request *rq);
