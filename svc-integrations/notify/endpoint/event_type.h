/** The types of messages: the `webhooks` of the API's description, which
 * libcommon/tools/event_types.py embeds. */
#pragma once

#include "loop/request.h"

#include <yyjson.h>

/** The `data` of a type's example, in the arena; NULL: there is no such type. */
yyjson_val *event_type_example(struct arena *arena, const char *type);

/** GET /webhooks/event-types */
void event_type_list(struct request *rq);

/** Whether messages can match: it is a type, `*`, or the beginning of one, such as `run.*`. */
bool event_type_is_known(const char *text, size_t length);
