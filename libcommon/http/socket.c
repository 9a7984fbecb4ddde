#include "base/base.h"
#include "http/internal.h"
#include "loop/buffered_write.h"
#include "observe/metrics.h"

#include <arpa/inet.h>
#include <malloc.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MEMORY_FREE_BYTES 4096 /* a head, or held input, up to this size is not counted */
#define TRIM_CONNECTIONS  1024

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

/* The bytes can have a key. */
static void held_free(struct http_conn *conn)
{
	if (conn->held)
		explicit_bzero(conn->held, conn->held_length);
	free(conn->held);
	conn->held = NULL;
}

bool http_socket_open(struct http_conn *conn, int fd, const struct sockaddr_storage *from,
                      void (*on_event)(struct http_conn *conn))
{
	uv_loop_t *loop = conn->server->loop;
	conn->is_tcp = from->ss_family == AF_INET || from->ss_family == AF_INET6;
	conn->handle_count = 2;
	conn->on_event = on_event;
	peer_format(from, conn->peer);
	uv_timer_init(loop, &conn->timer);
	bool is_open;
	if (conn->is_tcp) {
		uv_tcp_init(loop, &conn->tcp);
		is_open = uv_tcp_open(&conn->tcp, fd) == 0;
	} else {
		uv_pipe_init(loop, &conn->pipe, 0);
		is_open = uv_pipe_open(&conn->pipe, fd) == 0;
	}
	if (!is_open)
		close(fd);
	else if (conn->is_tcp)
		(void)uv_tcp_nodelay(&conn->tcp, 1);
	conn->timer.data = conn->stream.data = conn;
	return is_open;
}

static void on_idle(uv_idle_t *idle)
{
	(void)idle;
}

void http_socket_schedule(struct http_conn *conn)
{
	if (conn->is_ticking || conn->is_due || conn->state == CONN_CLOSED)
		return;
	conn->is_due = true;
	conn->due_turn = conn->server->turn;
	TAILQ_INSERT_TAIL(&conn->server->due, conn, due);
	uv_idle_start(&conn->server->idle, on_idle);
}

size_t http_socket_queued(const struct http_conn *conn)
{
	return uv_stream_get_write_queue_size(&conn->stream);
}

METRIC_GAUGE(unsent_bytes, "expops_http_unsent_bytes",
             "Bytes of answers that wait for their clients to read.");

/* Count the unsent bytes of the connection; `queued`: how many there are now. */
static void count_queued(struct http_conn *conn, size_t queued)
{
	if (queued == conn->queued_bytes)
		return;
	metric_add(&unsent_bytes, NULL, NULL, (double)queued - (double)conn->queued_bytes);
	conn->server->queued_bytes += queued - conn->queued_bytes;
	conn->queued_bytes = queued;
}

static void on_rest_written(void *owner, int status)
{
	struct http_conn *conn = owner;
	if (conn->state == CONN_CLOSED)
		return;
	conn->is_broken |= status < 0;
	conn->on_event(conn);
}

void http_socket_write(struct http_conn *conn, const uv_buf_t *bufs, unsigned count)
{
	if (conn->is_broken || conn->state == CONN_CLOSED)
		return;
	if (conn->tls)
		http_secure_write(conn, bufs, count);
	else
		http_socket_send(conn, bufs, count);
}

void http_socket_send(struct http_conn *conn, const uv_buf_t *bufs, unsigned count)
{
	if (conn->is_broken)
		return;
	for (unsigned i = 0; i < count; i++)
		conn->written_bytes += bufs[i].len;
	conn->is_broken = buffered_write(&conn->stream, bufs, count, on_rest_written, conn) != 0;
	count_queued(conn, http_socket_queued(conn));
}

static void on_shutdown(uv_shutdown_t *req, int status)
{
	(void)req;
	(void)status;
}

bool http_socket_end(struct http_conn *conn)
{
	if (conn->tls)
		tls_conn_end(conn->tls);
	return !conn->is_broken && uv_shutdown(&conn->shutdown, &conn->stream, on_shutdown) == 0;
}

