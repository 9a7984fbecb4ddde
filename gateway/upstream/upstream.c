/* Calls, and the connections that carry them.
 *
 * A call uses the connection that became idle last. When no connection is idle, it connects to the
 * endpoints in turn until a connect succeeds or all have failed.
 *
 * States of a connection:
 *
 *     CONNECTING --> BUSY <----> IDLE      to IDLE: request and answer are both complete
 *          |          |            |
 *          +----------+------------+--> CLOSED
 *
 *   state       call  time limit                              goes to CLOSED when
 *   CONNECTING  yes   connect_timeout                         connecting failed or took too long:
 *                                                             the call tries the next endpoint
 *   BUSY        yes   answer_timeout from the end of the      the service closed the connection,
 *                     request to the head of the answer;      was too slow or sent an invalid
 *                     content_timeout while the gateway       answer: the call fails
 *                     waits for the service to read or to
 *                     send content; none while it waits for
 *                     its client
 *   IDLE        no    idle_timeout                            any byte arrives, or the end
 */
#include "upstream/upstream.h"

#include "base/base.h"
#include "base/log.h"
#include "base/metrics.h"
#include "loop/buffered_write.h"
#include "upstream/answer.h"
#include "upstream/endpoints.h"

#include <stdlib.h>
#include <sys/queue.h>

#define NEVER UINT64_MAX

const struct upstream_limits upstream_limits_default = {
	.connect_timeout_ms = 1000,
	.answer_timeout_ms = 35000, /* longer than a service's own limit for a request */
	.content_timeout_ms = 30000,
	.idle_timeout_ms = 30000,
	.idle_max = 128,
	.head_max_bytes = 64 << 10,
	.fields_max = 128,
	.send_high_bytes = 256 << 10,
};

static struct metric connections =
	METRIC_GAUGE("expops_upstream_connections", "Connections to a service, in use or idle.",
                     "service");

enum conn_state {
	CONN_CONNECTING,
	CONN_BUSY,
	CONN_IDLE,
	CONN_CLOSED,
};

struct upstream_call {
	struct upstream *upstream;
	struct arena *arena;
	const struct upstream_handler *handler;
	void *user;
	struct conn *conn;               /* NULL while on a list */
	TAILQ_ENTRY(upstream_call) link; /* on `waiting` or `failed` while conn is NULL */
	struct upstream_failure failure; /* while on `failed` */
	unsigned tried;                  /* a bit for each endpoint that failed this call */
	bool is_head;
	bool is_failed; /* on `failed` */
	bool is_sent;   /* the request is complete */
	bool is_paused;
	bool is_full; /* upstream_send() returned true: on_drained must be called */
};

struct conn {
	struct upstream *upstream;
	union {
		uv_stream_t stream;
		uv_tcp_t tcp;
		uv_pipe_t pipe;
	};
	uv_timer_t timer;
	uv_connect_t connect;
	struct answer_reader answer;
	TAILQ_ENTRY(conn) all, idle;
	enum conn_state state;
	struct upstream_call *call; /* NULL unless connecting or busy */
	int endpoint;
	uint64_t deadline_ms, timer_ms; /* timer_ms: when the timer fires; 0: it is stopped */
	size_t queued_bytes;            /* of the request, when the deadline was set */
	unsigned handle_count;
	bool is_reused;
	bool is_reading;
	bool has_sent;   /* at least some of this call's request */
	bool is_parsing; /* answer_read() is on the stack */
};

TAILQ_HEAD(conn_list, conn);
TAILQ_HEAD(call_list, upstream_call);

struct upstream {
	uv_loop_t *loop;
	const char *name;
	const struct address *address;
	const struct upstream_limits *limits;
	struct endpoints endpoints;
	struct call_list waiting; /* for the endpoints' addresses */
	struct call_list failed;  /* their on_failed is to be called */
	uv_timer_t timer;         /* calls on_failed from the loop */
	struct conn_list conns;   /* all that are open */
	struct conn_list idle;    /* those in CONN_IDLE, the newest first */
	size_t conn_count, idle_count;
	unsigned handle_count; /* the timer and each connection */
	bool is_freed;
	char read_buffer[ANSWER_READ_BYTES]; /* used by all connections */
};

/* --- Closing ---------------------------------------------------------------------------------- */

