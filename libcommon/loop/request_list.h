/** Runs requests and lists the running ones. For the layers that make requests (HTTP, jobs,
 * events), not for handlers. */
#pragma once

#include "loop/request.h"

#include <uv.h>

struct request_list;

/** The running requests of one worker. Cancels those whose deadline has passed. */
struct request_list *request_list_new(uv_loop_t *loop);
void request_list_free(struct request_list *list);
size_t request_list_count(const struct request_list *list);

/** Cancel all of them. */
void request_list_cancel(struct request_list *list, enum err_code reason);

/** Run `run(rq)` in a fiber; `done(rq)` is called once it has ended, with rq->fiber NULL. The
 * caller has filled worker, arena, id and deadline, and owns the request. A raise leaves
 * rq->problem.code set. When there is no memory for a stack, rq->problem is ERR_UNAVAILABLE and
 * only `done` is called. */
void request_run(struct request *rq, request_fn *run, request_fn *done);
