/** The endpoints of one service: the addresses of its replicas, from which each call takes one.
 * The gateway's proxy and the calls between services both use it.
 *
 * Which endpoints there are. A host name is resolved again every few seconds while calls are made,
 * and sooner after a failure. An endpoint is identified by its address, so an answer in another
 * order changes nothing. DNS may also return only a part of the addresses: an endpoint that the
 * newest answer does not list is *unlisted*. It stays in use until its first failure, at most
 * `unlisted_ms` since it was last listed; then it is removed: it gets no further call, and is
 * freed when its calls have ended. A failed look-up changes nothing. A numeric address or a unix
 * socket is one endpoint that never changes.
 *
 * Which one a call takes: the one with the least outstanding calls, in turn when several have
 * equally many. An endpoint that failed is left out with exponential backoff; then it gets one
 * call as a trial. Any answer ends the failure. When all are left out, they are used as if none
 * were, because an attempt is better than none. An endpoint that closes connections after their
 * answers is retiring: it is left out for `retiring_ms`, since it is about to end.
 *
 *                      failed                    trial allowed
 *     USED -------------------------> LEFT OUT ----------------> TRIAL
 *      ^                                  ^     after the backoff  |
 *      |                                  +------------------------+ failed
 *      +-----------------------------------------------------------+ answered
 *
 * The state is not stored: it follows from the failures since the last answer, the time of the
 * next trial, and the number of outstanding calls.
 */
#pragma once

#include "base/address.h"
#include "base/arena.h"

#include <uv.h>

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct endpoints;

#define ENDPOINT_NAME_MAX 112 /* longest path of a unix socket, or address and port */

/** A kept connection, embedded in the connection of the caller. */
struct endpoint_link {
	TAILQ_ENTRY(endpoint_link) link;
};

TAILQ_HEAD(endpoint_links, endpoint_link);

/** One endpoint. The caller reads it, and changes only `kept`. */
struct endpoint {
	struct sockaddr_storage address; /* AF_UNIX: `name` is the path */
	char name[ENDPOINT_NAME_MAX];    /* `10.0.0.7:8080`, `[::1]:8080` or a path */
	struct endpoint_links kept;      /* idle connections of the caller, the newest first */
};

/** Endpoints that a call has tried, so that it tries each once. Zeroed: none. */
struct endpoint_set {
	uint64_t *ids; /* no id is used twice, so an endpoint in the set may have been freed */
	size_t count, room;
};

struct endpoint_times {
	uint64_t lookup_ms;       /* between two look-ups */
	uint64_t lookup_retry_ms; /* to the next one after a failure, of a look-up or a call */
	uint64_t unlisted_ms;     /* how long an unlisted endpoint stays in use */
	uint64_t backoff_ms;      /* of an endpoint's first failure */
	uint64_t backoff_max_ms;
	uint64_t retiring_ms; /* how long one that retires is left out */
};

#define ENDPOINT_TIMES_DEFAULT                                                    \
	{                                                                         \
		.lookup_ms = 5000, .lookup_retry_ms = 1000, .unlisted_ms = 60000, \
		.backoff_ms = 1000, .backoff_max_ms = 4000, .retiring_ms = 5000   \
	}

/** A look-up has ended; `status` is 0 or a libuv error. Called from the loop. */
typedef void endpoints_cb(void *context, int status);

/** Borrows everything; `service` is its name in logs. `on_lookup` may be called until
 * endpoints_free(). */
struct endpoints *endpoints_new(uv_loop_t *loop, const char *service, const struct address *address,
                                const struct endpoint_times *times, endpoints_cb *on_lookup,
                                void *context);

/** Stop the look-up and free; require()s that no endpoint is outstanding or has kept connections.
 * Accepts NULL. The loop has to run on for libuv's callback. */
void endpoints_free(struct endpoints *endpoints);

/** Take an endpoint that is not in `tried` for a call, and start a look-up if one is due. NULL:
 * there is none. Then endpoints_is_resolving() says whether to wait for on_lookup and to try
 * again. */
struct endpoint *endpoints_take(struct endpoints *endpoints, const struct endpoint_set *tried);

/** Whether a look-up is running. */
bool endpoints_is_resolving(const struct endpoints *endpoints);

/** Whether a call could take an endpoint that is not left out and not in `tried`. */
bool endpoints_has_other(const struct endpoints *endpoints, const struct endpoint_set *tried);

/** The endpoint refused a connection, broke a new one or did not answer: leave it out for a while,
 * or remove it if it is unlisted. Call before endpoint_release(). */
void endpoints_failed(struct endpoints *endpoints, struct endpoint *endpoint, const char *reason);

/** Another process answers at this address: the replica that had it has ended. Remove the
 * endpoint, unless its address never changes, and look the name up again. Call before
 * endpoint_release(). */
void endpoints_misdirected(struct endpoints *endpoints, struct endpoint *endpoint);

/** The endpoint sent an answer. Call before endpoint_release(). */
void endpoints_answered(struct endpoints *endpoints, struct endpoint *endpoint);

/** The endpoint sent a complete answer and closes the connection, which it was not asked to. */
void endpoints_retiring(struct endpoints *endpoints, struct endpoint *endpoint);

/** The call has ended. The endpoint may be freed, unless it has a kept connection. */
void endpoint_release(struct endpoint *endpoint);

/** A connection has left `kept`, and no call took it. The endpoint may be freed. */
void endpoint_unkept(struct endpoint *endpoint);

/** Known endpoints. For tests. */
size_t endpoints_count(const struct endpoints *endpoints);

/** Add an endpoint to the set, in the arena. */
void endpoint_set_add(struct endpoint_set *set, struct arena *arena, struct endpoint *endpoint);
