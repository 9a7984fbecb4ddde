#include "client/service_call.h"

#include "base/address.h"
#include "base/identity.h"
#include "base/scope.h"
#include "base/timefmt.h"
#include "http/method.h"
#include "loop/worker.h"

#include <string.h>

#define FIELDS_MAX 4

/* Set the URL of the call from the service's setting; ERR_UNAVAILABLE: it has none. */
static enum err_code set_url(struct request *rq, enum api_service service, const char *path,
                             struct fetch_call *call)
{
	const char *text = rq->worker->peers->url[service];
	struct address address;
	if (!text || !text[0] || address_parse(rq->arena, text, &address) != ERR_NONE)
		return ERR_UNAVAILABLE;
	if (address.is_unix) {
		call->unix_path = address.host;
		call->url = arena_printf(rq->arena, "http://service%s", path);
		return ERR_NONE;
	}
	bool is_v6 = strchr(address.host, ':');
	call->url = arena_printf(rq->arena, "http://%s%s%s:%u%s", is_v6 ? "[" : "", address.host,
	                         is_v6 ? "]" : "", (unsigned)address.port, path);
	return ERR_NONE;
}

static size_t make_fields(struct request *rq, bool has_body, struct http_field fields[FIELDS_MAX])
{
	struct identity identity = {
		.account = rq->caller.account,
		.kind = KEY_SERVICE,
		.scopes = SCOPE_ALL,
	};
	size_t count = 0;
	fields[count++] =
		http_field_of(IDENTITY_HEADER, identity_sign(rq->worker->peers->signer, rq->arena,
	                                                     &identity, rq->id, time_now_ms()));
	fields[count++] = http_field_of("X-Request-Id", rq->id);
	if (rq->traceparent)
		fields[count++] = http_field_of("traceparent", rq->traceparent);
	if (has_body)
		fields[count++] = http_field_of("Content-Type", "application/json");
	return count;
}

enum err_code service_call(struct request *rq, enum api_service service, const char *method,
                           const char *path, const char *json_body,
                           struct fetch_response **ret_answer)
{
	return service_call_timeout(rq, 0, service, method, path, json_body, ret_answer);
}

enum err_code service_call_timeout(struct request *rq, uint64_t timeout_ms,
                                   enum api_service service, const char *method, const char *path,
                                   const char *json_body, struct fetch_response **ret_answer)
{
	struct http_field fields[FIELDS_MAX];
	struct fetch_call call = {
		.method = method,
		.body = json_body,
		.fields = fields,
		.timeout_ms = timeout_ms,
		.is_direct = true,
	};
	enum err_code code = set_url(rq, service, path, &call);
	if (code != ERR_NONE)
		return code;
	if (json_body)
		call.body_length = strlen(json_body);
	call.field_count = make_fields(rq, json_body, fields);
	int attempts = http_method_is_safe(method) ? 2 : 1;
	for (; attempts > 0; attempts--) {
		struct fetch_response *answer = NULL;
		code = fetch_try(rq, &call, &answer);
		if (code == ERR_NONE && answer->status != 503) {
			*ret_answer = answer;
			return ERR_NONE;
		}
		if (code == ERR_NONE)
			code = ERR_UNAVAILABLE;
		if (code != ERR_UNAVAILABLE)
			break;
	}
	return code;
}
