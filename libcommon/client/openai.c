#include "client/openai.h"

#include <string.h>

enum err_code openai_post_try(struct request *rq, const struct openai_call *call,
                              struct fetch_response **ret_answer)
{
	struct http_field fields[] = {
		http_field_of("Content-Type", "application/json"),
		http_field_of("Authorization", arena_printf(rq->arena, "Bearer %s", call->key)),
	};
	struct fetch_call post = {
		.method = "POST",
		.url = arena_printf(rq->arena, "%s%s", call->base_url, call->path),
		.fields = fields,
		.field_count = call->key[0] ? 2 : 1,
		.body = call->body,
		.body_length = strlen(call->body),
		.response_max_bytes = call->response_max_bytes,
		.timeout_ms = call->timeout_ms,
		.effect = HTTP_SAFE,
	};
	return fetch_try(rq, &post, ret_answer);
}
