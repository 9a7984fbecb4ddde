/* The life of a request:
 *
 *     COLLECTING --on_end--> RUNNING --fiber ended--> REPLIED --on_done--> freed
 *          |                    |
 *          |                    +-- contention, without effects: RUNNING again
 *          |                    +-- client gone: the fiber is cancelled, nothing is sent
 *          +-- refused: REPLIED at once
 */
#include "request/http_request.h"

#include "base/timefmt.h"
#include "input/content_coding.h"
#include "input/input.h"
#include "json/json.h"
#include "loop/request_list.h"
#include "loop/wait.h"
#include "loop/worker.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "observe/trace.h"
#include "pacing/backoff.h"
#include "pg/pg.h"
#include "reply/etag.h"
#include "reply/reply.h"
#include "request/idempotency.h"
#include "service/process.h"

#include <string.h>

METRIC_COUNTER(requests_total, "expops_http_requests_total",
               "Requests answered by operation and status.", "operation", "status");
METRIC_HISTOGRAM(request_seconds, "expops_http_request_seconds",
                 "Time from a request's first byte to its reply by operation.", "operation");

/* Collecting the body. `call` is the rq->http of the request. */
struct collected {
	struct http_call call;
	request_fn *handle;
	bool is_refused;
	bool is_decoded;        /* the content is free of codings */
	bool is_running;        /* its fiber, or a member of its group, has not ended */
	unsigned runs;          /* of the handler, begun so far */
	struct problem problem; /* of the handler, while its reservation is given up */
	bool is_releasing;
	struct span *span; /* NULL: not traced */
};

/* Handlers running at once in a process. Each has a stack, which is two memory mappings (stack and
 * guard page); Linux allows a process 65,530 (vm.max_map_count). */
#define RUNNING_MAX 16384

/* A handler that concurrent work was in the way of runs this often, with these pauses. */
#define RUNS_MAX         6
#define RUN_PAUSE_MS     5
#define RUN_PAUSE_MAX_MS 200

/* For giving up the reservation of a request that failed (idempotency.h). */
#define RELEASE_MS 2000

static struct collected *collected_of(struct request *rq)
{
	return CONTAINER_OF(rq->http, struct collected, call);
}

struct request *http_request_new(struct worker *worker, struct http_exchange *exchange,
                                 const struct api_match *match, const struct identity *caller,
                                 const char *client, const char *request_id, request_fn *handle,
                                 size_t body_max_bytes)
{
	struct arena *arena = exchange->arena;
	exchange->arena = NULL;
	struct request *rq = arena_new_of(arena, struct request);
	struct collected *collected = arena_new_of(arena, struct collected);
	rq->worker = worker;
	rq->arena = arena;
	rq->id = request_id;
	rq->http = &collected->call;
	if (caller)
		rq->caller = *caller;
	collected->call = (struct http_call){
		.exchange = exchange,
		.head = exchange->head,
		.op = match->op,
		.match = *match,
		.body = "",
	};
	collected->handle = handle;
	if (http_call_needs_key(match->op))
		http_body_init(&rq->http->received, arena, &rq->caller.account, body_max_bytes,
		               exchange->head.content_length);
	else
		http_body_init_open(&rq->http->received, arena, client, body_max_bytes,
		                    exchange->head.content_length);
	rq->traceparent = http_head_get(&exchange->head, "traceparent");
	collected->span = span_begin(arena, SPAN_SERVER, request_id, &rq->traceparent);
	if (exchange->head.content_length > (int64_t)body_max_bytes && body_max_bytes)
		http_request_refuse(rq, &(struct problem){ERR_TOO_LARGE});
	return rq;
}