static void upstream_handle_closed(struct upstream *upstream)
{
	if (--upstream->handle_count == 0 && upstream->is_freed)
		free(upstream);
}

static void on_conn_handle_closed(uv_handle_t *handle)
{
	struct conn *conn = handle->data;
	if (--conn->handle_count > 0)
		return;
	struct upstream *upstream = conn->upstream;
	free(conn);
	upstream_handle_closed(upstream);
}

static void idle_remove(struct conn *conn)
{
	TAILQ_REMOVE(&conn->upstream->idle, conn, idle);
	conn->upstream->idle_count--;
}

/* Close the connection. Returns the call that it carried; NULL: there was none. */
static struct upstream_call *conn_close(struct conn *conn)
{
	struct upstream *upstream = conn->upstream;
	struct upstream_call *call = conn->call;
	require(conn->state != CONN_CLOSED);
	if (conn->state == CONN_IDLE)
		idle_remove(conn);
	TAILQ_REMOVE(&upstream->conns, conn, all);
	upstream->conn_count--;
	metric_add(&connections, upstream->name, NULL, -1);
	conn->state = CONN_CLOSED;
	conn->call = NULL;
	answer_stop(&conn->answer);
	uv_close((uv_handle_t *)&conn->timer, on_conn_handle_closed);
	uv_close((uv_handle_t *)&conn->stream, on_conn_handle_closed);
	return call;
}

/* --- The end of a call ------------------------------------------------------------------------ */

static void call_fail(struct upstream_call *call, const struct upstream_failure *failure)
{
	call->conn = NULL;
	log_debug(LOG_GROUP_PROXY, "call failed", f_text("service", call->upstream->name),
	          f_text("reason", failure->reason), f_bool("is_reused", failure->is_reused));
	call->handler->on_failed(call->user, failure);
}

static void on_failed_calls(uv_timer_t *timer)
{
	struct upstream *upstream = timer->data;
	struct upstream_call *call;
	while ((call = TAILQ_FIRST(&upstream->failed))) {
		TAILQ_REMOVE(&upstream->failed, call, link);
		call->is_failed = false;
		call_fail(call, &call->failure);
	}
}

/* Fail the call in the next turn of the loop: upstream_call() may be on the stack. */
static void call_fail_later(struct upstream_call *call, const char *reason)
{
	struct upstream *upstream = call->upstream;
	call->conn = NULL;
	call->is_failed = true;
	call->failure = (struct upstream_failure){.code = ERR_UNAVAILABLE, .reason = reason};
	TAILQ_INSERT_TAIL(&upstream->failed, call, link);
	uv_timer_start(&upstream->timer, on_failed_calls, 0, 0);
}

static void conn_fail(struct conn *conn, enum err_code code, const char *reason)
{
	const struct upstream_failure failure = {
		.code = code,
		.has_connected = true,
		.is_reused = conn->is_reused,
		.has_answered = conn->answer.has_bytes,
		.reason = reason,
	};
	call_fail(conn_close(conn), &failure);
}

static void conn_update(struct conn *conn);

/* The answer is complete: keep the connection or close it. */
static void conn_finish(struct conn *conn)
{
	struct upstream *upstream = conn->upstream;
	struct upstream_call *call = conn->call;
	bool is_kept = call->is_sent && !conn->answer.has_excess &&
	               llhttp_should_keep_alive(&conn->answer.parser) &&
	               uv_stream_get_write_queue_size(&conn->stream) == 0 &&
	               upstream->idle_count < upstream->limits->idle_max;
	if (is_kept) {
		conn->call = NULL;
		conn->state = CONN_IDLE;
		conn->deadline_ms = uv_now(upstream->loop) + upstream->limits->idle_timeout_ms;
		TAILQ_INSERT_HEAD(&upstream->idle, conn, idle);
		upstream->idle_count++;
		conn_update(conn);
	} else {
		conn_close(conn);
	}
	call->handler->on_end(call->user);
}

/* --- Reading and time limits ------------------------------------------------------------------ */

static void on_alloc(uv_handle_t *handle, size_t suggested attr_unused, uv_buf_t *ret_buf)
{
	struct conn *conn = handle->data;
	*ret_buf = uv_buf_init(conn->upstream->read_buffer, ANSWER_READ_BYTES);
}

