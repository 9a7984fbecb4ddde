/* Calls, and the connections that carry them.
 *
 * A call takes an endpoint and uses the connection to it that became idle last, or a new one. When
 * connecting fails, the call takes another endpoint, until all have refused it or
 * CONNECT_TIMEOUTS_MAX were silent.
 *
 * States of a connection:
 *
 *     CONNECTING --> BUSY <----> IDLE      to IDLE: request and answer are both complete
 *          |          |            |
 *          +----------+------------+--> CLOSED
 *
 *   state       call  time limit                              goes to CLOSED when
 *   CONNECTING  yes   connect_timeout                         connecting failed or took too long:
 *                                                             the call takes another endpoint
 *   BUSY        yes   answer_timeout from the end of the      the service closed the connection,
 *                     request to the end of the answer's      was too slow or sent an invalid
 *                     head, which nothing extends;            answer: the call fails
 *                     content_timeout while the gateway
 *                     waits for the service to read or to
 *                     send content; none while it waits for
 *                     its client
 *   IDLE        no    idle_timeout                            any byte arrives, or the end
 *
 * A connection that is CONNECTING or BUSY has taken its endpoint; one that is IDLE is in the
 * endpoint's list of kept connections. An endpoint fails when a connect or an answer takes too
 * long, a new connection is refused or breaks without an answer, or any connection breaks because
 * its node vanished (base/tcp.h). A kept one that is reset says nothing: it may have been idle.
 *
 * A service that is asked to end closes connections after their next answers. Then the other kept
 * connections to the endpoint are closed here, before it closes one on which a request was just
 * sent.
 */
#include "upstream/upstream.h"

#include "base/base.h"
#include "base/tcp.h"
#include "loop/buffered_write.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "upstream/answer.h"

#include <stdlib.h>
#include <sys/queue.h>
#include <sys/socket.h>

#define NEVER                UINT64_MAX
#define CONNECT_TIMEOUTS_MAX 3 /* silent endpoints that a call waits for */

const struct upstream_limits upstream_limits_default = {
	.connect_timeout_ms = 1000,
	.answer_timeout_ms = 35000, /* longer than a service's own limit for a request */
	.content_timeout_ms = 30000,
	.idle_timeout_ms = 30000,
	.idle_max = 128,
	.head_max_bytes = 64 << 10,
	.fields_max = 128,
	.send_high_bytes = 256 << 10,
	.endpoints = ENDPOINT_TIMES_DEFAULT,
};

METRIC_GAUGE(connections, "expops_upstream_connections",
             "Connections to a service, in use or idle.", "service");

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
	struct endpoint_set tried;       /* endpoints to which it could not connect */
	unsigned connect_timeouts;
	bool is_head;
	bool is_fresh;  /* use no kept connection */
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
	TAILQ_ENTRY(conn) all;
	struct endpoint *endpoint;
	struct endpoint_link kept; /* in the endpoint's list while idle */
	enum conn_state state;
	struct upstream_call *call;     /* NULL unless connecting or busy */
	uint64_t head_deadline_ms;      /* of the answer's head; 0: the request is not sent yet */
	uint64_t deadline_ms, timer_ms; /* timer_ms: when the timer fires; 0: it is stopped */
	size_t queued_bytes;            /* of the request, when the deadline was set */
	unsigned handle_count;
	bool is_reused;
	bool is_reading;
	bool has_sent;   /* the socket accepted at least some of this call's request */
	bool is_parsing; /* answer_read() is on the stack */
};

TAILQ_HEAD(conn_list, conn);
TAILQ_HEAD(call_list, upstream_call);

