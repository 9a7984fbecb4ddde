#include "input/field_check.h"

#include "base/timefmt.h"
#include "base/url.h"
#include "base/utf8.h"
#include "crypto/uuid.h"
#include "json/json.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Types whose numbers are integers. */
static const bool IS_INTEGER[] = {
	[FIELD_INT] = true,
	[FIELD_ID] = true,
	[FIELD_LIMIT] = true,
	[FIELD_OFFSET] = true,
};

static bool has_bounds(const struct field *field)
{
	return field->min != 0 || field->max != 0;
}

/* Skip white space that pasted text contains: ASCII, no-break space, ideographic space. */
static const char *skip_space(const char *at, const char *end)
{
	for (;;) {
		if (at < end && (*at == ' ' || (*at >= '\t' && *at <= '\r')))
			at++;
		else if (end - at >= 2 && memcmp(at, "\xC2\xA0", 2) == 0)
			at += 2;
		else if (end - at >= 3 && memcmp(at, "\xE3\x80\x80", 3) == 0)
			at += 3;
		else
			return at;
	}
}

/* As skip_space(), from the end backwards. */
static const char *trim_end(const char *at, const char *end)
{
	for (;;) {
		if (end > at && (end[-1] == ' ' || (end[-1] >= '\t' && end[-1] <= '\r')))
			end--;
		else if (end - at >= 2 && memcmp(end - 2, "\xC2\xA0", 2) == 0)
			end -= 2;
		else if (end - at >= 3 && memcmp(end - 3, "\xE3\x80\x80", 3) == 0)
			end -= 3;
		else
			return end;
	}
}

static const char *check_text(struct arena *arena, const struct field *field, const char *text,
                              size_t length, struct field_value *ret)
{
	if (field->flags & TRIMMED) {
		const char *end = text + length;
		text = skip_space(text, end);
		length = (size_t)(trim_end(text, end) - text);
	}
	double count = (double)utf8_count(text, length);
	if (has_bounds(field) && (count < field->min || count > field->max)) {
		if (count < field->min && field->min == 1)
			return "must not be empty";
		return arena_printf(arena, "must have %.0f to %.0f characters", field->min,
		                    field->max);
	}
	const char *why = NULL;
	ret->text = arena_strndup(arena, text, length);
	if (field->check && !field->check(ret->text, length, &why))
		return why;
	return NULL;
}

static const char *check_uuid(struct arena *arena, const struct field *field, const char *text,
                              size_t length, struct field_value *ret)
{
	(void)field;
	struct uuid uuid;
	if (!uuid_parse(text, length, &uuid))
		return "must be a UUID";
	char canonical[UUID_TEXT_LEN + 1];
	uuid_format(&uuid, canonical);
	ret->text = arena_strdup(arena, canonical);
	return NULL;
}

static const char *check_enum(struct arena *arena, const struct field *field, const char *text,
                              size_t length, struct field_value *ret)
{
	struct buf list = {.arena = arena};
	for (const char *const *value = field->values; *value; value++) {
		if (strlen(*value) == length && memcmp(*value, text, length) == 0) {
			ret->text = *value;
			return NULL;
		}
		buf_printf(&list, "%s%s", list.length ? ", " : "", *value);
	}
	return arena_printf(arena, "must be one of %s", list.data);
}

static const char *check_date(struct arena *arena, const struct field *field, const char *text,
                              size_t length, struct field_value *ret)
{
	(void)field;
	int64_t day;
	if (!date_parse(text, length, &day))
		return "must be a date as YYYY-MM-DD, not before 1970-01-01";
	ret->text = arena_strndup(arena, text, length);
	return NULL;
}

static const char *check_time(struct arena *arena, const struct field *field, const char *text,
                              size_t length, struct field_value *ret)
{
	(void)field;
	int64_t time_ms;
	if (!time_parse(text, length, &time_ms))
		return "must be an RFC 3339 date and time, such as 2026-01-31T09:30:00Z, "
		       "not before 1970";
	char canonical[TIME_TEXT_LEN + 1];
	time_format(time_ms, canonical);
	ret->text = arena_strdup(arena, canonical);
	return NULL;
}

