#include "base/base.h"
#include "base/timefmt.h"
#include "http/internal.h"
#include "observe/log.h"
#include "observe/metrics.h"

#include <string.h>
#include <time.h>

/* The connection is closed after a response that starts before its request is complete, if
 * Content-Length is above this. */
#define UNREAD_MAX_BYTES (64 << 10)

/* Of a response's last content: what is copied of it at most while the client does not read. */
#define PIECE_BYTES     ((size_t)128 << 10)
#define PIECE_MIN_BYTES ((size_t)4 << 10) /* when the memory for unsent bytes is used up */

static const char CONTINUE[] = "HTTP/1.1 100 Continue\r\n\r\n";
static const char FAREWELL[] =
	"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
static const char LAST_CHUNK[] = "0\r\n\r\n";

enum err_code http_unhandled_code(int status, int64_t content_length)
{
	if (status == err_info(ERR_REQUEST_TIMEOUT)->status && content_length == 0)
		return ERR_UNAVAILABLE;
	return status == err_info(ERR_MISDIRECTED)->status ? ERR_MISDIRECTED : ERR_NONE;
}

static struct server_exchange *exchange_of(struct http_exchange *x)
{
	return CONTAINER_OF(x, struct server_exchange, x);
}

static uv_buf_t buf_of(const void *data, size_t length)
{
	return uv_buf_init((char *)data, (unsigned)length);
}

/* Put the pending head into bufs[0], if there is one. Returns the number of bufs filled. */
static unsigned take_head(struct server_exchange *exchange, uv_buf_t *bufs)
{
	if (!exchange->reply_head)
		return 0;
	bufs[0] = buf_of(exchange->reply_head, exchange->reply_head_length);
	exchange->reply_head = NULL;
	return 1;
}

void http_response_flush(struct server_exchange *exchange)
{
	uv_buf_t head;
	if (take_head(exchange, &head) > 0)
		http_socket_write(exchange->conn, &head, 1);
}

void http_response_continue(struct http_conn *conn)
{
	uv_buf_t line = buf_of(CONTINUE, sizeof(CONTINUE) - 1);
	http_socket_write(conn, &line, 1);
}

void http_response_408(struct http_conn *conn)
{
	uv_buf_t all = buf_of(FAREWELL, sizeof(FAREWELL) - 1);
	http_socket_write(conn, &all, 1);
}

/* The Date field line (IMF-fixdate, RFC 9110 section 5.6.7), formatted once a second. */
static const char *date_line(struct http_server *server)
{
	int64_t now_s = time_now_ms() / 1000;
	if (server->date_s != now_s) {
		time_t time = (time_t)now_s;
		struct tm parts;
		server->date_s = now_s;
		strftime(server->date, sizeof(server->date), "Date: %a, %d %b %Y %H:%M:%S GMT\r\n",
		         gmtime_r(&time, &parts));
	}
	return server->date;
}

static void add_status_line(struct buf *head, int status)
{
	buf_puts(head, "HTTP/1.1 ");
	buf_add_int(head, status);
	buf_add(head, " ", 1);
	buf_puts(head, http_reason(status));
	buf_add(head, "\r\n", 2);
}

/* Append a field line. Control characters in the value become spaces, so that a value cannot end
 * its line. */
static void add_field(struct buf *head, const struct http_field *field)
{
	buf_add(head, field->name, field->name_length);
	buf_add(head, ": ", 2);
	size_t start = head->length;
	buf_add(head, field->value, field->value_length);
	for (char *at = head->data + start; at < head->data + head->length; at++)
		if ((unsigned char)*at < 0x20 && *at != '\t')
			*at = ' ';
	buf_add(head, "\r\n", 2);
}

/* Whether the connection can serve another request after this response. */
static bool can_keep_alive(const struct server_exchange *exchange)
{
	const struct http_conn *conn = exchange->conn;
	if (!conn->is_keep_alive || conn->server->is_retired || exchange->is_continue_due)
		return false;
	return exchange->is_request_complete || exchange->x.head.content_length <= UNREAD_MAX_BYTES;
}

/* Append the fields that say where the content ends and whether the connection stays open. */
static void add_framing(struct server_exchange *exchange, struct buf *head)
{
	struct http_conn *conn = exchange->conn;
	int status = exchange->x.status;
	bool is_http_1_0 = exchange->x.head.minor_version == 0;
	conn->is_keep_alive = can_keep_alive(exchange);
	if (status != 204 && status != 304 && exchange->content_left >= 0) {
		buf_puts(head, "Content-Length: ");
		buf_add_int(head, exchange->content_left);
		buf_add(head, "\r\n", 2);
	} else if (!exchange->has_no_content && is_http_1_0) {
		conn->is_keep_alive = false;
	} else if (!exchange->has_no_content) {
		exchange->is_response_chunked = true;
		buf_puts(head, "Transfer-Encoding: chunked\r\n");
	}
	if (!conn->is_keep_alive)
		buf_puts(head, "Connection: close\r\n");
	else if (is_http_1_0)
		buf_puts(head, "Connection: keep-alive\r\n");
}

void http_respond_start(struct http_exchange *x, int status, const struct http_field *fields,
                        size_t field_count, int64_t content_length)
{
	struct server_exchange *exchange = exchange_of(x);
	require(x->status == 0 && status >= 200 && status <= 599);
	x->status = status;
	exchange->has_no_content = x->head.is_head || status == 204 || status == 304;
	exchange->content_left = content_length;
	struct buf head = {.arena = exchange->arena};
	add_status_line(&head, status);
	buf_puts(&head, date_line(exchange->conn->server));
	for (size_t i = 0; i < field_count; i++)
		add_field(&head, &fields[i]);
	add_framing(exchange, &head);
	buf_add(&head, "\r\n", 2);
	exchange->reply_head = head.data;
	exchange->reply_head_length = head.length;
	http_socket_schedule(exchange->conn);
}

