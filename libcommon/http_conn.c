/* One connection.
 *
 *            first byte           head complete
 *     IDLE ─────────────► HEAD ─────────────────► EXCHANGE ─────┐ content, response,
 *      ▲                   │                       │    ▲───────┘ back-pressure
 *      │                   │ refused, too slow     │ response sent
 *      │                   ▼                       │
 *      │                 LINGER ◄──────────────────┤ the connection is to be closed
 *      │                   ▲                       │
 *      │                   │ too much is left      │
 *      │ request complete  │                       │
 *      ├────────────────── DROP ◄──────────────────┤ the request is not complete
 *      └───────────────────────────────────────────┘ the request is complete
 *
 *     any ──► CLOSED: the client closed or broke off, a response was given up, time ran out
 *
 * state     lasts at most           reads                        when time runs out
 * IDLE      idle_timeout            yes                          CLOSED
 * HEAD      head_timeout            yes                          408, LINGER
 * EXCHANGE  content_timeout since   unless the handler paused,   on_gone; 408 when nothing was
 *           the client's last sign, or bytes of the next         answered
 *           while it is its turn    request wait in `held`
 * DROP      content_timeout         yes                          CLOSED
 * LINGER    LINGER_MS a read,       yes                          CLOSED
 *           LINGER_ALL_MS in all
 *
 * All moves are made by conn_tick(), one step at a time; events only note what happened. There is
 * an exchange (`open`) exactly in HEAD and EXCHANGE. Bytes of the next request are never parsed
 * before this one is answered and its response has gone out, so that a client which does not read
 * cannot make us queue responses. */
#include "http_internal.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "defines.h"

#define LINGER_MS      2000        /* without a byte from a client that was answered */
#define LINGER_ALL_MS  30000       /* with them */
#define FRESH_DRAIN_MS 1000        /* for the first request of a new connection, while draining */
#define DROP_MAX_BYTES (256 << 10) /* of content after its response, then the connection closes */
#define NEVER          UINT64_MAX

static uint64_t conn_now(const struct http_conn *conn)
{
	return uv_now(conn->server->loop);
}

static void conn_enter(struct http_conn *conn, enum conn_state state, uint64_t time_ms)
{
	conn->state = state;
	conn->deadline_ms = time_ms == NEVER ? NEVER : conn_now(conn) + time_ms;
	conn->is_late = false;
}

static void conn_enter_idle(struct http_conn *conn)
{
	conn_enter(conn, CONN_IDLE, conn->server->limits->idle_timeout_ms);
}

/* A drain ends what is idle; a connection that was just made may still bring its request. */
static bool idle_is_over(struct http_conn *conn)
{
	if (!conn->server->is_draining)
		return false;
	conn->deadline_ms = MIN_OF(conn->deadline_ms, conn_now(conn) + FRESH_DRAIN_MS);
	return conn->has_served;
}

static void on_handle_closed(uv_handle_t *handle)
{
	struct http_conn *conn = handle->data;
	if (--conn->handle_count > 0)
		return;
	struct http_server *server = conn->server;
	free(conn->held);
	free(conn);
	server_handle_closed(server);
}

static void conn_close(struct http_conn *conn)
{
	if (conn->state == CONN_CLOSED)
		return;
	require(conn->open == NULL);
	conn->state = CONN_CLOSED;
	if (conn->is_due)
		TAILQ_REMOVE(&conn->server->due, conn, due);
	conn->is_due = false;
	TAILQ_REMOVE(&conn->server->conns, conn, all);
	uv_close((uv_handle_t *)&conn->timer, on_handle_closed);
	uv_close((uv_handle_t *)&conn->stream, on_handle_closed);
	server_conn_closed(conn->server);
}

/* Close so that the client cannot take what it has for a complete response. */
static void conn_reset(struct http_conn *conn)
{
	int fd;
	static const struct linger ABORT = {.l_onoff = 1, .l_linger = 0};
	if (conn->is_tcp && uv_fileno((uv_handle_t *)&conn->stream, &fd) == 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &ABORT, sizeof(ABORT));
	conn_close(conn);
}

static void exchange_free(struct http_conn *conn)
{
	struct http_open *open = conn->open;
	struct arena *arena = open->x.arena; /* NULL: taken, and perhaps freed in on_done */
	conn->open = NULL;
	if (conn->state == CONN_EXCHANGE)
		conn->server->handler->on_done(&open->x);
	arena_free(arena);
}

static void on_shut(uv_shutdown_t *req, int status)
{
	(void)req;
	(void)status;
}

/* Shut our side and wait for the client's end: closing with unread bytes would have the kernel
 * reset the connection, and the client could lose the response (RFC 9112 section 9.6). */
