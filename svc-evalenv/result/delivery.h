/** Taking a delivery of a result, of whatever form. Internal to this folder. */
#pragma once

#include "loop/request.h"

#include <yyjson.h>

struct delivery {
	const char *run; /* of delivery_run(); NULL: there is none */
	int64_t attempt; /* 0: it is not from a worker that has claimed the run */
	/* {"status", "metrics", "results", "artifacts", "error", "call_id"}: members of
	 * webhooks/results, and `pending` */
	const char *result;
};

/** Add a fault for each metric that is no number. `metrics` may be NULL. */
void metrics_check(struct request *rq, const char *field, yyjson_val *metrics);

/** Add a fault if the delivery has an id (`webhook-id`) that cannot be one. */
void delivery_id_check(struct request *rq);

/** The id of the run that the body names by `run_id`, else of the one that has the call (NULL: none
 * is named), and whose signature is right, if its template has a secret. NULL: there is no such
 * run. Before the rest of the body is looked at, so that faults are shown to those alone who can
 * sign. Suspends. Raises ERR_UNAUTHENTICATED: the signature is missing or wrong; ERR_CONFLICT: runs
 * of several accounts have the call. */
const char *delivery_run(struct request *rq, const char *call_id);

/** Store the result, once for each webhook-id of the run, and reply. Raises ERR_NOT_FOUND: no such
 * run; ERR_CONFLICT: the run has ended, or is not this attempt's any more. */
void delivery_take(struct request *rq, const struct delivery *delivery);
