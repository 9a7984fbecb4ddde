#include "base/base.h"
#include "base/timefmt.h"
#include "http/internal.h"

#include <string.h>

#define FRAMING_MAX_BYTES 8192 /* most bytes of chunk extensions and trailers, which are dropped */

static struct http_conn *conn_of(llhttp_t *parser)
{
	return parser->data;
}

/* Stop the parser: the request is invalid. */
static int refuse(struct http_conn *conn, enum err_code code)
{
	conn->refusal = code;
	return HPE_USER;
}

static int pause_with(struct http_conn *conn, enum parse_event event)
{
	conn->parsed = event;
	return HPE_PAUSED;
}

static int framing_add(struct http_conn *conn, size_t length)
{
	conn->framing_bytes += length;
	return conn->framing_bytes <= FRAMING_MAX_BYTES ? 0 : refuse(conn, ERR_MALFORMED);
}

/* The HTTP_TAIL_BYTES before `at`; some of them may be from an earlier read. */
static void tail_get(const struct http_conn *conn, const char *at, char ret_tail[HTTP_TAIL_BYTES])
{
	size_t here = MIN_OF((size_t)(at - conn->in), HTTP_TAIL_BYTES);
	memcpy(ret_tail, conn->tail + here, HTTP_TAIL_BYTES - here);
	memcpy(ret_tail + HTTP_TAIL_BYTES - here, at - here, here);
}

/* Store the last HTTP_TAIL_BYTES of the bytes that were parsed, `taken` in this call. */
static void tail_keep(struct http_conn *conn, size_t taken)
{
	char tail[HTTP_TAIL_BYTES];
	tail_get(conn, conn->in + taken, tail);
	memcpy(conn->tail, tail, sizeof(tail));
}

static int on_url(llhttp_t *parser, const char *at, size_t length)
{
	struct http_conn *conn = conn_of(parser);
	struct server_exchange *exchange = conn->exchange;
	if (exchange->target_length == 0) {
		char tail[HTTP_TAIL_BYTES];
		tail_get(conn, at, tail);
		if (tail[HTTP_TAIL_BYTES - 1] != ' ' || tail[HTTP_TAIL_BYTES - 2] == ' ')
			return refuse(conn, ERR_MALFORMED);
	}
	buf_add(&exchange->collect.text, at, length);
	exchange->target_length += (uint32_t)length;
	return 0;
}

/* llhttp accepts several spaces in a request line, and the protocols RTSP and ICE, without
 * reporting it; the bytes before the version show them. */
static int on_version(llhttp_t *parser, const char *at, size_t length)
{
	static const char BEFORE[] = " HTTP/";
	(void)length;
	struct http_conn *conn = conn_of(parser);
	if (conn->exchange->has_version)
		return 0;
	conn->exchange->has_version = true;
	char tail[HTTP_TAIL_BYTES];
	tail_get(conn, at, tail);
	const char *before = tail + HTTP_TAIL_BYTES - (sizeof(BEFORE) - 1);
	bool is_http = before[-1] != ' ' && memcmp(before, BEFORE, sizeof(BEFORE) - 1) == 0;
	return is_http ? 0 : refuse(conn, ERR_MALFORMED);
}

static int on_version_complete(llhttp_t *parser)
{
	conn_of(parser)->exchange->has_whole_version = true;
	return 0;
}

static int on_url_complete(llhttp_t *parser)
{
	buf_add(&conn_of(parser)->exchange->collect.text, "", 1);
	return 0;
}

static int on_header_field(llhttp_t *parser, const char *at, size_t length)
{
	struct http_conn *conn = conn_of(parser);
	size_t fields_max = conn->server->limits->fields_max;
	if (conn->state != CONN_HEAD)
		return framing_add(conn, length);
	if (!head_builder_name(&conn->exchange->collect, at, length, fields_max))
		return refuse(conn, ERR_HEAD_TOO_LARGE);
	return 0;
}

