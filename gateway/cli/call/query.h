/** A request to an operation: its path, query, fields of the header and body, from named values. */
#pragma once

#include "call/operation.h"

struct query {
	struct cli *cli;
	const struct operation *operation;
	yyjson_mut_doc *doc;
	yyjson_mut_val
		*values; /* the members of path, query and header, each a text or a list of texts */
	yyjson_mut_val *body; /* the members of the body; NULL: none was set */
	const char *content;  /* a body as it is to be sent; NULL: made of `body` */
	size_t content_length;
};

/** Begin a request to the operation of this id, which is in the table. In the arena. */
struct query *query_new(struct cli *cli, const char *operation_id);

/** Set a field to what a person wrote, which becomes JSON by the field's type: `5`, `true`; a list
 * or an object is JSON, and a list may also be given item by item, by setting the field again. For
 * a field of several types, what is JSON is JSON and other text is text. NULL sets nothing. Fails
 * for a text that the type does not have. The operation has the field (require()). */
void query_set(struct query *query, const char *name, const char *text);

/** Set a member of the body to a value, which is copied. */
void query_set_json(struct query *query, const char *name, yyjson_val *value);

/** Send these bytes as the body. Borrows. */
void query_set_content(struct query *query, const char *content, size_t length);

/** The path with its parameters, percent-encoded, and the query. In the arena. Fails when one of
 * the path is missing. */
const char *query_target(const struct query *query);

/** The text of a field of the path, the query or the header; NULL: it was not set, or is a list. */
const char *query_value(const struct query *query, const char *name);

/** The body; NULL: none. In the arena. */
const char *query_content(const struct query *query, size_t *ret_length);
