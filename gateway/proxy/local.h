/** The operations that the gateway answers itself: keys, accounts, the description of the API.
 *
 * Such an exchange leaves the proxy for good. It gets another handler, and its arena belongs to the
 * request (request/http_request.h), which frees it in http_request_done(). So nothing here keeps
 * the exchange: its events carry what there is to pass on, and the second check of the key needs an
 * authorization only.
 */
#pragma once

#include "proxy/authorization.h"
#include "usage/key_usage.h"

struct local_request {
	struct worker *worker;
	struct key_usage *usage; /* NULL: nothing is counted */
	const struct api_match *match;
	const char *request_id;
	const struct http_field *fields; /* added to the reply */
	size_t field_count;
	bool is_complete; /* the whole request was received before */
};

/** Let the gateway's own operation have the exchange. `authorization` has decided that its caller
 * may use the operation, or the operation needs no key. All of it is in x->arena. */
void local_start(struct http_exchange *x, const struct local_request *request,
                 struct authorization *authorization);
