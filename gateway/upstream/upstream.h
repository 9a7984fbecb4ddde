/** A service as one worker reaches it: kept-alive connections, and calls on them.
 *
 * Words used here: a call is one request to the service and its answer; a connection is reused when
 * it has carried a call before. A call is made of pieces as they come, nothing is collected; what
 * the service does not take at once is queued, and the caller is told to stop.
 *
 *     upstream_call -> on_ready -> upstream_send* -> upstream_sent
 *                                       -> on_answer -> on_content* -> on_end
 *
 * The answer may come before all of the request is sent, but not before some of it is: what a kept
 * connection says by itself is nobody's answer, and ends it. One of on_end and on_failed ends the
 * call, after which its pointer is dead; upstream_cancel() ends it without either. Callbacks come
 * from the loop's own stack, never from inside a function of this header.
 *
 * A name is looked up again while calls are made, every RESOLVE_MS and after a failure to connect;
 * its addresses take turns. An address that did not answer in time is left out for some seconds.
 */
#pragma once

#include "base/address.h"
#include "base/arena.h"
#include "http/server.h"

#include <uv.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct upstream;
struct upstream_call;

struct upstream_limits {
	uint64_t connect_timeout_ms; /* for each address */
	uint64_t answer_timeout_ms;  /* from the end of the request to the head of the answer */
	/* Between two pieces of an answer, or of a request to a service that does not read. */
	uint64_t content_timeout_ms;
	uint64_t idle_timeout_ms; /* of a connection in the pool; below the service's own */
	size_t idle_max;          /* connections kept in the pool */
	size_t head_max_bytes;    /* of an answer */
	size_t fields_max;
	size_t send_high_bytes; /* upstream_send() says "full" above it */
};

extern const struct upstream_limits upstream_limits_default;

/** The head of an answer, in the call's arena. */
struct upstream_answer {
	int status; /* 200 to 599 */
	const struct http_field *fields;
	size_t field_count;
	int64_t content_length; /* -1: not told */
};

struct upstream_failure {
	/* ERR_UNAVAILABLE: no connection, or it broke; ERR_UPSTREAM: not an answer; ERR_TIMEOUT. */
	enum err_code code;
	bool has_connected; /* false: nothing was sent */
	bool is_reused;     /* the connection had been kept from an earlier call */
	bool has_answered;  /* some bytes of an answer had come */
	const char *reason; /* for logs */
};

struct upstream_handler {
	void (*on_ready)(void *user);
	void (*on_answer)(void *user, const struct upstream_answer *answer);
	/** `data` is valid during the call. */
	void (*on_content)(void *user, const char *data, size_t length);
	void (*on_end)(void *user);
	/** What was queued has gone out, after upstream_send() had said "full". */
	void (*on_drained)(void *user);
	void (*on_failed)(void *user, const struct upstream_failure *failure);
};

/** Register the metrics; once, before threads. */
void upstream_register(void);

/** Borrows the address and the limits. `name` is for logs and metrics, a literal. */
struct upstream *upstream_new(uv_loop_t *loop, const char *name, const struct address *address,
                              const struct upstream_limits *limits);

/** Close all connections; require()s that no call is left. NULL is fine. The loop has to run once
 * more. */
void upstream_free(struct upstream *upstream);

/** Begin a call; what it needs lives in `arena`. `is_head`: the answer has no content. `is_fresh`:
 * on a new connection, none from the pool. True through `ret_is_ready`: send now, on_ready does not
 * come. */
struct upstream_call *upstream_call(struct upstream *upstream, struct arena *arena,
                                    const struct upstream_handler *handler, void *user,
                                    bool is_head, bool is_fresh, bool *ret_is_ready);

/** Send bytes of the request, which the caller frames. Copies what the socket does not take at
 * once. True: stop until on_drained. */
bool upstream_send(struct upstream_call *call, const uv_buf_t *bufs, unsigned count);

/** The request is complete: the connection can be kept after the answer. */
void upstream_sent(struct upstream_call *call);

/** Stop and go on reading the answer's content. What has been read already still comes. */
void upstream_pause(struct upstream_call *call);
void upstream_resume(struct upstream_call *call);

/** Give the call up; its connection is closed. */
void upstream_cancel(struct upstream_call *call);

/** Connections open now, in use and kept; for metrics and tests. */
size_t upstream_connections(const struct upstream *upstream);
size_t upstream_idle(const struct upstream *upstream);

/** Bytes of requests that wait for the service to read; for metrics and tests. */
size_t upstream_queued(const struct upstream *upstream);
