/** Calls between the services of the cluster. */
#pragma once

#include "client/fetch.h"
#include "http/api.h"

/** Where the services are and how a call to them is signed; never changes. */
struct peers {
	const char *const *
		url; /* by enum api_service: `http://host:port` or `unix:/path`; "": not deployed */
	const struct identity_signer *signer;
};

/** Ask another service of the cluster as KEY_SERVICE on behalf of the request's account: identity,
 * request id and traceparent are set. `path` starts with `/internal/` or with the public prefix.
 * GETs are tried twice. `json_body` NULL: none. ERR_UNAVAILABLE as well where the service's address
 * is not configured or it answers 503. */
enum err_code service_call(struct request *rq, enum api_service service, const char *method,
                           const char *path, const char *json_body,
                           struct fetch_answer **ret_answer);

/** As service_call(), for an answer that one can do without: waits at most `timeout_ms` (0: what is
 * left of the request's deadline, at most 30,000) and then returns ERR_TIMEOUT. */
enum err_code service_call_within(struct request *rq, uint64_t timeout_ms, enum api_service service,
                                  const char *method, const char *path, const char *json_body,
                                  struct fetch_answer **ret_answer);
