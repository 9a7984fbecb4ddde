#include "input/query_input.h"

#include "base/utf8.h"
#include "input/http_call.h"
#include "input/name_hint.h"
#include "json/json.h"

#include <string.h>

/* Bytes of an unknown name that a fault shows. */
#define SHOWN_NAME_MAX 100

struct query_input query_input_parse(struct request *rq)
{
	const struct http_head *head = &rq->http->head;
	struct query_input query = {0};
	if (head->query_length > 0)
		query.count =
			query_params(rq->arena, head->query, head->query_length, &query.params);
	return query;
}

static bool is_named(const struct query_param *param, const char *name)
{
	return param->name && strcmp(param->name, name) == 0;
}

static void add_fault(struct request *rq, const struct field *field, const char *fault)
{
	problem_add_field(rq->arena, &rq->problem, field->name, "%s", fault);
}

/* What is wrong with a parameter that is there `count` times, of which `decoded` could be decoded;
 * NULL: nothing. */
static const char *count_fault(const struct field *field, size_t count, size_t decoded)
{
	if (count > 1 && !(field->flags & REPEATED))
		return "must be given once";
	if (count > QUERY_REPEATS_MAX)
		return "is given too often";
	if (decoded < count)
		return "must be percent-encoded UTF-8";
	return count == 0 && field->flags & REQUIRED ? "is required" : NULL;
}

/* A parameter with REPEATED: the JSON array of its values. */
static const char *read_repeated(struct request *rq, const struct query_input *query,
                                 const struct field *field, struct field_value *ret_value)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *values = yyjson_mut_arr(doc);
	for (size_t i = 0; i < query->count; i++) {
		struct field_value value = {0};
		if (!is_named(&query->params[i], field->name))
			continue;
		const char *fault =
			field_check_text(rq->arena, field, query->params[i].value, &value);
		if (fault)
			return fault;
		yyjson_mut_arr_add_str(doc, values, value.text);
	}
	ret_value->text = json_write_mut(rq->arena, values, NULL);
	return NULL;
}

bool query_input_decode(struct request *rq, const struct query_input *query,
                        const struct field *field, struct field_value *ret_value)
{
	size_t count = 0, decoded = 0;
	const char *text = NULL;
	for (size_t i = 0; i < query->count; i++) {
		if (!is_named(&query->params[i], field->name))
			continue;
		count++;
		decoded += query->params[i].value != NULL;
		text = query->params[i].value;
	}
	const char *fault = count_fault(field, count, decoded);
	if (!fault && count == 0)
		*ret_value = field_fallback(field);
	else if (!fault && field->flags & REPEATED)
		fault = read_repeated(rq, query, field, ret_value);
	else if (!fault)
		fault = field_check_text(rq->arena, field, text, ret_value);
	if (fault)
		add_fault(rq, field, fault);
	return !fault;
}

static bool is_in_table(const char *name, const struct field *fields)
{
	for (const struct field *field = fields; field->source != FIELD_END_OF_TABLE; field++)
		if (field->source == IN_QUERY && strcmp(field->name, name) == 0)
			return true;
	return false;
}

/* Whether a fault names it already, so that a name given many times is reported once. */
static bool is_reported(const struct request *rq, const char *name)
{
	for (const struct problem_field *fault = rq->problem.fields; fault; fault = fault->next)
		if (strcmp(fault->field, name) == 0)
			return true;
	return false;
}

/* What the client may have meant, or what it can choose from. */
static const char *unknown_message(struct request *rq, const char *name, const struct field *fields)
{
	struct buf known = {.arena = rq->arena};
	const char *hint = NULL;
	for (const struct field *field = fields; field->source != FIELD_END_OF_TABLE; field++) {
		if (field->source != IN_QUERY)
			continue;
		hint = name_hint_nearer(name, hint, field->name);
		buf_printf(&known, "%s%s", known.length ? ", " : "", field->name);
	}
	if (hint)
		return arena_printf(rq->arena, "is not a parameter of this operation; %s is", hint);
	if (known.length)
		return arena_printf(rq->arena, "is not a parameter of this operation; it has %s",
		                    known.data);
	return "is not a parameter of this operation; it has none";
}

static bool ignores_others(const struct field *fields)
{
	while (fields->source != FIELD_END_OF_TABLE && fields->source != QUERY_OTHERS)
		fields++;
	return fields->source == QUERY_OTHERS;
}

void query_input_check_names(struct request *rq, const struct query_input *query,
                             const struct field *fields)
{
	if (ignores_others(fields))
		return;
	for (size_t i = 0; i < query->count; i++) {
		const char *name = query->params[i].name;
		if (!name || !*name) {
			problem_add_field(rq->arena, &rq->problem, "query", "%s",
			                  name ? "has a parameter without a name"
			                       : "has a name that is not percent-encoded "
			                         "UTF-8");
			continue;
		}
		if (is_in_table(name, fields) || rq->problem.field_count >= PROBLEM_FIELDS_MAX)
			continue;
		size_t shown = utf8_cut(name, strlen(name), SHOWN_NAME_MAX);
		const char *field = arena_strndup(rq->arena, name, shown);
		if (!is_reported(rq, field))
			problem_add_field(rq->arena, &rq->problem, field, "%s",
			                  unknown_message(rq, name, fields));
	}
}
