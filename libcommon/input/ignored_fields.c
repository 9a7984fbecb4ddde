#include "input/ignored_fields.h"

#include "input/http_call.h"
#include "json/json.h"

#include <ctype.h>
#include <string.h>

#define NAME_MAX_BYTES 100  /* of a name, encoded */
#define LIST_MAX_BYTES 1000 /* of the field, before its last `...` */

/* Of a name with the place of its object, which is a name of a table and an index. */
#define PLACED_MAX_BYTES (NAME_MAX_BYTES + 100)

struct ignored_fields {
	struct buf list;
	bool is_full;
};

static struct ignored_fields *ignored_of(struct request *rq)
{
	if (!rq->http->ignored) {
		rq->http->ignored = arena_new_of(rq->arena, struct ignored_fields);
		rq->http->ignored->list.arena = rq->arena;
	}
	return rq->http->ignored;
}

/* Append a name that the client chose. */
static void add_encoded(struct buf *out, const char *name, size_t length)
{
	size_t start = out->length;
	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)name[i];
		if (out->length - start >= NAME_MAX_BYTES) {
			buf_puts(out, "...");
			return;
		}
		if (isalnum(byte) || (byte && strchr("-_~", byte)))
			buf_add(out, &byte, 1);
		else
			buf_printf(out, "%%%02X", byte);
	}
}

/* Where an object is: the body, a member of it, or an item of an array. */
struct place {
	const char *member; /* NULL: the body */
	bool is_item;
	size_t index;
};

static void add_place(struct buf *list, const struct place *place)
{
	if (place->member)
		buf_puts(list, place->member);
	if (place->is_item)
		buf_printf(list, "[%zu]", place->index);
	if (place->member)
		buf_puts(list, ".");
}

/* Add a member of the object at `place`. False: the list is full. */
static bool add_member(struct request *rq, const struct place *place, yyjson_val *name)
{
	struct ignored_fields *ignored = ignored_of(rq);
	struct buf *list = &ignored->list;
	if (ignored->is_full)
		return false;
	buf_puts(list, list->length ? ", " : "");
	ignored->is_full = list->length > LIST_MAX_BYTES - PLACED_MAX_BYTES;
	if (ignored->is_full) {
		buf_puts(list, "...");
		return false;
	}
	add_place(list, place);
	add_encoded(list, yyjson_get_str(name), yyjson_get_len(name));
	return true;
}

/* A row names a member that is read, or that may be sent back although it cannot be changed. */
static const struct field *row_of(const struct field *fields, const char *name)
{
	const struct field *field = fields;
	while (field->source != FIELD_END_OF_TABLE &&
	       (field->source == IN_PATH || field->source == IN_QUERY ||
	        strcmp(field->name, name) != 0))
		field++;
	return field->source == FIELD_END_OF_TABLE ? NULL : field;
}

static bool keeps_others(const struct field *fields)
{
	while (fields->source != FIELD_END_OF_TABLE && fields->source != OTHERS_KEPT)
		fields++;
	return fields->source == OTHERS_KEPT;
}

static void add_object(struct request *rq, const struct place *place, yyjson_val *object,
                       const struct field *fields)
{
	size_t index, count;
	yyjson_val *name, *value;
	json_obj_foreach (object, index, count, name, value)
		if (!row_of(fields, yyjson_get_str(name)) && !add_member(rq, place, name))
			return;
}

static void add_nested(struct request *rq, const struct field *field, yyjson_val *value)
{
	struct place place = {.member = field->name};
	size_t index, count;
	yyjson_val *item;
	if (yyjson_is_obj(value))
		add_object(rq, &place, value, field->members);
	yyjson_arr_foreach (value, index, count, item) {
		place.is_item = true;
		place.index = index;
		add_object(rq, &place, item, field->members);
	}
}

void ignored_fields_of_body(struct request *rq, const struct field *fields, size_t read_count)
{
	yyjson_val *body = rq->http->json;
	if (read_count < yyjson_obj_size(body) && !keeps_others(fields))
		add_object(rq, &(struct place){0}, body, fields);
	for (const struct field *field = fields; field->source != FIELD_END_OF_TABLE; field++)
		if (field->flags & OTHERS_IGNORED)
			add_nested(rq, field, json_get(body, field->name));
}

void ignored_fields_of_item(struct request *rq, const char *array, size_t index, yyjson_val *item,
                            const char *const *names)
{
	const struct place place = {.member = array, .is_item = true, .index = index};
	size_t at, count;
	yyjson_val *name, *value;
	json_obj_foreach (item, at, count, name, value) {
		const char *const *known = names;
		while (*known && strcmp(*known, yyjson_get_str(name)) != 0)
			known++;
		if (!*known && !add_member(rq, &place, name))
			return;
	}
}

const char *ignored_fields_list(const struct request *rq)
{
	return rq->http->ignored ? rq->http->ignored->list.data : NULL;
}
