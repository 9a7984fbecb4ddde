#include "http/collect.h"

#define TEXT_START_BYTES 1024 /* most heads fit in it */
#define PLACES_START     24

void http_collect_init(struct http_collect *collect, struct arena *arena)
{
	*collect = (struct http_collect){
		.text = {.arena = arena,
	                 .data = arena_alloc(arena, TEXT_START_BYTES),
	                 .capacity = TEXT_START_BYTES},
		.places = arena_array(arena, PLACES_START, sizeof(struct http_place)),
		.capacity = PLACES_START,
	};
}

static struct http_place *place_last(const struct http_collect *collect)
{
	return &collect->places[collect->count - 1];
}

bool http_collect_name(struct http_collect *collect, const char *at, size_t length,
                       size_t fields_max)
{
	if (collect->count == 0 || place_last(collect)->value != 0) {
		if (collect->count == fields_max)
			return false;
		if (collect->count == collect->capacity) {
			size_t size = collect->capacity * sizeof(*collect->places);
			collect->places =
				arena_grow(collect->text.arena, collect->places, size, 2 * size);
			collect->capacity *= 2;
		}
		collect->places[collect->count++] =
			(struct http_place){.name = (uint32_t)collect->text.length};
	}
	buf_add(&collect->text, at, length);
	place_last(collect)->name_length += (uint32_t)length;
	return true;
}

void http_collect_name_end(struct http_collect *collect)
{
	buf_add(&collect->text, "", 1);
	place_last(collect)->value = (uint32_t)collect->text.length;
}

void http_collect_value(struct http_collect *collect, const char *at, size_t length)
{
	buf_add(&collect->text, at, length);
	place_last(collect)->value_length += (uint32_t)length;
}

void http_collect_value_end(struct http_collect *collect)
{
	buf_add(&collect->text, "", 1);
}

struct http_field *http_collect_fields(struct http_collect *collect)
{
	char *text = collect->text.data;
	struct http_field *fields =
		arena_array(collect->text.arena, collect->count, sizeof(*fields));
	for (size_t i = 0; i < collect->count; i++) {
		const struct http_place *place = &collect->places[i];
		char *value = text + place->value;
		uint32_t length = place->value_length;
		while (length > 0 && (value[length - 1] == ' ' || value[length - 1] == '\t'))
			length--;
		value[length] = '\0';
		fields[i] = (struct http_field){
			.name = text + place->name,
			.name_length = place->name_length,
			.value = value,
			.value_length = length,
		};
	}
	return fields;
}
