/** A message as a mail: a subject, and two forms of one text, plain and HTML. There are no pictures
 * and nothing from which the sender learns who reads it. */
#pragma once

#include "notify/format/content.h"

struct email_text {
	const char *subject;
	const char *text, *html; /* with CRLF at the ends of lines */
};

/** Why somebody gets the mail. */
struct email_reason {
	const char *endpoint;        /* its name, which the account has given it */
	const char *unsubscribe_url; /* of a page that asks, and then stops the mails */
};

/** A message of the account. In the arena. */
struct email_text email_write(struct arena *arena, const struct content *content,
                              const struct email_reason *reason);

/** The mail that asks whether an address wants messages; `confirm_url` is of a page that asks, and
 * then starts them. In the arena. */
struct email_text email_confirmation_write(struct arena *arena, const char *confirm_url,
                                           const struct email_reason *reason);

/** An invitation to an account. */
struct email_invitation {
	const char *url;     /* of the page that accepts it */
	const char *account; /* its name, which is left out where a mail program could link to it */
	const char *inviter; /* address; NULL: nobody's */
	const char *role;    /* `member` */
	const char *expires_at; /* 2026-01-08T09:30:00Z */
};

struct email_text email_invitation_write(struct arena *arena,
                                         const struct email_invitation *invitation);
