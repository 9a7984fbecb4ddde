#include "base/base.h"
#include "base/log.h"
#include "base/metrics.h"
#include "http/internal.h"
#include "loop/late_write.h"

#include <string.h>

/* What is left of a request when its response begins may be this long, for the connection to stay
 * open. */
#define DROP_MAX_BYTES (64 << 10)

static const char CONTINUE[] = "HTTP/1.1 100 Continue\r\n\r\n";
static const char LAST_CHUNK[] = "0\r\n\r\n";

static const struct {
	int status;
	const char *reason;
} REASONS[] = {
	{200, "OK"},
	{201, "Created"},
	{202, "Accepted"},
	{204, "No Content"},
	{206, "Partial Content"},
	{301, "Moved Permanently"},
	{302, "Found"},
	{303, "See Other"},
	{304, "Not Modified"},
	{307, "Temporary Redirect"},
	{308, "Permanent Redirect"},
	{400, "Bad Request"},
	{401, "Unauthorized"},
	{403, "Forbidden"},
	{404, "Not Found"},
	{405, "Method Not Allowed"},
	{406, "Not Acceptable"},
	{408, "Request Timeout"},
	{409, "Conflict"},
	{410, "Gone"},
	{411, "Length Required"},
	{412, "Precondition Failed"},
	{413, "Content Too Large"},
	{414, "URI Too Long"},
	{415, "Unsupported Media Type"},
	{417, "Expectation Failed"},
	{421, "Misdirected Request"},
	{422, "Unprocessable Content"},
	{426, "Upgrade Required"},
	{428, "Precondition Required"},
	{429, "Too Many Requests"},
	{431, "Request Header Fields Too Large"},
	{500, "Internal Server Error"},
	{501, "Not Implemented"},
	{502, "Bad Gateway"},
	{503, "Service Unavailable"},
	{504, "Gateway Timeout"},
	{505, "HTTP Version Not Supported"},
};

const char *http_reason(int status)
{
	for (size_t i = 0; i < ARRAY_LEN(REASONS); i++)
		if (REASONS[i].status == status)
			return REASONS[i].reason;
	return "";
}

struct http_field http_field_of(const char *name, const char *value)
{
	return (struct http_field){
		.name = name,
		.value = value,
		.name_length = (uint32_t)strlen(name),
		.value_length = (uint32_t)strlen(value),
	};
}

static struct http_open *open_of(struct http_exchange *x)
{
	return CONTAINER_OF(x, struct http_open, x);
}

size_t http_write_queued(const struct http_conn *conn)
{
	return uv_stream_get_write_queue_size(&conn->stream);
}

static void on_late_write(void *owner, int status)
{
	struct http_conn *conn = owner;
	if (conn->state == CONN_CLOSED)
		return;
	conn->is_broken |= status < 0;
	http_conn_tick(conn);
}

static void write_bufs(struct http_conn *conn, const uv_buf_t *bufs, unsigned count)
{
	if (conn->is_broken || conn->state == CONN_CLOSED)
		return;
	conn->is_broken = late_write(&conn->stream, bufs, count, on_late_write, conn) != 0;
}

static uv_buf_t buf_of(const void *data, size_t length)
{
	return uv_buf_init((char *)data, (unsigned)length);
}

/* The pending head as the first of `bufs`, if there is one. */
static unsigned take_head(struct http_open *open, uv_buf_t *bufs)
{
	if (open->reply_head == NULL)
		return 0;
	bufs[0] = buf_of(open->reply_head, open->reply_head_length);
	open->reply_head = NULL;
	return 1;
}

void http_write_flush(struct http_open *open)
{
	uv_buf_t head;
	if (take_head(open, &head) > 0)
		write_bufs(open->conn, &head, 1);
}

void http_write_continue(struct http_conn *conn)
{
	uv_buf_t line = buf_of(CONTINUE, sizeof(CONTINUE) - 1);
	write_bufs(conn, &line, 1);
}

/* A field line. Control characters of a value become spaces, so that no value can end its line. */
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
static bool stays_open(const struct http_open *open)
{
	const struct http_conn *conn = open->conn;
	if (!conn->is_keep_alive || conn->server->is_draining || open->is_continue_due)
		return false;
	return open->is_request_complete || open->x.head.content_length <= DROP_MAX_BYTES;
}

