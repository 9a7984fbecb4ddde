/** The input of a handler: declared rows (field.h) are decoded and checked into a struct. */
#pragma once

#include "loop/request.h"
#include "service/field.h"
#include "service/http_request.h"

#include <stddef.h>

/** Decode and check the declared input into a new struct of `size` bytes; raises ERR_INVALID with
 * every fault. With body rows: ERR_MEDIA_TYPE when a body is there whose type is neither
 * application/json nor ends in +json, ERR_MALFORMED when it is not JSON, ERR_INVALID when it is not
 * an object; an absent body counts as `{}`. */
void *request_input_sized(struct request *rq, const struct field *fields, size_t size);
#define request_input(rq, type, fields) ((type *)request_input_sized((rq), (fields), sizeof(type)))

/** After request_input(): JSON text of an object with just the body members that the table declares
 * and the client sent, checked, text trimmed where declared, null where the client cleared it. What
 * INSERT and UPDATE statements read. */
const char *request_body_json(struct request *rq);

/** Raise ERR_INVALID unless the body named at least one declared member: for PUT and PATCH. */
void request_require_some(struct request *rq);

/** A request field (header) or query parameter, decoded; NULL: absent. */
const char *request_header(const struct request *rq, const char *name);
const char *request_query(const struct request *rq, const char *name);
