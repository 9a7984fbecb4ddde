#include "redis/conn.h"

#include "base/base.h"
#include "base/tcp.h"
#include "loop/buffered_write.h"
#include "tls/conn.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define INPUT_BYTES    16384
#define OUT_MIN_BYTES  1024
#define OUT_KEPT_BYTES 65536

enum state { CONN_CONNECTING, CONN_TLS, CONN_OPEN, CONN_ENDED };

/* Freed when libuv has closed its handles. */
struct redis_conn {
	union {
		uv_handle_t handle;
		uv_stream_t stream;
		uv_tcp_t tcp;
		uv_pipe_t pipe;
	} socket;
	uv_connect_t connecting;
	/* Commands are written together before the loop waits. While there are some, the idle
	 * handle keeps it from waiting: a prepare handle that another one has started runs only in
	 * the next turn. */
	uv_prepare_t flusher;
	uv_idle_t hurry;
	int open_handles;
	enum state state;
	bool is_closed; /* by the owner */
	const struct redis_url *url;
	struct tls_context *tls_context; /* NULL: no TLS */
	struct tls_conn *tls;
	redisReader *reader;
	const struct redis_conn_handler *handler;
	void *owner;
	char *out; /* commands that are not written yet */
	size_t out_length, out_size;
};

/* What is read is parsed at once. */
static _Thread_local char input[INPUT_BYTES];

static void out_free(struct redis_conn *conn)
{
	/* AUTH is among them. */
	if (conn->out)
		explicit_bzero(conn->out, conn->out_size);
	free(conn->out);
	conn->out = NULL;
	conn->out_length = conn->out_size = 0;
}

static void on_handle_closed(uv_handle_t *handle)
{
	struct redis_conn *conn = handle->data;
	if (--conn->open_handles > 0)
		return;
	tls_conn_free(conn->tls);
	redisReaderFree(conn->reader);
	out_free(conn);
	free(conn);
}

/* Nothing is read or written from now on. */
static void stop(struct redis_conn *conn)
{
	if (conn->state == CONN_ENDED)
		return;
	conn->state = CONN_ENDED;
	uv_prepare_stop(&conn->flusher);
	uv_idle_stop(&conn->hurry);
	(void)uv_read_stop(&conn->socket.stream);
}

static void end(struct redis_conn *conn, const struct fault *fault, const char *reason)
{
	if (conn->state == CONN_ENDED)
		return;
	stop(conn);
	conn->handler->on_end(conn->owner, fault, reason);
}

void redis_conn_close(struct redis_conn *conn)
{
	if (!conn || conn->is_closed)
		return;
	conn->is_closed = true;
	stop(conn);
	uv_close(&conn->socket.handle, on_handle_closed);
	uv_close((uv_handle_t *)&conn->flusher, on_handle_closed);
	uv_close((uv_handle_t *)&conn->hurry, on_handle_closed);
}

/* --- Writing ---------------------------------------------------------------------------------- */

static void on_rest_written(void *owner, int status)
{
	struct redis_conn *conn = owner;
	if (status < 0)
		end(conn, NULL, uv_strerror(status));
}

static void write_socket(void *owner, const void *data, size_t length)
{
	struct redis_conn *conn = owner;
	uv_buf_t buf = uv_buf_init((char *)(uintptr_t)data, (unsigned)length);
	if (conn->state == CONN_ENDED)
		return;
	int code = buffered_write(&conn->socket.stream, &buf, 1, on_rest_written, conn);
	if (code < 0)
		end(conn, NULL, uv_strerror(code));
}

static void end_by_tls(struct redis_conn *conn)
{
	end(conn, tls_conn_is_refused(conn->tls) ? redis_fault(REDIS_FAULT_UNVERIFIED) : NULL,
	    tls_conn_fault(conn->tls));
}

static void write_tls(struct redis_conn *conn)
{
	tls_conn_write(conn->tls, conn->out, conn->out_length);
	if (!tls_conn_flush(conn->tls))
		end_by_tls(conn);
}

/* What was a burst of commands leaves no large buffer. */
static void flush(struct redis_conn *conn)
{
	uv_prepare_stop(&conn->flusher);
	uv_idle_stop(&conn->hurry);
	if (conn->tls)
		write_tls(conn);
	else
		write_socket(conn, conn->out, conn->out_length);
	if (conn->out_size > OUT_KEPT_BYTES)
		out_free(conn);
	conn->out_length = 0;
}

static void on_flush(uv_prepare_t *prepare)
{
	flush(prepare->data);
}

static void on_hurry(uv_idle_t *idle)
{
	(void)idle;
}

static void flush_soon(struct redis_conn *conn)
{
	if (conn->state != CONN_OPEN || conn->out_length == 0)
		return;
	uv_prepare_start(&conn->flusher, on_flush);
	uv_idle_start(&conn->hurry, on_hurry);
}

