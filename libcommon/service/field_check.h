/** Checks of single values, by field type; internal to the input tables (field.h). */
#pragma once

#include "base/arena.h"
#include "base/problem.h"
#include "service/field.h"

#include <yyjson.h>

/** One checked value: what goes into the struct and what goes into request_body_json(). */
struct field_value {
	const char *text; /* text-like types; NULL: null or absent */
	int64_t integer;
	double number;
	bool boolean;
	bool is_null;
	yyjson_val *json; /* objects and arrays: the client's own */
};

/** Why a value does not fit its row: a message for the client in the arena, or NULL when it
 * fits. */

/** Check `text` as it came in a path or query. */
const char *field_check_text(struct arena *arena, const struct field *field, const char *text,
                             struct field_value *ret_value);

/** Check a member of a JSON body. */
const char *field_check_json(struct arena *arena, const struct field *field, yyjson_val *json,
                             struct field_value *ret_value);

/** Check what is nested in a value that fits its row (struct field, `members`), called `path` in
 * faults. */
void field_check_nested(struct arena *arena, struct problem *problem, const char *path,
                        const struct field *field, yyjson_val *json);

/** Check an object against a table and note every fault; `path` is what the object is called, ""
 * for a body. */
void field_check_members(struct arena *arena, struct problem *problem, const char *path,
                         yyjson_val *object, const struct field *members);