struct upstream {
	uv_loop_t *loop;
	const char *name;
	const struct address *address;
	const struct upstream_limits *limits;
	struct endpoints *endpoints;
	struct call_list waiting; /* for a look-up of the endpoints */
	struct call_list failed;  /* their on_failed is to be called */
	uv_timer_t timer;         /* calls on_failed from the loop */
	struct conn_list conns;   /* all that are open */
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

static void idle_add(struct conn *conn)
{
	conn->state = CONN_IDLE;
	TAILQ_INSERT_HEAD(&conn->endpoint->kept, &conn->kept, link);
	conn->upstream->idle_count++;
}

static void idle_remove(struct conn *conn)
{
	TAILQ_REMOVE(&conn->endpoint->kept, &conn->kept, link);
	conn->upstream->idle_count--;
}

/* Close the connection. Returns the call that it carried; NULL: there was none. */
static struct upstream_call *conn_close(struct conn *conn)
{
	struct upstream *upstream = conn->upstream;
	struct upstream_call *call = conn->call;
	require(conn->state != CONN_CLOSED);
	if (conn->state == CONN_IDLE) {
		idle_remove(conn);
		endpoint_unkept(conn->endpoint);
	} else {
		endpoint_release(conn->endpoint);
	}
	conn->endpoint = NULL;
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
	log_debug("call failed", f_text("service", call->upstream->name),
	          f_text("reason", failure->reason), f_bool("has_sent", failure->has_sent));
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
		.has_sent = conn->has_sent,
		.has_answered = conn->answer.has_bytes,
		.reason = reason,
	};
	bool is_broken = code == ERR_UNAVAILABLE && !conn->is_reused && !failure.has_answered;
	if (code == ERR_TIMEOUT || is_broken)
		endpoints_failed(conn->upstream->endpoints, conn->endpoint, reason);
	call_fail(conn_close(conn), &failure);
}

static void conn_update(struct conn *conn);

/* Whether the service closes the connection for no reason of this call. A refusal may have such a
 * reason. */
static bool is_retiring(const struct conn *conn)
{
	const llhttp_t *parser = &conn->answer.parser;
	return conn->call->is_sent && parser->flags & F_CONNECTION_CLOSE &&
	       parser->status_code < 400;
}

