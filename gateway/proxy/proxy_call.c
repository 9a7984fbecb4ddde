/* The service's side of an exchange: the call, what goes into it and what comes out of it. */
#include "base/base.h"
#include "base/timefmt.h"
#include "proxy/proxy_internal.h"

#include <stdio.h>
#include <string.h>

#define RETRIES_MAX 2 /* of a call: a kept connection, then one to a replica that drains */

bool proxy_call_content(struct proxied *p, const char *data, size_t length)
{
	uv_buf_t bufs[4];
	unsigned count = 0;
	char size[24];
	bool is_chunked = p->has_content && p->x->head.is_chunked;
	if (!p->is_head_sent)
		bufs[count++] = uv_buf_init(p->head.data, (unsigned)p->head.length);
	if (is_chunked) {
		int digits = snprintf(size, sizeof(size), "%zx\r\n", length);
		bufs[count++] = uv_buf_init(size, (unsigned)digits);
	}
	if (length > 0)
		bufs[count++] = uv_buf_init((char *)data, (unsigned)length);
	if (is_chunked)
		bufs[count++] = uv_buf_init("\r\n", 2);
	p->is_head_sent = true;
	p->is_content_sent |= length > 0;
	return count > 0 && upstream_send(p->call, bufs, count);
}

void proxy_call_end(struct proxied *p)
{
	if (p->x->head.is_chunked)
		proxy_call_content(p, NULL, 0);
	upstream_sent(p->call);
}

/* The connection is there. A head with content waits for its first piece, to go out with it. */
static void send_begin(struct proxied *p)
{
	proxy_move(p, PROXY_SEND);
	if (!p->has_content) {
		proxy_call_content(p, NULL, 0);
		upstream_sent(p->call);
	} else if (p->is_complete) { /* no piece came, and this is another try */
		proxy_call_end(p);
	} else {
		http_content_resume(p->x);
	}
}

static const struct upstream_handler UPSTREAM_HANDLER;

static void call_service(struct proxied *p, bool is_fresh)
{
	struct upstream *service = p->proxy->services[p->match.op->service];
	bool is_ready;
	if (service == NULL) {
		proxy_answer_code(p, ERR_UNAVAILABLE, "the service is not configured");
		return;
	}
	p->is_head_sent = false;
	p->call_started_us = time_monotonic_us();
	p->call = upstream_call(service, p->x->arena, &UPSTREAM_HANDLER, p, p->x->head.is_head,
	                        is_fresh, &is_ready);
	if (is_ready) {
		send_begin(p);
		return;
	}
	proxy_move(p, PROXY_CONNECT);
	if (p->has_content)
		http_content_pause(p->x);
}

static void on_ready(void *user)
{
	send_begin(user);
}

static void on_answer(void *user, const struct upstream_answer *answer)
{
	struct proxied *p = user;
	p->answer_us = time_monotonic_us() - p->call_started_us;
	proxy_move(p, PROXY_RELAY);
	proxy_respond(p, answer);
}

static void on_answer_content(void *user, const char *data, size_t length)
{
	struct proxied *p = user;
	if (http_respond_content(p->x, data, length))
		upstream_pause(p->call);
}

static void on_answer_end(void *user)
{
	struct proxied *p = user;
	p->call = NULL;
	proxy_move(p, PROXY_ANSWERED);
	http_respond_end(p->x);
}

static void on_service_drained(void *user)
{
	struct proxied *p = user;
	http_content_resume(p->x);
}

/* Asking twice does what asking once does (RFC 9110 section 9.2.2). */
static bool is_idempotent(const struct proxied *p)
{
	const struct http_head *head = &p->x->head;
	return head->is_head || strcmp(head->method, "GET") == 0 ||
	       strcmp(head->method, "PUT") == 0 || strcmp(head->method, "DELETE") == 0 ||
	       p->match.op->flags & API_READS;
}

/* A connection that died may have been closed before our request reached anybody: a kept one by its
 * idle time, a new one by a replica that began to drain while it waited to be accepted. */
static bool is_retried(struct proxied *p, const struct upstream_failure *failure)
{
	bool is_harmless = !p->is_head_sent || (is_idempotent(p) && !p->is_content_sent);
	return (failure->is_reused || failure->has_connected) && !failure->has_answered &&
	       is_harmless && p->retries < RETRIES_MAX && failure->code == ERR_UNAVAILABLE;
}

static void on_failed(void *user, const struct upstream_failure *failure)
{
	struct proxied *p = user;
	enum err_code code = failure->code;
	p->call = NULL;
	p->reason = failure->reason;
	if (is_retried(p, failure)) {
		p->retries++;
		p->reason = NULL;
		proxy_report_retry(p);
		call_service(p, true);
		return;
	}
	bool is_uncertain = failure->has_connected && p->is_head_sent && !is_idempotent(p);
	if (code == ERR_UNAVAILABLE && is_uncertain)
		code = ERR_UNCERTAIN;
	proxy_fail(p, code, failure->reason);
}

static const struct upstream_handler UPSTREAM_HANDLER = {
	.on_ready = on_ready,
	.on_answer = on_answer,
	.on_content = on_answer_content,
	.on_end = on_answer_end,
	.on_drained = on_service_drained,
	.on_failed = on_failed,
};

void proxy_call(struct proxied *p)
{
	proxy_compose(p);
	call_service(p, false);
}
