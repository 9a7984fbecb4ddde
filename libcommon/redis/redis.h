/** libcommon/redis/: Redis for fibers, over hiredis.
 *
 * redis_new() makes the client of a worker. Fibers call redis_command() and redis_try(). One shared
 * connection per worker carries ordinary commands, pipelined. Blocking commands
 * (redis_blocking_new()) and subscriptions (redis_subscribe()) have separate connections. Lost
 * connections are reopened with backoff (reconnect.h), and so is one to a server that has become a
 * replica. With a rediss:// URL all of them use TLS (conn.h). Works with hiredis 0.14 and 1.x.
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
struct tls_trust;

/** Make a client on `loop`; it connects on first use. Copies the URL. Borrows `trust`, the
 * authorities that may sign the server's certificate, which is not NULL if the URL is of rediss://.
 * Returns NULL where the URL cannot be parsed (url.h). */
struct redis *redis_new(uv_loop_t *loop, const char *url, struct tls_trust *trust);

/** Close and free. Waiting commands fail with ERR_UNAVAILABLE. require()s that every redis_blocking
 * has been freed. NULL is fine. The loop must still run libuv's close callbacks. */
void redis_free(struct redis *redis);

/** Whether the shared connection is ready; begins to connect it if it was not used before. */
bool redis_is_ready(const struct redis *redis);

/** Why the server cannot be used, whatever is tried: its version is too old. NULL: nothing is known
 * against it. */
const char *redis_unsupported_reason(const struct redis *redis);

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
 * Raises ERR_UNAVAILABLE: no connection, or a server that cannot do it now, such as a full or
 * starting one (fault.h); ERR_TIMEOUT; ERR_INTERNAL: Redis replied with another error. */
struct redis_value *redis_command(struct request *rq, const char *const *argv, size_t argc);

/** As redis_command(), but returns the failure. An error reply that is no fault of the server is
 * ERR_NONE with type REDIS_ERROR. */
enum err_code redis_try(struct request *rq, struct redis_value **ret_value, const char *const *argv,
                        size_t argc);

/** redis_command() with the words as arguments, all `const char *`:
 * redis_words(rq, "XACK", stream, group, id). */
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

/** SUBSCRIBE on a separate connection until the client is freed. A NULL `message` reports a change:
 * with `is_up`, the subscription has been (re)established and messages may have been missed;
 * without, the connection was lost. */
typedef void redis_message_cb(void *context, const char *message, size_t length, bool is_up);
void redis_subscribe(struct redis *redis, const char *channel, redis_message_cb *cb, void *context);

/** Send a command without waiting for its reply. It is lost when there is no connection. */
void redis_send(struct redis *redis, const char *const *argv, size_t argc);
void redis_publish(struct redis *redis, const char *channel, const char *message);
