/** The types of messages: the `webhooks` of the API's description, which
 * libcommon/tools/event_types.py embeds. */
#pragma once

#include "loop/request.h"

#include <yyjson.h>

/** The `data` of a type's example, in the arena; NULL: there is no such type. */
yyjson_val *event_type_example(struct arena *arena, const char *type);

/** GET /webhooks/event-types */
void event_type_list(struct request *rq);

/** Add a fault of the field `events` to the request's problem for each member of the array that no
 * message can match: neither a type, nor `*`, nor the beginning of one, such as `run.*`. */
void event_types_check(struct request *rq, yyjson_val *wanted);
