#include "client/service_ask.h"

#include "json/json.h"

#include <string.h>

const char *ask_body(struct request *rq, const struct ask_member *members)
{
	yyjson_mut_doc *doc = json_doc_new(rq->arena);
	yyjson_mut_val *body = yyjson_mut_obj(doc);
	for (; members->name; members++)
		if (members->text)
			yyjson_mut_obj_add_str(doc, body, members->name, members->text);
	return json_write_mut(rq->arena, body, NULL);
}

/* The error of that name, if it is one that concerns the client too; else ERR_UPSTREAM. */
static enum err_code code_of(const char *slug)
{
	static const enum err_code PASSED_ON[] = {
		ERR_INVALID,  ERR_UNAUTHENTICATED, ERR_SCOPE,     ERR_FORBIDDEN,    ERR_NOT_FOUND,
		ERR_CONFLICT, ERR_NOT_CONFIGURED,  ERR_AUTH_TYPE, ERR_RATE_LIMITED, ERR_TIMEOUT,
	};
	for (size_t i = 0; slug && i < ARRAY_LEN(PASSED_ON); i++)
		if (strcmp(err_info(PASSED_ON[i])->slug, slug) == 0)
			return PASSED_ON[i];
	return ERR_UPSTREAM;
}

/* Read an answer that the service gave; `code` is that of service_call(). */
static struct service_answer read_answer(struct request *rq, enum err_code code,
                                         const struct fetch_response *from)
{
	yyjson_val *json = NULL;
	if (fetch_json(rq->arena, from, &json))
		return (struct service_answer){code ? code : ERR_UPSTREAM};
	if (from->status == 200)
		return (struct service_answer){.json = json};
	return (struct service_answer){
		.code = code ? code : code_of(json_get_text(json, "error")),
		.detail = json_get_text(json, "detail"),
		.scope = json_get_text(json, "scope"),
		.retry_after_s = (unsigned)(fetch_retry_after_ms(from) / 1000),
	};
}

struct service_answer service_ask_try(struct request *rq, enum internal_id id, const char *json,
                                      const struct ask_options *options)
{
	static const struct ask_options NONE;
	const struct internal_op *op = internal_op(id);
	struct fetch_response *from = NULL;
	if (!options)
		options = &NONE;
	const struct service_call call = {
		.service = op->service == API_EVERY ? options->service : op->service,
		.method = op->method,
		.path = op->path,
		.json_body = json,
		.effect = options->is_safe ? HTTP_SAFE : op->effect,
		.timeout_ms = options->timeout_ms,
	};
	enum err_code code = service_call(rq, &call, &from);
	struct service_answer answer =
		from ? read_answer(rq, code, from) : (struct service_answer){code};
	if (answer.code && !answer.detail)
		answer.detail = arena_printf(rq->arena, "%s: %s", api_service_name(call.service),
		                             err_info(answer.code)->detail);
	return answer;
}

attr_noreturn void service_answer_raise(struct request *rq, const struct service_answer *answer)
{
	raise_problem(rq, &(struct problem){
				  .code = answer->code,
				  .detail = answer->detail,
				  .scope = answer->scope,
				  .retry_after_s = answer->retry_after_s,
			  });
}

yyjson_val *service_ask(struct request *rq, enum internal_id id, const char *json)
{
	struct service_answer answer = service_ask_try(rq, id, json, NULL);
	if (answer.code)
		service_answer_raise(rq, &answer);
	return answer.json;
}

yyjson_val *service_ask_found(struct request *rq, enum internal_id id, const char *json)
{
	struct service_answer answer = service_ask_try(rq, id, json, NULL);
	if (answer.code && answer.code != ERR_NOT_FOUND)
		service_answer_raise(rq, &answer);
	return answer.json;
}