static void conn_linger(struct http_conn *conn)
{
	conn_enter(conn, CONN_LINGER, LINGER_MS);
	conn->linger_until_ms = conn_now(conn) + LINGER_ALL_MS;
	if (conn->is_broken || conn->is_at_end ||
	    uv_shutdown(&conn->shut, &conn->stream, on_shut) != 0)
		conn_close(conn);
}

/* Answer a request that breaks the rules, and close. */
static void conn_refuse(struct http_conn *conn, enum err_code code, const char *detail)
{
	if (conn->open != NULL)
		exchange_free(conn);
	write_refusal(conn, code, detail);
	conn_linger(conn);
}

/* The exchange cannot be finished. The client still gets an answer when it may be listening and
 * nothing was answered. */
static void exchange_gone(struct http_conn *conn, enum err_code code, const char *detail)
{
	struct http_open *open = conn->open;
	bool is_answerable = code != ERR_CLIENT_GONE && open->x.status == 0;
	if (conn->server->handler->on_gone != NULL)
		conn->server->handler->on_gone(&open->x, code);
	exchange_free(conn);
	if (is_answerable)
		conn_refuse(conn, code, detail);
	else
		conn_reset(conn);
}

void conn_kill(struct http_conn *conn)
{
	if (conn->state == CONN_EXCHANGE)
		exchange_gone(conn, ERR_CLIENT_GONE, NULL);
	else if (conn->open != NULL)
		exchange_free(conn);
	conn_close(conn);
}

/* One CRLF may stand before a request (RFC 9112 section 2.2). False: something else does. */
static bool skip_blank_line(struct http_conn *conn)
{
	while (conn->in_length > 0 && (*conn->in == '\r' || *conn->in == '\n')) {
		if (conn->blank_bytes >= 2 || *conn->in != "\r\n"[conn->blank_bytes])
			return false;
		conn->blank_bytes++;
		conn->in++;
		conn->in_length--;
	}
	return conn->in_length == 0 || conn->blank_bytes != 1;
}

static bool step_idle(struct http_conn *conn)
{
	if (conn->is_at_end || conn->is_broken || conn->is_late ||
	    (conn->in_length == 0 && idle_is_over(conn))) {
		conn_close(conn);
		return false;
	}
	if (conn->in_length == 0)
		return false;
	if (!skip_blank_line(conn)) {
		conn_refuse(conn, ERR_MALFORMED, "a request does not begin with a line end");
		return true;
	}
	if (conn->in_length == 0)
		return false;
	parse_begin(conn);
	conn_enter(conn, CONN_HEAD, conn->server->limits->head_timeout_ms);
	return true;
}

static const char *refusal_detail(enum err_code code)
{
	switch (code) {
	case ERR_VERSION:
		return "only HTTP/1.0 and HTTP/1.1 are spoken here";
	case ERR_HEAD_TOO_LARGE:
		return "the request's head is too large";
	default:
		return "the request breaks the rules of HTTP/1.1";
	}
}

static void exchange_open(struct http_conn *conn)
{
	const char *detail;
	enum err_code code = head_complete(conn, &detail);
	if (code != ERR_NONE) {
		conn_refuse(conn, code, detail);
		return;
	}
	conn->is_parser_due = !conn->open->x.head.has_content;
	conn->has_served = true;
	conn_enter(conn, CONN_EXCHANGE, NEVER);
	conn->server->handler->on_head(&conn->open->x);
}

static bool step_head(struct http_conn *conn)
{
	if (conn->is_at_end || conn->is_broken) {
		exchange_free(conn);
		conn_close(conn);
		return false;
	}
	if (conn->is_late) {
		conn_refuse(conn, ERR_REQUEST_TIMEOUT, "the head took too long to arrive");
		return true;
	}
	if (conn->in_length == 0)
		return false;
	switch (parse_feed(conn)) {
	case PARSE_HEAD:
		exchange_open(conn);
		break;
	case PARSE_REFUSED:
		conn_refuse(conn, conn->refusal, refusal_detail(conn->refusal));
		break;
	default:
		break;
	}
	return true;
}

/* The response has gone out. */
static void exchange_finish(struct http_conn *conn)
{
	bool is_request_complete = conn->open->is_request_complete;
	exchange_free(conn);
	if (!conn->is_keep_alive)
		conn_linger(conn);
	else if (is_request_complete)
		conn_enter_idle(conn);
	else
		conn_enter(conn, CONN_DROP, conn->server->limits->content_timeout_ms);
}

