#include "base/base.h"
#include "http/internal.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void on_handle_closed(uv_handle_t *handle)
{
	struct http_conn *conn = handle->data;
	if (--conn->handle_count > 0)
		return;
	struct http_server *server = conn->server;
	free(conn->held);
	free(conn);
	http_server_handle_closed(server);
}

void http_conn_close(struct http_conn *conn)
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
	http_server_conn_closed(conn->server);
}

/* Close so that the client cannot take what it has for a complete response. */
void http_conn_reset(struct http_conn *conn)
{
	int fd;
	static const struct linger ABORT = {.l_onoff = 1, .l_linger = 0};
	if (conn->is_tcp && uv_fileno((uv_handle_t *)&conn->stream, &fd) == 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &ABORT, sizeof(ABORT));
	http_conn_close(conn);
}

/* A client that sends head and content apart, with Nagle's algorithm on, holds the content back
 * until the head is acknowledged, which the kernel puts off for 40 ms (RFC 1122 section
 * 4.2.3.2). */
void http_conn_acknowledge(struct http_conn *conn)
{
#ifdef TCP_QUICKACK
	int fd;
	static const int ON = 1;
	if (conn->is_tcp && uv_fileno((uv_handle_t *)&conn->stream, &fd) == 0)
		(void)setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &ON, sizeof(ON));
#else
	(void)conn;
#endif
}

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
	http_conn_tick(conn);
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
	bool has_moved = http_write_queued(conn) < conn->queued_bytes;
	conn->is_late = conn->deadline_ms <= conn_now(conn) && !has_moved;
	http_conn_tick(conn);
}

/* The timer is left running when it fires early: most deadlines move on before they pass. */
static void conn_set_deadline(struct http_conn *conn)
{
	if (conn->state == CONN_EXCHANGE) {
		bool is_clients_turn = http_write_queued(conn) > 0 || http_conn_may_read(conn);
		uint64_t time_ms = conn->server->limits->content_timeout_ms;
		conn->deadline_ms = is_clients_turn ? conn_now(conn) + time_ms : HTTP_NEVER;
	}
	conn->queued_bytes = http_write_queued(conn);
	if (conn->deadline_ms == HTTP_NEVER ||
	    (conn->timer_ms != 0 && conn->timer_ms <= conn->deadline_ms))
		return;
	uint64_t now_ms = conn_now(conn);
	conn->timer_ms = MAX_OF(conn->deadline_ms, now_ms + 1);
	uv_timer_start(&conn->timer, on_timer, conn->timer_ms - now_ms, 0);
}

void http_conn_settle(struct http_conn *conn)
{
	conn_hold(conn);
	conn_set_reading(conn);
	conn_set_deadline(conn);
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

void http_conn_new(struct http_server *server, int fd, const struct sockaddr_storage *from)
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
	http_parse_init(conn);
	uv_timer_init(server->loop, &conn->timer);
	bool is_taken = conn_take(conn, fd);
	conn->timer.data = conn->stream.data = conn;
	http_conn_enter_idle(conn);
	conn->is_broken = !is_taken;
	http_conn_tick(conn);
}