static void report_finished(struct request *rq, int status)
{
	struct http_exchange *exchange = rq->http->exchange;
	const char *operation = rq->http->op ? rq->http->op->name : "internal";
	uint64_t duration_us = time_monotonic_us() - exchange->started_us;
	metric_add(&requests_total, operation, http_status_class(status), 1);
	metric_observe_seconds(&request_seconds, operation, NULL, (double)duration_us / 1e6);
	log_set_request_id(rq->id);
	log_info("request finished", f_text("operation", operation),
	         f_text("method", rq->http->head.method), f_int("status", status),
	         f_ms("duration_ms", duration_us), f_text("peer", exchange->peer),
	         f_text("problem", rq->problem.code ? rq->problem.detail : NULL));
	log_set_request_id(NULL);
	span_end(collected_of(rq)->span, operation, status >= 500,
	         f_text("http.request.method", rq->http->head.method),
	         f_int("http.response.status_code", status), f_text("expops.request_id", rq->id),
	         f_text("error.type", rq->problem.code ? err_info(rq->problem.code)->slug : NULL));
}

/* Replace a reply that is too large for the memory of answers. */
static void limit_reply(struct request *rq)
{
	enum err_code code = reply_take_memory(rq);
	rq->problem.code = code;
	rq->problem.retry_after_s = code ? 1 : 0;
	if (code == ERR_UNAVAILABLE)
		rq->problem.detail = "too many large answers are being sent; try again";
	else if (code)
		rq->problem.detail =
			"too many large answers to this account are being sent; try again";
}

static void send_reply(struct request *rq)
{
	if (!rq->problem.code)
		limit_reply(rq);
	if (rq->problem.code)
		reply_problem(rq);
	else
		etag_validate(rq);
	report_finished(rq, rq->http->reply->status);
	reply_send(rq);
	http_body_drop(&rq->http->received);
}

void http_request_refuse(struct request *rq, const struct problem *problem)
{
	struct collected *collected = collected_of(rq);
	if (collected->is_refused)
		return;
	collected->is_refused = true;
	rq->problem = *problem;
	send_reply(rq);
}

void http_request_content(struct request *rq, const char *data, size_t length)
{
	struct collected *collected = collected_of(rq);
	struct problem problem = {ERR_NONE};
	if (collected->is_refused)
		return;
	if (rq->http->received.max_bytes > 0)
		problem.code = http_body_add(&rq->http->received, data, length);
	if (problem.code == ERR_UNAVAILABLE || problem.code == ERR_RATE_LIMITED)
		problem = http_call_full_problem(rq, problem.code);
	if (problem.code)
		http_request_refuse(rq, &problem);
}

static void set_body(struct request *rq)
{
	const struct http_body *body = &rq->http->received;
	if (!body->length)
		return;
	rq->http->body = body->data;
	rq->http->body_length = body->length;
}

/* Decode the content, once for all runs of the handler. */
static void decode_body(struct request *rq)
{
	struct collected *collected = collected_of(rq);
	if (collected->is_decoded || !rq->http->received.length)
		return;
	content_decode(rq, &rq->http->received);
	collected->is_decoded = true;
	set_body(rq);
}

static void run_handler(struct request *rq)
{
	decode_body(rq);
	const struct api_op *op = rq->http->op;
	bool has_key = op && op->flags & API_CREATES && request_header(rq, "Idempotency-Key");
	unsigned runs = collected_of(rq)->runs++;
	etag_refuse_if_match(rq);
	if (runs > 0)
		fiber_sleep(rq, backoff_ms(runs, RUN_PAUSE_MS, RUN_PAUSE_MAX_MS));
	if (has_key)
		request_body_prepare(rq);
	if (has_key && idempotency_begin(rq))
		return;
	collected_of(rq)->handle(rq);
	require(reply_of(rq)->status);
	/* Every operation refuses parameters that it does not have. */
	require(rq->http->is_input_read || !rq->http->op);
	if (has_key)
		idempotency_finish(rq);
	while (!has_key && pg_in_transaction(rq)) /* a handler may begin one in another */
		pg_commit(rq);
}

static void run(struct request *rq, request_fn *fn, request_fn *done)
{
	collected_of(rq)->is_running = true;
	request_run(rq, fn, done);
}

static void handler_ended(struct request *rq);

