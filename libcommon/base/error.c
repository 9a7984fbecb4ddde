#include "base/error.h"

#include "base/base.h"

static const struct err_info TABLE[] = {
	[ERR_NONE] = {200, ERR_CLASS_NONE, "none", "OK", "no error"},
	[ERR_INVALID] = {400, ERR_CLASS_REQUEST, "invalid_request", "Bad Request",
                         "the request is invalid"},
	[ERR_MALFORMED] = {400, ERR_CLASS_REQUEST, "malformed_request", "Malformed Request",
                           "the request cannot be parsed"},
	[ERR_UNAUTHENTICATED] = {401, ERR_CLASS_REQUEST, "invalid_token", "Unauthorized",
                                 "send a valid API key, as in: Authorization: Bearer usr_..."},
	[ERR_SCOPE] = {403, ERR_CLASS_REQUEST, "insufficient_scope", "Insufficient Scope",
                       "the key lacks the scope that this operation requires"},
	[ERR_FORBIDDEN] = {403, ERR_CLASS_REQUEST, "forbidden", "Forbidden",
                           "this key is not allowed to do that, regardless of its scopes"},
	[ERR_CROSS_SITE] = {403, ERR_CLASS_REQUEST, "cross_site", "Cross-Site Request",
                            "a session can be used only by pages of this address"},
	[ERR_NOT_FOUND] = {404, ERR_CLASS_REQUEST, "not_found", "Not Found",
                           "the resource does not exist"},
	[ERR_METHOD] = {405, ERR_CLASS_REQUEST, "method_not_allowed", "Method Not Allowed",
                        "the path does not support this method; see the Allow field"},
	[ERR_CONFLICT] = {409, ERR_CLASS_STATE, "conflict", "Conflict",
                          "the request conflicts with the state of the resource"},
	[ERR_IN_PROGRESS] = {409, ERR_CLASS_LATER, "request_in_progress", "Request In Progress",
                             "the first request with this Idempotency-Key is still running"},
	[ERR_GONE] = {410, ERR_CLASS_REQUEST, "gone", "Gone",
                      "this was removed; keys are managed under /api/v1.0/account/api-keys"},
	[ERR_PRECONDITION] = {412, ERR_CLASS_STATE, "precondition_failed", "Precondition Failed",
                              "the resource has changed since it was read"},
	[ERR_TOO_LARGE] = {413, ERR_CLASS_REQUEST, "content_too_large", "Content Too Large",
                           "the content is larger than this operation accepts"},
	[ERR_MEDIA_TYPE] = {415, ERR_CLASS_REQUEST, "unsupported_media_type",
                            "Unsupported Media Type", "the content must be application/json"},
	[ERR_IDEMPOTENCY_REUSED] = {422, ERR_CLASS_REQUEST, "idempotency_key_reused",
                                    "Idempotency Key Reused",
                                    "this Idempotency-Key was already used with another request"},
	[ERR_RATE_LIMITED] = {429, ERR_CLASS_LATER, "rate_limited", "Too Many Requests",
                              "the key has exceeded its request rate; see Retry-After"},
	[ERR_HEAD_TOO_LARGE] = {431, ERR_CLASS_REQUEST, "header_fields_too_large",
                                "Request Header Fields Too Large",
                                "the head of the request is too large"},
	[ERR_INTERNAL] = {500, ERR_CLASS_FAULT, "internal_error", "Internal Server Error",
                          "an internal error occurred; it is logged under the id in instance"},
	[ERR_NOT_IMPLEMENTED] = {501, ERR_CLASS_REQUEST, "not_implemented", "Not Implemented",
                                 "the method is not known"},
	[ERR_UPSTREAM] = {502, ERR_CLASS_FAULT, "bad_gateway", "Bad Gateway",
                          "another server sent an unusable response"},
	[ERR_UNAVAILABLE] = {503, ERR_CLASS_LATER, "unavailable", "Service Unavailable",
                             "a part of the system is unavailable; nothing was done; try again"},
	[ERR_UNCERTAIN] = {503, ERR_CLASS_UNCERTAIN, "outcome_uncertain", "Outcome Uncertain",
                           "a connection broke; the request may or may not have been carried out"},
	[ERR_TIMEOUT] = {504, ERR_CLASS_FAULT, "timeout", "Deadline Passed",
                         "the request took too long"},
	[ERR_CLIENT_GONE] = {499, ERR_CLASS_FAULT, "client_gone", "Client Gone",
                             "the client closed the connection"},
	[ERR_REQUEST_TIMEOUT] = {408, ERR_CLASS_LATER, "request_timeout", "Request Timeout",
                                 "the request did not arrive in time"},
	[ERR_NOT_CONFIGURED] = {409, ERR_CLASS_STATE, "provider_not_configured",
                                "Provider Not Configured",
                                "this needs a provider that is not configured"},
	[ERR_EXPECTATION] = {417, ERR_CLASS_REQUEST, "expectation_failed", "Expectation Failed",
                             "the only supported expectation is 100-continue"},
	[ERR_VERSION] = {505, ERR_CLASS_REQUEST, "http_version_not_supported",
                         "HTTP Version Not Supported", "only HTTP/1.0 and HTTP/1.1 are supported"},
	[ERR_TARGET_TOO_LONG] = {414, ERR_CLASS_REQUEST, "uri_too_long", "URI Too Long",
                                 "the target of the request is too long"},
	[ERR_CONTENTION] = {503, ERR_CLASS_LATER, "contention", "Contention",
                            "concurrent requests were in the way; nothing was done; try again"},
	[ERR_AUTH_TYPE] = {409, ERR_CLASS_STATE, "wrong_auth_type", "Wrong Auth Type",
                           "the provider is connected in another way"},
	[ERR_MISDIRECTED] = {421, ERR_CLASS_LATER, "misdirected_request", "Misdirected Request",
                             "the request is not for this process; nothing was done"},
	[ERR_TOO_MANY_ENDPOINTS] = {409, ERR_CLASS_STATE, "too_many_endpoints",
                                    "Too Many Endpoints",
                                    "the account has as many endpoints as it may"},
	[ERR_NOT_ACCEPTABLE] = {406, ERR_CLASS_REQUEST, "not_acceptable", "Not Acceptable",
                                "no media type of this operation is acceptable"},
	[ERR_AGENT_PAUSED] = {409, ERR_CLASS_STATE, "agent_paused", "Agent Paused",
                              "the agent of the interest is paused"},
	[ERR_RESULTS_EXIST] = {409, ERR_CLASS_STATE, "results_exist", "Results Exist",
                               "the plan of an experiment with results is fixed"},
	[ERR_APP_EXISTS] = {409, ERR_CLASS_STATE, "app_exists", "App Exists",
                            "there is an app at the code host"},
	[ERR_BUDGET_REACHED] = {409, ERR_CLASS_STATE, "budget_reached", "Budget Reached",
                                "a budget of the account has too little left for a run"},
	[ERR_LAST_OWNER] = {409, ERR_CLASS_STATE, "last_owner", "Last Owner",
                            "an account has at least one owner; make another one first"},
	[ERR_OTHER_EMAIL] = {403, ERR_CLASS_REQUEST, "other_email", "Other Email",
                             "the invitation is for another address"},
	[ERR_TOO_MANY_INVITATIONS] = {409, ERR_CLASS_STATE, "too_many_invitations",
                                      "Too Many Invitations",
                                      "the account has as many open invitations as it may"},
	[ERR_LOGIN_NOT_CONFIGURED] = {404, ERR_CLASS_REQUEST, "not_configured", "Not Configured",
                                      "there is no provider at which people log in"},
	[ERR_MIXED_TEMPLATES] = {400, ERR_CLASS_REQUEST, "mixed_templates", "Mixed Templates",
                                 "the runs are of several versions of a template"},
	[ERR_ACCOUNT_CHANGED] = {409, ERR_CLASS_STATE, "account_changed", "Account Changed",
                                 "the session shows another account now; nothing was done"},
};

_Static_assert(ARRAY_LEN(TABLE) == ERR_COUNT, "every code has a row");

const struct err_info *err_info(enum err_code code)
{
	return &TABLE[(unsigned)code < ERR_COUNT ? code : ERR_INTERNAL];
}

bool err_is_final(enum err_code code)
{
	enum err_class class = err_info(code)->class;
	return class == ERR_CLASS_REQUEST || class == ERR_CLASS_STATE;
}

bool err_is_transient(enum err_code code)
{
	enum err_class class = err_info(code)->class;
	return class == ERR_CLASS_LATER || class == ERR_CLASS_UNCERTAIN;
}

bool err_is_undone(enum err_code code)
{
	return err_is_final(code) || err_info(code)->class == ERR_CLASS_LATER;
}
