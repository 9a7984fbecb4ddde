/** Looks host names up without blocking the loop.
 *
 * One resolver belongs to one connection, or to one pool of connections to one host. getaddrinfo()
 * runs on libuv's thread pool and cannot be interrupted. When a look-up is stopped or its resolver
 * freed, the result is dropped and the callback is not called.
 */
#pragma once

#include <uv.h>

#include <stdbool.h>
#include <stdint.h>

struct resolver;

/** The result of a look-up: `status` 0 and `count` addresses in the order of RFC 6724, or a libuv
 * error in `status` and `count` 0. The addresses are padded with zeros and borrowed during the
 * call. The callback may free the resolver. */
typedef void resolver_cb(void *context, int status, const struct sockaddr_storage *addresses,
                         int count);

/** Make a resolver on `loop`. */
struct resolver *resolver_new(uv_loop_t *loop, resolver_cb *cb, void *context);

/** Stop the look-up and free the resolver. NULL is fine. The loop has to run on for libuv's
 * callback. */
void resolver_free(struct resolver *resolver);

/** Look `host` up for connections to `port`; copies. require()s that none is running.
 * Returns 0, or libuv's error: the callback will not be called. */
int resolver_start(struct resolver *resolver, const char *host, uint16_t port);

/** Stop the running look-up, if there is one: its callback is not called. Another may be started at
 * once. */
void resolver_stop(struct resolver *resolver);

/** Whether a look-up is running. */
bool resolver_is_busy(const struct resolver *resolver);