static int on_header_field_complete(llhttp_t *parser)
{
	struct http_conn *conn = conn_of(parser);
	if (conn->state == CONN_HEAD)
		head_builder_name_end(&conn->exchange->collect);
	return 0;
}

static int on_header_value(llhttp_t *parser, const char *at, size_t length)
{
	struct http_conn *conn = conn_of(parser);
	if (conn->state != CONN_HEAD)
		return framing_add(conn, length);
	head_builder_value(&conn->exchange->collect, at, length);
	return 0;
}

static int on_header_value_complete(llhttp_t *parser)
{
	struct http_conn *conn = conn_of(parser);
	if (conn->state == CONN_HEAD)
		head_builder_value_end(&conn->exchange->collect);
	return 0;
}

static int on_headers_complete(llhttp_t *parser)
{
	struct http_conn *conn = conn_of(parser);
	parser->upgrade = 0; /* Upgrade is not supported: ignore the field */
	conn->head_flags = parser->flags;
	return pause_with(conn, PARSE_HEAD);
}

static int on_chunk_extension(llhttp_t *parser, const char *at, size_t length)
{
	(void)at;
	struct http_conn *conn = conn_of(parser);
	conn->extension_bytes += length;
	return framing_add(conn, length);
}

/* The name of a chunk extension, and its value after a `=`, must not be empty (RFC 9112 section
 * 7.1.1); llhttp does not check this. */
static int on_chunk_extension_complete(llhttp_t *parser)
{
	struct http_conn *conn = conn_of(parser);
	bool is_empty = conn->extension_bytes == 0;
	conn->extension_bytes = 0;
	return is_empty ? refuse(conn, ERR_MALFORMED) : 0;
}

/* The content of a read is gathered, however many chunks it is of: each is moved to the end of the
 * one before, over the framing between them. */
static int on_body(llhttp_t *parser, const char *at, size_t length)
{
	struct http_conn *conn = conn_of(parser);
	struct server_exchange *exchange = conn->exchange;
	if (!exchange || exchange->is_response_ended) {
		conn->dropped_bytes += length;
		return 0;
	}
	exchange->received_bytes += length;
	if (conn->content_length == 0)
		conn->content = (char *)at; /* writable: the loop's buffer, or a copy */
	else
		memmove(conn->content + conn->content_length, at, length);
	conn->content_length += length;
	return 0;
}

/* Give the handler what was gathered. If it pauses, the end of the request is due later. */
static void deliver_content(struct http_conn *conn)
{
	struct server_exchange *exchange = conn->exchange;
	size_t length = conn->content_length;
	conn->content_length = 0;
	if (length > 0 && exchange->x.handler->on_content)
		exchange->x.handler->on_content(&exchange->x, conn->content, length);
	if (length == 0 || conn->parsed != PARSE_END)
		return;
	conn->is_end_due = conn->is_parser_due = exchange->is_paused || exchange->is_aborted;
	if (conn->is_end_due)
		conn->parsed = PARSE_MORE;
}

/* llhttp treats trailers as fields of the head. A Connection field in a trailer must not close a
 * connection that the response has already promised to keep. */
static int on_message_complete(llhttp_t *parser)
{
	struct http_conn *conn = conn_of(parser);
	parser->flags = conn->head_flags;
	return pause_with(conn, PARSE_END);
}

static const llhttp_settings_t CALLBACKS = {
	.on_url = on_url,
	.on_url_complete = on_url_complete,
	.on_version = on_version,
	.on_version_complete = on_version_complete,
	.on_header_field = on_header_field,
	.on_header_field_complete = on_header_field_complete,
	.on_header_value = on_header_value,
	.on_header_value_complete = on_header_value_complete,
	.on_headers_complete = on_headers_complete,
	.on_chunk_extension_name = on_chunk_extension,
	.on_chunk_extension_value = on_chunk_extension,
	.on_chunk_extension_name_complete = on_chunk_extension_complete,
	.on_chunk_extension_value_complete = on_chunk_extension_complete,
	.on_body = on_body,
	.on_message_complete = on_message_complete,
};

