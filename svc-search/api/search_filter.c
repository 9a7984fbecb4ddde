#include "api/search_filter.h"

#include "base/timefmt.h"
#include "ingest/source.h"
#include "json/json.h"
#include "service/http_request.h"
#include "service/input.h"

#include <string.h>

#define DAY_MS INT64_C(86400000)

void search_filter_check(struct request *rq)
{
	size_t index, count;
	yyjson_val *name;
	yyjson_arr_foreach (json_get(request_body(rq), "sources"), index, count, name) {
		if (yyjson_is_str(name) && !source_find(yyjson_get_str(name)))
			problem_add_field(rq->arena, &rq->problem, "sources",
			                  "item %zu must be arxiv, biorxiv or medrxiv", index);
	}
}

/* The strings of a member of the body. */
static const char *const *strings(struct request *rq, const char *name, size_t *ret_count)
{
	yyjson_val *list = json_get(rq->http->json, name);
	const char **texts = arena_array(rq->arena, yyjson_arr_size(list) + 1, sizeof(*texts));
	size_t index, count;
	yyjson_val *item;
	yyjson_arr_foreach (list, index, count, item)
		texts[index] = yyjson_get_str(item);
	*ret_count = yyjson_arr_size(list);
	return texts;
}

struct filter search_filter_of_body(struct request *rq)
{
	struct filter filter = {0};
	yyjson_val *container = json_get(rq->http->json, "has_container");
	filter.categories = strings(rq, "categories", &filter.category_count);
	filter.sources = strings(rq, "sources", &filter.source_count);
	if (yyjson_is_bool(container))
		filter.container = yyjson_get_bool(container) ? CONTAINER_WITH : CONTAINER_WITHOUT;
	return filter;
}

void search_filter_since(struct filter *filter, const char *date)
{
	int64_t since_ms;
	if (!date || !date_parse(date, strlen(date), &since_ms))
		return;
	filter->has_published_since = true;
	filter->published_since = (int32_t)(since_ms / DAY_MS);
}