static const char *check_url(struct arena *arena, const struct field *field, const char *text,
                             size_t length, struct field_value *ret)
{
	const char *why;
	if (!url_is_link(text, length, &why))
		return why;
	return check_text(arena, field, url_canonical(arena, text), length, ret);
}

static const char *check_number(struct arena *arena, const struct field *field, double number)
{
	if (!isfinite(number))
		return "must be a finite number";
	if (has_bounds(field) && (number < field->min || number > field->max))
		return arena_printf(arena, "must be between %.15g and %.15g", field->min,
		                    field->max);
	return NULL;
}

static const char *check_int(struct arena *arena, const struct field *field, int64_t integer,
                             struct field_value *ret)
{
	ret->integer = integer;
	switch (field->type) {
	case FIELD_LIMIT:
		if (integer < 1)
			return "must be an integer of at least 1";
		ret->integer = MIN_OF(integer, (int64_t)field->max);
		return NULL;
	case FIELD_OFFSET:
		return integer < 0 ? "must be an integer of at least 0" : NULL;
	default:
		if (has_bounds(field) && (integer < field->min || integer > field->max))
			return arena_printf(arena, "must be an integer between %.0f and %.0f",
			                    field->min, field->max);
		return NULL;
	}
}

static const char *not_an_integer(const struct field *field)
{
	return field->type == FIELD_LIMIT    ? "must be an integer of at least 1"
	       : field->type == FIELD_OFFSET ? "must be an integer of at least 0"
	                                     : "must be an integer";
}

typedef const char *text_check(struct arena *arena, const struct field *field, const char *text,
                               size_t length, struct field_value *ret);

static text_check *const TEXT_CHECKS[] = {
	[FIELD_TEXT] = check_text, [FIELD_UUID] = check_uuid, [FIELD_ENUM] = check_enum,
	[FIELD_DATE] = check_date, [FIELD_TIME] = check_time, [FIELD_URL] = check_url,
	[FIELD_OFFSET] = NULL,
};

/* Read a decimal integer. One that does not fit becomes INT64_MIN or INT64_MAX, which the bounds of
 * the row then refuse. */
static bool read_integer(const char *text, int64_t *ret)
{
	char *end;
	if (!(isdigit((unsigned char)text[0]) ||
	      (text[0] == '-' && isdigit((unsigned char)text[1]))))
		return false;
	errno = 0;
	*ret = strtoll(text, &end, 10);
	return *end == '\0';
}

static const char *number_from_text(struct arena *arena, const struct field *field,
                                    const char *text, struct field_value *ret)
{
	char *end;
	if (field->type == FIELD_FLOAT) {
		ret->number = strtod(text, &end);
		if (end == text || *end || isspace((unsigned char)*text))
			return "must be a number";
		return check_number(arena, field, ret->number);
	}
	int64_t integer;
	if (!read_integer(text, &integer))
		return not_an_integer(field);
	return check_int(arena, field, integer, ret);
}

const char *field_check_text(struct arena *arena, const struct field *field, const char *text,
                             struct field_value *ret)
{
	if (TEXT_CHECKS[field->type])
		return TEXT_CHECKS[field->type](arena, field, text, strlen(text), ret);
	if (field->type == FIELD_BOOL) {
		ret->boolean = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
		if (!ret->boolean && strcmp(text, "false") != 0 && strcmp(text, "0") != 0)
			return "must be true or false";
		return NULL;
	}
	return number_from_text(arena, field, text, ret);
}

struct field_value field_fallback(const struct field *field)
{
	return (struct field_value){
		.integer = field->fallback,
		.number = (double)field->fallback,
		.boolean = field->fallback != 0,
	};
}

static const char *int_from_json(struct arena *arena, const struct field *field, yyjson_val *json,
                                 struct field_value *ret)
{
	int64_t number;
	if (json_is_whole(json, &number))
		return check_int(arena, field, number, ret);
	return yyjson_is_uint(json) ? check_int(arena, field, INT64_MAX, ret)
	                            : not_an_integer(field);
}

static const char *id_from_json(struct arena *arena, const struct field *field, yyjson_val *json,
                                struct field_value *ret)
{
	ret->text = json_write(arena, json, NULL);
	if (yyjson_is_int(json))
		return NULL;
	size_t length =
		yyjson_is_str(json) ? utf8_count(yyjson_get_str(json), yyjson_get_len(json)) : 0;
	if (length < 1 || (double)length > field->max)
		return arena_printf(arena, "must be an integer or a string of 1 to %.0f characters",
		                    field->max);
	return NULL;
}

