#include "base/error.h"

#include "base/base.h"

static const struct err_info TABLE[] = {
	[ERR_NONE] = {200, "none", "OK", "no error"},
	[ERR_INVALID] = {400, "invalid_request", "Bad Request", "the request is invalid"},
	[ERR_MALFORMED] = {400, "malformed_request", "Malformed Request",
                           "the request cannot be parsed"},
	[ERR_UNAUTHENTICATED] = {401, "invalid_token", "Unauthorized",
                                 "send a valid API key, as in: Authorization: Bearer usr_..."},
	[ERR_SCOPE] = {403, "insufficient_scope", "Insufficient Scope",
                       "the key lacks the scope that this operation requires"},
	[ERR_FORBIDDEN] = {403, "forbidden", "Forbidden",
                           "this key is not allowed to do that, regardless of its scopes"},
	[ERR_NOT_FOUND] = {404, "not_found", "Not Found", "the resource does not exist"},
	[ERR_METHOD] = {405, "method_not_allowed", "Method Not Allowed",
                        "the path does not support this method; see the Allow field"},
	[ERR_CONFLICT] = {409, "conflict", "Conflict",
                          "the request conflicts with the state of the resource"},
	[ERR_IN_PROGRESS] = {409, "request_in_progress", "Request In Progress",
                             "the first request with this Idempotency-Key is still running"},
	[ERR_GONE] = {410, "gone", "Gone",
                      "this was removed; keys are managed under /api/v1.0/account/api-keys"},
	[ERR_PRECONDITION] = {412, "precondition_failed", "Precondition Failed",
                              "the resource has changed since it was read"},
	[ERR_TOO_LARGE] = {413, "content_too_large", "Content Too Large",
                           "the content is larger than this operation accepts"},
	[ERR_MEDIA_TYPE] = {415, "unsupported_media_type", "Unsupported Media Type",
                            "the content must be application/json"},
	[ERR_IDEMPOTENCY_REUSED] = {422, "idempotency_key_reused", "Idempotency Key Reused",
                                    "this Idempotency-Key was already used with another request"},
	[ERR_RATE_LIMITED] = {429, "rate_limited", "Too Many Requests",
                              "the key has exceeded its request rate; see Retry-After"},
	[ERR_HEAD_TOO_LARGE] = {431, "header_fields_too_large", "Request Header Fields Too Large",
                                "the head of the request is too large"},
	[ERR_INTERNAL] = {500, "internal_error", "Internal Server Error",
                          "an internal error occurred; it is logged under the id in instance"},
	[ERR_NOT_BUILT] = {501, "not_implemented", "Not Implemented",
                           "this operation is not available yet"},
	[ERR_UPSTREAM] = {502, "bad_gateway", "Bad Gateway",
                          "another server sent an unusable response"},
	[ERR_UNAVAILABLE] = {503, "unavailable", "Service Unavailable",
                             "a part of the system is unavailable; nothing was done; try again"},
	[ERR_UNCERTAIN] = {503, "outcome_uncertain", "Outcome Uncertain",
                           "a connection broke; the request may or may not have been carried out"},
	[ERR_TIMEOUT] = {504, "timeout", "Deadline Passed", "the request took too long"},
	[ERR_CLIENT_GONE] = {499, "client_gone", "Client Gone", "the client closed the connection"},
	[ERR_REQUEST_TIMEOUT] = {408, "request_timeout", "Request Timeout",
                                 "the request did not arrive in time"},
	[ERR_NOT_CONFIGURED] = {409, "provider_not_configured", "Provider Not Configured",
                                "this needs a provider that is not configured"},
	[ERR_EXPECTATION] = {417, "expectation_failed", "Expectation Failed",
                             "the only supported expectation is 100-continue"},
	[ERR_VERSION] = {505, "http_version_not_supported", "HTTP Version Not Supported",
                         "only HTTP/1.0 and HTTP/1.1 are supported"},
	[ERR_TARGET_TOO_LONG] = {414, "uri_too_long", "URI Too Long",
                                 "the target of the request is too long"},
};

_Static_assert(ARRAY_LEN(TABLE) == ERR_COUNT, "every code has a row");

const struct err_info *err_info(enum err_code code)
{
	return &TABLE[(unsigned)code < ERR_COUNT ? code : ERR_INTERNAL];
}
