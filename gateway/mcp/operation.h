/** Making a request of an operation on behalf of the caller of a request: from the gateway, and not
 * over a connection.
 *
 * The request goes the way of the client's own: through the worker's proxy (proxy/proxy.h), which
 * checks the key, its rate limits, its scopes and its limits, signs the caller's identity, passes
 * the request to a replica of the service and writes the log line. Only the bytes of HTTP between
 * client and proxy are missing. So a tool can do nothing that its key cannot do by REST, and the
 * call counts as a request of the key.
 */
#pragma once

#include "http/api.h"
#include "http/head.h"
#include "loop/request.h"

#include <yyjson.h>

#include <stdint.h>

struct operation_call {
	const struct api_op *op;     /* of a service, not of the gateway */
	const char *target;          /* the path with its parameters, and the query */
	const char *json_body;       /* NULL: none */
	const char *idempotency_key; /* NULL: none */
};

/** In the arena of the request. */
struct operation_answer {
	/* ERR_NONE. Else why there is no answer, or only its status: ERR_UPSTREAM it is incomplete,
	 * over 8 MiB or not JSON; ERR_UNAVAILABLE, ERR_RATE_LIMITED, ERR_TOO_LARGE there is no
	 * memory for it (http/body.h); ERR_TIMEOUT the request's deadline passed, and what else it
	 * is cancelled for. */
	enum err_code failure;
	int status;            /* 0: there is no answer */
	yyjson_val *json;      /* NULL: the answer has no content */
	int64_t total;         /* X-Total-Count; -1: the answer has none */
	int64_t retry_after_s; /* Retry-After; 0: none */
};

/** Make the request with the key of `rq`, its id and its trace, and wait for the answer, of any
 * status but 401. The answer's memory counts in that of bodies (http/body.h). A request that is
 * cancelled can be answered afterwards, and can wait for nothing else.
 *
 * Raises: ERR_UNAUTHENTICATED the key was revoked meanwhile (401), which is the answer of HTTP
 * then; ERR_CLIENT_GONE. */
struct operation_answer operation_call(struct request *rq, const struct operation_call *call);

/** Whether the operation changes something, and it is not known whether it has. */
bool operation_is_uncertain(const struct api_op *op, const struct operation_answer *answer);
