/** Checking a value against a schema: the keywords of JSON Schema 2020-12 that the tools' input
 * schemas use (tools_header.py): type, enum, format uuid, pattern, the bounds of numbers, texts and
 * arrays, items, properties, required, additionalProperties false. Other formats are left to the
 * operation. */
#pragma once

#include "base/arena.h"

#include <yyjson.h>

/** Compile the patterns of a schema, those of its properties and items included: once, before other
 * threads start, and before a value is checked against it. The process keeps them. */
void schema_start(yyjson_val *schema);

/** Append a line for each fault of the value, which is named `name` ("": the arguments as a whole):
 *
 *     limit: must be at most 10
 *     perod: is no argument of this tool
 *
 * Of more than 20 the last line is `and others`, and they are not looked for. Returns how many
 * lines there are. */
size_t schema_faults(struct buf *out, yyjson_val *schema, yyjson_val *value, const char *name);
