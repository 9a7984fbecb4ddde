/** gateway/upstream/: the HTTP client of the proxy: calls to one service over a worker's pool of
 * connections. Entry points: upstream_new() for each service, upstream_call() for each request.
 *
 *     upstream.c    calls and connections
 *     answer.c      reads an answer with llhttp
 *
 * client/endpoints.h chooses the endpoint of each call: the replica with the least outstanding
 * calls.
 *
 * The proxy does not use libcommon's client (client/fetch.h, over libcurl), because it needs
 * - streaming in both directions with back-pressure, without collecting or copying the content;
 * - retries that know whether a byte of the request was sent or a byte of the answer received;
 * - an answer that may start before the request is complete;
 * - no fiber for a request that is only passed on.
 *
 * A call is one request and its answer. The caller frames the request itself and sends it in
 * pieces. What the socket does not accept at once is queued; upstream_send() returns true when too
 * much is queued, and on_drained is called when the queue is empty again.
 *
 *     upstream_call -> on_ready -> upstream_send* -> upstream_sent
 *                                       -> on_answer -> on_content* -> on_end
 *
 * The answer may start before the request is complete, but not before some of it was sent: bytes
 * that arrive earlier on a kept connection are not an answer and close it. A call ends with on_end,
 * on_failed or upstream_cancel(); its pointer is invalid from then on. Callbacks are called from
 * the loop's own stack, never from inside a function of this header.
 */
#pragma once

#include "base/address.h"
#include "base/arena.h"
#include "client/endpoints.h"
#include "http/server.h"

#include <uv.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct upstream;
struct upstream_call;

struct upstream_limits {
	uint64_t connect_timeout_ms; /* for each endpoint */
	/* From the end of the request to the end of the answer's head. Parts of the head do not
	 * extend it. */
	uint64_t answer_timeout_ms;
	/* Between two pieces of an answer, or without progress of a queued request. */
	uint64_t content_timeout_ms;
	uint64_t idle_timeout_ms; /* of a kept connection; must be below the service's own limit */
	size_t idle_max;          /* connections kept */
	size_t head_max_bytes;    /* of an answer */
	size_t fields_max;        /* of an answer */
	size_t send_high_bytes;   /* upstream_send() returns true when more bytes are queued */
	struct endpoint_times endpoints;
};

extern const struct upstream_limits upstream_limits_default;

/** The head of an answer, in the call's arena. */
struct upstream_answer {
	int status; /* 200 to 599 */
	const struct http_field *fields;
	size_t field_count;
	int64_t content_length; /* -1: unknown */
};

struct upstream_failure {
	/* ERR_UNAVAILABLE: no connection, or it broke; ERR_UPSTREAM: an invalid answer;
	 * ERR_TIMEOUT. */
	enum err_code code;
	bool has_connected; /* false: there was no connection at all */
	bool has_sent;      /* the socket accepted at least one byte of the request */
	bool has_answered;  /* at least one byte of an answer was received */
	const char *reason; /* for logs */
};

struct upstream_handler {
	/** The call has a connection: send the request. */
	void (*on_ready)(void *user);
	void (*on_answer)(void *user, const struct upstream_answer *answer);
	/** `data` is valid during the call. */
	void (*on_content)(void *user, const char *data, size_t length);
	void (*on_end)(void *user);
	/** The queue is empty, after upstream_send() returned true. */
	void (*on_drained)(void *user);
	void (*on_failed)(void *user, const struct upstream_failure *failure);
};

/** Borrows everything. `name` is the service's name in logs and metrics. */
struct upstream *upstream_new(uv_loop_t *loop, const char *name, const struct address *address,
                              const struct upstream_limits *limits);

/** Close all connections and free; require()s that no call is open. Accepts NULL. The loop must run
 * afterwards, for libuv's close callbacks. */
void upstream_free(struct upstream *upstream);

/** Start a call, in `arena`. `is_head`: the method is HEAD, so the answer has no content.
 * `is_fresh`: use a new connection, not a kept one. When *ret_is_ready is set to true the caller
 * sends at once and on_ready is not called. */
struct upstream_call *upstream_call(struct upstream *upstream, struct arena *arena,
                                    const struct upstream_handler *handler, void *user,
                                    bool is_head, bool is_fresh, bool *ret_is_ready);

/** Send bytes of the request. Copies what the socket does not accept at once. Returns true when too
 * much is queued: do not send more before on_drained. */
bool upstream_send(struct upstream_call *call, const uv_buf_t *bufs, unsigned count);

/** The request is complete. A connection on which the request is incomplete is closed after the
 * answer. */
void upstream_sent(struct upstream_call *call);

/** Stop and resume reading the answer. Bytes that were read before are still delivered. */
void upstream_pause(struct upstream_call *call);
void upstream_resume(struct upstream_call *call);

/** End the call and reset its connection, so that the service ends the request, too. */
void upstream_cancel(struct upstream_call *call);

/** The same, in on_answer: what has answered is not this service (endpoints_misdirected()). */
void upstream_misdirected(struct upstream_call *call);

/** Open connections, and those of them that are idle. For tests. */
size_t upstream_connections(const struct upstream *upstream);
size_t upstream_idle(const struct upstream *upstream);

/** Bytes of requests that are queued. For tests. */
size_t upstream_queued(const struct upstream *upstream);
