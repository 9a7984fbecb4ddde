/** Removes the content coding of a request before its handler runs. So everything that reads the
 * content (input.h, Idempotency-Key, signatures of webhooks) sees what the client encoded, and the
 * limit of the operation holds for that. */
#pragma once

#include "http/body.h"
#include "loop/request.h"

/** Decode the content of the request, `body`, in place. Nothing is done without a Content-Encoding.
 * Suspends when much is to be decoded, which is then done on the thread pool; no transaction may be
 * open.
 *
 * Raises ERR_MEDIA_TYPE: the coding is not gzip; ERR_MALFORMED: the content is not valid gzip;
 * ERR_TOO_LARGE: it decodes to more than body->max_bytes; ERR_UNAVAILABLE or ERR_RATE_LIMITED as
 * http_request_content(). */
void content_decode(struct request *rq, struct http_body *body);
