/** The endpoints of one service: its addresses, used in turn.
 *
 * A host name is resolved when a connection is needed and the last lookup is older than 5 s or a
 * connect has failed since. The old addresses stay in use until the new ones arrive. An endpoint
 * that did not answer a connect in time (a silent one) is skipped for 2 s. A numeric address or a
 * unix socket is one endpoint that never changes.
 */
#pragma once

#include "base/address.h"
#include "loop/resolver.h"

#include <uv.h>

#include <stdbool.h>
#include <stdint.h>

#define ENDPOINTS_MAX RESOLVER_ADDRESSES_MAX

struct endpoint {
	struct sockaddr_storage address; /* unused for a unix socket */
	uint64_t silent_until_ms;        /* uv_now(); skipped until then; 0: not silent */
};

/** A lookup has ended; `status` is 0 or a libuv error. */
typedef void endpoints_cb(void *context, int status);

/** Embedded in struct upstream. The members are private to endpoints.c. */
struct endpoints {
	uv_loop_t *loop;
	const char *service;
	const struct address *address;
	endpoints_cb *on_resolved;
	void *context;
	struct resolver *resolver; /* NULL: not a host name */
	uint64_t resolved_ms;      /* uv_now() of the last lookup; 0: resolve before connecting */
	int count;
	int next;
	struct endpoint list[ENDPOINTS_MAX];
};

/** Borrows `service` (its name in logs) and `address`. `on_resolved` is called from the loop after
 * each lookup. */
void endpoints_init(struct endpoints *endpoints, uv_loop_t *loop, const char *service,
                    const struct address *address, endpoints_cb *on_resolved, void *context);

/** Stop a lookup and free what endpoints_init() allocated. */
void endpoints_done(struct endpoints *endpoints);

/** Start a lookup when the addresses are stale and none is running. */
void endpoints_refresh(struct endpoints *endpoints);

/** Whether no address is known yet and a lookup is running: wait for on_resolved. */
bool endpoints_is_pending(const struct endpoints *endpoints);

/** Index of the next endpoint that is neither silent nor in the bit mask `tried`; -1: there is
 * none. */
int endpoints_next(struct endpoints *endpoints, unsigned tried);

/** The socket address of the endpoint with that index. */
const struct sockaddr *endpoints_address(const struct endpoints *endpoints, int index);

/** A connect to the endpoint failed: resolve the name again before the next connect. `is_silent`:
 * it timed out, so skip the endpoint for a while. */
void endpoints_connect_failed(struct endpoints *endpoints, int index, bool is_silent);
