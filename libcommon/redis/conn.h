/** A connection to Redis on a libuv loop: the socket, TLS where the URL asks for it, and replies
 * one after the other, as hiredis's parser makes them.
 *
 * Of hiredis only the parser and the formatting of commands are used: its own connections cannot
 * have TLS in 0.14, and have it by OpenSSL later.
 *
 *                    connected           handshake is over
 *     CONNECTING -----------------> TLS ------------------> OPEN
 *          |       (without TLS: straight to OPEN)            |
 *          +------> ENDED <-----------------------------------+   any failure, or closed by the server
 */
#pragma once

#include "redis/fault.h"
#include "redis/url.h"

#include <hiredis/hiredis.h>
#include <uv.h>

#include <stddef.h>

struct redis_conn;
struct tls_context;

struct redis_conn_handler {
	/* A reply; borrowed during the call, which may close the connection. */
	void (*on_reply)(void *owner, const redisReply *reply);
	/* The connection has failed or was closed by the server; no other call follows. It is still
	 * to be closed. `fault`: NULL, or a kind that the owner cannot know from its own state. */
	void (*on_end)(void *owner, const struct fault *fault, const char *reason);
};

/** Begin to connect to an address of the URL's host; NULL: to the URL's unix socket. Borrows all
 * but the address. `tls` is NULL unless the URL asks for TLS. Returns NULL where there are no
 * sockets left, or the like; `ret_reason` is a constant. */
struct redis_conn *redis_conn_new(uv_loop_t *loop, const struct redis_url *url,
                                  const struct sockaddr *address, struct tls_context *tls,
                                  const struct redis_conn_handler *handler, void *owner,
                                  const char **ret_reason);

/** Close it; the owner is not called any more. NULL is fine. The loop must still run libuv's close
 * callbacks. */
void redis_conn_close(struct redis_conn *conn);

/** Send a formatted command, copied: with others before the loop waits again, and not before the
 * connection is open. */
void redis_conn_send(struct redis_conn *conn, const char *command, size_t length);

/** What it waits for, when that takes too long. */
const char *redis_conn_delay(const struct redis_conn *conn);
