#include "base/timefmt.h"
#include "http/internal_api.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "observe/trace.h"
#include "proxy/proxy_internal.h"

METRIC_COUNTER(requests_total, "expops_proxy_requests_total",
               "Requests passed on to a service or refused, by operation and status.", "operation",
               "status");
METRIC_HISTOGRAM(request_seconds, "expops_proxy_request_seconds",
                 "Time from a request's first byte to the end of its response.", "operation");
METRIC_HISTOGRAM(answer_seconds, "expops_proxy_answer_seconds",
                 "Time from the call of a service to the head of its answer.", "operation");
METRIC_COUNTER(retries_total, "expops_proxy_retries_total",
               "Calls repeated because a connection broke before the answer.", "operation");

static const char *operation_of(const struct proxy_exchange *p)
{
	return p->match.op ? p->match.op->name : "none";
}

void proxy_report_retry(const struct proxy_exchange *p)
{
	metric_add(&retries_total, operation_of(p), NULL, 1);
}

static void end_spans(const struct proxy_exchange *p, const char *operation, int status)
{
	const char *error = p->code ? err_info(p->code)->slug : NULL;
	const char *service = p->match.op ? api_service_name(p->match.op->service) : NULL;
	span_end(p->call_span, service, status >= 500,
	         f_text("http.request.method", p->x->head.method),
	         f_text("server.address", service), f_int("http.response.status_code", status),
	         f_int("http.request.resend_count", p->sent_count + p->unsent_count),
	         f_text("error.type", error));
	span_end(p->span, operation, status >= 500,
	         f_text("http.request.method", p->x->head.method),
	         f_int("http.response.status_code", status),
	         f_text("expops.request_id", p->request_id), f_text("error.type", error));
}

void proxy_report(const struct proxy_exchange *p)
{
	const struct http_exchange *x = p->x;
	const char *operation = operation_of(p);
	int status = p->state == PROXY_ABORTED ? err_info(ERR_CLIENT_GONE)->status : x->status;
	uint64_t duration_us = time_monotonic_us() - x->started_us;
	metric_add(&requests_total, operation, http_status_class(status), 1);
	metric_observe_seconds(&request_seconds, operation, NULL, (double)duration_us / 1e6);
	if (p->answer_us > 0)
		metric_observe_seconds(&answer_seconds, operation, NULL,
		                       (double)p->answer_us / 1e6);
	if (p->authorization.has_caller)
		key_usage_count(p->proxy->parts.usage, &p->authorization.caller, p->match.op,
		                status);
	log_set_request_id(p->request_id);
	log_info("request finished", f_text("operation", operation),
	         f_text("method", x->head.method), f_int("status", status),
	         f_ms("duration_ms", duration_us), f_ms("upstream_ms", p->answer_us),
	         f_int("received_bytes", p->received_bytes), f_int("sent_bytes", x->sent_bytes),
	         f_text("peer", x->peer), f_text("error", p->code ? err_info(p->code)->slug : NULL),
	         f_text("reason", p->reason));
	log_set_request_id(NULL);
	end_spans(p, operation, status);
}
