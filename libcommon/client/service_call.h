/** Calls between the services of the cluster.
 *
 * Each call takes an endpoint of the service (client/endpoints.h). One that could not be sent, or
 * that the endpoint did not handle (408 without content, 421), goes to another endpoint. One that
 * can be sent again (enum http_effect) is sent to a second endpoint when the first closes the
 * connection, replies 503, or has not answered after a third of the time; it is never sent a third
 * time, since it may be the request that ends the service.
 */
#pragma once

#include "client/fetch.h"
#include "client/peers.h"
#include "http/api.h"

struct service_client;

/** Make a worker's client of the other services. Borrows. */
struct service_client *service_client_new(uv_loop_t *loop, const struct peers *peers);

/** Free; require()s that no call is running. The loop has to run on for libuv's callbacks. NULL is
 * fine. */
void service_client_free(struct service_client *client);

struct service_call {
	enum api_service service;
	const char *method;        /* NULL: GET */
	const char *path;          /* starts with `/internal/` or with the public prefix */
	const char *json_body;     /* NULL: none */
	uint64_t timeout_ms;       /* 0: what is left of the request's deadline, at most 30,000 */
	size_t response_max_bytes; /* 0: as in struct fetch_call */
	enum http_effect effect;   /* what sending it again does */
};

/** Call another service as KEY_SERVICE on behalf of the request's account, with a signed identity,
 * the request id and traceparent, and wait for the answer. A repository that the caller's key
 * proves to be the account's is passed on. Suspends. The service answers 404 or 403 unless
 * internal.def lists the operation for this process. Returns the errors of fetch_try(),
 * ERR_UNAVAILABLE also when the service has no address, when this process has no secret for it, or
 * when it replies 503, and ERR_UNCERTAIN also when it replies so, or when an earlier endpoint may
 * have done what the last one has not; `*ret_answer` is set then, too, and is otherwise
 * unchanged. */
enum err_code service_call(struct request *rq, const struct service_call *call,
                           struct fetch_response **ret_answer);
