/** Calls between the services of the cluster. */
#pragma once

#include "client/fetch.h"
#include "http/api.h"

/** The addresses of the services and the key that signs calls to them. Never changes. */
struct peers {
	/* By enum api_service: `http://host:port` or `unix:/path`; NULL or "": not deployed. */
	const char *const *url;
	const struct identity_signer *signer;
};

/** Call another service as KEY_SERVICE on behalf of the request's account, with a signed identity,
 * the request id and traceparent. `path` starts with `/internal/` or with the public prefix.
 * `json_body` NULL: none. A request with a safe method is tried twice. Suspends.
 * Returns the errors of fetch_try(), and ERR_UNAVAILABLE also when the service has no address or
 * replies 503. */
enum err_code service_call(struct request *rq, enum api_service service, const char *method,
                           const char *path, const char *json_body,
                           struct fetch_response **ret_answer);

/** As service_call(), with a shorter time limit for an optional answer: returns ERR_TIMEOUT after
 * `timeout_ms` (0: what is left of the request's deadline, at most 30,000). */
enum err_code service_call_timeout(struct request *rq, uint64_t timeout_ms,
                                   enum api_service service, const char *method, const char *path,
                                   const char *json_body, struct fetch_response **ret_answer);