static void conn_read_answer(struct conn *conn, const char *data, ssize_t length)
{
	const char *reason;
	conn->is_parsing = true;
	enum err_code code = length == UV_EOF
	                             ? answer_read_eof(&conn->answer, &reason)
	                             : answer_read(&conn->answer, data, (size_t)length, &reason);
	conn->is_parsing = false;
	if (!conn->call)
		return; /* the handler cancelled it */
	if (code)
		conn_fail(conn, code, reason);
	else if (conn->answer.is_complete)
		conn_finish(conn);
}

static void on_read(uv_stream_t *stream, ssize_t length, const uv_buf_t *buf)
{
	struct conn *conn = stream->data;
	if (length == 0)
		return;
	if (conn->state == CONN_IDLE)
		conn_close(conn);
	else if (length > 0 && !conn->has_sent)
		conn_fail(conn, ERR_UNAVAILABLE, "the service sent bytes before the request");
	else if (length < 0 && length != UV_EOF)
		conn_fail(conn, conn->answer.has_head ? ERR_UPSTREAM : ERR_UNAVAILABLE,
		          "the connection broke");
	else
		conn_read_answer(conn, buf->base, length);
	if (conn->state != CONN_CLOSED)
		conn_update(conn);
}

/* Time limit of the side that must act next: the service, or the client (NEVER). */
static uint64_t busy_timeout_ms(const struct conn *conn)
{
	const struct upstream_limits *limits = conn->upstream->limits;
	const struct upstream_call *call = conn->call;
	if (uv_stream_get_write_queue_size(&conn->stream) > 0)
		return limits->content_timeout_ms;
	if (!conn->answer.has_head)
		return call->is_sent ? limits->answer_timeout_ms : NEVER;
	return call->is_paused ? NEVER : limits->content_timeout_ms;
}

static void call_connect_failed(struct upstream_call *call, int endpoint, bool is_silent,
                                int uv_code);

static void on_timer(uv_timer_t *timer)
{
	struct conn *conn = timer->data;
	conn->timer_ms = 0;
	bool has_progress = uv_stream_get_write_queue_size(&conn->stream) < conn->queued_bytes;
	if (conn->deadline_ms > uv_now(conn->upstream->loop) || has_progress)
		conn_update(conn);
	else if (conn->state == CONN_CONNECTING)
		call_connect_failed(conn_close(conn), conn->endpoint, true, UV_ETIMEDOUT);
	else if (conn->state == CONN_BUSY)
		conn_fail(conn, ERR_TIMEOUT, "the service took too long");
	else
		conn_close(conn);
}

/* Start the timer for the deadline. A running timer that fires earlier is kept, and on_timer()
 * starts it again: most deadlines are moved before they pass. */
static void conn_arm(struct conn *conn)
{
	if (conn->deadline_ms == NEVER || (conn->timer_ms && conn->timer_ms <= conn->deadline_ms))
		return;
	uint64_t now_ms = uv_now(conn->upstream->loop);
	conn->timer_ms = MAX_OF(conn->deadline_ms, now_ms + 1);
	uv_timer_start(&conn->timer, on_timer, conn->timer_ms - now_ms, 0);
}

/* Call after any change: start or stop reading, and set the deadline again. */
static void conn_update(struct conn *conn)
{
	bool is_reading =
		conn->state == CONN_IDLE || (conn->state == CONN_BUSY && !conn->call->is_paused);
	if (is_reading && !conn->is_reading)
		(void)uv_read_start(&conn->stream, on_alloc, on_read);
	else if (!is_reading && conn->is_reading)
		uv_read_stop(&conn->stream);
	conn->is_reading = is_reading;
	if (conn->state == CONN_BUSY) {
		uint64_t time_ms = busy_timeout_ms(conn);
		conn->deadline_ms =
			time_ms == NEVER ? NEVER : uv_now(conn->upstream->loop) + time_ms;
	}
	conn->queued_bytes = uv_stream_get_write_queue_size(&conn->stream);
	conn_arm(conn);
}

/* --- Connecting ------------------------------------------------------------------------------- */

static void conn_begin(struct conn *conn)
{
	const struct upstream_call *call = conn->call;
	conn->state = CONN_BUSY;
	conn->has_sent = false;
	answer_init(&conn->answer, call->arena, conn->upstream->limits, call->handler, call->user,
	            call->is_head);
	conn_update(conn);
}

