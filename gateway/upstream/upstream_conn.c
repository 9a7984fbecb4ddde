/* One connection to a service.
 *
 *     CONNECTING --> BUSY <----> IDLE      to IDLE: the answer is complete and so was the request
 *          |          |            |
 *          +----------+------------+--> CLOSED
 *
 *   state       call  lasts at most                            ends in CLOSED when
 *   CONNECTING  yes   connect_timeout                          refused, late: the call tries
 *                                                              elsewhere
 *   BUSY        yes   answer_timeout from the end of the       the service closes, breaks off, is
 *                     request; content_timeout while it is     late or talks nonsense: the call
 *                     the service's turn to read or go on;     fails
 *                     for ever while it is the caller's
 *   IDLE        no    idle_timeout                             anything at all comes
 */
#include "base/base.h"
#include "base/metrics.h"
#include "loop/late_write.h"
#include "upstream/upstream_internal.h"

#include <stdlib.h>

#define NEVER UINT64_MAX

static struct metric connections =
	METRIC_GAUGE("expops_upstream_connections", "Connections to a service, in use and kept.",
                     "service");

void up_conn_register(void)
{
	metric_register(&connections);
}

static uint64_t conn_now(const struct up_conn *conn)
{
	return uv_now(conn->upstream->loop);
}

static void on_handle_closed(uv_handle_t *handle)
{
	struct up_conn *conn = handle->data;
	if (--conn->handle_count > 0)
		return;
	struct upstream *upstream = conn->upstream;
	free(conn);
	up_handle_closed(upstream);
}

void up_conn_close(struct up_conn *conn)
{
	struct upstream *upstream = conn->upstream;
	if (conn->state == UP_CLOSED)
		return;
	require(conn->call == NULL);
	if (conn->state == UP_IDLE) {
		TAILQ_REMOVE(&upstream->idle, conn, idle);
		upstream->idle_count--;
	}
	TAILQ_REMOVE(&upstream->conns, conn, all);
	upstream->conn_count--;
	metric_add(&connections, upstream->name, NULL, -1);
	conn->state = UP_CLOSED;
	uv_close((uv_handle_t *)&conn->timer, on_handle_closed);
	uv_close((uv_handle_t *)&conn->stream, on_handle_closed);
}

void up_conn_fail(struct up_conn *conn, enum err_code code, const char *reason)
{
	struct upstream_call *call = conn->call;
	const struct upstream_failure failure = {
		.code = code,
		.has_connected = true,
		.is_reused = conn->is_reused,
		.has_answered = conn->has_bytes,
		.reason = reason,
	};
	conn->call = NULL;
	up_conn_close(conn);
	up_call_fail(call, &failure);
}

void up_conn_finish(struct up_conn *conn)
{
	struct upstream *upstream = conn->upstream;
	struct upstream_call *call = conn->call;
	bool is_kept = call->is_sent && llhttp_should_keep_alive(&conn->parser) != 0 &&
	               uv_stream_get_write_queue_size(&conn->stream) == 0 &&
	               upstream->idle_count < upstream->limits->idle_max;
	conn->call = NULL;
	if (is_kept) {
		conn->state = UP_IDLE;
		conn->deadline_ms = conn_now(conn) + upstream->limits->idle_timeout_ms;
		TAILQ_INSERT_HEAD(&upstream->idle, conn, idle);
		upstream->idle_count++;
		up_conn_update(conn);
	} else {
		up_conn_close(conn);
	}
	call->handler->on_end(call->user);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *ret_buf)
{
	(void)suggested;
	struct up_conn *conn = handle->data;
	*ret_buf = uv_buf_init(conn->upstream->read_buffer, UPSTREAM_READ_BYTES);
}

static void on_read(uv_stream_t *stream, ssize_t length, const uv_buf_t *buf)
{
	struct up_conn *conn = stream->data;
	if (length == 0)
		return;
	if (conn->state == UP_IDLE)
		up_conn_close(conn);
	else if (length > 0 && !conn->has_sent)
		up_conn_fail(conn, ERR_UNAVAILABLE, "the service spoke first");
	else if (length == UV_EOF)
		up_answer_eof(conn);
	else if (length < 0)
		up_conn_fail(conn, conn->call->has_head ? ERR_UPSTREAM : ERR_UNAVAILABLE,
		             "the connection broke");
	else
		up_answer_feed(conn, buf->base, (size_t)length);
	if (conn->state != UP_CLOSED)
		up_conn_update(conn);
}

/* Whose turn it is, in milliseconds that it may take. */
static uint64_t busy_time_ms(const struct up_conn *conn)
{
	const struct upstream_limits *limits = conn->upstream->limits;
	const struct upstream_call *call = conn->call;
	if (uv_stream_get_write_queue_size(&conn->stream) > 0)
		return limits->content_timeout_ms;
	if (!call->has_head)
		return call->is_sent ? limits->answer_timeout_ms : NEVER;
	return call->is_paused ? NEVER : limits->content_timeout_ms;
}

static void conn_late(struct up_conn *conn)
{
	struct upstream_call *call = conn->call;
	switch (conn->state) {
	case UP_CONNECTING:
		conn->call = NULL;
		up_conn_close(conn);
		up_call_connect_failed(call, conn->place, true, UV_ETIMEDOUT);
		break;
	case UP_BUSY:
		up_conn_fail(conn, ERR_TIMEOUT, "the service took too long");
		break;
	default:
		up_conn_close(conn);
		break;
	}
}

