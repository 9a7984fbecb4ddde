#include "call/query.h"

#include "json/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct query *query_new(struct cli *cli, const char *operation_id)
{
	struct query *query = arena_new_of(cli->arena, struct query);
	query->cli = cli;
	query->operation = operation_find(operation_id);
	require(query->operation);
	query->doc = json_doc_new(cli->arena);
	query->values = yyjson_mut_obj(query->doc);
	return query;
}

static attr_noreturn void fail_type(const struct operation_field *field, const char *text)
{
	static const char *const WANTED[] = {
		[KIND_TEXT] = "a text",     [KIND_INTEGER] = "an integer",
		[KIND_NUMBER] = "a number", [KIND_BOOLEAN] = "true or false",
		[KIND_ARRAY] = "a list",    [KIND_OBJECT] = "a JSON object",
		[KIND_ANY] = "JSON",
	};
	cli_fail(EXIT_USAGE, "%s: %s is not %s", field->name, text, WANTED[field->kind]);
}

static yyjson_val *parse(struct query *query, const char *text)
{
	yyjson_val *value;
	return json_parse(query->cli->arena, text, strlen(text), &value, NULL) ? NULL : value;
}

static bool has_kind(yyjson_val *value, enum field_kind kind)
{
	int64_t whole;
	switch (kind) {
	case KIND_INTEGER:
		return json_is_whole(value, &whole);
	case KIND_NUMBER:
		return yyjson_is_num(value);
	case KIND_BOOLEAN:
		return yyjson_is_bool(value);
	case KIND_ARRAY:
		return yyjson_is_arr(value);
	case KIND_OBJECT:
		return yyjson_is_obj(value);
	default:
		return value != NULL;
	}
}

/* The value of a text by the field's type. An item of a list is a text unless it is JSON. */
static yyjson_mut_val *typed(struct query *query, const struct operation_field *field,
                             const char *text)
{
	yyjson_val *value = field->kind == KIND_TEXT ? NULL : parse(query, text);
	if (value && has_kind(value, field->kind))
		return yyjson_val_mut_copy(query->doc, value);
	bool may_be_text =
		field->kind == KIND_TEXT || field->kind == KIND_ARRAY || field->kind == KIND_ANY;
	if (!may_be_text)
		fail_type(field, text);
	return yyjson_mut_strcpy(query->doc, text);
}

static void add_items(yyjson_mut_doc *doc, yyjson_mut_val *list, yyjson_mut_val *value)
{
	if (!yyjson_mut_is_arr(value)) {
		yyjson_mut_arr_append(list, value);
		return;
	}
	for (size_t i = 0; i < yyjson_mut_arr_size(value); i++)
		yyjson_mut_arr_append(list,
		                      yyjson_mut_val_mut_copy(doc, yyjson_mut_arr_get(value, i)));
}

static void put(struct query *query, yyjson_mut_val *object, const struct operation_field *field,
                yyjson_mut_val *value)
{
	yyjson_mut_val *list = yyjson_mut_obj_get(object, field->name);
	if (field->kind == KIND_ARRAY) {
		if (!list)
			list = yyjson_mut_obj_add_arr(query->doc, object, field->name);
		add_items(query->doc, list, value);
	} else {
		yyjson_mut_obj_put(object, yyjson_mut_strcpy(query->doc, field->name), value);
	}
}

static yyjson_mut_val *body_of(struct query *query)
{
	if (!query->body)
		query->body = yyjson_mut_obj(query->doc);
	return query->body;
}

void query_set(struct query *query, const char *name, const char *text)
{
	const struct operation_field *field = operation_field(query->operation, name);
	require(field);
	if (!text)
		return;
	yyjson_mut_val *value =
		typed(query, field, text); /* checked also where it is sent as text */
	if (field->place == FIELD_BODY)
		put(query, body_of(query), field, value);
	else
		put(query, query->values, field,
		    field->kind == KIND_ARRAY ? value : yyjson_mut_strcpy(query->doc, text));
}

void query_set_json(struct query *query, const char *name, yyjson_val *value)
{
	yyjson_mut_obj_put(body_of(query), yyjson_mut_strcpy(query->doc, name),
	                   yyjson_val_mut_copy(query->doc, value));
}

void query_set_content(struct query *query, const char *content, size_t length)
{
	query->content = content;
	query->content_length = length;
}

/* Percent-encode all but the unreserved characters (RFC 3986, section 2.3). */
static void encode(struct buf *out, const char *text)
{
	static const char UNRESERVED[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
	for (; *text; text++)
		if (strchr(UNRESERVED, *text))
			buf_add(out, text, 1);
		else
			buf_printf(out, "%%%02X", (unsigned char)*text);
}

static void add_parameter(struct buf *out, const char *name, yyjson_mut_val *value)
{
	buf_puts(out, strchr(out->data, '?') ? "&" : "?");
	encode(out, name);
	buf_puts(out, "=");
	encode(out, yyjson_mut_is_str(value) ? yyjson_mut_get_str(value) : "");
}

static void add_parameters(const struct query *query, struct buf *out)
{
	for (const struct operation_field *field = query->operation->fields; field->name; field++) {
		yyjson_mut_val *value = yyjson_mut_obj_get(query->values, field->name);
		if (field->place != FIELD_QUERY || !value)
			continue;
		if (!yyjson_mut_is_arr(value))
			add_parameter(out, field->name, value);
		for (size_t i = 0; i < yyjson_mut_arr_size(value); i++)
			add_parameter(out, field->name, yyjson_mut_arr_get(value, i));
	}
}

/* A value fills one segment. A dot segment would lead elsewhere (RFC 3986, section 5.2.4), also
 * when the value is an id that a server made up. */
static void add_segment(const struct query *query, struct buf *out, const char *name,
                        const char *value)
{
	if (!value || !*value)
		cli_fail(EXIT_USAGE, "%s needs %s", query->operation->id, name);
	if (strcmp(value, ".") == 0 || strcmp(value, "..") == 0)
		cli_fail(EXIT_USAGE, "%s: %s is no id", name, value);
	encode(out, value);
}

const char *query_target(const struct query *query)
{
	struct arena *arena = query->cli->arena;
	struct buf out = {.arena = arena};
	const char *at = query->operation->path, *open;
	for (; (open = strchr(at, '{')); at = strchr(open, '}') + 1) {
		const char *name = arena_strndup(arena, open + 1, strcspn(open + 1, "}"));
		const char *value = yyjson_mut_get_str(yyjson_mut_obj_get(query->values, name));
		buf_add(&out, at, (size_t)(open - at));
		add_segment(query, &out, name, value);
	}
	buf_puts(&out, at);
	add_parameters(query, &out);
	return out.data;
}

const char *query_value(const struct query *query, const char *name)
{
	return yyjson_mut_get_str(yyjson_mut_obj_get(query->values, name));
}

const char *query_content(const struct query *query, size_t *ret_length)
{
	*ret_length = query->content_length;
	if (query->content || !query->body)
		return query->content;
	return json_write_mut(query->cli->arena, query->body, ret_length);
}