/* What is wrong with an item of an array of strings, as the end of a sentence; NULL: nothing. */
static const char *string_item_fault(struct arena *arena, const struct field *field,
                                     yyjson_val *item)
{
	size_t length = yyjson_get_len(item);
	if (!yyjson_is_str(item))
		return "must be a string";
	if (length == 0)
		return "must not be empty";
	if (field->item_max && utf8_count(yyjson_get_str(item), length) > field->item_max)
		return arena_printf(arena, "must have at most %zu characters", field->item_max);
	return NULL;
}

#define ITEM_FAULTS_MAX 20

/* `item 0 must not be empty; item 3 must be a string` */
static const char *strings_from_json(struct arena *arena, const struct field *field,
                                     yyjson_val *json)
{
	struct buf faults = {.arena = arena};
	size_t index, count, found = 0;
	yyjson_val *item;
	yyjson_arr_foreach (json, index, count, item) {
		const char *fault = string_item_fault(arena, field, item);
		if (fault && found++ < ITEM_FAULTS_MAX)
			buf_printf(&faults, "%sitem %zu %s", found > 1 ? "; " : "", index, fault);
	}
	if (found > ITEM_FAULTS_MAX)
		buf_printf(&faults, "; and %zu more", found - ITEM_FAULTS_MAX);
	return faults.data;
}

static const char *array_from_json(struct arena *arena, const struct field *field, yyjson_val *json,
                                   struct field_value *ret)
{
	if (!yyjson_is_arr(json))
		return field->type == FIELD_STRINGS ? "must be an array of strings"
		                                    : "must be an array";
	double count = (double)yyjson_arr_size(json);
	if (has_bounds(field) && (count < field->min || count > field->max))
		return arena_printf(arena, "must have %.0f to %.0f items", field->min, field->max);
	ret->text = json_write(arena, json, NULL);
	return field->type == FIELD_STRINGS ? strings_from_json(arena, field, json) : NULL;
}

/* The bytes of a text in JSON: quotes, backslashes and control characters are escaped. */
static size_t escaped_bytes(const char *text, size_t length)
{
	size_t bytes = length;
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '"' || text[i] == '\\' || strchr("\b\t\n\f\r", text[i]))
			bytes += 1;
		else if ((unsigned char)text[i] < ' ')
			bytes += strlen("\\u0000") - 1;
	}
	return bytes;
}

static size_t bytes_max_of(const struct field *field)
{
	if (field->bytes_max)
		return field->bytes_max;
	if (field->type == FIELD_OBJECT || field->type == FIELD_ARRAY)
		return FIELD_JSON_BYTES;
	return field->type == FIELD_URL ? (size_t)field->max : 0;
}

/* Check the size of a value that has passed the other checks. */
static const char *check_bytes(struct arena *arena, const struct field *field, yyjson_val *json,
                               const struct field_value *value)
{
	size_t most = bytes_max_of(field);
	if (most == 0 || !value->text)
		return NULL;
	size_t length = strlen(value->text);
	size_t bytes = yyjson_is_str(json) ? escaped_bytes(value->text, length) : length;
	if (bytes > most)
		return arena_printf(arena, "must have at most %zu bytes as JSON", most);
	return NULL;
}

static void spell_integers(const struct field *field, yyjson_val *json);

static void spell_members(const struct field *members, yyjson_val *object)
{
	for (const struct field *member = members; member->source != FIELD_END_OF_TABLE; member++)
		if (member->members || IS_INTEGER[member->type])
			spell_integers(member, json_get(object, member->name));
}

/* Make whole numbers integers, however they are spelled, where the row or those of its members say
 * so: the value may be stored as the client wrote it, and read by what takes integers only. What no
 * row declares stays as it is. */
static void spell_integers(const struct field *field, yyjson_val *json)
{
	size_t index, count;
	yyjson_val *item;
	if (IS_INTEGER[field->type])
		json_spell_whole(json);
	if (!field->members)
		return;
	spell_members(field->members, json);
	yyjson_arr_foreach (json, index, count, item)
		spell_members(field->members, item);
}

