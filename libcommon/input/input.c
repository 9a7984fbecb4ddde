#include "input/input.h"

#include "crypto/uuid.h"
#include "http/query.h"
#include "input/field_check.h"
#include "input/http_call.h"
#include "input/ignored_fields.h"
#include "input/key_limit.h"
#include "input/left_out.h"
#include "input/query_input.h"
#include "json/json.h"
#include "loop/request.h"
#include "loop/wait.h"

#include <string.h>
#include <strings.h>

static void store(void *input, const struct field *field, const struct field_value *value)
{
	if (field->offset == FIELD_NOWHERE)
		return;
	void *member = (char *)input + field->offset;
	switch (field->type) {
	case FIELD_INT:
	case FIELD_LIMIT:
	case FIELD_OFFSET:
		*(int64_t *)member = value->integer;
		return;
	case FIELD_FLOAT:
		*(double *)member = value->number;
		return;
	case FIELD_BOOL:
		*(bool *)member = value->boolean;
		return;
	default:
		*(const char **)member = value->text;
	}
}

static void decode_text(struct request *rq, const struct field *field, const char *text,
                        void *input)
{
	struct field_value value = {0};
	const char *fault = field_check_text(rq->arena, field, text, &value);
	if (fault)
		problem_add_field(rq->arena, &rq->problem, field->name, "%s", fault);
	else
		store(input, field, &value);
}

/* Add the checked member to the document that becomes request_body_json(). */
static void keep(yyjson_mut_doc *doc, const struct field *field, const struct field_value *value)
{
	yyjson_mut_val *key = yyjson_mut_str(doc, field->name);
	yyjson_mut_val *kept;
	if (value->is_null)
		kept = yyjson_mut_null(doc);
	else if (field->type == FIELD_INT)
		kept = yyjson_mut_sint(doc, value->integer);
	else if (value->text && field->type != FIELD_ID && !yyjson_is_ctn(value->json))
		kept = yyjson_mut_str(doc, value->text);
	else
		kept = yyjson_val_mut_copy(doc, value->json);
	yyjson_mut_obj_add(yyjson_mut_doc_get_root(doc), key, kept);
}

/* The check of one member of the body. */
struct checking {
	struct arena *arena;
	const struct field *field;
	yyjson_val *json;
	struct field_value *value;
	struct problem *problem;
	yyjson_mut_doc *kept;
	bool is_valid;
};

static void check_member(void *arg)
{
	struct checking *of = arg;
	const char *fault = field_check_json(of->arena, of->field, of->json, of->value);
	if (fault) {
		problem_add_field(of->arena, of->problem, of->field->name, "%s", fault);
		return;
	}
	field_check_nested(of->arena, of->problem, of->field, of->json);
	if (of->problem->fields)
		return; /* also of an earlier member: the input is refused */
	keep(of->kept, of->field, of->value);
	of->is_valid = true;
}

/* Returns whether the body has the member. */
static bool decode_body(struct request *rq, const struct field *field, void *input,
                        yyjson_mut_doc *kept)
{
	yyjson_val *json = json_get(rq->http->json, field->name);
	const struct field_value fallback = field_fallback(field);
	if (!json) {
		if (field->flags & REQUIRED)
			problem_add_field(rq->arena, &rq->problem, field->name, "is required");
		else
			store(input, field, &fallback);
		return false;
	}
	struct field_value value = fallback;
	struct problem forgiven = {0};
	struct problem *problem = field->flags & FORGIVEN ? &forgiven : &rq->problem;
	struct checking checking = {rq->arena, field, json, &value, problem, kept, false};
	size_t bytes_max = yyjson_is_ctn(json) ? rq->http->body_length : yyjson_get_len(json);
	fiber_offload_text(rq, bytes_max, check_member, &checking);
	if (forgiven.fields)
		left_out_add(rq, field->name, &forgiven);
	store(input, field, checking.is_valid ? &value : &fallback);
	return true;
}

/* Whether the media type, without its parameters, is application/json or application/…+json. */
static bool is_json_type(const char *type)
{
	size_t length = strcspn(type, "; \t");
	if (length == 16 && strncasecmp(type, "application/json", 16) == 0)
		return true;
	return length > 17 && strncasecmp(type, "application/", 12) == 0 &&
	       strncasecmp(type + length - 5, "+json", 5) == 0;
}

/* The end of a parameter, `;` or NUL: a `;` in a quoted string does not end it. */
static const char *parameter_end(const char *at)
{
	bool is_quoted = false;
	for (; *at && (is_quoted || *at != ';'); at++) {
		if (is_quoted && *at == '\\' && at[1])
			at++;
		else if (*at == '"')
			is_quoted = !is_quoted;
	}
	return at;
}

/* Whether every charset parameter of the media type (RFC 9110 section 8.3.2) is UTF-8. JSON has no
 * such parameter and is always UTF-8 (RFC 8259), so a type without one passes. */
