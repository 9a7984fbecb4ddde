/** A consumer: what a process knows of one event stream that it reads. Internal to this folder. */
#pragma once

#include "task/lease.h"
#include "task/stream.h"
#include "task/tasks.h"

#define STREAM_ID_MAX 48 /* room for an entry id, `ms-sequence` */

struct event_consumer {
	SLIST_ENTRY(event_consumer) entry; /* in tasks->consumers */
	struct tasks *tasks;
	const char *stream;
	struct periodic *reader;
	struct periodic *retry; /* of parked events */
	struct redis_blocking *connection;
	struct lease lease;           /* named like the stream */
	char position[STREAM_ID_MAX]; /* the newest entry that is settled; "": unknown */
	int64_t position_fence;       /* of the lease when the position was read */
};
