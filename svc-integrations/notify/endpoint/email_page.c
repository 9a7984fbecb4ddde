#include "notify/endpoint/email_page.h"

#include "base/html.h"
#include "email_confirmation.sql.h"
#include "input/input.h"
#include "notify/endpoint/email_confirmation.h"
#include "observe/log.h"
#include "reply/reply.h"

#include <string.h>

/* No script, no style, no frame, and no other site gets to know the token. */
#define POLICY "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

struct page_input {
	const char *token;
};

static const struct field TOKEN_FIELDS[] = {
	PATH_TEXT(struct page_input, token, "token", 1, 200),
	FIELD_END,
};

/* The address is between the two texts; `button` is NULL where nothing is left to do. */
struct page {
	const char *title, *before, *after, *button;
};

static void reply_page_html(struct request *rq, int status, const struct page *page,
                            const char *address)
{
	struct buf html = {.arena = rq->arena};
	buf_printf(&html,
	           "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">"
	           "<meta name=\"viewport\" content=\"width=device-width\">"
	           "<meta name=\"robots\" content=\"noindex\"><title>%s</title></head>\n"
	           "<body><main><h1>%s</h1>\n<p>%s",
	           page->title, page->title, page->before);
	html_add_text(&html, address);
	buf_printf(&html, "%s</p>\n", page->after);
	if (page->button)
		buf_printf(&html,
		           "<form method=\"post\"><button type=\"submit\">%s</button></form>\n",
		           page->button);
	buf_puts(&html, "</main></body>\n</html>\n");
	reply_header(rq, "Content-Security-Policy", "%s", POLICY);
	reply_header(rq, "Referrer-Policy", "no-referrer");
	reply_header(rq, "Cache-Control", "no-store");
	reply_content(rq, status, "text/html; charset=utf-8", html.data, html.length);
}

/* What a statement finds by the token of the path: the page about this address, or that there is
 * none. Returns what it has found. */
static struct pg_rows *answer(struct request *rq, const char *sql, const struct page *page)
{
	static const struct page NONE = {"This link is not valid",
	                                 "It is too old, or it was replaced by another.", "", NULL};
	struct page_input *in = request_input(rq, struct page_input, TOKEN_FIELDS);
	struct pg_rows *rows = pg_query(rq, sql, pg_sha256(in->token));
	if (pg_empty(rows))
		reply_page_html(rq, 404, &NONE, "");
	else
		reply_page_html(rq, 200, page, pg_get(rows, 0, "email"));
	return rows;
}

void email_confirm_page(struct request *rq)
{
	answer(rq, EMAIL_CONFIRMATION_FIND_SQL,
	       &(struct page){"Do you want messages?",
	                      "An account of expops wants to send messages to ", ".",
	                      "Send me messages"});
}

void email_confirm(struct request *rq)
{
	answer(rq, EMAIL_CONFIRMATION_CONFIRM_SQL,
	       &(struct page){"Confirmed", "Messages are sent to ", " from now on.", NULL});
}

void email_unsubscribe_page(struct request *rq)
{
	answer(rq, EMAIL_CONFIRMATION_SUBSCRIBER_SQL,
	       &(struct page){"Unsubscribe", "Messages of an account of expops are sent to ", ".",
	                      "Send me no more"});
}

void email_unsubscribe(struct request *rq)
{
	struct pg_rows *rows =
		answer(rq, EMAIL_CONFIRMATION_UNSUBSCRIBE_SQL,
	               &(struct page){"Unsubscribed", "Nothing more is sent to ", ".", NULL});
	if (!pg_empty(rows))
		log_always("endpoint unsubscribed", f_text("endpoint_id", pg_get(rows, 0, "id")));
}
