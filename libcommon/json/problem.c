#include "json/problem.h"

#include "json/json.h"

void problem_add_field(struct arena *arena, struct problem *problem, const char *field,
                       const char *format, ...)
{
	problem->code = ERR_INVALID;
	if (problem->field_count++ >= PROBLEM_FIELDS_MAX)
		return;
	va_list args;
	va_start(args, format);
	struct problem_field *fault = arena_new_of(arena, struct problem_field);
	fault->field = arena_strdup(arena, field);
	fault->message = arena_vprintf(arena, format, args);
	va_end(args);
	if (!problem->fields_tail)
		problem->fields_tail = &problem->fields;
	*problem->fields_tail = fault;
	problem->fields_tail = &fault->next;
}

void problem_copy(struct arena *arena, struct problem *to, const struct problem *from)
{
	*to = (struct problem){.retry_after_s = from->retry_after_s};
	for (const struct problem_field *fault = from->fields; fault; fault = fault->next)
		problem_add_field(arena, to, fault->field, "%s", fault->message);
	to->field_count = from->field_count;
	to->code = from->code;
	to->detail = arena_strdup(arena, from->detail);
	to->scope = arena_strdup(arena, from->scope);
	to->budget = arena_strdup(arena, from->budget);
	to->allow = arena_strdup(arena, from->allow);
	to->accept_encoding = arena_strdup(arena, from->accept_encoding);
	to->raw_body = arena_strdup(arena, from->raw_body);
}

const char *problem_detail(struct arena *arena, const struct problem *problem)
{
	if (problem->detail)
		return problem->detail;
	if (problem->field_count == 1)
		return arena_printf(arena, "%s: %s", problem->fields->field,
		                    problem->fields->message);
	if (problem->field_count)
		return arena_printf(arena, "%zu fields are invalid", problem->field_count);
	return err_info(problem->code)->detail;
}

static void add_errors(yyjson_mut_doc *doc, yyjson_mut_val *root, const struct problem *problem)
{
	yyjson_mut_val *errors = yyjson_mut_obj_add_arr(doc, root, "errors");
	for (const struct problem_field *fault = problem->fields; fault; fault = fault->next) {
		yyjson_mut_val *row = yyjson_mut_arr_add_obj(doc, errors);
		yyjson_mut_obj_add_str(doc, row, "field", fault->field);
		yyjson_mut_obj_add_str(doc, row, "message", fault->message);
	}
}

char *problem_body(struct arena *arena, const struct problem *problem, const char *instance,
                   size_t *ret_length)
{
	const struct err_info *info = err_info(problem->code);
	yyjson_mut_doc *doc = json_doc_new(arena);
	yyjson_mut_val *root = yyjson_mut_obj(doc);
	yyjson_mut_obj_add_str(doc, root, "type", "about:blank");
	yyjson_mut_obj_add_str(doc, root, "title", info->title);
	yyjson_mut_obj_add_int(doc, root, "status", info->status);
	yyjson_mut_obj_add_str(doc, root, "detail", problem_detail(arena, problem));
	if (instance)
		yyjson_mut_obj_add_str(doc, root, "instance", instance);
	yyjson_mut_obj_add_str(doc, root, "error", info->slug);
	if (problem->scope)
		yyjson_mut_obj_add_str(doc, root, "scope", problem->scope);
	if (problem->budget)
		yyjson_mut_obj_add_val(doc, root, "budget", yyjson_mut_raw(doc, problem->budget));
	if (problem->field_count)
		add_errors(doc, root, problem);
	return json_write_mut(arena, root, ret_length);
}

char *problem_www_authenticate(struct arena *arena, const struct problem *problem)
{
	if (problem->code == ERR_UNAUTHENTICATED)
		return arena_strdup(arena, "Bearer realm=\"expops\", error=\"invalid_token\"");
	if (problem->code == ERR_SCOPE && problem->scope)
		return arena_printf(arena,
		                    "Bearer realm=\"expops\", error=\"insufficient_scope\", "
		                    "scope=\"%s\"",
		                    problem->scope);
	return NULL;
}

unsigned problem_retry_after_s(const struct problem *problem)
{
	bool is_repeatable =
		err_info(problem->code)->status == 503 && problem->code != ERR_UNCERTAIN;
	return problem->retry_after_s || !is_repeatable ? problem->retry_after_s : 1;
}
