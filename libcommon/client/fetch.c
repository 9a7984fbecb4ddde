#include "client/fetch.h"

#include "base/base.h"
#include "base/timefmt.h"
#include "base/url.h"
#include "client/transfer.h"
#include "http/method.h"
#include "json/json.h"
#include "loop/fiber.h"
#include "loop/worker.h"
#include "observe/log.h"
#include "observe/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define TIMEOUT_MAX_MS     30000
#define RETRY_AFTER_MAX_MS 3600000

enum http_effect fetch_effect(const struct fetch_call *call)
{
	return http_effect_of(call->effect, call->method);
}

static bool was_sent(CURL *easy)
{
	curl_off_t before_us = 0;
	curl_easy_getinfo(easy, CURLINFO_PRETRANSFER_TIME_T, &before_us);
	return before_us > 0;
}

/* The error code for libcurl's result. */
static enum err_code result_code(const struct transfer *transfer, const struct fetch_call *call)
{
	bool is_safe = fetch_effect(call) == HTTP_SAFE;
	if (transfer->failure)
		return transfer->failure;
	if (transfer->is_cut)
		return ERR_NONE;
	if (transfer->is_refused && transfer->result != CURLE_OK)
		return ERR_FORBIDDEN;
	switch (transfer->result) {
	case CURLE_OK:
		return ERR_NONE;
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
	case CURLE_COULDNT_CONNECT:
		return ERR_UNAVAILABLE;
	case CURLE_OPERATION_TIMEDOUT:
		return was_sent(transfer->easy) ? ERR_TIMEOUT : ERR_UNAVAILABLE;
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_GOT_NOTHING:
	case CURLE_PARTIAL_FILE:
	case CURLE_HTTP2:
	case CURLE_HTTP2_STREAM:
		return is_safe || !was_sent(transfer->easy) ? ERR_UNAVAILABLE : ERR_UNCERTAIN;
	default:
		return ERR_UPSTREAM;
	}
}

