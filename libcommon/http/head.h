/** The head of an HTTP message: its start line and fields, and collecting them from a parser. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** One field line; name and value are NUL-terminated. */
struct http_field {
	const char *name;
	const char *value;
	uint32_t name_length;
	uint32_t value_length;
};

/** A request's head, in the arena of its exchange. */
struct http_head {
	const char *method; /* `GET` */
	const char *target; /* origin-form, as received; `*` in an OPTIONS for the whole server */
	size_t method_length;
	size_t target_length;
	size_t path_length; /* the part of the target before `?` */
	const char *query;  /* the part after `?`; NULL: none */
	size_t query_length;
	int minor_version; /* HTTP/1.x */
	struct http_field *fields;
	size_t field_count;
	int64_t content_length; /* -1: not given (no content, or chunked) */
	bool is_chunked;
	bool has_content; /* a Content-Length above 0, or chunked */
	bool is_head;     /* HEAD: the response is sent without content */
};

/** The reason phrase of a status; "" for an unknown one. */
const char *http_reason(int status);

/** The class of a status, `4xx`: the label of metrics, whose series single statuses would
 * multiply. */
const char *http_status_class(int status);

/** Make a field of two NUL-terminated strings; borrows them. */
struct http_field http_field_of(const char *name, const char *value);

/** Whether the field has this name, compared without case. */
bool http_field_is(const struct http_field *field, const char *name);

/** The length that a Content-Length field gives (RFC 9110 section 8.6); -1: it gives none, or one
 * of more than 18 digits. */
int64_t http_field_length(const struct http_field *field);

/** The value of the first field with that name, compared without case; NULL: none. */
const char *http_head_get(const struct http_head *head, const char *name);

/** Whether a Content-Type is `wanted`, with parameters or without. NULL: it is none. */
bool http_type_is(const char *type, const char *wanted);

/** The number of fields with that name. */
size_t http_head_count(const struct http_head *head, const char *name);

/** The request id: the value of X-Request-Id when there is exactly one and it consists of 1 to
 * REQUEST_ID_MAX letters, digits, `.`, `_` and `-`; otherwise a new one in the arena. */
const char *http_head_request_id(const struct http_head *head, struct arena *arena);

/** Offsets and lengths of one field in the text of a head_builder. No pointers: the text moves when
 * it grows. */
struct http_field_span {
	uint32_t name, name_length, value, value_length;
};

/** Collects the strings of a head from the pieces that a parser delivers. The text holds them one
 * after the other, each with a NUL. Used for requests and for responses. */
struct head_builder {
	struct buf text;
	struct http_field_span *spans;
	size_t count, capacity;
};

/** Start collecting in `arena`. */
void head_builder_init(struct head_builder *collect, struct arena *arena);

/** Add a piece of a name. It starts a new field when the previous name is complete. False: there
 * are `fields_max` fields already. */
bool head_builder_name(struct head_builder *collect, const char *at, size_t length,
                       size_t fields_max);
void head_builder_name_end(struct head_builder *collect);

/** Add a piece of the value of the last field. */
void head_builder_value(struct head_builder *collect, const char *at, size_t length);
void head_builder_value_end(struct head_builder *collect);

/** The fields, in the arena, without the white space after values. Call it last: the fields point
 * into the text, which must not grow afterwards. */
struct http_field *head_builder_fields(struct head_builder *collect);
