/** Looking a host name up off the loop, and taking its addresses in turn.
 *
 * One resolver belongs to one connection, or to one pool of connections to one host. The platform's
 * getaddrinfo() runs on libuv's thread pool; it cannot be interrupted, so a resolver that is freed
 * meanwhile lives on until it returns, and calls nobody.
 */
#pragma once

#include <uv.h>

#include <stdbool.h>
#include <stdint.h>

struct resolver;

/** `count` addresses of the name, in the order of RFC 6724; 0 with a libuv error in `status`. They
 * are borrowed during the call. The resolver may be freed in it. */
typedef void resolver_cb(void *context, int status, const struct sockaddr_storage *addresses,
                         int count);

#define RESOLVER_ADDRESSES_MAX 16 /* the rest of a longer answer is left out */

/** Make a resolver on `loop`. */
struct resolver *resolver_new(uv_loop_t *loop, resolver_cb *cb, void *context);

/** Free it; a look-up under way calls nobody. NULL is fine. The loop has to run on for libuv's
 * callback. */
void resolver_free(struct resolver *resolver);

/** Look `host` up for connections to `port`; copies. require()s that no look-up is under way.
 * Returns 0, or libuv's error: there will be no call. */
int resolver_start(struct resolver *resolver, const char *host, uint16_t port);

/** Forget the look-up under way, if there is one: nobody is called. Another may be started at
 * once. */
void resolver_stop(struct resolver *resolver);

bool resolver_is_busy(const struct resolver *resolver);
