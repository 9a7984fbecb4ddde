#include "worker/api.h"

#include "json/json.h"

#include <string.h>

#define FIELDS_MAX 8

static const char *url, *key;

const struct setting API_SETTINGS[] = {
	SETTING_TEXT(&url, "EXPOPS_URL", NULL,
                     "Where the gateway is, such as http://127.0.0.1:8080."),
	SETTING_SECRET(&key, "EXPOPS_KEY", NULL, "The API key."),
	SETTING_END,
};

enum err_code api_call_try(struct request *rq, struct api_call *call)
{
	struct http_field fields[FIELDS_MAX] = {
		http_field_of("Authorization", arena_printf(rq->arena, "Bearer %s", key)),
		http_field_of("Content-Type", "application/json"),
	};
	require(2 + call->field_count <= FIELDS_MAX);
	for (size_t i = 0; i < call->field_count; i++)
		fields[2 + i] = call->fields[i];
	const struct fetch_call fetch = {
		.method = call->content ? "POST" : "GET",
		.url = arena_printf(rq->arena, "%s/api/v1.0%s", url, call->path),
		.fields = fields,
		.field_count = 2 + call->field_count,
		.body = call->content,
		.body_length = call->content ? strlen(call->content) : 0,
		.timeout_ms = call->timeout_ms,
	};
	enum err_code code = fetch_try(rq, &fetch, &call->answer);
	if (code)
		return code;
	if (call->answer->status == 429 || call->answer->status >= 500)
		return ERR_UNAVAILABLE;
	call->json = NULL;
	if (call->answer->body_length > 0 &&
	    json_parse(call->arena ? call->arena : rq->arena, call->answer->body,
	               call->answer->body_length, &call->json, NULL))
		return ERR_UPSTREAM;
	return ERR_NONE;
}

const char *api_detail(const struct api_call *call)
{
	const char *detail = json_get_text(call->json, "detail");
	return detail ? detail : "the service refused it";
}
