/** svc-evalenv/result/: results of runs, delivered by webhooks.
 *
 *     result.c     of workers, and of programs outside that say how a run went
 *     hosted.c     of platforms that host runs, in their words
 *     delivery.c   what both have in common
 */
#pragma once

#include "base/config.h"
#include "loop/request.h"

void result_deliver(struct request *rq);
void hosted_result_deliver(struct request *rq);

/** DELIVERY_RETENTION. */
extern const struct setting DELIVERY_SETTINGS[];

/** Recurring work: forget old deliveries, in batches. */
void delivery_forget(struct request *rq);
extern const int64_t DELIVERY_FORGET_EVERY_MS;
