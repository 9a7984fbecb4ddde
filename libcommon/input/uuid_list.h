/** UUIDs of a parameter that may be repeated, and whose values may name several with commas. */
#pragma once

#include "loop/request.h"

#include <yyjson.h>

/** The UUIDs of `values`, the JSON array of texts that a REPEATED row of fields gives, in their
 * order, as texts in their canonical form. NULL: one is none. */
yyjson_mut_val *uuid_list_read(struct request *rq, yyjson_mut_doc *doc, const char *values);
