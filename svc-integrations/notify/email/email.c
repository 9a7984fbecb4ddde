#include "notify/email/email.h"

#include "base/base.h"
#include "base/timefmt.h"
#include "base/url.h"
#include "client/mail_header.h"
#include "input/input.h"
#include "observe/log.h"
#include "reply/reply.h"
#include "service/process.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HOST_MAX    253
#define CODE_LENGTH ((size_t)4) /* of `550 ` or `550-` */

#define UNSUBSCRIBE_FIELDS 2 /* the last ones of a mail */

static struct {
	const char *url, *user, *password, *from, *tls, *ca_file;
} settings;

const struct setting EMAIL_SETTINGS[] = {
	SETTING_TEXT(&settings.url, "SMTP_URL", "",
                     "Mail server for messages by e-mail and invitations, smtp://host:587 or "
                     "smtps://host:465; empty: there are none."),
	SETTING_TEXT(&settings.user, "SMTP_USER", "", "Log-in at the mail server; empty: without."),
	SETTING_SECRET(&settings.password, "SMTP_PASSWORD", "", "Password of SMTP_USER."),
	SETTING_TEXT(&settings.from, "SMTP_FROM", "",
                     "Address that messages by e-mail come from, such as expops@example.org."),
	SETTING_TEXT(&settings.tls, "SMTP_TLS", "required",
                     "Encryption of smtp: by STARTTLS: required, opportunistic or off."),
	SETTING_TEXT(&settings.ca_file, "SMTP_CA_FILE", "",
                     "Certificates of authorities, PEM, that the mail server's is verified by; "
                     "empty: those of the system."),
	SETTING_END,
};

static const char *const TLS[] = {
	[MAIL_TLS_REQUIRED] = "required",
	[MAIL_TLS_OPPORTUNISTIC] = "opportunistic",
	[MAIL_TLS_OFF] = "off",
	NULL,
};

static struct mail_server server;
static const char *url_with_name; /* the server's URL, with the name that EHLO gives */
static char public_host[HOST_MAX + 1];