/* What ends an exchange early. True: it did. */
static bool exchange_broke(struct http_conn *conn)
{
	struct http_open *open = conn->open;
	if (open->is_aborted) {
		exchange_free(conn);
		conn_reset(conn);
	} else if (conn->is_broken || conn->is_at_end) {
		exchange_gone(conn, ERR_CLIENT_GONE, NULL);
	} else if (conn->is_late) {
		bool is_sending = write_queued(conn) > 0;
		exchange_gone(conn, is_sending ? ERR_CLIENT_GONE : ERR_REQUEST_TIMEOUT,
		              "the content took too long to arrive");
	} else {
		return false;
	}
	return true;
}

static bool exchange_may_read(const struct http_conn *conn)
{
	const struct http_open *open = conn->open;
	return !open->is_request_complete && !open->is_paused && !open->is_response_ended;
}

static void exchange_feed(struct http_conn *conn)
{
	struct http_open *open = conn->open;
	switch (parse_feed(conn)) {
	case PARSE_END:
		open->is_request_complete = true;
		if (!open->is_response_ended && !open->is_aborted &&
		    conn->server->handler->on_end != NULL)
			conn->server->handler->on_end(&open->x);
		break;
	case PARSE_REFUSED:
		if (!open->is_aborted)
			exchange_gone(conn, conn->refusal, refusal_detail(conn->refusal));
		break;
	default:
		break;
	}
}

static bool step_exchange(struct http_conn *conn)
{
	struct http_open *open = conn->open;
	if (exchange_broke(conn))
		return true;
	write_flush(open);
	if (write_queued(conn) == 0 && !conn->is_broken) {
		if (open->is_response_ended) {
			exchange_finish(conn);
			return true;
		}
		if (open->is_full) {
			open->is_full = false;
			if (conn->server->handler->on_drained != NULL)
				conn->server->handler->on_drained(&open->x);
			return true;
		}
	}
	if (!exchange_may_read(conn))
		return conn->is_broken;
	if (open->is_continue_due && open->x.status == 0) {
		open->is_continue_due = false;
		write_continue(conn);
	}
	if (conn->in_length == 0 && !conn->is_parser_due)
		return conn->is_broken;
	exchange_feed(conn);
	return true;
}

static bool step_drop(struct http_conn *conn)
{
	if (conn->is_at_end || conn->is_broken || conn->is_late) {
		conn_close(conn);
		return false;
	}
	if (conn->in_length == 0 && !conn->is_parser_due)
		return false;
	switch (parse_feed(conn)) {
	case PARSE_END:
		conn_enter_idle(conn);
		break;
	case PARSE_REFUSED:
		conn_linger(conn);
		break;
	default:
		if (conn->dropped_bytes > DROP_MAX_BYTES)
			conn_linger(conn);
		break;
	}
	return true;
}

static bool step_linger(struct http_conn *conn)
{
	if (conn->in_length > 0)
		conn->deadline_ms = MIN_OF(conn_now(conn) + LINGER_MS, conn->linger_until_ms);
	conn->in_length = 0;
	if (conn->is_at_end || conn->is_broken || conn->is_late)
		conn_close(conn);
	return false;
}

static bool step_closed(struct http_conn *conn)
{
	conn->in_length = 0;
	return false;
}

/* Make one move; false: nothing more can be done now. */
static bool (*const STEPS[CONN_STATES])(struct http_conn *conn) = {
	[CONN_IDLE] = step_idle, [CONN_HEAD] = step_head,     [CONN_EXCHANGE] = step_exchange,
	[CONN_DROP] = step_drop, [CONN_LINGER] = step_linger, [CONN_CLOSED] = step_closed,
};

/* Keep bytes that cannot be parsed yet, once the loop's read buffer is needed again. */
static void conn_hold(struct http_conn *conn)
{
	if (conn->in_length == 0) {
		free(conn->held);
		conn->held = NULL;
	} else if (conn->held == NULL) {
		conn->held = malloc(conn->in_length);
		require(conn->held != NULL);
		memcpy(conn->held, conn->in, conn->in_length);
		conn->in = conn->held;
	}
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *ret_buf)
{
	(void)suggested;
	struct http_conn *conn = handle->data;
	*ret_buf = uv_buf_init(conn->server->read_buffer, HTTP_READ_BYTES);
}

static void on_read(uv_stream_t *stream, ssize_t length, const uv_buf_t *buf)
{
	struct http_conn *conn = stream->data;
	if (length == 0)
		return;
	if (length == UV_EOF) {
		conn->is_at_end = true;
	} else if (length < 0) {
		conn->is_broken = true;
	} else {
		conn->in = buf->base;
		conn->in_length = (size_t)length;
	}
	conn_tick(conn);
}

