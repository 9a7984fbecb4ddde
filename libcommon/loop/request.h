/** A request: what a fiber works on, be it an HTTP exchange, a job or an event.
 *
 * It owns an arena, a deadline and an identity. Every function that suspends takes the request as
 * its first argument. A failure is raised: the fiber ends, and its one exit writes the problem reply
 * (or records the failed attempt of the job).
 *
 * A request's end: the fiber ends; what the request holds is released, newest first; the request
 * waits for its pins to be given back (members of its group, wait.h); then `done` runs.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/identity.h"
#include "base/problem.h"
#include "loop/fiber.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_call;
struct request_hold;
struct request_run;
struct worker;

struct request {
	struct worker *worker;
	struct arena *arena;
	struct fiber *fiber;     /* NULL once it has ended */
	const char *id;          /* X-Request-Id */
	const char *traceparent; /* W3C Trace Context; NULL: none came */
	struct identity caller;
	uint64_t deadline_ms;   /* time_monotonic_ms() at which it is cancelled */
	struct problem problem; /* why it was raised */
	struct http_call
		*http; /* what HTTP adds (service/http_request.h); NULL for a job or an event */
	void *user;    /* for the module that started it */
	struct request_hold *holds; /* internal to request.c, as the next */
	struct request_run *run;
};

typedef void request_fn(struct request *rq);

/** Run `fn` in a fiber of its own for work that no client waits for (an event, a job, a timer's): a
 * new arena, no identity. `done` (may be NULL) is called with the request still alive, then the
 * request is freed. `timeout_ms` from now is its deadline. It may have ended when this returns, so
 * nothing is returned: `fn` can make itself known. Copies the id. */
void request_spawn(struct worker *worker, const char *id, uint64_t timeout_ms, request_fn *fn,
                   request_fn *done, void *user);

/** Cancel the request's fiber, if it still runs, for `reason`. */
void request_cancel(struct request *rq, enum err_code reason);

/** End the fiber with a failure; `detail` is one sentence for the client. Does not return. */
attr_noreturn void raise_error(struct request *rq, enum err_code code, const char *detail, ...)
	attr_printf(3, 4) attr_nonnull(1, 3);

/** Raise ERR_INVALID naming one field. */
attr_noreturn void raise_field(struct request *rq, const char *field, const char *message, ...)
	attr_printf(3, 4) attr_nonnull(1, 3);

/** Raise what was gathered in rq->problem with problem_add_field(), if anything was. */
void raise_if_faults(struct request *rq);

/** Suspend until woken; raises when cancelled (deadline, client gone). For modules that suspend. */
void request_wait(struct request *rq);

/** Milliseconds until the deadline, 0 when it has passed. */
uint64_t request_left_ms(const struct request *rq);

/** Work page by page, so that the memory of one page is freed before the next: from begin on
 * rq->arena is a new one, which end frees, and puts the one before it back. Returns the one before:
 * copy into it what must outlive the page. Pages may be nested. A raise leaves every page: rq->arena
 * is the request's own again when the request is done, and what was allocated in the pages (the
 * problem's detail) lives as long as the request. What the request began to hold in the page is
 * released at its end. */
struct arena *request_page_begin(struct request *rq);
void request_page_end(struct request *rq);

/** Have `release(rq, held)` called when the fiber has ended or the page that is open now ends, for
 * what a request holds beyond its memory: an open transaction. It must not suspend or raise. */
typedef void request_release_fn(struct request *rq, void *held);
void request_hold(struct request *rq, request_release_fn *release, void *held);

/** The newest thing that is held with that `release`; NULL: none. */
void *request_held(const struct request *rq, request_release_fn *release);

/** Forget it: it was released otherwise. require()s that it is held. */
void request_unhold(struct request *rq, request_release_fn *release);

/** Keep the request, and what is in its arena, from ending until request_unpin(). */
void request_pin(struct request *rq);
void request_unpin(struct request *rq);