static void on_connected(uv_connect_t *req, int status)
{
	struct conn *conn = CONTAINER_OF(req, struct conn, connect);
	if (conn->state == CONN_CLOSED)
		return;
	if (status != 0) {
		call_connect_failed(conn_close(conn), conn->endpoint, status == UV_ETIMEDOUT,
		                    status);
		return;
	}
	if (!conn->upstream->address->is_unix)
		(void)uv_tcp_nodelay(&conn->tcp, 1);
	struct upstream_call *call = conn->call;
	conn_begin(conn);
	call->handler->on_ready(call->user);
}

static int conn_connect(struct conn *conn)
{
	struct upstream *upstream = conn->upstream;
	if (upstream->address->is_unix) {
		uv_pipe_init(upstream->loop, &conn->pipe, 0);
		uv_pipe_connect(&conn->connect, &conn->pipe, upstream->address->host, on_connected);
		return 0;
	}
	uv_tcp_init(upstream->loop, &conn->tcp);
	return uv_tcp_connect(&conn->connect, &conn->tcp,
	                      endpoints_address(&upstream->endpoints, conn->endpoint),
	                      on_connected);
}

static void conn_open(struct upstream_call *call, int endpoint)
{
	struct upstream *upstream = call->upstream;
	struct conn *conn = calloc(1, sizeof(*conn));
	require(conn);
	conn->upstream = upstream;
	conn->call = call;
	call->conn = conn;
	conn->endpoint = endpoint;
	conn->handle_count = 2;
	upstream->handle_count++;
	upstream->conn_count++;
	metric_add(&connections, upstream->name, NULL, 1);
	TAILQ_INSERT_TAIL(&upstream->conns, conn, all);
	uv_timer_init(upstream->loop, &conn->timer);
	int status = conn_connect(conn);
	conn->timer.data = conn->stream.data = conn;
	conn->deadline_ms = uv_now(upstream->loop) + upstream->limits->connect_timeout_ms;
	conn_arm(conn);
	if (status != 0)
		call_connect_failed(conn_close(conn), endpoint, false, status);
}

/* Connect to the next endpoint. Wait if the addresses are not known yet; fail if none is left. */
static void call_connect(struct upstream_call *call, const char *reason)
{
	struct upstream *upstream = call->upstream;
	endpoints_refresh(&upstream->endpoints);
	int endpoint = endpoints_next(&upstream->endpoints, call->tried);
	if (endpoint >= 0) {
		conn_open(call, endpoint);
	} else if (endpoints_is_pending(&upstream->endpoints)) {
		call->conn = NULL;
		TAILQ_INSERT_TAIL(&upstream->waiting, call, link);
	} else {
		call_fail_later(call, reason);
	}
}

/* Try the next endpoint. */
static void call_connect_failed(struct upstream_call *call, int endpoint, bool is_silent,
                                int uv_code)
{
	struct upstream *upstream = call->upstream;
	call->tried |= 1U << endpoint;
	endpoints_connect_failed(&upstream->endpoints, endpoint, is_silent);
	log_debug(LOG_GROUP_PROXY, "cannot connect", f_text("service", upstream->name),
	          f_text("reason", uv_strerror(uv_code)));
	call_connect(call, "no connection to the service");
}

static void on_resolved(void *context, int status)
{
	struct upstream *upstream = context;
	struct call_list waiting = TAILQ_HEAD_INITIALIZER(waiting);
	TAILQ_CONCAT(&waiting, &upstream->waiting, link);
	struct upstream_call *call;
	while ((call = TAILQ_FIRST(&waiting))) {
		TAILQ_REMOVE(&waiting, call, link);
		if (status == 0)
			call_connect(call, "no connection to the service");
		else
			call_fail_later(call, "the service's host name cannot be resolved");
	}
}

/* --- Calls ------------------------------------------------------------------------------------ */

struct upstream_call *upstream_call(struct upstream *upstream, struct arena *arena,
                                    const struct upstream_handler *handler, void *user,
                                    bool is_head, bool is_fresh, bool *ret_is_ready)
{
	struct upstream_call *call = arena_new_of(arena, struct upstream_call);
	*call = (struct upstream_call){
		.upstream = upstream,
		.arena = arena,
		.handler = handler,
		.user = user,
		.is_head = is_head,
	};
	struct conn *conn = is_fresh ? NULL : TAILQ_FIRST(&upstream->idle);
	*ret_is_ready = conn != NULL;
	if (!conn) {
		call_connect(call, "the service does not answer");
		return call;
	}
	idle_remove(conn);
	conn->call = call;
	call->conn = conn;
	conn->is_reused = true;
	conn_begin(conn);
	return call;
}

