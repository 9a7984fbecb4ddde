#include "notify/event_type.h"

#include "base/base.h"
#include "event_types.h"
#include "json/problem.h"
#include "service/input.h"
#include "service/reply.h"

#include <string.h>

void event_type_list(struct request *rq)
{
	request_input_none(rq);
	reply_json_length(rq, 200, EVENT_TYPES_JSON, sizeof(EVENT_TYPES_JSON) - 1);
}

/* `*`, a type, or what types begin with up to a point, and `*`. */
static bool matches_a_type(const char *wanted)
{
	size_t length = strlen(wanted);
	bool is_prefix = length >= 2 && strcmp(wanted + length - 2, ".*") == 0;
	if (strcmp(wanted, "*") == 0)
		return true;
	for (size_t i = 0; EVENT_TYPES[i]; i++)
		if (is_prefix ? strncmp(EVENT_TYPES[i], wanted, length - 1) == 0
		              : strcmp(EVENT_TYPES[i], wanted) == 0)
			return true;
	return false;
}

void event_types_check(struct request *rq, yyjson_val *wanted)
{
	size_t index, count;
	yyjson_val *item;
	if (!yyjson_is_arr(wanted))
		return;
	yyjson_arr_foreach (wanted, index, count, item) {
		const char *text = yyjson_get_str(item);
		if (text && !matches_a_type(text))
			problem_add_field(
				rq->arena, &rq->problem,
				arena_printf(rq->arena, "events[%zu]", index),
				"is no type of messages; GET /webhooks/event-types lists them");
	}
}
