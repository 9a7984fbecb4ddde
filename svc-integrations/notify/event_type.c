#include "notify/event_type.h"

#include "base/base.h"
#include "event_types.h"
#include "json/json.h"
#include "json/problem.h"
#include "service/input.h"
#include "service/reply.h"

#include <string.h>

void event_type_list(struct request *rq)
{
	request_input_none(rq);
	reply_json_length(rq, 200, EVENT_TYPES_JSON, sizeof(EVENT_TYPES_JSON) - 1);
}

yyjson_val *event_type_example(struct arena *arena, const char *type)
{
	size_t index, count;
	yyjson_val *row, *types = json_parse_own(arena, EVENT_TYPES_JSON);
	yyjson_arr_foreach (types, index, count, row) {
		if (strcmp(json_get_text(row, "type"), type) == 0)
			return json_get(json_get(row, "example"), "data");
	}
	return NULL;
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
