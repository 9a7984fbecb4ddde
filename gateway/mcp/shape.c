#include "mcp/shape.h"

#include "base/base.h"
#include "base/utf8.h"
#include "json/json.h"
#include "mcp/clean_text.h"

#define ELLIPSIS "..."

#define TEXT_MIN 40 /* characters that a text keeps at any scale */

/* The byte length of the first `max` characters. */
static size_t first_characters(const char *text, size_t length, size_t max)
{
	size_t at = 0;
	for (size_t count = 0; at < length && count < max; count++) {
		size_t sequence = utf8_sequence(text + at, length - at);
		at += sequence ? sequence : 1;
	}
	return at;
}

static yyjson_mut_val *shape_text(struct shaping *shaping, yyjson_val *shape, yyjson_val *value)
{
	size_t length, first = (size_t)json_get_int(shape, "first", 0);
	size_t cut = (size_t)json_get_int(shape, "cut", 0);
	const char *text =
		clean_text(shaping->arena, yyjson_get_str(value), yyjson_get_len(value), &length);
	if (first)
		length = first_characters(text, length, first);
	if (cut > TEXT_MIN)
		cut = MAX_OF(cut / shaping->scale, TEXT_MIN);
	size_t kept = cut ? first_characters(text, length, cut) : length;
	if (kept == length)
		return yyjson_mut_strn(shaping->doc, text, length);
	shaping->is_cut = true;
	struct buf out = {.arena = shaping->arena};
	buf_add(&out, text, kept);
	buf_puts(&out, ELLIPSIS);
	return yyjson_mut_strn(shaping->doc, out.data, out.length);
}

static yyjson_mut_val *shape_array(struct shaping *shaping, yyjson_val *shape, yyjson_val *value)
{
	yyjson_mut_val *array = yyjson_mut_arr(shaping->doc);
	yyjson_val *items = yyjson_obj_get(shape, "items"), *item;
	size_t size = yyjson_arr_size(value), index, count;
	size_t most = MIN_OF((size_t)json_get_int(shape, "most", INT64_MAX), size);
	most = (most + shaping->scale - 1) / shaping->scale;
	yyjson_arr_foreach (value, index, count, item)
		if (index < most)
			yyjson_mut_arr_append(array, shape_apply(shaping, items, item));
	shaping->is_cut |= most < size;
	return array;
}

/* An object whose members all stay, but for null ones. */
static yyjson_mut_val *copy_object(struct shaping *shaping, yyjson_val *value)
{
	yyjson_mut_val *object = yyjson_mut_obj(shaping->doc);
	yyjson_val *name, *member;
	size_t index, count;
	json_obj_foreach (value, index, count, name, member) {
		if (!yyjson_is_null(member))
			yyjson_mut_obj_add(object, shape_text(shaping, NULL, name),
			                   shape_apply(shaping, NULL, member));
	}
	return object;
}

static yyjson_mut_val *shape_object(struct shaping *shaping, yyjson_val *shape, yyjson_val *value)
{
	yyjson_val *members = yyjson_obj_get(shape, "members"), *name, *part;
	size_t index, count;
	if (!members)
		return copy_object(shaping, value);
	yyjson_mut_val *object = yyjson_mut_obj(shaping->doc);
	json_obj_foreach (members, index, count, name, part) {
		const char *from = json_get_text(part, "from");
		yyjson_val *member = json_at(value, from ? from : yyjson_get_str(name));
		if (member && !yyjson_is_null(member))
			yyjson_mut_obj_add(object,
			                   yyjson_mut_str(shaping->doc, yyjson_get_str(name)),
			                   shape_apply(shaping, part, member));
	}
	return object;
}

yyjson_mut_val *shape_apply(struct shaping *shaping, yyjson_val *shape, yyjson_val *value)
{
	if (yyjson_is_str(value))
		return shape_text(shaping, shape, value);
	if (yyjson_is_arr(value))
		return shape_array(shaping, shape, value);
	if (yyjson_is_obj(value))
		return shape_object(shaping, shape, value);
	return yyjson_val_mut_copy(shaping->doc, value);
}