void http_parse_init(struct http_conn *conn)
{
	llhttp_init(&conn->parser, HTTP_REQUEST, &CALLBACKS);
	conn->parser.data = conn;
	require(conn->parser.lenient_flags == 0);
}

void http_parse_begin(struct http_conn *conn)
{
	struct arena *arena = arena_new_wiped(); /* Authorization, content with secrets */
	struct server_exchange *exchange = arena_new_of(arena, struct server_exchange);
	exchange->x = (struct http_exchange){
		.server = conn->server,
		.handler = conn->server->handler,
		.arena = arena,
		.started_us = time_monotonic_us(),
		.peer = conn->peer,
		.scheme = conn->scheme,
	};
	exchange->conn = conn;
	exchange->arena = arena;
	head_builder_init(&exchange->collect, arena);
	conn->exchange = exchange;
	conn->framing_bytes = conn->dropped_bytes = conn->extension_bytes = 0;
	conn->blank_bytes = 0;
}

/* Whether the unknown method is a word: llhttp stopped at a letter. */
static bool is_method_word(const struct http_conn *conn)
{
	const char *at = llhttp_get_error_pos(&conn->parser);
	char letter = at < conn->in + conn->in_length ? *at : '\0';
	return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
}

/* Maps an error of llhttp to an error code. */
static enum err_code parser_error(const struct http_conn *conn, llhttp_errno_t error)
{
	switch (error) {
	case HPE_USER:
		return conn->refusal;
	case HPE_INVALID_METHOD:
		return is_method_word(conn) ? ERR_NOT_IMPLEMENTED : ERR_MALFORMED;
	case HPE_INVALID_VERSION: /* or text after a valid version */
		return conn->exchange->has_whole_version ? ERR_MALFORMED : ERR_VERSION;
	case HPE_PAUSED_H2_UPGRADE:
		return ERR_VERSION;
	default:
		return ERR_MALFORMED;
	}
}

/* The error code for a head that is too large. The target is too long if it is most of the head
 * (RFC 9112 section 3). */
static enum err_code too_large(const struct http_conn *conn)
{
	const struct server_exchange *exchange = conn->exchange;
	bool is_target = !exchange->has_version ||
	                 exchange->target_length > conn->server->limits->head_max_bytes / 2;
	return is_target ? ERR_TARGET_TOO_LONG : ERR_HEAD_TOO_LARGE;
}

enum parse_event http_parse_feed(struct http_conn *conn)
{
	llhttp_t *parser = &conn->parser;
	conn->is_parser_due = false;
	if (conn->is_end_due) {
		conn->is_end_due = false;
		return PARSE_END;
	}
	if (llhttp_get_errno(parser) == HPE_PAUSED)
		llhttp_resume(parser);
	conn->parsed = PARSE_MORE;

	llhttp_errno_t error = llhttp_execute(parser, conn->in, conn->in_length);
	size_t taken = conn->in_length;
	if (error == HPE_PAUSED)
		taken = (size_t)(llhttp_get_error_pos(parser) - conn->in);
	else if (error != HPE_OK)
		conn->parsed = PARSE_REFUSED;
	if (conn->parsed == PARSE_REFUSED)
		conn->refusal = parser_error(conn, error);
	tail_keep(conn, taken);
	conn->in += taken;
	conn->in_length -= taken;

	if (conn->state == CONN_HEAD) {
		conn->exchange->head_bytes += taken;
		if (conn->exchange->head_bytes > conn->server->limits->head_max_bytes) {
			conn->refusal = too_large(conn);
			conn->parsed = PARSE_REFUSED;
		} else if (!http_socket_count_memory(conn)) {
			conn->refusal = ERR_UNAVAILABLE;
			conn->parsed = PARSE_REFUSED;
		}
	}
	deliver_content(conn);
	return (enum parse_event)conn->parsed;
}