static void endpoint_retire(struct upstream *upstream, struct endpoint *endpoint)
{
	struct endpoint_link *link;
	endpoints_retiring(upstream->endpoints, endpoint);
	while ((link = TAILQ_FIRST(&endpoint->kept)))
		conn_close(CONTAINER_OF(link, struct conn, kept));
}

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
		conn->deadline_ms = uv_now(upstream->loop) + upstream->limits->idle_timeout_ms;
		idle_add(conn);
		endpoint_release(conn->endpoint);
		conn_update(conn);
	} else {
		if (is_retiring(conn))
			endpoint_retire(upstream, conn->endpoint);
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
	if (length > 0 && !conn->answer.has_bytes)
		endpoints_answered(conn->upstream->endpoints, conn->endpoint);
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

static void conn_broke(struct conn *conn, int uv_code)
{
	bool is_lost = tcp_is_loss(-uv_code);
	const char *reason = is_lost ? "the service's node has vanished" : "the connection broke";
	if (is_lost)
		endpoints_failed(conn->upstream->endpoints, conn->endpoint, reason);
	if (conn->state == CONN_IDLE)
		conn_close(conn);
	else
		conn_fail(conn, conn->answer.has_head ? ERR_UPSTREAM : ERR_UNAVAILABLE, reason);
}

static void on_read(uv_stream_t *stream, ssize_t length, const uv_buf_t *buf)
{
	struct conn *conn = stream->data;
	if (length == 0)
		return;
	if (length < 0 && length != UV_EOF)
		conn_broke(conn, (int)length);
	else if (conn->state == CONN_IDLE)
		conn_close(conn);
	else if (length > 0 && !conn->has_sent)
		conn_fail(conn, ERR_UNAVAILABLE, "the service sent bytes before the request");
	else
		conn_read_answer(conn, buf->base, length);
	if (conn->state != CONN_CLOSED)
		conn_update(conn);
}

/* When the side that must act next has to have acted: the service, or the client (NEVER). */
static uint64_t busy_deadline_ms(struct conn *conn)
{
	const struct upstream *upstream = conn->upstream;
	const struct upstream_call *call = conn->call;
	bool is_queued = uv_stream_get_write_queue_size(&conn->stream) > 0;
	if (!is_queued && (conn->answer.has_head ? call->is_paused : !call->is_sent))
		return NEVER;
	if (is_queued || conn->answer.has_head)
		return uv_now(upstream->loop) + upstream->limits->content_timeout_ms;
	if (!conn->head_deadline_ms)
		conn->head_deadline_ms =
			uv_now(upstream->loop) + upstream->limits->answer_timeout_ms;
	return conn->head_deadline_ms;
}

static void conn_connect_failed(struct conn *conn, int uv_code);

static void on_timer(uv_timer_t *timer)
{
	struct conn *conn = timer->data;
	conn->timer_ms = 0;
	bool has_progress = uv_stream_get_write_queue_size(&conn->stream) < conn->queued_bytes;
	if (conn->deadline_ms > uv_now(conn->upstream->loop) || has_progress)
		conn_update(conn);
	else if (conn->state == CONN_CONNECTING)
		conn_connect_failed(conn, UV_ETIMEDOUT);
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
	if (conn->state == CONN_BUSY)
		conn->deadline_ms = busy_deadline_ms(conn);
	conn->queued_bytes = uv_stream_get_write_queue_size(&conn->stream);
	conn_arm(conn);
}

/* --- Connecting ------------------------------------------------------------------------------- */

static void conn_begin(struct conn *conn)
{
	const struct upstream_call *call = conn->call;
	conn->state = CONN_BUSY;
	conn->has_sent = false;
	conn->head_deadline_ms = 0;
	answer_init(&conn->answer, call->arena, conn->upstream->limits, call->handler, call->user,
	            call->is_head);
	conn_update(conn);
}

static void conn_detect_loss(struct conn *conn)
{
	int fd;
	if (uv_fileno((uv_handle_t *)&conn->stream, &fd) == 0)
		tcp_detect_loss(fd);
}

static void on_connected(uv_connect_t *req, int status)
{
	struct conn *conn = CONTAINER_OF(req, struct conn, connect);
	if (conn->state == CONN_CLOSED)
		return;
	if (status != 0) {
		conn_connect_failed(conn, status);
		return;
	}
	if (!conn->upstream->address->is_unix) {
		(void)uv_tcp_nodelay(&conn->tcp, 1);
		conn_detect_loss(conn);
	}
	struct upstream_call *call = conn->call;
	conn_begin(conn);
	call->handler->on_ready(call->user);
}

static struct conn *conn_new(struct upstream_call *call, struct endpoint *endpoint)
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
	if (upstream->address->is_unix)
		uv_pipe_init(upstream->loop, &conn->pipe, 0);
	else
		uv_tcp_init(upstream->loop, &conn->tcp);
	conn->timer.data = conn->stream.data = conn;
	return conn;
}

/* Start to connect. Returns 0 or a libuv error: it cannot even start. */
static int conn_connect(struct conn *conn)
{
	struct upstream *upstream = conn->upstream;
	const struct endpoint *endpoint = conn->endpoint;
	int status = 0;
	if (upstream->address->is_unix)
		uv_pipe_connect(&conn->connect, &conn->pipe, endpoint->name, on_connected);
	else
		status = uv_tcp_connect(&conn->connect, &conn->tcp,
		                        (const struct sockaddr *)&endpoint->address, on_connected);
	conn->deadline_ms = uv_now(upstream->loop) + upstream->limits->connect_timeout_ms;
	conn_arm(conn);
	return status;
}

static void conn_reuse(struct upstream_call *call, struct endpoint *endpoint)
{
	struct endpoint_link *link = TAILQ_FIRST(&endpoint->kept);
	struct conn *conn = CONTAINER_OF(link, struct conn, kept);
	idle_remove(conn);
	conn->call = call;
	call->conn = conn;
	conn->is_reused = true;
	conn_begin(conn);
}

