#include "base/error.h"

#include "base/base.h"

static const struct err_info TABLE[] = {
	[ERR_NONE] = {200, "none", "OK", "all is well"},
	[ERR_INVALID] = {400, "invalid_request", "Bad Request", "the request breaks its contract"},
	[ERR_MALFORMED] = {400, "malformed_request", "Malformed Request",
                           "the request cannot be read"},
	[ERR_UNAUTHENTICATED] = {401, "invalid_token", "Unauthorized",
                                 "send a valid API key, as in: Authorization: Bearer usr_..."},
	[ERR_SCOPE] = {403, "insufficient_scope", "Insufficient Scope",
                       "the key lacks the scope that this operation asks for"},
	[ERR_FORBIDDEN] = {403, "forbidden", "Forbidden",
                           "this key may not do that, whatever its scopes"},
	[ERR_NOT_FOUND] = {404, "not_found", "Not Found", "there is nothing here"},
	[ERR_METHOD] = {405, "method_not_allowed", "Method Not Allowed",
                        "the path does not take this method; see the Allow field"},
	[ERR_CONFLICT] = {409, "conflict", "Conflict", "it conflicts with what is there"},
	[ERR_IN_PROGRESS] = {409, "request_in_progress", "Request In Progress",
                             "the first request with this Idempotency-Key is still running"},
	[ERR_GONE] = {410, "gone", "Gone",
                      "this was removed; keys are managed under /api/v1.0/account/api-keys"},
	[ERR_PRECONDITION] = {412, "precondition_failed", "Precondition Failed",
                              "it has changed since it was read"},
	[ERR_TOO_LARGE] = {413, "content_too_large", "Content Too Large",
                           "the content is larger than this operation takes"},
	[ERR_MEDIA_TYPE] = {415, "unsupported_media_type", "Unsupported Media Type",
                            "the content must be application/json"},
	[ERR_IDEMPOTENCY_REUSED] = {422, "idempotency_key_reused", "Idempotency Key Reused",
                                    "this Idempotency-Key came before with another request"},
	[ERR_RATE_LIMITED] = {429, "rate_limited", "Too Many Requests",
                              "the key makes more requests than it may; see Retry-After"},
	[ERR_HEAD_TOO_LARGE] = {431, "header_fields_too_large", "Request Header Fields Too Large",
                                "the head of the request is too large"},
	[ERR_INTERNAL] = {500, "internal_error", "Internal Server Error",
                          "something went wrong here; the log has it under the instance's id"},
	[ERR_NOT_BUILT] = {501, "not_implemented", "Not Implemented",
                           "this operation is planned and not available yet"},
	[ERR_UPSTREAM] = {502, "bad_gateway", "Bad Gateway",
                          "a service that was asked gave no usable answer"},
	[ERR_UNAVAILABLE] = {503, "unavailable", "Service Unavailable",
                             "a part of the system is away and nothing was done; try again"},
	[ERR_UNCERTAIN] = {503, "outcome_uncertain", "Outcome Uncertain",
                           "a connection broke on the way: it may have been done or not"},
	[ERR_TIMEOUT] = {504, "timeout", "Deadline Passed", "it took longer than it may"},
	[ERR_CLIENT_GONE] = {499, "client_gone", "Client Gone", "the client went away"},
	[ERR_REQUEST_TIMEOUT] = {408, "request_timeout", "Request Timeout",
                                 "the request did not arrive in time"},
	[ERR_NOT_CONFIGURED] = {409, "provider_not_configured", "Provider Not Configured",
                                "this needs a provider that is not configured"},
	[ERR_EXPECTATION] = {417, "expectation_failed", "Expectation Failed",
                             "no expectation but 100-continue can be met"},
	[ERR_VERSION] = {505, "http_version_not_supported", "HTTP Version Not Supported",
                         "only HTTP/1.0 and HTTP/1.1 are spoken"},
	[ERR_TARGET_TOO_LONG] = {414, "uri_too_long", "URI Too Long",
                                 "the target of the request is too long"},
};

_Static_assert(ARRAY_LEN(TABLE) == ERR_COUNT, "every code has a row");

const struct err_info *err_info(enum err_code code)
{
	return &TABLE[(unsigned)code < ERR_COUNT ? code : ERR_INTERNAL];
}
