#include "api/search_filter.h"

#include "base/timefmt.h"
#include "json/json.h"
#include "service/http_request.h"

#include <string.h>

#define DAY_MS INT64_C(86400000)

struct filter search_filter_of_body(struct request *rq)
{
	struct filter filter = {0};
	yyjson_val *categories = json_get(rq->http->json, "categories");
	yyjson_val *container = json_get(rq->http->json, "has_container");
	const char **names =
		arena_array(rq->arena, yyjson_arr_size(categories) + 1, sizeof(*names));
	size_t index, count;
	yyjson_val *item;
	yyjson_arr_foreach (categories, index, count, item)
		names[filter.category_count++] = yyjson_get_str(item);
	filter.categories = names;
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
