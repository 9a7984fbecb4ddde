/** Taking a delivery of a result, of whatever form. Internal to this folder. */
#pragma once

#include "loop/request.h"

#include <yyjson.h>

struct delivery {
	const char *run_id;  /* or: */
	const char *call_id; /* of a hosted platform; NULL: none */
	int64_t attempt;     /* 0: it is not from a worker that has claimed the run */
	/* {"status", "metrics", "results", "artifacts", "error", "call_id"}: members of
	 * webhooks/results, and `pending` */
	const char *result;
};

/** Add a fault for each metric that is no number. `metrics` may be NULL. */
void metrics_check(struct request *rq, const char *field, yyjson_val *metrics);

/** Check the signature, if the run's template has a secret; store the result, once for each
 * webhook-id; and reply. Raises ERR_NOT_FOUND: no such run; ERR_UNAUTHENTICATED: the signature is
 * missing or wrong; ERR_CONFLICT: the run has ended, or is not this attempt's any more, or runs of
 * several accounts have the call. */
void delivery_take(struct request *rq, const struct delivery *delivery);
