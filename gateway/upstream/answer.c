#include "upstream/answer.h"

#include "upstream/upstream.h"

#include <strings.h>

static bool is_interim(const llhttp_t *parser)
{
	return parser->status_code >= 100 && parser->status_code < 200 &&
	       parser->status_code != 101;
}

static int on_message_begin(llhttp_t *parser)
{
	struct answer_reader *reader = parser->data;
	if (reader->has_head)
		return HPE_USER; /* a second answer */
	head_builder_init(&reader->collect, reader->arena);
	return 0;
}

/* Fields after the head are trailers; they are ignored. */

static int on_header_field(llhttp_t *parser, const char *at, size_t length)
{
	struct answer_reader *reader = parser->data;
	if (reader->has_head)
		return 0;
	size_t fields_max = reader->limits->fields_max;
	return head_builder_name(&reader->collect, at, length, fields_max) ? 0 : HPE_USER;
}

static int on_header_field_complete(llhttp_t *parser)
{
	struct answer_reader *reader = parser->data;
	if (!reader->has_head)
		head_builder_name_end(&reader->collect);
	return 0;
}

static int on_header_value(llhttp_t *parser, const char *at, size_t length)
{
	struct answer_reader *reader = parser->data;
	if (!reader->has_head)
		head_builder_value(&reader->collect, at, length);
	return 0;
}

static int on_header_value_complete(llhttp_t *parser)
{
	struct answer_reader *reader = parser->data;
	if (!reader->has_head)
		head_builder_value_end(&reader->collect);
	return 0;
}

/* Set the content's length from the fields. Returns false when they are invalid or contradict each
 * other. HTTP/1.0 has no transfer codings (RFC 9112 section 6.1). */
static bool length_read(struct upstream_answer *answer, bool may_be_coded)
{
	bool is_coded = false;
	answer->content_length = -1;
	for (size_t i = 0; i < answer->field_count; i++) {
		const struct http_field *field = &answer->fields[i];
		if (http_field_is(field, "Transfer-Encoding")) {
			if (is_coded || !may_be_coded || strcasecmp(field->value, "chunked") != 0)
				return false;
			is_coded = true;
		} else if (http_field_is(field, "Content-Length")) {
			if (answer->content_length >= 0)
				return false;
			answer->content_length = http_field_length(field);
			if (answer->content_length < 0)
				return false;
		}
	}
	return !is_coded || answer->content_length < 0;
}

static int on_headers_complete(llhttp_t *parser)
{
	struct answer_reader *reader = parser->data;
	if (is_interim(parser))
		return 1; /* an interim answer has no content, even if its fields announce some */
	if (parser->status_code < 200 || parser->status_code > 599 || parser->http_major != 1)
		return HPE_USER;
	struct upstream_answer answer = {
		.status = parser->status_code,
		.fields = head_builder_fields(&reader->collect),
		.field_count = reader->collect.count,
	};
	if (!length_read(&answer, parser->http_minor >= 1))
		return HPE_USER;
	reader->has_head = true;
	reader->handler->on_answer(reader->user, &answer);
	if (reader->is_stopped)
		return HPE_USER;
	return reader->is_head ? 1 : 0;
}

static int on_body(llhttp_t *parser, const char *at, size_t length)
{
	struct answer_reader *reader = parser->data;
	reader->handler->on_content(reader->user, at, length);
	return reader->is_stopped ? HPE_USER : 0;
}

static int on_message_complete(llhttp_t *parser)
{
	struct answer_reader *reader = parser->data;
	if (!reader->has_head)
		return 0; /* an interim answer */
	reader->is_complete = true;
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

void answer_init(struct answer_reader *reader, struct arena *arena,
                 const struct upstream_limits *limits, const struct upstream_handler *handler,
                 void *user, bool is_head)
{
	*reader = (struct answer_reader){
		.arena = arena,
		.limits = limits,
		.handler = handler,
		.user = user,
		.is_head = is_head,
	};
	llhttp_init(&reader->parser, HTTP_RESPONSE, &CALLBACKS);
	reader->parser.data = reader;
}

void answer_stop(struct answer_reader *reader)
{
	reader->is_stopped = true;
}

enum err_code answer_read(struct answer_reader *reader, const char *data, size_t length,
                          const char **ret_reason)
{
	reader->has_bytes = true;
	if (!reader->has_head) {
		reader->head_bytes += length;
		/* These bytes may hold content too: allow one read more than the limit. */
		if (reader->head_bytes > reader->limits->head_max_bytes + ANSWER_READ_BYTES) {
			*ret_reason = "the answer's head is too large";
			return ERR_UPSTREAM;
		}
	}
	llhttp_errno_t error = llhttp_execute(&reader->parser, data, length);
	if (reader->is_stopped)
		return ERR_NONE;
	if (reader->is_complete) {
		reader->has_excess = llhttp_get_error_pos(&reader->parser) != data + length;
		return ERR_NONE;
	}
	if (error == HPE_OK)
		return ERR_NONE;
	*ret_reason = "the answer is not valid HTTP/1.1";
	return ERR_UPSTREAM;
}

enum err_code answer_read_eof(struct answer_reader *reader, const char **ret_reason)
{
	if (!reader->has_head) {
		*ret_reason = "the service closed the connection";
		return ERR_UNAVAILABLE;
	}
	(void)llhttp_finish(&reader->parser);
	if (reader->is_stopped || reader->is_complete)
		return ERR_NONE;
	*ret_reason = "the answer is incomplete";
	return ERR_UPSTREAM;
}
