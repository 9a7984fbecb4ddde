/* code_host_events_read(): whatever a delivery says, its events are bounded and of one form. The
 * first line of the input is the kind of event. */
#include "webhook/code_host_event.h"

#include "base/base.h"
#include "fuzz.h"
#include "json/json.h"

#include <string.h>

#define EVENT_MAX_BYTES 32768
#define MEMBERS         17

static void check_event(struct arena *arena, yyjson_val *event)
{
	size_t length;
	yyjson_val *data = json_get(event, "data");
	json_write(arena, data, &length);
	require(length <= EVENT_MAX_BYTES && yyjson_obj_size(data) == MEMBERS);
	require(strlen(json_get_text(event, "id")) == 36 && json_get_text(event, "lane")[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();
	const char *text = (const char *)data;
	const char *end = size ? memchr(text, '\n', size) : NULL;
	const char *event = end ? arena_strndup(arena, text, (size_t)(end - text)) : "";
	if (end && code_host_name_is_valid(event)) {
		struct code_host_events found =
			code_host_events_read(arena, event, "delivery", end + 1,
		                              size - (size_t)(end + 1 - text));
		yyjson_val *events, *item;
		size_t i, max;
		require(!json_parse(arena, found.json, strlen(found.json), &events, NULL));
		require(yyjson_arr_size(events) == found.count);
		require((found.count == 0) == (found.ignored != NULL));
		yyjson_arr_foreach (events, i, max, item)
			check_event(arena, item);
	}
	arena_free(arena);
	return 0;
}
