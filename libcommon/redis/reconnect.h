/** A link: one connection to Redis that is reopened, with backoff, after it was lost. The shared
 * connection, blocking connections and subscriptions each use one. Nothing here suspends.
 *
 *                 send                    PONG
 *     IDLE ------------> CONNECTING ------------> READY
 *                          ^     | failed, timeout  | lost, no reply
 *                          |     v                  v
 *                          +- BROKEN <--------------+   (READY for a second: straight to CONNECTING)
 *                    backoff is over
 *
 * CONNECTING covers name lookup, connect, the handshake of TLS, AUTH, SELECT, HELLO (for the
 * version) and PING; commands sent in this state wait for READY. In BROKEN they are refused at
 * once. When an attempt fails and the host has further addresses, the next one is tried without
 * leaving CONNECTING.
 */
#pragma once

#include "redis/url.h"

#include <hiredis/hiredis.h>
#include <uv.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct redis_link;
struct tls_context;

/** A command's reply; NULL: the connection was lost before it came. Borrowed during the call. */
typedef void redis_reply_cb(void *arg, const redisReply *reply);

/** The link became READY (`is_ready`), or has left READY. */
typedef void redis_change_cb(void *arg, bool is_ready);

/** Make a link, IDLE. Borrows the URL and the context of TLS, which is NULL unless the URL asks for
 * TLS. When no reply comes for `silence_ms` while commands are in
 * flight, the connection is closed and reopened. `change` may be NULL. */
struct redis_link *redis_link_new(uv_loop_t *loop, const struct redis_url *url,
                                  struct tls_context *tls, uint64_t silence_ms,
                                  redis_change_cb *change, void *arg);

/** Close and free. First calls the callbacks of its commands with NULL. NULL is fine. The loop must
 * still run libuv's close callbacks. */
void redis_link_free(struct redis_link *link);

/** Begin connecting when IDLE. */
void redis_link_start(struct redis_link *link);

bool redis_link_is_ready(const struct redis_link *link);

#define REDIS_TOO_OLD "Redis 6.2 or newer is needed"

/** Whether the last server that answered is too old; the link does not become READY with it. */
bool redis_link_is_too_old(const struct redis_link *link);

/** Send a command (copied), or keep it until the link is READY; `reply(arg, …)` is called once.
 * `reply` may be NULL. False: the link is BROKEN, and `reply` is not called. */
bool redis_link_send(struct redis_link *link, const char *const *argv, size_t argc,
                     redis_reply_cb *reply, void *arg);

/** SUBSCRIBE, from a change callback with is_ready: `message(arg, …)` is called for every reply
 * that Redis pushes, and with NULL when the connection is lost. */
void redis_link_subscribe(struct redis_link *link, const char *channel, redis_reply_cb *message,
                          void *arg);

/** Close the connection with all commands in flight, and open another. */
void redis_link_drop(struct redis_link *link);