static bool is_queue_full(const struct http_conn *conn)
{
	const struct http_server *server = conn->server;
	size_t queued = http_socket_queued(conn);
	return queued > server->limits->send_high_bytes ||
	       (queued > 0 && server->queued_bytes > server->limits->send_memory_bytes);
}

bool http_respond_content(struct http_exchange *x, const void *data, size_t length)
{
	struct server_exchange *exchange = exchange_of(x);
	struct http_conn *conn = exchange->conn;
	require(x->status != 0 && !exchange->is_response_ended);
	if (exchange->has_no_content || length == 0)
		return false;
	if (exchange->content_left >= 0) {
		require((int64_t)length <= exchange->content_left);
		exchange->content_left -= (int64_t)length;
	}
	x->sent_bytes += length;

	uv_buf_t bufs[4];
	unsigned count = take_head(exchange, bufs);
	char size[24];
	if (exchange->is_response_chunked) {
		int digits = snprintf(size, sizeof(size), "%zx\r\n", length);
		bufs[count++] = buf_of(size, (size_t)digits);
	}
	bufs[count++] = buf_of(data, length);
	if (exchange->is_response_chunked)
		bufs[count++] = buf_of("\r\n", 2);
	http_socket_write(conn, bufs, count);
	if (conn->is_broken)
		http_socket_schedule(conn);
	exchange->is_full |= is_queue_full(conn);
	return exchange->is_full;
}

void http_respond_later(struct http_exchange *x)
{
	struct server_exchange *exchange = exchange_of(x);
	exchange->is_full = false;
	exchange->is_later = true;
	http_socket_schedule(exchange->conn);
}

void http_respond_end(struct http_exchange *x)
{
	struct server_exchange *exchange = exchange_of(x);
	require(x->status != 0 && !exchange->is_response_ended);
	require(exchange->has_no_content || exchange->content_left <= 0);
	uv_buf_t bufs[2];
	unsigned count = take_head(exchange, bufs);
	if (exchange->is_response_chunked)
		bufs[count++] = buf_of(LAST_CHUNK, sizeof(LAST_CHUNK) - 1);
	if (count > 0)
		http_socket_write(exchange->conn, bufs, count);
	exchange->is_response_ended = true;
	http_socket_schedule(exchange->conn);
}

/* What the socket does not take of a piece is copied. */
static size_t piece_bytes(const struct http_server *server)
{
	return server->queued_bytes > server->limits->send_memory_bytes ? PIECE_MIN_BYTES
	                                                                : PIECE_BYTES;
}

void http_response_write_rest(struct server_exchange *exchange)
{
	struct http_conn *conn = exchange->conn;
	while (exchange->rest_length > 0 && http_socket_queued(conn) == 0 && !conn->is_broken) {
		size_t piece = MIN_OF(exchange->rest_length, piece_bytes(conn->server));
		http_respond_content(&exchange->x, exchange->rest, piece);
		exchange->rest += piece;
		exchange->rest_length -= piece;
	}
	if (exchange->rest_length > 0)
		return;
	exchange->rest = NULL;
	http_respond_end(&exchange->x);
}

void http_respond_last(struct http_exchange *x, const void *data, size_t length)
{
	struct server_exchange *exchange = exchange_of(x);
	exchange->rest = data;
	exchange->rest_length = length;
	http_response_write_rest(exchange);
}

void http_respond_abort(struct http_exchange *x)
{
	struct server_exchange *exchange = exchange_of(x);
	exchange->is_aborted = true;
	http_socket_schedule(exchange->conn);
}

METRIC_COUNTER(refused_total, "expops_http_refused_total",
               "Requests refused for invalid HTTP, a limit or a time-out.", "error");

void http_response_refuse(struct http_conn *conn, enum err_code code, const char *detail)
{
	static const struct http_head NONE;
	struct arena *arena = arena_new();
	const char *id =
		http_head_request_id(conn->exchange ? &conn->exchange->x.head : &NONE, arena);
	metric_add(&refused_total, err_info(code)->slug, NULL, 1);
	log_set_request_id(id);
	log_info("request refused", f_text("error", err_info(code)->slug), f_text("detail", detail),
	         f_text("peer", conn->peer));
	log_set_request_id(NULL);
	const char *body = "";
	size_t length = 0;
	int status = err_info(code)->status;
	if (conn->server->handler->refuse)
		conn->server->handler->refuse(arena, code, detail, id, &body, &length);
	struct buf reply = {.arena = arena};
	add_status_line(&reply, status);
	buf_puts(&reply, date_line(conn->server));
	if (code == ERR_METHOD)
		buf_puts(&reply, "Allow: GET, HEAD, POST, PUT, PATCH, DELETE\r\n");
	buf_printf(&reply,
	           "X-Request-Id: %s\r\nContent-Type: application/problem+json\r\n"
	           "Content-Length: %zu\r\nConnection: close\r\n\r\n",
	           id, length);
	buf_add(&reply, body, length);
	uv_buf_t all = buf_of(reply.data, reply.length);
	http_socket_write(conn, &all, 1);
	arena_free(arena);
}
