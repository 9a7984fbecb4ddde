/** Whether the process may use its event streams in Redis (product/event_streams.h). An upgrade
 * that adds a stream finds out before it changes the schema: what is written to a stream that is
 * refused waits in the outbox, with all behind it, until somebody sees it. */
#pragma once

#include "base/error.h"

/** Of a struct process (pg/migrate.h). ERR_CONFLICT: a stream, or the position of a reader, that
 * deploy/redis-acl gives to the user of REDIS_URL is refused to it. Logs which. ERR_NONE also when
 * Redis cannot be asked: the process starts without it. Waits for some seconds. */
enum err_code stream_permission_check(const void *process);