/* A client with Nagle's algorithm enabled that sends head and content in two writes holds the
 * content back until the head is acknowledged, and the kernel delays acknowledgments by 40 ms
 * (RFC 1122 section 4.2.3.2). */
void http_socket_acknowledge(struct http_conn *conn)
{
#ifdef TCP_QUICKACK
	static const int ON = 1;
	int fd;
	if (conn->is_tcp && uv_fileno((uv_handle_t *)&conn->stream, &fd) == 0)
		(void)setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &ON, sizeof(ON));
#else
	(void)conn;
#endif
}

bool http_socket_may_read(const struct http_conn *conn)
{
	const struct server_exchange *exchange = conn->exchange;
	return !exchange->is_request_complete && !exchange->is_paused &&
	       !exchange->is_response_ended;
}

/* Half of the memory is for heads alone. */
static bool is_scarce(const struct http_server *server)
{
	return server->memory_bytes > server->limits->head_memory_bytes / 2;
}

/* Copy the bytes that cannot be parsed yet: other connections use the loop's read buffer, too. */
static void hold_input(struct http_conn *conn)
{
	if (conn->in_length == 0) {
		held_free(conn);
	} else if (!conn->held) {
		conn->held = malloc(conn->in_length);
		require(conn->held);
		conn->held_length = conn->in_length;
		memcpy(conn->held, conn->in, conn->in_length);
		conn->in = conn->held;
	}
	if (conn->in_length > MEMORY_FREE_BYTES || conn->memory_bytes > 0)
		(void)http_socket_count_memory(conn);
	/* By TLS a whole record comes at once. What a client sends behind a request is owed
	 * nothing. */
	if (conn->in_length > MEMORY_FREE_BYTES && is_scarce(conn->server))
		conn->is_broken |= conn->exchange && conn->exchange->is_request_complete;
}

/* Where memory is scarce, no more is read at once than may be held without being counted, but of a
 * connection whose head is incomplete. */
static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *ret_buf)
{
	(void)suggested;
	struct http_conn *conn = handle->data;
	struct http_server *server = conn->server;
	bool is_small = conn->state != CONN_HEAD && is_scarce(server);
	*ret_buf = uv_buf_init(server->read_buffer, is_small ? MEMORY_FREE_BYTES : HTTP_READ_BYTES);
}

/* Whether the other side has closed the socket, and not only its sending direction. TCP does not
 * show this before a write fails; a unix socket does. */
static bool is_hung_up(const struct http_conn *conn)
{
	struct pollfd hangup = {.fd = -1};
	return uv_fileno((const uv_handle_t *)&conn->stream, &hangup.fd) == 0 &&
	       poll(&hangup, 1, 0) > 0 && (hangup.revents & (POLLHUP | POLLERR));
}

static void receive(struct http_conn *conn, const char *data, size_t length)
{
	if (conn->awaits_header && !http_preamble_receive(conn, &data, &length))
		return;
	/* What comes while the connection lingers is dropped unread. */
	if (conn->tls_context && conn->state != CONN_LINGER && length > 0) {
		http_secure_receive(conn, data, length);
	} else {
		conn->in = data;
		conn->in_length = length;
	}
}

/* Whether TLS has received only parts of records, or records without text: the upper half is not
 * told, because that is no progress of the client, for which it waits. */
static bool is_without_text(const struct http_conn *conn)
{
	return conn->tls && conn->in_length == 0 && conn->state != CONN_OPENING &&
	       !conn->has_ended && !conn->is_broken;
}

static void on_read(uv_stream_t *stream, ssize_t length, const uv_buf_t *buf)
{
	struct http_conn *conn = stream->data;
	if (length == 0)
		return;
	if (length == UV_EOF) {
		conn->is_at_end = true;
		conn->is_broken |= is_hung_up(conn);
	} else if (length < 0) {
		conn->is_broken = true;
	} else {
		receive(conn, buf->base, (size_t)length);
		if (is_without_text(conn))
			return;
	}
	conn->on_event(conn);
}

