#include "error.h"

#include "defines.h"

static const struct err_info TABLE[] = {
	[ERR_NONE] = {200, "none", "OK"},
	[ERR_INVALID] = {400, "invalid_request", "Bad Request"},
	[ERR_MALFORMED] = {400, "malformed_request", "Malformed Request"},
	[ERR_UNAUTHENTICATED] = {401, "invalid_token", "Unauthorized"},
	[ERR_SCOPE] = {403, "insufficient_scope", "Insufficient Scope"},
	[ERR_FORBIDDEN] = {403, "forbidden", "Forbidden"},
	[ERR_NOT_FOUND] = {404, "not_found", "Not Found"},
	[ERR_METHOD] = {405, "method_not_allowed", "Method Not Allowed"},
	[ERR_CONFLICT] = {409, "conflict", "Conflict"},
	[ERR_IN_PROGRESS] = {409, "request_in_progress", "Request In Progress"},
	[ERR_GONE] = {410, "gone", "Gone"},
	[ERR_PRECONDITION] = {412, "precondition_failed", "Precondition Failed"},
	[ERR_TOO_LARGE] = {413, "content_too_large", "Content Too Large"},
	[ERR_MEDIA_TYPE] = {415, "unsupported_media_type", "Unsupported Media Type"},
	[ERR_IDEMPOTENCY_REUSED] = {422, "idempotency_key_reused", "Idempotency Key Reused"},
	[ERR_RATE_LIMITED] = {429, "rate_limited", "Too Many Requests"},
	[ERR_HEAD_TOO_LARGE] = {431, "header_fields_too_large", "Request Header Fields Too Large"},
	[ERR_INTERNAL] = {500, "internal_error", "Internal Server Error"},
	[ERR_NOT_BUILT] = {501, "not_implemented", "Not Implemented"},
	[ERR_UPSTREAM] = {502, "bad_gateway", "Bad Gateway"},
	[ERR_UNAVAILABLE] = {503, "unavailable", "Service Unavailable"},
	[ERR_UNCERTAIN] = {503, "outcome_uncertain", "Outcome Uncertain"},
	[ERR_TIMEOUT] = {504, "timeout", "Deadline Passed"},
	[ERR_CLIENT_GONE] = {499, "client_gone", "Client Gone"},
	[ERR_REQUEST_TIMEOUT] = {408, "request_timeout", "Request Timeout"},
	[ERR_NOT_CONFIGURED] = {409, "provider_not_configured", "Provider Not Configured"},
	[ERR_EXPECTATION] = {417, "expectation_failed", "Expectation Failed"},
	[ERR_VERSION] = {505, "http_version_not_supported", "HTTP Version Not Supported"},
};

_Static_assert(ARRAY_LEN(TABLE) == ERR_COUNT, "every code has a row");

const struct err_info *err_info(enum err_code code)
{
	return &TABLE[(unsigned)code < ERR_COUNT ? code : ERR_INTERNAL];
}