void redis_conn_send(struct redis_conn *conn, const char *command, size_t length)
{
	if (conn->state == CONN_ENDED)
		return;
	if (length > conn->out_size - conn->out_length) {
		size_t size = MAX_OF(conn->out_size, (size_t)OUT_MIN_BYTES);
		while (length > size - conn->out_length)
			size *= 2;
		conn->out = realloc(conn->out, size);
		require(conn->out);
		conn->out_size = size;
	}
	memcpy(conn->out + conn->out_length, command, length);
	conn->out_length += length;
	flush_soon(conn);
}

/* --- Reading ---------------------------------------------------------------------------------- */

static void take_replies(struct redis_conn *conn, const char *text, size_t length)
{
	void *reply = NULL;
	if (length == 0)
		return;
	(void)redisReaderFeed(conn->reader, text, length); /* a failure is kept in the reader */
	while (conn->state == CONN_OPEN) {
		if (redisReaderGetReply(conn->reader, &reply) != REDIS_OK) {
			end(conn, NULL, conn->reader->errstr);
			return;
		}
		if (!reply)
			return;
		conn->handler->on_reply(conn->owner, reply);
		freeReplyObject(reply);
	}
}

static void end_by_server(struct redis_conn *conn)
{
	end(conn, NULL,
	    conn->state == CONN_TLS
	            ? "the server has closed the connection instead of beginning TLS"
	            : "the server has closed the connection");
}

static void take_tls(struct redis_conn *conn, const char *data, size_t length)
{
	const char *text;
	size_t text_length;
	enum tls_state state = tls_conn_receive(conn->tls, data, length, &text, &text_length);
	if (state == TLS_FAILED) {
		end_by_tls(conn);
		return;
	}
	if (state == TLS_OPEN && conn->state == CONN_TLS) {
		conn->state = CONN_OPEN;
		flush_soon(conn);
	}
	take_replies(conn, text, text_length);
	if (state == TLS_ENDED)
		end_by_server(conn);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *ret_buf)
{
	(void)handle;
	(void)suggested;
	*ret_buf = uv_buf_init(input, sizeof(input));
}

static void on_read(uv_stream_t *stream, ssize_t length, const uv_buf_t *buf)
{
	struct redis_conn *conn = stream->data;
	if (length == UV_EOF)
		end_by_server(conn);
	else if (length < 0)
		end(conn, NULL, uv_strerror((int)length));
	else if (conn->tls)
		take_tls(conn, buf->base, (size_t)length);
	else
		take_replies(conn, buf->base, (size_t)length);
}

/* --- Connecting ------------------------------------------------------------------------------- */

static void on_connected(uv_connect_t *req, int status)
{
	struct redis_conn *conn = CONTAINER_OF(req, struct redis_conn, connecting);
	if (conn->state == CONN_ENDED)
		return;
	if (status == 0)
		status = uv_read_start(&conn->socket.stream, on_alloc, on_read);
	if (status < 0) {
		end(conn, NULL, uv_strerror(status));
		return;
	}
	conn->state = conn->tls_context ? CONN_TLS : CONN_OPEN;
	if (conn->tls_context)
		conn->tls =
			tls_conn_connect(conn->tls_context, conn->url->host, write_socket, conn);
	flush_soon(conn);
}

static int connect_tcp(struct redis_conn *conn, const struct sockaddr *address)
{
	int fd, status =
			uv_tcp_connect(&conn->connecting, &conn->socket.tcp, address, on_connected);
	if (status < 0)
		return status;
	(void)uv_tcp_nodelay(&conn->socket.tcp, 1);
	if (uv_fileno(&conn->socket.handle, &fd) == 0)
		tcp_detect_loss(fd);
	return 0;
}

static void init_handles(struct redis_conn *conn, uv_loop_t *loop, bool is_tcp)
{
	if (is_tcp)
		uv_tcp_init(loop, &conn->socket.tcp);
	else
		uv_pipe_init(loop, &conn->socket.pipe, 0);
	uv_prepare_init(loop, &conn->flusher);
	uv_idle_init(loop, &conn->hurry);
	conn->socket.handle.data = conn->flusher.data = conn->hurry.data = conn;
	conn->open_handles = 3;
}

struct redis_conn *redis_conn_new(uv_loop_t *loop, const struct redis_url *url,
                                  const struct sockaddr *address, struct tls_context *tls,
                                  const struct redis_conn_handler *handler, void *owner,
                                  const char **ret_reason)
{
	struct redis_conn *conn = calloc(1, sizeof(*conn));
	require(conn);
	conn->url = url;
	conn->tls_context = tls;
	conn->handler = handler;
	conn->owner = owner;
	conn->reader = redisReaderCreate();
	require(conn->reader);
	init_handles(conn, loop, address != NULL);
	int status = 0;
	if (address)
		status = connect_tcp(conn, address);
	else
		uv_pipe_connect(&conn->connecting, &conn->socket.pipe, url->path, on_connected);
	if (status == 0)
		return conn;
	*ret_reason = uv_strerror(status);
	redis_conn_close(conn);
	return NULL;
}

const char *redis_conn_delay(const struct redis_conn *conn)
{
	switch (conn->state) {
	case CONN_CONNECTING:
		return "connecting took too long";
	case CONN_TLS:
		return "the TLS handshake took too long; is it a port of TLS?";
	default:
		return "the server did not greet in time";
	}
}