/* A complete request's client is still read from, to learn when it goes away. */
static void conn_set_reading(struct http_conn *conn)
{
	bool is_wanted = conn->in_length == 0;
	if (conn->state == CONN_EXCHANGE && !conn->open->is_request_complete)
		is_wanted = is_wanted && !conn->open->is_paused;
	if (is_wanted == conn->is_reading)
		return;
	conn->is_reading = is_wanted;
	if (!is_wanted)
		uv_read_stop(&conn->stream);
	else if (uv_read_start(&conn->stream, on_alloc, on_read) != 0)
		conn->is_broken = true;
}

static void on_timer(uv_timer_t *timer)
{
	struct http_conn *conn = timer->data;
	conn->timer_ms = 0;
	bool has_moved = write_queued(conn) < conn->queued_bytes;
	conn->is_late = conn->deadline_ms <= conn_now(conn) && !has_moved;
	conn_tick(conn);
}

/* The timer is left running when it fires early: most deadlines move on before they pass. */
static void conn_set_deadline(struct http_conn *conn)
{
	if (conn->state == CONN_EXCHANGE) {
		bool is_clients_turn = write_queued(conn) > 0 || exchange_may_read(conn);
		uint64_t time_ms = conn->server->limits->content_timeout_ms;
		conn->deadline_ms = is_clients_turn ? conn_now(conn) + time_ms : NEVER;
	}
	conn->queued_bytes = write_queued(conn);
	if (conn->deadline_ms == NEVER ||
	    (conn->timer_ms != 0 && conn->timer_ms <= conn->deadline_ms))
		return;
	uint64_t now_ms = conn_now(conn);
	conn->timer_ms = MAX_OF(conn->deadline_ms, now_ms + 1);
	uv_timer_start(&conn->timer, on_timer, conn->timer_ms - now_ms, 0);
}

void conn_tick(struct http_conn *conn)
{
	if (conn->is_ticking || conn->state == CONN_CLOSED)
		return;
	conn->is_ticking = true;
	while (STEPS[conn->state](conn))
		;
	conn->is_ticking = false;
	if (conn->state == CONN_CLOSED)
		return;
	conn_hold(conn);
	conn_set_reading(conn);
	conn_set_deadline(conn);
}

void conn_schedule(struct http_conn *conn)
{
	if (conn->is_ticking || conn->is_due || conn->state == CONN_CLOSED)
		return;
	conn->is_due = true;
	TAILQ_INSERT_TAIL(&conn->server->due, conn, due);
	server_wake(conn->server);
}

void http_content_pause(struct http_exchange *x)
{
	struct http_open *open = CONTAINER_OF(x, struct http_open, x);
	open->is_paused = true;
	conn_schedule(open->conn);
}

void http_content_resume(struct http_exchange *x)
{
	struct http_open *open = CONTAINER_OF(x, struct http_open, x);
	open->is_paused = false;
	conn_schedule(open->conn);
}

static void peer_format(const struct sockaddr_storage *from, char peer[INET6_ADDRSTRLEN])
{
	if (from->ss_family == AF_INET)
		inet_ntop(AF_INET, &((const struct sockaddr_in *)from)->sin_addr, peer,
		          INET6_ADDRSTRLEN);
	else if (from->ss_family == AF_INET6)
		inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)from)->sin6_addr, peer,
		          INET6_ADDRSTRLEN);
	else
		memcpy(peer, "unix", sizeof("unix"));
}

/* Give the descriptor to libuv. */
static bool conn_take(struct http_conn *conn, int fd)
{
	uv_loop_t *loop = conn->server->loop;
	bool is_taken;
	if (conn->is_tcp) {
		uv_tcp_init(loop, &conn->tcp);
		is_taken = uv_tcp_open(&conn->tcp, fd) == 0;
	} else {
		uv_pipe_init(loop, &conn->pipe, 0);
		is_taken = uv_pipe_open(&conn->pipe, fd) == 0;
	}
	if (!is_taken)
		close(fd);
	else if (conn->is_tcp)
		(void)uv_tcp_nodelay(&conn->tcp, 1);
	return is_taken;
}

void conn_new(struct http_server *server, int fd, const struct sockaddr_storage *from)
{
	struct http_conn *conn = calloc(1, sizeof(*conn));
	require(conn != NULL);
	conn->server = server;
	conn->is_tcp = from->ss_family == AF_INET || from->ss_family == AF_INET6;
	conn->is_keep_alive = true;
	conn->handle_count = 2;
	server->handle_count++;
	server->conn_count++;
	TAILQ_INSERT_TAIL(&server->conns, conn, all);
	peer_format(from, conn->peer);
	parse_init(conn);
	uv_timer_init(server->loop, &conn->timer);
	bool is_taken = conn_take(conn, fd);
	conn->timer.data = conn->stream.data = conn;
	conn_enter_idle(conn);
	conn->is_broken = !is_taken;
	conn_tick(conn);
}