/* Continue to read after the request is complete, to notice when the client closes. */
static void set_reading(struct http_conn *conn)
{
	bool should_read = conn->in_length == 0 && !conn->is_at_end;
	if (conn->state == CONN_EXCHANGE && !conn->exchange->is_request_complete)
		should_read = should_read && !conn->exchange->is_paused;
	if (should_read && conn->has_ended) {
		conn->is_at_end = true;
		should_read = false;
		http_socket_schedule(conn);
	}
	if (should_read == conn->is_reading)
		return;
	conn->is_reading = should_read;
	if (!should_read)
		uv_read_stop(&conn->stream);
	else if (uv_read_start(&conn->stream, on_alloc, on_read) != 0)
		conn->is_broken = true;
}

static void on_timer(uv_timer_t *timer)
{
	struct http_conn *conn = timer->data;
	conn->timer_ms = 0;
	bool has_moved = http_socket_queued(conn) < conn->queued_bytes;
	conn->is_late = conn->deadline_ms <= conn_now(conn) && !has_moved;
	conn->on_event(conn);
}

/* How much longer the server may wait for the client, which has moved `bytes` in all; HTTP_NEVER:
 * it does not wait. Each wait is limited, all together by `total_ms` and by the least rate: the
 * client is given content_timeout_ms and, for each content_rate_min bytes, a second. */
static uint64_t wait_left_ms(const struct http_conn *conn, struct client_wait *wait,
                             bool is_waiting, uint64_t bytes, uint64_t total_ms)
{
	const struct http_limits *limits = conn->server->limits;
	uint64_t now_ms = conn_now(conn);
	if (!is_waiting) {
		wait->earlier_ms += wait->from_ms ? now_ms - wait->from_ms : 0;
		wait->from_ms = 0;
		return HTTP_NEVER;
	}
	if (wait->from_ms == 0) {
		wait->from_ms = now_ms;
		if (wait->earlier_ms == 0)
			wait->start_bytes = bytes;
	}
	uint64_t waited_ms = wait->earlier_ms + now_ms - wait->from_ms;
	uint64_t allowed_ms = total_ms;
	if (limits->content_rate_min > 0) {
		uint64_t moved_ms = (bytes - wait->start_bytes) * 1000 / limits->content_rate_min;
		allowed_ms = MIN_OF(allowed_ms, limits->content_timeout_ms + moved_ms);
	}
	uint64_t left_ms = allowed_ms > waited_ms ? allowed_ms - waited_ms : 0;
	return MIN_OF(left_ms, limits->content_timeout_ms);
}

/* The time at which the exchange has waited too long for its client. */
static uint64_t exchange_deadline_ms(struct http_conn *conn)
{
	struct server_exchange *exchange = conn->exchange;
	size_t queued = http_socket_queued(conn);
	uint64_t sends_ms =
		wait_left_ms(conn, &exchange->sends, http_socket_may_read(conn),
	                     exchange->received_bytes, conn->server->limits->content_total_ms);
	uint64_t reads_ms = wait_left_ms(conn, &exchange->reads, queued > 0,
	                                 conn->written_bytes - queued, HTTP_NEVER);
	uint64_t left_ms = MIN_OF(sends_ms, reads_ms);
	return left_ms == HTTP_NEVER ? HTTP_NEVER : conn_now(conn) + left_ms;
}

/* A running timer that fires before the deadline is left as it is and set again when it fires: most
 * deadlines are moved before they pass. */
static void set_deadline(struct http_conn *conn)
{
	if (conn->state == CONN_EXCHANGE)
		conn->deadline_ms = exchange_deadline_ms(conn);
	conn->waited_ms = conn_now(conn);
	count_queued(conn, http_socket_queued(conn));
	if (conn->deadline_ms == HTTP_NEVER ||
	    (conn->timer_ms != 0 && conn->timer_ms <= conn->deadline_ms))
		return;
	uint64_t now_ms = conn_now(conn);
	conn->timer_ms = MAX_OF(conn->deadline_ms, now_ms + 1);
	uv_timer_start(&conn->timer, on_timer, conn->timer_ms - now_ms, 0);
}

