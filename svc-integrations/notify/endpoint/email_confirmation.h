/** Whether an address of an endpoint wants messages. A new address is asked by a mail, and gets
 * nothing else before the link in it was followed and its button pressed (email_page.h). Whoever
 * has unsubscribed is asked again.
 *
 *     unconfirmed --confirmed--> active --unsubscribed--> disabled --asked again--> unconfirmed
 *
 * The mail is a task, so that it is sent although the process dies. A link is good for a day; an
 * address is asked three times a day at most, by whatever accounts, and an account asks twenty
 * times. The tokens of links are 256 random bits, stored sealed for the mails that have them, and
 * looked up by their SHA-256. Logs and traces name operations and no targets, so they are in
 * none. */
#pragma once

#include "loop/request.h"
#include "pg/pg.h"
#include "reply/resource.h"
#include "task/task.h"

/** A new token of an endpoint. */
struct email_token {
	const char *text; /* in the arena of the request, which is wiped when it is freed */
	struct pg_param sealed, hash;
};

struct email_token email_token_new(struct request *rq, const char *endpoint, const char *account);

/** Constraints that asking violates. */
#define EMAIL_CONFIRMATION_CONSTRAINTS                                                          \
	{"email_confirmed", ERR_CONFLICT, NULL, "the address is confirmed"},                    \
	{                                                                                       \
		"email_confirmation_max", ERR_CONFLICT, NULL,                                   \
			"an address is asked three times a day, and an account may ask twenty " \
			"times: try again tomorrow"                                             \
	}

/** POST /webhooks/{webhook_id}/confirmation: ask again. */
void email_confirmation_create(struct request *rq);

/** Job `confirm_email`, {"confirmation_id"}: send the mail. */
void email_confirmation_run(struct request *rq, struct task *task);