/* Run the handler again if concurrent work was in its way and it has changed nothing. */
static bool run_again(struct request *rq)
{
	if (rq->problem.code != ERR_CONTENTION || rq->has_effects || !rq->http->exchange ||
	    collected_of(rq)->runs >= RUNS_MAX)
		return false;
	rq->problem = (struct problem){0};
	rq->http->reply = NULL;
	rq->http->ignored = NULL;
	run(rq, run_handler, handler_ended);
	return true;
}

/* The reply was sent as it was made. */
static void end_stream(struct request *rq)
{
	const struct problem *problem = &rq->problem;
	report_finished(rq,
	                problem->code ? err_info(problem->code)->status : rq->http->reply->status);
	reply_stream_end(rq);
	http_body_drop(&rq->http->received);
}

/* Answer, or free the request of a client that has disconnected. */
static void request_over(struct request *rq)
{
	if (rq->http->exchange && rq->http->stream)
		end_stream(rq);
	else if (rq->http->exchange)
		send_reply(rq);
	else
		arena_free(rq->arena);
}

static void reservation_released(struct request *rq)
{
	struct collected *collected = collected_of(rq);
	collected->is_running = collected->is_releasing = false;
	rq->problem = collected->problem;
	request_over(rq);
}

/* The handler has failed: give its reservation up before that is answered, so that a repetition can
 * begin. */
static void release_reservation(struct request *rq)
{
	struct collected *collected = collected_of(rq);
	collected->problem = rq->problem;
	collected->is_releasing = true;
	rq->problem = (struct problem){0};
	rq->deadline_ms = time_monotonic_ms() + RELEASE_MS;
	run(rq, idempotency_release, reservation_released);
}

/* A handler that has replied has done its work. When the commit or storing its answer then fails,
 * its effects elsewhere, such as a run that was started, are not undone. */
static void tell_effects(struct request *rq)
{
	enum err_code code = rq->problem.code;
	const struct reply *reply = rq->http->reply;
	bool says_undone = code == ERR_UNAVAILABLE || code == ERR_CONTENTION;
	if (says_undone && rq->has_effects && reply && reply->status && reply->status < 400)
		rq->problem = (struct problem){.code = ERR_UNCERTAIN};
}

static void handler_ended(struct request *rq)
{
	collected_of(rq)->is_running = false;
	if (run_again(rq))
		return;
	if (!rq->http->stream)
		tell_effects(rq);
	if (rq->http->reservation)
		release_reservation(rq);
	else
		request_over(rq);
}

void http_request_end(struct request *rq)
{
	struct collected *collected = collected_of(rq);
	size_t running_max = RUNNING_MAX / (size_t)rq->worker->process->worker_count;
	if (collected->is_refused)
		return;
	if (request_list_count(rq->worker->requests) >= running_max) {
		http_request_refuse(
			rq,
			&(struct problem){
				.code = ERR_UNAVAILABLE,
				.detail = "too many requests are in progress; nothing was done, "
					  "try again",
			});
		return;
	}
	rq->deadline_ms =
		time_monotonic_ms() + (uint64_t)rq->worker->process->settings->request_timeout_ms;
	run(rq, run_handler, handler_ended);
}

void http_request_drained(struct request *rq)
{
	reply_send_more(rq);
}

void http_request_gone(struct request *rq, enum err_code reason)
{
	(void)reason;
	if (rq->fiber && !collected_of(rq)->is_releasing)
		fiber_cancel(rq->fiber, ERR_CLIENT_GONE);
}

void http_request_done(struct request *rq)
{
	rq->http->exchange = NULL;
	if (!collected_of(rq)->is_running)
		arena_free(rq->arena);
}

void http_refuse_problem(struct arena *arena, enum err_code code, const char *detail,
                         const char *request_id, const char **ret_body, size_t *ret_length)
{
	struct problem problem = {.code = code, .detail = detail};
	*ret_body = problem_body(arena, &problem, request_id, ret_length);
}

void http_request_set_limits(size_t body_memory_bytes, size_t answer_memory_bytes)
{
	http_body_set_limit(body_memory_bytes);
	reply_set_limit(answer_memory_bytes);
}