static long status_of(const struct transfer *transfer)
{
	long status = 0;
	curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

/* Whether the server had ended a kept connection before the request came, with a 408 that nobody
 * has read since (RFC 9110 section 15.5.9). libcurl finds other ends itself, and takes a new
 * connection. */
static bool was_ended(const struct transfer *transfer)
{
	long connects = 1;
	curl_easy_getinfo(transfer->easy, CURLINFO_NUM_CONNECTS, &connects);
	return connects == 0 && transfer->result == CURLE_OK &&
	       status_of(transfer) == err_info(ERR_REQUEST_TIMEOUT)->status;
}

static struct fetch_response *answer_of(struct transfer *transfer)
{
	struct fetch_response *answer = arena_new_of(transfer->arena, struct fetch_response);
	answer->status = (int)status_of(transfer);
	answer->fields = transfer->answer_fields;
	answer->field_count = transfer->field_count;
	answer->body = transfer->body.length ? transfer->body.data : "";
	answer->body_length = transfer->body.length;
	return answer;
}

/* The monotonic time at which the call ends. */
static uint64_t end_of(const struct request *rq, const struct fetch_call *call)
{
	uint64_t limit_ms = call->timeout_ms ? call->timeout_ms : TIMEOUT_MAX_MS;
	return time_monotonic_ms() + MIN_OF(request_left_ms(rq), limit_ms);
}

/* RFC 9110 section 5.5. libcurl would send a value with line ends as several fields. */
static bool has_control_character(const char *value)
{
	for (const unsigned char *at = (const unsigned char *)value; *at; at++)
		if ((*at < 0x20 && *at != '\t') || *at == 0x7f)
			return true;
	return false;
}

static bool are_fields_valid(const struct fetch_call *call)
{
	for (size_t i = 0; i < call->field_count; i++)
		if (has_control_character(call->fields[i].value))
			return false;
	return true;
}

/* The call with the trace, for a service. */
static struct fetch_call with_trace(struct request *rq, const struct fetch_call *call,
                                    const char *traceparent)
{
	struct fetch_call traced = *call;
	if (!call->service || !traceparent)
		return traced;
	struct http_field *fields =
		arena_array(rq->arena, call->field_count + 1, sizeof(struct http_field));
	if (call->field_count)
		memcpy(fields, call->fields, call->field_count * sizeof(struct http_field));
	fields[traced.field_count++] = http_field_of("traceparent", traceparent);
	traced.fields = fields;
	return traced;
}

/* `https://api.example.org:8443/v1/x` -> `api.example.org` */
static const char *host_of(struct request *rq, const char *url)
{
	const char *shown = url_without_secrets(rq->arena, url, false),
		   *scheme = strstr(shown, "://");
	const char *host = scheme ? scheme + 3 : shown;
	return arena_strndup(rq->arena, host, strcspn(host, "/:"));
}

static void end_span(struct request *rq, const struct span *span, const struct fetch_call *call,
                     enum err_code code, const struct fetch_response *answer)
{
	if (!span)
		return;
	const char *method = call->method ? call->method : "GET";
	const char *host = call->service ? call->service : host_of(rq, call->url);
	span_end(span, arena_printf(rq->arena, "%s %s", method, host),
	         code != ERR_NONE || answer->status >= 400, f_text("http.request.method", method),
	         f_text("server.address", host),
	         f_int("http.response.status_code", answer ? answer->status : 0),
	         f_text("error.type", code ? err_info(code)->slug : NULL));
}

static void report_failure(struct transfer *transfer, const struct fetch_call *call)
{
	const char *why =
		transfer->error[0] ? transfer->error : curl_easy_strerror(transfer->result);
	if (call->ret_why)
		snprintf(call->ret_why, call->why_size, "%s", why);
	if (call->ret_is_unresolved)
		*call->ret_is_unresolved = transfer->result == CURLE_COULDNT_RESOLVE_HOST;
	log_info("call failed",
	         f_text("url",
	                url_without_secrets(transfer->arena, call->url, call->url_is_secret)),
	         f_text("why", why));
}

struct outcome {
	struct fetch_response *answer; /* NULL: none */
	bool is_sent, was_ended;
};

static enum err_code run_transfer(struct request *rq, const struct fetch_call *call,
                                  uint64_t end_ms, struct outcome *outcome)
{
	uint64_t now_ms = time_monotonic_ms();
	struct transfer *transfer;
	*outcome = (struct outcome){0};
	enum err_code code =
		transfer_start(rq, call, MAX_OF(end_ms, now_ms + 1) - now_ms, &transfer);
	if (code)
		return code;
	code = transfer_wait(transfer);
	if (code == ERR_NONE) {
		outcome->was_ended = was_ended(transfer);
		code = result_code(transfer, call);
		if (code != ERR_NONE)
			report_failure(transfer, call);
	}
	outcome->answer = code == ERR_NONE ? answer_of(transfer) : NULL;
	outcome->is_sent = was_sent(transfer->easy);
	struct arena *arena = transfer->arena;
	transfer_end(transfer);
	if (outcome->answer)
		arena_adopt(rq->arena, arena);
	else
		arena_free(arena);
	return code;
}

enum err_code fetch_once(struct request *rq, const struct fetch_call *call,
                         struct fetch_response **ret_answer, bool *ret_is_sent)
{
	request_require_no_transaction(rq);
	rq->has_effects |= fetch_effect(call) == HTTP_ONCE;
	*ret_is_sent = false;
	if (!are_fields_valid(call))
		return ERR_UPSTREAM;
	const char *traceparent = rq->traceparent;
	struct span *span = span_begin(rq->arena, SPAN_CLIENT, rq->id, &traceparent);
	struct fetch_call traced = with_trace(rq, call, traceparent);
	uint64_t end_ms = end_of(rq, call);
	struct outcome outcome;
	enum err_code code = run_transfer(rq, &traced, end_ms, &outcome);
	if (outcome.was_ended) {
		traced.is_fresh = true;
		code = run_transfer(rq, &traced, end_ms, &outcome);
	}
	end_span(rq, span, call, code, outcome.answer);
	*ret_is_sent = outcome.is_sent;
	if (outcome.answer)
		*ret_answer = outcome.answer;
	return code;
}

enum err_code fetch_try(struct request *rq, const struct fetch_call *call,
                        struct fetch_response **ret_answer)
{
	bool is_sent;
	return fetch_once(rq, call, ret_answer, &is_sent);
}

void fetch_raise_if_full(struct request *rq, enum err_code code)
{
	if (code != ERR_RATE_LIMITED && code != ERR_CONTENTION)
		return;
	raise_retry_later(rq, code, 1, "%s",
	                  code == ERR_CONTENTION
	                          ? "too many calls of outside addresses are in progress; try again"
	                          : "too many calls of outside addresses are in progress for this "
	                            "account; try again when one has ended");
}

const char *fetch_json(struct arena *arena, const struct fetch_response *answer,
                       yyjson_val **ret_root)
{
	const char *why;
	enum err_code code = json_parse_peer(arena, answer->body, answer->body_length,
	                                     FETCH_VALUES_MAX, ret_root, &why);
	return code ? why : NULL;
}

const char *fetch_json_outside(struct arena *arena, const struct fetch_response *answer,
                               yyjson_val **ret_root)
{
	const char *why;
	enum err_code code = json_parse_lenient(arena, answer->body, answer->body_length,
	                                        FETCH_VALUES_MAX, ret_root, &why);
	return code ? why : NULL;
}

const char *fetch_field(const struct fetch_response *answer, const char *name)
{
	for (size_t i = 0; i < answer->field_count; i++) {
		if (strcasecmp(answer->fields[i].name, name) == 0)
			return answer->fields[i].value;
	}
	return NULL;
}

uint64_t fetch_retry_after_within_ms(const struct fetch_response *answer, uint64_t max_ms)
{
	const char *text = fetch_field(answer, "Retry-After");
	if (!text)
		return 0;
	char *end;
	long long seconds = strtoll(text, &end, 10);
	if (end == text || *end) {
		time_t until = curl_getdate(text, NULL);
		seconds = until < 0 ? 0 : (long long)(until - time(NULL));
	}
	return seconds > 0 ? MIN_OF((uint64_t)seconds, max_ms / 1000) * 1000 : 0;
}

uint64_t fetch_retry_after_ms(const struct fetch_response *answer)
{
	return fetch_retry_after_within_ms(answer, RETRY_AFTER_MAX_MS);
}

int64_t fetch_date_s(const struct fetch_response *answer)
{
	const char *text = fetch_field(answer, "Date");
	time_t date = text ? curl_getdate(text, NULL) : -1;
	return MAX_OF((int64_t)date, 0);
}
