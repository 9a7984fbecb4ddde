/** svc-integrations/notify/email/: the mail server of the settings, and mails through it. */
#pragma once

#include "base/config.h"
#include "client/mail.h"
#include "notify/format/email.h"

#include <stdbool.h>

/** SMTP_URL, SMTP_USER, SMTP_PASSWORD, SMTP_FROM, SMTP_TLS, SMTP_CA_FILE. */
extern const struct setting EMAIL_SETTINGS[];

/** Check the settings; what is wrong is printed on standard error. Once, after they were loaded. */
enum err_code email_init(void);

/** Whether there is a mail server. */
bool email_is_configured(void);

/** Raise ERR_NOT_CONFIGURED unless there is a mail server. */
void email_require_configured(struct request *rq);

/** How long one mail may take. */
#define EMAIL_TIMEOUT_MS 40000

/** For the gateway: {"is_configured"}. */
void mail_status_get(struct request *rq);

/** PUBLIC_URL/api/v1.0/webhooks/PAGE/TOKEN: `confirm` or `unsubscribe`. In the arena. */
const char *email_link(struct arena *arena, const char *page, const char *token);

/** A mail to one address. */
struct email {
	const char *to;
	const char *id; /* before the `@` of its Message-ID: a UUID text */
	const char
		*unsubscribe_url; /* which takes the POST of RFC 8058; NULL: it is the only mail */
	struct email_text text;
};

/** Send it: as mail_send_try(). Without a mail server: ERR_NOT_CONFIGURED. */
enum err_code email_send_try(struct request *rq, const struct email *email,
                             struct mail_reply *ret_reply, const char **ret_why);

#define EMAIL_ERROR_MAX 256

/** Why it was not sent, as its account may know it: what the server says is in the reply. */
void email_describe(enum err_code code, const struct mail_reply *reply, const char *why,
                    char ret_error[EMAIL_ERROR_MAX]);

/** Whether the server says, by an enhanced code, that the address takes no mails, and whether it
 * refuses the address or the message for good (RFC 5321 section 4.2.1). What it refuses because of
 * who sends it, at whichever command, is neither. */
bool email_refuses_address(const struct mail_reply *reply);
bool email_refuses_for_good(const struct mail_reply *reply);

/** Whether the server has it, or may have, of the outcome of email_send_try(): it has not replied
 * to the end of the mail. Such a mail is not sent again: a server that is slow there, which RFC
 * 5321 section 4.5.3.2.6 lets it be for ten minutes, would take each of the attempts. */
bool email_is_sent(enum err_code code);

enum email_outcome {
	EMAIL_SENT,    /* email_is_sent() */
	EMAIL_REFUSED, /* for good */
	EMAIL_TRY_AGAIN,
};

/** Send a mail that its address has not asked for, and does not get twice for a server that is
 * slow to say that it has it. Unless it is EMAIL_SENT, `ret_error` says why: email_describe(). */
enum email_outcome email_send_unasked(struct request *rq, const struct email *email,
                                      char ret_error[EMAIL_ERROR_MAX]);
