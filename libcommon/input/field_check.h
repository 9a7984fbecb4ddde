/** Checks single values against rows of an input table (input.h). For input.c, and for commands
 * that check files with the same tables. */
#pragma once

#include "base/arena.h"
#include "input/input.h"
#include "json/problem.h"

#include <yyjson.h>

/** One checked value, for the handler's struct and for request_body_json(). */
struct field_value {
	const char *text; /* types that are `const char *`; NULL: null or absent */
	int64_t integer;
	double number;
	bool boolean;
	bool is_null;
	yyjson_val *json; /* the client's own value; NULL: null or absent */
};

/** The value of a row that is absent. */
struct field_value field_fallback(const struct field *field);

/** Check `text` from a path or query. Returns NULL when it fits the row; otherwise a message for
 * the client, in the arena or static. */
const char *field_check_text(struct arena *arena, const struct field *field, const char *text,
                             struct field_value *ret_value);

/** As field_check_text(), for a member of a JSON body. Does not check nested members. */
const char *field_check_json(struct arena *arena, const struct field *field, yyjson_val *json,
                             struct field_value *ret_value);

/** Check the members that the row declares for an object or for the objects in an array (struct
 * field, `members`), and add every fault to `problem`. */
void field_check_nested(struct arena *arena, struct problem *problem, const struct field *field,
                        yyjson_val *json);

/** Check the members of a whole body against a table, and add every fault to `problem`. */
void field_check_members(struct arena *arena, struct problem *problem, yyjson_val *object,
                         const struct field *members);