static bool is_utf8_type(const char *type)
{
	static const char NAME[] = "charset=";
	for (const char *at = parameter_end(type); *at; at = parameter_end(at)) {
		at += 1 + strspn(at + 1, " \t");
		if (strncasecmp(at, NAME, sizeof(NAME) - 1) != 0)
			continue;
		at += sizeof(NAME) - 1;
		bool is_quoted = *at == '"';
		at += is_quoted;
		size_t length = strcspn(at, is_quoted ? "\"" : "; \t");
		if (length != 5 || strncasecmp(at, "utf-8", 5) != 0)
			return false;
		at += length + is_quoted;
	}
	return true;
}

struct parsing {
	struct arena *arena;
	const char *text;
	size_t length, values;
	enum err_code code;
	yyjson_val *root;
	const char *why;
};

static void count_values(void *arg)
{
	struct parsing *parsing = arg;
	parsing->values = json_values_max(parsing->text, parsing->length);
}

/* Of the numbers of a body, beside its text: in a few megabytes there is room for a million numbers
 * that are written out with 300 digits each wherever they are stored and read. */
#define DIGITS_PER_BYTE 4
#define DIGITS_MIN      ((size_t)64 << 10)

static void parse_text(void *arg)
{
	struct parsing *parsing = arg;
	parsing->code = json_parse(parsing->arena, parsing->text, parsing->length, &parsing->root,
	                           &parsing->why);
	if (parsing->code ||
	    json_digits(parsing->root) <= DIGITS_PER_BYTE * parsing->length + DIGITS_MIN)
		return;
	parsing->code = ERR_MALFORMED;
	parsing->why = "has numbers that are too long when they are written without exponents";
}

void request_require_json_type(struct request *rq)
{
	const struct http_call *http = rq->http;
	const char *type = request_header(rq, "Content-Type");
	if (http->body_length && (!type || !is_json_type(type)))
		raise_error(rq, ERR_MEDIA_TYPE, "the body must be application/json");
	if (http->body_length && !is_utf8_type(type))
		raise_error(rq, ERR_MEDIA_TYPE, "the charset of the body must be UTF-8");
}

/* Count the values beside the loop, and take the memory for them. */
static void take_json(struct request *rq, struct parsing *parsing)
{
	fiber_offload_text(rq, parsing->length, count_values, parsing);
	http_call_take_json(rq, parsing->length, parsing->values);
}

void request_take_json(struct request *rq, const char *text, size_t length)
{
	take_json(rq, &(struct parsing){.text = text, .length = length});
}

enum err_code request_parse_json(struct request *rq, const char *text, size_t length,
                                 yyjson_val **ret_root, const char **ret_why)
{
	struct parsing parsing = {.arena = rq->arena, .text = text, .length = length};
	take_json(rq, &parsing);
	fiber_offload_text(rq, length, parse_text, &parsing);
	*ret_root = parsing.root;
	*ret_why = parsing.why;
	return parsing.code;
}

static void parse_peer(void *arg)
{
	struct parsing *parsing = arg;
	parsing->code = json_parse_peer(parsing->arena, parsing->text, parsing->length, SIZE_MAX,
	                                &parsing->root, &parsing->why);
}

enum err_code request_parse_peer(struct request *rq, const char *text, size_t length,
                                 yyjson_val **ret_root, const char **ret_why)
{
	struct parsing parsing = {.arena = rq->arena, .text = text, .length = length};
	fiber_offload_text(rq, length, count_values, &parsing);
	parsing.code = http_call_take_json_try(rq, length, parsing.values);
	if (parsing.code)
		parsing.why = "has more values than there is memory for";
	else
		fiber_offload_text(rq, length, parse_peer, &parsing);
	*ret_root = parsing.root;
	*ret_why = parsing.why;
	return parsing.code;
}

static void parse_own(void *arg)
{
	struct parsing *parsing = arg;
	parsing->root = json_parse_own(parsing->arena, parsing->text);
}

yyjson_val *request_parse_own(struct request *rq, const char *text)
{
	struct parsing parsing = {.arena = rq->arena, .text = text};
	fiber_offload_text(rq, strlen(text), parse_own, &parsing);
	return parsing.root;
}

static void parse_body(struct request *rq)
{
	struct http_call *http = rq->http;
	request_require_json_type(rq);
	const char *why;
	if (request_parse_json(rq, http->body_length ? http->body : "{}",
	                       http->body_length ? http->body_length : 2, &http->json, &why)) {
		problem_add_field(rq->arena, &rq->problem, "body", "%s", why);
		raise_error(rq, ERR_MALFORMED, "the body %s", why);
	}
	if (!yyjson_is_obj(http->json))
		raise_field(rq, "body", "must be a JSON object");
}

/* Check or set an OF_INTEREST member. */
static void limit_interest(struct request *rq, const struct field *field, void *input)
{
	const char **interest = (const char **)((char *)input + field->offset);
	if (*interest)
		require_interest(rq, *interest);
	else
		*interest = rq->caller.interest;
}

yyjson_val *request_body(struct request *rq)
{
	if (!rq->http->json)
		parse_body(rq);
	return rq->http->json;
}

void request_body_prepare(struct request *rq)
{
	if (rq->http->body_length > OFFLOAD_TEXT_BYTES)
		request_body(rq);
}

