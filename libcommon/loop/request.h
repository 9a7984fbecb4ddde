/** A request: the state of one piece of work in a fiber: an HTTP request, a job or an event.
 *
 * It owns an arena, a deadline and an identity. Every function that suspends takes the request as
 * its first argument. A failure is raised: the fiber ends, and its one exit writes the problem
 * reply (or records the failed attempt of the job).
 *
 * How a request ends: its fiber ends; everything registered with request_hold() is released, newest
 * first; the request waits until each request_pin() is undone (members of its group pin it,
 * wait.h); then `done` runs.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "crypto/identity.h"
#include "json/problem.h"
#include "loop/fiber.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fault;
struct http_call;
struct request_hold;
struct request_run;
struct worker;

struct request {
	struct worker *worker;
	struct arena *arena;
	struct fiber *fiber;     /* NULL once it has ended */
	const char *id;          /* X-Request-Id */
	const char *traceparent; /* W3C Trace Context; NULL: none was sent */
	struct identity caller;
	uint64_t deadline_ms;   /* time_monotonic_ms() at which it is cancelled */
	struct problem problem; /* why it was raised */
	/* of its last failed pg_try() and redis_try(); NULL: none */
	const struct fault *pg_fault, *redis_fault;
	/* It has changed something that a failure does not undo, in Postgres, Redis or elsewhere:
	 * it must not run again by itself. */
	bool has_effects;
	struct http_call *http;     /* input/http_call.h; NULL for a job or an event */
	void *user;                 /* for the module that started it */
	bool is_in_transaction;     /* between pg_begin() and its end (pg/pg.h) */
	struct request_hold *holds; /* this and the next: internal to request.c */
	struct request_run *run;
};

typedef void request_fn(struct request *rq);

/** Run `fn` as a new request for which no client waits (an event, a job, a timer). It has its own
 * fiber and arena, and no identity. Its deadline is `timeout_ms` from now. When it has ended,
 * `done` (may be NULL) is called, and then the request is freed. Returns nothing, because the
 * request may have ended already. Copies the id. */
void request_spawn(struct worker *worker, const char *id, uint64_t timeout_ms, request_fn *fn,
                   request_fn *done, void *user);

/** Cancel the request's fiber for `reason`, if it has not ended. */
void request_cancel(struct request *rq, enum err_code reason);

/** End the fiber with a failure; `detail` is one sentence for the client. Does not return. */
attr_noreturn void raise_error(struct request *rq, enum err_code code, const char *detail, ...)
	attr_printf(3, 4) attr_nonnull(1, 3);

/** As raise_error(), and asks to come again: Retry-After of the reply, the least pause of a job.
 * `retry_after_s` 0: it is not said when. */
attr_noreturn void raise_retry_later(struct request *rq, enum err_code code, unsigned retry_after_s,
                                     const char *detail, ...) attr_printf(4, 5) attr_nonnull(1, 4);

/** End the fiber with a failure that is known already, such as that of a member (wait.h): with all
 * that it says, unlike raise_error() with its code and detail. Its texts live as long as the
 * request. */
attr_noreturn void raise_problem(struct request *rq, const struct problem *problem)
	attr_nonnull(1, 2);

/** An arena for secrets, which is wiped when the request ends. The request's own is wiped then,
 * too: it has what they were read from. */
struct arena *request_secrets_arena(struct request *rq);

/** Raise ERR_INVALID naming one field. */
attr_noreturn void raise_field(struct request *rq, const char *field, const char *message, ...)
	attr_printf(3, 4) attr_nonnull(1, 3);

/** Raise rq->problem if problem_add_field() has added invalid fields to it. */
void raise_if_faults(struct request *rq);

/** Suspend until woken; raises when cancelled (by the deadline, or because the client
 * disconnected). For modules that suspend. */
void request_wait(struct request *rq);

/** require()s that the request has no open transaction. For modules that wait for something other
 * than Postgres: a process that stops during such a wait would keep the transaction's locks. */
void request_require_no_transaction(const struct request *rq);

/** Milliseconds until the deadline, 0 when it has passed. */
uint64_t request_left_ms(const struct request *rq);

/** Work page by page, so that the memory of one page is freed before the next begins.
 * request_page_begin() replaces rq->arena by a new arena; request_page_end() frees that and
 * restores the one before. begin returns the arena before: copy into it what must outlive the page.
 * Pages may be nested. The end of a page also releases what was registered with request_hold() in
 * it.
 *
 * A raise ends every page: when the request is done, rq->arena is its own arena again. What was
 * allocated in the pages (the problem's detail) is then kept until the request is freed. */
struct arena *request_page_begin(struct request *rq);
void request_page_end(struct request *rq);

/** Register `held`, a resource that is not memory, such as an open transaction: `release(rq, held)`
 * is called when the current page or the fiber ends. It must not suspend or raise. */
typedef void request_release_fn(struct request *rq, void *held);
void request_hold(struct request *rq, request_release_fn *release, void *held);

/** The `held` of the newest registration with that `release`; NULL: there is none. */
void *request_held(const struct request *rq, request_release_fn *release);

/** Remove the newest registration with that `release`, without calling it. require()s that there is
 * one. */
void request_unhold(struct request *rq, request_release_fn *release);

/** Keep the request and its arena alive until request_unpin(), even when its fiber has ended. */
void request_pin(struct request *rq);
void request_unpin(struct request *rq);
