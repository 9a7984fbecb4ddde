/* From an HTTP exchange to a request and back: collects the body, runs the handler in a fiber,
 * sends the reply.
 *
 *     COLLECTING --end--> RUNNING --fiber over--> REPLIED --exchange over--> freed
 *          |                 |
 *          +--- refused -----+--- client gone: the fiber is cancelled, nothing is sent
 */
#include "service/http_request.h"

#include "base/log.h"
#include "base/metrics.h"
#include "base/timefmt.h"
#include "http/body.h"
#include "loop/request_list.h"
#include "loop/worker.h"
#include "service/idempotency.h"
#include "service/input.h"
#include "service/process.h"
#include "service/reply.h"

static struct metric requests_total =
	METRIC_COUNTER("expops_http_requests_total", "Requests answered by operation and status.",
                       "operation", "status");
static struct metric request_seconds =
	METRIC_HISTOGRAM("expops_http_request_seconds",
                         "Time from a request's first byte to its reply by operation.",
                         "operation");

/* What collecting the body needs, behind the request. */
struct collected {
	struct http_call call;
	struct http_body body;
	request_fn *handle;
	bool is_refused;
};

/* At once in a process: each has a stack, and that is two of the 65,530 mappings that Linux allows it
 * (vm.max_map_count). */
#define RUNNING_MAX 16384

#define NO_MEMORY "too many large requests at once and nothing was done; try again"

static struct collected *collected_of(struct request *rq)
{
	return CONTAINER_OF(rq->http, struct collected, call);
}

struct request *http_request_new(struct worker *worker, struct http_exchange *exchange,
                                 const struct api_match *match, const struct identity *caller,
                                 const char *request_id, request_fn *handle, size_t body_max_bytes)
{
	struct arena *arena = exchange->arena;
	exchange->arena = NULL;
	struct request *rq = arena_new_of(arena, struct request);
	struct collected *collected = arena_new_of(arena, struct collected);
	rq->worker = worker;
	rq->arena = arena;
	rq->id = request_id;
	rq->http = &collected->call;
	rq->deadline_ms =
		time_monotonic_ms() + (uint64_t)worker->process->settings->request_timeout_ms;
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
	http_body_init(&collected->body, arena, body_max_bytes, exchange->head.content_length);
	rq->traceparent = http_head_get(&exchange->head, "traceparent");
	if (exchange->head.content_length > (int64_t)body_max_bytes && body_max_bytes)
		http_request_refuse(rq, ERR_TOO_LARGE, NULL);
	return rq;
}

/* Status classes as labels: exact statuses would be as good, these are fewer. */
static const char *status_class(int status)
{
	static const char *const CLASSES[] = {"0xx", "1xx", "2xx", "3xx", "4xx", "5xx"};
	return CLASSES[status / 100 < 6 ? status / 100 : 0];
}

static void report(struct request *rq, int status)
{
	struct http_exchange *exchange = rq->http->exchange;
	const char *operation = rq->http->op ? rq->http->op->name : "internal";
	double seconds = (double)(time_monotonic_us() - exchange->started_us) / 1e6;
	metric_add(&requests_total, operation, status_class(status), 1);
	metric_observe_seconds(&request_seconds, operation, NULL, seconds);
	log_set_request_id(rq->id);
	log_info(LOG_GROUP_HTTP, "request finished", f_text("operation", operation),
	         f_text("method", rq->http->head.method), f_int("status", status),
	         f_float("duration_ms", seconds * 1e3), f_text("peer", exchange->peer),
	         f_text("problem", rq->problem.code ? rq->problem.detail : NULL));
	log_set_request_id(NULL);
}

static void send_reply(struct request *rq)
{
	if (rq->problem.code)
		reply_problem(rq);
	report(rq, rq->http->reply->status);
	reply_send(rq);
	http_body_drop(&collected_of(rq)->body);
}

void http_request_refuse(struct request *rq, enum err_code code, const char *detail)
{
	struct collected *collected = collected_of(rq);
	if (collected->is_refused)
		return;
	collected->is_refused = true;
	rq->problem.code = code;
	if (detail)
		rq->problem.detail = detail;
	send_reply(rq);
}

void http_request_content(struct request *rq, const char *data, size_t length)
{
	struct collected *collected = collected_of(rq);
	enum err_code code = ERR_NONE;
	if (collected->is_refused)
		return;
	if (request_left_ms(rq) == 0)
		code = ERR_REQUEST_TIMEOUT;
	else if (collected->body.max_bytes > 0)
		code = http_body_add(&collected->body, data, length);
	if (code)
		http_request_refuse(rq, code, code == ERR_UNAVAILABLE ? NO_MEMORY : NULL);
}

static void run_handler(struct request *rq)
{
	const struct api_op *op = rq->http->op;
	bool has_key = op && op->flags & API_CREATES && request_header(rq, "Idempotency-Key");
	if (has_key && idempotency_begin(rq))
		return;
	collected_of(rq)->handle(rq);
	require(reply_of(rq)->status);
	if (has_key)
		idempotency_finish(rq);
}

static void handler_over(struct request *rq)
{
	if (rq->http->exchange)
		send_reply(rq);
	else
		arena_free(rq->arena);
}

void http_request_end(struct request *rq)
{
	struct collected *collected = collected_of(rq);
	size_t running_max = RUNNING_MAX / (size_t)rq->worker->process->worker_count;
	if (collected->is_refused)
		return;
	if (request_list_count(rq->worker->requests) >= running_max) {
		http_request_refuse(rq, ERR_UNAVAILABLE,
		                    "too many requests at once and nothing was done; try again");
		return;
	}
	if (collected->body.length) {
		rq->http->body = collected->body.data;
		rq->http->body_length = collected->body.length;
	}
	request_run(rq, run_handler, handler_over);
}

void http_request_gone(struct request *rq, enum err_code reason)
{
	(void)reason;
	if (rq->fiber)
		fiber_cancel(rq->fiber, ERR_CLIENT_GONE);
}

void http_request_done(struct request *rq)
{
	rq->http->exchange = NULL;
	if (!rq->fiber)
		arena_free(rq->arena);
}

void http_refuse_problem(struct arena *arena, enum err_code code, const char *detail,
                         const char *request_id, const char **ret_body, size_t *ret_length)
{
	struct problem problem = {.code = code, .detail = detail};
	*ret_body = problem_body(arena, &problem, request_id, ret_length);
}

void http_request_register(size_t body_memory_bytes)
{
	http_body_register(body_memory_bytes);
	metric_register(&requests_total);
	metric_register(&request_seconds);
}