struct writing {
	struct arena *arena;
	yyjson_mut_val *value;
	const char *text;
};

static void write_text(void *arg)
{
	struct writing *writing = arg;
	writing->text = json_write_mut(writing->arena, writing->value, NULL);
}

static void keep_body(struct request *rq, yyjson_mut_val *members)
{
	struct writing writing = {.arena = rq->arena, .value = members};
	fiber_offload_text(rq, rq->http->body_length, write_text, &writing);
	rq->http->body_json = writing.text;
	rq->http->body_json_count = yyjson_mut_obj_size(members);
}

/* What is read by one table of fields. */
struct reading {
	void *input;
	struct query_input query;
	yyjson_mut_doc *kept; /* becomes request_body_json() */
	bool has_body;        /* the table has rows of the body */
	size_t body_members;  /* of these rows, those that the body has */
};

static void read_field(struct request *rq, const struct field *field, struct reading *reading)
{
	struct field_value value = {0};
	switch (field->source) {
	case IN_PATH:
		decode_text(rq, field, request_path(rq, field->name), reading->input);
		return;
	case IN_QUERY:
		if (query_input_decode(rq, &reading->query, field, &value))
			store(reading->input, field, &value);
		return;
	case IN_BODY:
		request_body(rq);
		reading->has_body = true;
		reading->body_members += decode_body(rq, field, reading->input, reading->kept);
		return;
	default:
		return;
	}
}

/* Raise the faults of the whole input, if there are any. */
static void check_all(struct request *rq, const struct field *fields, struct reading *reading)
{
	query_input_check_names(rq, &reading->query, fields);
	if (reading->has_body)
		ignored_fields_of_body(rq, fields, reading->body_members);
	rq->http->is_input_read = true;
	if (rq->problem.fields)
		left_out_blame(rq);
	raise_if_faults(rq);
}

void *request_input_read(struct request *rq, const struct field *fields, size_t size)
{
	struct reading reading = {
		.input = arena_alloc(rq->arena, size),
		.query = query_input_parse(rq),
		.kept = json_doc_new(rq->arena),
	};
	yyjson_mut_doc_set_root(reading.kept, yyjson_mut_obj(reading.kept));
	for (const struct field *field = fields; field->source != FIELD_END_OF_TABLE; field++)
		read_field(rq, field, &reading);
	check_all(rq, fields, &reading);
	for (const struct field *field = fields; field->source != FIELD_END_OF_TABLE; field++)
		if (field->flags & OF_INTEREST)
			limit_interest(rq, field, reading.input);
	keep_body(rq, yyjson_mut_doc_get_root(reading.kept));
	return reading.input;
}

void request_input_none(struct request *rq)
{
	static const struct field NONE[] = {FIELD_END};
	request_input_read(rq, NONE, 1);
}

bool item_is_uuid(yyjson_val *item)
{
	struct uuid id;
	return !yyjson_is_str(item) || uuid_parse(yyjson_get_str(item), yyjson_get_len(item), &id);
}

bool item_is_whole(yyjson_val *item, int64_t least, int64_t most)
{
	int64_t number;
	json_spell_whole(item);
	return json_is_whole(item, &number) && number >= least && number <= most;
}

void request_check_items(struct request *rq, const char *path, bool (*is_valid)(yyjson_val *item),
                         const char *message)
{
	size_t index, count;
	yyjson_val *item, *list = json_at(request_body(rq), path);
	if (!yyjson_is_arr(list))
		return;
	yyjson_arr_foreach (list, index, count, item) {
		if (!is_valid(item))
			problem_add_field(rq->arena, &rq->problem,
			                  arena_printf(rq->arena, "%s[%zu]", path, index), "%s",
			                  message);
	}
}

void request_check_texts(struct request *rq, const char *name, bool (*is_valid)(const char *text),
                         const char *what)
{
	size_t index, count;
	yyjson_val *item;
	yyjson_arr_foreach (json_get(request_body(rq), name), index, count, item) {
		if (yyjson_is_str(item) && !is_valid(yyjson_get_str(item)))
			problem_add_field(rq->arena, &rq->problem, name, "item %zu must be %s",
			                  index, what);
	}
}

bool request_has_member(struct request *rq, const char *name)
{
	yyjson_val *value = json_get(request_body(rq), name);
	return value && !yyjson_is_null(value);
}

const char *request_body_json(struct request *rq)
{
	require(rq->http->body_json);
	return rq->http->body_json;
}

void request_require_member(struct request *rq)
{
	if (rq->http->body_json_count == 0)
		raise_field(rq, "body", "must have at least one field that can be changed");
}

const char *request_path(const struct request *rq, const char *name)
{
	const struct api_match *match = &rq->http->match;
	for (size_t i = 0; i < match->param_count; i++)
		if (strcmp(match->params[i].name, name) == 0)
			return match->params[i].value;
	return NULL;
}

const char *request_header(const struct request *rq, const char *name)
{
	return http_head_get(&rq->http->head, name);
}

const char *request_query(const struct request *rq, const char *name)
{
	const struct http_head *head = &rq->http->head;
	return query_get(rq->arena, head->query, head->query_length, name, NULL);
}
