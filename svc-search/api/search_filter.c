#include "api/search_filter.h"

#include "base/timefmt.h"
#include "harvest/source.h"
#include "input/input.h"
#include "json/json.h"
#include "request/http_request.h"

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

struct filter search_filter_of_body(struct request *rq)
{
	struct filter filter = {0};
	yyjson_val *body = rq->http->json, *container = json_get(body, "has_container");
	filter.categories =
		json_texts(rq->arena, json_get(body, "categories"), &filter.category_count);
	filter.sources = json_texts(rq->arena, json_get(body, "sources"), &filter.source_count);
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
