#include "notify/endpoint/event_type.h"

#include "base/base.h"
#include "event_types.h"
#include "input/input.h"
#include "json/json.h"
#include "reply/reply.h"

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

bool event_type_is_known(const char *wanted, size_t length)
{
	bool is_prefix = length >= 2 && strcmp(wanted + length - 2, ".*") == 0;
	if (strcmp(wanted, "*") == 0)
		return true;
	for (size_t i = 0; EVENT_TYPES[i]; i++)
		if (is_prefix ? strncmp(EVENT_TYPES[i], wanted, length - 1) == 0
		              : strcmp(EVENT_TYPES[i], wanted) == 0)
			return true;
	return false;
}