static bool begins(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static enum mail_tls tls_of(const char *name)
{
	int tls = 0;
	while (TLS[tls] && strcmp(TLS[tls], name) != 0)
		tls++;
	return (enum mail_tls)tls;
}

static bool is_server_url(void)
{
	const char *host = strstr(settings.url, "://");
	return (begins(settings.url, "smtp://") || begins(settings.url, "smtps://")) && host[3] &&
	       !strpbrk(host + 3, "/@ ?#");
}

/* What is wrong with a setting; NULL: nothing. A password without encryption would be read on its
 * way. */
static const char *fault(const char **ret_name)
{
	const char *why;
	const struct {
		bool is_wrong;
		const char *name, *message;
	} FAULTS[] = {
		{!is_server_url(), "SMTP_URL", "must be smtp://host:port or smtps://host:port"},
		{!TLS[tls_of(settings.tls)], "SMTP_TLS", "must be required, opportunistic or off"},
		{!mail_address_check(settings.from, strlen(settings.from), &why), "SMTP_FROM",
	         "must be an e-mail address"},
		{!settings.user[0] != !settings.password[0], "SMTP_PASSWORD",
	         "must be set with SMTP_USER, and only then"},
		{settings.password[0] && !begins(settings.url, "smtps://") &&
	                 tls_of(settings.tls) != MAIL_TLS_REQUIRED,
	         "SMTP_TLS", "must be required where there is a SMTP_PASSWORD"},
		{!process_settings.public_url[0], "PUBLIC_URL",
	         "must be set where there is a SMTP_URL, for the links of messages"},
	};
	for (size_t i = 0; i < ARRAY_LEN(FAULTS); i++) {
		*ret_name = FAULTS[i].name;
		if (FAULTS[i].is_wrong)
			return FAULTS[i].message;
	}
	return NULL;
}

enum err_code email_init(void)
{
	static char url[2048];
	const char *name, *message = settings.url[0] ? fault(&name) : NULL;
	if (message) {
		fprintf(stderr, "%s: %s\n", name, message);
		return ERR_INVALID;
	}
	const char *host =
		process_settings.public_url + url_scheme_length(process_settings.public_url);
	snprintf(public_host, sizeof(public_host), "%.*s", (int)strcspn(host, ":/"), host);
	snprintf(url, sizeof(url), "%s/%s", settings.url, public_host);
	url_with_name = url;
	server = (struct mail_server){
		.url = url_with_name,
		.user = settings.user[0] ? settings.user : NULL,
		.password = settings.password,
		.ca_file = settings.ca_file[0] ? settings.ca_file : NULL,
		.tls = tls_of(settings.tls),
	};
	return ERR_NONE;
}

bool email_is_configured(void)
{
	return settings.url[0];
}

void mail_status_get(struct request *rq)
{
	request_input_none(rq);
	reply_json(rq, 200,
	           arena_printf(rq->arena, "{\"is_configured\": %s}",
	                        email_is_configured() ? "true" : "false"));
}

void email_require_configured(struct request *rq)
{
	if (!email_is_configured())
		raise_error(rq, ERR_NOT_CONFIGURED,
		            "messages by e-mail need a mail server: SMTP_URL");
}

const char *email_link(struct arena *arena, const char *page, const char *token)
{
	return arena_printf(arena, "%s/api/v1.0/webhooks/%s/%s", process_settings.public_url, page,
	                    token);
}

/* `Thu, 01 Jan 2026 09:30:00 +0000` (RFC 5322 section 3.3) */
static const char *date_now(struct arena *arena)
{
	char text[64];
	struct tm utc;
	time_t now = time(NULL);
	gmtime_r(&now, &utc);
	strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S +0000", &utc);
	return arena_strdup(arena, text);
}

enum err_code email_send_try(struct request *rq, const struct email *email,
                             struct mail_reply *ret_reply, const char **ret_why)
{
	const char *unsubscribe = email->unsubscribe_url;
	const struct http_field fields[] = {
		{.name = "Date", .value = date_now(rq->arena)},
		{.name = "From", .value = arena_printf(rq->arena, "<%s>", settings.from)},
		{.name = "To", .value = arena_printf(rq->arena, "<%s>", email->to)},
		{.name = "Subject", .value = email->text.subject},
		{.name = "Message-ID",
	         .value = arena_printf(rq->arena, "<%s@%s>", email->id, public_host)},
		{.name = "Auto-Submitted", .value = "auto-generated"},
		{.name = "List-Unsubscribe",
	         .value = arena_printf(rq->arena, "<%s>", unsubscribe ? unsubscribe : "")},
		{.name = "List-Unsubscribe-Post", .value = "List-Unsubscribe=One-Click"},
	};
	const struct mail mail = {
		.from = settings.from,
		.to = email->to,
		.fields = fields,
		.field_count = ARRAY_LEN(fields) - (unsubscribe ? 0 : UNSUBSCRIBE_FIELDS),
		.text = email->text.text,
		.html = email->text.html,
	};
	*ret_reply = (struct mail_reply){0};
	*ret_why = "";
	if (!email_is_configured())
		return ERR_NOT_CONFIGURED;
	return mail_send_try(rq, &server, &mail, EMAIL_TIMEOUT_MS, ret_reply, ret_why);
}

/* The enhanced status code of a reply, the `5.7.1` of `550 5.7.1 ...` (RFC 3463): its subject and
 * detail. False: the reply has none. */
static bool enhanced_code(const struct mail_reply *reply, long *ret_subject, long *ret_detail)
{
	const char *class = reply->text + MIN_OF(strlen(reply->text), CODE_LENGTH);
	if (!isdigit((unsigned char)class[0]) || class[1] != '.')
		return false;
	char *subject_end, *detail_end;
	*ret_subject = strtol(class + 2, &subject_end, 10);
	if (subject_end == class + 2 || *subject_end != '.')
		return false;
	*ret_detail = strtol(subject_end + 1, &detail_end, 10);
	return detail_end > subject_end + 1;
}

/* What a refusal is about. Mail servers say to RCPT, too, that they take nothing of this client or
 * sender, or that a quota is used up: Postfix by default (smtpd_delay_reject). It is about the
 * address where the enhanced code is of the subject of addresses, but for those of the sender, or
 * of mailboxes; without one, where the reply is of those that RFC 5321 section 4.2.2 has for
 * mailboxes. */
static enum mail_stage refused_part(const struct mail_reply *reply)
{
	long subject, detail;
	int status = reply->status;
	bool is_of_address;
	if (reply->stage != MAIL_RECIPIENT || status < 500)
		return reply->stage;
	if (enhanced_code(reply, &subject, &detail))
		is_of_address = (subject == 1 && detail != 7 && detail != 8) || subject == 2;
	else
		is_of_address = status >= 550 && status <= 553;
	return is_of_address ? MAIL_RECIPIENT : MAIL_CONNECTING;
}

void email_describe(enum err_code code, const struct mail_reply *reply, const char *why,
                    char ret_error[EMAIL_ERROR_MAX])
{
	static const char *const REFUSES[] = {
		[MAIL_CONNECTING] = "the mail server refuses our log-in or sender",
		[MAIL_RECIPIENT] = "the mail server refuses the address",
		[MAIL_CONTENT] = "the mail server refuses the message",
	};
	enum mail_stage part = refused_part(reply);
	if (code == ERR_NOT_CONFIGURED)
		snprintf(ret_error, EMAIL_ERROR_MAX, "there is no mail server any more");
	else if (reply->status >= 400)
		snprintf(ret_error, EMAIL_ERROR_MAX, "%s: %d", REFUSES[part], reply->status);
	else if (code == ERR_UPSTREAM)
		snprintf(ret_error, EMAIL_ERROR_MAX, "the mail server cannot be used");
	else
		snprintf(ret_error, EMAIL_ERROR_MAX, "there was no answer of the mail server");
	if (part == MAIL_CONNECTING || reply->status < 400)
		log_warn("the mail server takes no mails", f_int("status", reply->status),
		         f_text("why", why));
}

bool email_refuses_address(const struct mail_reply *reply)
{
	long subject, detail;
	return reply->status >= 500 && refused_part(reply) == MAIL_RECIPIENT &&
	       enhanced_code(reply, &subject, &detail);
}

bool email_refuses_for_good(const struct mail_reply *reply)
{
	return reply->status >= 500 && refused_part(reply) != MAIL_CONNECTING;
}

bool email_is_sent(enum err_code code)
{
	return code == ERR_NONE || code == ERR_TIMEOUT || code == ERR_UNCERTAIN;
}

enum email_outcome email_send_unasked(struct request *rq, const struct email *email,
                                      char ret_error[EMAIL_ERROR_MAX])
{
	struct mail_reply reply;
	const char *why;
	enum err_code code = email_send_try(rq, email, &reply, &why);
	if (email_is_sent(code))
		return EMAIL_SENT;
	email_describe(code, &reply, why, ret_error);
	return email_refuses_for_good(&reply) ? EMAIL_REFUSED : EMAIL_TRY_AGAIN;
}
