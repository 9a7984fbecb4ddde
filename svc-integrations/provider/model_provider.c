#include "provider/model_provider.h"

#include "client/fetch.h"
#include "json/json.h"
#include "provider/reason.h"

#include <string.h>

#define ANSWER_MAX_BYTES ((size_t)64 * 1024) /* what is behind them is not read */
#define CALL_TIMEOUT_MS  15000

/* How a provider lists its models, by its own reference. The key is sent in one field, so that it
 * is in no URL. */
static const struct model_call {
	const char *provider;
	const char *path;   /* after the base address */
	const char *field;  /* that carries the key */
	const char *prefix; /* of the field's value */
} CALLS[] = {
	{"anthropic", "/v1/models?limit=1", "x-api-key", ""},
	{"openai", "/v1/models", "Authorization", "Bearer "},
	{"google", "/v1beta/models?pageSize=1", "x-goog-api-key", ""},
	{"moonshot", "/v1/models", "Authorization", "Bearer "},
	{"zai", "/api/paas/v4/models", "Authorization", "Bearer "},
	{"custom", "/models", "Authorization", "Bearer "},
};

static const struct model_call *call_of(const struct provider *provider)
{
	for (size_t i = 0; i < ARRAY_LEN(CALLS); i++)
		if (strcmp(CALLS[i].provider, provider->name) == 0)
			return &CALLS[i];
	require(!"every model provider has a row");
	return NULL;
}

/* The provider's words: `{"error": {"message": …}}`, `{"error": "…"}` or `{"message": …}`. */
static const char *reason_of(struct request *rq, const struct fetch_response *answer,
                             const char *api_key)
{
	yyjson_val *root = NULL;
	const char *text = NULL;
	if (!fetch_json_outside(rq->arena, answer, &root)) {
		text = json_get_text(json_get(root, "error"), "message");
		text = text ? text : json_get_text(root, "error");
		text = text ? text : json_get_text(root, "message");
	}
	text = reason_clean(rq->arena, text, (const char *[]){api_key, NULL});
	return arena_printf(rq->arena, "status %d%s%s", answer->status, text ? ": " : "",
	                    text ? text : "");
}

/* Without query, fragment and slashes at the end. */
static int base_length(const char *base)
{
	size_t length = strcspn(base, "?#");
	while (length > 0 && base[length - 1] == '/')
		length--;
	return (int)length;
}

void model_key_try(struct request *rq, const struct provider *provider, const char *base_url,
                   const char *api_key)
{
	const struct model_call *row = call_of(provider);
	const char *base = provider->model_url ? *provider->model_url : base_url;
	const struct http_field fields[] = {
		{row->field, arena_printf(rq->arena, "%s%s", row->prefix, api_key)},
		{"Accept", "application/json"},
		{"anthropic-version", "2023-06-01"},
	};
	const struct fetch_call call = {
		.url = arena_printf(rq->arena, "%.*s%s", base_length(base), base, row->path),
		.fields = fields,
		.field_count = strcmp(provider->name, "anthropic") == 0 ? 3 : 2,
		.response_max_bytes = ANSWER_MAX_BYTES,
		.cuts_response = true,
		.timeout_ms = CALL_TIMEOUT_MS,
		.guard = base_url ? FETCH_GUARD_ALL : FETCH_GUARD_NONE,
	};
	struct fetch_response *answer;
	enum err_code code = fetch_try(rq, &call, &answer);
	fetch_raise_if_full(rq, code);
	if (code == ERR_FORBIDDEN)
		raise_field(rq, "base_url", "leads to an address that is not public");
	if (code || answer->status >= 500 || answer->status == 429)
		raise_error(rq, ERR_UPSTREAM, "%s does not answer; the key was not stored",
		            provider->name);
	if (answer->status != 200)
		raise_field(rq, "api_key", "was refused by %s with %s", provider->name,
		            reason_of(rq, answer, api_key));
}
