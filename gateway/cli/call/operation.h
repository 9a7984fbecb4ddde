/** The operations of the public interface, as its description lists them. The build makes the table
 * (libcommon/tools/operation_table.py), so that each operation can be called and is documented
 * here without code of its own. */
#pragma once

#include "program/cli.h"

#include <yyjson.h>

#include <stdbool.h>

/** Where a field of a request goes. */
enum field_place { FIELD_PATH, FIELD_QUERY, FIELD_HEADER, FIELD_BODY };

/** The JSON type of a field; KIND_ANY: of several. */
enum field_kind {
	KIND_TEXT,
	KIND_INTEGER,
	KIND_NUMBER,
	KIND_BOOLEAN,
	KIND_ARRAY,
	KIND_OBJECT,
	KIND_ANY
};

struct operation_field {
	const char *name;
	enum field_place place;
	enum field_kind kind;
	bool is_required;
	const char *values; /* the allowed ones, `today week`; "": others, too */
	const char *description;
};

struct operation {
	const char *id, *method;
	const char *path; /* the template, /api/v1.0/interests/{interest_id} */
	const char *tag, *scope, *summary, *description;
	bool has_body;
	bool needs_key;
	const struct operation_field *fields; /* ends with a row without a name */
};

/** All of them; ends with a row without an id. */
const struct operation *operations(void);

/** The operation of this id; NULL: there is none. */
const struct operation *operation_find(const char *id);

/** Its field of this name; NULL: it has none. */
const struct operation_field *operation_field(const struct operation *operation, const char *name);

/** Whether a request may be sent again when nobody knows whether it arrived. */
bool operation_is_repeatable(const struct operation *operation);