/* The queued bytes of the request were written, or could not be. */
static void on_queue_written(void *owner, int status)
{
	struct conn *conn = owner;
	if (conn->state != CONN_BUSY)
		return;
	struct upstream_call *call = conn->call;
	if (status == 0 && call->is_full && uv_stream_get_write_queue_size(&conn->stream) == 0) {
		call->is_full = false;
		call->handler->on_drained(call->user);
	}
	/* A failed write does not end the call. The service may have answered without reading the
	 * whole request, and that answer is still read. If the connection is broken, reading
	 * fails. */
	if (conn->state == CONN_BUSY)
		conn_update(conn);
}

bool upstream_send(struct upstream_call *call, const uv_buf_t *bufs, unsigned count)
{
	struct conn *conn = call->conn;
	require(conn && conn->state == CONN_BUSY);
	conn->has_sent = true;
	/* After a failed write reading fails too, but only after an answer that arrived before. */
	(void)buffered_write(&conn->stream, bufs, count, on_queue_written, conn);
	call->is_full = uv_stream_get_write_queue_size(&conn->stream) >
	                conn->upstream->limits->send_high_bytes;
	if (!conn->is_parsing)
		conn_update(conn);
	return call->is_full;
}

void upstream_sent(struct upstream_call *call)
{
	call->is_sent = true;
	conn_update(call->conn);
}

void upstream_pause(struct upstream_call *call)
{
	call->is_paused = true;
	conn_update(call->conn);
}

void upstream_resume(struct upstream_call *call)
{
	call->is_paused = false;
	conn_update(call->conn);
}

void upstream_cancel(struct upstream_call *call)
{
	if (call->conn)
		conn_close(call->conn);
	else if (call->is_failed)
		TAILQ_REMOVE(&call->upstream->failed, call, link);
	else
		TAILQ_REMOVE(&call->upstream->waiting, call, link);
}

/* --- The upstream ----------------------------------------------------------------------------- */

void upstream_register(void)
{
	metric_register(&connections);
}

struct upstream *upstream_new(uv_loop_t *loop, const char *name, const struct address *address,
                              const struct upstream_limits *limits)
{
	struct upstream *upstream = calloc(1, sizeof(*upstream));
	require(upstream);
	upstream->loop = loop;
	upstream->name = name;
	upstream->address = address;
	upstream->limits = limits;
	upstream->handle_count = 1;
	TAILQ_INIT(&upstream->conns);
	TAILQ_INIT(&upstream->idle);
	TAILQ_INIT(&upstream->waiting);
	TAILQ_INIT(&upstream->failed);
	endpoints_init(&upstream->endpoints, loop, name, address, on_resolved, upstream);
	uv_timer_init(loop, &upstream->timer);
	upstream->timer.data = upstream;
	return upstream;
}

static void on_timer_closed(uv_handle_t *handle)
{
	upstream_handle_closed(handle->data);
}

void upstream_free(struct upstream *upstream)
{
	if (!upstream)
		return;
	require(TAILQ_EMPTY(&upstream->waiting) && TAILQ_EMPTY(&upstream->failed));
	while (!TAILQ_EMPTY(&upstream->conns)) {
		struct conn *conn = TAILQ_FIRST(&upstream->conns);
		require(!conn->call);
		conn_close(conn);
	}
	endpoints_done(&upstream->endpoints);
	upstream->is_freed = true;
	uv_close((uv_handle_t *)&upstream->timer, on_timer_closed);
}

size_t upstream_connections(const struct upstream *upstream)
{
	return upstream->conn_count;
}

size_t upstream_idle(const struct upstream *upstream)
{
	return upstream->idle_count;
}

size_t upstream_queued(const struct upstream *upstream)
{
	size_t queued = 0;
	const struct conn *conn;
	TAILQ_FOREACH (conn, &upstream->conns, all)
		queued += uv_stream_get_write_queue_size(&conn->stream);
	return queued;
}
