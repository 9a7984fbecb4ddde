/** svc-evalenv/run/: runs of evaluations, of a template or of an image that was built. */
#pragma once

#include "queue/queue.h"

extern const struct queue RUNS;

void run_list(struct request *rq);
void run_create(struct request *rq);
void run_get(struct request *rq);
void run_cancel(struct request *rq);
void run_claim(struct request *rq);
void run_heartbeat(struct request *rq);
