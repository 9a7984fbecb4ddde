#include "notify/format/email.h"

#include "base/base.h"
#include "base/html.h"
#include "base/url.h"
#include "base/utf8.h"

#include <string.h>

#define SUBJECT_MAX 150 /* bytes of what happened */

/* Both forms of a text, which grow together. */
struct writer {
	struct buf text, html;
};

static struct writer writer_begin(struct arena *arena)
{
	struct writer writer = {.text = {.arena = arena}, .html = {.arena = arena}};
	buf_puts(&writer.html,
	         "<!doctype html>\r\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
	         "</head><body style=\"font-family: sans-serif; max-width: 40em\">\r\n");
	return writer;
}

/* A text of others, on one line. */
static void add_line_of(struct buf *out, const char *text)
{
	for (; *text; text++)
		buf_add(out, (unsigned char)*text < ' ' ? " " : text, 1);
}

/* Whether to link an address of others: a mail program would run one of another scheme. */
static bool is_link(const char *url)
{
	const char *why;
	return url && url_is_link(url, strlen(url), &why);
}

static void add_link(struct buf *html, const char *url, const char *words)
{
	if (is_link(url)) {
		buf_puts(html, "<a href=\"");
		html_add_text(html, url);
		buf_puts(html, "\">");
	}
	html_add_text(html, words);
	if (is_link(url))
		buf_puts(html, "</a>");
}

/* A paragraph that is, or begins with, a link. */
static void add_heading(struct writer *writer, const char *words, const char *url)
{
	add_line_of(&writer->text, words);
	if (is_link(url))
		buf_printf(&writer->text, "\r\n%s", url);
	buf_puts(&writer->text, "\r\n\r\n");
	buf_puts(&writer->html, "<p><strong>");
	add_link(&writer->html, url, words);
	buf_puts(&writer->html, "</strong></p>\r\n");
}

static void add_paragraph(struct writer *writer, const char *words)
{
	add_line_of(&writer->text, words);
	buf_puts(&writer->text, "\r\n\r\n");
	buf_puts(&writer->html, "<p>");
	html_add_text(&writer->html, words);
	buf_puts(&writer->html, "</p>\r\n");
}

/* `high (0.80) · A. One, B. Two` */
static const char *paper_line(struct arena *arena, const struct content_paper *paper)
{
	struct buf out = {.arena = arena};
	buf_puts(&out, paper->score);
	for (size_t i = 0; paper->authors[i]; i++)
		buf_printf(&out, "%s%s", i ? ", " : " · ", paper->authors[i]);
	return out.data;
}

static void add_actions(struct writer *writer, const struct content_paper *paper)
{
	buf_puts(&writer->html, "<p>");
	for (size_t i = 0; i < paper->action_count; i++) {
		buf_printf(&writer->text, "%s: %s\r\n", paper->actions[i].words,
		           paper->actions[i].url);
		buf_puts(&writer->html, i ? " · " : "");
		add_link(&writer->html, paper->actions[i].url, paper->actions[i].words);
	}
	buf_puts(&writer->text, "\r\n");
	buf_puts(&writer->html, "</p>\r\n");
}

static void add_paper(struct writer *writer, const struct content_paper *paper)
{
	if (paper->interest)
		add_paragraph(writer, paper->interest);
	add_heading(writer, paper->title, paper->url);
	add_paragraph(writer, paper_line(writer->text.arena, paper));
	if (paper->reason)
		add_paragraph(writer, paper->reason);
	if (paper->action_count)
		add_actions(writer, paper);
}

static struct email_text close_text(struct writer *writer, const char *subject)
{
	buf_puts(&writer->html, "</body></html>\r\n");
	return (struct email_text){subject, writer->text.data, writer->html.data};
}

/* The end of a mail: why it came, and how to get none. */
static struct email_text finish(struct writer *writer, const char *subject,
                                const struct email_reason *reason)
{
	static const char WHY[] =
		"An account of expops sends messages to this address, as its endpoint ";
	buf_printf(&writer->text, "-- \r\n%s", WHY);
	add_line_of(&writer->text, reason->endpoint);
	buf_printf(&writer->text, ".\r\nUnsubscribe: %s\r\n", reason->unsubscribe_url);
	buf_printf(&writer->html, "<hr><p><small>%s", WHY);
	html_add_text(&writer->html, reason->endpoint);
	buf_puts(&writer->html, ". ");
	add_link(&writer->html, reason->unsubscribe_url, "Unsubscribe");
	buf_puts(&writer->html, "</small></p>\r\n");
	return close_text(writer, subject);
}

struct email_text email_write(struct arena *arena, const struct content *content,
                              const struct email_reason *reason)
{
	struct writer writer = writer_begin(arena);
	add_heading(&writer, content->sentence, content->url);
	for (size_t i = 0; i < content->paper_count; i++)
		add_paper(&writer, &content->papers[i]);
	if (content->message)
		add_paragraph(&writer, content->message);
	if (content->all_papers > content->paper_count)
		add_heading(&writer,
		            arena_printf(arena, "and %zu more",
		                         content->all_papers - content->paper_count),
		            content->url);
	const char *subject = arena_printf(arena, "[expops] %s",
	                                   utf8_shorten(arena, content->sentence, SUBJECT_MAX));
	return finish(&writer, subject, reason);
}

struct email_text email_confirmation_write(struct arena *arena, const char *confirm_url,
                                           const struct email_reason *reason)
{
	struct writer writer = writer_begin(arena);
	add_paragraph(&writer,
	              "An account of expops wants to send messages to this address. Nothing "
	              "is sent unless you agree within 24 hours.");
	add_heading(&writer, "Agree to get messages", confirm_url);
	add_paragraph(&writer, "If you did not expect this, ignore it.");
	return finish(&writer, "[expops] Do you want to get messages?", reason);
}

/* Whether a mail program could take a part of a name for an address, to which strangers would be
 * sent: `evil.example`, `//evil`, `a@b`. A full stop at the end of a word is none. */
static bool is_like_address(const char *name)
{
	for (const char *at = name; (at = strpbrk(at, ".:/@")); at++)
		if (*at != '.' || (at[1] && at[1] != ' '))
			return true;
	return false;
}

struct email_text email_invitation_write(struct arena *arena,
                                         const struct email_invitation *invitation)
{
	struct writer writer = writer_begin(arena);
	const char *account =
		is_like_address(invitation->account)
			? "an account"
			: arena_printf(arena, "the account \"%s\"", invitation->account);
	add_paragraph(&writer,
	              invitation->inviter
	                      ? arena_printf(arena, "%s invites you to %s of expops as %s.",
	                                     invitation->inviter, account, invitation->role)
	                      : arena_printf(arena, "You are invited to %s of expops as %s.",
	                                     account, invitation->role));
	add_heading(&writer, "Open the invitation", invitation->url);
	add_paragraph(&writer,
	              arena_printf(arena,
	                           "It works once, until %.10s, for whoever is logged in as the "
	                           "owner of this address.",
	                           invitation->expires_at));
	add_paragraph(&writer, "If you did not expect this, ignore it.");
	return close_text(&writer, "[expops] You are invited");
}
