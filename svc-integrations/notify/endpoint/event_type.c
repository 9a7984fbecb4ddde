#include "notify/endpoint/event_type.h"

#include "base/base.h"
#include "event_types.h"
#include "input/input.h"
#include "json/json.h"
#include "reply/reply.h"

#include <string.h>

struct list_input {
	int64_t limit, offset;
};

static const struct field LIST_FIELDS[] = {
	QUERY_LIMIT(struct list_input, limit, 100, 100),
	QUERY_OFFSET(struct list_input, offset),
	FIELD_END,
};

void event_type_list(struct request *rq)
{
	struct list_input *in = request_input(rq, struct list_input, LIST_FIELDS);
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_val *types = json_parse_own(rq->arena, EVENT_TYPES_JSON);
	yyjson_mut_doc_set_root(doc, yyjson_val_mut_copy(doc, types));
	reply_doc_page(rq, doc, in->limit, in->offset);
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
