/** One connection to Redis that is made again whenever it is lost: what the shared connection, a
 * blocking one and a subscription have in common. Nothing here suspends.
 *
 *                 send                    PONG
 *     IDLE ------------> CONNECTING ------------> UP
 *                          ^     | failed, late    | lost, silent
 *                          |     v                 v
 *                          +- AWAY <---------------+     (UP for a second: straight to CONNECTING)
 *                       backoff is over
 *
 * CONNECTING covers name lookup, connect, AUTH, SELECT and PING; commands sent meanwhile wait for
 * it. In AWAY they are refused at once.
 */
#pragma once

#include "redis/url.h"

#include <hiredis/async.h>
#include <uv.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct redis_conn;

/** A command's reply; NULL: the connection was lost before it came. Borrowed during the call. */
typedef void redis_reply_cb(void *arg, const redisReply *reply);

/** The connection came up, or was lost. */
typedef void redis_change_cb(void *arg, bool is_up);

/** Make a connection, IDLE. Borrows the URL. `silence_ms`: with no reply for so long while commands
 * are under way it counts as lost. `change` may be NULL. */
struct redis_conn *redis_conn_new(uv_loop_t *loop, const struct redis_url *url, uint64_t silence_ms,
                                  redis_change_cb *change, void *arg);

/** Close and free; callbacks of commands under way run first. NULL is fine. The loop has to run on
 * for libuv's close callbacks. */
void redis_conn_free(struct redis_conn *conn);

/** Begin connecting when IDLE. */
void redis_conn_start(struct redis_conn *conn);

bool redis_conn_is_up(const struct redis_conn *conn);

/** Send a command (copied), or have it wait for the connection; `reply(arg, …)` is called once.
 * False: away, and it will not be called. */
bool redis_conn_send(struct redis_conn *conn, const char *const *argv, size_t argc,
                     redis_reply_cb *reply, void *arg);

/** SUBSCRIBE: `message(arg, …)` is called for every reply that Redis pushes, until the connection
 * is lost, then with NULL. From a change callback with is_up. */
void redis_conn_subscribe(struct redis_conn *conn, const char *channel, redis_reply_cb *message,
                          void *arg);

/** Give the present connection up, with all commands under way, and make another. */
void redis_conn_drop(struct redis_conn *conn);
