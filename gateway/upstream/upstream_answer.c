#include "upstream/upstream_internal.h"

#include <string.h>
#include <strings.h>

static struct up_conn *conn_of(llhttp_t *parser)
{
	return parser->data;
}

/* Interim answers (1xx) are read and dropped. */
static bool is_interim(const llhttp_t *parser)
{
	return parser->status_code >= 100 && parser->status_code < 200 &&
	       parser->status_code != 101;
}

static int on_message_begin(llhttp_t *parser)
{
	struct upstream_call *call = conn_of(parser)->call;
	if (call->has_head)
		return HPE_USER; /* a second answer */
	http_collect_init(&call->collect, call->arena);
	return 0;
}

static int on_header_field(llhttp_t *parser, const char *at, size_t length)
{
	struct up_conn *conn = conn_of(parser);
	struct upstream_call *call = conn->call;
	if (call->has_head)
		return 0; /* trailers are dropped */
	size_t fields_max = conn->upstream->limits->fields_max;
	return http_collect_name(&call->collect, at, length, fields_max) ? 0 : HPE_USER;
}

static int on_header_field_complete(llhttp_t *parser)
{
	struct upstream_call *call = conn_of(parser)->call;
	if (!call->has_head)
		http_collect_name_end(&call->collect);
	return 0;
}

static int on_header_value(llhttp_t *parser, const char *at, size_t length)
{
	struct upstream_call *call = conn_of(parser)->call;
	if (!call->has_head)
		http_collect_value(&call->collect, at, length);
	return 0;
}

static int on_header_value_complete(llhttp_t *parser)
{
	struct upstream_call *call = conn_of(parser)->call;
	if (!call->has_head)
		http_collect_value_end(&call->collect);
	return 0;
}

/* Read the length that the fields tell; false: they could be read in two ways. HTTP/1.0 has no
 * transfer codings (RFC 9112 section 6.1). */
static bool length_read(struct upstream_answer *answer, bool may_be_coded)
{
	bool is_coded = false;
	answer->content_length = -1;
	for (size_t i = 0; i < answer->field_count; i++) {
		const struct http_field *field = &answer->fields[i];
		if (field->name_length == 17 && strcasecmp(field->name, "Transfer-Encoding") == 0) {
			if (is_coded || !may_be_coded || strcasecmp(field->value, "chunked") != 0)
				return false;
			is_coded = true;
		} else if (field->name_length == 14 &&
		           strcasecmp(field->name, "Content-Length") == 0) {
			size_t length = field->value_length;
			if (answer->content_length >= 0 || length == 0 || length > 18 ||
			    strspn(field->value, "0123456789") != length)
				return false;
			answer->content_length = 0;
			for (const char *digit = field->value; *digit != '\0'; digit++)
				answer->content_length =
					10 * answer->content_length + (*digit - '0');
		}
	}
	return !is_coded || answer->content_length < 0;
}

static int on_headers_complete(llhttp_t *parser)
{
	struct up_conn *conn = conn_of(parser);
	struct upstream_call *call = conn->call;
	if (is_interim(parser))
		return 1; /* without content, whatever it says */
	if (parser->status_code < 200 || parser->status_code > 599 || parser->http_major != 1)
		return HPE_USER;
	struct upstream_answer answer = {
		.status = parser->status_code,
		.fields = http_collect_fields(&call->collect),
		.field_count = call->collect.count,
	};
	if (!length_read(&answer, parser->http_minor >= 1))
		return HPE_USER;
	call->has_head = true;
	bool is_head = call->is_head;
	call->handler->on_answer(call->user, &answer);
	if (conn->call != call)
		return HPE_USER;
	return is_head ? 1 : 0;
}

static int on_body(llhttp_t *parser, const char *at, size_t length)
{
	struct up_conn *conn = conn_of(parser);
	struct upstream_call *call = conn->call;
	call->handler->on_content(call->user, at, length);
	return conn->call == call ? 0 : HPE_USER;
}

static int on_message_complete(llhttp_t *parser)
{
	struct up_conn *conn = conn_of(parser);
	if (!conn->call->has_head)
		return 0;
	conn->is_complete = true;
	return HPE_PAUSED;
}

static const llhttp_settings_t CALLBACKS = {
	.on_message_begin = on_message_begin,
	.on_header_field = on_header_field,
	.on_header_field_complete = on_header_field_complete,
	.on_header_value = on_header_value,
	.on_header_value_complete = on_header_value_complete,
	.on_headers_complete = on_headers_complete,
	.on_body = on_body,
	.on_message_complete = on_message_complete,
};

void up_answer_init(struct up_conn *conn)
{
	llhttp_init(&conn->parser, HTTP_RESPONSE, &CALLBACKS);
	conn->parser.data = conn;
}

/* After the parser has run: the call ended in a callback, the answer is complete, or it is none. */
static void answer_settle(struct up_conn *conn, llhttp_errno_t error, const char *end)
{
	if (conn->call == NULL)
		return;
	if (conn->is_complete) {
		/* Bytes behind the answer: nobody asked for them. */
		if (end != NULL && llhttp_get_error_pos(&conn->parser) != end)
			conn->call->is_sent = false;
		up_conn_finish(conn);
	} else if (error != HPE_OK) {
		up_conn_fail(conn, ERR_UPSTREAM, "the answer breaks the rules of HTTP/1.1");
	}
}

void up_answer_feed(struct up_conn *conn, const char *data, size_t length)
{
	struct upstream_call *call = conn->call;
	conn->has_bytes = true;
	if (!call->has_head) {
		call->head_bytes += length;
		if (call->head_bytes >
		    conn->upstream->limits->head_max_bytes + UPSTREAM_READ_BYTES) {
			up_conn_fail(conn, ERR_UPSTREAM, "the answer's head is too large");
			return;
		}
	}
	conn->is_parsing = true;
	llhttp_errno_t error = llhttp_execute(&conn->parser, data, length);
	conn->is_parsing = false;
	answer_settle(conn, error, data + length);
}

void up_answer_eof(struct up_conn *conn)
{
	if (!conn->call->has_head) {
		up_conn_fail(conn, ERR_UNAVAILABLE, "the service closed the connection");
		return;
	}
	conn->is_parsing = true;
	llhttp_errno_t error = llhttp_finish(&conn->parser);
	conn->is_parsing = false;
	if (conn->call != NULL && !conn->is_complete)
		up_conn_fail(conn, ERR_UPSTREAM, "the answer is cut short");
	else
		answer_settle(conn, error, NULL);
}
