/** The answer's field X-Ignored-Fields: the members of the body that were ignored because no row of
 * the operation's table (input.h) names them, separated by commas:
 *
 *     X-Ignored-Fields: nmae, messages[2].rol, not%20a%20name
 *
 * All bytes of a member's name but letters, digits, `-`, `_` and `~` are percent-encoded, since the
 * client chose them. A name of more than 100 bytes, and a list of more than 1,000, is cut and ends
 * with `...`. */
#pragma once

#include "input/input.h"
#include "loop/request.h"

#include <yyjson.h>

/** Add the members of the body that the table does not name, also those of nested objects whose
 * rows have OTHERS_IGNORED. `read_count`: of the body's members, those that a row reads. */
void ignored_fields_of_body(struct request *rq, const struct field *fields, size_t read_count);

/** Add the members of item `index` of the array `array` that are none of `names`, which ends with
 * NULL. For values that a table cannot declare. */
void ignored_fields_of_item(struct request *rq, const char *array, size_t index, yyjson_val *item,
                            const char *const *names);

/** The value of the field; NULL: nothing was ignored. */
const char *ignored_fields_list(const struct request *rq);
