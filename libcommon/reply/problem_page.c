#include "reply/problem_page.h"

#include "base/html.h"
#include "http/accept.h"
#include "input/http_call.h"
#include "reply/reply.h"

/* No script, no style, no frame. */
#define POLICY "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

void problem_page_allow(struct request *rq, const char *back)
{
	rq->http->problem_page_back = back;
}

static bool prefers_page(const struct request *rq)
{
	static const char *const TYPES[] = {"application/problem+json", "text/html"};
	return rq->http->problem_page_back &&
	       http_accept_choose(&rq->http->head, TYPES, ARRAY_LEN(TYPES)) == 1;
}

bool problem_page_reply(struct request *rq)
{
	if (!prefers_page(rq))
		return false;
	const struct err_info *info = err_info(rq->problem.code);
	struct buf html = {.arena = rq->arena};
	buf_printf(&html,
	           "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">"
	           "<meta name=\"viewport\" content=\"width=device-width\">"
	           "<meta name=\"robots\" content=\"noindex\"><title>%s</title></head>\n"
	           "<body><main><h1>%s</h1>\n<p>",
	           info->title, info->title);
	html_add_text(&html, problem_detail(rq->arena, &rq->problem));
	buf_printf(&html,
	           "</p>\n<p><a href=\"%s\">Back</a></p>\n<p><small>Request %s</small></p>\n",
	           rq->http->problem_page_back, rq->id);
	buf_puts(&html, "</main></body>\n</html>\n");
	reply_header(rq, "Content-Security-Policy", "%s", POLICY);
	reply_header(rq, "Referrer-Policy", "no-referrer");
	reply_header(rq, "Cache-Control", "no-store");
	reply_content(rq, info->status, "text/html; charset=utf-8", html.data, html.length);
	return true;
}
