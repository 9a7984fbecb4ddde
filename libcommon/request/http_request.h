/** libcommon/request/: the life of a request, from an HTTP exchange that is matched and
 * authenticated to a handler and back: collects the body, runs the handler in a fiber, sends its
 * reply.
 *
 * Called by the listener of a service (http_service.h), and by the gateway for the operations that
 * it answers itself. Handlers use input/input.h and reply/reply.h instead of this header.
 */
#pragma once

#include "http/api.h"
#include "http/server.h"
#include "input/http_call.h"
#include "loop/request.h"

#include <stddef.h>

/** Make the request of an exchange that has been matched and authenticated. Copies `match` and
 * `caller` (NULL: no identity); takes the exchange's arena. `match->op` is NULL for an internal
 * route. `client` is the address of the client, whose share a body without a key is. The caller's
 * http_handler passes its callbacks on to the functions below. */
struct request *http_request_new(struct worker *worker, struct http_exchange *exchange,
                                 const struct api_match *match, const struct identity *caller,
                                 const char *client, const char *request_id, request_fn *handle,
                                 size_t body_max_bytes);

/** For on_content: append to the body. Replies and drops the rest of the body: 413 over
 * body_max_bytes; 503 when the bodies of all requests exceed BODY_MEMORY, or those without a key
 * half of it; 429 when those of the account, or of the client, exceed its share. */
void http_request_content(struct request *rq, const char *data, size_t length);

/** For on_end: the body is complete, start the handler; REQUEST_TIMEOUT begins here. A handler that
 * fails with ERR_CONTENTION, and whose request has no effects so far, is run again a few times,
 * from its beginning. Replies 503 when 16,384 requests, divided evenly among the workers, run
 * already in the process. */
void http_request_end(struct request *rq);

/** For on_drained: send more of the reply. */
void http_request_drained(struct request *rq);

/** For on_gone: the client has disconnected. Cancels the handler with ERR_CLIENT_GONE. */
void http_request_gone(struct request *rq, enum err_code reason);

/** For on_done: the exchange is over and is not used again. Frees the request, now or when its
 * fiber and the members of its group have ended. */
void http_request_done(struct request *rq);

/** Reply a problem without running the handler. Its texts live until the request is done. */
void http_request_refuse(struct request *rq, const struct problem *problem);

/** The `refuse` member of every struct http_handler: writes a problem body. */
void http_refuse_problem(struct arena *arena, enum err_code code, const char *detail,
                         const char *request_id, const char **ret_body, size_t *ret_length);

/** Set the limits for the bodies and for the large answers of all requests together. Once, before
 * threads. */
void http_request_set_limits(size_t body_memory_bytes, size_t answer_memory_bytes);
