#include "pool/asset_query.h"

#include "client/fetch.h"
#include "client/service_call.h"

#define ANSWER_MAX_BYTES ((size_t)32 << 20) /* 1,000 papers with vectors and explanations */

enum err_code asset_query(struct request *rq, const char *path, const char *body,
                          const char **ret_json)
{
	struct fetch_response *answer;
	const struct service_call call = {
		.service = API_SEARCH,
		.method = "POST",
		.path = path,
		.json_body = body,
		.response_max_bytes = ANSWER_MAX_BYTES,
		.effect = HTTP_SAFE,
	};
	enum err_code code = service_call(rq, &call, &answer);
	if (code)
		return code;
	if (answer->status != 200)
		return ERR_UPSTREAM;
	*ret_json = answer->body;
	return ERR_NONE;
}

enum err_code asset_lookup(struct request *rq, const char *ids_json, const char **ret_json)
{
	const char *body = arena_printf(rq->arena, "{\"arxiv_ids\": %s}", ids_json);
	return asset_query(rq, "/internal/assets/lookup", body, ret_json);
}
