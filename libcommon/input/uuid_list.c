#include "input/uuid_list.h"

#include "crypto/uuid.h"
#include "json/json.h"

#include <string.h>

static bool add_uuids(struct request *rq, yyjson_mut_doc *doc, yyjson_mut_val *list,
                      const char *value)
{
	char *rest = arena_strdup(rq->arena, value);
	for (char *one; (one = strsep(&rest, ","));) {
		struct uuid id;
		char text[UUID_TEXT_LEN + 1];
		if (!uuid_parse(one, strlen(one), &id))
			return false;
		uuid_format(&id, text);
		yyjson_mut_arr_add_strcpy(doc, list, text);
	}
	return true;
}

yyjson_mut_val *uuid_list_read(struct request *rq, yyjson_mut_doc *doc, const char *values)
{
	yyjson_mut_val *list = yyjson_mut_arr(doc);
	size_t index, count;
	yyjson_val *value;
	yyjson_arr_foreach (json_parse_own(rq->arena, values), index, count, value)
		if (!add_uuids(rq, doc, list, yyjson_get_str(value)))
			return NULL;
	return list;
}
