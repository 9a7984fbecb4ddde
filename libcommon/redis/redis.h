/** Redis for fibers, over hiredis.
 *
 * One shared connection per worker carries ordinary commands, pipelined; blocking reads and
 * subscriptions have connections of their own. Lost connections are made again with backoff
 * (redis_conn.h). Works with hiredis 0.14 and 1.x.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "loop/request.h"

#include <uv.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct redis;

/** Make a client on `loop`; connects lazily. Copies the URL. NULL: the URL is not of the forms that
 * redis_url.h takes. */
struct redis *redis_new(uv_loop_t *loop, const char *url);

/** Close and free; what waits fails with ERR_UNAVAILABLE. require()s that every redis_blocking has
 * been freed. NULL is fine. The loop has to run on for libuv's close callbacks. */
void redis_free(struct redis *redis);

/** Whether the shared connection is up; begins to connect it where nothing has. */
bool redis_is_up(const struct redis *redis);

enum redis_type { REDIS_NIL, REDIS_TEXT, REDIS_INTEGER, REDIS_LIST, REDIS_ERROR };

/** A reply, deep-copied into the arena of the request. */
struct redis_value {
	enum redis_type type;
	int64_t integer;
	const char *text; /* TEXT and ERROR, NUL-terminated */
	size_t length;
	struct redis_value *items; /* LIST */
	size_t count;
};

/** Run one command (`argv` as in redisCommandArgv) and wait. Suspends.
 * Raises ERR_UNAVAILABLE: away; ERR_TIMEOUT; ERR_INTERNAL: Redis answered an error. */
struct redis_value *redis_command(struct request *rq, const char *const *argv, size_t argc);

/** As redis_command(), returns the failure; a Redis error reply is ERR_NONE with type
 * REDIS_ERROR. */
enum err_code redis_try(struct request *rq, struct redis_value **ret_value, const char *const *argv,
                        size_t argc);

/** Literal words: redis_words(rq, "XACK", stream, group, id). All `const char *`. */
#define redis_words(rq, ...)                                    \
	redis_command((rq), (const char *const[]){__VA_ARGS__}, \
	              ARRAY_LEN(((const char *const[]){__VA_ARGS__})))

/** A connection for commands that block: XREADGROUP … BLOCK. One command at a time. */
struct redis_blocking;
struct redis_blocking *redis_blocking_new(struct redis *redis);

/** Close and free. NULL is fine. */
void redis_blocking_free(struct redis_blocking *connection);

/** As redis_try(), on that connection. A command may block for 10 s. */
enum err_code redis_blocking_try(struct request *rq, struct redis_blocking *connection,
                                 struct redis_value **ret_value, const char *const *argv,
                                 size_t argc);

/** SUBSCRIBE on a connection of its own for as long as the client lives. `message` NULL:
 * (re)connected (messages may have been missed) — `is_up` true — or lost — `is_up` false. */
typedef void redis_message_cb(void *context, const char *message, size_t length, bool is_up);
void redis_subscribe(struct redis *redis, const char *channel, redis_message_cb *cb, void *context);

/** Publish without waiting; lost when Redis is away. */
void redis_publish(struct redis *redis, const char *channel, const char *message);