/* How the end of the content is marked, and whether the connection stays. */
static void add_framing(struct http_open *open, struct buf *head)
{
	struct http_conn *conn = open->conn;
	int status = open->x.status;
	bool is_http_1_0 = open->x.head.minor_version == 0;
	conn->is_keep_alive = stays_open(open);
	if (status != 204 && status != 304 && open->content_left >= 0) {
		buf_printf(head, "Content-Length: %lld\r\n", (long long)open->content_left);
	} else if (!open->has_no_content && is_http_1_0) {
		conn->is_keep_alive = false;
	} else if (!open->has_no_content) {
		open->is_response_chunked = true;
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
	struct http_open *open = open_of(x);
	require(x->status == 0 && status >= 200 && status <= 599);
	x->status = status;
	open->has_no_content = x->head.is_head || status == 204 || status == 304;
	open->content_left = content_length;
	struct buf head = {.arena = open->arena};
	buf_printf(&head, "HTTP/1.1 %d %s\r\n", status, http_reason(status));
	buf_puts(&head, http_server_date_line(open->conn->server));
	for (size_t i = 0; i < field_count; i++)
		add_field(&head, &fields[i]);
	add_framing(open, &head);
	buf_add(&head, "\r\n", 2);
	open->reply_head = head.data;
	open->reply_head_length = head.length;
	http_conn_schedule(open->conn);
}

bool http_respond_content(struct http_exchange *x, const void *data, size_t length)
{
	struct http_open *open = open_of(x);
	struct http_conn *conn = open->conn;
	require(x->status != 0 && !open->is_response_ended);
	if (open->has_no_content || length == 0)
		return false;
	if (open->content_left >= 0) {
		require((int64_t)length <= open->content_left);
		open->content_left -= (int64_t)length;
	}
	x->sent_bytes += length;

	uv_buf_t bufs[4];
	unsigned count = take_head(open, bufs);
	char size[24];
	if (open->is_response_chunked) {
		int digits = snprintf(size, sizeof(size), "%zx\r\n", length);
		bufs[count++] = buf_of(size, (size_t)digits);
	}
	bufs[count++] = buf_of(data, length);
	if (open->is_response_chunked)
		bufs[count++] = buf_of("\r\n", 2);
	write_bufs(conn, bufs, count);
	if (conn->is_broken)
		http_conn_schedule(conn);
	open->is_full |= http_write_queued(conn) > conn->server->limits->send_high_bytes;
	return open->is_full;
}

void http_respond_end(struct http_exchange *x)
{
	struct http_open *open = open_of(x);
	require(x->status != 0 && !open->is_response_ended);
	require(open->has_no_content || open->content_left <= 0);
	uv_buf_t bufs[2];
	unsigned count = take_head(open, bufs);
	if (open->is_response_chunked)
		bufs[count++] = buf_of(LAST_CHUNK, sizeof(LAST_CHUNK) - 1);
	if (count > 0)
		write_bufs(open->conn, bufs, count);
	open->is_response_ended = true;
	http_conn_schedule(open->conn);
}

void http_respond_abort(struct http_exchange *x)
{
	struct http_open *open = open_of(x);
	open->is_aborted = true;
	http_conn_schedule(open->conn);
}

static struct metric refused_total =
	METRIC_COUNTER("expops_http_refused_total",
                       "Requests that broke the rules of HTTP, a limit or a time-out.", "error");

void http_write_register(void)
{
	metric_register(&refused_total);
}

void http_write_refusal(struct http_conn *conn, enum err_code code, const char *detail)
{
	static const struct http_head NONE;
	struct arena *arena = arena_new();
	const char *id =
		http_head_request_id(conn->open != NULL ? &conn->open->x.head : &NONE, arena);
	metric_add(&refused_total, err_info(code)->slug, NULL, 1);
	log_set_request_id(id);
	log_info(LOG_GROUP_HTTP, "request refused", f_text("error", err_info(code)->slug),
	         f_text("detail", detail), f_text("peer", conn->peer));
	log_set_request_id(NULL);
	const char *body = "";
	size_t length = 0;
	int status = err_info(code)->status;
	if (conn->server->handler->refuse != NULL)
		conn->server->handler->refuse(arena, code, detail, id, &body, &length);
	struct buf reply = {.arena = arena};
	buf_printf(&reply, "HTTP/1.1 %d %s\r\n", status, http_reason(status));
	buf_puts(&reply, http_server_date_line(conn->server));
	if (code == ERR_METHOD)
		buf_puts(&reply, "Allow: GET, HEAD, POST, PUT, PATCH, DELETE\r\n");
	buf_printf(&reply,
	           "X-Request-Id: %s\r\nContent-Type: application/problem+json\r\n"
	           "Content-Length: %zu\r\nConnection: close\r\n\r\n",
	           id, length);
	buf_add(&reply, body, length);
	uv_buf_t all = buf_of(reply.data, reply.length);
	write_bufs(conn, &all, 1);
	arena_free(arena);
}