static const char *check_json(struct arena *arena, const struct field *field, yyjson_val *json,
                              struct field_value *ret)
{
	spell_integers(field, json);
	ret->json = json;
	switch (field->type) {
	case FIELD_BOOL:
		ret->boolean = yyjson_get_bool(json);
		return yyjson_is_bool(json) ? NULL : "must be true or false";
	case FIELD_FLOAT:
		ret->number = yyjson_get_num(json);
		return yyjson_is_num(json) ? check_number(arena, field, ret->number)
		                           : "must be a number";
	case FIELD_INT:
	case FIELD_LIMIT:
	case FIELD_OFFSET:
		return int_from_json(arena, field, json, ret);
	case FIELD_ID:
		return id_from_json(arena, field, json, ret);
	case FIELD_OBJECT:
		ret->text = json_write(arena, json, NULL);
		return yyjson_is_obj(json) ? NULL : "must be an object";
	case FIELD_ARRAY:
	case FIELD_STRINGS:
		return array_from_json(arena, field, json, ret);
	default:
		if (!yyjson_is_str(json))
			return "must be a string";
		return TEXT_CHECKS[field->type](arena, field, yyjson_get_str(json),
		                                yyjson_get_len(json), ret);
	}
}

const char *field_check_json(struct arena *arena, const struct field *field, yyjson_val *json,
                             struct field_value *ret)
{
	if (yyjson_is_null(json)) {
		ret->is_null = true;
		return field->flags & NULLABLE ? NULL : "must not be null";
	}
	const char *fault = check_json(arena, field, json, ret);
	return fault ? fault : check_bytes(arena, field, json, ret);
}

/* Where a value is. Its text is made only for a fault, since a body can have a million values. */
struct place {
	const struct place *above; /* NULL: the whole body */
	const char *name;          /* of a member; NULL: an element of an array */
	size_t index;
};

static void write_place(struct buf *out, const struct place *place)
{
	if (place->above)
		write_place(out, place->above);
	if (place->name)
		buf_printf(out, "%s%s", out->length ? "." : "", place->name);
	else
		buf_printf(out, "[%zu]", place->index);
}

static void add_fault(struct arena *arena, struct problem *problem, const struct place *place,
                      const char *fault)
{
	struct buf name = {.arena = arena};
	if (problem->field_count < PROBLEM_FIELDS_MAX)
		write_place(&name, place);
	problem_add_field(arena, problem, name.data, "%s", fault);
}

static void check_members(struct arena *arena, struct problem *problem, const struct place *place,
                          yyjson_val *object, const struct field *members);

static void check_nested(struct arena *arena, struct problem *problem, const struct place *place,
                         const struct field *field, yyjson_val *json)
{
	if (!field->members)
		return;
	if (field->type == FIELD_OBJECT && yyjson_is_obj(json))
		check_members(arena, problem, place, json, field->members);
	size_t index, count;
	yyjson_val *item;
	yyjson_arr_foreach (json, index, count, item) {
		const struct place element = {.above = place, .index = index};
		if (yyjson_is_obj(item))
			check_members(arena, problem, &element, item, field->members);
		else
			add_fault(arena, problem, &element, "must be an object");
	}
}

static void check_members(struct arena *arena, struct problem *problem, const struct place *place,
                          yyjson_val *object, const struct field *members)
{
	for (const struct field *member = members; member->source != FIELD_END_OF_TABLE; member++) {
		if (member->source != IN_BODY)
			continue;
		const struct place at = {.above = place, .name = member->name};
		struct field_value value = {0};
		yyjson_val *json = json_get(object, member->name);
		const char *fault = json ? field_check_json(arena, member, json, &value)
		                    : member->flags & REQUIRED ? "is required"
		                                               : NULL;
		if (fault)
			add_fault(arena, problem, &at, fault);
		else if (json)
			check_nested(arena, problem, &at, member, json);
	}
}

void field_check_nested(struct arena *arena, struct problem *problem, const struct field *field,
                        yyjson_val *json)
{
	check_nested(arena, problem, &(struct place){.name = field->name}, field, json);
}

void field_check_members(struct arena *arena, struct problem *problem, yyjson_val *object,
                         const struct field *members)
{
	check_members(arena, problem, NULL, object, members);
}