/* The call tries another endpoint; it does not wait for more than a few silent ones. */
static void call_connect_failed(struct upstream_call *call, struct conn *conn, int uv_code)
{
	call->connect_timeouts += uv_code == UV_ETIMEDOUT;
	endpoint_set_add(&call->tried, call->arena, conn->endpoint);
	endpoints_failed(call->upstream->endpoints, conn->endpoint, uv_strerror(uv_code));
	conn_close(conn);
	call->conn = NULL;
}

/* Take an endpoint and use a connection to it. Returns true when the call can send its request.
 * Otherwise it connects, waits for a look-up, or fails because no endpoint is left. */
static bool call_begin(struct upstream_call *call, const char *reason)
{
	struct upstream *upstream = call->upstream;
	struct endpoint *endpoint;
	while (call->connect_timeouts < CONNECT_TIMEOUTS_MAX &&
	       (endpoint = endpoints_take(upstream->endpoints, &call->tried))) {
		if (!call->is_fresh && !TAILQ_EMPTY(&endpoint->kept)) {
			conn_reuse(call, endpoint);
			return true;
		}
		struct conn *conn = conn_new(call, endpoint);
		int status = conn_connect(conn);
		if (status == 0)
			return false;
		call_connect_failed(call, conn, status);
	}
	if (call->connect_timeouts < CONNECT_TIMEOUTS_MAX &&
	    endpoints_is_resolving(upstream->endpoints))
		TAILQ_INSERT_TAIL(&upstream->waiting, call, link);
	else
		call_fail_later(call, reason);
	return false;
}

/* As call_begin(), from the loop's own stack. */
static void call_continue(struct upstream_call *call, const char *reason)
{
	if (call_begin(call, reason))
		call->handler->on_ready(call->user);
}

/* Connecting has failed after a while. */
static void conn_connect_failed(struct conn *conn, int uv_code)
{
	struct upstream_call *call = conn->call;
	call_connect_failed(call, conn, uv_code);
	call_continue(call, "no connection to the service");
}

static void on_lookup(void *context, int status)
{
	struct upstream *upstream = context;
	struct call_list waiting = TAILQ_HEAD_INITIALIZER(waiting);
	TAILQ_CONCAT(&waiting, &upstream->waiting, link);
	struct upstream_call *call;
	while ((call = TAILQ_FIRST(&waiting))) {
		TAILQ_REMOVE(&waiting, call, link);
		call_continue(call, status == 0 ? "no connection to the service"
		                                : "the service's host name cannot be resolved");
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
		.is_fresh = is_fresh,
	};
	*ret_is_ready = call_begin(call, "no connection to the service");
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
	/* After a failed write reading fails too, but only after an answer that arrived before. */
	if (buffered_write(&conn->stream, bufs, count, on_queue_written, conn) == 0)
		conn->has_sent = true;
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

/* Make closing reset the connection: the service goes on when it only reads the end of it, because
 * a client may shut down sending and still wait for its answer. */
static void conn_abort(struct conn *conn)
{
	static const struct linger ABORT = {.l_onoff = 1, .l_linger = 0};
	int fd;
	if (conn->state == CONN_BUSY && uv_fileno((uv_handle_t *)&conn->stream, &fd) == 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &ABORT, sizeof(ABORT));
	conn_close(conn);
}

void upstream_cancel(struct upstream_call *call)
{
	if (call->conn)
		conn_abort(call->conn);
	else if (call->is_failed)
		TAILQ_REMOVE(&call->upstream->failed, call, link);
	else
		TAILQ_REMOVE(&call->upstream->waiting, call, link);
}

void upstream_misdirected(struct upstream_call *call)
{
	endpoints_misdirected(call->upstream->endpoints, call->conn->endpoint);
	conn_abort(call->conn);
}

/* --- The upstream ----------------------------------------------------------------------------- */

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
	TAILQ_INIT(&upstream->waiting);
	TAILQ_INIT(&upstream->failed);
	upstream->endpoints =
		endpoints_new(loop, name, address, &limits->endpoints, on_lookup, upstream);
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
	endpoints_free(upstream->endpoints);
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
