/** The strings of a message's head while its parser hands them out in pieces: kept one behind the
 * other, each with a NUL, and turned into fields at the end. For readers of requests and of
 * answers. */
#pragma once

#include "http/server.h"

/** Where a field lies in the text, while that can still move. */
struct http_place {
	uint32_t name, name_length, value, value_length;
};

struct http_collect {
	struct buf text;
	struct http_place *places;
	size_t count, capacity;
};

/** Start in `arena`. */
void http_collect_init(struct http_collect *collect, struct arena *arena);

/** A piece of a name; begins the next field when the last one has its value. False: `fields_max`
 * are there already. */
bool http_collect_name(struct http_collect *collect, const char *at, size_t length,
                       size_t fields_max);
void http_collect_name_end(struct http_collect *collect);

/** A piece of the value that belongs to the name before. */
void http_collect_value(struct http_collect *collect, const char *at, size_t length);
void http_collect_value_end(struct http_collect *collect);

/** The fields, in the arena; white space behind values is cut off. The text does not move from here
 * on. */
struct http_field *http_collect_fields(struct http_collect *collect);