void http_socket_wait(struct http_conn *conn)
{
	hold_input(conn);
	set_reading(conn);
	set_deadline(conn);
}

void http_socket_classify(struct http_conn *conn, enum conn_class class)
{
	struct http_conn_list *lists = conn->server->conns;
	TAILQ_REMOVE(&lists[conn->class], conn, all);
	TAILQ_INSERT_TAIL(&lists[class], conn, all);
	conn->class = class;
}

/* The oldest connection whose incomplete head is counted, except `conn`. */
static struct http_conn *oldest_large_head(const struct http_conn *conn)
{
	struct http_conn *other;
	TAILQ_FOREACH (other, &conn->server->conns[CLASS_HEAD], all)
		if (other->memory_bytes > 0 && other != conn)
			return other;
	return NULL;
}

bool http_socket_count_memory(struct http_conn *conn)
{
	struct http_server *server = conn->server;
	size_t head = conn->exchange ? conn->exchange->head_bytes : 0;
	size_t held = conn->held ? conn->in_length : 0;
	size_t bytes =
		(head > MEMORY_FREE_BYTES ? head : 0) + (held > MEMORY_FREE_BYTES ? held : 0);
	if (bytes == conn->memory_bytes)
		return true;
	bool is_growing_head = bytes > conn->memory_bytes && conn->state == CONN_HEAD;
	server->memory_bytes += bytes - conn->memory_bytes;
	conn->memory_bytes = bytes;
	while (is_growing_head && server->memory_bytes > server->limits->head_memory_bytes) {
		struct http_conn *other = oldest_large_head(conn);
		if (!other)
			return false;
		http_conn_kill(other);
	}
	return true;
}

/* After many connections have been freed, return their memory to the system: glibc keeps what is
 * free below its last block in use. */
static void trim_memory(struct http_server *server)
{
	if (server->handle_peak < server->handle_count + TRIM_CONNECTIONS)
		return;
	server->handle_peak = server->handle_count;
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

void http_server_handle_closed(struct http_server *server)
{
	if (--server->handle_count == 0 && server->is_freed)
		free(server);
	else
		trim_memory(server);
}

static void on_handle_closed(uv_handle_t *handle)
{
	struct http_conn *conn = handle->data;
	if (--conn->handle_count > 0)
		return;
	struct http_server *server = conn->server;
	held_free(conn);
	free(conn->preamble);
	tls_conn_free(conn->tls);
	free(conn);
	http_server_handle_closed(server);
}

void http_socket_close(struct http_conn *conn)
{
	if (conn->state == CONN_CLOSED)
		return;
	require(!conn->exchange);
	if (conn->tls && !conn->is_broken)
		tls_conn_end(conn->tls);
	conn->state = CONN_CLOSED;
	conn->in_length = 0;
	count_queued(conn, 0);
	if (conn->memory_bytes > 0)
		(void)http_socket_count_memory(conn);
	if (conn->is_due)
		TAILQ_REMOVE(&conn->server->due, conn, due);
	conn->is_due = false;
	TAILQ_REMOVE(&conn->server->conns[conn->class], conn, all);
	uv_close((uv_handle_t *)&conn->timer, on_handle_closed);
	uv_close((uv_handle_t *)&conn->stream, on_handle_closed);
	conn->server->on_conn_closed(conn->server);
}

void http_socket_reset(struct http_conn *conn)
{
	static const struct linger ABORT = {.l_onoff = 1, .l_linger = 0};
	int fd;
	conn->is_broken = true;
	if (conn->is_tcp && uv_fileno((uv_handle_t *)&conn->stream, &fd) == 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &ABORT, sizeof(ABORT));
	http_socket_close(conn);
}