static void on_timer(uv_timer_t *timer)
{
	struct up_conn *conn = timer->data;
	conn->timer_ms = 0;
	bool has_moved = uv_stream_get_write_queue_size(&conn->stream) < conn->queued_bytes;
	if (conn->deadline_ms <= conn_now(conn) && !has_moved)
		conn_late(conn);
	else
		up_conn_update(conn);
}

/* The timer is left running when it fires early: most deadlines move on before they pass. */
static void conn_arm(struct up_conn *conn)
{
	if (conn->deadline_ms == NEVER ||
	    (conn->timer_ms != 0 && conn->timer_ms <= conn->deadline_ms))
		return;
	uint64_t now_ms = conn_now(conn);
	conn->timer_ms = MAX_OF(conn->deadline_ms, now_ms + 1);
	uv_timer_start(&conn->timer, on_timer, conn->timer_ms - now_ms, 0);
}

void up_conn_update(struct up_conn *conn)
{
	bool is_wanted =
		conn->state == UP_IDLE || (conn->state == UP_BUSY && !conn->call->is_paused);
	if (is_wanted && !conn->is_reading)
		(void)uv_read_start(&conn->stream, on_alloc, on_read);
	else if (!is_wanted && conn->is_reading)
		uv_read_stop(&conn->stream);
	conn->is_reading = is_wanted;
	if (conn->state == UP_BUSY) {
		uint64_t time_ms = busy_time_ms(conn);
		conn->deadline_ms = time_ms == NEVER ? NEVER : conn_now(conn) + time_ms;
	}
	conn->queued_bytes = uv_stream_get_write_queue_size(&conn->stream);
	conn_arm(conn);
}

static void conn_begin(struct up_conn *conn)
{
	conn->state = UP_BUSY;
	conn->has_bytes = conn->is_complete = conn->has_sent = false;
	up_answer_init(conn);
	up_conn_update(conn);
}

void up_conn_take(struct up_conn *conn, struct upstream_call *call)
{
	struct upstream *upstream = conn->upstream;
	require(conn->state == UP_IDLE);
	TAILQ_REMOVE(&upstream->idle, conn, idle);
	upstream->idle_count--;
	conn->call = call;
	call->conn = conn;
	conn->is_reused = true;
	conn_begin(conn);
}

static void on_connected(uv_connect_t *req, int status)
{
	struct up_conn *conn = CONTAINER_OF(req, struct up_conn, connect);
	if (conn->state == UP_CLOSED)
		return;
	struct upstream_call *call = conn->call;
	if (status != 0) {
		conn->call = NULL;
		up_conn_close(conn);
		up_call_connect_failed(call, conn->place, status == UV_ETIMEDOUT, status);
		return;
	}
	if (!conn->upstream->address->is_unix)
		(void)uv_tcp_nodelay(&conn->tcp, 1);
	conn_begin(conn);
	call->handler->on_ready(call->user);
}

void up_conn_dial(struct upstream_call *call, int place)
{
	struct upstream *upstream = call->upstream;
	struct up_conn *conn = calloc(1, sizeof(*conn));
	require(conn != NULL);
	conn->upstream = upstream;
	conn->call = call;
	call->conn = conn;
	conn->place = place;
	conn->handle_count = 2;
	upstream->handle_count++;
	upstream->conn_count++;
	metric_add(&connections, upstream->name, NULL, 1);
	TAILQ_INSERT_TAIL(&upstream->conns, conn, all);
	uv_timer_init(upstream->loop, &conn->timer);
	int status = 0;
	if (upstream->address->is_unix) {
		uv_pipe_init(upstream->loop, &conn->pipe, 0);
		uv_pipe_connect(&conn->connect, &conn->pipe, upstream->address->host, on_connected);
	} else {
		uv_tcp_init(upstream->loop, &conn->tcp);
		status = uv_tcp_connect(&conn->connect, &conn->tcp,
		                        (const struct sockaddr *)&upstream->places[place].to,
		                        on_connected);
	}
	conn->timer.data = conn->stream.data = conn;
	conn->deadline_ms = conn_now(conn) + upstream->limits->connect_timeout_ms;
	conn_arm(conn);
	if (status != 0) {
		conn->call = NULL;
		up_conn_close(conn);
		up_call_connect_failed(call, place, false, status);
	}
}

static void on_late_send(void *owner, int status)
{
	struct up_conn *conn = owner;
	if (conn->state != UP_BUSY)
		return;
	struct upstream_call *call = conn->call;
	if (status == 0 && call->is_full && uv_stream_get_write_queue_size(&conn->stream) == 0) {
		call->is_full = false;
		call->handler->on_drained(call->user);
	}
	/* A service that answered and then shut its ears is still read from; a broken one fails
	 * there. */
	if (conn->state == UP_BUSY)
		up_conn_update(conn);
}

bool upstream_send(struct upstream_call *call, const uv_buf_t *bufs, unsigned count)
{
	struct up_conn *conn = call->conn;
	require(conn != NULL && conn->state == UP_BUSY);
	conn->has_sent = true;
	/* What cannot be written shows as a failed read, where an answer may still be waiting. */
	(void)late_write(&conn->stream, bufs, count, on_late_send, conn);
	call->is_full = uv_stream_get_write_queue_size(&conn->stream) >
	                conn->upstream->limits->send_high_bytes;
	if (!conn->is_parsing)
		up_conn_update(conn);
	return call->is_full;
}

void upstream_sent(struct upstream_call *call)
{
	call->is_sent = true;
	up_conn_update(call->conn);
}

void upstream_pause(struct upstream_call *call)
{
	call->is_paused = true;
	up_conn_update(call->conn);
}

void upstream_resume(struct upstream_call *call)
{
	call->is_paused = false;
	up_conn_update(call->conn);
}
