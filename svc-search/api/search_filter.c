#include "api/search_filter.h"

#include "base/timefmt.h"
#include "json/json.h"
#include "request/http_request.h"

#include <string.h>

#define DAY_MS INT64_C(86400000)

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
